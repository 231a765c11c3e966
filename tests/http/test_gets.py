#!/usr/bin/env python3
"""tests/http/test_gets.py - gets of many connections that come at once and are read together: each gets its own answer."""

import contextlib
import json
import signal
import socket
import struct
import unittest

from avrod import Server, read_all, read_reply
from edge import HOST, split_replies

CONNECTIONS = 300  # more than are read together (LIMIT_GETS_A_RUN)
LONG = b"long " * 40000  # in chunks


def get(target, extra=b""):
    return b"GET " + target + b" HTTP/1.1\r\n" + HOST + extra + b"\r\n"


def put(target, body):
    return b"PUT " + target + b" HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(body) + body


@contextlib.contextmanager
def stopped(server):
    """What is sent meanwhile comes in one turn."""
    server.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.process.send_signal(signal.SIGCONT)


def fill(server):
    server.post("/putschema/blob", b'"bytes"')
    server.post("/putschema/numbers", b'{"type":"array","items":"int"}')
    for i in range(CONNECTIONS):
        server.put(f"/blob/{i}", b"body %d" % i)
    server.put("/blob/long", LONG)
    server.put("/numbers/long", json.dumps(list(range(200000))).encode())


class Gets(unittest.TestCase):
    def setUp(self):
        self.server = Server("--threads", "1")
        fill(self.server)
        self.idle = self.server.descriptors()
        self.stack = contextlib.ExitStack()
        self.connections = [self.stack.enter_context(self.server.connect()) for _ in range(CONNECTIONS)]

    def tearDown(self):
        self.stack.close()
        self.server.__exit__(None, None, None)

    def send_at_once(self, requests):
        with stopped(self.server):
            for c, request in zip(self.connections, requests):
                c.sendall(request)

    def test_each_connection_gets_its_own(self):
        for _ in range(3):  # the connections go on
            self.send_at_once([get(b"/blob/%d" % i) for i in range(CONNECTIONS)])
            for i, c in enumerate(self.connections):
                reply, rest = read_reply(c)
                self.assertEqual((reply.status, reply.body, rest), (200, b"body %d" % i, b""))

    def test_kinds_of_answers_side_by_side(self):
        tag = self.server.get("/blob/1").header("ETag").encode()
        numbers = json.dumps(list(range(200000)), separators=(",", ":")).encode()
        kinds = [
            (get(b"/blob/1"), 200, b"body 1"),
            (get(b"/blob/none"), 404, None),
            (get(b"/blob/long"), 200, LONG),
            (get(b"/blob/1", b"If-None-Match: " + tag + b"\r\n"), 304, b""),
            (get(b"/blob/1", b"If-Match: \"7-7\"\r\n"), 412, None),
            (get(b"/numbers/long"), 200, numbers),  # a helper prints it
            (get(b"/blob/long", b"Range: bytes=100000-100009\r\n"), 206, LONG[100000:100010]),
            (b"GET /blob/2 HTTP/1.0\r\n\r\n", 200, b"body 2"),
            (get(b"/ping"), 200, b"pong"),
        ]
        self.send_at_once([kinds[i % len(kinds)][0] for i in range(CONNECTIONS)])
        for i, c in enumerate(self.connections):
            reply, _ = read_reply(c)
            _, status, body = kinds[i % len(kinds)]
            self.assertEqual(reply.status, status, kinds[i % len(kinds)][0])
            if body is not None:
                self.assertTrue(reply.body == body, kinds[i % len(kinds)][0])

    def test_pipelined_ones_come_in_order(self):
        wanted = [[(i * 7 + k) % CONNECTIONS for k in range(1 + i % 5)] for i in range(CONNECTIONS)]
        self.send_at_once([b"".join(get(b"/blob/%d" % n) for n in ids) for ids in wanted])
        for ids, c in zip(wanted, self.connections):
            rest = b""
            for n in ids:
                reply, rest = read_reply(c, pending=rest)
                self.assertEqual(reply.body, b"body %d" % n)

    def test_one_behind_a_put_sees_it_and_one_before_does_not(self):
        """In one packet, and in parts that come later, beside others that are read together."""
        name = [b"/blob/%d" % i for i in range(CONNECTIONS)]
        self.send_at_once([get(t) + put(t, b"new") + get(t) if i % 2 else put(t, b"new") + get(t)
                           for i, t in enumerate(name)])
        for i, c in enumerate(self.connections):
            rest, bodies = b"", []
            for _ in range(2 + i % 2):
                reply, rest = read_reply(c, pending=rest)
                bodies.append(reply.body)
            self.assertEqual(bodies, [b"body %d" % i, b"OK", b"new"] if i % 2 else [b"OK", b"new"])
        for _ in range(20):  # on another connection, once it has been answered
            self.connections[0].sendall(put(name[0], b"again"))
            read_reply(self.connections[0])
            self.connections[1].sendall(get(name[0]))
            self.assertEqual(read_reply(self.connections[1])[0].body, b"again")

    def test_who_has_left_keeps_nobody_from_an_answer(self):
        with stopped(self.server):
            for i, c in enumerate(self.connections):
                c.sendall(get(b"/blob/long" if i % 2 else b"/blob/%d" % i))
                if i % 3 == 0:
                    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    c.close()
                elif i % 3 == 1:
                    c.shutdown(socket.SHUT_WR)
        for i, c in enumerate(self.connections):
            if i % 3:
                self.assertTrue(read_reply(c)[0].body == (LONG if i % 2 else b"body %d" % i))
            if i % 3 == 1:
                self.assertEqual(c.recv(1), b"")
            c.close()
        while self.server.descriptors() > self.idle:
            pass
        self.assertEqual(self.server.get("/blob/1").body, b"body 1")

    def test_what_has_come_before_the_end_is_answered(self):
        with stopped(self.server):
            for i, c in enumerate(self.connections):
                c.sendall(get(b"/blob/%d" % i) * (1 + i % 3))
            self.server.process.send_signal(signal.SIGTERM)
        for i, c in enumerate(self.connections):
            replies = split_replies(read_all(c))
            self.assertEqual([r.body for r in replies], [b"body %d" % i] * (1 + i % 3))
        self.assertEqual(self.server.process.wait(20), 0)


if __name__ == "__main__":
    unittest.main()
