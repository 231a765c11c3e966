"""bench/lib/part_edits.py - what it takes to change a part of a record, hot or one of many, beside putting the whole of it."""

from machine import say
from report import Part, cell
from rows import RECORD, Row, groups_now, load_how, spread
from tools import groups_between

HELP = "a field put, updated, merged, incremented, beside whole-record puts; one hot record and 100,000"
NAMES = ["edits"]
TYPE, SPREAD = "edited", 100000
WAYS = {
    "put": ("POST", "/put/{key}", RECORD, ()),
    "field put": ("POST", "/put/{key}/age", b"61", ()),
    "update": ("POST", "/update/{key}", b".age\n61", ()),
    "merge patch": ("PATCH", "/{key}", b'{"age":61}', ("Content-Type: application/merge-patch+json",)),
    "increment": ("PATCH", "/{key}", b'[{"op":"increment","path":"/age","by":1}]', ("Content-Type: application/json-patch+json",)),
}


def rows_all():
    rows = []
    for ids in (1, SPREAD):
        for way, (method, target, body, headers) in WAYS.items():
            rows.append(Row(way, "avrod", method, f"/{TYPE}{target}", body=body, ids=ids, headers=headers))
    return rows


def fill(bench, server):
    server.put_schema(TYPE)
    row = Row("fill", "avrod", "POST", f"/{TYPE}/put/{{key}}", RECORD, ids=SPREAD)
    bench.tools.run_load(server, row, ["-c", "64", "-d", "16", "-n", str(SPREAD), "-s"])


def round_of(bench, rows, server, number):
    """All ways in turn; each is told beside the put of this round on as many records."""
    put = {}
    for row in rows:
        before = groups_now(server)
        found = bench.tools.measure(server, row, load_how(bench.args, row, number))
        found["group"] = groups_between(before, groups_now(server)) or 0
        put[row.ids] = found if row.name == "put" else put[row.ids]
        found["rate"] = found["per_second"] / put[row.ids]["per_second"]
        found["cost"] = found["server_cpu_us"] / put[row.ids]["server_cpu_us"]
        row.rounds.append(found)
        say(f"  {row.name:<12} {row.ids:>6}: {found['per_second']:8} a second, {found['server_cpu_us']:6.2f} us")


def run(bench, _names):
    rows, server = rows_all(), bench.avrod("edits")
    fill(bench, server)
    for number in range(1, bench.args.rounds + 1):
        say(f"edits, round {number} of {bench.args.rounds}")
        round_of(bench, rows, server, number)
    return result(rows)


def summary(row):
    def pick(key, digits=2):
        return spread([found[key] for found in row.rounds], digits)

    return {"name": f"{row.name}-{row.ids}", "records": row.ids, "way": row.name, "server": row.server, "rounds": len(row.rounds),
            "per_second": pick("per_second", 0), "cpu_us": pick("server_cpu_us"), "p50_us": pick("p50_us", 0),
            "p99_us": pick("p99_us", 0), "group": pick("group", 1), "rate": pick("rate"), "cost": pick("cost")}


def result(rows):
    part = Part()
    found = [summary(row) for row in rows]
    part.rows = found
    head = ["records", "way", "a second", "/put", "CPU us", "/put", "p50 us", "p99 us", "group"]
    lines = [[f"{s['records']}", s["way"], f"{s['per_second']['median']:.0f}", cell(s["rate"]), f"{s['cpu_us']['median']:.1f}",
              cell(s["cost"]), f"{s['p50_us']['median']:.0f}", f"{s['p99_us']['median']:.0f}", f"{s['group']['median']:.0f}"]
             for s in found]
    part.tables.append(("Changing a part of a record, durable", head, lines))
    return part
