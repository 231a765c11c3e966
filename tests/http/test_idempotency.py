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
    for name in ("ETag", "Location", "Changed", "Deleted", "Content-Type", "Schema-Version", "Schema-Id", "Schema-Warning", "Vary"):
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


# ---- schemas ----

WIDER = SCHEMA.replace('{"name": "s"', '{"name": "t", "type": "int", "default": 1}, {"name": "s"')
ODD = json.dumps({"type": "record", "name": "O", "fields": [
    {"name": "d", "type": {"type": "bytes", "logicalType": "decimal", "precision": -1}}]})
REGISTRY = {"Content-Type": "application/vnd.schemaregistry.v1+json"}


def versions(s, name):
    return [v["version"] for t in s.get("/schemas").json() if t["name"] == name for v in t["versions"]]


def check_putschema(s):
    """The version of then, though there are others since, and though the type is gone."""
    first = expect(twice(s, "POST", "/putschema/ps?missing=default", SCHEMA, keyed("ps1")), 200)
    assert first.header("Schema-Version") == "1" and first.header("Schema-Id") and first.header("ETag"), first
    expect(twice(s, "PUT", "/putschema/ps", WIDER, keyed("ps2")), 200)
    assert versions(s, "ps") == [1, 2]
    same(first, s.request("POST", "/putschema/ps?missing=default", SCHEMA, keyed("ps1")))
    assert versions(s, "ps") == [1, 2]
    expect(s.post("/putschema/ps", body='"string"', headers=keyed("ps1")), 422, "idempotency_mismatch")
    expect(s.post("/putschema/ps?missing=error", body=SCHEMA, headers=keyed("ps1")), 422, "idempotency_mismatch")
    expect(s.post("/putschema/ps9", body=SCHEMA, headers=keyed("ps1")), 422, "idempotency_mismatch")
    warned = expect(twice(s, "POST", "/putschema/odd", ODD, keyed("odd")), 200)
    assert warned.header("Schema-Warning"), warned
    tag = s.get("/getschema/ps").header("ETag")
    only = {"If-Match": tag}
    again = expect(s.post("/putschema/ps?ttl=60", body=WIDER, headers=keyed("ps3", **only)), 200)
    same(again, s.post("/putschema/ps?ttl=60", body=WIDER, headers=keyed("ps3", **only)))
    expect(s.post("/delschema/ps"), 200)
    same(first, s.request("POST", "/putschema/ps?missing=default", SCHEMA, keyed("ps1")))
    expect(s.get("/getschema/ps"), 404, "no_type")
    for _ in range(2):
        dry = expect(s.post("/putschema/ps?dry_run=1", body=SCHEMA, headers=keyed("ps dry")), 200)
        assert dry.header("Idempotency-Replayed") is None


def check_putschema_failures(s):
    expect(s.post("/putschema/pf", body='"int"'), 200)
    expect(s.post("/putschema/pf", body='"string"', headers=keyed("pf")), 409, "incompatible")
    expect(s.post("/putschema/pf", body='{', headers=keyed("pf")), 400, "bad_json")
    expect(s.post("/putschema/pf", body='"long"', headers=keyed("pf")), 200)
    expect(s.post("/putschema/pf", body='"long"', headers=keyed("")), 400, "bad_request")


def check_delschema(s):
    """That the type is gone by the first is no reason to refuse the second."""
    expect(s.post("/putschema/ds", body=SCHEMA), 200)
    first = expect(twice(s, "POST", "/delschema/ds", b"", keyed("ds")), 200)
    assert first.header("ETag"), first
    expect(s.request("DELETE", "/delschema/ds", None, keyed("ds")), 422, "idempotency_mismatch")
    expect(s.request("DELETE", "/delschema/ds", None, keyed("ds other")), 404, "no_type")
    expect(s.post("/putschema/ds", body='"int"'), 200)
    same(first, s.request("POST", "/delschema/ds", b"", keyed("ds")))
    assert versions(s, "ds") == [1]
    expect(s.request("POST", "/delschema/ds", b"", keyed("ds", **{"If-Match": "*"})), 422, "idempotency_mismatch")
    with s.connect() as sock: # a body that comes late belongs to the request all the same
        sock.sendall(b"POST /delschema/gone HTTP/1.1\r\nHost: 127.0.0.1\r\nIdempotency-Key: late\r\nExpect: 100-continue\r\n"
                     b"Content-Length: 2\r\n\r\n")
        going, pending = read_reply(sock)
        if going.status == 100:
            sock.sendall(b"{}")
            going, pending = read_reply(sock, pending=pending)
        expect(going, 404, "no_type")


