"""bench/run.py - server CPU microseconds per request, each row beside the raw-epoll limit with the same answer
length, in interleaved rounds. Called by run.sh, which builds first."""

import argparse
import json
import os
import platform
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
SERVER_CORE, LOAD_CORE = "0", "1"
BUSY_MIN = 0.95
RECORD = b'{"name":"James Bond","age":60}'


class Row:
    """One line of the table: a request, and who answers it."""

    def __init__(self, name, server, method, target, body=None, depth=1, ids=1, durable=False):
        self.name, self.server, self.method, self.target = name, server, method, target
        self.body, self.depth, self.ids, self.durable = body, depth, ids, durable
        self.rounds = []
        self.total = self.body_bytes = None
        self.limit = None


def rows_all(records):
    bench = "?benchmark_only=10240"
    return [
        Row("nginx", "nginx", "GET", "/"),
        Row("ping", "avrod", "GET", "/ping"),
        Row("get", "avrod", "GET", "/personinfo/get/1" + bench),
        Row("put", "avrod", "POST", "/personinfo/put/1" + bench, body=RECORD),
        Row("stored-get", "avrod", "GET", "/stored/get/{id}", ids=records),
        Row("stored-put", "avrod", "POST", "/stored/put/{id}", body=RECORD, ids=records, durable=True),
        Row("ping-16", "avrod", "GET", "/ping", depth=16),
        Row("get-16", "avrod", "GET", "/personinfo/get/1" + bench, depth=16),
    ]


# ---- processes ----

class Process:
    """A server on the server's core, ended with close()."""

    def __init__(self, command, **kw):
        self.process = subprocess.Popen(["taskset", "-c", SERVER_CORE] + command, **kw)
        self.pids = [self.process.pid]

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Limit(Process):
    def __init__(self, tools, body, total):
        super().__init__([tools.limit, "--body", str(body), "--total", str(total)], stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())


class Nginx(Process):
    CONFIG = """daemon off; worker_processes 1; pid nginx.pid; error_log stderr crit;
        events {{ worker_connections 4096; }}
        http {{ access_log off; keepalive_requests 1000000000; client_body_temp_path body; proxy_temp_path proxy;
            fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
            server {{ listen 127.0.0.1:{port}; location / {{ return 200 "pong"; }} }} }}"""

    def __init__(self, where):
        self.port = free_port()
        os.makedirs(where)
        with open(os.path.join(where, "nginx.conf"), "w", encoding="ascii") as f:
            f.write(self.CONFIG.format(port=self.port))
        super().__init__(["nginx", "-e", "stderr", "-p", where, "-c", "nginx.conf"], stderr=subprocess.DEVNULL)
        wait_port(self.port, self.process)
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as f:
            self.pids = [int(pid) for pid in f.read().split()]  # the master does no work


class Avrod(Process):
    def __init__(self, tools, data):
        self.port = free_port()
        command = [tools.avrod, "--data", data, "--listen", f"127.0.0.1:{self.port}", "--threads", "1"]
        self.log = open(data + ".log", "wb")
        super().__init__(command, stderr=self.log)
        wait_port(self.port, self.process)

    def prepare(self):
        with open(os.path.join(ROOT, "examples/PersonInfo.avsc"), "rb") as f:
            schema = f.read()
        for name in "personinfo", "stored":
            exchange(self.port, "POST", "/putschema/" + name, schema)

    def fill(self, tools, records):
        done = tools.run_load(self, Row("fill", "avrod", "POST", "/stored/put/{id}", RECORD, ids=records),
                              ["-c", "200", "-n", str(records), "-s"])
        say(f"stored {records} records, {done['per_second']} a second, {done['server_cpu_us']:.1f} us of CPU each")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_port(port, process, seconds=30):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"the server ended with {process.returncode} at its start")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise SystemExit(f"nothing listens on port {port}")


