#!/usr/bin/env python3
"""tests/http/test_edge_limits.py - every limit, deadline and budget of the edge, through its option: what is just allowed, what is
refused and how, and that service goes on."""

import select
import signal
import socket
import subprocess
import time
import unittest

from avrod import Server, plain_only, read_all, read_reply
from edge import HOST, PING, ends, split_replies


def get(target, *fields):
    return b"GET " + target + b" HTTP/1.1\r\n" + HOST + b"".join(f + b"\r\n" for f in fields) + b"\r\n"


def put(target, body):
    return b"PUT " + target + b" HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(body) + body


class Heads(unittest.TestCase):
    def statuses(self, server, raw):
        return [r.status for r in split_replies(server.raw(raw))]

    def test_head_max(self):
        for most in 2048, 16384, 65536:
            with Server("--head-max", str(most), "--target-max", "64KiB", "--threads", "1") as s:
                bare = get(b"/ping", b"X: ")
                whole = get(b"/ping", b"X: " + b"y" * (most - len(bare)))
                self.assertEqual(len(whole), most)
                self.assertEqual(self.statuses(s, whole * 3 + PING), [200] * 4)
                self.assertEqual(self.statuses(s, get(b"/ping", b"X: " + b"y" * (most - len(bare) + 1)) + PING), [431])
                with s.connect() as c:  # one that never ends
                    c.sendall(b"GET /ping HTTP/1.1\r\nX: " + b"y" * (most - 23))
                    self.assertEqual([r.status for r in split_replies(read_all(c))], [431])

    def test_a_head_and_a_body_of_many_sizes_with_a_long_head_allowed(self):
        """Blocks follow the head: what stands in them is moved and kept whole."""
        with Server("--head-max", "128KiB", "--threads", "1") as s:
            s.post("/putschema/blob", b'"bytes"')
            raw, want = b"", []
            for n in 10, 20000, 70000, 127000:
                body = bytes([n % 251]) * (130000 - n)
                raw += b"PUT /blob/1 HTTP/1.1\r\n" + HOST + b"X: " + b"y" * n + b"\r\nContent-Length: %d\r\n\r\n" % len(body)
                raw += body + get(b"/blob/1")
                want += [b"OK", body]
            for step in len(raw), 50021, 4099:
                with s.connect() as c:
                    for at in range(0, len(raw), step):
                        c.sendall(raw[at : at + step])
                    c.shutdown(socket.SHUT_WR)
                    self.assertEqual([r.body for r in split_replies(read_all(c))], want)

    def test_headers_max(self):
        for most in 8, 100, 300:
            with Server("--headers-max", str(most), "--threads", "1") as s:
                self.assertEqual(self.statuses(s, get(b"/ping", *[b"X: y"] * (most - 1)) + PING), [200, 200])
                self.assertEqual(self.statuses(s, get(b"/ping", *[b"X: y"] * most) + PING), [431])

    def test_target_max(self):
        with Server("--target-max", "100", "--threads", "1") as s:
            s.post("/putschema/blob", b'"bytes"')
            for n, status in (99, 404), (100, 404), (101, 414):
                replies = split_replies(s.raw(get(b"/blob/" + b"x" * (n - 6)) + PING))
                self.assertEqual([r.status for r in replies], [status, 200])
            self.assertEqual(replies[0].json()["code"], "target_too_long")
            self.assertIn("100", replies[0].json()["detail"])


