#!/usr/bin/env python3
"""tests/fault/test_server.py - a whole server whose n-th allocation fails while it answers one request: the answer is
the usual one or 503 with nothing stored, or the connection closes; the next request finds all well. $AVROD is the
server with tests/fault/allocator.c in it."""

import mmap
import os
import select
import struct
import tempfile

from avrod import Server, read_reply

SCHEMA = b'{"type":"record","name":"P","fields":[{"name":"s","type":"string"},' \
         b'{"name":"u","type":["null","int"],"default":null}]}'
RECORD = b'{"s":"one"}'
STORED = b'{"s":"one","u":null}'


class Fault:
    """What the server's allocator looks at: struct allocator_fault."""

    def __init__(self):
        self.file = tempfile.NamedTemporaryFile(prefix="avrod-fault-")
        self.file.write(bytes(16))
        self.file.flush()
        self.memory = mmap.mmap(self.file.fileno(), 16)

    def arm(self, nth, forever):
        self.memory[8:16] = struct.pack("=II", forever, 0)
        self.memory[0:8] = struct.pack("=q", nth)

    def disarm(self):
        self.memory[0:8] = bytes(8)

    def failed(self):
        return struct.unpack("=I", self.memory[12:16])[0]


def exchange(server, fault, data):
    """The answer, or None if the connection was closed without one."""
    with server.connect() as s:
        try:
            s.sendall(data)
            # What was committed waits for memory to be answered; so memory comes back when no answer does.
            if not select.select([s], [], [], 0.3)[0]:
                fault.disarm()
            return read_reply(s)[0]
        except (EOFError, ConnectionResetError, BrokenPipeError):
            return None


def http(method, target, body=b""):
    return b"%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (
        method, target.encode(), len(body), body)


def hold_what_is_pooled(server):
    """A request whose body never comes whole keeps what the one before has left for the next."""
    held = server.connect()
    held.sendall(b"PUT /p/kept HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nbegun")
    return held


def check_outcome(fault, nth, reply, usual, done):
    """done: is it in the store? None: it changes nothing."""
    answered = reply is not None and reply.status == usual
    assert answered or fault.failed(), (nth, reply)
    assert done is not False or not answered, (nth, reply)
    if reply is not None and not answered:
        assert reply.status == 503 and reply.json()["code"] == "no_memory", (nth, reply)
        assert reply.header("Retry-After") == "1", (nth, reply)
        assert not done, (nth, reply)
    return answered


def fail_each(server, fault, request, usual, is_done, forever):
    """request(n) for n = 1, 2, ... until nothing fails. Returns how many allocations there are."""
    held, nth, failed = [], 0, True
    while failed:
        nth += 1
        held.append(hold_what_is_pooled(server))
        fault.arm(nth, forever)
        try:
            reply = exchange(server, fault, request(nth))
        finally:
            fault.disarm()
        failed = fault.failed()
        assert server.process.poll() is None, server.read_log()
        assert server.get("/ping").body == b"pong"
        assert server.get("/p/kept").body == STORED
        if not check_outcome(fault, nth, reply, usual, is_done and is_done(nth)):
            again = exchange(server, fault, request(nth))
            # What was done and not answered is replaced: 200, not 201.
            assert again is not None and again.status in (usual, 200), (nth, again)
            assert not is_done or is_done(nth), nth
    for s in held:
        s.close()
    return nth - 1


def check_pipelined_puts(server, fault, forever):
    """Several in flight together, a read behind them: the answers come in order, each its own."""
    nth, failed, many = 0, True, 6
    while failed:
        nth += 1
        targets = [f"/p/piped-{forever}-{nth}-{i}" for i in range(many)]
        data = b"".join(http(b"PUT", target, b'{"s":"%d"}' % i) for i, target in enumerate(targets))
        held = hold_what_is_pooled(server)
        replies, rest = [], b""
        fault.arm(nth, forever)
        with server.connect() as s:
            try:
                s.sendall(data + http(b"GET", "/p/kept"))
                while len(replies) <= many:
                    reply, rest = read_reply(s, pending=rest)
                    replies.append(reply)
            except (EOFError, ConnectionResetError, BrokenPipeError):
                assert fault.failed(), nth
        fault.disarm()
        failed = fault.failed()
        held.close()
        for i, target in enumerate(targets):
            stored = server.get(target)
            assert stored.status == 404 or stored.body == b'{"s":"%d","u":null}' % i, (nth, i, stored)
            if i < len(replies):
                check_outcome(fault, nth, replies[i], 201, stored.status == 200)
        if len(replies) > many and check_outcome(fault, nth, replies[many], 200, None):
            assert replies[many].body == STORED
    return nth - 1


def check_first_request(server, fault):
    """Nothing is pooled yet."""
    nth, failed = 0, True
    while failed:
        nth += 1
        server.restart()
        fault.arm(nth, 0)
        reply = exchange(server, fault, http(b"GET", "/ping"))
        fault.disarm()
        failed = fault.failed()
        check_outcome(fault, nth, reply, 200, None)
        assert server.get("/ping").body == b"pong"
    return nth - 1


def check_get(server, fault, forever, target="/p/kept"):
    return fail_each(server, fault, lambda n: http(b"GET", target), 200, None, forever)


def check_scan(server, fault, forever):
    """What fails behind its head is cut; here the head counts."""
    return fail_each(server, fault, lambda n: http(b"GET", "/p?keys=1"), 200, None, forever)


