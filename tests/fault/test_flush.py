#!/usr/bin/env python3
"""tests/fault/test_flush.py - a whole server whose flush fails, seen over HTTP: every write that was not answered before
is 503 store_broken and tells nobody to try again, /healthz says so, reads go on; a restart serves again, with all that
was answered. $AVROD is the server with tests/fault/disk.c in it."""

import errno
import mmap
import os
import re
import struct
import tempfile
import time

from avrod import ROOT, Server, read_reply

SCHEMA = b'{"type":"record","name":"P","fields":[{"name":"n","type":"int"}]}'
LONG = b"long" * 50000


def call_number(name):
    with open(os.path.join(ROOT, "tests/fault/disk.h"), encoding="ascii") as f:
        return re.findall(r"^    (CALL_\w+),", f.read(), re.M).index(name)


class Fault:
    """What the server's disk calls look at: struct disk_fault."""

    def __init__(self):
        self.file = tempfile.NamedTemporaryFile(prefix="avrod-fault-")
        self.file.write(bytes(20))
        self.file.flush()
        self.memory = mmap.mmap(self.file.fileno(), 20)

    def arm(self, call, error, nth=1):
        self.memory[4:20] = struct.pack("=iiII", error, nth, 0, 0)
        self.memory[0:4] = struct.pack("=i", call_number(call))

    def disarm(self):
        self.memory[0:20] = bytes(20)

    def failed(self):
        return struct.unpack("=I", self.memory[12:16])[0] == 1

    def failed_at_meta(self):
        return struct.unpack("=I", self.memory[16:20])[0] == 1


def is_refused(reply):
    assert reply.status == 503 and reply.json()["code"] == "store_broken", reply
    assert reply.header("Retry-After") is None, "a try in a second would fare no better"


def put(target, n):
    body = b'{"n":%d}' % n
    return b"PUT %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (target.encode(), len(body), body)


def prepare(s):
    assert s.post("/putschema/p", body=SCHEMA).status == 200
    assert s.post("/putschema/raw", body=b'"bytes"').status == 200
    assert s.put("/raw/long", body=LONG).status == 201
    for i in range(20):
        assert s.put(f"/p/{i:02}", body=b'{"n":%d}' % i).status == 201
    assert s.get("/healthz").status == 200


def check_writes_are_refused(s):
    for method, target, body in (("PUT", "/p/00", b'{"n":99}'), ("PUT", "/p/new", b'{"n":1}'), ("POST", "/p/put/01", b'{"n":98}'),
                                 ("POST", "/p/put/02/n", b"97"), ("DELETE", "/p/03", None), ("POST", "/putschema/q", SCHEMA),
                                 ("POST", "/putschema/p", SCHEMA.replace(b"int", b"long")), ("DELETE", "/delschema/p", None),
                                 ("PUT", "/raw/long", LONG + b"!")):
        is_refused(s.request(method, target, body=body))
    is_refused(s.put("/p/04", body=b'{"n":96}', headers={"If-Match": "*"}))
    assert s.put("/p/04", body=b'{"n":"x"}').status == 422, "what is wrong with a body is told as always"


def check_health(s):
    is_refused(s.get("/healthz"))
    assert s.get("/ping").body == b"pong"
    assert re.search(rb"^avrod_store_broken 1$", s.get("/metrics").body, re.M)
    assert s.read_log().count("error the store is broken, no more writes until a restart") == 1, s.log


def check_reads(s):
    """All that was answered, by every way there is to read."""
    for i in range(20):
        assert s.get(f"/p/{i:02}").body == b'{"n":%d}' % i
        assert s.get(f"/p/get/{i:02}/n").body == b"%d" % i
    assert s.get("/raw/long").body == LONG
    span = s.get("/raw/long", headers={"Range": "bytes=100001-100004"})
    assert span.status == 206 and span.body == LONG[100001:100005], span
    found = s.get("/p?keys=1&limit=20").body.decode()
    assert all(f"{i:02}" in found for i in range(20)), found
    assert s.get("/getschema/p").body == SCHEMA
    assert {t["name"]: t["records"] for t in s.get("/schemas").json()} == {"p": 20, "raw": 1}
    assert s.get("/getschema/q").status == 404


