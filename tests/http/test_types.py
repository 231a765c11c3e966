"""tests/http/test_types.py - putschema, getschema, /schemas, delschema: versions, options, restarts, races."""

import json
import threading

from avrod import Server

PERSON = {"type": "record", "name": "P", "namespace": "t",
          "fields": [{"name": "name", "type": "string"}, {"name": "age", "type": "int", "default": 0}]}
WIDER = {**PERSON, "fields": PERSON["fields"] + [{"name": "mail", "type": ["null", "string"], "default": None}]}
UNION = [{"type": "enum", "name": "a.Kind", "symbols": ["X", "Y"]},
         {"type": "record", "name": "a.Thing", "fields": [{"name": "kind", "type": "Kind"}]}]


def put(s, name, schema, query="", **kw):
    text = schema if isinstance(schema, (bytes, str)) else json.dumps(schema)
    return s.post(f"/putschema/{name}{query}", body=text, **kw)


def row(s, name):
    for entry in s.get("/schemas").json():
        if entry["name"] == name:
            return entry
    return None


def expect(reply, status, code=None):
    assert reply.status == status, reply
    if code:
        assert reply.header("Content-Type") == "application/problem+json", reply
        problem = reply.json()
        assert problem["code"] == code and problem["status"] == status, problem
    return reply


def check_versions(s):
    first = expect(put(s, "v", PERSON), 200)
    assert first.body == b"OK"
    assert first.header("Schema-Version") == "1"
    assert int(first.header("Schema-Id")) >= 1
    assert first.header("ETag").endswith('-1"')
    # The same schema in another spelling: no new version.
    other = json.dumps(dict(reversed(list(PERSON.items()))), indent=4)
    again = expect(put(s, "v", other), 200)
    assert again.header("Schema-Version") == "1"
    assert again.header("Schema-Id") == first.header("Schema-Id")
    assert again.header("ETag") == first.header("ETag"), "nothing changed"
    refused = expect(put(s, "v", {**PERSON, "name": "Q"}), 409, "incompatible").json()
    assert refused["reasons"][0]["code"] == "name", refused
    assert row(s, "v")["version"] == 1
    second = expect(put(s, "v", WIDER, "?compatibility=none"), 200)
    assert second.header("Schema-Version") == "2"
    assert second.header("Schema-Id") != first.header("Schema-Id")
    assert second.header("ETag") != first.header("ETag")
    # Going back is a third version, of the first schema id; the option has stayed.
    third = expect(put(s, "v", PERSON), 200)
    assert third.header("Schema-Version") == "3"
    assert third.header("Schema-Id") == first.header("Schema-Id")
    # Only the latest counts for "nothing changed".
    assert expect(put(s, "v", PERSON), 200).header("Schema-Version") == "3"
    # A doc makes another schema.
    assert expect(put(s, "v", {**PERSON, "doc": "people"}), 200).header("Schema-Version") == "4"


def check_getschema(s):
    spelled = json.dumps(PERSON, indent=1)
    put(s, "g", spelled, "?compatibility=none")
    put(s, "g", WIDER)
    got = expect(s.get("/getschema/g?version=1"), 200)
    # The text is that of the schema id's first registration, by whichever type.
    assert json.loads(got.body) == PERSON
    assert got.header("Content-Type") == "application/json"
    assert got.header("Schema-Version") == "1"
    assert expect(s.get("/getschema/g"), 200).json() == WIDER
    head = expect(s.request("HEAD", "/getschema/g"), 200)
    assert head.body == b"" and int(head.header("Content-Length")) == len(json.dumps(WIDER))
    tag = s.get("/getschema/g").header("ETag")
    assert expect(s.get("/getschema/g", headers={"If-None-Match": tag}), 304).body == b""
    expect(s.get("/getschema/g?version=3"), 404, "no_version")
    for bad in "0", "x", "-1", "", "1.0":
        expect(s.get(f"/getschema/g?version={bad}"), 400, "bad_parameter")
    expect(s.get("/getschema/g?version=4294967297"), 404, "no_version")
    expect(s.get("/getschema/nope"), 404, "no_type")
    expect(s.get("/getschema/g?versoin=1"), 400, "unknown_parameter")


