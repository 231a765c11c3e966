#!/usr/bin/env python3
"""tests/http/test_edge.py - the HTTP edge as a black box: framing, pipelining, keep-alive, limits, deadlines."""

import select
import signal
import socket
import struct
import threading
import time
import unittest

from avrod import Server, plain_only, read_all, read_reply, sanitized
from edge import HOST, PING, chunked, ends, numbers, split_replies

# `numbers` takes a JSON array of any length; with benchmark_only nothing is stored, but all of it is checked.
NUMBERS = "/numbers/put/1?benchmark_only=10"


def setUpModule():
    global server
    server = Server("--threads", "2", "--body-max", str(1 << 20))
    server.post("/putschema/numbers", b'{"type":"array","items":"int"}')
    server.post("/putschema/blob", b'"bytes"')


def tearDownModule():
    server.__exit__(None, None, None)


class Case(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(server.get("/ping").body, b"pong", "alive")

    def refused(self, raw, status):
        """Exactly one answer, then the end, although the client leaves the connection open."""
        with server.connect() as s:
            s.sendall(raw)
            data = read_all(s)
        replies = split_replies(data)
        self.assertEqual([r.status for r in replies], [status], raw)
        self.assertEqual(replies[0].header("Connection"), "close")
        self.assertEqual(replies[0].json()["status"], status)


class Framing(Case):
    def test_broken_heads_are_400_and_closed(self):
        for line in (
            b"GET /ping",
            b"GET  /ping HTTP/1.1",
            b"GET /ping  HTTP/1.1",
            b"GET / HTTP/4294967297.1",
            b"\x16\x03\x01\x02\x00\x01",
        ):
            self.refused(line + b"\r\n" + HOST + b"\r\n", 400)
        for field in (
            b": x",
            b"X : y",
            b" folded",
            b"X: a\0b",
            b"X: a\rb",
            b"Host: other",
            b"Content-Length: 1\r\nContent-Length: 1",
            b"Content-Length: 1, 1",
            b"Content-Length: +1",
            b"Content-Length: -1",
        ):
            self.refused(b"GET /ping HTTP/1.1\r\n" + HOST + field + b"\r\n\r\n", 400)
        self.refused(b"GET /ping HTTP/1.1\r\n\r\n", 400)
        self.refused(b"GET /ping HTTP/1.1\nHost: localhost\n\n", 400)

    def test_versions_are_505(self):
        for version in (b"2.0", b"1.2", b"0.9"):
            self.refused(b"GET /ping HTTP/" + version + b"\r\n" + HOST + b"\r\n", 505)

    def test_a_smuggled_request_is_never_answered(self):
        inner = PING
        for head, status in (
            (b"POST /ping HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            (b"POST /ping HTTP/1.1\r\n" + HOST + b"Content-Length: 47\r\nContent-Length: 0\r\n\r\n", 400),
            (b"POST /ping HTTP/1.1\r\n" + HOST + b"Transfer-Encoding : chunked\r\n\r\n", 400),
            (b"POST /ping HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
            (b"POST /ping HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: xchunked\r\n\r\n", 501),
            (b"POST /ping HTTP/1.0\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ):
            self.refused(head + inner, status)
        with server.connect() as s:
            s.sendall(b"HEAD /ping HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(inner) + inner)
            data = read_all(s)
        self.assertTrue(data.startswith(b"HTTP/1.1 400 "))
        self.assertEqual(data.count(b"HTTP/1.1 "), 1)
        self.assertTrue(data.endswith(b"\r\n\r\n"), "a HEAD is answered without a body")

    def test_unknown_methods_keep_the_connection(self):
        data = server.raw(b"BREW /ping HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\n\r\nabc" + PING)
        self.assertEqual([r.status for r in split_replies(data)], [501, 200])

    def test_heads_beyond_the_limits(self):
        self.refused(b"GET /ping HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 100 + b"\r\n", 431)
        self.refused(b"GET /ping HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 16384, 431)
        data = server.raw(b"GET /" + b"x" * 8192 + b" HTTP/1.1\r\n" + HOST + b"\r\n" + PING)
        self.assertEqual([r.status for r in split_replies(data)], [414, 200])

    def test_empty_lines_before_a_request_and_empty_values(self):
        data = server.raw(b"\r\n\r\n" + PING + b"\r\nGET /ping HTTP/1.1\r\n" + HOST + b"X-Empty:\r\n\r\n")
        self.assertEqual([r.status for r in split_replies(data)], [200, 200])

    def test_absolute_targets(self):
        data = server.raw(b"GET http://localhost/ping HTTP/1.1\r\n" + HOST + b"\r\n")
        self.assertEqual(split_replies(data)[0].body, b"pong")

    def test_options_of_the_server_as_a_whole(self):
        replies = split_replies(server.raw(b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n" + PING))
        self.assertEqual([r.status for r in replies], [204, 200])
        self.assertIn("OPTIONS", replies[0].header("Allow"))

    def test_a_head_byte_by_byte(self):
        with server.connect() as s:
            for byte in PING:
                s.send(bytes([byte]))
            self.assertEqual(read_reply(s)[0].body, b"pong")

    def test_a_request_cut_short_by_the_end_is_400(self):
        for raw in (b"GET /pi", b"POST /blob/cut HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nabc"):
            self.assertEqual([r.status for r in split_replies(server.raw(raw))], [400])
        self.assertEqual(server.raw(b""), b"")


class KeepAlive(Case):
    def test_1_1_goes_on_until_close_among_tokens(self):
        with server.connect() as s:
            s.sendall(PING)
            first, rest = read_reply(s)
            self.assertIsNone(first.header("Connection"))
            s.sendall(b"GET /ping HTTP/1.1\r\n" + HOST + b"Connection: x, Close\r\n\r\n")
            last, rest = read_reply(s, pending=rest)
            self.assertEqual(last.header("Connection"), "close")
            self.assertTrue(ends(s))

    def test_1_0_goes_on_when_asked(self):
        with server.connect() as s:
            for _ in range(2):
                s.sendall(b"GET /ping HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
                reply, rest = read_reply(s)
                self.assertEqual(reply.header("Connection"), "keep-alive")
                self.assertEqual(reply.header("Content-Length"), "4")
            s.sendall(b"GET /ping HTTP/1.0\r\n\r\n")
            reply, rest = read_reply(s)
            self.assertEqual(reply.body, b"pong")
            self.assertTrue(ends(s))

    def test_a_body_after_its_head_with_connection_close(self):
        with server.connect() as s:
            s.sendall(b"PUT /blob/late HTTP/1.1\r\n" + HOST + b"Connection: close\r\nContent-Length: 5\r\n\r\n")
            select.select([s], [], [], 0.1)
            s.sendall(b"hello")
            self.assertIn(read_reply(s)[0].status, (200, 201))
            self.assertTrue(ends(s))
        self.assertEqual(server.get("/blob/late").body, b"hello")

    def test_answers_bear_a_date_and_a_request_id(self):
        reply = server.get("/ping", headers={"X-Request-Id": "abc-1"})
        self.assertEqual(reply.header("X-Request-Id"), "abc-1")
        then = time.strptime(reply.header("Date"), "%a, %d %b %Y %H:%M:%S GMT")
        self.assertEqual(len(then), 9)


    @plain_only("a server that is stopped shakes no hands")
    def test_a_client_that_vanishes_in_a_request_is_not_waited_for(self):
        """A reset that comes with the bytes before it: nothing tells of it but another read."""
        with Server("--threads", "1") as s, s.connect() as slow:
            s.post("/putschema/blob", b'"bytes"')
            slow.sendall(b"GET /ping")  # is told after its deadline; those that vanish later are gone before
            before = s.descriptors()
            s.process.send_signal(signal.SIGSTOP)
            try:
                for part in (
                    b"GET /ping",
                    b"PUT /blob/v HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhe",
                    b"PUT /nothing/v HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhe",
                    b"PUT /blob/v HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhe",
                ):
                    with s.connect() as c:
                        c.sendall(part)
                        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            finally:
                s.process.send_signal(signal.SIGCONT)
            s.raw(PING)
            while s.descriptors() > before:
                self.assertFalse(select.select([slow], [], [], 0.01)[0], "they are gone before the slow one's deadline")


class Pipelining(Case):
    def test_many_requests_in_one_write_are_answered_in_order(self):
        request = b"".join(b"GET /ping HTTP/1.1\r\nX-Request-Id: %d\r\n" % i + HOST + b"\r\n" for i in range(5000))
        replies = split_replies(server.raw(request))
        self.assertEqual([r.header("X-Request-Id") for r in replies], [str(i) for i in range(5000)])

    def test_writes_and_reads_keep_their_order(self):
        raw = b""
        want = []
        for i in range(300):
            body = b"v%d" % i
            raw += b"PUT /blob/order HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(body) + body
            want.append(b"OK")
            if i % 7 == 0:
                raw += b"GET /blob/order HTTP/1.1\r\n" + HOST + b"\r\n"
                want.append(body)
            if i % 11 == 0:
                raw += b"GET /nothing/here HTTP/1.1\r\n" + HOST + b"\r\n"
                want.append(None)
        replies = split_replies(server.raw(raw))
        self.assertEqual(len(replies), len(want))
        for reply, body in zip(replies, want):
            if body is None:
                self.assertEqual(reply.status, 404)
            else:
                self.assertEqual(reply.body, body)
        self.assertEqual(server.get("/blob/order").body, b"v299")

    def test_a_client_that_leaves_with_writes_in_flight(self):
        for i in range(50):
            with server.connect() as s:
                s.sendall((b"PUT /blob/left HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\n\r\nx") * 40)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def test_a_client_that_does_not_read_is_not_answered_without_bounds(self):
        with server.connect() as s:
            s.setblocking(False)
            sent = 0
            request = PING * 1000
            while sent < 256 << 20:
                if not select.select([], [s], [], 0.5)[1]:
                    break
                sent += s.send(request)
            self.assertLess(sent, 256 << 20, "the server stops reading")
            s.settimeout(20)
            missing = request[sent % len(request) :][: -sent % len(PING)]
            rest = threading.Thread(target=lambda: (s.sendall(missing), s.shutdown(socket.SHUT_WR)))
            rest.start()
            data = bytearray()
            while piece := s.recv(1 << 20):
                data += piece
            rest.join()
            self.assertEqual(data.count(b"\r\n\r\npong"), (sent + len(missing)) // len(PING))


class Bodies(Case):
    def put(self, body, extra=b"", s=None):
        raw = b"PUT " + NUMBERS.encode() + b" HTTP/1.1\r\n" + HOST + extra
        return raw + b"Content-Length: %d\r\n\r\n" % len(body) + body

    def test_all_sizes_by_length_and_in_chunks(self):
        with server.connect() as s:
            rest = b""
            for n in (0, 1, 100, 3000, 5000, 6000, 12000, 40000, 120000):
                body = numbers(n)
                for size in (None, 7 if n < 10000 else 1000, 4096, 1 << 20):
                    if size is None:
                        s.sendall(self.put(body))
                    else:
                        s.sendall(
                            b"PUT " + NUMBERS.encode() + b" HTTP/1.1\r\n" + HOST
                            + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(body, size)
                        )
                    reply, rest = read_reply(s, pending=rest)
                    self.assertEqual((reply.status, reply.body), (200, b"OK"), (n, size))
                s.sendall(self.put(body[:-1]))
                reply, rest = read_reply(s, pending=rest)
                self.assertEqual(reply.status, 400, "one byte less is no JSON")

    def test_bodies_in_pieces_with_pipelined_requests_around(self):
        raw = b""
        for n in (10, 6000, 3, 9000, 20000):
            body = numbers(n)
            raw += PING + self.put(body) + PING
            raw += (
                b"PUT " + NUMBERS.encode() + b" HTTP/1.1\r\n" + HOST
                + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(body, 100)
            )
        for step in (1000, 4093, 32768, len(raw)):
            with server.connect() as s:
                for at in range(0, len(raw), step):
                    s.sendall(raw[at : at + step])
                s.shutdown(socket.SHUT_WR)
                replies = split_replies(read_all(s))
            self.assertEqual([r.body for r in replies], [b"pong", b"OK", b"pong", b"OK"] * 5)

    def test_chunks_with_extensions_and_trailers(self):
        data = server.raw(
            b"PUT /blob/chunks HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
            b"3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n" + PING
        )
        self.assertEqual([r.body for r in split_replies(data)], [b"OK", b"pong"])
        self.assertEqual(server.get("/blob/chunks").body, b"abcde")

    def test_broken_chunks_are_400_and_closed(self):
        for body in (b"x\r\n", b"1\nabc", b"1\r\nabc\r\n", b"-1\r\n", b"1" * 17 + b"\r\n"):
            self.refused(
                b"PUT /blob/chunks HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + body + PING, 400
            )

    def test_too_large_is_413_and_readable_and_the_connection_goes_on(self):
        body = b" " * (5 << 20)
        for raw in (
            self.put(body),
            b"PUT " + NUMBERS.encode() + b" HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
            + chunked(body, 10000),
        ):
            with server.connect() as s:
                s.sendall(raw)
                reply, rest = read_reply(s)
                self.assertEqual((reply.status, reply.json()["code"]), (413, "body_too_large"))
                s.sendall(PING)
                self.assertEqual(read_reply(s, pending=rest)[0].body, b"pong")

    def test_far_too_large_is_413_and_closed_in_two_steps(self):
        with server.connect() as s:
            s.sendall(b"PUT " + NUMBERS.encode() + b" HTTP/1.1\r\n" + HOST + b"Content-Length: 9999999999\r\n\r\n")
            s.sendall(b" " * (3 << 20))
            reply, rest = read_reply(s)
            self.assertEqual((reply.status, reply.header("Connection")), (413, "close"))
            self.assertTrue(ends(s))

    def test_a_refused_body_is_read_over(self):
        body = b"GET /ping HTTP/1.1\r\n" * 1000
        for raw in (
            b"PUT /nothing/1 HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(body) + body,
            b"PUT /nothing/1 HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(body, 999),
        ):
            self.assertEqual([r.status for r in split_replies(server.raw(raw + PING))], [404, 200])


class Memory(unittest.TestCase):
    @unittest.skipIf(sanitized(), "a sanitizer keeps memory for reasons of its own")
    def test_what_long_bodies_and_answers_took_goes_back(self):
        with Server("--threads", "1", "--durability", "none") as s:
            s.post("/putschema/blob", b'"bytes"')
            body = b"x" * (8 << 20)
            s.put("/blob/1", body)
            before = s.memory()
            for _ in range(3):
                clients = [s.connect() for _ in range(10)]
                for c in clients:
                    c.sendall(b"PUT /blob/1 HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(body) + body[:-1])
                for c in clients:
                    c.sendall(b"xGET /blob/1 HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
                for c in clients:
                    self.assertGreater(len(read_all(c)), len(body))
                    c.close()
            deadline = time.monotonic() + 60
            while s.memory() > before + (16 << 20):
                self.assertLess(time.monotonic(), deadline)
                select.select([], [], [], 0.05)


class Expect(Case):
    def head(self, target, length, expect=b"100-continue", version=b"1.1"):
        return (
            b"PUT " + target + b" HTTP/" + version + b"\r\n" + HOST + b"Expect: " + expect
            + b"\r\nContent-Length: %d\r\n\r\n" % length
        )

    def test_100_comes_before_the_body(self):
        body = numbers(4000)
        with server.connect() as s:
            s.sendall(self.head(NUMBERS.encode(), len(body)))
            reply, rest = read_reply(s)
            self.assertEqual((reply.status, rest), (100, b""))
            s.sendall(body + PING)
            reply, rest = read_reply(s)
            self.assertEqual(reply.body, b"OK")
            self.assertEqual(read_reply(s, pending=rest)[0].body, b"pong")

    def test_100_waits_for_the_answers_before_it(self):
        with server.connect() as s:
            s.sendall(PING + self.head(b"/blob/e", 2))
            first, rest = read_reply(s)
            second, rest = read_reply(s, pending=rest)
            self.assertEqual((first.body, second.status), (b"pong", 100))
            s.sendall(b"ab")
            self.assertIn(read_reply(s, pending=rest)[0].status, (200, 201))

    def test_a_refusal_comes_without_100(self):
        for target, length, expect, status in (
            (b"/nothing/1", 20000, b"100-continue", 404),
            (NUMBERS.encode(), 2 << 20, b"100-continue", 413),
            (b"/blob/e", 2, b"teapot", 417),
        ):
            self.refused(self.head(target, length, expect), status)

    def test_1_0_is_not_told_to_continue(self):
        with server.connect() as s:
            s.sendall(self.head(b"/blob/e", 2, version=b"1.0") + b"ab")
            self.assertIn(read_reply(s)[0].status, (200, 201))


class Web(Case):
    @plain_only("its own origin begins with http")
    def test_other_sites_change_nothing(self):
        own = f"http://127.0.0.1:{server.port}"
        for headers, status in (
            ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Origin": ""}, 403),
            ({"Sec-Fetch-Site": "cross-site"}, 403),
            ({"Origin": own, "Sec-Fetch-Site": "same-origin"}, (200, 201)),
        ):
            reply = server.put("/blob/web", b"x", headers=headers)
            self.assertIn(reply.status, status if isinstance(status, tuple) else (status,))
        self.assertEqual(server.get("/ping", headers={"Origin": "http://evil.example"}).status, 200)

    def test_what_another_site_may_read_it_may_not_change_with_the_same_fields(self):
        fields = b" HTTP/1.1\r\n" + HOST + b"Origin: http://evil.example\r\n\r\n"
        with server.connect() as s:
            for _ in range(3):  # in turns, on one connection: what is known of the fields must not be taken for more
                for method, status in ((b"GET", 200), (b"DELETE", 403), (b"HEAD", 200), (b"POST", 403)):
                    s.sendall(method + b" /ping" + fields)
                    self.assertEqual(read_reply(s, head=method == b"HEAD")[0].status, status)

    def test_a_loopback_listener_wants_a_loopback_host(self):
        reply = server.get("/ping", headers={"Host": "rebound.example"})
        self.assertEqual((reply.status, reply.json()["code"]), (403, "forbidden_host"))


class Deadlines(Case):
    """The slow are told so and closed; all of them wait at once."""

    def test_slow_clients_get_408(self):
        heads = [server.connect(timeout=30) for _ in range(50)]
        bodies = [server.connect(timeout=30) for _ in range(20)]
        try:
            begin = time.monotonic()
            for s in bodies:
                s.sendall(b"PUT /blob/slow HTTP/1.1\r\n" + HOST + b"Content-Length: 1000\r\n\r\n")
            open_ones = set(heads) | set(bodies)
            got = {s: b"" for s in open_ones}
            while open_ones and time.monotonic() < begin + 30:
                for s in list(open_ones):
                    try:
                        s.send(b"x")
                    except OSError:
                        pass
                self.assertEqual(server.get("/ping").body, b"pong")
                for s in select.select(list(open_ones), [], [], 0.5)[0]:
                    try:
                        piece = s.recv(65536)
                    except ConnectionResetError:
                        piece = b""
                    got[s] += piece
                    if not piece:
                        open_ones.remove(s)
            self.assertFalse(open_ones, "each is closed after a total deadline")
            for s, data in got.items():
                self.assertTrue(data.startswith(b"HTTP/1.1 408 "), data)
        finally:
            for s in heads + bodies:
                s.close()


if __name__ == "__main__":
    unittest.main(verbosity=1)
