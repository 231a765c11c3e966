"""bench/lib/servers.py - the servers that are measured: each a process on a free port of loopback, ended by its id."""

import os
import signal
import subprocess
import time

from ask import exchange, free_port, wait_port
from machine import ROOT, SERVER_CORE, fail, pinned


class Process:
    """Pinned to cores, ended with close(). `pids`: those whose CPU time counts."""

    def __init__(self, command, cores=SERVER_CORE, **kw):
        self.process = subprocess.Popen(pinned(cores, command), **kw)
        self.pids = [self.process.pid]

    def close(self):
        """The exit code. SIGTERM, and a minute for what it has to finish."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode


class Limit(Process):
    """`hold_us`: its answers leave in bursts, as those of a server whose groups take that long to commit."""

    def __init__(self, tools, body, total, hold_us=0):
        super().__init__([tools.limit, "--body", str(body), "--total", str(total), "--hold-us", str(hold_us)],
                         stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())


def children(process, number, seconds=10):
    """The ids of its child processes, once there are so many: those that are counted without one have done half the work."""
    path, end = f"/proc/{process.pid}/task/{process.pid}/children", time.monotonic() + seconds
    while time.monotonic() < end:
        with open(path, encoding="ascii") as f:
            pids = [int(pid) for pid in f.read().split()]
        if len(pids) == number:
            return pids
        time.sleep(0.02)
    fail(f"{' '.join(process.args)} has {len(pids)} child processes, not {number}")


class Nginx(Process):
    """`/` answers pong, `/file/NAME` is a file of the directory `files`, which takes PUT too."""

    CONFIG = """daemon off; worker_processes {workers}; pid nginx.pid; error_log stderr crit; {user}
        events {{ worker_connections 16000; }}
        http {{ access_log off; keepalive_requests 1000000000; client_body_temp_path body; proxy_temp_path proxy;
            fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi; open_file_cache max=1000;
            server {{ listen 127.0.0.1:{port} backlog=4096; root .;
                location / {{ return 200 "pong"; }}
                location /file/ {{ alias files/; dav_methods PUT; }} }} }}"""

    def __init__(self, where, files=None, cores=SERVER_CORE, workers=1):
        self.port = free_port()
        os.makedirs(os.path.join(where, "files"))
        for name, body in (files or {}).items():
            with open(os.path.join(where, "files", name), "wb") as f:
                f.write(body)
        user = "user root;" if os.geteuid() == 0 else ""  # the directory is ours alone
        with open(os.path.join(where, "nginx.conf"), "w", encoding="ascii") as f:
            f.write(self.CONFIG.format(port=self.port, workers=workers, user=user))
        super().__init__(["nginx", "-e", "stderr", "-p", where, "-c", "nginx.conf"], cores, stderr=subprocess.DEVNULL)
        wait_port(self.port, self.process)
        self.pids = children(self.process, workers)  # the master does no work


class Avrod(Process):
    """Its log lies beside its data. `under`: a command that runs the server's, such as valgrind's."""

    def __init__(self, tools, data, *options, threads=1, cores=SERVER_CORE, under=()):
        self.port = free_port()
        command = [*under, tools.avrod, "--data", data, "--listen", f"127.0.0.1:{self.port}", *options]
        command += ["--threads", str(threads)] if threads else []
        with open(data + ".log", "ab") as log:
            super().__init__(command, cores, stderr=log)
        wait_port(self.port, self.process)

    def put_schema(self, name, schema=None):
        """The PersonInfo of the examples, unless told otherwise."""
        if schema is None:
            with open(os.path.join(ROOT, "examples/PersonInfo.avsc"), "rb") as f:
                schema = f.read()
        exchange(self.port, "POST", "/putschema/" + name, schema)
