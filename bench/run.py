"""bench/run.py - measures parts of the table by name, one after the other, each in interleaved rounds; prints what came out
and writes it as JSON. Called by run.sh, which builds first; bench/lib has a file for each part."""

import argparse
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import part_budget
import part_calls
import part_codec
import part_edits
import part_idle
import part_instructions
import part_rows
import part_sizes
import part_start
import part_threads
import part_wrk
from machine import ROOT, busy_share, described, need_two_cores, say
from report import print_parts
from tools import Bench

PARTS = [part_rows, part_codec, part_calls, part_instructions, part_budget, part_idle, part_threads, part_wrk, part_sizes, part_edits,
         part_start]


def parse():
    names = [name for part in PARTS for name in part.NAMES]
    about = "\n".join(f"  {' '.join(part.NAMES)}\n      {part.HELP}" for part in PARTS)
    p = argparse.ArgumentParser(prog="bench/run.sh", formatter_class=argparse.RawDescriptionHelpFormatter,
                                description="How fast, and beside what. Rows (all):\n" + about)
    p.add_argument("rows", nargs="*", metavar="row", help="which; see above")
    p.add_argument("--build", default=os.path.join(ROOT, "build/bench"), help=argparse.SUPPRESS)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=2, help="of one measurement")
    p.add_argument("--warm", type=float, default=0.3, help="seconds before each that do not count")
    p.add_argument("--connections", type=int, default=100)
    p.add_argument("--records", type=int, default=1000000, help="in the store of the stored rows")
    p.add_argument("--group", type=float, help="writes a group, if the server's metrics do not tell")
    p.add_argument("--idle", type=int, default=10000, help="idle connections")
    p.add_argument("--idle-rounds", type=int, default=1)
    p.add_argument("--wrk-seconds", type=float, default=8, help="of one measurement; 10,000 connections take a while to open")
    p.add_argument("--start-records", type=int, default=10000000, help="in the store of the row start")
    p.add_argument("--dir", help="where stores lie while they are measured (a temporary directory)")
    p.add_argument("--json", help="where the figures go as JSON (bench.json in the build directory)")
    p.add_argument("--markdown", action="store_true", help="print tables as the pages in docs/ have them")
    args = p.parse_args()
    wrong = set(args.rows) - set(names)
    if wrong:
        p.error(f"no such row: {' '.join(sorted(wrong))}; there are {' '.join(names)}")
    return args


def run_part(args, part):
    """Each part has its own servers and its own directory: none measures what another left behind."""
    names = [name for name in part.NAMES if not args.rows or name in args.rows]
    if not names:
        return None
    say(f"{part.HELP}: {' '.join(names)}")
    busy = busy_share()
    bench = Bench(args, tempfile.mkdtemp(prefix="avrod-bench-", dir=args.dir))
    try:
        found = part.run(bench, names)
    finally:
        bench.close_servers()
        shutil.rmtree(bench.where, ignore_errors=True)
    found.disturbed(max(busy, busy_share()))
    return found


def write_json(args, parts):
    path = args.json or os.path.join(args.build, "bench.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({**described(), "seconds": args.seconds, "connections": args.connections, "records": args.records,
                   "busy_with_others": round(max((part.busy for part in parts), default=0), 3),
                   "goals": [goal.described() for part in parts for goal in part.goals],
                   "rows": [row for part in parts for row in part.rows]}, f, indent=1)
    say(f"figures: {path}")


def main():
    args = parse()
    need_two_cores()
    parts = [found for found in (run_part(args, part) for part in PARTS) if found]
    print_parts(parts, args.markdown)
    write_json(args, parts)


if __name__ == "__main__":
    main()
