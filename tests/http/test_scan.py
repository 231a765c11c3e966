"""tests/http/test_scan.py - scans: order, ranges, forms, paging under writes, slow and vanishing clients, long and damaged
records."""

import base64
import json
import os
import random
import socket
import threading

from avrod import Server, read_all, read_reply, sanitized

PERSON = {"type": "record", "name": "P", "fields": [{"name": "n", "type": "long"}, {"name": "s", "type": "string", "default": ""}]}


def expect(reply, status, code=None):
    assert reply.status == status, (reply.status, reply.headers, reply.body[:400])
    if code:
        assert reply.json()["code"] == code, reply
    return reply


def quote(id):
    return "".join("%%%02X" % byte for byte in id)


def register(s, name, schema, query=""):
    return expect(s.post(f"/putschema/{name}{query}", body=json.dumps(schema).encode()), 200)


def put_many(s, puts, at_once=64):
    """Pipelined: (target, body) each."""
    puts = list(puts)
    with s.connect(60) as c:
        rest = b""
        for i in range(0, len(puts), at_once):
            part = puts[i:i + at_once]
            c.sendall(b"".join(b"PUT %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (t.encode(), len(b), b)
                               for t, b in part))
            for _ in part:
                reply, rest = read_reply(c, pending=rest)
                assert reply.status in (200, 201), reply


def lines(reply):
    assert reply.header("Content-Type") == "application/x-ndjson", reply.headers
    assert not reply.body or reply.body.endswith(b"\n")
    return [json.loads(line) for line in reply.body.split(b"\n")[:-1]]


def id_of(line):
    return base64.b64decode(line["id_base64"]) if "id_base64" in line else line["id"].encode()


def scan(s, target, **kw):
    return [id_of(line) for line in lines(expect(s.get(target, **kw), 200))]


# ---- what is shown ----


def check_lines(s):
    register(s, "p", PERSON)
    assert expect(s.get("/p"), 200).body == b""
    tags = {id: s.put(f"/p/{id}", body=b'{"n":%d,"s":"\\"%s"}' % (n, id.encode())).header("ETag")
            for n, id in enumerate(("b", "a", "c"))}
    got = expect(s.get("/p"), 200)
    assert got.header("Record-Count") == "3" and "Accept" in got.header("Vary") and got.header("ETag") is None
    revision = {id: int(tag[1:-3]) for id, tag in tags.items()}
    assert got.body == b"".join(b'{"id":"%s","revision":%d,"record":{"n":%d,"s":"\\"%s"}}\n' % (
        id.encode(), revision[id], n, id.encode()) for id, n in (("a", 1), ("b", 0), ("c", 2))), got.body
    keys = expect(s.get("/p?keys=1"), 200)
    assert keys.body == b"".join(b'{"id":"%s","revision":%d}\n' % (id.encode(), revision[id]) for id in "abc"), keys.body
    assert expect(s.get("/p?keys=0"), 200).body == got.body and s.get("/p/").body == got.body
    expect(s.get("/nope"), 404, "no_type")


def check_forms(s):
    plain = lines(expect(s.get("/p"), 200))
    for accept in "application/json", "application/json, text/html", "application/json, */*;q=0.1":
        got = expect(s.get("/p", headers={"Accept": accept}), 200)
        assert got.header("Content-Type") == "application/json" and got.json() == plain, accept
    assert expect(s.get("/p?from=x", headers={"Accept": "application/json"}), 200).body == b"[]\n"
    for accept in "*/*", "application/x-ndjson", "application/json, */*", "application/*", "":
        assert lines(expect(s.get("/p", headers={"Accept": accept}), 200)) == plain
    expect(s.get("/p", headers={"Accept": "text/html"}), 406, "not_acceptable")


def check_head(s):
    for accept, kind in ("*/*", "application/x-ndjson"), ("application/json", "application/json"):
        head = expect(s.request("HEAD", "/p", headers={"Accept": accept}), 200)
        assert head.header("Record-Count") == "3" and head.header("Content-Type") == kind and head.body == b""
    expect(s.request("HEAD", "/p?limit=0"), 400)
    with s.connect() as c:
        c.sendall(b"HEAD /p HTTP/1.1\r\nHost: localhost\r\n\r\nGET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n")
        head, rest = read_reply(c, head=True)
        assert head.status == 200 and read_reply(c, pending=rest)[0].body == b"pong"


