"""tests/http/test_txn.py - transactions (POST /_txn): operations on records of any types, all or nothing."""

import base64
import json
import re
import threading

from avrod import Server, sanitized

REVISIONS = re.compile(r'^"(\d+)-(\d+)"$')
PERSON = {"type": "record", "name": "P", "fields": [
    {"name": "i", "type": "int", "default": 0},
    {"name": "n", "type": "long", "default": 0},
    {"name": "d", "type": "double", "default": 0},
    {"name": "f", "type": "float", "default": 0},
    {"name": "s", "type": "string", "default": ""},
    {"name": "b", "type": "boolean", "default": False},
    {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["LOW", "MID", "HIGH"]}, "default": "LOW"},
    {"name": "u", "type": ["null", "int", "string"], "default": None},
    {"name": "o", "type": ["null", "long"], "default": None},
    {"name": "m", "type": {"type": "map", "values": "int"}, "default": {}},
    {"name": "a", "type": {"type": "array", "items": "int"}, "default": []}]}
COUNTER = {"type": "record", "name": "C", "fields": [{"name": "n", "type": "long", "default": 0},
                                                     {"name": "pad", "type": "string", "default": ""}]}
LONG = "x" * 400000  # more than the writer opens of all records of a transaction


def expect(reply, status, code=None):
    assert reply.status == status, reply
    if code:
        assert reply.json()["code"] == code, reply
    return reply


def txn(s, *operations, query="", **kw):
    return s.post("/_txn" + query, body=json.dumps({"operations": operations}).encode(), **kw)


def op(verb, type_name, ident, **members):
    return {"op": verb, "type": type_name, "id": ident, **members}


def refused(reply, status, code, at):
    expect(reply, status, code)
    assert reply.json().get("operation") == at, reply
    return reply


def revision(s, path):
    return int(REVISIONS.match(expect(s.get(path), 200).header("ETag")).group(1))


def check_every_operation(s):
    """One revision for all; the results say what each has done."""
    expect(s.put("/p/old", body=b"{}"), 201)
    expect(s.put("/p/gone", body=b"{}"), 201)
    reply = expect(txn(s, op("put", "p", "a", record={"i": 1}), op("put", "blob", "b", record="\x00\xff"),
                       op("patch", "p", "old", merge={"s": "x"}), op("delete", "p", "gone"),
                       op("patch", "p", "old", patch=[{"op": "increment", "path": "/n", "by": 2}]),
                       op("check", "p", "old", pointer="/n", **{"is": "="}, value=2),
                       op("check", "p", "gone", revision=0)), 200)
    answer = reply.json()
    n = answer["revision"]
    assert [r["op"] for r in answer["results"]] == ["put", "put", "patch", "delete", "patch", "check", "check"]
    assert [r["status"] for r in answer["results"]] == [201, 201, 200, 200, 200, 200, 200]
    assert answer["results"][0] == {"op": "put", "type": "p", "id": "a", "status": 201, "etag": f'"{n}-1"'}
    assert [r.get("etag") for r in answer["results"]] == [f'"{n}-1"'] * 3 + [None, f'"{n}-1"', None, None]
    assert revision(s, "/p/a") == revision(s, "/blob/b") == revision(s, "/p/old") == n
    assert s.get("/p/old").json()["n"] == 2 and s.get("/p/old").json()["s"] == "x"
    assert s.get("/blob/b").body == b"\x00\xff"
    expect(s.get("/p/gone"), 404)


