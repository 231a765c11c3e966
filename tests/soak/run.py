#!/usr/bin/env python3
"""tests/soak/run.py - a long mixed load from several processes, every answer checked by its class, and the memory of the server
watched: does it stay flat?

    tests/soak/run.py --requests 1000000 [--server build/release/avrod] [--processes 3] [--engine lmdb]

Ends with 0 if every answer was one that its request may get, no connection was lost, and the line of least squares through the
second half of the samples of RssAnon rises by less than --slope-max bytes a million requests; and if the server then ends with 0."""

import argparse
import json
import multiprocessing
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

SAMPLES = 200
TYPES = {
    "person": {"type": "record", "name": "Person", "fields": [
        {"name": "name", "type": "string"}, {"name": "age", "type": "int", "default": 0},
        {"name": "mail", "type": ["null", "string"], "default": None},
        {"name": "tags", "type": {"type": "map", "values": {"type": "array", "items": "long"}}, "default": {}}]},
    "event": {"type": "record", "name": "Event", "fields": [{"name": "what", "type": [
        {"type": "record", "name": "Put", "fields": [{"name": "key", "type": "string"}]},
        {"type": "record", "name": "Drop", "fields": [{"name": "key", "type": "string"}, {"name": "why", "type": "string"}]}, "double"]}]},
    "blob": "bytes",
}


def options():
    p = argparse.ArgumentParser(description="A soak test of avrod.")
    p.add_argument("--requests", type=int, default=1000000)
    p.add_argument("--processes", type=int, default=3)
    p.add_argument("--server", help="the program; default: $AVROD")
    p.add_argument("--engine", default="lmdb")
    p.add_argument("--durability", default="none")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--slope-max", type=int, default=8 << 20, help="bytes a million requests")
    p.add_argument("--no-slope", action="store_true", help="check answers only: a short run says nothing about memory")
    return p.parse_args()


# ---- watching ----


def slope(samples):
    """Bytes a request, by least squares over the second half of (requests, bytes)."""
    half = samples[len(samples) // 2 :]
    n = len(half)
    mean_x, mean_y = sum(x for x, _ in half) / n, sum(y for _, y in half) / n
    over = sum((x - mean_x) * (y - mean_y) for x, y in half)
    under = sum((x - mean_x) ** 2 for x, _ in half)
    return over / under if under else 0.0


class Watch:
    """Samples as many times as there are requests for; prints a line now and then."""

    def __init__(self, server, total):
        self.server, self.total, self.samples, self.begin, self.printed = server, total, [], time.monotonic(), 0

    def look(self, done):
        if done * SAMPLES >= self.total * (len(self.samples) + 1) or not self.samples:
            self.samples.append((done, self.server.memory()))
        if done * 10 >= self.total * (self.printed + 1):
            self.printed += 1
            rate = done / (time.monotonic() - self.begin)
            print(f"{done:>9,} requests  {rate:>8,.0f}/s  {self.samples[-1][1] / 1048576:7.1f} MiB", flush=True)


def run_load(server, o):
    import mix  # after the fork server is chosen

    done = multiprocessing.Value("Q", 0)
    results = multiprocessing.Queue()
    share = [o.requests // o.processes + (i < o.requests % o.processes) for i in range(o.processes)]
    workers = [multiprocessing.Process(target=mix.client, args=(server.port, share[i], o.seed * 1000 + i, done, results), daemon=True)
               for i in range(o.processes)]
    watch = Watch(server, o.requests)
    for w in workers:
        w.start()
    reports = []
    while len(reports) < len(workers):
        try:
            reports.append(results.get(timeout=0.02))
        except multiprocessing.queues.Empty:
            if not any(w.is_alive() for w in workers) and results.empty():
                break
        watch.look(done.value)
    for w in workers:
        w.join()
    watch.samples.append((done.value, server.memory()))
    return watch, reports, len(workers)


def tell(o, watch, reports, wanted):
    """Prints what happened; is it all right?"""
    count = {}
    faults = [] if len(reports) == wanted else [f"{wanted - len(reports)} clients did not come to their end"]
    for report in reports:
        faults += report["faults"]
        for kind, n in report["count"].items():
            count[kind] = count.get(kind, 0) + n
    seconds = time.monotonic() - watch.begin
    per_million = slope(watch.samples) * 1e6
    print("answers: " + "  ".join(f"{kind} {n:,}" for kind, n in sorted(count.items())))
    print(f"{watch.samples[-1][0]:,} requests in {seconds:.1f} s, {watch.samples[-1][0] / seconds:,.0f}/s, seed {o.seed}")
    print(f"RssAnon {watch.samples[0][1] / 1048576:.1f} MiB at first, {watch.samples[-1][1] / 1048576:.1f} MiB at the end; "
          f"second half: {per_million / 1048576:+.2f} MiB a million requests (at most {o.slope_max / 1048576:.2f})")
    for fault in faults[:20]:
        print("FAULT:", fault)
    is_flat = per_million <= o.slope_max
    print("verdict:", "wrong answers" if faults else "right answers" if o.no_slope else "flat" if is_flat else "not flat")
    return not faults and (is_flat or o.no_slope)


def main():
    o = options()
    if o.server:
        os.environ["AVROD"] = os.path.abspath(o.server)
    from avrod import Server

    # What a sanitizer keeps of freed memory, to see late uses, must not hide what is never freed.
    env = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=8"}
    with Server("--engine", o.engine, "--durability", o.durability, env=env) as server:
        for name, schema in TYPES.items():
            reply = server.post(f"/putschema/{name}?compatibility=none", body=json.dumps(schema))
            assert reply.status == 200, reply
        watch, reports, wanted = run_load(server, o)
        assert server.get("/ping").body == b"pong", "alive"
        good = tell(o, watch, reports, wanted)
        if o.engine != "memory":
            server.stop()
            print(server.fsck().strip())
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