def exchange(port, method, target, body=None):
    """One request as `load` sends it: (bytes of the whole answer, bytes of its body). Must be 2xx."""
    request = f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    request += f"Content-Length: {len(body)}\r\n\r\n" if body is not None else "\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as s:
        s.sendall(request.encode() + (body or b""))
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += s.recv(65536) or fail(f"{method} {target}: closed in the head of the answer")
        head, rest = answer.split(b"\r\n\r\n", 1)
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        length = int(lengths[0].split(b":")[1]) if lengths else fail(f"{target}: no Content-Length: {answer!r}")
        while len(rest) < length:
            rest += s.recv(65536) or fail(f"{method} {target}: closed in the body of the answer")
    if not head.split(b" ")[1].startswith(b"2"):
        fail(f"{method} {target}: {answer!r}")
    return len(head) + 4 + length, length


def fail(text):
    raise SystemExit("bench: " + text)


def say(text):
    print(text, file=sys.stderr, flush=True)


class Tools:
    def __init__(self, build, connections):
        self.limit, self.load = os.path.join(build, "bench/limit"), os.path.join(build, "bench/load")
        self.avrod = os.path.join(build, "avrod")
        self.connections = connections

    def run_load(self, server, row, how):
        command = ["taskset", "-c", LOAD_CORE, self.load, "-m", row.method, "-r", str(row.ids)]
        for pid in server.pids:
            command += ["-p", str(pid)]
        if row.body is not None:
            command += ["-B", row.body.decode()]
        if row.body_bytes is not None:
            command += ["-l", str(row.body_bytes)]
        done = subprocess.run(command + how + [f"http://127.0.0.1:{server.port}{row.target}"],
                              stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            fail(f"{row.name}: {done.stdout.decode()} from {' '.join(command)}")
        return json.loads(done.stdout)

    def measure(self, server, row, seconds, seed):
        how = ["-c", str(self.connections), "-d", str(row.depth), "-t", str(seconds), "-w", "0.3", "-S", str(seed)]
        return self.run_load(server, row, how)


# ---- the rounds ----

def round_of(tools, server, row, seconds, seed):
    limit = tools.measure(row.limit, row, seconds, seed)
    ours = tools.measure(server, row, seconds, seed)
    busy = min(limit["server_busy"], ours["server_busy"] if not row.durable else 1)
    row.rounds.append({"server": ours, "limit": limit, "counts": busy >= BUSY_MIN,
                       "ratio": ours["server_cpu_us"] / limit["server_cpu_us"]})
    mark = "" if busy >= BUSY_MIN else f"  does not count: a server was busy only {busy:.0%} of the time"
    say(f"  {row.name:<11} {ours['server_cpu_us']:7.2f} us, limit {limit['server_cpu_us']:6.2f},"
        f" {ours['per_second']:8} a second{mark}")


def spread(values, digits=2):
    return {"median": round(statistics.median(values), digits), "min": round(min(values), digits),
            "max": round(max(values), digits)}


def summary(row):
    counted = [r for r in row.rounds if r["counts"]]
    used = counted or row.rounds
    pick = lambda side, key: [r[side][key] for r in used]
    return {
        "name": row.name, "server": row.server, "answer_bytes": row.total, "body_bytes": row.body_bytes,
        "depth": row.depth, "rounds": len(row.rounds), "counted": len(counted),
        "cpu_us": spread(pick("server", "server_cpu_us")), "limit_us": spread(pick("limit", "server_cpu_us")),
        "ratio": spread([r["ratio"] for r in used]), "per_second": spread(pick("server", "per_second"), 0),
        "p50_us": spread(pick("server", "p50_us"), 0), "p99_us": spread(pick("server", "p99_us"), 0),
        "load_us": spread(pick("server", "load_cpu_us")),
    }


def table(rows):
    def cell(s, digits=2):
        return f"{s['median']:.{digits}f} ({s['min']:.{digits}f}..{s['max']:.{digits}f})"

    head = ["row", "bytes", "CPU us/request", "limit, same bytes", "ratio", "requests/s", "p50 us", "p99 us", "counted"]
    lines = [[s["name"], str(s["answer_bytes"]), cell(s["cpu_us"]), cell(s["limit_us"]), cell(s["ratio"]),
              f"{s['per_second']['median']:.0f}", f"{s['p50_us']['median']:.0f}", f"{s['p99_us']['median']:.0f}",
              f"{s['counted']}/{s['rounds']}"] for s in rows]
    widths = [max(len(line[i]) for line in [head] + lines) for i in range(len(head))]
    for line in [head] + lines:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))))
    if any(s["counted"] == 0 for s in rows):
        print("A row with 0 counted rounds is no result: a server waited for the load, or for its core.")


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
        for line in f:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def commit():
    if not shutil.which("git"):
        return "unknown"
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, check=False)
    return done.stdout.decode().strip() or "unknown"