def check_type_is_another(s):
    """What was done while the type was there, or had another schema, is not refused for that."""
    expect(s.post("/putschema/ta", body=SCHEMA), 200)
    big = json.dumps({"s": "x" * 300_000})
    sent = [("PUT", "/ta/1", b'{"n":1}', {}), ("POST", "/ta/put/1", b'{"n":2}', {}), ("PUT", "/ta/put/1/n", b"3", {}),
            ("PATCH", "/ta/1", b'{"n":4}', {}), ("PUT", "/ta/big", big, {}), ("PATCH", "/ta/big", b'{"n":4}', {}),
            ("POST", "/ta/update/1", b'.n\n7', {}),
            ("POST", "/_txn", json.dumps({"operations": [{"op": "put", "type": "ta", "id": "x", "record": {"n": 1}}]}), {}),
            ("DELETE", "/ta/1", None, {}), ("DELETE", "/ta?prefix=b", None, {}),
            ("PUT", "/ta/avro", b"\x02\x00", {"Content-Type": "avro/binary"})]
    replies = []
    for i, (method, target, body, more) in enumerate(sent):
        reply = s.request(method, target, body, keyed(f"ta{i}", **more))
        assert reply.status in (200, 201), reply
        replies.append((i, reply))

    def all_again():
        for i, first in replies:
            method, target, body, more = sent[i]
            same(first, s.request(method, target, body, keyed(f"ta{i}", **more)))

    all_again()
    expect(s.post("/delschema/ta"), 200)
    all_again()
    expect(s.put("/ta/1", body=b'{"n":9}', headers=keyed("ta0")), 422, "idempotency_mismatch")
    expect(s.put("/ta/1", body=b'{"n":9}', headers=keyed("ta new")), 404, "no_type")
    expect(s.post("/putschema/ta", body='"int"'), 200)
    all_again()
    assert records_of(s, "ta") == 0
    expect(s.put("/ta/1", body=b'{"n":9}', headers=keyed("ta new")), 422, "bad_record")
    s.restart(kill=True)
    all_again()
    first = s.put("/ta/raced", body=b"1", headers=keyed("pipelined"))
    with s.connect() as sock: # refused and looked up between others of one connection, in order
        one = b"PUT /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nIdempotency-Key: %s\r\nContent-Length: %d\r\n\r\n%s"
        sock.sendall(one % (b"ta/1", b"ta0", 7, b'{"n":1}') + one % (b"ta/raced", b"pipelined", 1, b"1") + one % (b"no/1", b"x", 1, b"1"))
        pending, got = b"", []
        for _ in range(3):
            reply, pending = read_reply(sock, pending=pending)
            got.append(reply)
    assert [r.status for r in got] == [201, 201, 404], got
    same(first, got[1])


def check_condition_of_a_repeat(s):
    """It fails since the first has been done: also where a helper looks before the writer does."""
    for size in 10, 300_000:
        put = expect(s.put("/r/cond", body=json.dumps({"n": 1, "s": "x" * size})), 201)
        more = keyed(f"cond{size}", **{"If-Match": put.header("ETag"), "Content-Type": "application/merge-patch+json"})
        first = expect(s.request("PATCH", "/r/cond", b'{"n":2}', more), 200)
        same(first, s.request("PATCH", "/r/cond", b'{"n":2}', more))
        expect(s.request("PATCH", "/r/cond", b'{"n":2}', {**more, "Idempotency-Key": "other"}), 412, "condition_failed")
        expect(s.request("PATCH", "/r/cond", b'{"n":3}', more), 422, "idempotency_mismatch")
        expect(s.delete("/r/cond"), 200)
        same(first, s.request("PATCH", "/r/cond", b'{"n":2}', more))


