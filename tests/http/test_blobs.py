"""tests/http/test_blobs.py - long answers: ranges of raw types, records that a helper prints, slow clients."""

import json
import random
import socket
import threading

from avrod import Server, read_all, read_reply, sanitized

CHUNK = 4080
CONTENT = random.Random(7).randbytes(16 << 20)
WIDE = {"type": "record", "name": "W", "fields": [
    {"name": "items", "type": {"type": "array", "items": {"type": "record", "name": "I", "fields": [
        {"name": "x" * 500, "type": "int"}]}}}, {"name": "n", "type": "int", "default": 0}]}


def expect(reply, status, code=None):
    assert reply.status == status, (reply.status, reply.headers, reply.body[:400])
    if code:
        assert reply.json()["code"] == code, reply
    return reply


def slow_client(s, size=4096):
    """One that takes little at a time: a small window."""
    c = socket.socket()
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
    c.settimeout(60)
    c.connect(("127.0.0.1", s.port))
    return c


def get(target, version="1.1", more=""):
    return f"GET {target} HTTP/{version}\r\nHost: localhost\r\n{more}\r\n".encode()


# ---- ranges ----


def check_ranges(s):
    draw = random.Random(11)
    for size in 1, 10, CHUNK - 34, CHUNK - 33, CHUNK, 2 * CHUNK - 2, 2 * CHUNK - 1, 200_000, 1 << 20:
        s.put("/blob/r", body=CONTENT[:size], headers={"Content-Type": "image/png"})
        whole = expect(s.get("/blob/r"), 200)
        assert whole.header("Accept-Ranges") == "bytes" and whole.body == CONTENT[:size]
        cuts = {0, size - 1, CHUNK - 3, CHUNK - 2, CHUNK - 1, CHUNK, 2 * CHUNK - 2, size // 2}
        cuts |= {draw.randrange(size) for _ in range(6)}
        for first in sorted(cut for cut in cuts if 0 <= cut < size):
            last = draw.randrange(first, size + 10)
            for text, want in ((f"bytes={first}-", CONTENT[first:size]), (f"bytes={first}-{last}", CONTENT[first:min(last + 1, size)]),
                               (f"bytes=-{size - first}", CONTENT[first:size])):
                part = expect(s.get("/blob/r", headers={"Range": text}), 206)
                assert part.body == want, (size, text)
                assert part.header("Content-Range") == f"bytes {first}-{first + len(want) - 1}/{size}"
                assert part.header("ETag") == whole.header("ETag") and part.header("Content-Type") == "image/png"
        outside = expect(s.get("/blob/r", headers={"Range": f"bytes={size}-"}), 416, "bad_range")
        assert outside.header("Content-Range") == f"bytes */{size}"
        for ignored in "bytes=0-0,2-2", "items=0-1", "bytes=5-1", "bytes=x", "bytes=":
            again = expect(s.get("/blob/r", headers={"Range": ignored}), 200)
            assert again.body == CONTENT[:size] and again.header("Content-Range") is None, ignored
        head = expect(s.request("HEAD", "/blob/r", headers={"Range": "bytes=0-0"}), 200)
        assert head.header("Content-Length") == str(size) and head.header("Accept-Ranges") == "bytes"


def check_if_range(s):
    tag = s.put("/blob/i", body=CONTENT[:100]).header("ETag")
    for if_range, status in ((tag, 206), ("W/" + tag, 200), ('"1-1"', 200), ("Thu, 01 Jan 2026 00:00:00 GMT", 200)):
        got = expect(s.get("/blob/i", headers={"Range": "bytes=10-19", "If-Range": if_range}), status)
        assert got.body == (CONTENT[10:20] if status == 206 else CONTENT[:100]), if_range
    expect(s.get("/blob/i", headers={"Range": "bytes=100-", "If-Range": '"1-1"'}), 200)
    expect(s.get("/blob/i", headers={"If-Range": tag}), 200)
    expect(s.get("/blob/i", headers={"Range": "bytes=10-19", "If-None-Match": tag}), 304)
    expect(s.get("/blob/i", headers={"Range": "bytes=10-19", "If-Match": '"1-1"'}), 412)


def check_part_of_an_upload(s):
    """It must not pass for the whole: what it goes on with would be lost."""
    s.put("/blob/u", body=CONTENT[:100])
    part = {"Content-Range": "bytes 100-199/200"}
    for target in "/blob/u", "/blob/put/u", "/blob/u?benchmark_only=5", "/w/put/1/n", "/putschema/blob":
        expect(s.put(target, body=CONTENT[100:200], headers=part), 400, "bad_request")
    assert s.get("/blob/u").body == CONTENT[:100]
    expect(s.get("/blob/u", headers=part), 200)


def check_ranges_elsewhere(s):
    """Only content as it is has ranges."""
    s.put("/blob/e", body=b"abcdef")
    got = expect(s.get("/blob/e", headers={"Range": "bytes=0-0", "Accept": "avro/json"}), 200)
    assert got.body == b'"abcdef"' and got.header("Accept-Ranges") is None
    s.put("/w/e", body=b'{"items":[]}')
    got = expect(s.get("/w/e", headers={"Range": "bytes=0-0"}), 200)
    assert got.body == b'{"items":[],"n":0}' and got.header("Accept-Ranges") is None
    s.put("/blob/empty", body=b"")
    expect(s.get("/blob/empty", headers={"Range": "bytes=0-"}), 416, "bad_range")
    expect(s.get("/blob/empty", headers={"Range": "bytes=-1"}), 200)


# ---- long JSON ----


def wide(n):
    return b'{"items":[' + b",".join(b'{"%s":1}' % (b"x" * 500) for _ in range(n)) + b'],"n":0}'


def check_long_json(s):
    for n in 7, 120, 130, 131, 3000, 20000:
        expect(s.put("/w/long", body=wide(n)), 201 if n == 7 else 200)
        got = expect(s.get("/w/long"), 200)
        assert got.body == wide(n), n
        assert got.header("Content-Type") == "application/json" and got.header("Schema-Version") == "1"
        head = expect(s.request("HEAD", "/w/long"), 200)
        assert head.body == b"" and head.header("Content-Length") == str(len(wide(n)))
        assert expect(s.get("/w/long/"), 200).header("ETag") == got.header("ETag")
        field = expect(s.get("/w/get/long/items"), 200)
        assert field.body == wide(n)[len(b'{"items":'):-len(b',"n":0}')]
        assert s.get("/w/get/long/n").body == b"0"
        expect(s.get("/w/long", headers={"If-None-Match": got.header("ETag")}), 304)
        failed = expect(s.put("/w/long", body=b'{"items":[]}', headers={"If-Match": '"1-1"'}), 412, "condition_failed")
        assert failed.json()["current"] == {"revision": int(got.header("ETag")[1:-3]), "record": json.loads(wide(n))}
        assert failed.header("ETag") == got.header("ETag")
        failed = expect(s.get("/w/long", headers={"If-Match": '"1-1"'}), 412, "condition_failed")
        assert failed.json()["current"]["record"] == json.loads(wide(n))


def check_json_beyond_the_limit(s):
    """280,000 items in 280 KB would be 143 MB of JSON. Such a record can be made with a default for each."""
    schema = {"type": "record", "name": "D", "fields": [{"name": "items", "type": {"type": "array", "items": {
        "type": "record", "name": "J", "fields": [{"name": "y" * 1000, "type": "int", "default": 1}]}}},
        {"name": "n", "type": "int", "default": 0}]}
    expect(s.post("/putschema/d", body=json.dumps(schema).encode()), 200)
    expect(s.put("/d/1", body=b'{"items":[' + b",".join([b"{}"] * 140_000) + b"]}"), 201)
    refused = expect(s.get("/d/1"), 406, "json_too_large")
    assert "134217728" in refused.json()["detail"], refused
    expect(s.get("/d/get/1/items"), 406, "json_too_large")
    assert expect(s.get("/d/get/1/n"), 200).body == b"0"
    assert "current" not in expect(s.put("/d/1", body=b"{}", headers={"If-None-Match": "*"}), 422).json()
    failed = expect(s.put("/d/1", body=b'{"items":[]}', headers={"If-None-Match": "*"}), 412, "condition_failed")
    assert "current" not in failed.json()


# ---- on the wire ----


def check_pipelined(s):
    """What stands behind a long answer waits for it, in order."""
    s.put("/blob/p", body=CONTENT[:3_000_000])
    s.put("/w/p", body=wide(2000))
    asked = [("/blob/p", CONTENT[:3_000_000]), ("/ping", b"pong"), ("/w/p", wide(2000)), ("/ping", b"pong"), ("/blob/p", CONTENT[:3_000_000])]
    with slow_client(s) as c:
        c.sendall(b"".join(get(target) for target, _ in asked))
        rest = b""
        for target, want in asked:
            reply, rest = read_reply(c, pending=rest)
            assert reply.status == 200 and reply.body == want, target
        assert rest == b""


def write(method, target, body=b""):
    return f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def check_pipelined_writes(s):
    """A long body goes into the store in pieces; what comes behind it on its connection stays behind it."""
    long, longer = CONTENT[:5_000_000], CONTENT[1:9_000_000]
    writes = [("PUT", "/blob/order-p", long, 201), ("PUT", "/blob/order-p", b"short", 200), ("PUT", "/blob/order-q", longer, 201),
              ("DELETE", "/blob/order-p", b"", 200), ("PUT", "/blob/order-q", b"short", 200), ("PUT", "/blob/order-p", longer, 201),
              ("PUT", "/blob/order-q", long, 200)]
    with s.connect() as c:
        c.sendall(b"".join(write(*one[:3]) for one in writes) + get("/blob/order-p") + get("/blob/order-q"))
        pending, revisions = b"", []
        for *_, status in writes:
            reply, pending = read_reply(c, pending=pending)
            expect(reply, status)
            if reply.header("ETag"):
                revisions.append(int(reply.header("ETag")[1:].split("-")[0]))
        assert len(revisions) >= 6 and revisions == sorted(set(revisions)), revisions
        for body in longer, long:
            reply, pending = read_reply(c, pending=pending)
            assert reply.body == body
        assert pending == b""


def check_http_1_0(s):
    s.put("/blob/o", body=CONTENT[:500_000])
    for target, want in ("/blob/o", CONTENT[:500_000]), ("/w/p", wide(2000)):
        with s.connect() as c:
            c.sendall(get(target, "1.0"))
            head, body = read_all(c).split(b"\r\n\r\n", 1)
            assert b"Content-Length: %d" % len(want) in head and body == want
        with s.connect() as c:
            c.sendall(get(target, "1.0", "Connection: keep-alive\r\n") + get("/ping", "1.0"))
            reply, rest = read_reply(c)
            assert reply.body == want and reply.header("Connection") == "keep-alive"
            assert read_reply(c, pending=rest)[0].body == b"pong"


def check_replaced_while_it_is_read(s):
    """The client that began with a record gets all of that record."""
    content = CONTENT[: (16 << 20) - 4]
    s.put("/blob/big", body=content)
    with slow_client(s) as c:
        c.sendall(get("/blob/big"))
        first = c.recv(1000)
        for n in range(20):
            expect(s.put("/blob/big", body=b"%d" % n * 100_000), 200)
        assert expect(s.get("/blob/big"), 200).body == b"19" * 100_000
        expect(s.delete("/blob/big"), 200)
        reply, rest = read_reply(c, pending=first)
        assert reply.body == content and rest == b""


def check_clients_that_leave(s):
    before = s.descriptors()
    s.put("/blob/gone", body=CONTENT[:8_000_000])
    s.put("/w/gone", body=wide(20000))
    for target in ["/blob/gone", "/w/gone"] * 10:
        c = slow_client(s)
        c.sendall(get(target) + get(target))
        if target == "/blob/gone":
            c.recv(100)
        c.close()
    while s.descriptors() > before:
        expect(s.get("/ping"), 200)
    assert expect(s.get("/w/gone"), 200).body == wide(20000)


def check_memory_of_slow_clients():
    """They hold a place each, and nothing of what they have asked for; and others are served."""
    with Server("--threads", "1") as s:
        s.post("/putschema/blob", body=b'"bytes"')
        s.put("/blob/1", body=CONTENT[: (16 << 20) - 4])
        s.get("/ping")
        clients = [slow_client(s) for _ in range(100)]
        for c in clients:
            c.sendall(get("/blob/1"))
        for c in clients:
            c.recv(10)
        expect(s.get("/ping"), 200)
        assert b"\navrod_http_answers_bytes 0\n" in s.get("/metrics").body
        assert len(expect(s.get("/blob/1"), 200).body) == (16 << 20) - 4
        assert sanitized() or s.memory() < 100 << 20, s.memory()
        for c in clients:
            c.close()


def check_drain():
    """An answer under way is finished."""
    s = Server()
    try:
        s.post("/putschema/blob", body=b'"bytes"')
        s.put("/blob/1", body=CONTENT[:8_000_000])
        with slow_client(s) as c:
            c.sendall(get("/blob/1"))
            first = c.recv(100)
            codes = []
            stopping = threading.Thread(target=lambda: codes.append(s.stop()))
            stopping.start()
            reply, rest = read_reply(c, pending=first)
            assert reply.body == CONTENT[:8_000_000] and rest == b""
            assert c.recv(1) == b""
            stopping.join()
            assert codes == [0], codes
    finally:
        s.__exit__(None, None, None)


def main():
    with Server() as s:
        s.post("/putschema/blob", body=b'"bytes"')
        s.post("/putschema/w", body=json.dumps(WIDE).encode())
        for check in (check_ranges, check_if_range, check_part_of_an_upload, check_ranges_elsewhere, check_long_json,
                      check_json_beyond_the_limit, check_pipelined, check_pipelined_writes, check_http_1_0,
                      check_replaced_while_it_is_read, check_clients_that_leave):
            check(s)
            print(check.__name__)
    for check in check_memory_of_slow_clients, check_drain:
        check()
        print(check.__name__)
    print("ok")


if __name__ == "__main__":
    main()
