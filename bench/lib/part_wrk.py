"""bench/lib/part_wrk.py - thousands of connections: wrk on a stored record, beside nginx with the same bytes as a file."""

import re
import shutil
import subprocess

from ask import exchange
from machine import LOAD_CORE, cpu_seconds, fail, files_allow, pinned, say
from report import Goal, Part, cell
from rows import RECORD, spread

HELP = "wrk with 1,000 and 10,000 connections beside nginx serving a file"
NAMES = ["wrk"]
UNITS = {"us": 1, "ms": 1e3, "s": 1e6, "m": 60e6}


def duration_us(text):
    number, unit = re.fullmatch(r"([0-9.]+)([a-z]+)", text).groups()
    return float(number) * UNITS[unit]


def parsed(text):
    """wrk's own report; errors are all that it has a line for. Not a single answer is reported as such, too."""
    rate = re.search(r"Requests/sec:\s+([0-9.]+)", text)
    if not rate:
        fail(f"wrk said: {text}")
    p50, p99 = (re.search(rf"^\s+{share}%\s+(\S+)", text, re.M).group(1) for share in ("50", "99"))
    socket_errors = re.search(r"Socket errors: (.*)", text)
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    errors = sum(map(int, re.findall(r"\d+", socket_errors.group(1)))) if socket_errors else 0
    return {"per_second": float(rate.group(1)), "requests": int(re.search(r"(\d+) requests in", text).group(1)),
            "p50_us": duration_us(p50), "p99_us": duration_us(p99), "errors": errors + (int(bad.group(1)) if bad else 0)}


def wrk(server, target, connections, seconds):
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:.0f}s", "--timeout", "10s", "--latency",
               f"http://127.0.0.1:{server.port}{target}"]
    before = cpu_seconds(server.pids)
    done = subprocess.run(pinned(LOAD_CORE, command), capture_output=True, check=False)
    if done.returncode != 0:
        fail(f"wrk: {done.stderr.decode()}{done.stdout.decode()}")
    found = parsed(done.stdout.decode())
    found["cpu_us"] = (cpu_seconds(server.pids) - before) * 1e6 / max(1, found["requests"])
    return found


def start(bench):
    avrod = bench.avrod("wrk-avrod", "--connections-max", "15000")
    avrod.put_schema("stored")
    exchange(avrod.port, "POST", "/stored/put/1", RECORD)
    body = exchange(avrod.port, "GET", "/stored/get/1")[1]
    nginx = bench.nginx("wrk-nginx", files={"1": body})
    if exchange(nginx.port, "GET", "/file/1")[1] != body:
        fail("nginx serves something else")
    return {"avrod": (avrod, "/stored/get/1"), "nginx": (nginx, "/file/1")}


def run(bench, _names):
    part, counts = Part(), (1000, 10000)
    if not shutil.which("wrk") or not shutil.which("nginx"):
        say("wrk is left out: wrk or nginx is not here")
        return part
    if not files_allow(max(counts) + 100):
        fail("10000 connections need as many open files: ulimit -n")
    servers, found = start(bench), {(c, name): [] for c in counts for name in ("avrod", "nginx")}
    for _ in range(bench.args.rounds):
        for (connections, name), rounds in found.items():
            rounds.append(wrk(*servers[name], connections, bench.args.wrk_seconds))
            say(f"  wrk -c{connections} {name}: {rounds[-1]['per_second']:.0f} a second, {rounds[-1]['errors']} errors")
    for connections in counts:
        add(part, connections, found)
    head = ["connections", "server", "requests/s", "p50 us", "p99 us", "CPU us/request", "errors"]
    part.tables.append(("wrk on a stored record, nginx on a file of the same bytes", head, [line(r) for r in part.rows]))
    return part


def add(part, connections, found):
    for name in "avrod", "nginx":
        rounds = found[connections, name]
        part.rows.append({"name": f"wrk-c{connections}-{name}", "connections": connections, "server": name,
                          **{key: spread([r[key] for r in rounds]) for key in ("per_second", "p50_us", "p99_us", "cpu_us")},
                          "errors": sum(r["errors"] for r in rounds)})
    ratios = [a["per_second"] / max(1, n["per_second"]) for a, n in zip(found[connections, "avrod"], found[connections, "nginx"])]
    part.goals.append(Goal(f"wrk -c{connections}", "requests a second / nginx's", spread(ratios, 3), least=1.0,
                           proven=all(n["requests"] for n in found[connections, "nginx"])))
    errors = spread([r["errors"] for r in found[connections, "avrod"]], 0)
    part.goals.append(Goal(f"wrk -c{connections}", "errors", errors, most=0, timed=False))


def line(r):
    return [str(r["connections"]), r["server"]] + [cell(r[key]) for key in ("per_second", "p50_us", "p99_us", "cpu_us")] + [
        str(r["errors"])]
