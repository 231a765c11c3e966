"""tests/lib/avrod.py - start a real avrod on port 0 and a temporary directory, and speak to it.

    with Server() as s:
        r = s.request("GET", "/ping")
        assert r.status == 200 and r.body == b"pong"

The program under test is $AVROD. With AVROD_TEST_TLS=1.2 or 1.3 all of it goes over TLS. Standard library only."""

import fcntl
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import tls

AVROD = os.environ.get("AVROD", os.path.join(os.path.dirname(__file__), "../../build/dev/avrod"))
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))


class Reply:
    def __init__(self, status, headers, body, version=11):
        self.status, self.headers, self.body, self.version = status, headers, body, version

    def json(self):
        return json.loads(self.body)

    def header(self, name):
        for key, value in self.headers:
            if key.lower() == name.lower():
                return value
        return None

    def header_all(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body!r}>"


class Server:
    """One server process. data=None: a fresh directory, removed at the end; restart() keeps it."""

    def __init__(self, *args, data=None, start=True, env=None, stdout=None):
        self.args, self.own_data, self.env, self.stdout = list(args), data is None, env, stdout
        self.data = data or tempfile.mkdtemp(prefix="avrod-test-")
        self.process, self.port, self.log = None, None, b""
        if start:
            self.start()

    def command(self):
        command = [AVROD, "--data", self.data]
        if "--listen" not in self.args:
            command += ["--listen", "127.0.0.1:0"]
        if self.is_wrapped():
            command += tls.EVERYTHING.options()
        return command + self.args

    def is_wrapped(self):
        """Over TLS without the test's knowing?"""
        return tls.EVERYTHING is not None and "--tls-cert" not in self.args

    def start(self, timeout=60):
        self.check_log()
        self.log = b""
        self.log_file = tempfile.TemporaryFile()
        # The server's descriptor and ours have one position: what it writes while we read goes to the end all the same.
        fcntl.fcntl(self.log_file, fcntl.F_SETFL, fcntl.fcntl(self.log_file, fcntl.F_GETFL) | os.O_APPEND)
        self.process = subprocess.Popen(self.command(), stdout=self.stdout, stderr=self.log_file, env=self.env)
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            self.read_log()
            ready = re.search(rb"ready: (?:unix:|https?://[^ ,]*:(\d+))", self.log)
            if ready:
                self.port = int(ready.group(1) or 0)
                return self
            if self.process.poll() is not None:
                self.read_log()
                raise RuntimeError(f"avrod ended with {self.process.returncode}: {self.log.decode(errors='replace')}")
            time.sleep(0.005)
        self.kill()
        raise RuntimeError("avrod was not ready in time: " + self.log.decode(errors="replace"))

    def read_log(self):
        self.log_file.seek(0)
        self.log = self.log_file.read()
        return self.log.decode(errors="replace")

    def check_log(self):
        """Of the run that ended, if any."""
        log = self.read_log() if self.process is not None else ""
        if "Sanitizer" in log or "runtime error:" in log:
            raise AssertionError("a sanitizer spoke:\n" + log)
        return log

    def stop(self, timeout=60):
        """SIGTERM; returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout)
        self.read_log()
        return code

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def restart(self, kill=False):
        self.kill() if kill else self.stop()
        return self.start()

    def fsck(self):
        """Of a store that no server has open: it has no fault, whatever has been done to it."""
        done = subprocess.run([AVROD, "--fsck", self.data], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self.env,
                              timeout=600, check=False)
        assert done.returncode == 0, f"--fsck ended with {done.returncode}:\n{done.stdout.decode(errors='replace')}"
        return done.stdout.decode()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        code = None
        try:
            if self.process is not None and self.process.poll() is None:
                code = self.stop()
                if kind is None and os.environ.get("AVROD_TEST_FSCK") and os.path.exists(f"{self.data}/data.mdb"):
                    self.fsck()
        finally:
            if self.process is not None:
                self.kill()
            if self.own_data:
                shutil.rmtree(self.data, ignore_errors=True)
        log = self.check_log()
        if kind is None and code not in (None, 0):
            raise AssertionError(f"avrod ended with {code}:\n{log}")

    # ---- one request on a connection of its own ----

    def request(self, method, target, body=None, headers=None, host="127.0.0.1"):
        if self.is_wrapped():
            c = http.client.HTTPSConnection(host, self.port, timeout=60, context=tls.EVERYTHING.context)
        else:
            c = http.client.HTTPConnection(host, self.port, timeout=60)
        try:
            c.request(method, target, body=body, headers=headers or {})
            r = c.getresponse()
            return Reply(r.status, r.getheaders(), r.read(), r.version)
        finally:
            c.close()

    def get(self, target, **kw):
        return self.request("GET", target, **kw)

    def post(self, target, body=b"", **kw):
        return self.request("POST", target, body=body, **kw)

    def put(self, target, body=b"", **kw):
        return self.request("PUT", target, body=body, **kw)

    def delete(self, target, **kw):
        return self.request("DELETE", target, **kw)

    def ports(self):
        """Of all addresses of --listen, in their order."""
        return [int(port) for port in re.findall(rb"https?://[^ ,]*:(\d+)", re.search(rb"ready: .*", self.log).group())]

    def descriptors(self):
        """How many file descriptors the process has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def memory(self):
        """How many bytes of memory it has that are no file's."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return 1024 * int(re.search(r"RssAnon:\s*(\d+) kB", f.read()).group(1))

    # ---- raw bytes ----

    def connect(self, timeout=20):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return tls.TlsSocket(s, tls.EVERYTHING.context) if self.is_wrapped() else s

    def raw(self, data, timeout=20):
        """Send bytes, half-close, and read until the server closes."""
        with self.connect(timeout) as s:
            try:
                s.sendall(data)
                s.shutdown(socket.SHUT_WR)
            except (BrokenPipeError, ConnectionResetError):
                pass
            return read_all(s)


def plain_only(why):
    """A test that is about sockets without TLS, whatever AVROD_TEST_TLS says."""
    return unittest.skipIf(tls.EVERYTHING is not None, why)


def sanitized():
    """Is the program built with a sanitizer?"""
    with open(AVROD, "rb") as f:
        program = f.read()
    return b"__asan_init" in program or b"__tsan_init" in program


def records_of(server, type_name):
    """How many records GET /schemas counts for a type; None: no such type."""
    for entry in server.get("/schemas").json():
        if entry["name"] == type_name:
            return entry["records"]
    return None


def read_all(sock):
    out = bytearray()
    while True:
        try:
            piece = sock.recv(65536)
        except ConnectionResetError:
            return bytes(out)
        if not piece:
            return bytes(out)
        out += piece


def read_reply(sock, head=False, pending=b""):
    """One HTTP answer from a socket: (Reply, bytes that were read beyond it)."""
    data = pending
    while b"\r\n\r\n" not in data:
        piece = sock.recv(65536)
        if not piece:
            raise EOFError(f"closed in the head: {data!r}")
        data += piece
    top, rest = data.split(b"\r\n\r\n", 1)
    lines = top.decode("latin-1").split("\r\n")
    version, status = lines[0].split(" ")[:2]
    headers = [tuple(line.split(": ", 1)) if ": " in line else (line.rstrip(":"), "") for line in lines[1:]]
    reply = Reply(int(status), headers, b"", 11 if version == "HTTP/1.1" else 10)
    length = int(reply.header("Content-Length") or 0)
    if head or reply.status in (100, 204, 304):
        return reply, rest
    while len(rest) < length:
        piece = sock.recv(65536)
        if not piece:
            raise EOFError(f"closed in the body: {rest!r}")
        rest += piece
    reply.body = rest[:length]
    return reply, rest[length:]
