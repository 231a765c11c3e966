"""tests/http/test_idempotency.py - Idempotency-Key: a write that is sent again is done once, and answered as the first time."""

import json
import threading
import time

from avrod import Server, read_reply, records_of

SCHEMA = json.dumps({"type": "record", "name": "R", "fields": [
    {"name": "n", "type": "int", "default": 0}, {"name": "s", "type": "string", "default": ""}]})


def expect(reply, status, code=None):
    assert reply.status == status, reply
    if code:
        assert reply.json()["code"] == code, reply
    return reply


def keyed(key, **more):
    return {"Idempotency-Key": key, **more}


def same(first, again):
    """The answer of the first time, and it says so."""
    assert first.header("Idempotency-Replayed") is None, first
    assert again.header("Idempotency-Replayed") == "true", again
    assert (again.status, again.body) == (first.status, first.body), (first, again)
    for name in "ETag", "Location", "Changed", "Deleted", "Content-Type":
        assert again.header(name) == first.header(name), (name, first, again)


def twice(s, *args, **kw):
    first = s.request(*args, **kw)
    again = s.request(*args, **kw)
    same(first, again)
    return first


def check_every_write(s):
    put = twice(s, "PUT", "/r/1", b'{"n":1}', keyed("put"))
    assert put.status == 201 and put.header("Location") == "/r/1"
    assert twice(s, "POST", "/r/put/1", b'{"n":2}', keyed("verb put")).status == 200
    assert twice(s, "PUT", "/r/2", b'{"n":2}', keyed("absent", **{"If-None-Match": "*"})).status == 201
    tag = s.get("/r/1").header("ETag")
    assert twice(s, "PUT", "/r/1", b'{"n":3}', keyed("tag", **{"If-Match": tag})).status == 200
    field = twice(s, "PUT", "/r/put/1/n", b"4", keyed("field"))
    assert field.status == 200 and field.header("Changed") == "1"
    assert s.get("/r/1").json()["n"] == 4
    assert twice(s, "PATCH", "/r/1", b'{}', keyed("nothing new")).header("Changed") == "0"
    assert twice(s, "DELETE", "/r/1", None, keyed("delete")).status == 200
    assert twice(s, "PUT", "/r/3?ttl=60", b"{}", keyed("ttl")).header("TTL") == "60"
    assert twice(s, "PUT", "/r/with%20blank", b"{}", keyed("location")).header("Location") == "/r/with%20blank"
    for i in range(300):
        expect(s.put(f"/r/p{i}", body=b"{}"), 201)
    assert twice(s, "DELETE", "/r?prefix=p", None, keyed("range")).header("Deleted") == "300"
    assert twice(s, "DELETE", "/r?prefix=p", None, keyed("range of none")).header("Deleted") == "0"


def check_patch(s):
    """An increment is what a key is for."""
    expect(s.put("/r/patched", body=b'{"n":1}'), 201)
    body = b'[{"op":"increment","path":"/n","by":1}]'
    reply = s.request("PATCH", "/r/patched", body, keyed("patch", **{"Content-Type": "application/json-patch+json"}))
    expect(reply, 200)
    for _ in range(3):
        again = s.request("PATCH", "/r/patched", body, keyed("patch", **{"Content-Type": "application/json-patch+json"}))
        same(reply, again)
    assert s.get("/r/patched").json()["n"] == 2


def check_transactions(s):
    """All its operations, once; the results are those of the first time."""
    expect(s.put("/r/t1", body=b'{"n":1}'), 201)
    body = json.dumps({"operations": [
        {"op": "put", "type": "r", "id": "t2", "record": {"n": 1}}, {"op": "patch", "type": "r", "id": "t1", "merge": {"n": 2}},
        {"op": "check", "type": "r", "id": "t1", "pointer": "/n", "is": "=", "value": 2}]})
    probe = s.request("POST", "/_txn", body)
    expect(probe, 200)
    expect(s.delete("/r/t2"), 200)
    expect(s.put("/r/t1", body=b'{"n":1}'), 200)
    first = expect(twice(s, "POST", "/_txn", body, keyed("txn")), 200)
    assert [r["status"] for r in first.json()["results"]][:2] == [201, 200], first
    expect(s.delete("/r/t1"), 200)
    same(first, s.request("POST", "/_txn", body, keyed("txn")))
    expect(s.get("/r/t1"), 404)
    expect(s.request("POST", "/_txn", body.replace('"n": 1', '"n": 5'), keyed("txn")), 422, "idempotency_mismatch")


