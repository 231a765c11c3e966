"""tests/http/test_records.py - reading and writing records on verb and resource paths: fields, tags, conditions, raw
types, versions, benchmark_only."""

import json
import random
import threading

from avrod import Server, read_reply

PERSON = {"type": "record", "name": "P", "fields": [
    {"name": "name", "type": "string"}, {"name": "age", "type": "int", "default": 0},
    {"name": "mail", "type": ["null", "string"], "default": None}]}


def expect(reply, status, code=None):
    assert reply.status == status, reply
    if code:
        assert reply.json()["code"] == code, reply
    return reply


def register(s, name, schema, query=""):
    text = schema if isinstance(schema, str) else json.dumps(schema)
    return expect(s.post(f"/putschema/{name}{query}", body=text), 200)


def check_verbs(s):
    first = expect(s.post("/p/put/1", body=b'{"name":"Bo"}'), 200)
    assert first.body == b"OK" and first.header("ETag").endswith('-1"')
    got = expect(s.get("/p/get/1"), 200)
    assert got.body == b'{"name":"Bo","age":0,"mail":null}', got
    assert got.header("Content-Type") == "application/json"
    assert got.header("ETag") == first.header("ETag")
    assert got.header("Schema-Version") == "1"
    assert "Accept" in got.header("Vary")
    again = expect(s.put("/p/put/1", body=b'{"name":"Al","mail":"a@x"}'), 200)
    assert int(again.header("ETag")[1:].split("-")[0]) > int(first.header("ETag")[1:].split("-")[0])
    assert s.get("/p/get/1").json() == {"name": "Al", "age": 0, "mail": "a@x"}
    expect(s.get("/p/get/none"), 404, "no_record")
    head = expect(s.request("HEAD", "/p/get/1"), 200)
    assert head.body == b"" and head.header("ETag") == again.header("ETag")
    assert int(head.header("Content-Length")) == len(s.get("/p/get/1").body)
    expect(s.request("HEAD", "/p/get/none"), 404)


def check_resources(s):
    made = expect(s.put("/p/r1", body=b'{"name":"R"}'), 201)
    assert made.header("Location") == "/p/r1" and made.body == b"OK"
    assert expect(s.post("/p/r1", body=b'{"name":"S"}'), 200).header("Location") is None
    assert expect(s.put("/p/a%2Fb%20c", body=b'{"name":"S"}'), 201).header("Location") == "/p/a%2Fb%20c"
    assert s.get("/p/get/a%2Fb%20c").json()["name"] == "S"
    assert s.get("/p/r1").header("ETag") == s.get("/p/get/r1").header("ETag")
    gone = expect(s.delete("/p/r1"), 200)
    assert gone.body == b"OK" and gone.header("ETag")
    expect(s.delete("/p/r1"), 404, "no_record")
    expect(s.get("/p/r1"), 404, "no_record")
    expect(s.put("/p/r1", body=b'{"name":"S"}'), 201)


def check_ids(s):
    expect(s.put("/p/a+b", body=b'{"name":"plus"}'), 201)
    for same in "a+b", "a%2Bb", "a%2bb":
        assert expect(s.get(f"/p/get/{same}"), 200).json()["name"] == "plus"
    expect(s.get("/p/get/a%20b"), 404, "no_record")
    for odd in "%2F", "..", ".", "%00", "%FF%FE", "get", "%25", "x" * 480, "%00" * 480, "ping":
        expect(s.put(f"/p/put/{odd}", body=json.dumps({"name": odd[:9]}).encode()), 200)
        assert expect(s.get(f"/p/{odd}"), 200).json()["name"] == odd[:9]
        expect(s.delete(f"/p/{odd}"), 200)
    for dots in ".", "..":
        made = expect(s.put(f"/p/{dots}", body=b'{"name":"dots"}'), 201)
        assert made.header("Location") == "/p/" + dots.replace(".", "%2E"), "no client may resolve it"
        assert expect(s.get(made.header("Location")), 200).json()["name"] == "dots"
    long = expect(s.get("/p/" + "x" * 481), 414, "id_too_long").json()
    assert "480" in long["detail"], long
    expect(s.put("/p/put/" + "x" * 2000, body=b"{}"), 414, "id_too_long")


