#!/usr/bin/env python3
"""tests/soak/run.py - a long mixed load from several processes, every answer checked by its class, and the memory of the server
watched: does it stay flat?

    tests/soak/run.py --requests 1000000 [--server build/release/avrod] [--processes 3] [--engine lmdb]
    tests/soak/run.py --seconds 3600 --guests 3 [--server build/release/avrod]

Ends with 0 if every answer was one that its request may get, no connection was lost, memory stayed flat, and the server then ends with
0 and has left a store without a fault. Flat is: the line of least squares through the second half of the samples of RssAnon rises by less
than --slope-max bytes a million requests; with --seconds, from the first tenth behind the warm-up to the last tenth, neither RssAnon nor
the store grows by more than its margin, and at the end as many files are open as at first.

With --guests there are users, TLS, reloads and backups besides (guests.py, keeper.py, house.py)."""

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

SAMPLES = 200
WARM_UP = 0.25  # of the time, but at least
WARM_UP_S = 150  # seconds: dead values stay for 40, while backups hold pages as well
FILES_MARGIN = 1  # a first backup opens a reader of the store for good
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
GUESTS_TYPES = {
    "public?": "bytes",
    "kept?": {"type": "record", "name": "Kept", "fields": [
        {"name": "n", "type": "long", "default": 0}, {"name": "s", "type": "string", "default": ""},
        {"name": "m", "type": {"type": "map", "values": "long"}, "default": {}}]},
    "brief?": "bytes",
    "cache?max_size=8MiB": "bytes",
}
PACKED = "packed?compression=zstd"


def options():
    p = argparse.ArgumentParser(description="A soak test of avrod.")
    p.add_argument("--requests", type=int, default=1000000)
    p.add_argument("--seconds", type=float, help="how long, instead of --requests")
    p.add_argument("--guests", type=int, default=0, help="so many clients that say who they are, besides --processes that do not")
    p.add_argument("--processes", type=int, default=3)
    p.add_argument("--server", help="the program; default: $AVROD")
    p.add_argument("--engine", default="lmdb")
    p.add_argument("--durability", default="none")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--slope-max", type=int, default=8 << 20, help="bytes a million requests")
    p.add_argument("--memory-margin", type=int, default=8 << 20, help="bytes of RssAnon, with --seconds")
    p.add_argument("--store-margin", type=int, default=64 << 20, help="bytes of the store, with --seconds")
    p.add_argument("--no-slope", action="store_true", help="check answers only: a short run says nothing about memory")
    o = p.parse_args()
    if o.seconds and o.seconds < 2 * WARM_UP_S and not o.no_slope:
        p.error(f"in less than {2 * WARM_UP_S} s nothing shows whether it is flat: --no-slope checks answers only")
    return o


# ---- watching ----


