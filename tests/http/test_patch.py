"""tests/http/test_patch.py - PATCH /{type}/{id}: JSON Merge Patch, JSON Patch and counters, over HTTP. What patches make of
data is tests/unit/schema/test_merge.c and test_patch.c; here: the media types, the answers, conditions, many clients."""

import json
import selectors
import socket
import threading

from avrod import Server, sanitized
from edge import HOST

SCHEMA = {"type": "record", "name": "R", "fields": [
    {"name": "n", "type": "int", "default": 0},
    {"name": "name", "type": "string"},
    {"name": "nick", "type": ["null", "string"], "default": None},
    {"name": "day", "type": {"type": "int", "logicalType": "date"}, "default": 0},
    {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []},
    {"name": "counts", "type": {"type": "map", "values": "long"}, "default": {}}]}
MERGE, PATCH, TYPES = "application/merge-patch+json", "application/json-patch+json", \
    "application/merge-patch+json, application/json-patch+json, application/json"


def expect(reply, status, code=None):
    assert reply.status == status, reply
    if code:
        assert reply.json()["code"] == code, reply
    return reply


def patch(s, target, body, content_type=MERGE, **headers):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    if content_type is not None:
        fields["Content-Type"] = content_type
    return s.request("PATCH", target, body=body, headers=fields)


def fresh(s, target="/r/1"):
    reply = s.put(target, body=b'{"n":1,"name":"a","nick":"b","tags":["x"],"counts":{"k":1}}')
    assert reply.status in (200, 201), reply
    return reply


def check_merge(s):
    fresh(s)
    for content_type in (MERGE, "application/json", None, "application/x-www-form-urlencoded", "text/plain",
                         "Application/Merge-Patch+JSON; charset=utf-8"):
        before = s.get("/r/1").header("ETag")
        reply = expect(patch(s, "/r/1", {"nick": None, "counts": {"k": None, "l": 2}, "n": 2}, content_type), 200)
        assert reply.body == b"OK" and reply.header("Changed") in ("3", "4"), reply
        got = s.get("/r/1")
        assert reply.header("ETag") == got.header("ETag") != before
        assert got.json() == {"n": 2, "name": "a", "nick": None, "day": 0, "tags": ["x"], "counts": {"l": 2}}
    reply = expect(patch(s, "/r/1", {}), 200)
    assert reply.header("Changed") == "0" and reply.header("ETag") == s.get("/r/1").header("ETag") == got.header("ETag")
    reply = expect(patch(s, "/r/1", {"name": None, "n": "x", "counts": {"z": []}, "no": 1}), 422, "bad_record")
    assert [(e["pointer"], e["code"]) for e in reply.json()["errors"]] == [
        ("/name", "type"), ("/n", "type"), ("/counts/z", "type"), ("/no", "unknown")]
    assert s.get("/r/1").header("ETag") == got.header("ETag")
    expect(patch(s, "/r/1", b'{"n":'), 400, "bad_json")
    expect(patch(s, "/r/1", [], MERGE), 422, "bad_record")
    expect(patch(s, "/r/none", {"n": 1}), 404, "no_record")
    expect(patch(s, "/none/1", {"n": 1}), 404, "no_type")


def check_json_patch(s):
    fresh(s)
    reply = expect(patch(s, "/r/1", [
        {"op": "test", "path": "/name", "value": "a"}, {"op": "add", "path": "/tags/-", "value": "y"},
        {"op": "increment", "path": "/counts/k", "by": 41}, {"op": "move", "from": "/nick", "path": "/counts/~1"},
    ], PATCH), 422, "bad_record")
    assert reply.json()["operation"] == 3 and reply.json()["errors"][0]["pointer"] == "/counts/~1"
    reply = expect(patch(s, "/r/1", [
        {"op": "add", "path": "/tags/-", "value": "y"}, {"op": "increment", "path": "/counts/k", "by": 41},
        {"op": "move", "from": "/nick", "path": "/name"}], PATCH), 200)
    assert reply.header("Changed") == "4"
    got = s.get("/r/1")
    assert got.json() == {"n": 1, "name": "b", "nick": None, "day": 0, "tags": ["x", "y"], "counts": {"k": 42}}
    reply = expect(patch(s, "/r/1", [{"op": "remove", "path": "/tags/0"}, {"op": "test", "path": "/n", "value": 2}], PATCH),
                   409, "test_failed")
    assert reply.json()["operation"] == 1
    reply = expect(patch(s, "/r/1", [{"op": "remove", "path": "/tags/2"}], PATCH), 422, "not_applicable")
    assert reply.json()["operation"] == 0
    reply = expect(patch(s, "/r/1", [{"op": "test", "path": "/n", "value": 1}, {"op": "no", "path": ""}], PATCH), 400, "bad_patch")
    assert reply.json()["operation"] == 1
    expect(patch(s, "/r/1", {}, PATCH), 400, "bad_patch")
    reply = expect(patch(s, "/r/1", [{"op": "increment", "path": "/n", "by": 2147483647}], PATCH), 422, "bad_record")
    assert reply.json()["errors"][0]["code"] == "range"
    expect(patch(s, "/r/1", [{"op": "add", "path": "/n", "value": 1}] * 1001, PATCH), 400, "bad_patch")
    assert s.get("/r/1").header("ETag") == got.header("ETag")
    reply = expect(patch(s, "/r/1", [{"op": "test", "path": "/n", "value": 1}], PATCH), 200)
    assert reply.header("Changed") == "0" and reply.header("ETag") == got.header("ETag")


