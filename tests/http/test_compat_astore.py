"""tests/http/test_compat_astore.py - what --compat astore changes, and that nothing of it holds without."""

import json

from avrod import Server

# astore's own schema: emails has no default.
PERSON = {"type": "record", "name": "PersonInfo", "namespace": "astore", "fields": [
    {"name": "name", "type": "string"}, {"name": "age", "type": "int"},
    {"name": "gender", "type": {"type": "enum", "name": "GenderType", "symbols": ["Female", "Male", "Unknown"]},
     "default": "Unknown"},
    {"name": "emails", "type": {"type": "array", "items": "string"}}]}
INITIAL = b'{"name":"","age":0,"gender":"Unknown","emails":[]}'


def status(reply, want):
    assert reply.status == want, reply
    return reply


def check_astore(s):
    status(s.post("/putschema/personinfo", body=json.dumps(PERSON)), 200)
    options = s.get("/schemas").json()[0]
    assert (options["missing"], options["unknown"], options["compatibility"]) == ("zero", "ignore", "none")
    # An absent record is the initial one.
    absent = status(s.get("/personinfo/get/1"), 200)
    assert absent.body == INITIAL and absent.header("ETag") is None
    assert s.get("/personinfo/get/1/age").body == b"0"
    assert s.get("/personinfo/1").body == INITIAL
    assert s.get("/schemas").json()[0]["records"] == 0, "reading makes no record"
    # What is missing is zero, what is unknown is ignored.
    status(s.post("/personinfo/put/1?timeout=5000", body=b'{"name":"James Bond","age":60,"licence":"to kill"}'), 200)
    assert s.get("/personinfo/get/1?timeout=1&x").json() == {
        "name": "James Bond", "age": 60, "gender": "Unknown", "emails": []}
    # A field put creates.
    status(s.post("/personinfo/put/2/age", body=b"888"), 200)
    assert s.get("/personinfo/get/2").json() == {"name": "", "age": 888, "gender": "Unknown", "emails": []}
    status(s.post("/personinfo/put/2/nope", body=b"888"), 404)
    status(s.post("/personinfo/put/3/age", body=b"1", headers={"If-Match": "*"}), 412)
    assert s.get("/schemas").json()[0]["records"] == 2
    # A new version needs no option.
    wider = {**PERSON, "fields": PERSON["fields"] + [{"name": "tall", "type": "double"}]}
    assert status(s.post("/putschema/personinfo", body=json.dumps(wider)), 200).header("Schema-Version") == "2"
    s.restart()
    assert status(s.get("/personinfo/get/9"), 200).json()["tall"] == 0.0
    assert status(s.get("/delschema/personinfo"), 200).body == b"OK"
    status(s.get("/personinfo/get/1"), 404)
    status(s.get("/delschema/personinfo"), 404)


def check_without(s):
    status(s.post("/putschema/personinfo", body=json.dumps(PERSON)), 200)
    status(s.get("/personinfo/get/1"), 404)
    status(s.post("/personinfo/put/1", body=b'{"name":"James Bond","age":60}'), 422)
    status(s.post("/personinfo/put/1/age", body=b"888"), 404)
    status(s.get("/personinfo/get/1?timeout=1"), 400)
    status(s.get("/delschema/personinfo"), 405)


def main():
    with Server("--compat", "astore") as s:
        check_astore(s)
    with Server() as s:
        check_without(s)
    print("ok")


if __name__ == "__main__":
    main()
