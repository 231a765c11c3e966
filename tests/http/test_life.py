"""tests/http/test_life.py - how long records live: ?ttl, Cache-Control: max-age, the type's ttl; what is past its time is
absent for every reader at once, and then removed."""

import json
import re
import time

from avrod import Server, records_of

KEPT = {"type": "record", "name": "K", "fields": [
    {"name": "a", "type": "int", "default": 0}, {"name": "b", "type": "string", "default": ""}]}
HOUR = 3600


def expect(reply, status, code=None):
    assert reply.status == status, reply
    if code:
        assert reply.json()["code"] == code, reply
    return reply


def register(s, name, schema=None, query=""):
    text = json.dumps(KEPT) if schema is None else schema
    return expect(s.post(f"/putschema/{name}{query}", body=text), 200)


def ttl(reply):
    value = reply.header("TTL")
    return None if value is None else int(value)


def about(reply, seconds):
    """It was written a moment ago with so many seconds to live."""
    left = ttl(reply)
    assert left is not None and seconds - 30 <= left <= seconds, (reply, seconds)


def until(condition, what):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what


def metric(s, name):
    found = re.search(rf"^{name} (\S+)$", s.get("/metrics").body.decode(), re.M)
    return float(found.group(1))


def check_asked(s):
    """On verb and resource paths, and told in every answer that shows the record."""
    about(expect(s.put("/k/1?ttl=3600", body=b"{}"), 201), HOUR)
    for path in "/k/1", "/k/get/1", "/k/get/1/a":
        about(expect(s.get(path), 200), HOUR)
        about(expect(s.request("HEAD", path), 200), HOUR)
    about(expect(s.get("/k/1", headers={"If-None-Match": s.get("/k/1").header("ETag")}), 304), HOUR)
    about(expect(s.get("/k/1", headers={"Accept": "avro/binary"}), 200), HOUR)
    reply = expect(s.post("/k/put/1?ttl=60", body=b'{"a":1}'), 200)
    about(reply, 60)
    assert reply.header("Location") is None
    about(s.get("/k/1"), 60)
    reply = expect(s.put("/k/new%20one?ttl=2147483647", body=b"{}"), 201)
    assert reply.header("Location") == "/k/new%20one"
    about(reply, 2147483647)
    expect(s.put("/k/1", body=b"{}"), 200)
    assert ttl(s.get("/k/1")) is None, "a later put without any stores none"
    assert ttl(expect(s.put("/k/2", body=b"{}"), 201)) is None


def check_bad(s):
    for bad in "0", "-5", "", "1.0", "1e3", "x", "+5", "2147483648", "18446744073709551617":
        for target in f"/k/bad?ttl={bad}", f"/k/put/bad?ttl={bad}", f"/k/bad?dry_run=1&ttl={bad}":
            problem = expect(s.put(target, body=b"{}"), 400).json()
            assert problem["code"] in ("bad_parameter", "bad_target"), problem
    expect(s.put("/k/put/bad/a?ttl=5", body=b"1"), 400, "unknown_parameter")
    expect(s.delete("/k/1?ttl=5"), 400, "unknown_parameter")
    expect(s.get("/k/bad"), 404)


def check_max_age(s):
    for value, seconds in (("max-age=3600", HOUR), ("MAX-AGE=60", 60), ("no-store, max-age=60", 60), ('max-age="60"', 60),
                           ("max-age=60,max-age=3600", 60), ('private="a, max-age=5", max-age=60', 60), (" max-age=60 ", 60),
                           ("max-age=99999999999999999999", 2147483647), ("max-age=0060", 60)):
        about(expect(s.put("/k/m", body=b"{}", headers={"Cache-Control": value}), (200, 201)[not value.find("max-age=3600")]), seconds)
        about(s.get("/k/m"), seconds)
    for value in ("max-age=0", "max-age", "max-age=", "max-age=x", "max-age=-1", "max-age=1.5", "no-cache", "s-maxage=5", "",
                  "x-max-age=5", "max-age =5", 'private="max-age=5', 'max-age="'):
        reply = expect(s.put("/k/m", body=b"{}", headers={"Cache-Control": value}), 200)
        assert ttl(reply) is None and ttl(s.get("/k/m")) is None, value
    about(s.put("/k/m?ttl=60", body=b"{}", headers={"Cache-Control": "max-age=3600"}), 60)
    about(s.post("/k/put/m", body=b"{}", headers={"Cache-Control": "max-age=3600"}), HOUR)
    assert ttl(s.get("/k/2", headers={"Cache-Control": "max-age=5"})) is None, "of a put alone"
    expect(s.put("/k/put/2/a", body=b"5", headers={"Cache-Control": "max-age=5"}), 200)
    assert ttl(s.get("/k/2")) is None


def check_fields_keep_the_time(s):
    expect(s.put("/k/f?ttl=3600", body=b"{}"), 201)
    about(expect(s.put("/k/put/f/a", body=b"7"), 200), HOUR)
    about(s.get("/k/f"), HOUR)
    about(expect(s.put("/k/put/f/a?dry_run=1", body=b"8"), 200), HOUR)
    long = json.dumps({"b": "x" * 100_000})
    expect(s.put("/k/f?ttl=3600", body=long), 200)
    about(expect(s.put("/k/put/f/a", body=b"7"), 200), HOUR)
    about(expect(s.put("/k/put/f/a?dry_run=1", body=b"8"), 200), HOUR)