def check_media_types(s):
    fresh(s)
    for content_type in ("application/xml", "avro/json", "avro/binary", "text/html"):
        reply = expect(patch(s, "/r/1", {}, content_type), 415, "unsupported_type")
        assert reply.header("Accept-Patch") == TYPES
    for content_type in (MERGE, PATCH, "application/json"):
        reply = expect(patch(s, "/r/1", [], content_type + "; charset=latin1"), 415, "unsupported_type")
        assert reply.header("Accept-Patch") == TYPES
    expect(patch(s, "/r/1", {}, MERGE, Content_Encoding="gzip"), 415, "unsupported_coding")
    reply = expect(s.request("OPTIONS", "/r/1"), 204)
    assert reply.header("Accept-Patch") == TYPES and "PATCH" in reply.header("Allow").split(", ")
    assert expect(s.request("OPTIONS", "/ping"), 204).header("Accept-Patch") is None
    expect(s.put("/raw/1", body=b"x"), 201)
    expect(patch(s, "/raw/1", b'"y"'), 415, "unsupported_type")
    assert s.get("/raw/1").body == b"x"


def check_conditions(s):
    first = fresh(s).header("ETag")
    second = expect(patch(s, "/r/1", {"n": 2}, If_Match=first), 200).header("ETag")
    reply = expect(patch(s, "/r/1", {"n": 3}, If_Match=first), 412, "condition_failed")
    assert reply.json()["current"]["record"]["n"] == 2
    expect(patch(s, "/r/1", [{"op": "increment", "path": "/n", "by": 1}], PATCH, If_None_Match="*"), 412)
    expect(patch(s, "/r/1", {"n": "x"}, If_Match=first), 412)
    expect(patch(s, "/r/1", {"n": 3}, If_Match=f"W/{second}"), 412)
    expect(patch(s, "/r/1", {}, If_Match=f"{first}, {second}"), 200)
    expect(patch(s, "/r/1", {"n": 3}, If_Match="*"), 200)
    expect(patch(s, "/r/none", {"n": 3}, If_Match="*"), 412)
    reply = expect(patch(s, "/r/1?dry_run=1", {"n": 9}), 200)
    assert reply.header("Dry-Run") == "1" and reply.header("ETag") is None and reply.header("Changed") == "1"
    expect(patch(s, "/r/1?dry_run=1", {"n": "9"}), 422, "bad_record")
    expect(patch(s, "/r/1?dry_run=1", [{"op": "test", "path": "/n", "value": 9}], PATCH), 409, "test_failed")
    assert s.get("/r/1").json()["n"] == 3 and s.get("/r/1").header("ETag") != second
    assert expect(patch(s, "/r/1?timing=1", {"n": 4}), 200).header("Server-Timing")
    expect(patch(s, "/r/1?version=1", {"n": 4}), 400, "unknown_parameter")


def check_forms(s):
    fresh(s)
    expect(patch(s, "/r/1?logical=text&int64=string", {"day": "1970-01-03", "counts": {"k": "9223372036854775807"}}), 200)
    assert s.get("/r/1").json()["day"] == 2
    expect(patch(s, "/r/1?logical=text", [{"op": "test", "path": "/day", "value": "1970-01-03"},
                                          {"op": "increment", "path": "/day", "by": 1}], PATCH), 200)
    assert s.get("/r/1?logical=text").json()["day"] == "1970-01-04"
    expect(patch(s, "/r/1", {"day": "1970-01-03"}), 422, "bad_record")
    for by, status in ("-3", 200), (-2, 200), ("9223372036854775807", 422), ("1.5", 400), ("01", 400), ("", 400), ("-", 400):
        expect(patch(s, "/r/1?int64=string", [{"op": "increment", "path": "/counts/k", "by": by}], PATCH), status)
        if status == 200:
            expect(patch(s, "/r/1", [{"op": "increment", "path": "/counts/k", "by": str(by)}], PATCH), 400, "bad_patch")
    assert s.get("/r/1").json()["counts"]["k"] == 9223372036854775802