def parse():
    names = [row.name for row in rows_all(1)]
    p = argparse.ArgumentParser(prog="bench/run.sh", description="Server CPU per request beside the raw-epoll limit.")
    p.add_argument("rows", nargs="*", metavar="row", help="which rows (all): " + " ".join(names))
    p.add_argument("--build", default=os.path.join(ROOT, "build/release"), help=argparse.SUPPRESS)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=2, help="of one measurement")
    p.add_argument("--connections", type=int, default=100)
    p.add_argument("--records", type=int, default=100000, help="in the store, for the stored rows")
    p.add_argument("--dir", help="where the store lies while it is measured (a temporary directory)")
    p.add_argument("--json", help="where the figures go as JSON (bench.json in the build directory)")
    args = p.parse_args()
    wrong = set(args.rows) - set(names)
    if wrong:
        p.error(f"no such row: {' '.join(wrong)}; there are {' '.join(names)}")
    return args


def rows_wanted(args):
    rows = [r for r in rows_all(args.records) if not args.rows or r.name in args.rows]
    if not shutil.which("nginx"):
        rows = [r for r in rows if r.server != "nginx"]
    return rows


def start_servers(servers, tools, args, rows, where):
    if any(r.server == "nginx" for r in rows):
        servers["nginx"] = Nginx(os.path.join(where, "nginx"))
    if any(r.server == "avrod" for r in rows):
        servers["avrod"] = Avrod(tools, os.path.join(where, "avrod"))
        servers["avrod"].prepare()
    if any("stored" in r.name for r in rows):
        servers["avrod"].fill(tools, args.records)


def start_limits(tools, servers, rows):
    for row in rows:
        target = row.target.replace("{id}", str(row.ids // 2 or 1))
        row.total, row.body_bytes = exchange(servers[row.server].port, row.method, target, row.body)
        row.limit = Limit(tools, row.body_bytes, row.total)


def main():
    args = parse()
    if len(os.sched_getaffinity(0)) < 2:
        fail("needs two cores: one for the server, one for the load")
    rows = rows_wanted(args)
    tools = Tools(args.build, args.connections)
    where = tempfile.mkdtemp(prefix="avrod-bench-", dir=args.dir)
    servers = {}
    try:
        start_servers(servers, tools, args, rows, where)
        start_limits(tools, servers, rows)
        for number in range(1, args.rounds + 1):
            say(f"round {number} of {args.rounds}")
            for row in rows:
                round_of(tools, servers[row.server], row, args.seconds, number)
    finally:
        for process in list(servers.values()) + [row.limit for row in rows if row.limit]:
            process.close()
        shutil.rmtree(where, ignore_errors=True)
    result = [summary(row) for row in rows]
    path = args.json or os.path.join(args.build, "bench.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"commit": commit(), "cpu": cpu_model(), "kernel": platform.release(), "seconds": args.seconds,
                   "connections": args.connections, "records": args.records, "rows": result}, f, indent=1)
    table(result)
    say(f"figures: {path}")


if __name__ == "__main__":
    main()
