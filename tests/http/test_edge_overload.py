#!/usr/bin/env python3
"""tests/http/test_edge_overload.py - crowds of slow clients at once: they are told so and closed, and nobody else notices; file
descriptors run out and come back; every refusal of the edge can be read by who sent too much."""

import resource
import select
import socket
import subprocess
import unittest

from avrod import Server, plain_only, read_reply
from edge import HOST, PING, split_replies

CROWD = 800


def setUpModule():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * CROWD + 100
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))  # the server inherits it


def put_head(target, bytes_):
    return b"PUT " + target + b" HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % bytes_


class Crowd:
    """Sockets that are given a byte now and then, and what came of each."""

    def __init__(self, server, n, begin, drip):
        self.open, self.got, self.drip = set(), {}, drip
        for _ in range(n):
            s = server.connect(timeout=60)
            s.sendall(begin)
            s.setblocking(False)
            self.open.add(s)
            self.got[s] = b""

    def feed(self):
        for s in self.open:
            try:
                s.send(self.drip)
            except OSError:
                pass

    def hear(self):
        for s in select.select(list(self.open), [], [], 0)[0]:
            try:
                piece = s.recv(65536)
            except ConnectionResetError:
                piece = b""
            self.got[s] += piece
            if not piece:
                self.open.discard(s)

    def close(self):
        for s in self.got:
            s.close()


class Slow(unittest.TestCase):
    def be_fast(self, server, s, rest, i):
        """What everybody else does meanwhile: each request is answered as ever."""
        body = b"%d" % i
        s.sendall(PING + put_head(b"/blob/fast", len(body)) + body + b"GET /blob/fast HTTP/1.1\r\n" + HOST + b"\r\n")
        for want in b"pong", b"OK", body:
            reply, rest = read_reply(s, pending=rest)
            self.assertIn(reply.status, (200, 201))
            self.assertEqual(reply.body, want)
        self.assertEqual(server.get("/ping").body, b"pong", "a new connection is served, too")
        return rest

    def outlive(self, server, *crowds):
        with server.connect() as fast:
            rest, i = b"", 0
            while any(crowd.open for crowd in crowds):
                for crowd in crowds:
                    crowd.feed()
                    crowd.hear()
                rest = self.be_fast(server, fast, rest, i)
                i += 1
            self.assertGreater(i, 0)

    def test_500_slow_heads_and_100_slow_bodies_at_once(self):
        with Server("--threads", "2", "--head-deadline", "2s", "--body-deadline", "2s") as s:
            s.post("/putschema/blob", b'"bytes"')
            heads = Crowd(s, 500, b"GET /ping HTTP/1.1\r\nX-Slow: ", b"y")
            bodies = Crowd(s, 50, put_head(b"/blob/slow", 1 << 20), b"z")
            chunks = Crowd(s, 50, b"PUT /blob/slow HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n",
                           b"1\r\nz\r\n")
            self.outlive(s, heads, bodies, chunks)
            for crowd in heads, bodies, chunks:
                for data in crowd.got.values():
                    self.assertEqual([r.status for r in split_replies(data)], [408])
                crowd.close()
            self.assertEqual(s.get("/blob/slow").status, 404)

    def test_100_slow_readers_at_once(self):
        """They ask for far more than they take; each is given up, and nothing of theirs is kept."""
        with Server("--threads", "2", "--write-deadline", "1s") as s:
            s.post("/putschema/blob", b'"bytes"')
            s.put("/blob/long", b"x" * (12 << 20))
            before = s.descriptors()
            readers = []
            for _ in range(100):
                c = socket.socket()
                c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                c.connect(("127.0.0.1", s.port))
                c.sendall(b"GET /blob/long HTTP/1.1\r\n" + HOST + b"\r\n")
                readers.append(c)
            with s.connect() as fast:
                rest, i = b"", 0
                while s.descriptors() > before + 1:
                    rest = self.be_fast(s, fast, rest, i)
                    i += 1
            for c in readers:
                c.close()
            self.assertEqual(len(s.get("/blob/long").body), 12 << 20)


class Descriptors(unittest.TestCase):
    @plain_only("who waits to be accepted shakes no hands")
    def test_they_run_out_under_a_crowd_and_come_back(self):
        with Server("--threads", "2") as s:
            s.post("/putschema/blob", b'"bytes"')
            limit = s.descriptors() + 20
            subprocess.run(["prlimit", "--pid", str(s.process.pid), f"--nofile={limit}:{limit}"], check=True)
            crowd = [s.connect() for _ in range(60)]
            for i, c in enumerate(crowd):
                c.sendall(put_head(b"/blob/%d" % i, 1) + b"x")
            while crowd:  # as some end, others get their turn
                ready = select.select(crowd, [], [], 60)[0]
                self.assertTrue(ready)
                for c in ready:
                    self.assertEqual(read_reply(c)[0].status, 201)
                    crowd.remove(c)
                    c.close()
            self.assertEqual(s.get("/ping").body, b"pong")
            self.assertIn("new connections wait", s.read_log())


class Refusals(unittest.TestCase):
    """Each can be read whole by a client that goes on sending, and the server lives on."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--threads", "1", "--body-max", "64KiB")
        cls.server.post("/putschema/blob", b'"bytes"')

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def told(self, raw, status, code, after=b"z" * (2 << 20)):
        with self.server.connect() as c:
            c.sendall(raw)
            try:
                c.sendall(after)
            except (BrokenPipeError, ConnectionResetError):
                pass
            reply, _ = read_reply(c)
            self.assertEqual((reply.status, reply.json()["code"]), (status, code), raw[:100])
            self.assertEqual(reply.header("Content-Type"), "application/problem+json")
        self.assertEqual(self.server.get("/ping").body, b"pong")

    def test_each_of_them(self):
        lengthy = put_head(b"/blob/1", 1 << 30)
        for raw, status, code in (
            (lengthy, 413, "body_too_large"),
            (b"PUT /blob/1 HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\nfffffff\r\n", 413, "body_too_large"),
            (put_head(b"/blob/" + b"x" * 481, 1 << 30), 414, "id_too_long"),
            (put_head(b"/blob/" + b"%41" * 481, 1 << 30), 414, "id_too_long"),
            (put_head(b"/blob/" + b"x" * 8192, 1 << 30), 414, "target_too_long"),
            (put_head(b"/blob/1", 5).replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\nExpect: teapot\r\n"), 417, "expectation_failed"),
            (b"GET /ping HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 100 + b"\r\n", 431, "head_too_large"),
            (b"GET /ping HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 16384, 431, "head_too_large"),
            (put_head(b"/blob/1", 1 << 30).replace(b"PUT", b"BREW"), 501, "unknown_method"),
            (b"PUT /blob/1 HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip\r\n\r\n", 501, "unknown_transfer_coding"),
            (put_head(b"/blob/1", 1 << 30).replace(b"HTTP/1.1", b"HTTP/3.0"), 505, "http_version"),
            (put_head(b"/nothing/1", 1 << 30), 404, "no_type"),
        ):
            self.told(raw, status, code)

    def test_an_id_of_480_bytes_is_taken(self):
        for path in "/blob/" + "x" * 480, "/blob/" + "%FF" * 480:
            self.assertEqual(self.server.put(path, b"x").status, 201)


if __name__ == "__main__":
    unittest.main(verbosity=1)
