"""tests/http/test_type_limits.py - max_record_bytes, max_items and max_depth of a type: whichever way a record comes in or grows,
it is within them; what is there already stays readable."""

import json

from avrod import Server

BINARY, MERGE, PATCH = "avro/binary", "application/merge-patch+json", "application/json-patch+json"

LIST = ["null", {"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"], "default": None}]}]
SCHEMA = {"type": "record", "name": "R", "fields": [
    {"name": "text", "type": "string", "default": ""},
    {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []},
    {"name": "counts", "type": {"type": "map", "values": "long"}, "default": {}},
    {"name": "nothing", "type": {"type": "array", "items": "null"}, "default": []},
    {"name": "list", "type": LIST, "default": None},
    {"name": "either", "type": ["null", {"type": "array", "items": "int"},
                                {"type": "map", "values": {"type": "array", "items": "int"}}], "default": None},
    {"name": "n", "type": "int", "default": 0}]}


def expect(reply, status, code=None, pointer=None, problem=None):
    assert reply.status == status, reply
    if code:
        assert reply.json()["code"] == code, reply
    if pointer is not None:
        assert [(e["pointer"], e["code"]) for e in reply.json()["errors"]] == [(pointer, problem)], reply
    return reply


def put(s, target, value, content_type="application/json", **kw):
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return s.put(target, body=body, headers={"Content-Type": content_type, **kw})


def patch(s, target, value, content_type=MERGE):
    return s.request("PATCH", target, body=json.dumps(value).encode(), headers={"Content-Type": content_type})


def path(s, verb, target, *lines):
    name, record = target[1:].split("/")
    return s.post(f"/{name}/{verb}/{record}", body="\n".join(lines).encode())


def putschema(s, name, schema, query=""):
    return expect(s.post(f"/putschema/{name}?{query}", body=json.dumps(schema).encode()), 200)


def options_of(s, name):
    shown = [t for t in s.get("/schemas").json() if t["name"] == name][0]
    return shown["max_record_bytes"], shown["max_items"], shown["max_depth"]


def nested(depth):
    """A record of so many levels."""
    value = None
    for _ in range(depth - 1):
        value = {"next": value}
    return {"list": value}


def as_binary(s, value):
    """What an unlimited type makes of it."""
    expect(put(s, "/free/put/x", value), 200)
    return s.get("/free/x", headers={"Accept": BINARY}).body


def check_options(s):
    putschema(s, "o", SCHEMA)
    assert options_of(s, "o") == (None, None, None)
    first = putschema(s, "o", SCHEMA, "max_record_bytes=100&max_items=2&max_depth=3")
    assert first.header("Schema-Version") == "1" and options_of(s, "o") == (100, 2, 3)
    putschema(s, "o", SCHEMA, "max_items=5&ttl=60")
    assert options_of(s, "o") == (100, 5, 3), "what is not given stays"
    before = s.get("/getschema/o").header("ETag")
    assert putschema(s, "o", SCHEMA, "max_items=5").header("ETag") == before, "nothing changed"
    putschema(s, "o", SCHEMA, "max_record_bytes=none&max_depth=none")
    assert options_of(s, "o") == (None, 5, None)
    putschema(s, "o", SCHEMA, "max_record_bytes=16777216&max_items=16777216&max_depth=1024")
    for query in ("max_items=0", "max_items=-1", "max_items=", "max_items=16777217", "max_items=1e3", "max_depth=1025",
                  "max_record_bytes=16777217", "max_record_bytes=None", "max_depth=1&max_depth=2"):
        expect(s.post(f"/putschema/o?{query}", body=json.dumps(SCHEMA).encode()), 400, "bad_parameter")
    expect(s.get("/o/x?max_items=1"), 400, "unknown_parameter")
    assert options_of(s, "o") == (16777216, 16777216, 1024)
    putschema(s, "o", SCHEMA, "max_record_bytes=7&max_items=8&max_depth=9")
    s.restart()
    assert options_of(s, "o") == (7, 8, 9), "they are stored"
    s.restart(kill=True)
    assert options_of(s, "o") == (7, 8, 9)


