"""bench/lib/part_idle.py - what a keep-alive connection costs in resident memory while nothing comes on it."""

import socket
import time

from ask import receive, request_bytes
from machine import fail, files_allow, resident_bytes, say
from report import Goal, Part
from rows import Row, spread

HELP = "memory of 10,000 idle keep-alive connections"
NAMES = ["idle"]
STILL_SECONDS, SETTLE_SECONDS = 6, 25  # the server gives memory back every few seconds


def settled(pid):
    """Resident memory once it has not changed for some seconds; idle connections live for a minute."""
    end, last, since = time.monotonic() + SETTLE_SECONDS, resident_bytes(pid), time.monotonic()
    while time.monotonic() < end and time.monotonic() - since < STILL_SECONDS:
        time.sleep(0.5)
        now = resident_bytes(pid)
        if now != last:
            last, since = now, time.monotonic()
    return last


def ping(sock, port):
    sock.sendall(request_bytes(port, "GET", "/ping"))
    status, _, body = receive(sock)
    if (status, body) != (200, b"pong"):
        fail(f"ping: {status} {body!r}")


def connect(port, count):
    sockets = []
    for _ in range(count):
        sockets.append(socket.create_connection(("127.0.0.1", port), timeout=30))
        ping(sockets[-1], port)
    return sockets


def measure(server, count):
    before = settled(server.pids[0])
    sockets = connect(server.port, count)
    after = settled(server.pids[0])
    for sock in sockets:  # each must still be there
        ping(sock, server.port)
        sock.close()
    return before, after


def run(bench, _names):
    part, count = Part(), bench.args.idle
    if not files_allow(count + 100):
        fail(f"{count} connections need as many open files: ulimit -n")
    found = []
    for number in range(1, bench.args.idle_rounds + 1):
        server = bench.avrod(f"idle-{number}", "--connections-max", str(count + 1000))
        bench.tools.run_load(server, Row("warm", "avrod", "GET", "/ping"), ["-c", "100", "-n", "20000"])
        before, after = measure(server, count)
        server.close()
        found.append((after - before) / count)
        say(f"  idle: {before >> 10} KiB, with {count} connections {after >> 10} KiB: {found[-1]:.0f} bytes each")
    each = spread(found, 0)
    part.rows.append({"name": "idle", "connections": count, "bytes_each": each})
    part.goals.append(Goal("idle", f"resident memory, each of {count}", each, most=600, unit=" bytes", timed=False))
    return part