def check_fields(s):
    s.post("/p/put/f", body=b'{"name":"Fi","age":7}')
    assert s.get("/p/get/f/age").body == b"7"
    assert s.get("/p/get/f/name").body == b'"Fi"'
    assert s.get("/p/get/f/mail").body == b"null"
    whole, field = s.get("/p/get/f").header("ETag"), s.get("/p/get/f/age").header("ETag")
    assert field == whole[:-1] + '-field"', "a part is not the whole"
    expect(s.get("/p/get/f/age", headers={"If-None-Match": field}), 304)
    expect(s.get("/p/get/f/age", headers={"If-None-Match": whole}), 200)
    expect(s.put("/p/put/f/age", body=b"7", headers={"If-Match": field}), 200)
    expect(s.get("/p/get/f/nope"), 404, "no_field")
    expect(s.get("/p/get/none/age"), 404, "no_record")
    wrote = expect(s.post("/p/put/f/age", body=b"888"), 200)
    assert wrote.body == b"OK"
    expect(s.put("/p/put/f/mail", body=b'"a longer text than the null before"'), 200)
    expect(s.put("/p/put/f/name", body=b'""'), 200)
    assert s.get("/p/get/f").json() == {"name": "", "age": 888, "mail": "a longer text than the null before"}
    expect(s.put("/p/put/f/age", body=b'"x"'), 422, "bad_record")
    expect(s.put("/p/put/f/age", body=b"1,"), 400, "bad_json")
    expect(s.put("/p/put/f/age", body=b""), 400, "bad_json")
    expect(s.put("/p/put/f/nope", body=b"1"), 404, "no_field")
    expect(s.put("/p/put/none/age", body=b"1"), 404, "no_record")
    expect(s.get("/p/get/none"), 404, "no_record")
    expect(s.put("/p/put/f/age", body=b"1", headers={"If-Match": wrote.header("ETag")}), 412, "condition_failed")
    assert s.get("/p/get/f/age").body == b"888"


