"""bench/lib/rows.py - a request that is measured, its rounds beside the raw-epoll limit, and what comes out of them."""

import random
import statistics

from ask import ask, exchange
from servers import Limit
from machine import say
from tools import groups_between, groups_of

BUSY_MIN = 0.95
SAMPLES = 32
RECORD = b'{"name":"James Bond","age":60}'


class Row:
    """`bare`: "get" or "put", if bare LMDB is measured beside it. `over_max`: the goal, in microseconds of CPU a request
    beyond the limit (and bare LMDB). `headers`: further header fields, "Name: value" each."""

    def __init__(self, name, server, method, target, body=None, depth=1, ids=1, connections=None, bare=None,
                 over_max=None, headers=()):
        self.name, self.server, self.method, self.target = name, server, method, target
        self.body, self.depth, self.ids, self.connections = body, depth, ids, connections
        self.bare, self.over_max, self.durable, self.headers = bare, over_max, bare == "put", headers
        self.rounds = []
        self.total = self.body_bytes = None
        self.limit = None

    def target_of(self, number):
        return self.target.replace("{id}", str(number)).replace("{key}", key_of(number))


def key_of(number):
    """As ids.h has it."""
    z, mask = number, 2**64 - 1
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9 & mask
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb & mask
    return f"{z ^ (z >> 31):016x}"


# ---- rounds ----

def limit_start(bench, row, server):
    """The limit answers with as many bytes as the server does, on the average of some answers: revisions in ETags have
    more digits or fewer."""
    rng, totals = random.Random(1), []
    for _ in range(SAMPLES if row.ids > 1 else 2):
        total, answer = exchange(server.port, row.method, row.target_of(rng.randint(1, row.ids)), row.body)
        totals.append(total)
    row.body_bytes, row.total = len(answer), round(statistics.mean(totals))
    row.limit = bench.limit(row.body_bytes, row.total)


def load_how(args, row, seed):
    connections = row.connections or args.connections
    return ["-c", str(connections), "-d", str(row.depth), "-t", str(args.seconds), "-w", str(args.warm), "-S", str(seed)]


def groups_now(server):
    status, _, text = ask(server.port, "GET", "/metrics")
    return groups_of(text.decode()) if status == 200 else None


def bare_round(bench, row, found, before, after, data, seed):
    """Bare LMDB on a copy of the store, in the same minute; puts in groups as large as the server's were."""
    group = 1
    if row.bare == "put":
        found["group"] = groups_between(before, after) or bench.args.group
        if not found["group"]:
            say("  the server's metrics do not tell the size of its groups; --group N sets it: no bare puts")
            return
        group = max(1, round(found["group"]))
    found["bare"] = bench.tools.run_bare(row.bare, data, row.ids, bench.args.seconds, seed, group)
    found["over_us"] -= found["bare"]["cpu_us"]
    found["throughput"] = found["server"]["per_second"] / found["bare"]["per_second"]
    if row.bare == "put":
        shared_round(bench, row, found, data, seed, group)


def shared_round(bench, row, found, data, seed, group):
    """The limit and bare LMDB side by side on the one core that the server has: bursts of answers as far apart as the
    server's groups were, and commits as large. What they take more than each by itself, any server pays."""
    hold_us = round(1e6 * found["group"] / max(1, found["server"]["per_second"]))
    limit = Limit(bench.tools, row.body_bytes, row.total, hold_us)
    try:
        args = bench.args
        bare = bench.tools.start_bare("put", data, row.ids, args.seconds, args.warm, seed, group)
        beside = bench.tools.measure(limit, row, load_how(args, row, seed))
        found["shared"] = {"limit": beside, "bare": bench.tools.end_bare(bare)}
    finally:
        limit.close()
    cpu_us = found["shared"]["limit"]["server_cpu_us"] + found["shared"]["bare"]["cpu_us"]
    found["shared"].update(cpu_us=cpu_us, over_us=found["server"]["server_cpu_us"] - cpu_us)