def refuse_everywhere(s, name, big, status, code, pointer=None, problem=None, merge=None, paths=()):
    """`big` is too much for the type, which holds a record 1 that is not; merge grows that one."""
    target, before = f"/{name}/1", s.get(f"/{name}/1")
    binary = as_binary(s, big)
    for query in ("", "?dry_run=1", "?benchmark_only=5"):
        for verb in (target, f"/{name}/put/1", f"/{name}/new"):
            expect(put(s, verb + query, big), status, code, pointer, problem)
            expect(put(s, verb + query, binary, BINARY), status, code, pointer, problem)
    single = s.get("/free/x", headers={"Accept": "avro/single-object"}).body
    expect(put(s, target, single, "avro/single-object"), status, code, pointer, problem)
    tagged = s.get("/free/x", headers={"Accept": "avro/json"}).body
    expect(put(s, target, tagged, "avro/json"), status, code)
    txn = {"operations": [{"op": "put", "type": name, "id": "1", "record": {}},
                          {"op": "put", "type": name, "id": "2", "record": big}]}
    assert expect(s.post("/_txn", body=json.dumps(txn).encode()), status, code).json()["operation"] == 1
    expect(patch(s, target, merge), status, code)
    expect(patch(s, target + "?dry_run=1", merge), status, code)
    txn = {"operations": [{"op": "patch", "type": name, "id": "1", "merge": merge}]}
    assert expect(s.post("/_txn", body=json.dumps(txn).encode()), status, code).json()["operation"] == 0
    field, value = next(iter(merge.items()))
    expect(s.post(f"/{name}/put/1/{field}", body=json.dumps(value).encode()), status, code)
    expect(patch(s, target, [{"op": "replace", "path": f"/{field}", "value": value}], PATCH), status, code)
    for verb, *lines in paths:
        expect(path(s, verb, target, *lines), status, code)
    after = s.get(target)
    assert after.body == before.body and after.header("ETag") == before.header("ETag"), "an error changes nothing"
    expect(s.get(f"/{name}/2"), 404)
    expect(s.get(f"/{name}/new"), 404)


def check_bytes(s):
    putschema(s, "bytes", SCHEMA, "max_record_bytes=60")
    fits = {"text": "x" * 53}
    assert len(as_binary(s, fits)) == 60
    expect(put(s, "/bytes/1", fits), 201)
    expect(put(s, "/bytes/1", as_binary(s, fits), BINARY), 200)
    big = {"text": "x" * 54}
    refuse_everywhere(s, "bytes", big, 413, "record_too_large", merge=big, paths=[
        ("insert", ".tags", '"a"'), ("update", ".text", json.dumps("x" * 54)), ("update", ".n", "64")])
    expect(path(s, "update", "/bytes/1", ".n", "63"), 200)
    expect(patch(s, "/bytes/1", [{"op": "increment", "path": "/n", "by": 1}], PATCH), 413, "record_too_large")
    reply = expect(put(s, "/bytes/1", big), 413)
    assert reply.json()["detail"] == "A record of this type has at most 60 bytes of Avro; this one has 61.", reply


