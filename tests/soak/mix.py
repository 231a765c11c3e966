"""tests/soak/mix.py - one client of the soak test: sends requests of every kind over raw sockets, many behind each other, and checks
what comes back by its class. Everything is drawn from a seed."""

import random
import re
import socket
import struct
import time

from secure import Secure

HEAD = b" HTTP/1.1\r\nHost: localhost\r\n"
END = b"\r\n"
STATUS = re.compile(rb"HTTP/1\.[01] (\d\d\d) ")
LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n")
CHUNKED = b"\r\nTransfer-Encoding: chunked\r\n"
BATCH = 32  # requests behind each other
STEP = 256  # how often the others hear of it


def message(method, target, body=None, extra=b""):
    if body is None:
        return method + b" " + target + HEAD + extra + END
    return b"%s %s%s%sContent-Length: %d\r\n\r\n%s" % (method, target, HEAD, extra, len(body), body)


def chunked(method, target, body):
    parts = [body[i : i + 7] for i in range(0, len(body), 7)]
    data = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    return method + b" " + target + HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + data + b"0\r\n\r\n"


class Fault(Exception):
    pass


class Connection:
    def __init__(self, port, room=None, secure=None):
        """room: bytes that the kernel keeps for who reads slowly. secure: a secure.Secure; None: plain."""
        self.secure = secure
        self.socket = socket.socket()
        self.socket.settimeout(60)
        if room:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if secure:
            self.socket = secure.wrap(self.socket)
        self.data = bytearray()

    def send(self, data):
        self.socket.sendall(data)

    def more(self):
        piece = self.socket.recv(262144)
        if not piece:
            raise Fault(f"closed behind {self.data[-200:]!r}")
        self.data += piece

    def want(self, bytes):
        while len(self.data) < bytes:
            self.more()

    def skip_chunks(self, at):
        """Where the chunks that begin there end; each is whole, and the last one is empty."""
        while True:
            while (line := self.data.find(b"\r\n", at)) < 0:
                self.more()
            size = int(self.data[at:line], 16)
            at = line + 2 + size + 2
            self.want(at)
            if self.data[at - 2 : at] != b"\r\n":
                raise Fault(f"a chunk of {size} bytes that goes on: {self.data[at - 20:at + 20]!r}")
            if not size:
                return at

    def answers(self, heads):
        """The statuses of as many answers as there are items; an item says whether it is one to HEAD."""
        statuses, at = [], 0
        for is_head in heads:
            while (end := self.data.find(b"\r\n\r\n", at)) < 0:
                self.more()
            found = STATUS.match(self.data, at)
            if not found:
                raise Fault(f"no answer: {self.data[at:at + 200]!r}")
            status = int(found.group(1))
            length = LENGTH.search(self.data, at, end + 2)
            chunks = self.data.find(CHUNKED, at, end + 2) >= 0
            at, has_body = end + 4, not is_head and status not in (100, 204, 304)
            if has_body and chunks:
                at = self.skip_chunks(at)
            elif has_body and length:
                at += int(length.group(1))
                self.want(at)
            statuses.append(status)
        del self.data[:at]
        return statuses

    def ends(self):
        """What is left until the server closes."""
        while True:
            try:
                piece = self.socket.recv(262144)
            except ConnectionResetError:
                break
            if not piece:
                break
            self.data += piece
        return self.data

    def close(self, reset=False):
        if self.secure:
            self.secure.remember(self.socket)
        if reset:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class Client:
    def __init__(self, port, seed, secure=None):
        self.port, self.secure, self.random, self.count = port, secure, random.Random(seed), {}
        self.own = b"own%d" % seed  # a type that only this client has
        self.c = self.connect()

    def connect(self, room=None):
        return Connection(self.port, room, self.secure)

    # ---- requests that may stand behind each other: (bytes, statuses that may come) ----

    def id(self):
        return b"%d" % self.random.randrange(2000)

    def name(self):
        return b"x" * self.random.randrange(1, 60) if self.random.random() < 0.95 else b"long " * self.random.randrange(200, 4000)

    def person(self):
        return b'{"name":"%s","age":%d,"mail":"%s","tags":{"a":[1,2,%d],"b":[]}}' % (
            self.name(), self.random.randrange(100), self.id(), self.random.randrange(1 << 60))

    def ping(self):
        return message(b"GET", b"/ping"), (200,)

    def get(self):
        return message(b"GET", b"/person/get/" + self.id()), (200, 404)

    def get_resource(self):
        return message(b"GET", b"/person/" + self.id(), None, b'If-None-Match: "7-1"\r\n'), (200, 304, 404)

    def get_field(self):
        return message(b"GET", b"/person/get/" + self.id() + b"/" + self.random.choice((b"name", b"tags", b"nope"))), (200, 404)

    def head(self):
        return message(b"HEAD", b"/person/" + self.id()), (200, 404)

    def put(self):
        return message(b"POST", b"/person/put/" + self.id(), self.person()), (200,)

    def put_chunked(self):
        return chunked(b"PUT", b"/person/" + self.id(), self.person()), (200, 201)

    def put_union(self):
        return message(b"PUT", b"/event/" + self.id(), b'{"what":{"key":"k","why":"%s"}}' % self.name()), (200, 201)

    def put_blob(self):
        size = self.random.choice((0, 10, 1000, 5000, 40000))
        return message(b"PUT", b"/blob/" + self.id(), self.random.randbytes(size), b"Content-Type: image/png\r\n"), (200, 201)

    def get_blob(self):
        return message(b"GET", b"/blob/" + self.id()), (200, 404)

    def get_range(self):
        span = self.random.choice((b"0-0", b"5-", b"-7", b"100-2000", b"99999999-", b"0-1,3-4", b"x"))
        return message(b"GET", b"/blob/" + self.id(), None, b"Range: bytes=%s\r\n" % span), (200, 206, 404, 416)

    def scan(self):
        """A page of what there is, in one form or the other."""
        target = self.random.choice((b"/person", b"/event", b"/blob")) + b"?limit=%d" % self.random.randrange(1, 40)
        target += self.random.choice((b"", b"&keys=1", b"&from=" + self.id(), b"&after=" + self.id() + b"&keys=1", b"&prefix=1",
                                      b"&from=2&to=" + self.id()))
        accept = self.random.choice((b"", b"Accept: application/json\r\n"))
        return message(self.random.choice((b"GET", b"GET", b"GET", b"HEAD")), target, None, accept), (200,)

    def scan_keys(self):
        return message(b"GET", b"/person?keys=1"), (200,)

    def bad_scan(self):
        target = self.random.choice((b"/person?limit=0", b"/person?keys=2", b"/person?to=", b"/person?limit=x", b"/nope?keys=1"))
        return message(b"GET", target), (400, 404)

    def metrics(self):
        return message(b"GET", b"/metrics"), (200,)

    def timed(self):
        part, allowed = self.random.choice((
            (message(b"GET", b"/person/%s?timing=1" % self.id()), (200, 404)),
            (message(b"PUT", b"/person/%s?timing=1" % self.id(), self.person()), (200, 201)),
            (message(b"GET", b"/person?limit=3&timing=1"), (200,))))
        return part, allowed

    def put_field(self):
        return message(b"POST", b"/person/put/" + self.id() + b"/name", b'"%s"' % self.name()), (200, 404)

    def put_condition(self):
        condition = self.random.choice((b"If-None-Match: *\r\n", b'If-Match: "1-1"\r\n', b"If-Match: *\r\n"))
        return message(b"PUT", b"/person/" + self.id(), self.person(), condition), (200, 201, 412)

    def delete(self):
        return message(b"DELETE", b"/person/" + self.id()), (200, 404)

    def bad_json(self):
        body = self.random.choice((b"", b"{", b'{"name":}', b'{"name":"a","name":"b"}', b'{"name":"\\ud800"}', b"\xff", b"[" * 3000))
        return message(b"PUT", b"/person/" + self.id(), body), (400, 422)

    def bad_record(self):
        body = self.random.choice((b"null", b"[]", b'{"name":7,"age":"x","zz":1}', b'{"name":"a","tags":{"k":[1,"x",{}]}}', b"{}"))
        return message(b"PUT", b"/person/" + self.id(), body), (422,)

    def bad_union(self):
        return message(b"PUT", b"/event/" + self.id(), b'{"what":{"key":1,"why":[]}}'), (422,)

    def unknown(self):
        target = self.random.choice((b"/nope/get/1", b"/person/1/2", b"/person/get/1?x=1", b"/%zz", b"/person/" + b"i" * 500))
        return message(b"GET", target), (400, 404, 414)

    def method(self):
        return message(self.random.choice((b"PATCH", b"BREW")), b"/ping", b"abc"), (405, 501)

    def schemas(self):
        return message(b"GET", b"/schemas"), (200,)

    def get_schema(self):
        return message(b"GET", b"/getschema/person"), (200,)

    def too_large(self):
        return message(b"PUT", b"/putschema/" + self.own, b" " * ((1 << 20) + 1)), (413,)

    def benchmark(self):
        return message(b"GET", b"/person/get/1?benchmark_only=100"), (200,)

    PIPELINED = (
        (ping, 20), (get, 20), (get_resource, 8), (get_field, 6), (head, 4), (put, 12), (put_chunked, 3), (put_union, 3), (put_blob, 2),
        (get_blob, 2), (get_range, 1), (scan, 2), (scan_keys, 0.05), (bad_scan, 0.5), (metrics, 0.2), (timed, 2), (put_field, 5), (put_condition, 4), (delete, 4), (bad_json, 2), (bad_record, 2), (bad_union, 1), (unknown, 2),
        (method, 1), (schemas, 1), (get_schema, 1), (benchmark, 2), (too_large, 0.01),
    )

    def batch(self, n):
        kinds, weights = zip(*self.PIPELINED)
        made = [kind(self) for kind in self.random.choices(kinds, weights, k=n)]
        data = b"".join(part for part, _ in made)
        if len(data) > 100000:  # beyond what the sockets hold, both might wait for each other
            for part, allowed in made:
                self.c.send(part)
                self.check([(part, allowed)])
            return n
        slow = 2000 if self.random.random() < 0.02 else 0
        for at in range(0, min(len(data), slow), 50):
            self.c.send(data[at : at + 50])
        self.c.send(data[slow:])
        self.check(made)
        return n

    def check(self, made):
        statuses = self.c.answers([part.startswith(b"HEAD") for part, _ in made])
        for (part, allowed), status in zip(made, statuses):
            self.note(status)
            if status not in allowed:
                raise Fault(f"{status}, not one of {allowed}: {part[:300]!r}")

    def note(self, status):
        kind = f"{status // 100}xx"
        self.count[kind] = self.count.get(kind, 0) + 1

    # ---- what takes a connection of its own: each is one request ----

    def fresh(self):
        self.c.close()
        self.c = self.connect()

    def bad_http(self):
        raw = self.random.choice((
            b"GET  /ping HTTP/1.1\r\n\r\n", b"GET /ping HTTP/1.1\r\n\r\n", b"\x16\x03\x01\0\0\r\n\r\n", b"GET /ping HTTP/3.0\r\n\r\n",
            b"GET /ping HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n", b"GET /ping HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 20000,
            b"POST /person/put/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"POST /person/put/1 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        ))
        self.c.send(raw)
        data = self.c.ends()
        found = STATUS.match(data)
        if not found or int(found.group(1)) not in (400, 431, 505) or data.count(b"\r\nDate: ") != 1:
            raise Fault(f"{data[:200]!r} to {raw[:100]!r}")
        self.note(int(found.group(1)))
        self.fresh()

    def abort(self):
        part = self.random.choice((b"GET /pi", message(b"PUT", b"/person/1", self.person())[:-5], message(b"PUT", b"/blob/1", b"x" * 30000)[:20000],
                                   self.put()[0] * 10, self.get()[0] * 10, b""))
        self.c.send(part)
        self.c.close(reset=self.random.random() < 0.5)
        self.c = self.connect()
        self.note(0)

    def expect(self):
        body = self.person()
        self.c.send(b"PUT /person/1" + HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
        if self.c.answers([False]) != [100]:
            raise Fault("no 100")
        self.c.send(body)
        self.check([(b"PUT", (200, 201))])

    def own_type(self):
        """A type comes, gets another version, a record, and goes."""
        steps = [message(b"POST", b"/putschema/%s?compatibility=none" % self.own,
                         b'{"type":"record","name":"R","fields":[{"name":"%s","type":"int","default":0}]}' % field) for field in (b"a", b"b")]
        steps += [message(b"POST", b"/putschema/" + self.own, b'{"type":"recrd"}'), message(b"PUT", b"/%s/1" % self.own, b"{}"),
                  message(b"DELETE", b"/delschema/" + self.own)]
        for step, allowed in zip(steps, ((200,), (200,), (422,), (201,), (200,))):
            self.c.send(step)
            self.check([(step, allowed)])

    def slow_reader(self):
        """Reads an answer piece by piece: all that there is, and leaves midway; or less, to the end."""
        leaves = self.random.random() < 0.8
        target = self.random.choice((b"/person?", b"/blob?", b"/person?keys=1&")) + (b"" if leaves else b"limit=50")
        c = self.connect(4096)
        c.send(message(b"GET", target.rstrip(b"?&")) + self.ping()[0])
        for _ in range(self.random.randrange(20)):
            if not c.data.endswith(b"pong"):
                c.data += c.socket.recv(512)
        if not leaves and c.answers([False, False]) != [200, 200]:
            raise Fault(f"not 200 to {target!r} and a ping behind it")
        c.close(reset=self.random.random() < 0.5)
        self.note(0)

    ALONE = ((bad_http, 8), (abort, 8), (expect, 4), (own_type, 1), (slow_reader, 1))

    def alone(self):
        kinds, weights = zip(*self.ALONE)
        self.random.choices(kinds, weights)[0](self)

    def run(self, requests, done, deadline=None):
        """deadline: of time.monotonic(); None: there is none."""
        sent = told = 0
        while sent < requests and not (deadline and time.monotonic() > deadline):
            sent += self.batch(min(BATCH, requests - sent))
            if sent < requests and self.random.random() < 0.2:
                self.alone()
                sent += 1
            if sent - told >= STEP or sent >= requests:
                with done.get_lock():
                    done.value += sent - told
                told = sent


def client(port, requests, seed, done, results, deadline=None, ca=None):
    """Runs in a process of its own; puts {"count": statuses by class, "faults": [...]} into `results`. ca: the authority's
    certificate, if the port speaks TLS."""
    faults, c = [], None
    secure = Secure(ca, seed) if ca else None
    try:
        c = Client(port, seed, secure)
        c.run(requests, done, deadline)
        c.c.close()
    except (Fault, OSError) as e:
        faults.append(f"client {seed}: {type(e).__name__}: {e}")
    count = {("aborted" if kind == "0xx" else kind): n for kind, n in (c.count if c else {}).items()}
    count.update(secure.count if secure else {})
    results.put({"count": count, "faults": faults})