def round_of(bench, row, server, seed, bare_data=None):
    how = load_how(bench.args, row, seed)
    limit = bench.tools.measure(row.limit, row, how)
    before = groups_now(server) if row.bare == "put" else None
    ours = bench.tools.measure(server, row, how)
    after = groups_now(server) if row.bare == "put" else None
    busy = min(limit["server_busy"], 1 if row.durable else ours["server_busy"])
    found = {"server": ours, "limit": limit, "counts": busy >= BUSY_MIN,
             "over_us": ours["server_cpu_us"] - limit["server_cpu_us"],
             "ratio": ours["server_cpu_us"] / limit["server_cpu_us"]}
    if row.bare:
        bare_round(bench, row, found, before, after, bare_data, seed)
    row.rounds.append(found)
    mark = "" if found["counts"] else f"  does not count: a server was busy only {busy:.0%} of the time"
    bare = f", LMDB {found['bare']['cpu_us']:.2f}" if "bare" in found else ""
    say(f"  {row.name:<14} {ours['server_cpu_us']:7.2f} us, limit {limit['server_cpu_us']:6.2f}{bare},"
        f" {ours['per_second']:8} a second{mark}")


# ---- what came out ----

def spread(values, digits=2):
    return {"median": round(statistics.median(values), digits), "min": round(min(values), digits),
            "max": round(max(values), digits)}


def bytes_each(figures):
    return figures["bytes"] / max(1, figures["requests"])


def summary_shared(rounds):
    return {
        "limit_us": spread([r["shared"]["limit"]["server_cpu_us"] for r in rounds]),
        "limit_per_second": spread([r["shared"]["limit"]["per_second"] for r in rounds], 0),
        "bare_us": spread([r["shared"]["bare"]["cpu_us"] for r in rounds]),
        "bare_per_second": spread([r["shared"]["bare"]["per_second"] for r in rounds], 0),
        "cpu_us": spread([r["shared"]["cpu_us"] for r in rounds]),
        "over_us": spread([r["shared"]["over_us"] for r in rounds]),
    }


def summary(row):
    """The row for the JSON and the table. If no round counts, of all rounds, and "counted" says so."""
    counted = [r for r in row.rounds if r["counts"]]
    used = counted or row.rounds

    def pick(side, key, digits=2):
        return spread([r[side][key] for r in used], digits)

    out = {
        "name": row.name, "server": row.server, "answer_bytes": row.total, "body_bytes": row.body_bytes,
        "depth": row.depth, "rounds": len(row.rounds), "counted": len(counted),
        "cpu_us": pick("server", "server_cpu_us"), "limit_us": pick("limit", "server_cpu_us"),
        "ratio": spread([r["ratio"] for r in used]), "over_us": spread([r["over_us"] for r in used]),
        "per_second": pick("server", "per_second", 0), "p50_us": pick("server", "p50_us", 0),
        "p99_us": pick("server", "p99_us", 0), "load_us": pick("server", "load_cpu_us"),
        "busy": pick("server", "server_busy"), "limit_busy": pick("limit", "server_busy"),
        "answer_bytes_seen": round(statistics.mean(bytes_each(r["server"]) for r in used), 1),
        "limit_bytes_seen": round(statistics.mean(bytes_each(r["limit"]) for r in used), 1),
    }
    bare = [r for r in used if "bare" in r]
    if bare:
        out["bare_us"] = spread([r["bare"]["cpu_us"] for r in bare])
        out["bare_per_second"] = spread([r["bare"]["per_second"] for r in bare], 0)
        out["over_us"] = spread([r["over_us"] for r in bare])
        if row.bare == "put":
            out["group"] = spread([r["group"] for r in bare], 1)
            out["throughput"] = spread([r["throughput"] for r in bare])
            out["shared"] = summary_shared(bare)
    return out
