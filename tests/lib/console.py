"""tests/lib/console.py - the console sessions of a Markdown file, run for real: the answers that it prints are compared with
those of a server, or with --write put in their place.

    ```console
    $ avrod --data /var/lib/avrod &
    2026-01-01T00:00:00.000Z info  ready: http://127.0.0.1:8080
    $ curl localhost:8080/ping
    pong
    ```

"$ " begins a command for sh, "> " right behind goes on with it; the lines up to the next command are what it printed,
on both streams. All blocks of a file are one session, in the root of the clone. Everything is as it says there, except:

  avrod ... &            a server on a free port; the port in the text, 8080 unless --listen names one, stands for it.
                         A session that begins without one finds a server at 8080.
  kill %N                ends the N-th of them, and prints the rest of its log
  /var/lib/avrod         and what begins so is in a temporary folder
  curl                   runs as curl -qsS, without proxies
  avroctl                finds the server of port 8080 by AVROD_URL
  Date, times in a log   are all 2026-01-01 00:00:00
  X-Request-Id           is 0123456789abcdef wherever the server has made it
  Server-Timing          has 0.042 everywhere
  Repr-Digest            is always the same, and a backup takes 4 ms, as does a check
  TTL, and "ttl" of a scan's line, are 60"""

import contextlib
import difflib
import os
import re
import shlex
import signal
import subprocess
import tempfile

from avrod import AVROD, ROOT, Server

BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.S | re.M)
PLACE = re.compile(r"(localhost|127\.0\.0\.1|\[::1\]):(\d+)")
DATA = "/var/lib/avrod"
MASKS = [
    (re.compile(r"^Date: .*$", re.M), "Date: Thu, 01 Jan 2026 00:00:00 GMT"),
    (re.compile(r"^X-Request-Id: [0-9a-f]{16}$", re.M), "X-Request-Id: 0123456789abcdef"),
    (re.compile(r"\(request [0-9a-f]{16}\)$", re.M), "(request 0123456789abcdef)"),
    (re.compile(r"^TTL: \d+$", re.M), "TTL: 60"),
    (re.compile(r"^Repr-Digest: .*$", re.M), "Repr-Digest: sha-256=:cXVpdGUgYW5vdGhlciBvbmUgZWFjaCB0aW1lIQAAAAA=:"),
    (re.compile(r"rows, made in \d+ ms$", re.M), "rows, made in 4 ms"),
    (re.compile(r" lost; in \d+ ms$", re.M), " lost; in 4 ms"),
    (re.compile(r'"milliseconds":\d+'), '"milliseconds":4'),
    (re.compile(r'"ttl":\d+,"record"'), '"ttl":60,"record"'),
    (re.compile(r";dur=\d+\.\d{3}"), ";dur=0.042"),
    (re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.M), "2026-01-01T00:00:00.000Z"),
]


def turns_of(block):
    """Each command as the list of its lines, with the list of the lines that are its answer."""
    turns, goes_on = [], False
    for line in block.splitlines():
        if line.startswith("$ "):
            turns.append(([line], []))
            goes_on = True
        elif goes_on and line.startswith("> "):
            turns[-1][0].append(line)
        else:
            goes_on = False
            turns[-1][1].append(line)
    return turns


def command_of(lines):
    """What sh is given."""
    return "\n".join(line[2:] for line in lines)


class Session:
    def __init__(self):
        self.stack = contextlib.ExitStack()
        self.jobs, self.ports = [], {}

    def __enter__(self):
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory(prefix="avrod-test-"))
        programs = os.path.join(self.folder, "bin")
        os.mkdir(programs)
        for program in (AVROD, os.path.join(os.path.dirname(AVROD), "avroctl")):
            os.symlink(os.path.abspath(program), os.path.join(programs, os.path.basename(program)))
        self.env = {**os.environ, "PATH": programs + os.pathsep + os.environ["PATH"], "LC_ALL": "C.UTF-8",
                    "no_proxy": "*"}
        return self

    def __exit__(self, *why):
        return self.stack.__exit__(*why)

    # ---- between the text and here ----

    def enter(self, text):
        def real(place):
            return f"{place[1]}:{self.ports.get(place[2], place[2])}"

        return PLACE.sub(real, text.replace(DATA, os.path.join(self.folder, "avrod")))

    def leave(self, text):
        said = {str(real): port for port, real in self.ports.items()}
        text = PLACE.sub(lambda place: f"{place[1]}:{said.get(place[2], place[2])}", text)
        text = text.replace(os.path.join(self.folder, "avrod"), DATA)
        for pattern, fixed in MASKS:
            text = pattern.sub(fixed, text)
        return text

    # ---- servers ----

    def start(self, words):
        args, data, port = [], None, "8080"
        words = iter(words)
        for word in words:
            if word == "--data":
                data = self.enter(next(words))
            elif word == "--listen":
                host, port = next(words).rsplit(":", 1)
                args += [word, f"{host}:0"]
            else:
                args.append(self.enter(word))
        server = self.stack.enter_context(Server(*args, data=data))
        self.jobs.append(server)
        self.ports[port] = server.port
        if port == "8080":
            self.env["AVROD_URL"] = f"http://127.0.0.1:{server.port}"
        return server.log.decode()

    def kill(self, words):
        server = self.jobs[int(words[-1].removeprefix("%")) - 1]
        before = len(server.log)
        server.process.send_signal(signal.Signals["SIG" + words[0].removeprefix("-")] if words[1:] else signal.SIGTERM)
        server.process.wait(60)
        server.read_log()
        return server.log[before:].decode()

    # ---- commands ----

    def run(self, command):
        words = shlex.split(command, comments=True)
        if words[0] == "avrod" and words[-1] == "&":
            return self.leave(self.start(words[1:-1]))
        if words[0] == "kill":
            return self.leave(self.kill(words[1:]))
        if not self.jobs:
            self.start([])
        here = re.sub(r"\bcurl ", "curl -qsS ", self.enter(command))
        done = subprocess.run(["sh", "-c", here], cwd=ROOT, env=self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=120, check=False)
        return self.leave(done.stdout.decode().replace("\r\n", "\n"))

    def block(self, text):
        """The block again, with the answers of now."""
        lines = []
        for command, _ in turns_of(text):
            lines += command
            lines += self.run(command_of(command)).splitlines()
        return "\n".join(lines) + "\n"


def check(name, write=False):
    """All sessions of ROOT/name. Fails with the differences."""
    path = os.path.join(ROOT, name)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    said = BLOCK.findall(text)
    assert said, f"{name} has lost its sessions"
    with Session() as session:
        real = [session.block(block) for block in said]
    if write:
        fresh = iter(real)
        with open(path, "w", encoding="utf-8") as f:
            f.write(BLOCK.sub(lambda _: next(fresh), text))
        return
    different = [line for a, b in zip(said, real)
                 for line in difflib.unified_diff(a.splitlines(), b.splitlines(), name, "the answers", lineterm="")]
    assert not different, "\n".join(different)