class Bodies(unittest.TestCase):
    def test_record_max(self):
        with Server("--record-max", "2KiB", "--threads", "1") as s:
            s.post("/putschema/blob", b'"bytes"')
            s.post("/putschema/r", b'{"type":"record","name":"R","fields":[{"name":"a","type":"string"},{"name":"b","type":"string"}]}')
            self.assertEqual(s.put("/blob/1", b"x" * 2046).status, 201)
            self.assertEqual(s.put("/blob/1", b"x" * 2047).status, 413)
            self.assertEqual(s.put("/r/1", b'{"a":"%s","b":""}' % (b"x" * 1000)).status, 201)
            self.assertEqual(s.put("/r/1/b", b'"x"').status, 404)
            self.assertEqual(s.put("/r/put/1/b", b'"%s"' % (b"x" * 1044)).status, 200)
            refused = s.put("/r/put/1/b", b'"%s"' % (b"x" * 1045))
            self.assertEqual((refused.status, refused.json()["code"]), (413, "record_too_large"))
            self.assertEqual(len(s.get("/r/1").json()["b"]), 1044)
            # A benchmark refuses what a put refuses, checked by a worker or by a helper.
            for size, status in (2046, 200), (2047, 413), (100_000, 413):
                self.assertEqual(s.put("/blob/1?benchmark_only=5", b"x" * size).status, status)
            for size, status in (2043, 200), (2047, 413), (100_000, 413):
                reply = s.put("/r/1?benchmark_only=5", b'{"a":"%s","b":""}' % (b"x" * size))
                self.assertEqual(reply.status, status)
                self.assertTrue(status == 200 or reply.json()["code"] == "record_too_large")
            fixed = s.post("/putschema/f", b'{"type":"fixed","name":"F","size":2049}')
            self.assertEqual((fixed.status, fixed.json()["code"]), (422, "bad_schema"))
            self.assertEqual(s.post("/putschema/f", b'{"type":"fixed","name":"F","size":2048}').status, 200)

    def test_bodies_budget(self):
        """There is room for two of three bodies: one is told to come again, and may once the others are gone."""
        with Server("--bodies-budget", "512KiB", "--body-max", "256KiB", "--threads", "1") as s:
            s.post("/putschema/blob", b'"bytes"')
            body = b"x" * (250 << 10)
            slow = [s.connect() for _ in range(3)]
            for c in slow:
                c.sendall(put(b"/blob/slow", body)[:-1])
            refused = select.select(slow, [], [], 20)[0]
            self.assertEqual(len(refused), 1)
            reply, _ = read_reply(refused[0])
            self.assertEqual((reply.status, reply.json()["code"], reply.header("Retry-After")), (503, "no_memory", "1"))
            self.assertEqual(s.put("/blob/small", b"x" * 1000).status, 201)
            for c in slow:
                if c not in refused:
                    c.sendall(b"x")
                    self.assertIn(read_reply(c)[0].status, (200, 201))
                c.close()
            self.assertEqual(s.put("/blob/1", body).status, 201)

    def test_the_longest_body_comes_in_chunks_too_when_the_budget_is_for_one(self):
        with Server("--body-max", "1MiB", "--bodies-budget", "1MiB", "--threads", "1") as s:
            s.post("/putschema/blob", b'"bytes"')
            for size in 700_000, 1_000_000, 1 << 20:
                body = bytes(size)
                pieces = (body[at:at + 7777] for at in range(0, size, 7777))
                self.assertIn(s.put("/blob/1", pieces).status, (200, 201), size)
                self.assertEqual(s.get("/blob/1").body, body)

    def test_answers_budget(self):
        """Answers that nobody takes fill it; long ones are refused then, short ones are not."""
        with Server("--answers-budget", "1MiB", "--threads", "1") as s:
            s.post("/putschema/r", b'{"type":"record","name":"R","fields":[{"name":"a","type":"string"}]}')
            s.put("/r/long", b'{"a":"%s"}' % (b"x" * (8 << 20)))
            s.put("/r/short", b'{"a":"x"}')
            slow = [s.connect() for _ in range(4)]
            for c in slow:
                c.sendall(get(b"/r/long"))
            refused = None
            while refused is None:
                reply = s.get("/r/long")
                refused = reply if reply.status == 503 else None
            self.assertEqual(refused.header("Retry-After"), "1")
            self.assertEqual(s.get("/r/short").status, 200)
            self.assertEqual(s.get("/metrics").status, 200, "most wanted now")
            for c in slow:
                c.close()
            while s.get("/r/long").status == 503:
                pass
            self.assertEqual(len(s.get("/r/long").body), (8 << 20) + 8)


class Queue(unittest.TestCase):
    def fill(self, *limits):
        """Two writes at a time where one has room, until one of them has to come again."""
        with Server("--threads", "1", *limits) as s, s.connect() as c:
            s.post("/putschema/blob", b'"bytes"')
            body = b"x" * 40000
            seen, rest = set(), b""
            while 503 not in seen:
                c.sendall(put(b"/blob/1", body) * 20)
                for _ in range(20):
                    reply, rest = read_reply(c, pending=rest)
                    seen.add(reply.status)
                    if reply.status == 503:
                        self.assertEqual((reply.json()["code"], reply.header("Retry-After")), ("queue_full", "1"))
            self.assertEqual(s.put("/blob/2", body).status, 201, "service goes on")

    def test_queue_bytes_max(self):
        self.fill("--queue-bytes-max", "64KiB")

    def test_a_queue_of_one_write_works(self):
        with Server("--threads", "1", "--queue-writes-max", "1") as s:
            s.post("/putschema/blob", b'"bytes"')
            replies = split_replies(s.raw(put(b"/blob/1", b"x") * 50 + PING))
            self.assertEqual({r.status for r in replies} - {200, 201, 503}, set())
            self.assertEqual((len(replies), replies[-1].body), (51, b"pong"))
            self.assertEqual(s.put("/blob/2", b"x").status, 201)

    def test_who_waits_for_the_store_has_a_turn(self):
        """A connection that always has another write gets no more of a full queue than the others, and none is refused."""
        for most in 1, 16:
            with Server("--threads", "1", "--queue-writes-max", str(most)) as s:
                s.post("/putschema/blob", b'"bytes"')
                connections = [s.connect(timeout=60) for _ in range(8)]
                s.process.send_signal(signal.SIGSTOP)
                for i, c in enumerate(connections):
                    c.sendall(b"".join(put(b"/blob/%d-%d" % (i, j), b"x") for j in range(150)))
                s.process.send_signal(signal.SIGCONT)
                revisions = []
                for c in connections:
                    pending, mine = b"", []
                    for _ in range(150):
                        reply, pending = read_reply(c, pending=pending)
                        self.assertEqual(reply.status, 201)
                        mine.append(int(reply.header("ETag")[1:].split("-")[0]))
                    revisions.append(mine)
                    c.close()
                first_done = min(max(mine) for mine in revisions)
                behind = [sum(r < first_done for r in mine) for mine in revisions]
                self.assertGreater(min(behind), 50, behind)