def check_of_the_type(s):
    """It is for what asks for nothing, and begins anew with each write."""
    register(s, "t", query="?ttl=3600")
    about(expect(s.put("/t/1", body=b"{}"), 201), HOUR)
    about(expect(s.put("/t/1?ttl=60", body=b"{}"), 200), 60)
    about(expect(s.put("/t/put/1/a", body=b"1"), 200), HOUR)
    about(expect(s.put("/t/1", body=b"{}", headers={"Cache-Control": "max-age=60"}), 200), 60)
    about(expect(s.put("/t/1", body=b"{}", headers={"Cache-Control": "max-age=0"}), 200), HOUR)
    about(expect(s.put("/t/1?dry_run=1", body=b"{}"), 200), HOUR)
    register(s, "t", query="?ttl=none")
    about(s.get("/t/1"), HOUR)
    about(expect(s.put("/t/put/1/a", body=b"1"), 200), HOUR)
    assert ttl(expect(s.put("/t/1", body=b"{}"), 200)) is None


def check_raw_types(s):
    register(s, "raw", '"bytes"')
    about(expect(s.put("/raw/1?ttl=60", body=b"abc", headers={"Content-Type": "image/png"}), 201), 60)
    reply = s.get("/raw/1")
    about(reply, 60)
    assert reply.body == b"abc" and reply.header("Content-Type") == "image/png"
    about(expect(s.get("/raw/1", headers={"Range": "bytes=1-"}), 206), 60)
    large = b"x" * 3_000_000  # goes in with several groups
    about(expect(s.put("/raw/2", body=large, headers={"Cache-Control": "max-age=60"}), 201), 60)
    reply = s.get("/raw/2")
    about(reply, 60)
    assert reply.body == large


def check_scans(s):
    register(s, "scan")
    expect(s.put("/scan/a?ttl=3600", body=b"{}"), 201)
    expect(s.put("/scan/b", body=b"{}"), 201)
    expect(s.put("/scan/c?ttl=3600", body=json.dumps({"b": "x" * 300_000})), 201)
    for query in "", "?keys=1":
        lines = [json.loads(line) for line in s.get(f"/scan{query}").body.splitlines()]
        assert [line["id"] for line in lines] == ["a", "b", "c"]
        assert ["ttl" in line for line in lines] == [True, False, True], lines
        assert HOUR - 30 <= lines[0]["ttl"] <= HOUR


def check_absent_at_once(s):
    """For every reader, whether or not it has been removed."""
    register(s, "e")
    before = metric(s, "avrod_store_expired_records_total")
    first = expect(s.put("/e/1?ttl=1", body=b'{"a":1}'), 201)
    for i in range(2, 600):
        expect(s.put(f"/e/put/{i}?ttl=1", body=b"{}"), 200)
    expect(s.put("/e/stays?ttl=3600", body=b"{}"), 201)
    until(lambda: s.get("/e/599").status == 404, "the last of them lives on")
    for path in "/e/1", "/e/get/1", "/e/get/1/a":
        expect(s.get(path), 404, "no_record")
        expect(s.request("HEAD", path), 404)
    assert [json.loads(line)["id"] for line in s.get("/e").body.splitlines()] == ["stays"]
    expect(s.put("/e/1?dry_run=1", body=b"{}"), 201)
    expect(s.put("/e/put/1/a", body=b"1"), 404, "no_record")
    expect(s.delete("/e/1"), 404, "no_record")
    assert expect(s.put("/e/1", body=b"{}", headers={"If-Match": first.header("ETag")}), 412).json()["current"] is None
    expect(s.put("/e/1", body=b"{}", headers={"If-Match": "*"}), 412)
    expect(s.put("/e/1?dry_run=1", body=b"{}", headers={"If-Match": "*"}), 412)
    assert ttl(expect(s.put("/e/1", body=b"{}", headers={"If-None-Match": "*"}), 201)) is None
    until(lambda: records_of(s, "e") == 2, "what is past its time is not removed")
    assert s.request("HEAD", "/e").header("Record-Count") == "2"
    assert 598 <= metric(s, "avrod_store_expired_records_total") - before <= 599
    expect(s.get("/e/1"), 200)


def check_after_a_restart(s):
    register(s, "r")
    expect(s.put("/r/1?ttl=3600", body=b"{}"), 201)
    expect(s.put("/r/2?ttl=1", body=b"{}"), 201)
    s.restart(kill=True)
    about(s.get("/r/1"), HOUR)
    until(lambda: records_of(s, "r") == 1, "what is past its time is not removed")


def main():
    with Server() as s:
        register(s, "k")
        for check in (check_asked, check_bad, check_max_age, check_fields_keep_the_time, check_of_the_type, check_raw_types,
                      check_scans, check_absent_at_once, check_after_a_restart):
            check(s)
            print(check.__name__)
    print("ok")


if __name__ == "__main__":
    main()