def check_all_or_nothing(s):
    """D-61: the third fails, nothing is kept, its index is named, pointers go into its record."""
    before = revision(s, "/p/a")
    reply = refused(txn(s, op("put", "p", "a", record={"i": 2}), op("delete", "p", "old"),
                        op("put", "p", "c", record={"i": "x", "s": 5, "zz": 1})), 422, "bad_record", 2)
    assert [e["pointer"] for e in reply.json()["errors"]] == ["/i", "/s", "/zz"]
    refused(txn(s, op("put", "p", "a", record={}), op("put", "p", "c", record={}), op("delete", "p", "none")),
            404, "no_record", 2)
    refused(txn(s, op("put", "p", "a", record={}), op("put", "p", "c", record={}), op("put", "nope", "c", record={})),
            404, "no_type", 2)
    refused(txn(s, op("put", "p", "a", record={}), op("patch", "p", "a", merge={"i": 1 << 40})), 422, "bad_record", 1)
    reply = refused(txn(s, op("put", "p", "c", record={}), op("patch", "p", "a", patch=[
        {"op": "add", "path": "/i", "value": 1}, {"op": "test", "path": "/i", "value": 2}])), 409, "test_failed", 1)
    assert reply.json()["detail"].startswith("Operation 1 of the patch: "), reply
    refused(txn(s, op("put", "p", "c", record={}), op("patch", "p", "a", patch=[{"op": "nope"}])), 400, "bad_patch", 1)
    refused(txn(s, op("put", "p", "c", record={}), op("patch", "blob", "b", merge={})), 422, "not_applicable", 1)
    assert revision(s, "/p/a") == before
    expect(s.get("/p/c"), 404)
    expect(s.get("/p/old"), 200)


def check_forms(s):
    body = json.dumps({"operations": [op("put", "p", "t", record={})]}).encode()
    for kind in "text/plain", "application/json", "application/octet-stream", "application/json; charset=utf-8":
        expect(s.post("/_txn", body=body, headers={"Content-Type": kind}), 200)
    expect(s.post("/_txn", body=body, headers={"Content-Type": "application/xml"}), 415, "unsupported_type")
    expect(s.post("/_txn", body=body, headers={"If-Match": "*"}), 400, "bad_request")
    expect(s.put("/_txn", body=body), 405)
    assert expect(s.post("/_txn?bytes=base64", body=json.dumps({"operations": [
        op("put", "blob", "64", record="AAEC")]}).encode()), 200).json()["results"][0]["status"] == 201
    assert s.get("/blob/64").body == b"\x00\x01\x02"
    assert expect(txn(s), 200).json() == {"revision": None, "results": []}


def check_bodies(s):
    for body in b"", b"{", b'{"operations":[]} x', b'{"operations":[{"op":"put","op":"put"}]}':
        expect(s.post("/_txn", body=body), 400, "bad_json")
    for body in b"[]", b"{}", b'{"operations":{}}', b'{"operations":[],"more":1}', b"1":
        expect(s.post("/_txn", body=body), 400, "bad_transaction")
    good = op("delete", "p", "old")
    for bad in ({}, 5, {"op": 5}, op("nope", "p", "x"), {"op": "delete", "type": "p"}, {"op": "delete", "id": "x"},
                op("delete", "p", "x", record={}), op("put", "p", "x"), op("put", "p", "x", record={}, merge={}),
                op("put", "p", "x", record={}, more=1), op("patch", "p", "x"), op("patch", "p", "x", merge={}, patch=[]),
                op("check", "p", "x"), op("check", "p", "x", revision=-1), op("check", "p", "x", revision=1.5),
                op("check", "p", "x", revision=1, value=1), op("check", "p", "x", pointer="/i", value=1),
                op("check", "p", "x", pointer="/i", **{"is": "=="}, value=1), op("put", "p", "x", record={}, ttl=0),
                op("put", "p", "x", record={}, ttl="5"), op("delete", "p", ""), op("delete", "p", 5),
                op("check", "p", "x", revision=1, if_match="*"), {**good, "id_base64": "AA=="},
                {"op": "delete", "type": "p", "id_base64": "A"}):
        refused(txn(s, good, bad), 400, "bad_transaction", 1)
    refused(txn(s, good, op("delete", "p", "x", if_match="no tag")), 400, "bad_request", 1)
    refused(txn(s, good, op("delete", "p", "x", if_match="*", if_none_match="*")), 400, "bad_request", 1)
    refused(txn(s, good, op("delete", "p", "x" * 481)), 414, "id_too_long", 1)
    expect(s.get("/p/old"), 200)


def check_tags(s):
    """They are those of a get with the same parameters."""
    expect(s.post("/putschema/spelled?int64=string", body=json.dumps(COUNTER).encode()), 200)
    for query in "", "?logical=text", "?int64=number", "?bytes=base64":
        reply = expect(txn(s, op("put", "spelled", "1", record={"n": "5" if "number" not in query else 5}),
                           op("put", "blob", "1", record="AA=="), op("put", "p", "1", record={}), query=query), 200)
        for result, path in zip(reply.json()["results"], ("/spelled/1", "/blob/1", "/p/1")):
            assert result["etag"] == s.get(path + query).header("ETag"), (query, result, s.get(path + query))