def check_long(s):
    """Bodies and records that are a helper's."""
    record = {"name": "long", "tags": ["x" * 1000] * 1000}
    expect(s.put("/r/long", body=json.dumps(record).encode()), 201)
    expect(patch(s, "/r/long", [{"op": "remove", "path": f"/tags/{i}"} for i in range(999, 499, -1)], PATCH), 200)
    assert len(s.get("/r/long").json()["tags"]) == 500
    counts = {f"key {i}": i for i in range(20000)}
    assert expect(patch(s, "/r/long", {"counts": counts}), 200).header("Changed") == "20000"
    assert s.get("/r/long").json()["counts"] == counts
    expect(patch(s, "/r/long", {"counts": {**{name: None for name in counts}, "z": "x"}}), 422, "bad_record")
    expect(patch(s, "/r/long", {"counts": {name: None for name in counts}}), 200)
    assert s.get("/r/long").json()["counts"] == {}
    expect(patch(s, "/r/long", [{"op": "replace", "path": "/tags", "value": []}], PATCH), 200)
    assert s.get("/r/long").json() == {"n": 0, "name": "long", "nick": None, "day": 0, "tags": [], "counts": {}}


def check_other_versions(s):
    """A record of an older version is patched as the latest shows it, and is then one of it."""
    fresh(s, "/r/old")
    later = json.loads(json.dumps(SCHEMA))
    later["fields"].append({"name": "added", "type": "int", "default": 5})
    expect(s.post("/putschema/r", body=json.dumps(later).encode()), 200)
    reply = expect(patch(s, "/r/old", [{"op": "increment", "path": "/added", "by": 1}], PATCH), 200)
    assert reply.header("ETag").endswith('-2"') and s.get("/r/old").json()["added"] == 6
    expect(patch(s, "/r/old", {"added": 7}, Schema_Version="2"), 200)
    expect(patch(s, "/r/old", {"n": 8}, Schema_Version="1"), 409, "other_version")
    expect(patch(s, "/r/old", {"n": 8}, Schema_Version="3"), 404, "no_version")
    expect(patch(s, "/r/old", {"n": 8}, Schema_Version="x"), 400)


def check_merges_of_different_fields(s):
    """Patches of one record from many connections: each keeps what the others have done."""
    expect(s.put("/r/many", body=b'{"name":"many"}'), 201)
    failed = []

    def work(key):
        for i in range(50):
            reply = patch(s, "/r/many", {"counts": {key: i}}) if i % 2 else \
                patch(s, "/r/many", [{"op": "add", "path": f"/counts/{key}", "value": i}], PATCH)
            if reply.status != 200:
                failed.append(reply)

    threads = [threading.Thread(target=work, args=(f"k{i}",)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed, failed
    assert s.get("/r/many").json()["counts"] == {f"k{i}": 49 for i in range(8)}


def check_counter(s):
    """A hundred connections increment one record, a thousand times each."""
    connections, times = 100, 20 if sanitized() else 1000
    body = b'[{"op":"increment","path":"/n","by":1}]'
    request = b"PATCH /r/counter HTTP/1.1\r\n%bContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b" % (
        HOST, PATCH.encode(), len(body), body)
    expect(s.put("/r/counter", body=b'{"name":"counter"}'), 201)
    selector = selectors.DefaultSelector()
    for _ in range(connections):
        c = s.connect()
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        c.sendall(request)
        selector.register(c, selectors.EVENT_READ, [times, b""])
    while selector.get_map():
        for key, _ in selector.select():
            state = key.data
            got = key.fileobj.recv(65536)
            assert got, "the connection is gone"
            state[1] += got
            if not state[1].endswith(b"\r\n\r\nOK"):
                assert len(state[1]) < 2000, state[1]
                continue
            assert state[1].startswith(b"HTTP/1.1 200 "), state[1]
            state[0], state[1] = state[0] - 1, b""
            if state[0]:
                key.fileobj.sendall(request)
            else:
                selector.unregister(key.fileobj)
                key.fileobj.close()
    assert s.get("/r/counter").json()["n"] == connections * times, s.get("/r/counter").json()


def check_astore():
    """An absent record is made by field puts and updates, not by patches."""
    with Server("--compat", "astore") as s:
        expect(s.post("/putschema/r", body=json.dumps(SCHEMA).encode()), 200)
        expect(patch(s, "/r/1", {"n": 1}), 404, "no_record")
        expect(s.put("/r/1", body=b"{}"), 201)
        expect(patch(s, "/r/1", {"n": 1, "no": {"x": None}}), 200)
        assert s.get("/r/1").json()["n"] == 1


def main():
    with Server() as s:
        expect(s.post("/putschema/r", body=json.dumps(SCHEMA).encode()), 200)
        expect(s.post("/putschema/raw", body=b'"bytes"'), 200)
        for check in (check_merge, check_json_patch, check_media_types, check_conditions, check_forms, check_long,
                      check_other_versions, check_merges_of_different_fields, check_counter):
            check(s)
        s.restart()
        assert s.get("/r/many").json()["counts"]["k0"] == 49
    check_astore()
    print("ok")


if __name__ == "__main__":
    main()