def check_fields_at_once(s):
    """Edits are made inside the writer's transaction, so none is lost."""
    s.post("/p/put/m", body=b'{"name":"m"}')

    def work(field, value):
        for _ in range(30):
            expect(s.put(f"/p/put/m/{field}", body=json.dumps(value).encode()), 200)

    threads = [threading.Thread(target=work, args=pair) for pair in (("name", "N"), ("age", 5), ("mail", "M"))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert s.get("/p/get/m").json() == {"name": "N", "age": 5, "mail": "M"}


def check_conditions(s):
    body = b'{"name":"c"}'
    made = expect(s.put("/p/c", body=body, headers={"If-None-Match": "*"}), 201)
    failed = expect(s.put("/p/c", body=b'{"name":"d"}', headers={"If-None-Match": "*"}), 412, "condition_failed")
    revision = int(made.header("ETag")[1:].split("-")[0])
    assert failed.json()["current"] == {"revision": revision, "record": {"name": "c", "age": 0, "mail": None}}
    assert failed.header("ETag") == made.header("ETag")
    expect(s.put("/p/c", body=body, headers={"If-Match": '"old"'}), 412)
    expect(s.put("/p/c", body=body, headers={"If-Match": "W/" + made.header("ETag")}), 412)
    expect(s.put("/p/c", body=body, headers={"If-Match": made.header("ETag").strip('"')}), 400, "bad_request")
    for empty in "", ",":
        for header in "If-Match", "If-None-Match":
            expect(s.put("/p/c", body=body, headers={header: empty}), 400, "bad_request")
            expect(s.delete("/p/c", headers={header: empty}), 400, "bad_request")
    second = expect(s.put("/p/c", body=body, headers={"If-Match": f'"9999999-1", {made.header("ETag")}'}), 200)
    expect(s.put("/p/c", body=body, headers={"If-None-Match": second.header("ETag")}), 412)
    expect(s.post("/p/put/c", body=body, headers={"If-Match": made.header("ETag")}), 412)
    expect(s.delete("/p/c", headers={"If-Match": made.header("ETag")}), 412)
    expect(s.put("/p/c", body=body, headers={"If-Match": "*", "If-None-Match": "*"}), 400)
    expect(s.delete("/p/c", headers={"If-Match": second.header("ETag")}), 200)
    missing = expect(s.put("/p/c", body=body, headers={"If-Match": "*"}), 412)
    assert missing.json()["current"] is None, missing
    expect(s.get("/p/c"), 404)


def check_read_conditions(s):
    tag = s.put("/p/rc", body=b'{"name":"c"}').header("ETag")
    for name in tag, f'"x", {tag}', "*", "W/" + tag:
        unchanged = expect(s.get("/p/rc", headers={"If-None-Match": name}), 304)
        assert unchanged.body == b"" and unchanged.header("ETag") == tag
    expect(s.get("/p/rc", headers={"If-None-Match": '"1-1"'}), 200)
    expect(s.get("/p/rc", headers={"If-Match": tag}), 200)
    failed = expect(s.get("/p/rc", headers={"If-Match": '"1-1"'}), 412, "condition_failed")
    assert failed.json()["current"]["record"]["name"] == "c", failed
    assert failed.header_all("ETag") == [tag], failed
    failed = expect(s.get("/p/get/rc/name", headers={"If-Match": tag}), 412)
    assert failed.json()["current"]["record"]["name"] == "c" and failed.header_all("ETag") == [tag], failed
    expect(s.get("/p/none", headers={"If-None-Match": "*"}), 404)


def check_versions(s):
    register(s, "v", {"type": "record", "name": "V", "fields": [{"name": "n", "type": "string"}]}, "?compatibility=none")
    s.post("/v/put/1", body=b'{"n":"one"}')
    register(s, "v", {"type": "record", "name": "V", "fields": [{"name": "address", "type": "string"}]})
    s.post("/v/put/2", body=b'{"address":"two"}')
    old, new = s.get("/v/get/1?version=1"), s.get("/v/get/2")
    assert old.json() == {"n": "one"} and old.header("Schema-Version") == "1" and old.header("ETag").endswith('-1"')
    assert new.json() == {"address": "two"} and new.header("Schema-Version") == "2"
    assert s.get("/v/get/1/n?version=1").body == b'"one"'
    expect(s.get("/v/get/1/n"), 404, "no_field")
    for refused in s.get("/v/get/1"), s.get("/v/get/1/address"), s.put("/v/put/1/address", body=b'"x"'):
        refused = expect(refused, 409, "other_version").json()
        assert "version 1" in refused["detail"] and "version 2" in refused["detail"], refused
        assert refused["errors"][0]["pointer"] == "/address", refused
    assert s.get("/v/get/1?version=1").json() == {"n": "one"}
    expect(s.put("/v/put/1", body=b'{"address":"x"}'), 200)
    expect(s.put("/v/put/1/address", body=b'"y"'), 200)
    assert s.get("/v/get/1").header("Schema-Version") == "2"


def check_raw(s):
    register(s, "blob", '"bytes"')
    register(s, "text", '"string"')
    data = bytes(range(256)) * 3
    expect(s.put("/blob/1", body=data, headers={"Content-Type": "image/png"}), 201)
    got = expect(s.get("/blob/1"), 200)
    assert got.body == data and got.header("Content-Type") == "image/png"
    assert expect(s.request("HEAD", "/blob/1"), 200).header("Content-Length") == str(len(data))
    as_json = expect(s.get("/blob/1", headers={"Accept": "avro/json"}), 200)
    assert as_json.header("Content-Type") == "avro/json"
    assert as_json.json().encode("latin-1") == data
    assert as_json.header("ETag") != got.header("ETag")
    assert as_json.header("ETag").split("-")[0] == got.header("ETag").split("-")[0]
    expect(s.get("/blob/1", headers={"Accept": "avro/json", "If-None-Match": got.header("ETag")}), 200)
    expect(s.get("/blob/1", headers={"Accept": "avro/json", "If-None-Match": as_json.header("ETag")}), 304)
    assert expect(s.get("/blob/1", headers={"Accept": "image/*, avro/json;q=0.5"}), 200).body == data
    expect(s.get("/blob/1", headers={"Accept": "text/html"}), 406, "not_acceptable")
    expect(s.put("/blob/2", body=b"", headers={"Content-Type": "application/x-www-form-urlencoded"}), 201)
    empty = expect(s.get("/blob/2"), 200)
    assert empty.body == b"" and empty.header("Content-Type") == "application/x-www-form-urlencoded"
    expect(s.put("/blob/3", body=b"{", headers={"Content-Type": "application/json"}), 201)
    assert s.get("/blob/3").body == b"{"
    expect(s.put("/blob/4", body=b"x"), 201)
    assert s.get("/blob/4").header("Content-Type") == "application/octet-stream"
    expect(s.put("/blob/4", body=b"y", headers={"Content-Type": "avro/xml"}), 415, "unsupported_type")
    expect(s.put("/blob/4", body=b"y", headers={"Content-Type": "image/" + "x" * 250}), 400)
    expect(s.put("/text/1", body="grün\0".encode(), headers={"Content-Type": "text/markdown"}), 201)
    assert s.get("/text/1").body == "grün\0".encode() and s.get("/text/1").header("Content-Type") == "text/markdown"
    assert s.get("/text/1", headers={"Accept": "avro/json"}).json() == "grün\0"
    refused = expect(s.put("/text/1", body=b"a\xc3\x28"), 422, "bad_record").json()
    assert refused["errors"] == [{"pointer": "", "code": "encoding", "expected": "UTF-8",
                                  "got": "the byte 0xc3 at offset 1", "detail": refused["detail"]}], refused
    expect(s.put("/text/1", body=b"a", headers={"Content-Type": "text/plain; charset=latin1"}), 415)
    expect(s.put("/text/2", body=b"plain"), 201)
    assert s.get("/text/2").header("Content-Type") == "text/plain; charset=utf-8"
    current = expect(s.put("/text/2", body=b"x", headers={"If-None-Match": "*"}), 412).json()["current"]
    assert current["record"] == "plain", current
    expect(s.get("/text/2/x"), 404, "no_route")
    expect(s.get("/text/get/2/x"), 404, "no_field")
    expect(s.put("/text/put/2/x", body=b'"y"'), 404, "no_field")


def check_sizes(s):
    most = 4080 - 32 - 2  # head, length prefix: the longest body beside its head
    content = random.Random(1).randbytes(16 << 20)
    for size in most, most + 1, 4080, 4081, 2 * 4080 - 2, 2 * 4080, 100_000, (16 << 20) - 4:
        assert s.put("/blob/sized", body=content[:size], headers={"Content-Type": "image/png"}).status in (200, 201)
        got = expect(s.get("/blob/sized"), 200)
        assert got.body == content[:size] and got.header("Content-Type") == "image/png", size
        assert s.request("HEAD", "/blob/sized").header("Content-Length") == str(size), size
    expect(s.put("/blob/sized", body=content[: (16 << 20) - 3]), 413, "record_too_large")
    assert len(s.get("/blob/sized").body) == (16 << 20) - 4
    tag = s.get("/blob/sized").header("ETag")
    expect(s.get("/blob/sized", headers={"If-None-Match": tag}), 304)
    expect(s.delete("/blob/sized"), 200)
    expect(s.get("/blob/sized"), 404, "no_record")


def check_long_records(s):
    expect(s.put("/p/big", body=json.dumps({"name": "x" * 1_000_000}).encode()), 201)
    assert len(s.get("/p/big").json()["name"]) == 1_000_000
    assert len(s.get("/p/get/big/name").json()) == 1_000_000
    expect(s.put("/p/put/big/age", body=b"7"), 200)
    assert s.get("/p/big").json()["age"] == 7 and len(s.get("/p/big").json()["name"]) == 1_000_000
    current = expect(s.put("/p/big", body=b'{"name":"y"}', headers={"If-Match": '"1-1"'}), 412).json()["current"]
    assert len(current["record"]["name"]) == 1_000_000
    expect(s.put("/p/put/big/name", body=json.dumps("y" * 4000).encode()), 200)
    assert s.get("/p/big").json()["name"] == "y" * 4000


def check_forms(s):
    for kind in "application/json", "text/plain", "application/octet-stream", "application/x-www-form-urlencoded":
        expect(s.put("/p/form", body=b'{"name":"F"}', headers={"Content-Type": kind}), 201 if kind.endswith("json") else 200)
    for kind in "avro/xml", "application/xml", "application/vnd.apache.avro":
        expect(s.put("/p/form", body=b'{"name":"F"}', headers={"Content-Type": kind}), 415, "unsupported_type")
    for kind in "avro/xml", "application/xml", "avro/binary", "avro/single-object", "application/vnd.confluent.avro":
        expect(s.put("/p/put/form/age", body=b"1", headers={"Content-Type": kind}), 415, "unsupported_type")
    expect(s.put("/p/form", body=b'{"name":"F"}', headers={"Content-Encoding": "gzip"}), 415, "unsupported_coding")
    for accept in "application/json", "*/*", "application/*", "text/html, */*;q=0.1", "", ",":
        expect(s.get("/p/form", headers={"Accept": accept}), 200)
    for accept in "text/html", "avro/xml", "application/json;q=0, avro/*;q=0, application/vnd.confluent.avro;q=0":
        refused = expect(s.get("/p/form", headers={"Accept": accept}), 406, "not_acceptable").json()
        assert "application/json" in refused["detail"], refused


def check_benchmark(s):
    for path in "/p/get/1?benchmark_only=10", "/p/1?benchmark_only=1", "/p/anything?benchmark_only=18446744073709551615":
        got = expect(s.get(path), 200)
        assert got.body == b'{"name":"","age":0,"mail":null}', got
        assert got.header("ETag") is None
    before = s.get("/schemas").json()
    for method, path in (("POST", "/p/put/bm"), ("PUT", "/p/bm"), ("POST", "/p/bm")):
        wrote = expect(s.request(method, path + "?benchmark_only=10240", body=b'{"name":"x"}'), 200)
        assert wrote.body == b"OK"
        expect(s.request(method, path + "?benchmark_only=10240", body=b'{"nam":"x"}'), 422, "bad_record")
        expect(s.request(method, path + "?benchmark_only=10240", body=b'{'), 400, "bad_json")
    expect(s.get("/p/bm"), 404, "no_record")
    assert s.get("/schemas").json() == before
    for bad in "0", "-1", "x", "", "1.5", "18446744073709551616", "%31%00":
        expect(s.get(f"/p/get/1?benchmark_only={bad}"), 400, "bad_parameter")
        expect(s.post(f"/p/put/1?benchmark_only={bad}", body=b"{}"), 400, "bad_parameter")
    expect(s.get("/p/get/1/age?benchmark_only=1"), 400, "unknown_parameter")
    expect(s.get("/nope/get/1?benchmark_only=1"), 404, "no_type")
    assert expect(s.get("/blob/1?benchmark_only=1"), 200).body == b""


def check_pipelined(s):
    """A read behind writes on one connection sees them."""
    with s.connect() as c:
        text = b""
        for i in range(40):
            body = b'{"name":"n%d"}' % i
            text += b"PUT /p/pipe HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        text += b"GET /p/pipe HTTP/1.1\r\nHost: localhost\r\n\r\n"
        c.sendall(text)
        rest, last = b"", 0
        for i in range(40):
            reply, rest = read_reply(c, pending=rest)
            assert reply.status == (200 if i else 201), reply
            revision = int(reply.header("ETag")[1:].split("-")[0])
            assert revision > last
            last = revision
        reply, rest = read_reply(c, pending=rest)
        assert reply.json()["name"] == "n39" and rest == b""


def put_pipelined(s, names):
    """Puts in one packet, then a get: the names that it finds."""
    text = b""
    for name in names:
        body = b'{"name":"%s"}' % name
        text += b"PUT /p/order HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    with s.connect() as c:
        c.sendall(text + b"GET /p/order HTTP/1.1\r\nHost: localhost\r\n\r\n")
        rest = b""
        for _ in names:
            reply, rest = read_reply(c, pending=rest)
            assert reply.status in (200, 201), reply
        reply, rest = read_reply(c, pending=rest)
        return reply.json()["name"].encode()


def check_order(s):
    """Puts of one connection are stored in their order, also those that a helper checks and that wait for a schema."""
    long = b"x" * 200_000
    for _ in range(5):
        assert put_pipelined(s, [long, b"short"]) == b"short"
        assert put_pipelined(s, [b"short", long, b"last"]) == b"last"
    for _ in range(5):
        s.restart()
        assert put_pipelined(s, [b"n%d" % i for i in range(20)]) == b"n19"


def main():
    with Server() as s:
        register(s, "p", PERSON)
        for check in (check_verbs, check_resources, check_ids, check_fields, check_fields_at_once, check_conditions,
                      check_read_conditions, check_versions, check_raw, check_sizes, check_long_records, check_forms,
                      check_benchmark, check_pipelined, check_order):
            check(s)
            print(check.__name__)
    print("ok")


if __name__ == "__main__":
    main()