def check_parameters(s):
    for bad in "limit=0", "limit=-1", "limit=x", "limit=", "keys=2", "keys=yes", "keys=", "to=":
        expect(s.get("/p?" + bad), 400, "bad_parameter")
    refused = expect(s.get("/p?pagesize=3"), 400, "unknown_parameter").json()["detail"]
    assert all(name in refused for name in ("prefix", "from", "to", "after", "limit", "keys")), refused
    expect(s.get("/p?prefix=%4"), 400, "bad_target")
    expect(s.get("/p?limit=1&limit=2"), 400, "bad_parameter")
    for method in "POST", "PUT":
        assert "GET" in expect(s.request(method, "/p"), 405, "bad_method").header("Allow")
    expect(s.delete("/p"), 400, "bad_parameter") # of many records, by their prefix alone


# ---- ranges ----


def check_ranges(s):
    """Any bytes, in the order of bytes, against the plain reading of the rules."""
    register(s, "ids", "null")
    draw = random.Random(5)
    ids = {bytes(draw.choice(b"\x00\x01a\x7f\xfe\xff") for _ in range(draw.randrange(1, 5))) for _ in range(300)}
    ids |= {b"\xff" * n for n in (1, 2, 3, 480)} | {b"\x00", b"\x00" * 480, "grün".encode(), b"a" * 480, b'"', b"\\", b"\n"}
    put_many(s, ((f"/ids/{quote(id)}", b"null") for id in ids))
    ordered = sorted(ids)
    assert scan(s, "/ids") == ordered

    def plain(ask):
        return [id for id in ordered if id.startswith(ask.get("prefix", b"")) and id >= ask.get("from", b"")
                and ("to" not in ask or id < ask["to"]) and id > ask.get("after", b"")][: ask.get("limit", 10**9)]

    bounds = ordered + [b"\xff" * 481, b"\x00" * 481, b"a" * 481, b"\xff\xff\xfe", b"zz", b"a\xff", b"\x7f\xff"]
    asks = [{"prefix": b"\xff"}, {"prefix": b"\xff\xff"}, {"prefix": b"a\xff"}, {"prefix": b"\xff" * 481}, {"from": b"\xff" * 481},
            {"after": b"\xff" * 480}, {"from": b"b", "to": b"a"}, {"after": b"a", "to": b"a"}, {"from": b"a", "to": b"a\x00"}]
    for _ in range(300):
        asks.append({name: draw.choice(bounds)[: draw.choice((1, 2, 481))] for name in ("prefix", "from", "to", "after")
                     if draw.random() < 0.35})
        if draw.random() < 0.3:
            asks[-1]["limit"] = draw.randrange(1, 40)
    for ask in asks:
        query = "&".join(f"{name}={value if name == 'limit' else quote(value)}" for name, value in ask.items())
        assert scan(s, "/ids?" + query) == plain(ask), ask


def check_many(s):
    """More than a page, by hand and at once."""
    register(s, "many", PERSON)
    ids = [b"%05d" % n for n in range(3000)]
    put_many(s, ((f"/many/{id.decode()}", b'{"n":%d,"s":"%s"}' % (int(id), b"x" * (int(id) % 300))) for id in ids))
    got = lines(expect(s.get("/many"), 200))
    assert [line["id"].encode() for line in got] == ids
    assert all(line["record"] == {"n": n, "s": "x" * (n % 300)} for n, line in enumerate(got))
    after, paged = b"", []
    while True:
        page = scan(s, f"/many?limit=37&keys=1&after={quote(after)}")
        paged += page
        if not page:
            break
        after = page[-1]
    assert paged == ids
    assert expect(s.get("/many", headers={"Accept": "application/json"}), 200).json() == got


def check_under_writes(s):
    """In order, nothing twice, and all that exists throughout, whatever happens beside it."""
    ending = threading.Event()
    faults = []

    def disturb(seed):
        draw = random.Random(seed)
        try:
            while not ending.is_set():
                n = draw.randrange(3000)
                s.put(f"/many/{n:05d}.{draw.randrange(9)}", body=b'{"n":1}')
                s.delete(f"/many/{draw.randrange(3000):05d}.{draw.randrange(9)}")
                s.put(f"/many/{n:05d}", body=b'{"n":%d,"s":"%s"}' % (n, b"y" * draw.randrange(300)))
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=disturb, args=(seed,)) for seed in range(3)]
    for t in threads:
        t.start()
    try:
        for _ in range(8):
            ids = scan(s, "/many")
            assert ids == sorted(set(ids))
            assert {id for id in ids if b"." not in id} == {b"%05d" % n for n in range(3000)}
    finally:
        ending.set()
        for t in threads:
            t.join()
    assert not faults, faults


