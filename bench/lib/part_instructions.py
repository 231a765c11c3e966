"""bench/lib/part_instructions.py - instructions in user space a request, counted by callgrind: the same on every machine."""

import os
import re
import shutil
import subprocess

from machine import BOTH_CORES, fail, say
from part_calls import fill, rows_all
from report import Part

HELP = "instructions in user space a request, and the functions that take most (callgrind)"
NAMES = ["instructions"]
REQUESTS, CONNECTIONS, FUNCTIONS = 5000, 20, 12


def switch(server, how):
    """Count only between on and off."""
    done = subprocess.run(["callgrind_control", "-i", how, str(server.pids[0])], capture_output=True, check=False)
    if done.returncode != 0:
        fail(f"callgrind_control: {done.stdout.decode()}{done.stderr.decode()}")


def count(bench, row, path):
    """One row in a server of its own: its functions are nobody else's."""
    under = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={path}"]
    server = bench.avrod("instructions-" + row.name, "--map-max", "1GiB", cores=BOTH_CORES, under=under)
    fill(bench, server)
    switch(server, "on")
    how = ["-c", str(CONNECTIONS), "-d", str(row.depth), "-n", str(REQUESTS)]
    bench.tools.run_load(server, row, how, BOTH_CORES)
    switch(server, "off")
    server.close()


def name_of(function, library):
    """Without its path; where a library has no names, the library and an address."""
    name = function.rsplit("/", 1)[-1]
    return f"{os.path.basename(library)} {name[4:]}" if name.startswith("???:") and library else name


def functions_of(path):
    """[(instructions a request, function)], those first that take most themselves; all together they are the request's."""
    done = subprocess.run(["callgrind_annotate", "--threshold=100", "--show-percs=no", path], capture_output=True, check=True)
    found = re.findall(r"^\s*([0-9,]+)\s+(\S+:\S+)(?: \[(.*)\])?\s*$", done.stdout.decode(errors="replace"), re.M)
    return [(int(n.replace(",", "")) / REQUESTS, name_of(function, library)) for n, function, library in found]


def run(bench, _names):
    part = Part()
    if not shutil.which("valgrind"):
        say("instructions is left out: valgrind is not here")
        return part
    for row in rows_all():
        path = os.path.join(bench.args.build, f"callgrind.{row.name}")
        count(bench, row, path)
        functions = functions_of(path)
        total = sum(n for n, _ in functions)
        part.rows.append({"name": "instructions-" + row.name, "instructions": total, "functions": functions})
        say(f"  {row.name}: {total:.0f} instructions; callgrind_annotate {path}")
    part.tables.append(("Instructions in user space, each request", ["row", "instructions"],
                        [[found["name"], f"{found['instructions']:.0f}"] for found in part.rows]))
    for found in part.rows:
        part.tables.append((found["name"], ["function", "instructions"],
                            [[name, f"{n:.0f}"] for n, name in found["functions"][:FUNCTIONS]]))
    return part