def check_conditions(s):
    made = expect(s.put("/p/k", body=b'{"i":1}'), 201).header("ETag")
    n = int(REVISIONS.match(made).group(1))
    current = refused(txn(s, op("put", "p", "a", record={}), op("put", "p", "k", record={}, if_none_match="*")),
                      412, "condition_failed", 1).json()["current"]
    assert current["revision"] == n and current["record"]["i"] == 1
    refused(txn(s, op("put", "p", "k", record={}, if_match='"1-1"')), 412, "condition_failed", 0)
    refused(txn(s, op("delete", "p", "k", if_match=f'W/{made}')), 412, "condition_failed", 0)
    refused(txn(s, op("patch", "p", "k", merge={}, if_none_match=made)), 412, "condition_failed", 0)
    reply = refused(txn(s, op("put", "p", "absent", record={}, if_match="*")), 412, "condition_failed", 0)
    assert reply.json()["current"] is None and reply.header("ETag") is None
    refused(txn(s, op("check", "p", "k", revision=n + 1)), 412, "condition_failed", 0)
    refused(txn(s, op("check", "p", "k", revision=0)), 412, "condition_failed", 0)
    expect(txn(s, op("check", "p", "k", revision=n), op("put", "p", "k", record={"i": 2}, if_match=f'"1-1", {made}')), 200)
    assert s.get("/p/k").json()["i"] == 2


def check_same_record_twice(s):
    """Each sees those before it; what no one can name yet matches no tag."""
    reply = expect(txn(s, op("put", "p", "w", record={"i": 1}), op("patch", "p", "w", merge={"s": "y"}),
                       op("delete", "p", "w"), op("put", "p", "w", record={"i": 3}, if_none_match="*"),
                       op("check", "p", "w", pointer="/i", **{"is": "="}, value=3)), 200)
    assert [r["status"] for r in reply.json()["results"]] == [201, 200, 200, 201, 200]
    assert s.get("/p/w").json()["i"] == 3 and s.get("/p/w").json()["s"] == ""
    refused(txn(s, op("delete", "p", "w"), op("delete", "p", "w")), 404, "no_record", 1)
    refused(txn(s, op("put", "p", "w", record={}), op("check", "p", "w", revision=revision(s, "/p/w"))), 412,
            "condition_failed", 1)
    expect(txn(s, op("put", "p", "none", record={}), op("delete", "p", "none")), 200)
    expect(s.get("/p/none"), 404)
    before = revision(s, "/p/w")
    reply = expect(txn(s, op("patch", "p", "w", merge={})), 200).json()
    assert reply == {"revision": None, "results": [
        {"op": "patch", "type": "p", "id": "w", "status": 200, "etag": f'"{before}-1"'}]}


