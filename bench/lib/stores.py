"""bench/lib/stores.py - stores of many records under random ids: filled once through the server, kept under build/, copied
for each run that writes."""

import json
import os
import shutil
import time

from ask import exchange
from machine import BOTH_CORES, ROOT, fail, say
from rows import RECORD, Row
from servers import Avrod

FOLDER = os.environ.get("BENCH_STORES", os.path.join(ROOT, "build/bench-stores"))
TYPE = "stored"


def schema_text():
    with open(os.path.join(ROOT, "examples/PersonInfo.avsc"), "rb") as f:
        return f.read()


def made_of(records):
    """What a store must have been filled with to be used again."""
    return {"records": records, "record": RECORD.decode(), "schema": schema_text().decode(), "keys": "ids.h", "format": 1}


def folder_of(records):
    return os.path.join(FOLDER, str(records))


def is_cached(records):
    try:
        with open(os.path.join(folder_of(records), "filled.json"), encoding="utf-8") as f:
            return json.load(f) == made_of(records)
    except (OSError, ValueError):
        return False


def cached(tools, records):
    """The data directory of a store with the numbers 1 to `records`; filled now if need be. Not to be written to."""
    data = os.path.join(folder_of(records), "data")
    if not is_cached(records):
        fill(tools, records, folder_of(records))
    return data


def fill(tools, records, folder):
    say(f"filling a store with {records} records; it is kept in {folder}")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    started = time.monotonic()
    server = Avrod(tools, os.path.join(folder, "data"), "--durability", "none", threads=1, cores=BOTH_CORES)
    try:
        server.put_schema(TYPE)
        row = Row("fill", "avrod", "POST", f"/{TYPE}/put/{{key}}", RECORD, ids=records)
        tools.run_load(server, row, ["-c", "64", "-d", "16", "-n", str(records), "-s"], BOTH_CORES)
        stored = json.loads(exchange(server.port, "GET", "/schemas")[1])[0]["records"]
    finally:
        code = server.close()
    if code != 0 or stored != records:
        fail(f"filling went wrong: exit code {code}, {stored} of {records} records")
    with open(os.path.join(folder, "filled.json"), "w", encoding="utf-8") as f:
        json.dump(made_of(records), f)
    seconds = time.monotonic() - started
    say(f"filled {records} records in {seconds:.0f} s, {records / seconds:.0f} a second")


def copied(bench, records, name):
    """A copy in the run's own directory, on the disk already, so that its writing back does not disturb what follows."""
    source, target = cached(bench.tools, records), bench.path(name)
    os.makedirs(target)
    shutil.copy(os.path.join(source, "data.mdb"), target)
    shutil.copy(os.path.join(source, "LOCK"), target)
    with open(os.path.join(target, "data.mdb"), "rb") as f:
        os.fsync(f.fileno())
    return target