def check_first_text(s):
    text = '{"type": "fixed",\n "size": 3, "name": "three"}'
    first = put(s, "f1", text)
    second = put(s, "f2", {"type": "fixed", "name": "three", "size": 3})
    assert first.header("Schema-Id") == second.header("Schema-Id"), "one schema, one id"
    assert s.get("/getschema/f2").body.decode() == text
    # ... also when all types that had it are gone in between.
    expect(s.delete("/delschema/f1"), 200)
    expect(s.delete("/delschema/f2"), 200)
    assert put(s, "f3", {"type": "fixed", "size": 3, "name": "three"}).header("Schema-Id") == first.header("Schema-Id")
    assert s.get("/getschema/f3").body.decode() == text


def check_options(s):
    put(s, "o", PERSON)
    assert {k: row(s, "o")[k] for k in ("missing", "unknown", "compatibility")} == {
        "missing": "default", "unknown": "reject", "compatibility": "backward"}
    before = put(s, "o", PERSON).header("ETag")
    changed = expect(put(s, "o", PERSON, "?missing=zero&unknown=ignore"), 200)
    assert changed.header("Schema-Version") == "1" and changed.header("ETag") != before
    expect(s.post("/o/put/1", body=b'{"more":1}'), 200)
    assert s.get("/o/get/1").json() == {"name": "", "age": 0}
    put(s, "o", PERSON, "?compatibility=full_transitive")
    assert {k: row(s, "o")[k] for k in ("missing", "unknown", "compatibility")} == {
        "missing": "zero", "unknown": "ignore", "compatibility": "full_transitive"}
    put(s, "o", PERSON, "?missing=reject&unknown=reject")
    expect(s.post("/o/put/1", body=b'{"name":"x"}'), 422, "bad_record")
    for bad in "?missing=no", "?unknown=", "?compatibility=backwards", "?missing=DEFAULT":
        problem = expect(put(s, "o", PERSON, bad), 400, "bad_parameter").json()
        assert "one of" in problem["detail"], problem
    expect(put(s, "o", PERSON, "?ttl=60"), 200)
    assert row(s, "o")["ttl"] == 60
    expect(put(s, "o", PERSON, "?missing=reject"), 200)
    assert row(s, "o")["ttl"] == 60, "what is not given stays"
    for bad in "0", "-1", "", "1.5", "60s", "None", "2147483648", "99999999999999999999":
        problem = expect(put(s, "o", PERSON, f"?ttl={bad}"), 400, "bad_parameter").json()
        assert "seconds" in problem["detail"], problem
    expect(put(s, "o", PERSON, "?ttl=2147483647"), 200)
    s.restart()
    assert row(s, "o")["ttl"] == 2147483647
    expect(put(s, "o", PERSON, "?ttl=none"), 200)
    assert row(s, "o")["ttl"] is None
    expect(put(s, "o", PERSON, "?tll=60"), 400, "unknown_parameter")
    expect(put(s, "o", PERSON, "?missing=zero&missing=zero"), 400, "bad_parameter")


def check_fullname(s):
    expect(put(s, "u", UNION, "?fullname=a.Thing"), 200)
    assert s.get("/getschema/u").json()["name"] in ("Thing", "a.Thing")
    expect(s.post("/u/put/1", body=b'{"kind":"Y"}'), 200)
    assert s.get("/u/get/1").json() == {"kind": "Y"}
    expect(put(s, "u2", UNION, "?fullname=a.None"), 422)
    # What the entry is kept as is a schema by itself: the same one.
    twice = [{"type": "record", "name": "b.In", "fields": [{"name": "k", "type": {"type": "enum", "name": "E",
                                                                                  "symbols": ["X"]}}]},
             {"type": "record", "name": "b.Out", "fields": [{"name": "k", "type": "E"}, {"name": "i", "type": "In"}]}]
    picked = expect(put(s, "u3", twice, "?fullname=b.Out"), 200)
    again = expect(put(s, "u4", s.get("/getschema/u3").body), 200)
    assert again.header("Schema-Id") == picked.header("Schema-Id")
    expect(put(s, "u2", UNION, "?fullname="), 400, "bad_parameter")
    assert row(s, "u2") is None