def check_failed_flush(fault, call, error, restart_by_kill):
    """Writes that share the group, and those that come later, on the same connection."""
    env = dict(os.environ, DISK_FAULT=fault.file.name)
    with Server("--durability", "sync", "--threads", "2", env=env) as s:
        prepare(s)
        fault.arm(call, error)
        with s.connect() as c:
            c.sendall(b"".join(put(f"/p/unknown-{i}", i) for i in range(10)) + b"GET /p/05 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            rest = b""
            for _ in range(10):
                reply, rest = read_reply(c, pending=rest)
                is_refused(reply)
            assert fault.failed()
            reply, rest = read_reply(c, pending=rest)
            assert reply.body == b'{"n":5}' and not rest
        fault.disarm()  # the disk is well again, and that changes nothing
        check_writes_are_refused(s)
        check_health(s)
        check_reads(s)
        s.restart(kill=restart_by_kill)
        check_serves_again(s)


def check_serves_again(s):
    assert s.get("/healthz").status == 200
    for i in range(20):
        assert s.get(f"/p/{i:02}").body == b'{"n":%d}' % i
    assert s.get("/raw/long").body == LONG
    for i in range(10):
        unknown = s.get(f"/p/unknown-{i}")
        assert unknown.status == 404 or unknown.body == b'{"n":%d}' % i, unknown
    assert s.put("/p/00", body=b'{"n":100}').status == 200
    assert s.get("/p/00").body == b'{"n":100}'
    assert s.post("/putschema/q", body=SCHEMA).status == 200


def check_failed_flush_behind_answers(fault):
    """async answers before the flush: the store is broken once that has failed, without a write that would see it."""
    env = dict(os.environ, DISK_FAULT=fault.file.name)
    with Server("--durability", "async", env=env) as s:
        prepare(s)
        fault.arm("CALL_FDATASYNC", errno.EIO)
        s.put("/p/later", body=b'{"n":1}')
        deadline = time.monotonic() + 60
        while s.get("/healthz").status == 200 and time.monotonic() < deadline:
            pass
        assert fault.failed()
        fault.disarm()
        is_refused(s.put("/p/new", body=b'{"n":1}'))
        check_writes_are_refused(s)
        check_health(s)
        s.restart()
        assert s.get("/healthz").status == 200
        assert s.put("/p/new", body=b'{"n":1}').status == 201


def check_failed_meta_page(fault):
    """The page that says which state is the newest could not be written: whoever opens the store again knows, and reads
    are refused as well until then."""
    env = dict(os.environ, DISK_FAULT=fault.file.name)
    with Server("--durability", "sync", env=env) as s:
        prepare(s)
        nth = 0
        while not fault.failed_at_meta():
            nth += 1
            s.restart(kill=True)
            fault.arm("CALL_PWRITE", errno.EIO, nth)
            is_refused(s.put("/p/unknown-0", body=b'{"n":0}'))
            assert fault.failed(), nth
        fault.disarm()
        is_refused(s.get("/healthz"))
        is_refused(s.put("/p/00", body=b'{"n":99}'))
        for target in "/p/05", "/p?keys=1", "/raw/long":
            reply = s.get(target)
            assert reply.status == 200 or is_refused(reply) is None
        assert s.get("/ping").body == b"pong" and s.get("/metrics").status == 200
        s.restart()
        check_serves_again(s)


def main():
    fault = Fault()
    for by_kill in False, True:
        check_failed_flush(fault, "CALL_FDATASYNC", errno.EIO, by_kill)
    check_failed_flush(fault, "CALL_WRITEV", errno.EIO, True)
    check_failed_flush_behind_answers(fault)
    check_failed_meta_page(fault)
    print("ok")


main()
