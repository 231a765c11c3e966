"""tests/http/test_encodings.py - answers that are compressed for clients that ask (Accept-Encoding): what they hold, which of
them there are, and their tags."""

import base64
import http.client
import json
import random
import re
import socket
import unittest
import zlib

from avrod import Reply, Server

TEXT = {"type": "record", "name": "T", "fields": [{"name": "s", "type": "string"}, {"name": "n", "type": "long", "default": 7}]}
MIB = 1 << 20
SIZES = 1025, 4000, 20000, 60000, 200_000, 3 * MIB  # in a row, in two chunks, in chunks; coded at once, and as it leaves


def setUpModule():
    global server
    server = Server()
    for name, schema in ("t", TEXT), ("blob", "bytes"), ("words", "string"):
        assert server.post(f"/putschema/{name}", body=json.dumps(schema).encode()).status == 200


def tearDownModule():
    assert server.stop() == 0


def text(size, seed=1):
    """So many bytes that are no single letter again and again: of words."""
    r = random.Random(seed)
    words = [base64.b64encode(r.randbytes(r.randrange(2, 9))).decode() for _ in range(500)]
    piece = " ".join(r.choice(words) for _ in range(10_000))
    return (piece * (size // len(piece) + 1))[:size]


def decode(reply):
    coding = reply.header("Content-Encoding")
    wbits = {None: None, "gzip": 31, "deflate": 15}[coding]
    if wbits is None:
        return reply.body
    d = zlib.decompressobj(wbits)
    body = d.decompress(reply.body) + d.flush()
    assert d.eof and not d.unused_data, "not one whole body"
    return body


def ask(target, coding, method="GET", body=None, to=None, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if coding is not None:
        headers["Accept-Encoding"] = coding
    return request(to or server, method, target, body, headers)


def request(to, method, target, body, headers):
    """Without the Accept-Encoding that http.client adds."""
    c = http.client.HTTPConnection("127.0.0.1", to.port, timeout=60)
    try:
        c.putrequest(method, target, skip_accept_encoding=True)
        for name, value in headers.items():
            c.putheader(name, value)
        if body is not None:
            c.putheader("Content-Length", str(len(body)))
        c.endheaders(body)
        r = c.getresponse()
        return Reply(r.status, r.getheaders(), r.read(), r.version)
    finally:
        c.close()


def read_one(f):
    """The next answer of a connection."""
    status, headers, body = int(f.readline().split()[1]), [], b""
    while (line := f.readline().decode().rstrip()):
        headers.append(tuple(line.split(": ", 1)))
    reply = Reply(status, headers, b"")
    if reply.header("Transfer-Encoding") is None:
        reply.body = f.read(int(reply.header("Content-Length")))
        return reply
    while (size := int(f.readline(), 16)):
        body += f.read(size)
        f.readline()
    f.readline()
    reply.body = body
    return reply


def put(target, body, **headers):
    reply = server.put(target, body=body, headers={k.replace("_", "-"): v for k, v in headers.items()})
    assert reply.status in (200, 201), reply


def put_all(records):
    """In transactions."""
    operations = [{"op": "put", "type": "t", "id": id_, "record": record} for id_, record in records]
    for at in range(0, len(operations), 500):
        reply = server.post("/_txn", body=json.dumps({"operations": operations[at:at + 500]}).encode())
        assert reply.status == 200, reply


class Encodings(unittest.TestCase):
    def both(self, target, method="GET", body=None, coded=True, **headers):
        """The same in every coding. Returns the plain reply."""
        plain = ask(target, None, method, body, **headers)
        self.assertIsNone(plain.header("Content-Encoding"))
        for coding in "gzip", "deflate":
            reply = ask(target, coding, method, body, **headers)
            self.assertEqual((reply.status, reply.header("Content-Type")), (plain.status, plain.header("Content-Type")), target)
            self.assertEqual(reply.header("Content-Encoding"), coding if coded else None, (target, reply.headers))
            self.assertEqual(decode(reply), plain.body, target)
            if coded:
                self.assertIn("Accept-Encoding", ", ".join(reply.header_all("Vary")))
                self.assertLess(len(reply.body), len(plain.body))
        return plain

    def test_records_of_every_size_in_every_form(self):
        for size in SIZES:
            put(f"/t/{size}", json.dumps({"s": text(size)}).encode())
            for form in "application/json", "avro/json", "avro/binary", "avro/single-object", "application/vnd.confluent.avro":
                plain = self.both(f"/t/{size}", Accept=form)
                self.assertGreater(len(plain.body), size)
        self.both("/t/20000/s".replace("/t/", "/t/get/"))
        self.both("/t/60000?fields=s")
        self.both("/t/select/200000", "POST", b".s")

    def test_short_answers_stay_as_they_are(self):
        put("/t/short", json.dumps({"s": "x" * 900}).encode())
        reply = ask("/t/short", "gzip")
        self.assertIsNone(reply.header("Content-Encoding"))
        self.assertEqual(reply.header("ETag"), ask("/t/short", None).header("ETag"))
        self.assertIn("Accept-Encoding", reply.header("Vary"))
        self.assertEqual(ask("/ping", "gzip").body, b"pong")

    def test_who_does_not_ask_gets_it_as_it_is(self):
        put("/t/plain", json.dumps({"s": text(5000)}).encode())
        want = ask("/t/plain", None)
        for wish in "", "identity", "br", "gzip;q=0", "gzip;q=0.5, identity", "gzip;q=7":
            reply = ask("/t/plain", wish)
            self.assertIsNone(reply.header("Content-Encoding"), wish)
            self.assertEqual((reply.body, reply.header("ETag")), (want.body, want.header("ETag")), wish)
        for wish, coding in ("*", "gzip"), ("deflate, gzip;q=0.9", "deflate"), ("x-gzip", "gzip"), ("br, zstd;q=0.3, gzip;q=0.1", "gzip"):
            self.assertEqual(ask("/t/plain", wish).header("Content-Encoding"), coding, wish)

    def test_identity_may_be_refused(self):
        put("/t/refused", b'{"s":"x"}')
        reply = ask("/t/refused", "gzip, identity;q=0")
        self.assertEqual((reply.header("Content-Encoding"), json.loads(decode(reply))), ("gzip", {"s": "x", "n": 7}))
        self.assertEqual(decode(ask("/ping", "deflate, *;q=0")), b"pong")
        reply = ask("/t/none", "gzip, identity;q=0")
        self.assertEqual((reply.status, json.loads(decode(reply))["code"]), (404, "no_record"))
        for method in "GET", "PUT":
            reply = ask("/t/refused", "br, identity;q=0", method, b'{"s":"changed"}' if method == "PUT" else None)
            self.assertEqual((reply.status, reply.json()["code"]), (406, "not_acceptable"))
            self.assertIn("Accept-Encoding", reply.header("Vary"))
        self.assertEqual(ask("/t/refused", None).json()["s"], "x")
        self.assertEqual(ask("/config", "identity;q=0").json()["error_code"], 406)

    def test_tags_tell_codings_apart(self):
        put("/t/tags", json.dumps({"s": text(5000)}).encode())
        tags = {coding: ask("/t/tags", coding).header("ETag") for coding in (None, "gzip", "deflate")}
        plain = tags[None].strip('"')
        self.assertEqual(tags, {None: f'"{plain}"', "gzip": f'"{plain}-gzip"', "deflate": f'"{plain}-deflate"'})
        for coding, tag, status, answered in [
                ("gzip", tags["gzip"], 304, tags["gzip"]), ("gzip", "W/" + tags["gzip"], 304, tags["gzip"]),
                ("gzip", tags[None], 304, tags[None]), ("gzip", f"{tags[None]}, {tags['gzip']}", 304, tags["gzip"]),
                ("gzip", tags["deflate"], 200, tags["gzip"]), (None, tags["gzip"], 200, tags[None]),
                ("deflate", tags["deflate"], 304, tags["deflate"]), (None, tags[None], 304, tags[None])]:
            for method in "GET", "HEAD":
                reply = ask("/t/tags", coding, method, If_None_Match=tag)
                self.assertEqual((reply.status, reply.header("ETag")), (status, answered), (coding, tag))
                if status == 304:
                    self.assertIsNone(reply.header("Content-Encoding"))
        self.assertEqual(ask("/t/tags", "gzip", If_Match=tags["gzip"]).status, 200)
        self.assertEqual(ask("/t/tags", None, If_Match=tags["gzip"]).status, 412)
        form = ask("/t/tags", "gzip", Accept="avro/binary").header("ETag")
        self.assertRegex(form, r'^"\d+-1-[a-z]+-gzip"$')
        path = ask("/t/select/tags", "gzip", "POST", b".s")
        again = ask("/t/select/tags", "gzip", "POST", b".s", If_None_Match=path.header("ETag"))
        self.assertEqual((again.status, again.header("Content-Encoding"), json.loads(decode(again))["code"]),
                         (412, "gzip", "condition_failed"))
        # On writes the revision alone counts.
        self.assertEqual(ask("/t/tags", None, "PUT", b'{"s":"y"}', If_Match=tags["gzip"]).status, 200)
        self.assertEqual(ask("/t/tags", None, "PUT", b'{"s":"z"}', If_Match=tags["gzip"]).status, 412)

    def test_head_says_what_get_does(self):
        put("/t/head", json.dumps({"s": text(90000)}).encode())
        put("/words/head", text(90000).encode())
        for target in "/t/head", "/words/head", "/t", "/getschema/t", "/metrics":
            get, head = ask(target, "gzip"), ask(target, "gzip", "HEAD")
            for name in "Content-Type", "Content-Encoding", "ETag":
                self.assertEqual(head.header(name), get.header(name), (target, name))
            if get.header("Content-Encoding"):
                self.assertIsNone(head.header("Content-Length"))
            self.assertEqual(head.body, b"")
        self.assertEqual(ask("/t/head", "gzip", "HEAD").header("Content-Encoding"), "gzip")

    def test_content_as_it_is_by_its_type(self):
        for size in SIZES:
            put("/blob/x", text(size, 2).encode(), Content_Type="text/css")
            self.both("/blob/x")
            put("/blob/x", text(size, 2).encode(), Content_Type="application/x-something")
            self.both("/blob/x", coded=False)
            put("/words/x", text(size, 2).encode())
            self.both("/words/x")
        put("/blob/empty", b"", Content_Type="text/css")
        self.assertEqual(ask("/blob/empty", "gzip, identity;q=0").body, b"")

    def test_ranges_are_of_the_content_as_it_is(self):
        for size in 3000, 300_000:
            content = text(size, 3).encode()
            put("/words/r", content)
            reply = ask("/words/r", "gzip", Range="bytes=100-2099")
            self.assertEqual((reply.status, reply.body, reply.header("Content-Encoding")), (206, content[100:2100], None))
            self.assertEqual(reply.header("ETag"), ask("/words/r", None).header("ETag"))
            coded = ask("/words/r", "gzip")
            reply = ask("/words/r", "gzip", Range="bytes=100-2099", If_Range=coded.header("ETag"))
            self.assertEqual((reply.status, decode(reply)), (200, content))

    def test_scans_and_lists(self):
        put_all((f"scan{i:04}", {"s": f"{i} " * 20}) for i in range(2000))
        self.both("/t?prefix=scan")
        self.both("/t?prefix=scan", Accept="application/json")
        self.both("/t")
        for i in range(40):
            server.post(f"/putschema/list{i}", body=json.dumps(TEXT).encode())
        self.both("/schemas")
        self.both("/subjects?limit=40", coded=False)  # short
        long = {**TEXT, "doc": text(70000)}
        server.post("/putschema/long", body=json.dumps(long).encode())
        self.both("/getschema/long")
        tag = ask("/getschema/long", "gzip").header("ETag")
        self.assertEqual(ask("/getschema/long", "gzip", If_None_Match=tag).header("ETag"), tag)
        self.both("/subjects/long/versions/1")
        self.assertEqual(decode(ask("/metrics", "gzip"))[:6], b"# HELP")

    def test_problems(self):
        body = json.dumps({f"m{i}": 1 for i in range(90)}).encode()
        reply = self.both("/t/x", "PUT", body)
        self.assertEqual(reply.status, 422)

    def test_each_piece_of_a_scan_can_be_read_at_once(self):
        words = text(200_000, 7)
        put_all((f"line{i:03}", {"s": words[i * 300:i * 300 + 300]}) for i in range(600))
        with server.connect() as s:
            s.sendall(b"GET /t?prefix=line HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n")
            f = s.makefile("rb")
            while f.readline() not in (b"\r\n", b""):
                pass
            d, lines, pieces = zlib.decompressobj(31), 0, 0
            while size := int(f.readline(), 16):
                piece = d.decompress(f.read(size))
                f.readline()
                self.assertEqual(piece[-1:] or b"\n", b"\n")
                lines, pieces = lines + piece.count(b"\n"), pieces + 1
            self.assertTrue(d.eof and lines == 600 and pieces > 5, (lines, pieces))

    def test_an_old_client_sees_the_end_by_the_end(self):
        put("/t/old", json.dumps({"s": text(90000)}).encode())
        for target in "/t/old", "/t?prefix=old":
            raw = server.raw(f"GET {target} HTTP/1.0\r\nAccept-Encoding: gzip\r\nConnection: keep-alive\r\n\r\n".encode())
            head, body = raw.split(b"\r\n\r\n", 1)
            self.assertNotIn(b"Transfer-Encoding", head)
            self.assertIn(b"Connection: close", head)
            self.assertEqual(zlib.decompressobj(31).decompress(body), ask(target, None).body)

    def test_pipelined_answers_keep_their_codings_apart(self):
        put("/t/p1", json.dumps({"s": text(3000, 5)}).encode())
        put("/t/p2", json.dumps({"s": text(90000, 6)}).encode())
        ways = [(t, c) for t in ("p1", "p2") for c in ("gzip", "deflate", "identity")] * 3
        with server.connect() as s:
            s.sendall(b"".join(f"GET /t/{t} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: {c}\r\n\r\n".encode() for t, c in ways))
            f = s.makefile("rb")
            for t, c in ways:
                reply = read_one(f)
                self.assertEqual(reply.header("Content-Encoding"), None if c == "identity" else c)
                self.assertEqual(decode(reply), ask(f"/t/{t}", None).body)

    def test_clients_that_leave_and_idle_ones_leave_nothing_behind(self):
        put("/t/leave", json.dumps({"s": base64.b64encode(random.Random(4).randbytes(3 * MIB)).decode()}).encode())
        for _ in range(20):
            with server.connect() as s:
                s.sendall(b"GET /t/leave HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n")
                s.recv(100)
        self.both("/t/leave")

    def test_415_says_what_is_taken(self):
        reply = server.put("/t/x", body=zlib.compress(b"{}"), headers={"Content-Encoding": "deflate"})
        self.assertEqual((reply.status, reply.header("Accept-Encoding")), (415, "identity"))

    def test_metrics_count(self):
        def counted():
            return {name: int(value) for name, value in
                    re.findall(r"^avrod_http_compressed_(\w+) (\d+)$", ask("/metrics", None).body.decode(), re.M)}
        put("/t/counted", json.dumps({"s": text(50000)}).encode())
        before, reply = counted(), ask("/t/counted", "gzip")
        after = counted()
        self.assertEqual({name: after[name] - before[name] for name in after},
                         {"answers_total": 1, "plain_bytes_total": len(decode(reply)), "bytes_total": len(reply.body)})


class Options(unittest.TestCase):
    def test_the_threshold_is_an_option_and_0_is_off(self):
        for value, coded, refused in ("100", "gzip", 200), ("0", None, 200):
            with Server("--compress-answers", value) as s:
                s.post("/putschema/words", body=b'"string"')
                s.put("/words/a", body=b"a" * 100)
                self.assertEqual(ask("/words/a", "gzip", to=s).header("Content-Encoding"), coded)
                s.put("/words/a", body=b"a" * 99)
                self.assertIsNone(ask("/words/a", "gzip", to=s).header("Content-Encoding"))
                self.assertEqual(ask("/words/a", "gzip, identity;q=0", to=s).status, refused)

    def test_so_many_at_once_are_compressed_and_the_next_are_not(self):
        with Server("--threads", "1", "--compressions-max", "2") as s:
            s.post("/putschema/words", body=b'"string"')
            s.put("/words/a", body=base64.b64encode(random.Random(1).randbytes(12_000_000)))
            held, codings = [], []
            for _ in range(4):
                c = socket.socket()
                held.append(c)
                c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                c.connect(("127.0.0.1", s.port))
                c.sendall(b"GET /words/a HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n")
                head = b""
                while b"\r\n\r\n" not in head:
                    head += c.recv(64)
                codings.append(b"Content-Encoding: gzip" in head)
            self.assertEqual(codings, [True, True, False, False])
            for c in held:
                c.close()
            while (reply := ask("/words/a", "gzip", to=s)).header("Content-Encoding") is None:
                pass  # those that left are noticed in a moment
            self.assertEqual(len(decode(reply)), 16_000_000)


if __name__ == "__main__":
    unittest.main()