def check_refusals(s):
    for name in ("9a", "_x", "ping", "schemas", "a%20b", "a%2Fb", "x" * 65, "robots.txt", "%C3%A4", "a%00"):
        expect(put(s, name, PERSON), 400, "bad_type_name")
    expect(put(s, "x" * 64, PERSON), 200)
    expect(s.post("/putschema"), 404, "no_route")
    expect(s.post("/putschema/a/b"), 404, "no_route")
    empty = expect(put(s, "r", b""), 400, "bad_json").json()
    assert (empty["line"], empty["column"]) == (1, 1), empty
    expect(put(s, "r", b'{"type":"record"'), 400, "bad_json")
    expect(put(s, "r", b'{"type":"fixed","name":"F","name":"F","size":1}'), 400, "bad_json")
    problem = expect(put(s, "r", {"type": "record", "name": "R", "fields": [{"name": "f", "type": "strnig"}]}), 422,
                     "bad_schema").json()
    assert problem["errors"][0]["pointer"] == "/fields/0/type", problem
    expect(put(s, "r", PERSON, headers={"Content-Type": "application/xml"}), 415, "unsupported_type")
    expect(put(s, "r", PERSON, headers={"Content-Type": "application/json; charset=latin1"}), 415, "unsupported_type")
    expect(put(s, "r", PERSON, headers={"Content-Encoding": "gzip"}), 415, "unsupported_coding")
    expect(put(s, "r", b" " * (1 << 20) + b'"int"'), 413, "body_too_large")
    assert row(s, "r") is None
    for kind in "application/x-www-form-urlencoded", "application/octet-stream", "text/plain; charset=utf-8":
        expect(put(s, "k", PERSON, headers={"Content-Type": kind}), 200)


def check_conditions(s):
    created = expect(put(s, "c", PERSON, headers={"If-None-Match": "*"}), 200)
    expect(put(s, "c", WIDER, "?compatibility=none", headers={"If-None-Match": "*"}), 412, "condition_failed")
    expect(put(s, "c", WIDER, "?compatibility=none", headers={"If-Match": '"1-999"'}), 412)
    tag = created.header("ETag")
    expect(put(s, "c", WIDER, "?compatibility=none", headers={"If-Match": tag}), 200)
    failed = expect(put(s, "c", PERSON, headers={"If-Match": tag}), 412, "condition_failed")
    assert failed.header("ETag") == s.get("/getschema/c").header("ETag")
    expect(put(s, "c", PERSON, headers={"If-Match": ""}), 400, "bad_request")
    expect(put(s, "c-new", PERSON, headers={"If-Match": "*"}), 412, "condition_failed")
    assert row(s, "c-new") is None and row(s, "c")["version"] == 2
    expect(s.delete("/delschema/c", headers={"If-Match": tag}), 400, "bad_request")
    expect(s.delete("/delschema/c", headers={"If-None-Match": "*"}), 412)
    expect(s.delete("/delschema/c", headers={"If-Match": "*"}), 200)