# ---- what a record may be ----


def check_kinds(s):
    """Long ones, which a helper prints, between short ones; raw ones; those of older versions."""
    register(s, "k", PERSON, "?compatibility=none")
    sizes = [0, 100, 3900, 4100, 30_000, 66_000, 1_000_000, 10, 3_000_000, 5]
    for n, size in enumerate(sizes):
        s.put(f"/k/{n}", body=b'{"n":%d,"s":"%s"}' % (n, b"z" * size))
    register(s, "k", {**PERSON, "fields": [
        {"name": "s", "type": "string"}, {"name": "new", "type": "int", "default": 7}]})
    s.put("/k/x", body=b'{"s":""}')
    want = [{"s": "z" * size, "new": 7} for size in sizes + [0]]
    for _ in range(2):
        assert [line["record"] for line in lines(expect(s.get("/k"), 200))] == want
        assert [e["record"] for e in expect(s.get("/k", headers={"Accept": "application/json"}), 200).json()] == want
        assert [e["record"] for e in lines(expect(s.get("/k?limit=7"), 200))] == want[:7]
        assert scan(s, "/k?keys=1") == [b"%d" % n for n in range(10)] + [b"x"]
        s.restart()  # now the schemas are loaded on the way
    register(s, "blob", "bytes")
    content = random.Random(3).randbytes(400_000)
    s.put("/blob/a", body=b"\x00\xff\"")
    s.put("/blob/b", body=content)
    got = lines(expect(s.get("/blob"), 200))
    assert got[0]["record"] == "\x00\xff\"" and got[1]["record"].encode("latin-1") == content
    register(s, "big", {"type": "array", "items": "null"})
    s.put("/big/1", body=b"[" + b",".join([b"null"] * 500_000) + b"]")
    s.put("/big/2", body=b"[]")
    assert [len(line["record"]) for line in lines(expect(s.get("/big"), 200))] == [500_000, 0]


def check_damaged():
    """It has an error in its place, and the scan goes on."""
    with Server("--threads", "1") as s:
        register(s, "t", "string")
        for id in "abc":
            s.put(f"/t/{id}", body=b"here stands %s" % id.encode() * 3)
        s.stop()
        path = os.path.join(s.data, "data.mdb")
        with open(path, "rb") as f:
            data = f.read()
        with open(path, "wb") as f:
            f.write(data.replace(b"here stands b", b"here\xffstands b"))
        s.start()
        got = lines(expect(s.get("/t"), 200))
        assert [line["id"] for line in got] == ["a", "b", "c"]
        assert "record" not in got[1] and got[1]["error"]["status"] == 500 and got[1]["error"]["code"] == "internal", got[1]
        assert got[0]["record"].startswith("here stands a") and got[2]["record"].startswith("here stands c")
        array = expect(s.get("/t", headers={"Accept": "application/json"}), 200).json()
        assert array == got


# ---- on the wire ----


def slow_client(s, size=4096):
    c = socket.socket()
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
    c.settimeout(60)
    c.connect(("127.0.0.1", s.port))
    return c


def unchunk(data):
    """(body, what is behind it)"""
    body = b""
    while True:
        size, data = data.split(b"\r\n", 1)
        n = int(size, 16)
        body, end, data = body + data[:n], data[n:n + 2], data[n + 2:]
        assert end == b"\r\n"
        if not n:
            return body, data