class Deadlines(unittest.TestCase):
    """What a short deadline closes within the test's own patience, the default would not."""

    def test_head_and_body_deadline(self):
        for option, part in (("--head-deadline", PING[:10]), ("--body-deadline", put(b"/blob/1", b"xx")[:-1])):
            with Server(option, "300ms", "--threads", "1") as s, s.connect(timeout=8) as c:
                s.post("/putschema/blob", b'"bytes"')
                c.sendall(part)
                self.assertEqual([r.status for r in split_replies(read_all(c))], [408])

    def test_no_deadline_ends_early(self):
        """Wherever between two looks at the clock a connection begins."""
        with Server("--head-deadline", "200ms", "--idle-deadline", "200ms", "--threads", "1") as s:
            begun, start = {}, time.monotonic()
            while len(begun) < 50:  # over half a second
                self.assertEqual(s.get("/ping").status, 200)
                at = time.monotonic()
                if at < start + len(begun) / 100:
                    continue
                c = s.connect(timeout=8)
                begun[c] = at
                if len(begun) % 2:
                    c.sendall(PING[:10])
            while begun:
                for c in select.select(list(begun), [], [], 20)[0]:
                    self.assertGreaterEqual(time.monotonic() - begun.pop(c), 0.2)
                    c.close()

    def test_idle_deadline(self):
        with Server("--idle-deadline", "300ms", "--threads", "1") as s, s.connect(timeout=8) as c:
            c.sendall(PING)
            self.assertEqual(read_reply(c)[0].body, b"pong")
            self.assertTrue(ends(c))

    def test_write_deadline(self):
        """A client that takes nothing is gone: its descriptor is, too."""
        with Server("--write-deadline", "300ms", "--threads", "1") as s:
            s.post("/putschema/r", b'{"type":"record","name":"R","fields":[{"name":"a","type":"string"}]}')
            s.put("/r/long", b'{"a":"%s"}' % (b"x" * (12 << 20)))
            before = s.descriptors()
            with s.connect() as c:
                c.sendall(get(b"/r/long"))
                c.recv(1)
                deadline = time.monotonic() + 20
                while s.descriptors() > before:
                    self.assertLess(time.monotonic(), deadline)
                    select.select([], [], [], 0.05)

    def test_drain_deadline(self):
        with Server("--drain-deadline", "0ms", "--threads", "1") as s, s.connect() as c:
            s.post("/putschema/blob", b'"bytes"')
            c.sendall(put(b"/blob/1", b"xx")[:-1])
            s.get("/ping")
            self.assertEqual(s.stop(), 0)
            self.assertIn("still open after 0 ms", s.read_log())
            read_all(c)


class Many(unittest.TestCase):
    @plain_only("over TLS they are closed: tests/http/test_tls.py")
    def test_connections_beyond_the_limit_get_503(self):
        with Server("--connections-max", "3", "--threads", "1") as small:
            kept = [small.connect() for _ in range(3)]
            for s in kept:
                s.sendall(PING)
                self.assertEqual(read_reply(s)[0].body, b"pong")
            with small.connect() as s:
                reply = split_replies(read_all(s))[0]
                self.assertEqual((reply.status, reply.header("Connection")), (503, "close"))
                self.assertEqual(reply.json()["code"], "too_many_connections")
            for s in kept:
                s.close()
            deadline = time.monotonic() + 20
            while small.raw(PING).startswith(b"HTTP/1.1 503 "):
                self.assertLess(time.monotonic(), deadline)

    @plain_only("who waits to be accepted shakes no hands")
    def test_out_of_file_descriptors_new_ones_wait(self):
        with Server("--threads", "1") as small:
            limits = ["prlimit", "--pid", str(small.process.pid), "--nofile=40:40"]
            subprocess.run(limits, check=True)
            many = [small.connect() for _ in range(60)]
            try:
                many[0].sendall(PING)
                self.assertEqual(read_reply(many[0])[0].body, b"pong")
                last = many.pop()
                last.sendall(PING)
                for s in many:
                    s.close()
                self.assertEqual(read_reply(last)[0].body, b"pong")
                last.close()
            finally:
                for s in many:
                    s.close()


if __name__ == "__main__":
    unittest.main(verbosity=1)