def check_claims(s):
    """A check of a value, by every comparison, on every kind of it."""
    expect(s.put("/p/v", body=json.dumps({
        "i": 5, "n": 1 << 53, "d": 0.5, "f": 0.1, "s": "m", "b": True, "e": "MID", "u": {"int": 7}, "o": None,
        "m": {"k": 1}, "a": [1, 2]}).encode()), 201)
    cases = [("/i", 4, ">"), ("/i", 5, "="), ("/i", 6, "<"), ("/i", 4.5, ">"), ("/i", 5.5, "<"), ("/i", 1e30, "<"),
             ("/i", -1e300, ">"), ("/i", 5.0, "="), ("/i", None, "?"), ("/i", 1 << 40, "<"),
             ("/n", (1 << 53) + 1, "<"), ("/n", 1 << 53, "="), ("/n", (1 << 53) - 1, ">"), ("/n", 9007199254740992.0, "="),
             ("/d", 0.5, "="), ("/d", 0.25, ">"), ("/d", 1, "<"), ("/d", "NaN", "?"), ("/f", 0.1, "="),
             ("/s", "m", "="), ("/s", "l", ">"), ("/s", "ma", "<"), ("/s", "é", "<"), ("/s", "", ">"),
             ("/b", True, "="), ("/b", False, ">"), ("/e", "MID", "="), ("/e", "LOW", ">"), ("/e", "HIGH", "<"),
             ("/u", 7, "="), ("/u", {"int": 7}, "="), ("/u", 8, "<"), ("/u", "7", "?"), ("/u", None, "?"),
             ("/u/int", 7, "="), ("/u/string", "x", "?"), ("/o", None, "="), ("/o", 5, "?"), ("/m/k", 1, "="),
             ("/m/none", 1, "?"), ("/a/1", 2, "="), ("/a/2", 2, "?")]
    holds = {"=": {"=", "<=", ">="}, "<": {"<", "<=", "!="}, ">": {">", ">=", "!="}, "?": {"!="}}
    for pointer, value, order in cases:
        for word in "=", "!=", "<", "<=", ">", ">=":
            reply = txn(s, op("check", "p", "v", pointer=pointer, value=value, **{"is": word}))
            assert reply.status == (200 if word in holds[order] else 412), (pointer, word, value, reply)
    for pointer, value, word, status in [
            ("/m", {"k": 1}, "=", 200), ("/m", {"k": 2}, "=", 412), ("/m", {}, "!=", 200), ("/a", [1, 2], "=", 200),
            ("/a", [1, 2], "<", 422), ("", {}, "<", 422), ("/i", "5", "=", 422), ("/e", "NOPE", "!=", 422),
            ("/nope", 1, "=", 422), ("i", 1, "=", 400), ("/~2", 1, "=", 400)]:
        reply = txn(s, op("check", "p", "v", pointer=pointer, value=value, **{"is": word}))
        assert reply.status == status, (pointer, word, value, reply)
        assert status == 200 or reply.json()["operation"] == 0, reply
    refused(txn(s, op("check", "p", "absent", pointer="/i", **{"is": "!="}, value=1)), 412, "condition_failed", 0)


def check_many(s):
    """1,000 are taken, 1,001 are not; ids of any bytes come back as scans give them."""
    ops = [op("put", "p", f"many{i}", record={"i": i}) for i in range(1000)]
    reply = expect(txn(s, *ops), 200).json()
    assert len(reply["results"]) == 1000 and all(r["status"] == 201 for r in reply["results"])
    assert {revision(s, f"/p/many{i}") for i in (0, 500, 999)} == {reply["revision"]}
    expect(txn(s, *ops, op("delete", "p", "many0")), 400, "bad_transaction")
    expect(s.get("/p/many0"), 200)
    ops = [op("delete", "p", f"many{i}") for i in range(999)]
    refused(txn(s, *ops, op("check", "p", "many999", revision=1)), 412, "condition_failed", 999)
    expect(txn(s, *ops), 200)
    expect(s.get("/p/many0"), 404)
    bare = base64.b64encode(b"\xff\x00").decode()
    reply = expect(txn(s, {"op": "put", "type": "p", "id_base64": bare, "record": {"i": 9}}, op("put", "p", 'q"\n', record={})), 200)
    assert [r.get("id_base64") for r in reply.json()["results"]] == [bare, None]
    assert reply.json()["results"][1]["id"] == 'q"\n'
    assert s.get("/p/%FF%00").json()["i"] == 9


def check_dry_run(s):
    before = revision(s, "/p/a")
    reply = expect(txn(s, op("put", "p", "a", record={}), op("put", "p", "new", record={}), query="?dry_run=1"), 200)
    assert reply.header("Dry-Run") == "1"
    assert reply.json() == {"revision": None, "results": [
        {"op": "put", "type": "p", "id": "a", "status": 200}, {"op": "put", "type": "p", "id": "new", "status": 201}]}
    refused(txn(s, op("put", "p", "a", record={}), op("delete", "p", "new"), query="?dry_run=1"), 404, "no_record", 1)
    assert revision(s, "/p/a") == before
    expect(s.get("/p/new"), 404)


