"""bench/lib/part_calls.py - system calls a request, which no busy machine can falsify."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import stores
from machine import BOTH_CORES, fail, say
from part_rows import BENCH
from report import Part
from rows import RECORD, Row

HELP = "system calls a request (strace)"
NAMES = ["calls"]
REQUESTS, RECORDS = 20000, 10000
CALLS = ("recvfrom", "sendto", "sendmsg", "read", "write", "epoll_wait", "epoll_ctl", "futex", "pwrite64", "fdatasync",
         "others")
ATTACH_SECONDS = 10


def rows_all():
    """Also those of part_instructions.py."""
    get, put = "/personinfo/get/1" + BENCH, "/personinfo/put/1" + BENCH
    stored = f"/{stores.TYPE}/{{verb}}/{{key}}"
    return [
        Row("ping", "avrod", "GET", "/ping"),
        Row("get", "avrod", "GET", get),
        Row("put", "avrod", "POST", put, body=RECORD),
        Row("stored-get", "avrod", "GET", stored.replace("{verb}", "get"), ids=RECORDS),
        Row("stored-put", "avrod", "POST", stored.replace("{verb}", "put"), body=RECORD, ids=RECORDS),
        Row("ping-16", "avrod", "GET", "/ping", depth=16),
        Row("get-16", "avrod", "GET", get, depth=16),
    ]


def fill(bench, server):
    """What the rows ask for."""
    server.put_schema("personinfo")
    server.put_schema(stores.TYPE)
    row = Row("fill", "avrod", "POST", f"/{stores.TYPE}/put/{{key}}", RECORD, ids=RECORDS)
    bench.tools.run_load(server, row, ["-c", "100", "-n", str(RECORDS), "-s"])


# ---- strace ----

def wait_traced(pid):
    """Until all threads are traced: what is missed would make the figures too small."""
    end = time.monotonic() + ATTACH_SECONDS
    while time.monotonic() < end:
        tracers = []
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/status", encoding="ascii", errors="replace") as f:
                tracers += [line.split()[1] for line in f if line.startswith("TracerPid:")]
        if "0" not in tracers:
            return
        time.sleep(0.01)
    fail("strace cannot attach to the server")


def traced(bench, row, server):
    """The report of strace -c over REQUESTS requests."""
    with tempfile.TemporaryFile() as out:
        command = ["strace", "-c", "-f", "-p", str(server.pids[0])]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=out) as strace:
            try:
                wait_traced(server.pids[0])
                how = ["-c", str(bench.args.connections), "-d", str(row.depth), "-n", str(REQUESTS)]
                bench.tools.run_load(server, row, how, BOTH_CORES)
            finally:
                strace.send_signal(signal.SIGINT)
        out.seek(0)
        return out.read().decode(errors="replace")


def calls_of(text):
    """{name: how many} from strace's table, which has a column of errors only where there were some."""
    found = re.findall(r"^\s*[0-9.]+\s+[0-9.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?([a-z_0-9]+)\s*$", text, re.M)
    return {name: int(count) for count, name in found if name != "total"}


# ---- the part ----

def line(found):
    calls = dict(found["calls"])
    shown = {name: calls.pop(name, 0.0) for name in CALLS[:-1]}
    shown["others"] = sum(calls.values())
    return [found["name"]] + [f"{shown[name]:.3f}" for name in CALLS]


def measure(bench, part, name, threads, rows):
    server = bench.avrod(name, threads=threads, cores=BOTH_CORES)
    fill(bench, server)
    for row in rows:
        calls = calls_of(traced(bench, row, server))
        part.rows.append({"name": f"{name}-{row.name}", "calls": {call: n / REQUESTS for call, n in calls.items()}})
        say(f"  {name}-{row.name}: {sum(calls.values()) / REQUESTS:.3f} calls")


def run(bench, _names):
    part = Part()
    if not shutil.which("strace"):
        say("calls is left out: strace is not here")
        return part
    measure(bench, part, "calls", 1, rows_all())
    measure(bench, part, "calls-2-threads", 2, [row for row in rows_all() if row.depth == 1])  # futex: a lock
    part.tables.append((f"System calls, each of {REQUESTS} requests, {bench.args.connections} connections",
                        ["row", *CALLS], [line(found) for found in part.rows]))
    return part