def check_wire(s):
    want = s.get("/many").body
    with s.connect() as c:  # pipelined behind a scan
        c.sendall(b"GET /many HTTP/1.1\r\nHost: localhost\r\n\r\nGET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n"
                  b"GET /many?limit=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        head, data = read_all(c).split(b"\r\n\r\n", 1)
        assert b"Transfer-Encoding: chunked" in head and b"Content-Length" not in head
        body, data = unchunk(data)
        assert body == want
        head, data = data.split(b"\r\n\r\n", 1)
        assert head.startswith(b"HTTP/1.1 200") and data.startswith(b"pong")
        body, data = unchunk(data[4:].split(b"\r\n\r\n", 1)[1])
        assert body == want.split(b"\n")[0] + b"\n" and data == b""
    for more in b"", b"Connection: keep-alive\r\n":
        with s.connect() as c:  # 1.0: the end of the connection ends the body
            c.sendall(b"GET /many HTTP/1.0\r\n" + more + b"\r\nGET /ping HTTP/1.0\r\n\r\n")
            head, body = read_all(c).split(b"\r\n\r\n", 1)
            assert b"chunked" not in head and b"Content-Length" not in head and b"Connection: close" in head
            assert body == want
    before = s.descriptors()
    for n in range(20):  # gone midway
        c = slow_client(s)
        c.sendall(b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % (b"many" if n % 2 else b"k"))
        c.recv(10)
        c.close()
    while s.descriptors() > before:
        s.get("/ping")
    assert s.get("/many").body == want


def check_slow_readers():
    """300 at once hold nothing: others are served, memory stays, and overwriting makes the file no longer."""
    with Server("--threads", "1", "--durability", "none") as s:
        register(s, "r", PERSON)
        targets = [f"/r/{n:04d}" for n in range(2500)]
        put_many(s, ((t, b'{"n":1,"s":"%s"}' % (b"a" * 1500)) for t in targets))
        clients = [slow_client(s) for _ in range(300)]
        for c in clients:
            c.sendall(b"GET /r HTTP/1.1\r\nHost: localhost\r\n\r\n")
        begun = [c.recv(64) for c in clients]
        put_many(s, ((t, b'{"n":2,"s":"%s"}' % (b"b" * 1500)) for t in targets))
        size = os.path.getsize(os.path.join(s.data, "data.mdb"))
        for n in range(6):
            put_many(s, ((t, b'{"n":2,"s":"%s"}' % (b"c" * 1500)) for t in targets))
            assert len(scan(s, "/r?keys=1")) == 2500
        assert os.path.getsize(os.path.join(s.data, "data.mdb")) <= size + (8 << 20), "nothing is pinned"
        assert sanitized() or s.memory() < 120 << 20, s.memory()
        reply = begun[0]
        while not reply.endswith(b"\r\n0\r\n\r\n"):  # and one of them goes on to the end
            reply += clients[0].recv(65536)
        body, rest = unchunk(reply.split(b"\r\n\r\n", 1)[1])
        assert rest == b"" and [json.loads(line)["id"] for line in body.splitlines()] == [f"{n:04d}" for n in range(2500)]
        for c in clients:
            c.close()


def check_dropped(s):
    """A type that goes while it is scanned: the list ends, as nothing exists any more."""
    register(s, "d", PERSON)
    put_many(s, ((f"/d/{n:04d}", b'{"n":1,"s":"%s"}' % (b"d" * 3000)) for n in range(2000)))
    with slow_client(s) as c:
        c.sendall(b"GET /d HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        data = c.recv(512)
        expect(s.delete("/delschema/d"), 200)
        register(s, "d", "string")
        s.put("/d/zzzz", body=b"of another type of that name")
        data += read_all(c)
        body, rest = unchunk(data.split(b"\r\n\r\n", 1)[1])
        got = [json.loads(line) for line in body.split(b"\n")[:-1]]
        assert rest == b"" and all(line["record"]["n"] == 1 for line in got)
        assert [line["id"] for line in got] == [f"{n:04d}" for n in range(len(got))]


def check_drain():
    """A scan under way is finished."""
    s = Server()
    try:
        register(s, "r", PERSON)
        put_many(s, ((f"/r/{n:04d}", b'{"n":1,"s":"%s"}' % (b"a" * 3000)) for n in range(2000)))
        with slow_client(s) as c:
            c.sendall(b"GET /r HTTP/1.1\r\nHost: localhost\r\n\r\n")
            data = c.recv(512)
            codes = []
            stopping = threading.Thread(target=lambda: codes.append(s.stop()))
            stopping.start()
            data += read_all(c)
            stopping.join()
            body, rest = unchunk(data.split(b"\r\n\r\n", 1)[1])
            assert body.count(b"\n") == 2000 and rest == b"" and codes == [0], (body.count(b"\n"), codes)
    finally:
        s.__exit__(None, None, None)


def main():
    with Server("--durability", "none") as s:
        for check in (check_lines, check_forms, check_head, check_parameters, check_ranges, check_many, check_under_writes,
                      check_kinds, check_wire, check_dropped):
            check(s)
            print(check.__name__, flush=True)
    for check in check_damaged, check_slow_readers, check_drain:
        check()
        print(check.__name__, flush=True)
    print("ok")


if __name__ == "__main__":
    main()
