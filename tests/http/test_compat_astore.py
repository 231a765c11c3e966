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


# Changes by path, as astore's scripts and its README have them: the path on one line, JSON on the next, sent as it is; a path alone; a
# record that is not there yet; a slash and a timeout behind. The account has arrays and maps of records.
ACCOUNT = {"type": "record", "name": "Ledger", "namespace": "a.b", "fields": [
    {"name": "id", "type": "string", "default": "-"}, {"name": "since", "type": "long", "default": 0},
    {"name": "moves", "type": {"type": "array", "items": {"type": "record", "name": "Entry", "fields": [
        {"name": "time", "type": "long", "default": 0}, {"name": "amount", "type": "double", "default": 0}]}}, "default": []},
    {"name": "tools", "type": {"type": "map", "values": {"type": "record", "name": "Tool", "fields": [
        {"name": "uses", "type": "int", "default": 0}]}}, "default": {}}]}
FILES = {"person.update": '.\n{"name":"James Bond","age":60}\n', "stock.update": '.about\n{"shape":"round", "size":"S"}\n',
         "move.insert": '.moves\n{"time": 4, "amount": -4.0}', "moves.insertall": '.moves\n[{"time": -1, "amount": -5.0}, {"time": -2}]',
         "tool.insert": '.tools\n{"a" : {"uses": 10}}', "tools.insertall": '.tools\n{"b" : {}, "c" : {"uses": 10}}',
         "move.update": ".moves[0].time\n1234", "tools.update": '.tools("a"|"b").uses\n7', "since.update": "(.since| .moves[-1].time)\n9\n"}
BINARY = "curl -H 'Content-Type: application/octet-stream' --data-binary"
PATHS = (
    ("curl --data @PersonInfo.avsc 'http://localhost:8080/putschema/personinfo?timeout=5000'", "OK"),
    ("curl --data-binary @person.update 'http://localhost:8080/personinfo/update/1'", "OK"),
    ("curl 'http://localhost:8080/personinfo/get/1'", '{"name":"James Bond","age":60,"gender":"Unknown","emails":[]}'),
    ("curl 'http://localhost:8080/personinfo/get/1/name'", '"James Bond"'),
    ("echo -n '.gender\n\"Male\"' | curl --data-binary @- 'http://localhost:8080/personinfo/update/item:7'", "OK"),
    ("curl 'http://localhost:8080/personinfo/get/item:7'", '{"name":"","age":0,"gender":"Male","emails":[]}'),
    ("curl --data @stock.avsc 'http://localhost:8080/putschema/stock'", "OK"),
    ("curl --data-binary @stock.update 'http://localhost:8080/stock/update/1?timeout=1000'", "OK"),
    ("curl 'http://localhost:8080/stock/get/1/about'", '{"shape":"round","size":"S","colour":"","stuff":""}'),
    ("curl --data @ledger.avsc 'http://localhost:8080/putschema/ledger'", "OK"),
    (f"{BINARY} @move.insert 'http://localhost:8080/ledger/insert/12345/'", "OK"),
    (f"{BINARY} @moves.insertall 'http://localhost:8080/ledger/insertall/12345/'", "OK"),
    (f"{BINARY} @tool.insert 'http://localhost:8080/ledger/insert/12345/?timeout=1000'", "OK"),
    (f"{BINARY} @tools.insertall 'http://localhost:8080/ledger/insertall/12345/'", "OK"),
    (f"{BINARY} @move.update 'http://localhost:8080/ledger/update/12345/'", "OK"),
    (f"{BINARY} @tools.update 'http://localhost:8080/ledger/update/12345/'", "OK"),
    (f"{BINARY} @since.update 'http://localhost:8080/ledger/update/12345/'", "OK"),
    ("curl 'http://localhost:8080/ledger/get/12345/'",
     '{"id":"-","since":9,"moves":[{"time":1234,"amount":-4.0},{"time":-1,"amount":-5.0},{"time":9,"amount":0.0}],'
     '"tools":{"a":{"uses":7},"b":{"uses":7},"c":{"uses":10}}}'),
    (f"{BINARY} '.moves[*]{{.time > -1}}.time' 'http://localhost:8080/ledger/select/12345/'", "[1234,9]"),
    (f"{BINARY} '.{{ .since == 9 && .moves[0].time == 1234 }}.id' 'http://localhost:8080/ledger/select/12345/?timeout=9'", '["-"]'),
    (f"{BINARY} '.tools{{.uses > 8}}.uses' 'http://localhost:8080/ledger/select/12345/'", "[10]"),
    (f"{BINARY} '.(~\".*since\")' 'http://localhost:8080/ledger/select/12345/'", "[9]"),
    (f"{BINARY} '.moves' 'http://localhost:8080/ledger/select/none/'", "[]"),
    (f"{BINARY} '.moves[*]{{.time < 1000}}' 'http://localhost:8080/ledger/delete/12345/'", "OK"),
    (f"{BINARY} '.tools(\"b\")' 'http://localhost:8080/ledger/delete/12345/?timeout=1'", "OK"),
    ("curl 'http://localhost:8080/ledger/get/12345'",
     '{"id":"-","since":9,"moves":[{"time":1234,"amount":-4.0}],"tools":{"a":{"uses":7},"c":{"uses":10}}}'),
    (f"{BINARY} '.moves' 'http://localhost:8080/ledger/clear/12345/'", "OK"),
    (f"{BINARY} '.tools' 'http://localhost:8080/ledger/clear/12345/'", "OK"),
    (f"{BINARY} '.tools' 'http://localhost:8080/ledger/clear/new/'", "OK"),
    ("curl 'http://localhost:8080/ledger/get/12345'", '{"id":"-","since":9,"moves":[],"tools":{}}'),
)


def check_scripts(s, commands):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        for name, text in ("stock.avsc", STOCK), ("list.avsc", LIST), ("ledger.avsc", ACCOUNT), ("PersonInfo.avsc", None), ("PersonInfo.record", None):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                if text:
                    json.dump(text, f, indent=2)
                else:
                    f.write(open(os.path.join(ROOT, "examples/astore", name), encoding="utf-8").read())
        for command, want in commands:
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
        check_scripts(s, COMMANDS)
    with Server("--compat", "astore") as s:
        check_scripts(s, PATHS)
    with Server() as s:
        check_without(s)
    print("ok")


if __name__ == "__main__":
    main()
