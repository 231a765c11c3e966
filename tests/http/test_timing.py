"""tests/http/test_timing.py - ?timing=1: Server-Timing tells the stages that a request went through, and nothing else changes."""

import json
import re

from avrod import Server, read_reply

SCHEMA = json.dumps({"type": "record", "name": "T", "fields": [
    {"name": "n", "type": "int"}, {"name": "s", "type": "string", "default": ""}]})
STAGE = re.compile(r"([a-z]+);dur=(\d+\.\d{3})$")


def stages_of(reply):
    """{stage: milliseconds}, or None."""
    told = reply.header_all("Server-Timing")
    if not told:
        return None
    assert len(told) == 1, told
    return {name: float(ms) for name, ms in (STAGE.match(part).groups() for part in told[0].split(", "))}


def expect(reply, status, stages):
    """The names stand in this order. A write that found the queue empty may or may not share a commit with others."""
    assert reply.status == status, reply
    told = stages_of(reply)
    assert told is not None and list(told) == stages.split(), (reply, stages)
    assert all(ms >= 0 for ms in told.values())
    if "commit" in told:
        assert told["commit"] > 0, told
    return reply


def check_records(s):
    record, small = "/t/1", b'{"n":1,"s":"x"}'
    expect(s.put(record + "?timing=1", body=small), 201, "parse validate store commit")
    expect(s.put("/t/put/1?timing=1", body=small), 200, "parse validate store commit")
    expect(s.get(record + "?timing=1"), 200, "parse store encode")
    expect(s.get("/t/get/1?timing=1"), 200, "parse store encode")
    expect(s.get("/t/get/1/s?timing=1"), 200, "parse store encode")
    expect(s.request("HEAD", record + "?timing=1"), 200, "parse store encode")
    expect(s.put("/t/put/1/s?timing=1", body=b'"y"'), 200, "parse validate store commit")
    expect(s.put("/t/put/1/s?timing=1", body=b"7"), 422, "parse validate")
    expect(s.put(record + "?timing=1", body=b"{}"), 422, "parse validate")
    expect(s.put(record + "?timing=1", body=b"{"), 400, "parse validate")
    expect(s.get("/t/none?timing=1"), 404, "parse store")
    tag = s.get(record).header("ETag")
    expect(s.get(record + "?timing=1", headers={"If-None-Match": tag}), 304, "parse store")
    expect(s.put(record + "?timing=1", body=small, headers={"If-Match": '"1-1"'}), 412, "parse validate store encode")
    expect(s.delete("/t/none?timing=1"), 404, "parse store")
    expect(s.delete(record + "?timing=1"), 200, "parse store commit")
    expect(s.put("/t/1?benchmark_only=5&timing=1", body=small), 200, "parse validate")
    expect(s.get("/t/1?timing=1&benchmark_only=5"), 200, "parse encode")


def check_long_bodies(s):
    """A helper checks them, and they are stored in chunks."""
    body = json.dumps({"n": 1, "s": "x" * 100000}).encode()
    expect(s.put("/t/long?timing=1", body=body), 201, "parse validate store commit")
    reply = expect(s.get("/t/long?timing=1"), 200, "parse store encode")
    assert reply.json() == json.loads(body)
    assert s.post("/putschema/raw", body=b'"bytes"').status == 200
    expect(s.put("/raw/long?timing=1", body=b"x" * 100000), 201, "parse validate store commit")
    assert expect(s.get("/raw/long?timing=1"), 200, "parse store").body == b"x" * 100000
    expect(s.get("/raw/long?timing=1", headers={"Range": "bytes=5-9"}), 206, "parse store")
    refused = expect(s.put("/t/long?timing=1", body=b"{}", headers={"If-Match": '"1-1"'}), 422, "parse validate")
    assert refused.json()["code"] == "bad_record"
    refused = expect(s.put("/t/long?timing=1", body=b'{"n":2}', headers={"If-Match": '"1-1"'}), 412,
                     "parse validate store encode")
    assert len(refused.json()["current"]["record"]["s"]) == 100000


def check_schemas(s):
    expect(s.post("/putschema/u?timing=1", body=SCHEMA), 200, "parse validate store commit")
    expect(s.post("/putschema/u?timing=1", body=b'"nope"'), 422, "parse validate")
    expect(s.get("/getschema/u?timing=1"), 200, "parse store")
    expect(s.get("/schemas?timing=1"), 200, "parse store encode")
    expect(s.delete("/delschema/u?timing=1"), 200, "parse store commit")


def check_only_if_asked(s):
    assert s.put("/t/2", body=b'{"n":2}').status == 201
    for value in "", "=", "=0", "=2", "=11", "=true", "=1&timing=1":
        reply = s.get("/t/2?timing" + value)
        assert reply.status == 400 and reply.json()["code"] == "bad_parameter", (value, reply)
        assert stages_of(reply) is None
    for path in "/ping", "/metrics", "/":
        assert s.get(path + "?timing=1").json()["code"] == "unknown_parameter"
    for path in "/t/2", "/schemas", "/getschema/t", "/t/none":
        assert stages_of(s.get(path)) is None
    assert stages_of(s.put("/t/2", body=b'{"n":2}')) is None


def check_pipelined(s):
    """Each of them tells of itself alone."""
    put = b"PUT /t/3%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\n\r\n{\"n\":3}"
    get = b"GET /t/3%s HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with s.connect() as c:
        c.sendall(put % b"" + put % b"?timing=1" + put % b"" + get % b"" + get % b"?timing=1" + get % b"")
        rest, told = b"", []
        for _ in range(6):
            reply, rest = read_reply(c, pending=rest)
            assert reply.status in (200, 201), reply
            stages = stages_of(reply)
            told.append(stages and list(stages))
    assert told == [None, ["parse", "validate", "store", "commit"], None, None, ["parse", "store", "encode"], None]


def check_schema_that_is_not_loaded(s):
    s.restart()
    expect(s.get("/t/2?timing=1"), 200, "parse store encode")
    s.restart()
    expect(s.put("/t/2?timing=1", body=b'{"n":2}'), 200, "parse validate store commit")


def check_astore():
    with Server("--compat", "astore", "--engine", "memory") as s:
        assert s.post("/putschema/t", body=SCHEMA).status == 200
        expect(s.get("/t/get/none?timing=1"), 200, "parse store encode")


def main():
    with Server() as s:
        assert s.post("/putschema/t", body=SCHEMA).status == 200
        for check in (check_records, check_long_bodies, check_schemas, check_only_if_asked, check_pipelined,
                      check_schema_that_is_not_loaded):
            check(s)
            print(check.__name__)
    check_astore()
    print("ok")


if __name__ == "__main__":
    main()