def check_items(s):
    putschema(s, "items", SCHEMA, "max_items=3")
    expect(put(s, "/items/1", {"tags": ["a", "b", "c"], "counts": {"a": 1, "b": 2, "c": 3}, "nothing": [None] * 3}), 201)
    refuse_everywhere(s, "items", {"tags": ["a"] * 4}, 422, "too_many_items", "/tags", "items", {"tags": ["a"] * 4}, [
        ("insert", ".tags", '"d"'), ("insertall", ".tags", '["d"]'), ("insert", ".counts", '{"d":1}')])
    four = {"a": 1, "b": 2, "c": 3, "d": 4}
    refuse_everywhere(s, "items", {"counts": four}, 422, "too_many_items", "/counts", "items", {"counts": four})
    expect(patch(s, "/items/1", {"counts": {"d": 1}}), 422, "too_many_items", "/counts", "items")
    refuse_everywhere(s, "items", {"nothing": [None] * 4}, 422, "too_many_items", "/nothing", "items",
                      {"nothing": [None] * 4})
    # the pointer leads into the body as it was sent
    for either, pointer in (([1, 2, 3, 4], "/either"), ({"array": [1, 2, 3, 4]}, "/either/array"),
                            ({"a~/b": [1] * 4}, "/either/a~0~1b"), ({"map": {"k": [1] * 4}}, "/either/map/k"),
                            ({"map": {"k": [], "l": [], "m": [], "n": []}}, "/either/map")):
        reply = expect(put(s, "/items/1", {"either": either}), 422, "too_many_items", pointer, "items")
        assert reply.json()["errors"][0]["expected"] == "3 items at the most", reply
    reply = expect(put(s, "/items/1", {"tags": ["a"] * 4, "n": "x"}), 422, "bad_record", "/n", "type")
    expect(put(s, "/items/1", b'{"tags":["a","b","c","d"],"n":0', ), 400, "bad_json")
    # by several blocks, as other writers make them
    blocks = b"\0" + b"\4\2a\2b" + b"\1\4\2c" + b"\2\2d" + b"\0" + b"\0\0\0\0\0"
    expect(put(s, "/free/x", blocks, BINARY), 200)
    expect(put(s, "/items/1", blocks, BINARY), 422, "too_many_items", "/tags", "items")
    reply = expect(path(s, "insert", "/items/1", ".tags", '"d"'), 422, "too_many_items", "/tags", "items")
    assert "With this the record would have more than 3 items" in reply.json()["detail"], reply
    # what comes and goes again on the way does not matter
    expect(patch(s, "/items/1", [{"op": "add", "path": "/tags/-", "value": "d"}, {"op": "remove", "path": "/tags/0"}],
                 PATCH), 200)
    assert s.get("/items/1").json()["tags"] == ["b", "c", "d"]
    # a default that is too much, and one that is written too early
    wide = {"type": "record", "name": "W", "fields": [
        {"name": "d", "type": {"type": "array", "items": "int"}, "default": [1, 2, 3, 4]}, {"name": "z", "type": "int"}]}
    putschema(s, "wide", wide, "max_items=3")
    expect(put(s, "/wide/1", b'{"z":1}'), 422, "too_many_items", "/d", "items")
    expect(put(s, "/wide/1", b'{"z":1,"d":[1]}'), 201)
    expect(put(s, "/wide/1", b'{"d":[1,2,3,4],"z":1}'), 422, "too_many_items", "/d", "items")


def check_depth(s):
    putschema(s, "depth", SCHEMA, "max_depth=4")
    expect(put(s, "/depth/1", nested(4)), 201)
    deep = nested(5)
    pointer = "/list/next/next/next"
    refuse_everywhere(s, "depth", deep, 422, "too_deep", pointer, "depth", deep, [
        ("update", ".list.next.next.next", '{"N":{"next":null}}')])
    reply = expect(put(s, "/depth/1", deep), 422)
    assert reply.json()["errors"][0]["expected"] == "4 levels at the most", reply
    tagged = {"list": {"N": {"next": {"N": {"next": {"N": {"next": {"N": {"next": None}}}}}}}}}
    expect(put(s, "/depth/1", tagged), 422, "too_deep", "/list/N/next/N/next/N/next/N", "depth")
    expect(patch(s, "/depth/1", [{"op": "copy", "from": "/list", "path": "/list/next/next/next"}], PATCH), 422, "too_deep")
    putschema(s, "depth", SCHEMA, "max_depth=1&unknown=ignore")
    expect(put(s, "/depth/1", {"n": 1, "more": [[[[]]]]}), 422, "too_deep", "/tags", "depth")
    flat = {"type": "record", "name": "F", "fields": [{"name": "n", "type": "int"}]}
    putschema(s, "flat", flat, "max_depth=1&unknown=ignore")
    expect(put(s, "/flat/1", {"n": 1, "more": [[[[]]]]}), 201)  # what is ignored is no part of the record


