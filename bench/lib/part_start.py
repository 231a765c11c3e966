"""bench/lib/part_start.py - from starting the process to the first answer, on a store of very many records."""

import os
import socket
import subprocess
import time

import stores
from ask import free_port, receive, request_bytes
from machine import fail, say
from report import Goal, Part
from rows import key_of, spread

HELP = "time to the first answer with 10 million records (fill.sh fills them)"
NAMES = ["start"]
ANSWER_SECONDS = 60


def first_answer(port, process, target):
    """Milliseconds are counted here, so it asks again at once."""
    end = time.monotonic() + ANSWER_SECONDS
    while time.monotonic() < end:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS) as s:
                s.sendall(request_bytes(port, "GET", target))
                return receive(s)
        except ConnectionError:
            if process.poll() is not None:
                fail(f"the server ended with {process.returncode} at its start")
            time.sleep(0.0002)
    fail("no answer")


def start_once(bench, data, target):
    port = free_port()
    with open(bench.path("start.log"), "ab") as log:
        began = time.perf_counter()
        process = subprocess.Popen([bench.tools.avrod, "--data", data, "--listen", f"127.0.0.1:{port}"], stderr=log)
        try:
            status, _, body = first_answer(port, process, target)
            took = time.perf_counter() - began
        finally:
            process.terminate()
            process.wait(60)
    if status != 200:
        fail(f"GET {target}: {status} {body!r}")
    return took * 1e3


def run(bench, names):
    part, records = Part(), bench.args.start_records
    if not stores.is_cached(records) and "start" not in bench.args.rows:
        say(f"start is left out: there is no store of {records} records; bench/fill.sh {records} makes it")
        return part
    data = stores.cached(bench.tools, records)
    target = f"/{stores.TYPE}/get/" + key_of(records // 2)
    took = [start_once(bench, data, target) for _ in range(2 * bench.args.rounds + 1)]
    megabytes = os.path.getsize(os.path.join(data, "data.mdb")) >> 20
    ms = spread(took, 1)
    say(f"  start: {ms['median']} ms to the first answer, {records} records, {megabytes} MiB")
    part.rows.append({"name": "start", "records": records, "data_mib": megabytes, "first_answer_ms": ms})
    part.goals.append(Goal("start", f"first answer, {records} records", ms, most=100, unit=" ms"))
    return part
