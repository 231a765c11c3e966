"""bench/lib/part_rows.py - CPU a request of each path beside the raw-epoll limit, and of those that store beside bare LMDB."""

import shutil

import stores
from machine import say
from report import Goal, Part, cell
from rows import RECORD, Row, limit_start, round_of, summary

HELP = "CPU a request beside the limit, with bare LMDB for the stored rows"
BENCH = "?benchmark_only=10240"


def rows_all(records=1):
    get, put = "/personinfo/get/1" + BENCH, "/personinfo/put/1" + BENCH
    return [
        Row("nginx", "nginx", "GET", "/"),
        Row("ping", "avrod", "GET", "/ping", over_max=0.7),
        Row("get", "avrod", "GET", get, over_max=1.2),
        Row("put", "avrod", "POST", put, body=RECORD, over_max=1.2),
        Row("stored-get", "avrod", "GET", f"/{stores.TYPE}/get/{{key}}", ids=records, bare="get", over_max=0.9),
        Row("stored-put", "avrod", "POST", f"/{stores.TYPE}/put/{{key}}", body=RECORD, ids=records, bare="put",
            over_max=2.0),
        Row("ping-16", "avrod", "GET", "/ping", depth=16, over_max=1.0),
        Row("get-16", "avrod", "GET", get, depth=16, over_max=1.5),
    ]


NAMES = [row.name for row in rows_all()]


def rows_wanted(bench, names):
    rows = [r for r in rows_all(bench.args.records) if r.name in names]
    if not shutil.which("nginx"):
        say("nginx is not here: its row is left out")
        rows = [r for r in rows if r.server != "nginx"]
    return rows


def start(bench, rows):
    """The servers by name, and the copy of the store for bare LMDB."""
    servers, bare = {}, None
    if any(r.server == "nginx" for r in rows):
        servers["nginx"] = bench.nginx("nginx")
    if any(r.bare for r in rows):
        stores.copied(bench, bench.args.records, "avrod")
        bare = stores.copied(bench, bench.args.records, "bare")
    if any(r.server == "avrod" for r in rows):
        servers["avrod"] = bench.avrod("avrod")
        servers["avrod"].put_schema("personinfo")
    for row in rows:
        limit_start(bench, row, servers[row.server])
    return servers, bare


def run(bench, names):
    rows = rows_wanted(bench, names)
    servers, bare = start(bench, rows)
    for number in range(1, bench.args.rounds + 1):
        say(f"round {number} of {bench.args.rounds}")
        for row in rows:
            round_of(bench, row, servers[row.server], number, bare)
    return result(rows)


# ---- what came out ----

def goals_of(row, s):
    if row.over_max is None:
        return []
    beside = "limit + bare LMDB" if row.bare else "limit, pipelined" if row.depth > 1 else "limit"
    proven = s["counted"] > 0 and (not row.bare or "bare_us" in s)
    goals = [Goal(row.name, f"CPU over {beside}", s["over_us"], most=row.over_max, unit=" us", proven=proven)]
    if "throughput" in s:
        goals.append(Goal(row.name, "writes a second / bare LMDB's", s["throughput"], least=0.9, proven=proven))
    return goals


def line(s):
    bare = cell(s["bare_us"]) if "bare_us" in s else "-"
    group = f"{s['group']['median']:.0f}" if "group" in s else "-"
    return [s["name"], str(s["answer_bytes"]), cell(s["cpu_us"]), cell(s["limit_us"]), bare, group, cell(s["over_us"]),
            cell(s["ratio"]), f"{s['per_second']['median']:.0f}", f"{s['p50_us']['median']:.0f}",
            f"{s['p99_us']['median']:.0f}", f"{s['counted']}/{s['rounds']}"]


def line_shared(s):
    shared = s["shared"]
    return [s["name"], cell(s["cpu_us"]), cell(shared["limit_us"]), cell(shared["bare_us"]), cell(shared["cpu_us"]),
            cell(shared["over_us"]), f"{shared['limit_per_second']['median']:.0f}",
            f"{shared['bare_per_second']['median']:.0f}"]


def result(rows):
    part = Part()
    part.rows = [summary(row) for row in rows]
    head = ["row", "bytes", "CPU us/request", "limit, same bytes", "bare LMDB", "group", "over us", "ratio to limit",
            "requests/s", "p50 us", "p99 us", "counted"]
    part.tables.append(("CPU a request", head, [line(s) for s in part.rows]))
    shared = [line_shared(s) for s in part.rows if "shared" in s]
    if shared:
        head = ["row", "CPU us/request", "limit in bursts", "bare LMDB beside it", "both", "over us", "limit answers/s",
                "bare LMDB puts/s"]
        part.tables.append(("CPU a request, beside limit and bare LMDB sharing the core", head, shared))
    for row, s in zip(rows, part.rows):
        part.goals += goals_of(row, s)
    if any(s["counted"] == 0 for s in part.rows):
        part.notes.append("A row with 0 counted rounds is no result: a server waited for the load, or for its core.")
    return part