def check_raw(s):
    for schema in ("bytes", "string"):
        name = "raw_" + schema
        putschema(s, name, schema, "max_record_bytes=101")
        expect(put(s, f"/{name}/1", b"x" * 99, "text/plain"), 201)
        for query in ("", "?dry_run=1", "?benchmark_only=1"):
            expect(put(s, f"/{name}/1{query}", b"x" * 100, "text/plain"), 413, "record_too_large")
        expect(put(s, f"/{name}/1", b"\xc8\1" + b"x" * 100, BINARY), 413, "record_too_large")
        expect(put(s, f"/{name}/1", json.dumps("x" * 100).encode(), "avro/json"), 413, "record_too_large")
        txn = {"operations": [{"op": "put", "type": name, "id": "1", "record": "x" * 100}]}
        expect(s.post("/_txn", body=json.dumps(txn).encode()), 413, "record_too_large")
        expect(put(s, f"/{name}/big", b"x" * 1_000_000, "text/plain"), 413, "record_too_large")
        assert s.get(f"/{name}/1").body == b"x" * 99


def check_long(s):
    """By a helper, and in chunks."""
    putschema(s, "long", SCHEMA, "max_items=20000&max_record_bytes=3000000")
    expect(put(s, "/long/1", {"tags": ["x" * 100] * 20000}), 201)
    expect(put(s, "/long/2", {"tags": ["x"] * 20001}), 422, "too_many_items", "/tags", "items")
    expect(path(s, "insert", "/long/1", ".tags", '"y"'), 422, "too_many_items", "/tags", "items")
    expect(patch(s, "/long/1", {"text": "x" * 1000000}), 413, "record_too_large")
    expect(patch(s, "/long/1", {"n": 1}), 200)
    expect(patch(s, "/long/1", {"tags": ["a"]}), 200)


def check_what_is_there(s):
    putschema(s, "old", SCHEMA)
    big = {"text": "x" * 200, "tags": ["a"] * 9, "list": nested(8)["list"]}
    for i in range(3):
        expect(put(s, f"/old/{i}", big), 201)
    before = s.get("/old/0").body
    putschema(s, "old", SCHEMA, "max_record_bytes=100&max_items=3&max_depth=4")
    assert s.get("/old/0").body == before and s.get("/old").body.count(b"\n") == 3
    expect(s.get("/old/0?fields=tags"), 200)
    assert len(path(s, "select", "/old/0", ".tags").json()) == 9
    # what is written is within them, even if it was worse before
    expect(patch(s, "/old/0", {"text": ""}), 422)
    expect(patch(s, "/old/0", {}), 200)  # nothing changes: nothing is written
    expect(patch(s, "/old/0", {"text": "", "tags": [], "list": None}), 200)
    expect(s.delete("/old/1"), 200)
    putschema(s, "old", SCHEMA, "max_record_bytes=none&max_items=none&max_depth=none")
    expect(put(s, "/old/2", big), 200)
    # written as an earlier version
    more = json.loads(json.dumps(SCHEMA))
    more["fields"].append({"name": "wide", "type": {"type": "array", "items": "int"}, "default": [1, 2, 3, 4, 5]})
    putschema(s, "old", more, "max_items=4")
    expect(put(s, "/old/2", {"tags": ["a"] * 5}, **{"Schema-Version": "1"}), 422, "too_many_items", "/tags", "items")
    expect(put(s, "/old/2", {"tags": ["a"] * 4}, **{"Schema-Version": "1"}), 200)
    assert s.get("/old/2").json()["wide"] == [1, 2, 3, 4, 5], "reading is not limited"


def check_registry(s):
    """Its API knows no options; what a type has stays."""
    putschema(s, "reg", SCHEMA, "max_items=2")
    more = json.loads(json.dumps(SCHEMA))
    more["fields"].append({"name": "m", "type": "int", "default": 0})
    reply = s.post("/subjects/reg/versions", body=json.dumps({"schema": json.dumps(more)}).encode(),
                   headers={"Content-Type": "application/vnd.schemaregistry.v1+json"})
    expect(reply, 200)
    assert options_of(s, "reg") == (None, 2, None)
    expect(put(s, "/reg/1", {"tags": ["a"] * 3}), 422, "too_many_items")


def main():
    with Server() as s:
        putschema(s, "free", SCHEMA)
        for check in (check_options, check_bytes, check_items, check_depth, check_raw, check_long, check_what_is_there,
                      check_registry):
            check(s)
    print("ok")


if __name__ == "__main__":
    main()