def check_packed(server, fault, forever):
    """Where there is no memory to pack it, it is stored as it is."""
    body = b'{"s":"%s","u":null}' % (b"packed " * 500)

    def is_done(n):
        reply = server.get(f"/packed/{forever}-{n}")
        assert reply.status == 404 or (reply.status == 200 and reply.body == body), reply
        return reply.status == 200

    puts = fail_each(server, fault, lambda n: http(b"PUT", f"/packed/{forever}-{n}", body), 201, is_done, forever)
    return puts + fail_each(server, fault, lambda n: http(b"GET", "/packed/kept"), 200, None, forever)


def check_compressed(server, fault, forever):
    """At once, and as it leaves: where there is no memory for that, it leaves as it is."""
    def request(target):
        return lambda n: http(b"GET", target).replace(b"\r\n\r\n", b"\r\nAccept-Encoding: %s\r\n\r\n" % coding, 1)

    counts = 0
    for coding in b"gzip", b"deflate":
        counts += fail_each(server, fault, request("/p/long"), 200, None, forever)
        counts += fail_each(server, fault, request("/p"), 200, None, forever)
    return counts


def check_refusal(server, fault, forever):
    return fail_each(server, fault, lambda n: http(b"PUT", "/p/kept", b'{"s":5,"v":1}'), 422, None, forever)


def check_put(server, fault, forever, body, stored):
    def target(n):
        return f"/p/put{len(body)}-{forever}-{n}"

    def is_done(n):
        reply = server.get(target(n))
        assert reply.status == 404 or (reply.status == 200 and reply.body == stored), reply
        return reply.status == 200

    return fail_each(server, fault, lambda n: http(b"PUT", target(n), body), 201, is_done, forever)


def check_chunked_put(server, fault, forever):
    """Longer than the block that its head stands in."""
    body = b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(RECORD), RECORD, 40000, b" " * 40000)
    request = b"PUT /p/chunked-%d-%d HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n%s"
    return fail_each(server, fault, lambda n: request % (forever, n, body), 201,
                     lambda n: server.get(f"/p/chunked-{forever}-{n}").status == 200, forever)


def check_putschema(server, fault, forever):
    def is_done(n):
        reply = server.get(f"/getschema/t{forever}-{n}")
        assert reply.status == 404 or (reply.status == 200 and reply.body == SCHEMA), reply
        if reply.status == 200:
            assert server.put(f"/t{forever}-{n}/1", RECORD).status in (200, 201)
        return reply.status == 200

    return fail_each(server, fault, lambda n: http(b"POST", f"/putschema/t{forever}-{n}", SCHEMA), 200, is_done, forever)


def keyed(method, target, body, key):
    return http(method, target, body).replace(b"\r\n\r\n", b"\r\nIdempotency-Key: %s\r\n\r\n" % key, 1)


def check_keyed_putschema(server, fault, forever):
    """Whether it was done or not, the repeat says that it is."""
    def request(n):
        return keyed(b"POST", f"/putschema/k{forever}-{n}", SCHEMA, b"k%d-%d" % (forever, n))

    def is_done(n):
        there = server.get(f"/getschema/k{forever}-{n}").status == 200
        reply = exchange(server, fault, request(n))
        assert reply.status == 200 and (reply.header("Idempotency-Replayed") is not None) == there, (n, there, reply)
        return there

    return fail_each(server, fault, request, 200, is_done, forever)


def check_repeats(server, fault, forever):
    """Of a put and of a drop, which would be refused, were they not known: the type is gone."""
    assert server.post("/putschema/gone", SCHEMA).status == 200
    put = keyed(b"PUT", "/gone/1", RECORD, b"put%d" % forever)
    drop = keyed(b"POST", "/delschema/gone", b"", b"drop%d" % forever)
    firsts = [exchange(server, fault, put), exchange(server, fault, drop)]
    assert [r.status for r in firsts] == [201, 200], firsts
    return fail_each(server, fault, lambda n: put, 201, None, forever) + fail_each(server, fault, lambda n: drop, 200, None, forever)


def main():
    fault = Fault()
    long = b'{"s":"%s","u":null}' % (b"x" * 3000)
    env = dict(os.environ, ALLOCATOR_FAULT=fault.file.name)
    with Server("--threads", "1", "--durability", "none", env=env) as server:
        assert server.post("/putschema/p", SCHEMA).status == 200
        assert server.put("/p/kept", RECORD).status == 201
        assert server.put("/p/long", long).status == 201
        assert server.post("/putschema/packed?compression=zstd", SCHEMA).status == 200
        assert server.put("/packed/kept", long).status == 201
        for forever in 0, 1:
            counts = [check_get(server, fault, forever), check_scan(server, fault, forever), check_refusal(server, fault, forever),
                      check_put(server, fault, forever, RECORD, STORED), check_put(server, fault, forever, long, long),
                      check_get(server, fault, forever, "/metrics"), check_get(server, fault, forever, "/p/kept?timing=1"),
                      check_chunked_put(server, fault, forever), check_pipelined_puts(server, fault, forever),
                      check_keyed_putschema(server, fault, forever), check_repeats(server, fault, forever), check_compressed(server, fault, forever),
                      check_packed(server, fault, forever),
                      check_putschema(server, fault, forever)]
            print("allocations of each request:", counts)
            assert counts[-1] > 20, counts
        before = server.get("/schemas").json()
        print("allocations of the first request:", check_first_request(server, fault))
        assert server.get("/schemas").json() == before
        assert server.get("/p/kept").body == STORED


main()
