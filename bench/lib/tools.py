"""bench/lib/tools.py - calling the programs that measure: load, bare_lmdb, codec, wrk; and what a part of the table needs."""

import json
import os
import re
import subprocess

from machine import LOAD_CORE, SERVER_CORE, fail, pinned
from servers import Avrod, Limit, Nginx

MEASURE_TRIES = 3


class Tools:
    def __init__(self, build):
        self.avrod = os.path.join(build, "avrod")
        self.limit, self.load, self.bare, self.codec = (
            os.path.join(build, "bench", name) for name in ("limit", "load", "bare_lmdb", "codec"))

    def run_load(self, server, row, how, core=LOAD_CORE, under=()):
        command = [*under, self.load, "-m", row.method, "-r", str(row.ids)]
        for pid in server.pids:
            command += ["-p", str(pid)]
        for header in row.headers:
            command += ["-H", header]
        if row.body is not None:
            command += ["-B", row.body.decode()]
        if row.body_bytes is not None:
            command += ["-l", str(row.body_bytes)]
        command = pinned(core, command + how + [f"http://127.0.0.1:{server.port}{row.target}"])
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            fail(f"{row.name}: {done.stdout.decode()} from {' '.join(command)[:600]}")
        return json.loads(done.stdout)

    def measure(self, server, row, how, core=LOAD_CORE, under=()):
        """As run_load, but a measurement without a single answer is none: on a machine that has no time for it, again."""
        for _ in range(MEASURE_TRIES):
            found = self.run_load(server, row, how, core, under)
            if found["requests"]:
                return found
        fail(f"{row.name}: no answer in the time of a measurement; --seconds more")

    def start_bare(self, what, data, records, seconds, warm, seed, group=1):
        command = [self.bare, what, "--data", data, "--records", str(records), "--seconds", str(seconds),
                   "--seed", str(seed), "--warm", str(warm), "--group", str(group)]
        return subprocess.Popen(pinned(SERVER_CORE, command), stdout=subprocess.PIPE)

    def end_bare(self, process):
        out, _ = process.communicate()
        if process.returncode != 0:
            fail(f"{' '.join(process.args)} ended with {process.returncode}")
        return json.loads(out)

    def run_bare(self, what, data, records, seconds, seed, group=1):
        return self.end_bare(self.start_bare(what, data, records, seconds, 0.2, seed, group))

    def run_codec(self, rounds):
        command = pinned(SERVER_CORE, [self.codec, "--json", "--rounds", str(rounds)])
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]


class Bench:
    """One run: its arguments, its programs, its temporary directory, the servers that end with it."""

    def __init__(self, args, where):
        self.args, self.where, self.tools = args, where, Tools(args.build)
        self.started = []

    def path(self, name):
        return os.path.join(self.where, name)

    def keep(self, server):
        self.started.append(server)
        return server

    def avrod(self, name, *options, **kw):
        return self.keep(Avrod(self.tools, self.path(name), *options, **kw))

    def nginx(self, name, **kw):
        return self.keep(Nginx(self.path(name), **kw))

    def limit(self, body, total):
        return self.keep(Limit(self.tools, body, total))

    def close_servers(self):
        for server in self.started:
            server.close()
        self.started.clear()


# ---- what a server says about itself ----

GROUPS = re.compile(r"^([a-z_]*group[a-z_]*)_(sum|count)(?:\{[^}]*\})?\s+([0-9.eE+]+)\s*$", re.M)


def groups_of(metrics):
    """{"sum": writes, "count": groups} of the histogram of group sizes in a page of metrics; None: it has none. Of several
    with "group" in their names it is the one that counts writes, not seconds or bytes."""
    found = {}
    for name, part, value in GROUPS.findall(metrics):
        found.setdefault(name, {}).setdefault(part, 0.0)
        found[name][part] += float(value)
    names = [n for n, parts in found.items() if len(parts) == 2 and not n.endswith(("seconds", "bytes", "pages", "us", "ns"))]
    names.sort(key=lambda n: ("writes" not in n and "operations" not in n and "size" not in n, n))
    return found[names[0]] if names else None


def groups_between(before, after):
    """Writes a group, from two looks at groups_of(); None if it cannot be known."""
    if not before or not after or after["count"] <= before["count"]:
        return None
    return (after["sum"] - before["sum"]) / (after["count"] - before["count"])