def check_long_edits(s):
    """Those that a helper applies."""
    expect(s.put("/r/long", body=json.dumps({"s": "x" * 300_000})), 201)
    assert twice(s, "PUT", "/r/put/long/n", b"4", keyed("long field")).header("Changed") == "1"
    first = twice(s, "PATCH", "/r/long", b'{}', keyed("long nothing"))
    assert first.header("Changed") == "0"
    expect(s.put("/r/put/long/n", body=b"5"), 200)
    same(first, s.request("PATCH", "/r/long", b'{}', keyed("long nothing")))
    assert s.get("/r/get/long/n").body == b"5"


def check_first_outcome(s):
    """It is done once, whatever has become of the record since."""
    first = expect(s.put("/r/o", body=b'{"n":1}', headers=keyed("o")), 201)
    expect(s.put("/r/o", body=b'{"n":2}'), 200)
    same(first, s.put("/r/o", body=b'{"n":1}', headers=keyed("o")))
    assert s.get("/r/o").json()["n"] == 2
    expect(s.delete("/r/o"), 200)
    same(first, s.put("/r/o", body=b'{"n":1}', headers=keyed("o")))
    expect(s.get("/r/o"), 404)
    expect(s.post("/putschema/r", body=SCHEMA.replace('"R"', '"R","doc":"2"')), 200)
    same(first, s.put("/r/o", body=b'{"n":1}', headers=keyed("o")))


def check_mismatch(s):
    expect(s.put("/r/m", body=b'{"n":1}', headers=keyed("m")), 201)
    for method, target, body, more in (("PUT", "/r/m", b'{"n":2}', {}), ("PUT", "/r/m2", b'{"n":1}', {}),
                                       ("POST", "/r/m", b'{"n":1}', {}), ("PUT", "/r/put/m", b'{"n":1}', {}),
                                       ("PUT", "/r/m?ttl=5", b'{"n":1}', {}), ("PUT", "/r/m", b'{"n":1}', {"If-Match": "*"}),
                                       ("PUT", "/r/m", b'{"n":1}', {"Content-Type": "avro/json"}),
                                       ("PUT", "/r/m", b'{"n":1}', {"Cache-Control": "max-age=5"}), ("DELETE", "/r/m", None, {})):
        expect(s.request(method, target, body, keyed("m", **more)), 422, "idempotency_mismatch")
    assert s.get("/r/m").json()["n"] == 1


def check_failures(s):
    """What failed is done when it is sent again."""
    expect(s.put("/r/f", body=b'{"n":1}', headers=keyed("f", **{"If-Match": "*"})), 412)
    expect(s.delete("/r/f", headers=keyed("f2")), 404)
    expect(s.put("/r/f", body=b'{"n":"x"}', headers=keyed("f3")), 422, "bad_record")
    expect(s.put("/r/f", body=b'{"n":5}'), 201)
    done = expect(s.put("/r/f", body=b'{"n":1}', headers=keyed("f", **{"If-Match": "*"})), 200)
    assert done.header("Idempotency-Replayed") is None
    expect(s.put("/r/f", body=b'{"n":7}', headers=keyed("f3")), 200)
    expect(s.delete("/r/f", headers=keyed("f2")), 200)


def check_keys(s):
    for good in '"quoted"', "bare", "8e03978e-40d5-43dd-bc93-6894a57f9324", "k" * 255, "with blank", '"8e03978e"', "a,b":
        assert twice(s, "PUT", "/r/k", b"{}", keyed(good)).status in (200, 201)
    for bad in "", "k" * 256:
        expect(s.put("/r/k", body=b"{}", headers=keyed(bad)), 400, "bad_request")
    raw = s.raw(b"PUT /r/k HTTP/1.1\r\nHost: 127.0.0.1\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: 2\r\n\r\n{}")
    assert raw.startswith(b"HTTP/1.1 400 "), raw
    first = s.put("/r/k", body=b"{}", headers=keyed("bare2"))
    assert s.put("/r/k", body=b"{}", headers=keyed('"bare2"')).header("Idempotency-Replayed") is None, first
    expect(s.get("/r/k", headers=keyed("bare2")), 200)
    expect(s.put("/r/dry?dry_run=1", body=b"{}", headers=keyed("dry")), 201)
    assert expect(s.put("/r/dry?dry_run=1", body=b"{}", headers=keyed("dry")), 201).header("Idempotency-Replayed") is None


