"""bench/lib/part_budget.py - where the nanoseconds of a request go: CPU a request, split by what perf's samples hit."""

import bisect
import os
import re
import shutil
import subprocess

import stores
from machine import LOAD_CORE, pinned, say
from part_rows import rows_all
from report import Part, table_by_place
from rows import load_how

HELP = "nanoseconds a request by system call, library and file (perf)"
NAMES = ["budget"]
HERTZ, SHOWN_MIN_NS = 5000, 20


def has_perf():
    return shutil.which("perf") and subprocess.run(["perf", "record", "-o", "/dev/null", "-e", "cpu-clock", "true"],
                                                   capture_output=True, check=False).returncode == 0


def sampled(bench, row, server, path):
    """What load says, while perf samples the server: the load begins before and ends behind it, so that no sample is of
    connections that are opened or closed."""
    how = load_how(bench.args, row, 1) + ["-t", f"{2 * bench.args.seconds + 1:.2f}"]
    command = ["perf", "record", "-q", "-o", path, "-F", str(HERTZ), "-e", "cpu-clock", "-g", "-p", str(server.pids[0]),
               "--delay", str(int(1000 * bench.args.warm)), "--", "sleep", f"{bench.args.warm + bench.args.seconds:.2f}"]
    with subprocess.Popen(pinned(LOAD_CORE, command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        return bench.tools.measure(server, row, how)


def reported(path, *options):
    """Lines of perf's report, as fields."""
    done = subprocess.run(["perf", "report", "-i", path, "-g", "none", "-t", "\t", "--stdio", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    lines = done.stdout.decode(errors="replace").splitlines()
    return [[field.strip() for field in line.split("\t")] for line in lines if line.strip() and not line.startswith("#")]


def share(text):
    return float(text.rstrip("%")) / 100


class Files:
    """The file of the function at an address of a program with line numbers: names alone do not tell, static ones repeat."""

    def __init__(self, program):
        done = subprocess.run(["nm", "-l", "-n", "--defined-only", program], stdout=subprocess.PIPE, check=True)
        found = re.findall(r"^(\S+) [tT] \S+(?:\t(\S+):\d+)?$", done.stdout.decode(errors="replace"), re.M)
        self.starts = [int(start, 16) for start, _ in found]
        self.files = [os.path.basename(file) or "avrod" for _, file in found]

    def of(self, address):
        return self.files[bisect.bisect_right(self.starts, address) - 1]


def kernel_places(path):
    """The kernel's part by system call, with all that the call leads to; and what is in no system call."""
    calls = {}
    for part, symbol in reported(path, "--children", "--sort", "sym", "-F", "overhead_children,sym"):
        name = re.fullmatch(r"\[k\] __x64_sys_(\w+)", symbol)
        if name:
            calls["kernel: " + name[1]] = share(part)
    return calls


def places(path, files):
    """{place: share of the samples}"""
    found, kernel = kernel_places(path), 0.0
    for part, library, symbol in reported(path, "--no-children", "-v", "--sort", "dso,sym", "-F", "overhead,dso,sym"):
        if "[k]" in symbol:
            kernel += share(part)
            continue
        name = os.path.basename(library)
        place = files.of(int(symbol.split()[0], 16)) if name == "avrod" else re.sub(r"[-.](so|[0-9]).*", "", name)
        found[place] = found.get(place, 0.0) + share(part)
    found["kernel: the rest"] = max(0.0, kernel - sum(n for place, n in found.items() if place.startswith("kernel: ")))
    return found


def run(bench, _names):
    part = Part()
    if not has_perf():
        say("budget is left out: perf is not here, or may not sample")
        return part
    stores.copied(bench, bench.args.records, "budget")
    server = bench.avrod("budget")
    server.put_schema("personinfo")
    files = Files(bench.tools.avrod)
    for row in rows_all(bench.args.records):
        if row.server != "avrod":
            continue
        path = os.path.join(bench.args.build, f"perf.{row.name}")
        cpu_ns = sampled(bench, row, server, path)["server_cpu_us"] * 1000
        found = {place: n * cpu_ns for place, n in places(path, files).items()}
        part.rows.append({"name": "budget-" + row.name, "cpu_ns": cpu_ns, "places": found})
        say(f"  {row.name}: {cpu_ns:.0f} ns; perf report -i {path}")
    part.tables.append(table_by_place("Nanoseconds of CPU, each request", "place", part.rows, "cpu_ns", SHOWN_MIN_NS,
                                      lambda place: place.startswith("kernel")))
    return part
