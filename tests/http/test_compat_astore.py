"""tests/http/test_compat_astore.py - what --compat astore changes, and that nothing of it holds without."""

import json
import os
import subprocess
import tempfile

from avrod import ROOT, Server

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


# What astore's scripts do, in their words: a shell command and what it prints. A record in a record, whose default is {} and whose
# fields have their own; one entry of a list of types; a slash behind the path; a timeout, which is nothing to us.
STOCK = {"type": "record", "name": "Stock", "namespace": "astore", "fields": [
    {"name": "code", "type": "string", "default": ""},
    {"name": "about", "type": {"type": "record", "name": "About", "fields": [
        {"name": name, "type": "string", "default": ""} for name in ("shape", "size", "colour", "stuff")]}, "default": {}}]}
LIST = [{"type": "enum", "name": "Kind", "namespace": "a.b", "symbols": ["IN", "OUT"]},
        {"type": "record", "name": "Move", "namespace": "a.b", "fields": [
            {"name": "time", "type": "long", "default": 0}, {"name": "kind", "type": "Kind"}]},
        {"type": "record", "name": "Account", "namespace": "a.b", "fields": [
            {"name": "id", "type": "string"}, {"name": "moves", "type": {"type": "array", "items": "Move"}, "default": []},
            {"name": "last", "type": ["null", "Move"], "default": None}]}]
EMPTY = '{"code":"","about":{"shape":"","size":"","colour":"","stuff":""}}'
ABOUT = '{"shape":"classic","size":"Large","colour":"Red","stuff":""}'
COMMANDS = (
    ("curl --data @PersonInfo.avsc 'http://localhost:8080/putschema/personinfo'", "OK"),
    ("curl 'http://localhost:8080/personinfo/get/1'", INITIAL.decode()),
    ("curl --data-binary @PersonInfo.record 'http://localhost:8080/personinfo/put/1'", "OK"),
    ("curl 'http://localhost:8080/personinfo/get/1'", '{"name":"James Bond","age":60,"gender":"Unknown","emails":[]}'),
    ("curl 'http://localhost:8080/personinfo/get/1/name'", '"James Bond"'),
    ("curl --data '\"John\"' 'http://localhost:8080/personinfo/put/1/name'", "OK"),
    ("curl 'http://localhost:8080/personinfo/get/1/name/'", '"John"'),
    ("curl --data 888 'http://localhost:8080/personinfo/put/2/age'", "OK"),
    ("curl 'http://localhost:8080/personinfo/get/2/age'", "888"),
    ("curl 'http://localhost:8080/personinfo/get/2/'", '{"name":"","age":888,"gender":"Unknown","emails":[]}'),
    ("echo '{\"age\":40}' | curl -d @- 'http://localhost:8080/personinfo/put/3/?timeout=1000'", "OK"),
    ("curl 'http://localhost:8080/personinfo/get/3'", '{"name":"","age":40,"gender":"Unknown","emails":[]}'),
    ("curl -d '[\"a@x\",\"b@x\"]' 'http://localhost:8080/personinfo/put/3/emails'", "OK"),
    ("curl 'http://localhost:8080/personinfo/get/3/emails'", '["a@x","b@x"]'),
    ("curl -d '\"Male\"' 'http://localhost:8080/personinfo/put/item:7/gender/'", "OK"),
    ("curl 'http://localhost:8080/personinfo/get/item:7/gender'", '"Male"'),
    ("curl --data @stock.avsc 'http://localhost:8080/putschema/stock?timeout=5000'", "OK"),
    ("curl 'http://localhost:8080/stock/get/1'", EMPTY),
    ("curl --data '{\"shape\":\"classic\",\"size\":\"Large\",\"colour\":\"Red\"}' 'http://localhost:8080/stock/put/1/about'", "OK"),
    ("curl 'http://localhost:8080/stock/get/1'", '{"code":"","about":' + ABOUT + "}"),
    ("curl 'http://localhost:8080/stock/get/1/about'", ABOUT),
    ("curl --data @list.avsc 'http://localhost:8080/putschema/account/?fullname=a.b.Account'", "OK"),
    ("curl 'http://localhost:8080/account/get/1'", '{"id":"","moves":[],"last":null}'),
    ("curl --data-binary '{\"id\":\"x\",\"moves\":[{\"kind\":\"OUT\"}],\"last\":{\"time\":5}}' 'http://localhost:8080/account/put/1'", "OK"),
    ("curl 'http://localhost:8080/account/get/1'", '{"id":"x","moves":[{"time":0,"kind":"OUT"}],"last":{"time":5,"kind":"IN"}}'),
    ("curl 'http://localhost:8080/delschema/stock/'", "OK"),
    ("curl -o /dev/null -w '%{http_code}' 'http://localhost:8080/stock/get/1'", "404"),
    ("curl 'http://localhost:8080/ping'", "pong"),
)


def check_scripts(s):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in ("stock.avsc", STOCK), ("list.avsc", LIST), ("PersonInfo.avsc", None), ("PersonInfo.record", None):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                if text:
                    json.dump(text, f, indent=2)
                else:
                    f.write(open(os.path.join(ROOT, "examples/astore", name), encoding="utf-8").read())
        for command, want in COMMANDS:
            command = command.replace("localhost:8080", f"127.0.0.1:{s.port}").replace("curl ", "curl -sS ", 1)
            done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, timeout=60, check=False)
            assert done.returncode == 0 and done.stdout.decode() == want, (command, done)


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
    with Server("--compat", "astore") as s:
        check_scripts(s)
    with Server() as s:
        check_without(s)
    print("ok")


if __name__ == "__main__":
    main()
