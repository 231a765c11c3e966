"""bench/lib/part_threads.py - two worker threads against one, while the load runs on the same two cores.

Three threads on two cores: with the scheduler's usual policy a server thread that is woken takes the core from the load in the
middle of its round, which leaves fewer requests for each wake-up. So both sides run with a policy that does not preempt
(round robin of real time), if the kernel lets us."""

from machine import BOTH_CORES, say, unpreempted
from part_rows import BENCH
from report import Goal, Part
from rows import RECORD, Row, load_how, spread

HELP = "--threads 2 against 1, the load on the same cores"
NAMES = ["threads"]


def rows_all():
    return [Row("threads-ping", "avrod", "GET", "/ping"),
            Row("threads-get", "avrod", "GET", "/personinfo/get/1" + BENCH),
            Row("threads-put", "avrod", "POST", "/personinfo/put/1" + BENCH, body=RECORD)]


def run(bench, _names):
    part, rows, servers, under = Part(), rows_all(), {}, unpreempted()
    if not under:
        say("  threads: no policy of real time is allowed, so the server preempts the load")
    for threads in 1, 2:
        servers[threads] = bench.avrod(f"threads-{threads}", threads=threads, cores=BOTH_CORES, under=under)
        servers[threads].put_schema("personinfo")
    for number in range(1, bench.args.rounds + 1):
        for row in rows:
            order = (1, 2) if number % 2 else (2, 1)  # neither is always the one that follows a pause
            how = load_how(bench.args, row, number)
            found = {n: bench.tools.measure(servers[n], row, how, BOTH_CORES, under) for n in order}
            row.rounds.append(found)
            say(f"  {row.name:<14} {found[1]['per_second']} a second with one thread, {found[2]['per_second']} with two")
    for row in rows:
        add(part, row)
    return part


def add(part, row):
    ratio = spread([found[2]["per_second"] / found[1]["per_second"] for found in row.rounds], 3)
    part.rows.append({"name": row.name, "ratio": ratio,
                      "per_second": {n: spread([f[n]["per_second"] for f in row.rounds], 0) for n in (1, 2)},
                      "cpu_us": {n: spread([f[n]["server_cpu_us"] for f in row.rounds]) for n in (1, 2)}})
    part.goals.append(Goal(row.name, "requests a second, 2 threads / 1", ratio, least=0.97))