def check_raw(s):
    expect(s.post("/putschema/raw", body='"bytes"'), 200)
    for i, size in enumerate((0, 1, 5000, 65536, 65537, 200_000, 3_000_000)):
        body = b"z" * size
        first = s.put("/raw/1", body=body, headers=keyed(f"raw{i}", **{"Content-Type": "image/png"}))
        same(first, s.put("/raw/1", body=body, headers=keyed(f"raw{i}", **{"Content-Type": "image/png"})))
        for at in {0, size // 2, size - 1} if size else ():
            other = body[:at] + b"y" + body[at + 1:]
            expect(s.put("/raw/1", body=other, headers=keyed(f"raw{i}", **{"Content-Type": "image/png"})), 422, "idempotency_mismatch")
        assert s.get("/raw/1").body == body
    assert records_of(s, "raw") == 1


def check_at_once(s):
    """Many send the same: one does it."""
    expect(s.put("/r/many", body=b'{"n":0}'), 201)
    replies = []

    def send():
        replies.append(s.put("/r/many2", body=b'{"n":1}', headers=keyed("at once")))

    threads = [threading.Thread(target=send) for _ in range(20)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert {r.status for r in replies} == {201} and len({r.header("ETag") for r in replies}) == 1, replies
    assert sum(r.header("Idempotency-Replayed") is None for r in replies) == 1


def check_long_at_once(s):
    """The same of what a helper applies: who comes to it behind the first finds a record that the first has changed."""
    once = json.dumps([{"op": "test", "path": "/n", "value": 0}, {"op": "replace", "path": "/n", "value": 1}])
    for i in range(20):
        tag = expect(s.put(f"/r/twins{i}", body=json.dumps({"s": "x" * 500_000})), 201).header("ETag")
        more = {"Content-Type": "application/json-patch+json", **({"If-Match": tag} if i % 2 else {})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in keyed(f"twins {i}", **more).items())
        request = (f"PATCH /r/twins{i} HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}Content-Length: {len(once)}\r\n\r\n{once}").encode()
        sockets = [s.connect() for _ in range(12)]
        for sock in sockets:
            sock.sendall(request)
            s.put("/r/other", body=b"{}")  # so that some are decided in one group with what the first puts
        replies = [read_reply(sock)[0] for sock in sockets]
        for sock in sockets:
            sock.close()
        assert {r.status for r in replies} == {200} and len({r.header("ETag") for r in replies}) == 1, replies
        assert {r.header("Changed") for r in replies} == {"1"}, replies
        assert sum(r.header("Idempotency-Replayed") is None for r in replies) == 1
        expect(s.request("PATCH", f"/r/twins{i}", once, keyed(f"late {i}", **more)), 412 if i % 2 else 409)


def check_pipelined(s):
    one = b"PUT /r/piped HTTP/1.1\r\nHost: 127.0.0.1\r\nIdempotency-Key: piped\r\nContent-Length: 2\r\n\r\n{}"
    with s.connect() as sock:
        sock.sendall(one * 10)
        pending, replies = b"", []
        for _ in range(10):
            reply, pending = read_reply(sock, pending=pending)
            replies.append(reply)
    for again in replies[1:]:
        same(replies[0], again)


def check_restart(s):
    first = expect(s.put("/r/restart", body=b'{"n":1}', headers=keyed("restart")), 201)
    for kill in False, True:
        s.restart(kill=kill)
        expect(s.delete("/r/restart"), 200 if not kill else 404)
        same(first, s.put("/r/restart", body=b'{"n":1}', headers=keyed("restart")))


def check_ttl():
    """It is forgotten in time."""
    with Server("--idempotency-ttl", "1") as s:
        expect(s.post("/putschema/r", body=SCHEMA), 200)
        expect(s.put("/r/1", body=b"{}", headers=keyed("a")), 201)
        deadline = time.monotonic() + 60
        while s.put("/r/1", body=b"{}", headers=keyed("a")).header("Idempotency-Replayed"):
            assert time.monotonic() < deadline
        assert s.get("/r/1").status == 200


def main():
    with Server() as s:
        expect(s.post("/putschema/r", body=SCHEMA), 200)
        for check in (check_every_write, check_patch, check_transactions, check_long_edits, check_first_outcome, check_mismatch, check_failures, check_keys,
                      check_raw, check_at_once, check_long_at_once, check_pipelined, check_restart):
            check(s)
            print(check.__name__)
    check_ttl()
    print("ok")


if __name__ == "__main__":
    main()