def slope(samples):
    """Bytes a request, by least squares over the second half of (requests, bytes)."""
    half = samples[len(samples) // 2 :]
    n = len(half)
    mean_x, mean_y = sum(s.done for s in half) / n, sum(s.anon for s in half) / n
    over = sum((s.done - mean_x) * (s.anon - mean_y) for s in half)
    under = sum((s.done - mean_x) ** 2 for s in half)
    return over / under if under else 0.0


class Sample:
    def __init__(self, server, done):
        self.done, self.anon, self.files = done, server.memory(), server.descriptors()
        try:
            self.store = os.stat(f"{server.data}/data.mdb").st_blocks * 512
        except FileNotFoundError:
            self.store = 0

    def __str__(self):
        return f"{self.anon / 1048576:7.1f} MiB  store {self.store / 1048576:7.1f} MiB  {self.files:3} files"


class Watch:
    """Samples SAMPLES times; prints a line now and then."""

    def __init__(self, server, o):
        self.server, self.o, self.samples, self.begin, self.printed = server, o, [], time.monotonic(), 0
        self.first = Sample(server, 0)

    def look(self, done):
        part = (time.monotonic() - self.begin) / self.o.seconds if self.o.seconds else done / self.o.requests
        if part * SAMPLES >= len(self.samples) + 1 or not self.samples:
            self.samples.append(Sample(self.server, done))
        if part * 10 >= self.printed + 1:
            self.printed += 1
            rate = done / (time.monotonic() - self.begin)
            print(f"{done:>9,} requests  {rate:>8,.0f}/s  {self.samples[-1]}", flush=True)

    def growth(self, what):
        """(behind the warm-up, at the end): medians of a tenth of the samples each, so that no backup that is on its way decides."""
        begin, tenth = int(len(self.samples) * min(0.5, max(WARM_UP, WARM_UP_S / self.o.seconds))), max(1, len(self.samples) // 10)
        values = [getattr(s, what) for s in self.samples]
        return statistics.median(values[begin : begin + tenth]), statistics.median(values[-tenth:])

    def await_files(self):
        """Of connections whose clients have gone the server hears a moment later; how many files are open then?"""
        until = time.monotonic() + 60
        while self.server.descriptors() > self.first.files + FILES_MARGIN and time.monotonic() < until:
            time.sleep(0.02)
        return self.server.descriptors()


def workers_of(server, o, ports, home, done, results):
    import guests
    import mix  # after the fork server is chosen

    deadline = time.monotonic() + o.seconds if o.seconds else None
    share = [1 << 62 if o.seconds else o.requests // o.processes + (i < o.requests % o.processes) for i in range(o.processes)]
    workers = []
    for i in range(o.processes):
        over_tls = home and i % 2
        workers.append(multiprocessing.Process(target=mix.client, daemon=True, args=(
            ports[1] if over_tls else server.port, share[i], o.seed * 1000 + i, done, results, deadline, home.ca.cert if over_tls else None)))
    for i in range(o.guests):
        workers.append(multiprocessing.Process(target=guests.guest, daemon=True, args=(
            ports, o.seed * 1000 + o.processes + i, done, results, deadline, home.ca.cert, home.of_client, o.zstd)))
    return workers


class Care(threading.Thread):
    """The keeper, beside the clients."""

    def __init__(self, keeper):
        super().__init__(daemon=True)
        self.keeper, self.over, self.faults = keeper, threading.Event(), []

    def run(self):
        try:
            while not self.over.wait(0.05):
                self.keeper.look()
        except Exception as e:  # whatever it is, it is a fault of this run
            self.faults.append(f"keeper: {type(e).__name__}: {e}")

    def end(self):
        self.over.set()
        self.join()
        return {"count": self.keeper.count, "faults": self.faults}


def run_load(server, o, ports, home, keeper):
    done, results = multiprocessing.Value("Q", 0), multiprocessing.Queue()
    workers = workers_of(server, o, ports, home, done, results)
    watch = Watch(server, o)
    for w in workers:
        w.start()
    care = Care(keeper) if keeper else None
    if care:
        care.start()
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
    watch.samples.append(Sample(server, done.value))
    wanted = len(workers)
    if care:
        reports.append(care.end())
        wanted += 1
    return watch, reports, wanted


# ---- what came of it ----


def flat_by_requests(o, watch):
    per_million = slope(watch.samples) * 1e6
    print(f"RssAnon {watch.samples[0].anon / 1048576:.1f} MiB at first, {watch.samples[-1].anon / 1048576:.1f} MiB at the end; "
          f"second half: {per_million / 1048576:+.2f} MiB a million requests (at most {o.slope_max / 1048576:.2f})")
    return per_million <= o.slope_max


def flat_by_time(o, watch):
    is_flat = True
    for name, what, margin in (("RssAnon", "anon", o.memory_margin), ("store", "store", o.store_margin)):
        warm, end = watch.growth(what)
        print(f"{name}: {getattr(watch.first, what) / 1048576:.1f} MiB at first, {warm / 1048576:.1f} behind the warm-up, "
              f"{end / 1048576:.1f} at the end, {max(getattr(s, what) for s in watch.samples) / 1048576:.1f} at most; "
              f"{(end - warm) / 1048576:+.1f} (margin {margin / 1048576:.0f})")
        is_flat = is_flat and end - warm <= margin
    return is_flat


def tell(o, watch, reports, wanted):
    """Prints what happened; is it all right?"""
    count = {}
    faults = [] if len(reports) == wanted else [f"{wanted - len(reports)} clients did not come to their end"]
    for report in reports:
        faults += report["faults"]
        for kind, n in report["count"].items():
            count[kind] = count.get(kind, 0) + n
    seconds = time.monotonic() - watch.begin
    print("counted: " + "  ".join(f"{kind} {n:,}" for kind, n in sorted(count.items())))
    print(f"{watch.samples[-1].done:,} requests in {seconds:.1f} s, {watch.samples[-1].done / seconds:,.0f}/s, seed {o.seed}")
    if o.guests and not count.get("resumed"):
        faults.append("no session was resumed")
    files = watch.await_files()
    print(f"open files: {watch.first.files} at first, {files} at the end, {max(s.files for s in watch.samples)} at most")
    is_flat = flat_by_time(o, watch) if o.seconds else flat_by_requests(o, watch)
    if files > watch.first.files + FILES_MARGIN:
        is_flat = False
    for fault in faults[:20]:
        print("FAULT:", fault)
    print("verdict:", "wrong answers" if faults else "right answers" if o.no_slope else "flat" if is_flat else "not flat")
    return not faults and (is_flat or o.no_slope)


# ---- servers ----


def register(server):
    for name, schema in TYPES.items():
        reply = server.post(f"/putschema/{name}?compatibility=none", body=json.dumps(schema))
        assert reply.status == 200, reply


def register_for_guests(o, port):
    import house
    from guests import Line, want

    with Line(port, "127.0.0.1", house.bearer("boss")) as boss:
        for name, schema in {**{name + "?compatibility=none": schema for name, schema in TYPES.items()}, **GUESTS_TYPES}.items():
            want(boss.ask("POST", f"/putschema/{name}", json.dumps(schema)), 200)
        o.zstd = want(boss.ask("POST", f"/putschema/{PACKED}", '"bytes"'), 200, 400).status == 200
        want(boss.ask("PUT", "/public/1", "hello"), 201)
    print("types with compression=zstd:", "yes" if o.zstd else "this server has none")


def check_backup(keeper, folder):
    """The last backup becomes a store, which has no fault."""
    from avrod import AVROD

    if not keeper.count["backups"]:
        return
    for command in ([AVROD, "--restore", keeper.backup_file, f"{folder}/restored"], [AVROD, "--fsck", f"{folder}/restored"]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)
        print("of the last backup:", done.stdout.decode(errors="replace").strip().replace(folder + "/", ""))
        assert done.returncode == 0, f"{command[1]} ended with {done.returncode}"


def run(o, env):
    from avrod import Server

    common = ("--engine", o.engine, "--durability", o.durability)
    with Server(*common, env=env) as server:
        register(server)
        watch, reports, wanted = run_load(server, o, None, None, None)
        assert server.get("/ping").body == b"pong", "alive"
        return end(o, server, tell(o, watch, reports, wanted))


def run_with_guests(o, env):
    import house
    from avrod import Server
    from keeper import Keeper

    home = house.House()
    try:
        with Server("--engine", o.engine, "--durability", o.durability, *home.options(), env=env) as server:
            ports = server.ports()
            register_for_guests(o, ports[0])
            keeper = Keeper(server, ports, home, home.dir)
            watch, reports, wanted = run_load(server, o, ports, home, keeper)
            good = end(o, server, tell(o, watch, reports, wanted))
        check_backup(keeper, home.dir)
        return good
    finally:
        home.remove()


def end(o, server, good):
    if o.engine != "memory":
        assert server.stop() == 0, server.log
        print(server.fsck().strip())
    return good


def main():
    o = options()
    if o.server:
        os.environ["AVROD"] = os.path.abspath(o.server)
    # What a sanitizer keeps of freed memory, to see late uses, must not hide what is never freed.
    env = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=8"}
    return 0 if (run_with_guests if o.guests else run)(o, env) else 1


if __name__ == "__main__":
    sys.exit(main())
