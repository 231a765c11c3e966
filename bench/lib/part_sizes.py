"""bench/lib/part_sizes.py - a blob store's table: bodies of some sizes put and got over few and many connections."""

from machine import say
from report import Part
from rows import Row, limit_start, round_of, summary

HELP = "blobs of 128 B to 64 KiB, put and get, 10 and 100 connections"
NAMES = ["sizes"]
SIZES, CONNECTIONS, BLOBS = (128, 512, 4096, 65536), (10, 100), 1000


def body_of(size):
    return (b"0123456789abcdef" * (size // 16 + 1))[:size]


def rows_all():
    rows = []
    for size in SIZES:
        for connections in CONNECTIONS:
            target = f"/blob{size}/{{verb}}/{{key}}"
            rows.append(Row(f"put-{size}-c{connections}", "avrod", "POST", target.replace("{verb}", "put"),
                            body=body_of(size), ids=BLOBS, connections=connections))
            rows.append(Row(f"get-{size}-c{connections}", "avrod", "GET", target.replace("{verb}", "get"), ids=BLOBS,
                            connections=connections))
            rows[-2].durable = True
    return rows


def fill(bench, server):
    for size in SIZES:
        server.put_schema(f"blob{size}", b'"bytes"')
        row = Row("fill", "avrod", "POST", f"/blob{size}/put/{{key}}", body=body_of(size), ids=BLOBS)
        bench.tools.run_load(server, row, ["-c", "100", "-n", str(BLOBS), "-s"])


def run(bench, _names):
    rows, server = rows_all(), bench.avrod("sizes")
    fill(bench, server)
    for row in rows:
        limit_start(bench, row, server)
    for number in range(1, bench.args.rounds + 1):
        say(f"sizes, round {number} of {bench.args.rounds}")
        for row in rows:
            round_of(bench, row, server, number)
    return result(rows)


def line(s, size):
    mib = s["per_second"]["median"] * size / 2**20
    counted = "" if s["counted"] else " *"
    return [f"{s['per_second']['median']:.0f}{counted}", f"{mib:.1f}", f"{s['cpu_us']['median']:.1f}",
            f"{s['ratio']['median']:.2f}", f"{s['p50_us']['median']:.0f}", f"{s['p99_us']['median']:.0f}"]


def result(rows):
    part, by_name = Part(), {}
    part.rows = [summary(row) for row in rows]
    by_name = {s["name"]: s for s in part.rows}
    head = ["bytes", "connections"] + [f"{verb} {what}" for verb in ("put", "get")
                                       for what in ("req/s", "MiB/s", "CPU us", "/limit", "p50 us", "p99 us")]
    lines = []
    for size in SIZES:
        for connections in CONNECTIONS:
            put, get = by_name[f"put-{size}-c{connections}"], by_name[f"get-{size}-c{connections}"]
            lines.append([str(size), str(connections)] + line(put, size) + line(get, size))
    part.tables.append(("Blobs (a type of schema \"bytes\"), puts durable", head, lines))
    if any(not s["counted"] for s in part.rows):
        part.notes.append("* the server waited for the load: its core was not busy, and the figure is the load's.")
    return part