def check_long_edits_at_once(s):
    """Of many that race only one is done, and none hears that its condition has failed."""
    put = expect(s.put("/r/race", body=json.dumps({"n": 1, "s": "x" * 300_000})), 201)
    more = keyed("race", **{"If-Match": put.header("ETag"), "Content-Type": "application/json-patch+json"})
    replies = []

    def send():
        replies.append(s.request("PATCH", "/r/race", b'[{"op":"increment","path":"/n","by":1}]', more))

    threads = [threading.Thread(target=send) for _ in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert {r.status for r in replies} == {200} and len({r.header("ETag") for r in replies}) == 1, replies
    assert sum(r.header("Idempotency-Replayed") is None for r in replies) == 1
    assert s.get("/r/get/race/n").body == b"2"


# ---- the registry ----


def of_schema(schema):
    return json.dumps({"schema": schema})


def fails(reply, status, code):
    assert reply.status == status and reply.json()["error_code"] == code, reply
    assert set(reply.json()) == {"error_code", "message"}, reply


def check_registry(s):
    def both(method, target, body, key):
        return twice(s, method, target, body, keyed(key, **REGISTRY))

    for name in "sub", "sub%3Aject": # one that is a type, and one that is none
        first = expect(both("POST", f"/subjects/{name}/versions", of_schema('"int"'), name + "1"), 200)
        expect(both("POST", f"/subjects/{name}/versions", of_schema('"long"'), name + "2"), 200)
        same(first, s.request("POST", f"/subjects/{name}/versions", of_schema('"int"'), keyed(name + "1", **REGISTRY)))
        assert s.get(f"/subjects/{name}/versions").json() == [1, 2]
        fails(s.request("POST", f"/subjects/{name}/versions", of_schema('"float"'), keyed(name + "1", **REGISTRY)), 422, 422)
        fails(s.request("POST", f"/subjects/{name}9/versions", of_schema('"int"'), keyed(name + "1", **REGISTRY)), 422, 422)
        assert expect(both("PUT", f"/config/{name}", '{"compatibility":"NONE"}', name + "3"), 200).json() == {"compatibility": "NONE"}
        expect(both("PUT", f"/mode/{name}", '{"mode":"READONLY"}', name + "4"), 200)
        same(first, s.request("POST", f"/subjects/{name}/versions", of_schema('"int"'), keyed(name + "1", **REGISTRY)))
        expect(both("DELETE", f"/mode/{name}", None, name + "5"), 200)
        expect(both("DELETE", f"/config/{name}", None, name + "6"), 200)
        assert both("DELETE", f"/subjects/{name}/versions/1", None, name + "7").body == b"1"
        assert both("DELETE", f"/subjects/{name}/versions/1?permanent=true", None, name + "8").body == b"1"
        fails(s.request("DELETE", f"/subjects/{name}/versions/1", None, keyed(name + "9", **REGISTRY)), 404, 40402)
        assert both("DELETE", f"/subjects/{name}", None, name + "10").body == b"[2]"
        gone = both("DELETE", f"/subjects/{name}?permanent=true", None, name + "11")
        assert gone.body == b"[2]"
        fails(s.request("DELETE", f"/subjects/{name}", None, keyed(name + "11", **REGISTRY)), 422, 422)
        fails(s.request("DELETE", f"/subjects/{name}", None, keyed(name + "12", **REGISTRY)), 404, 40401)
        same(first, s.request("POST", f"/subjects/{name}/versions", of_schema('"int"'), keyed(name + "1", **REGISTRY)))
        fails(s.request("GET", f"/subjects/{name}/versions", None), 404, 40401)
        s.restart(kill=True)
        same(gone, s.request("DELETE", f"/subjects/{name}?permanent=true", None, keyed(name + "11", **REGISTRY)))
        same(first, s.request("POST", f"/subjects/{name}/versions", of_schema('"int"'), keyed(name + "1", **REGISTRY)))
    expect(both("PUT", "/config", '{"compatibility":"FULL"}', "global 1"), 200)
    expect(both("PUT", "/mode", '{"mode":"READWRITE"}', "global 2"), 200)
    expect(both("DELETE", "/mode", None, "global 3"), 200)
    expect(both("DELETE", "/config", None, "global 4"), 200)
    warned = expect(both("POST", "/subjects/oddly/versions", of_schema(ODD), "odd sub"), 200)
    assert warned.header("Schema-Warning"), warned


def check_registry_forms(s):
    """A repeat is answered in the form that it asks for, as any request."""
    for accept in "application/json", "application/vnd.schemaregistry+json":
        reply = s.request("PUT", "/config/form", '{"compatibility":"FULL"}', keyed("form", Accept=accept, **REGISTRY))
        assert expect(reply, 200).header("Content-Type") == accept, reply
    reply = s.request("PUT", "/config/form", '{"compatibility":"FULL"}', keyed("form", Accept="text/html", **REGISTRY))
    assert reply.status == 406, reply
    looked = s.request("POST", "/compatibility/subjects/form/versions", of_schema('"int"'), keyed("form", **REGISTRY))
    assert expect(looked, 200).header("Idempotency-Replayed") is None # it writes nothing


def check_long_lists(s):
    """A list that is longer than what is remembered is remembered by its runs."""
    expect(s.request("PUT", "/config/many", '{"compatibility":"NONE"}', REGISTRY), 200)
    for i in range(1100):
        schema = json.dumps({"type": "enum", "name": "E", "symbols": ["A"], "doc": "", "x": i})
        expect(s.request("POST", "/subjects/many/versions", of_schema(schema), REGISTRY), 200)
    expect(s.delete("/subjects/many/versions/17"), 200)
    first = expect(twice(s, "DELETE", "/subjects/many", None, keyed("many")), 200)
    assert first.json() == [i + 1 for i in range(1100) if i != 16], first
    s.restart(kill=True)
    same(first, s.request("DELETE", "/subjects/many", None, keyed("many")))


def check_schemas_at_once(s):
    """Many send the same: one does it, and whoever has the answer finds the type."""
    for i in range(5):
        replies = []

        def send():
            replies.append((s.post(f"/putschema/once{i}", body=SCHEMA, headers=keyed(f"once{i}")), s.get(f"/getschema/once{i}").status))

        threads = [threading.Thread(target=send) for _ in range(12)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert {(r.status, found) for r, found in replies} == {(200, 200)}, replies
        assert len({r.header("ETag") for r, _ in replies}) == 1
        assert sum(r.header("Idempotency-Replayed") is None for r, _ in replies) == 1
        assert versions(s, f"once{i}") == [1]


def check_schemas_restart(s):
    for kill in False, True:
        name = f"sr{int(kill)}"
        put = expect(s.post(f"/putschema/{name}", body=SCHEMA, headers=keyed(name)), 200)
        drop = expect(s.post(f"/delschema/{name}", headers=keyed(name + "d")), 200)
        s.restart(kill=kill)
        same(drop, s.post(f"/delschema/{name}", headers=keyed(name + "d")))
        same(put, s.post(f"/putschema/{name}", body=SCHEMA, headers=keyed(name)))
        expect(s.get(f"/getschema/{name}"), 404, "no_type")


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
                      check_raw, check_at_once, check_long_at_once, check_pipelined, check_restart, check_putschema, check_putschema_failures,
                      check_delschema, check_type_is_another, check_condition_of_a_repeat, check_long_edits_at_once, check_registry,
                      check_registry_forms, check_long_lists, check_schemas_at_once, check_schemas_restart):
            check(s)
            print(check.__name__)
    check_ttl()
    print("ok")


if __name__ == "__main__":
    main()