def check_warnings(s):
    odd = {"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 5}
    reply = expect(put(s, "w", {"type": "record", "name": "W", "fields": [{"name": "d", "type": odd}]}), 200)
    assert len(reply.header_all("Schema-Warning")) == 1, reply
    many = {"type": "record", "name": "W2", "fields": [{"name": f"f{i}", "type": odd} for i in range(200)]}
    reply = expect(put(s, "w2", many), 200)
    said = reply.header_all("Schema-Warning")
    assert len(said) < 100 and "more" in said[-1], said


def check_delschema(s):
    put(s, "d", PERSON, "?compatibility=none")
    put(s, "d", WIDER)
    for i in range(20):
        expect(s.post(f"/d/put/{i}", body=b'{"name":"x"}'), 200)
    assert row(s, "d")["records"] == 20
    before = s.get("/getschema/d").header("ETag")
    gone = expect(s.delete("/delschema/d"), 200)
    assert gone.body == b"OK" and gone.header("ETag").endswith('-2"')
    assert int(gone.header("ETag")[1:].split("-")[0]) > int(before[1:].split("-")[0])
    assert row(s, "d") is None
    expect(s.delete("/delschema/d"), 404, "no_type")
    expect(s.get("/d/get/1"), 404, "no_type")
    expect(s.post("/d/put/1", body=b'{"name":"x"}'), 404, "no_type")
    expect(s.get("/delschema/d"), 405, "bad_method")
    fresh = expect(put(s, "d", PERSON), 200)
    assert fresh.header("Schema-Version") == "1"
    expect(s.get("/d/get/1"), 404, "no_record")
    assert row(s, "d")["records"] == 0 and row(s, "d")["compatibility"] == "backward"
    expect(s.post("/delschema/d"), 200)


def check_race(s):
    """Puts and drops of one name at once: every answer is one that some order gives, and the end is consistent."""
    seen, lock = [], threading.Lock()

    def work(seed):
        for i in range(25):
            if (seed + i) % 3:
                reply = put(s, "race", PERSON if (seed + i) % 2 else WIDER, "?compatibility=none")
                assert reply.status == 200, reply
                shown = s.get("/getschema/race")
                assert shown.status in (200, 404), shown
            else:
                reply = s.delete("/delschema/race")
                assert reply.status in (200, 404), reply
            with lock:
                seen.append(reply.status)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(seen) == 100, "a thread has failed"
    s.delete("/delschema/race")
    assert row(s, "race") is None
    assert put(s, "race", PERSON).header("Schema-Version") == "1"
    expect(s.post("/race/put/1", body=b'{"name":"n"}'), 200)
    expect(s.get("/race/get/1"), 200)


def check_restart(s):
    put(s, "keep", PERSON, "?compatibility=none&missing=zero")
    expect(s.post("/keep/put/old", body=b'{"name":"one"}'), 200)
    put(s, "keep", WIDER)
    expect(s.post("/keep/put/new", body=b'{"name":"two"}'), 200)
    put(s, "raw", '"string"')
    before, rows = s.get("/getschema/keep").header("ETag"), s.get("/schemas").json()
    for kill in False, True:
        s.restart(kill=kill)
        # An old version is loaded first, then the latest, then one for a put.
        old = expect(s.get("/keep/get/old?version=1"), 200)
        assert old.json() == {"name": "one", "age": 0} and old.header("Schema-Version") == "1"
        assert expect(s.get("/keep/get/old"), 200).json() == {"name": "one", "age": 0, "mail": None}
        assert expect(s.get("/keep/get/new/mail"), 200).body == b"null"
        assert s.get("/schemas").json() == rows
        assert s.get("/getschema/keep").header("ETag") == before
        # What a raw type's body may be is known only once its schema is loaded.
        expect(s.put("/raw/1", body=b"\xff"), 422, "bad_record")
    s.restart()
    expect(s.put("/raw/1", body=b"{}", headers={"Content-Type": "avro/xml"}), 415, "unsupported_type")
    s.restart()
    assert expect(s.post("/keep/put/new?benchmark_only=3", body=b'{"name":"two"}'), 200).body == b"OK"
    long = {"type": "enum", "name": "Long", "symbols": [f"SYMBOL_{i}" for i in range(3000)]}
    expect(put(s, "long", long), 200)
    expect(s.post("/long/put/1", body=b'"SYMBOL_2999"'), 200)
    s.restart()
    assert s.get("/long/get/1").body == b'"SYMBOL_2999"'
    nxt = put(s, "keep", {**PERSON, "name": "Q"})
    assert nxt.header("Schema-Version") == "3"


def check_many():
    """Types are counted and printed in pages of 128."""
    with Server("--engine", "memory") as s:
        names = []
        for n in range(258):
            names.append(f"t{n}")
            expect(put(s, names[-1], b'"int"'), 200)
            if n + 1 in (127, 128, 129, 256, 257, 258):
                assert [entry["name"] for entry in s.get("/schemas").json()] == sorted(names)
        expect(s.put("/t77/1", body=b"5"), 201)
        assert [e["name"] for e in s.get("/schemas").json() if e["records"]] == ["t77"]


def main():
    check_many()
    with Server() as s:
        assert s.get("/schemas").json() == []
        for check in (check_versions, check_getschema, check_first_text, check_options, check_fullname, check_refusals,
                      check_conditions, check_warnings, check_delschema, check_race, check_restart):
            check(s)
            print(check.__name__)
        names = [entry["name"] for entry in s.get("/schemas").json()]
        assert names == sorted(names)
    print("ok")


if __name__ == "__main__":
    main()