def check_life(s):
    reply = expect(txn(s, op("put", "p", "short", record={}, ttl=3600), op("put", "p", "ever", record={})), 200)
    assert reply.json()["results"][0]["status"] == 201
    assert 3500 < int(s.get("/p/short").header("TTL")) <= 3600
    expect(txn(s, op("patch", "p", "short", merge={"i": 1})), 200)
    assert 3500 < int(s.get("/p/short").header("TTL")) <= 3600
    assert s.get("/p/ever").header("TTL") is None
    expect(txn(s, op("put", "p", "short", record={})), 200)
    assert s.get("/p/short").header("TTL") is None


def check_idempotency(s):
    """A retry gets the answer of the first, also after a restart; it is done once."""
    inc = op("patch", "c", "once", patch=[{"op": "increment", "path": "/n", "by": 1}])
    expect(s.put("/c/once", body=b"{}"), 201)
    key = {"Idempotency-Key": '"t-1"'}
    first = expect(txn(s, inc, op("put", "p", "once", record={}), headers=key), 200)
    assert first.header("Idempotency-Replayed") is None
    expect(s.delete("/p/once"), 200)
    again = expect(txn(s, inc, op("put", "p", "once", record={}), headers=key), 200)
    assert again.header("Idempotency-Replayed") == "true" and again.body == first.body
    expect(txn(s, inc, headers=key), 422, "idempotency_mismatch")
    s.restart()
    again = expect(txn(s, inc, op("put", "p", "once", record={}), headers=key), 200)
    assert again.header("Idempotency-Replayed") == "true" and again.body == first.body
    assert s.get("/c/get/once/n").json() == 1
    expect(s.get("/p/once"), 404)
    key = {"Idempotency-Key": "many"}
    many = [inc] + [op("put", "p", f"idem{i % 150}", record={}) for i in range(300)]
    first = expect(txn(s, *many, headers=key), 200)
    again = expect(txn(s, *many, headers=key), 200)
    assert again.header("Idempotency-Replayed") == "true" and again.json() == first.json()
    assert [r["status"] for r in again.json()["results"]] == [200] + [201] * 150 + [200] * 150
    assert s.get("/c/get/once/n").json() == 2
    key = {"Idempotency-Key": "failed"}
    refused(txn(s, inc, op("delete", "p", "none"), headers=key), 404, "no_record", 1)
    expect(txn(s, inc, op("check", "p", "none", revision=0), headers=key), 200)
    expect(txn(s, inc, query="?dry_run=1", headers={"Idempotency-Key": "dry"}), 200)
    expect(txn(s, inc, headers={"Idempotency-Key": "dry"}), 200)
    assert s.get("/c/get/once/n").json() == 4
    expect(s.put("/c/longer", body=json.dumps({"pad": LONG}).encode()), 201)
    longer = op("patch", "c", "longer", patch=[{"op": "increment", "path": "/n", "by": 1}])
    for replayed in None, "true":
        reply = expect(txn(s, longer, headers={"Idempotency-Key": "longer"}), 200)
        assert reply.header("Idempotency-Replayed") == replayed
    assert s.get("/c/get/longer/n").json() == 1


def check_long(s):
    """What the writer does not open a helper does: long records, in chunks, and several of them."""
    for i in range(3):
        expect(s.put(f"/c/long{i}", body=json.dumps({"pad": LONG + str(i)}).encode()), 201)
    jobs = helper_jobs(s)
    ops = [op("patch", "c", f"long{i}", patch=[{"op": "increment", "path": "/n", "by": 1}]) for i in range(3)]
    reply = expect(txn(s, *ops, op("check", "c", "long1", pointer="/n", **{"is": ">="}, value=1)), 200).json()
    assert helper_jobs(s) > jobs
    for i in range(3):
        assert s.get(f"/c/long{i}").json() == {"n": 1, "pad": LONG + str(i)}
        assert revision(s, f"/c/long{i}") == reply["revision"]
    refused(txn(s, *ops, op("check", "c", "long1", pointer="/n", **{"is": ">="}, value=3)), 412, "condition_failed", 3)
    refused(txn(s, *ops, op("patch", "c", "long2", merge={"n": "x"})), 422, "bad_record", 3)
    assert s.get("/c/long0").json()["n"] == 1


