"""bench/lib/part_instructions.py - instructions in user space a request, counted by callgrind: the same on every machine."""

import os
import re
import shutil
import subprocess

from machine import BOTH_CORES, fail, say
from part_calls import fill, rows_all
from report import Part, table_by_place

HELP = "instructions in user space a request, by file (callgrind)"
NAMES = ["instructions"]
REQUESTS, SHOWN_MIN = 10000, 100


def switch(server, how):
    """Count only between on and off."""
    done = subprocess.run(["callgrind_control", "-i", how, str(server.pids[0])], capture_output=True, check=False)
    if done.returncode != 0:
        fail(f"callgrind_control: {done.stdout.decode()}{done.stderr.decode()}")


def count(bench, row, path):
    """One row in a server of its own: its functions are nobody else's."""
    under = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={path}"]
    # Valgrind asks more of the kernel than a server has use for.
    server = bench.avrod("instructions-" + row.name, "--map-max", "1GiB", "--no-sandbox", cores=BOTH_CORES, under=under)
    fill(bench, server)
    switch(server, "on")
    how = ["-c", str(bench.args.connections), "-d", str(row.depth), "-n", str(REQUESTS)]
    bench.tools.run_load(server, row, how, BOTH_CORES)
    switch(server, "off")
    server.close()


def place_of(function, library):
    """The file of ours, or the library, that a function belongs to."""
    name = os.path.basename(library or "avrod")
    return os.path.basename(function.split(":", 1)[0]) if name == "avrod" else re.sub(r"[-.](so|[0-9]).*", "", name)


def functions_of(path):
    """[(instructions a request, function, place)]; all together they are the request's."""
    done = subprocess.run(["callgrind_annotate", "--threshold=100", "--show-percs=no", path], capture_output=True, check=True)
    found = re.findall(r"^\s*([0-9,]+)\s+(\S+:\S+)(?: \[(.*)\])?\s*$", done.stdout.decode(errors="replace"), re.M)
    return [(int(n.replace(",", "")) / REQUESTS, os.path.basename(function), place_of(function, library))
            for n, function, library in found]


def places_of(functions):
    """{place: instructions a request}"""
    sums = {}
    for n, _, place in functions:
        sums[place] = sums.get(place, 0) + n
    return sums


def run(bench, _names):
    part = Part()
    if not shutil.which("valgrind"):
        say("instructions is left out: valgrind is not here")
        return part
    for row in rows_all():
        path = os.path.join(bench.args.build, f"callgrind.{row.name}")
        count(bench, row, path)
        functions = functions_of(path)
        part.rows.append({"name": "instructions-" + row.name, "instructions": sum(n for n, _, _ in functions),
                          "places": places_of(functions), "functions": functions})
        say(f"  {row.name}: {part.rows[-1]['instructions']:.0f} instructions; callgrind_annotate {path}")
    part.tables.append(table_by_place("Instructions in user space, each request, by file or library", "file", part.rows,
                                      "instructions", SHOWN_MIN))
    return part
