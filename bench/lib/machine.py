"""bench/lib/machine.py - where it is measured: cores, clocks and memory of processes, what the JSON says about the machine."""

import os
import platform
import resource
import shutil
import subprocess
import sys
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
SERVER_CORE, LOAD_CORE = "0", "1"
BOTH_CORES = "0,1"


def say(text):
    print(text, file=sys.stderr, flush=True)


def fail(text):
    raise SystemExit("bench: " + text)


def pinned(cores, command):
    return ["taskset", "-c", cores] + command


def unpreempted():
    """What to put before a command so that none of its equals is preempted; nothing where that is not allowed."""
    command = ["chrt", "--rr", "1"]
    try:
        allowed = subprocess.run([*command, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        allowed = False
    return command if allowed else []


def need_two_cores():
    if len(os.sched_getaffinity(0)) < 2:
        fail("needs two cores: one for the server, one for the load")


def files_allow(count):
    """Raise the limit of open files, which children inherit; False if `count` cannot be had."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard == resource.RLIM_INFINITY or hard >= count


def cpu_seconds(pids):
    """User and system time of all threads of these processes; Linux has a clock for each process."""
    return sum(time.clock_gettime(~pid << 3 | 2) for pid in pids)


def resident_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        for line in f:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    fail(f"process {pid} has no memory")


def busy_share(seconds=0.5):
    """What part of all cores others use, while we do nothing."""
    def look():
        with open("/proc/stat", encoding="ascii") as f:
            times = [int(n) for n in f.readline().split()[1:9]]
        return sum(times), times[3] + times[4]  # idle, and waiting for the disk

    all_before, idle_before = look()
    time.sleep(seconds)
    all_after, idle_after = look()
    return 1 - (idle_after - idle_before) / max(1, all_after - all_before)


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


def described():
    return {"commit": commit(), "cpu": cpu_model(), "cores": len(os.sched_getaffinity(0)),
            "kernel": platform.release(), "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