def check_long_patches(s):
    """Short records that patches make long: what the writer does of it is bounded by the length of both."""
    names = [f"grow{i}" for i in range(10)]

    def jobs_of(items):
        for name in names:
            assert s.put(f"/p/{name}", body=b"{}").status in (200, 201)
        before = helper_jobs(s)
        expect(txn(s, *(op("patch", "p", name, merge={"a": [7] * items}) for name in names)), 200)
        assert all(s.get(f"/p/{name}").json()["a"] == [7] * items for name in names)
        return helper_jobs(s) - before

    short, long = jobs_of(8000), jobs_of(10000)  # 10 * 3 * 8000 < 256 KiB < 10 * 3 * 10000, and both are a long body
    assert long == short + 1, (short, long)


def check_hard_patches(s):
    """Patches that each take little of the writer's time, but all together much."""
    node = {"type": "record", "name": "Node", "fields": [
        {"name": "n", "type": "int", "default": 0},
        {"name": "more", "type": {"type": "map", "values": "Node"}, "default": {}}]}
    expect(s.post("/putschema/node", body=json.dumps(node).encode()), 200)
    names = [str(i) for i in range(60)]

    def jobs_of(copies):
        for name in names:
            assert s.put(f"/node/{name}", body=b'{"more":{"a":{}}}').status in (200, 201)
        patch = [{"op": "copy", "from": "/more/a", "path": f"/more/a/more/{i}"} for i in range(copies)]
        patch[0]["ignored"] = "x" * 300  # a long body either way
        before = helper_jobs(s)
        expect(txn(s, *(op("patch", "node", name, patch=patch) for name in names)), 200)
        assert s.get("/node/59").body.count(b'"n"') == 1 + 2 ** copies
        return helper_jobs(s) - before

    few, many = jobs_of(3), jobs_of(9)
    assert many == few + 1, (few, many)


def helper_jobs(s):
    return float(re.search(r"^avrod_helper_jobs_total (\S+)$", s.get("/metrics").body.decode(), re.M).group(1))


def check_memory(s):
    """A few bytes may make much: what patches make and puts encode is bounded, as what is opened is."""
    full = {"type": "record", "name": "F", "fields": [{"name": "s", "type": "string", "default": "x" * 900_000},
                                                      {"name": "kids", "type": {"type": "array", "items": "F"}, "default": []}]}
    expect(s.post("/putschema/full", body=json.dumps(full).encode()), 200)
    for i in range(20):
        expect(s.put(f"/full/{i}", body=b"{}"), 201)
    double = [{"op": "copy", "from": "", "path": "/kids/-"}] * 3  # 7 megabytes of one
    refused(txn(s, *[op("patch", "full", str(i), patch=double) for i in range(20)]), 413, "record_too_large", 9)
    refused(txn(s, *[op("put", "full", str(i), record={}) for i in range(100)]), 413, "record_too_large", 74)
    expect(txn(s, *[op("put", "full", str(i), record={}) for i in range(10)]), 200)


def check_versions(s):
    """Records of other versions, short and long, in one transaction with new ones."""
    expect(s.post("/putschema/v", body=json.dumps(COUNTER).encode()), 200)
    expect(s.post("/putschema/w", body=json.dumps(COUNTER).encode()), 200)
    for name in "v", "w":
        expect(s.put(f"/{name}/1", body=b'{"n":1}'), 201)
        expect(s.put(f"/{name}/long", body=json.dumps({"n": 1, "pad": LONG}).encode()), 201)
        wider = json.loads(json.dumps(COUNTER))
        wider["fields"].append({"name": "more", "type": "int", "default": 7})
        expect(s.post(f"/putschema/{name}", body=json.dumps(wider).encode()), 200)
    s.restart()
    inc = [{"op": "increment", "path": "/n", "by": 1}]
    reply = expect(txn(s, op("patch", "v", "1", patch=inc), op("patch", "w", "1", patch=inc),
                       op("check", "v", "long", pointer="/more", **{"is": "="}, value=7),
                       op("patch", "w", "long", patch=inc), op("put", "v", "2", record={})), 200).json()
    n = reply["revision"]
    assert [r.get("etag") for r in reply["results"]] == [f'"{n}-2"', f'"{n}-2"', None, f'"{n}-2"', f'"{n}-2"']
    assert s.get("/v/1").json() == s.get("/w/1").json() == {"n": 2, "pad": "", "more": 7}
    assert s.get("/w/long").json() == {"n": 2, "pad": LONG, "more": 7}
    assert s.get("/v/long").json()["n"] == 1


