"""bench/compare.py - ping, get and put of avrod and its neighbours with three ab at once, in interleaved rounds: the page
docs/benchmarks.md. Called by compare.sh, which builds and fetches first."""

import argparse
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import ab
from machine import ROOT, busy_share, described, fail, say
from peers import PEERS
from report import BUSY_OTHERS_MAX, cell, print_table
from rows import spread
from tools import Bench

ASKS = ("ping", "get", "put")
ASTORE = {"get": 0.69, "put": 0.42}  # what its page says of itself


def parse():
    p = argparse.ArgumentParser(prog="bench/compare.sh", description="avrod and its neighbours, with three ab at once.")
    p.add_argument("peers", nargs="*", metavar="peer", help="which (all): " + " ".join(PEERS))
    p.add_argument("--build", default=os.path.join(ROOT, "build/bench"), help=argparse.SUPPRESS)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--requests", type=int, default=100000, help="of each ab; slow ones get a part of them")
    p.add_argument("--dir", help="where the stores lie (a temporary directory)")
    p.add_argument("--json", help="where the figures go as JSON (compare.json in the build directory)")
    p.add_argument("--markdown", action="store_true", help="print tables as the pages in docs/ have them")
    args = p.parse_args()
    wrong = set(args.peers) - set(PEERS)
    if wrong:
        p.error(f"no such peer: {' '.join(sorted(wrong))}; there are {' '.join(PEERS)}")
    return args


def start(bench, names):
    started = {}
    for name in names:
        if not PEERS[name].is_here():
            say(f"{PEERS[name].name} is left out: {' and '.join(PEERS[name].needs)} cannot be found")
            continue
        started[name] = bench.keep(PEERS[name](bench, bench.path(name)))
    return started


def round_of(bench, peer, found):
    """The three follow each other, so that their ratios are of one minute."""
    for ask in ASKS:
        if ask in peer.asks:
            found[ask].append(ab.run(peer, peer.asks[ask], bench.args.requests, peer.where))
            last = found[ask][-1]
            say(f"  {peer.name:<36} {ask:<4} {last['per_second']:8.0f} a second, {last['cpu_us']:7.2f} us of CPU each")


def ratios(found, ask):
    """To ping, round by round: of requests a second, and of what they cost the server."""
    pairs = list(zip(found[ask], found["ping"]))
    return {"of_rate": spread([a["per_second"] / p["per_second"] for a, p in pairs]),
            "of_cpu": spread([p["cpu_us"] / a["cpu_us"] for a, p in pairs])}


def summary(name, peer, found):
    out = {"peer": name, "name": peer.name, "promise": peer.promise, "asks": {}}
    for ask, rounds in found.items():
        if rounds:
            out["asks"][ask] = {"per_second": spread([r["per_second"] for r in rounds], 0),
                                "cpu_us": spread([r["cpu_us"] for r in rounds]),
                                "kept": sum(r["kept"] for r in rounds) / sum(r["requests"] for r in rounds),
                                "command": rounds[0]["command"]}
            if ask != "ping":
                out["asks"][ask]["to_ping"] = ratios(found, ask)
    return out


def lines(summaries):
    yield ["astore, as published", "?", "-", "-", "-", str(ASTORE["get"]), str(ASTORE["put"]), "-", "-", "-", "-", "-"]
    for s in summaries:
        asks = s["asks"]
        yield [s["name"], s["promise"]] + \
            [f"{asks[a]['per_second']['median']:.0f}" if a in asks else "-" for a in ASKS] + \
            [cell(asks[a]["to_ping"]["of_rate"]) if a in asks else "-" for a in ASKS[1:]] + \
            [f"{asks[a]['cpu_us']['median']:.1f}" if a in asks else "-" for a in ASKS] + \
            [cell(asks[a]["to_ping"]["of_cpu"]) if a in asks else "-" for a in ASKS[1:]]


def print_result(summaries, markdown):
    head = ["server", "a put survives", "ping/s", "get/s", "put/s", "get/ping", "put/ping", "ping us", "get us", "put us",
            "get/ping of CPU", "put/ping of CPU"]
    title = f"{ab.AT_ONCE} times ab -c{ab.CONNECTIONS} -k at once, all on the same cores"
    print_table(title, head, list(lines(summaries)), markdown)
    for s in summaries:
        for ask, figures in s["asks"].items():
            if figures["kept"] < 0.999:
                print(f"{s['name']}, {ask}: only {figures['kept']:.0%} of the answers kept their connection")


def main():
    args = parse()
    if not shutil.which("ab"):
        fail("ab is not here (apache2-utils)")
    busy = busy_share()
    bench = Bench(args, tempfile.mkdtemp(prefix="avrod-compare-", dir=args.dir))
    try:
        started = start(bench, args.peers or PEERS)
        found = {name: {ask: [] for ask in ASKS} for name in started}
        for number in range(1, args.rounds + 1):
            say(f"round {number} of {args.rounds}")
            for name, peer in started.items():
                round_of(bench, peer, found[name])
    finally:
        bench.close_servers()
        shutil.rmtree(bench.where, ignore_errors=True)
    busy = max(busy, busy_share())
    summaries = [summary(name, peer, found[name]) for name, peer in started.items()]
    path = args.json or os.path.join(args.build, "compare.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({**described(), "requests": args.requests, "at_once": ab.AT_ONCE, "busy_with_others": round(busy, 3),
                   "astore": ASTORE, "peers": summaries}, f,
                  indent=1)
    print_result(summaries, args.markdown)
    if busy > BUSY_OTHERS_MAX:
        print(f"\nOthers have used {busy:.0%} of the machine: these figures prove nothing.")
    say(f"figures: {path}")


if __name__ == "__main__":
    main()
