"""bench/lib/ab.py - ab, some at once, as astore's page has it: their rates summed, and what the server paid."""

import os
import re
import subprocess

from machine import cpu_seconds, fail

AT_ONCE, CONNECTIONS = 3, 100


def command_of(peer, ask, requests, folder):
    count = max(CONNECTIONS, int(requests * ask.scale))
    command = ["ab", f"-c{CONNECTIONS}", f"-n{count}", "-k"] + (["-l"] if ask.varies else [])
    if ask.body is not None:
        path = os.path.join(folder, "body")
        with open(path, "wb") as f:
            f.write(ask.body)
        command += ["-u" if ask.method == "PUT" else "-p", path, "-T", "application/octet-stream"]
    return command + [f"http://127.0.0.1:{peer.port}{ask.target}"]


def figure(text, name):
    found = re.search(rf"^{name}:\s+([0-9.]+)", text, re.M)
    return float(found.group(1)) if found else 0.0


def run(peer, ask, requests, folder):
    """All must have been answered well, or there is no figure."""
    command = command_of(peer, ask, requests, folder)
    before = cpu_seconds(peer.pids())
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(AT_ONCE)]
    texts = [process.communicate() for process in started]
    cpu = cpu_seconds(peer.pids()) - before
    out = {"per_second": 0.0, "requests": 0, "kept": 0, "command": " ".join(command)}
    for process, (text, fault) in zip(started, texts):
        text = text.decode()
        if process.returncode != 0 or figure(text, "Failed requests") or figure(text, "Non-2xx responses"):
            fail(f"{peer.name}: {' '.join(command)}\n{text}{fault.decode()}")
        out["per_second"] += figure(text, "Requests per second")
        out["requests"] += int(figure(text, "Complete requests"))
        out["kept"] += int(figure(text, "Keep-Alive requests"))
    out["cpu_us"] = cpu * 1e6 / out["requests"]
    return out