def check_concurrency(s):
    """Transfers between records, short and long, beside increments and registrations: no sum is ever wrong."""
    accounts = [f"acc{i}" for i in range(4)]
    for a in accounts:
        expect(s.put(f"/c/{a}", body=json.dumps({"n": 1000, "pad": "" if a != "acc3" else LONG}).encode()), 201)
    expect(s.put("/c/count", body=b"{}"), 201)
    rounds, faults, done, incremented = 15 if sanitized() else 40, [], [], []

    def transfer(seed):
        for i in range(rounds):
            a, b = accounts[(seed + i) % 4], accounts[(seed + i * 3 + 1) % 4]
            if a == b:
                continue
            reply = txn(s, op("check", "c", a, pointer="/n", **{"is": ">="}, value=1),
                        op("patch", "c", a, patch=[{"op": "increment", "path": "/n", "by": -1}]),
                        op("patch", "c", b, patch=[{"op": "increment", "path": "/n", "by": 1}]),
                        op("patch", "c", "count", patch=[{"op": "increment", "path": "/n", "by": 1}]))
            if reply.status == 200:
                done.append(1)
            elif reply.status != 503:
                faults.append(reply)

    def increment():
        for _ in range(rounds):
            reply = s.request("PATCH", "/c/count", body=b'[{"op":"increment","path":"/n","by":1}]',
                              headers={"Content-Type": "application/json-patch+json"})
            if reply.status == 200:
                incremented.append(1)
            else:
                faults.append(reply)

    def audit():
        """A transaction that only checks sees one state of all."""
        for _ in range(rounds):
            total, claims = 0, []
            for a in accounts:
                n = s.get(f"/c/get/{a}/n").json()
                total += n
                claims.append(op("check", "c", a, pointer="/n", **{"is": "="}, value=n))
            if txn(s, *claims).status == 200 and total != 4000:
                faults.append(total)

    def register():
        """Records are of versions that a transaction under way does not know yet."""
        wider = json.loads(json.dumps(COUNTER))
        for i in range(rounds // 5):
            wider["fields"].append({"name": f"x{i}", "type": "int", "default": i})
            expect(s.post("/putschema/c", body=json.dumps(wider).encode()), 200)

    def drop():
        """A type comes and goes: with it a transaction is done, without it nothing of it."""
        for i in range(rounds):
            if i % 2:
                expect(s.post("/delschema/d"), 200)
            else:
                expect(s.post("/putschema/d", body=json.dumps(COUNTER).encode()), 200)
            for _ in range(3):
                before = s.get("/c/get/side/n").json()
                reply = txn(s, op("patch", "c", "side", patch=[{"op": "increment", "path": "/n", "by": 1}]),
                            op("put", "d", "1", record={}))
                after = s.get("/c/get/side/n").json()
                if (reply.status, after - before) not in ((200, 1), (404, 0)):
                    faults.append((reply, before, after))

    expect(s.put("/c/side", body=b"{}"), 201)
    threads = [threading.Thread(target=transfer, args=(i,)) for i in range(4)]
    threads += [threading.Thread(target=work) for work in (increment, audit, register, drop)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not faults, faults[:3]
    assert sum(s.get(f"/c/get/{a}/n").json() for a in accounts) == 4000
    assert s.get("/c/get/count/n").json() == len(done) + len(incremented)
    assert len(done) > rounds, "hardly any was done"


def main():
    with Server() as s:
        for name, schema in ("p", PERSON), ("blob", "bytes"), ("c", COUNTER):
            expect(s.post(f"/putschema/{name}", body=json.dumps(schema).encode()), 200)
        for check in (check_every_operation, check_all_or_nothing, check_forms, check_bodies, check_tags, check_conditions,
                      check_same_record_twice, check_claims, check_many, check_dry_run, check_life, check_idempotency,
                      check_long, check_long_patches, check_hard_patches, check_memory,
                      check_versions, check_concurrency):
            check(s)
            print(check.__name__)
    print("ok")


if __name__ == "__main__":
    main()
