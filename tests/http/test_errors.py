"""tests/http/test_errors.py - every refusal is a problem document with its status and slug, and the connection goes on."""

import json

from avrod import Server, read_reply

SCHEMA = {"type": "record", "name": "E", "fields": [
    {"name": "a", "type": "int"}, {"name": "b", "type": "int"}, {"name": "c", "type": "int"}]}

# method, target, body, status, slug, words that the detail has
CASES = [
    ("GET", "/nope/get/1", None, 404, "no_type", "nope"),
    ("GET", "/nope", None, 404, "no_type", "nope"),
    ("GET", "/e/x/name", None, 404, "no_route", ""),
    ("GET", "/e//1", None, 404, "no_route", ""),
    ("GET", "/e/get/none", None, 404, "no_record", "none"),
    ("GET", "/metrics/x", None, 404, "no_route", ""),
    ("POST", "/_more", b"[]", 404, "no_route", ""),
    ("POST", "/_txn", b"[]", 400, "bad_transaction", "operations"),
    ("POST", "/e/select/1", b".a", 404, "no_record", ""),
    ("GET", "/e/get/", None, 400, "bad_target", "id is missing"),
    ("POST", "/e/put", b"{}", 400, "bad_target", "id is missing"),
    ("POST", "/e/put/", b"{}", 400, "bad_target", "id is missing"),
    ("GET", "/e/%zz", None, 400, "bad_target", "%"),
    ("GET", "/e/%", None, 400, "bad_target", "%"),
    ("GET", "/e/1?x=%4", None, 400, "bad_target", "%"),
    ("GET", "/e/1?nope=1", None, 400, "unknown_parameter", "benchmark_only"),
    ("GET", "/schemas?x=1", None, 400, "unknown_parameter", "known here: limit, timing, subjectPrefix"),
    ("GET", "/ping?x=1", None, 400, "unknown_parameter", "none"),
    ("PATCH", "/e", b"{}", 405, "bad_method", "GET"),
    ("DELETE", "/ping", None, 405, "bad_method", "GET"),
    ("GET", "/putschema/e", None, 405, "bad_method", "POST"),
    ("PUT", "/e/put/1", b"", 400, "bad_json", ""),
    ("PUT", "/e/put/1", b"[1", 400, "bad_json", ""),
    ("PUT", "/e/put/1", b'{"a":1,"a":2,"b":1,"c":1}', 400, "bad_json", ""),
    ("PUT", "/e/put/1", b"\xef\xbb\xbf{}", 400, "bad_json", ""),
    ("PUT", "/e/put/1", b'{"a":1,"b":1,"c":1} x', 400, "bad_json", ""),
    ("PUT", "/e/put/1", b"null", 422, "bad_record", ""),
    ("PUT", "/e/put/1", b"[]", 422, "bad_record", ""),
    ("PUT", "/e/put/1", b"[" * 100000, None, None, ""),
]


def check_problem(reply, status, slug, words):
    assert reply.header("Content-Type") == "application/problem+json", reply
    problem = reply.json()
    assert reply.status == problem["status"] == status, reply
    assert problem["code"] == slug and problem["title"] and words in problem["detail"], problem
    return problem


def check_cases(s):
    for method, target, body, status, slug, words in CASES:
        reply = s.request(method, target, body=body)
        if status:
            check_problem(reply, status, slug, words)
        else:
            assert reply.status in (400, 422), reply
        if reply.status == 405:
            assert reply.header("Allow"), reply


def check_one_connection(s):
    """No refusal ends a connection whose framing is not in doubt."""
    with s.connect() as c:
        rest = b""
        for method, target, body, status, _, _ in CASES:
            data = body or b""
            c.sendall(b"%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
                      % (method.encode(), target.encode(), len(data), data))
            reply, rest = read_reply(c, pending=rest)
            assert status is None or reply.status == status, reply
        c.sendall(b"GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n")
        reply, rest = read_reply(c, pending=rest)
        assert reply.body == b"pong" and rest == b""


def check_all_problems(s):
    problem = check_problem(s.put("/e/put/1", body=b'{"a":"x","b":null,"zz":1}'), 422, "bad_record", "")
    assert [(e["pointer"], e["code"]) for e in problem["errors"]] == [
        ("/a", "type"), ("/b", "type"), ("/c", "missing"), ("/zz", "unknown")], problem
    many = {f"x{i}": i for i in range(150)}
    problem = check_problem(s.put("/e/put/1", body=json.dumps({"a": 1, "b": 1, "c": 1, **many})), 422, "bad_record", "")
    assert len(problem["errors"]) == 100 and problem["truncated"] is True
    problem = check_problem(s.put("/e/put/1", body=b'{"a":1,\n  "b":}'), 400, "bad_json", "")
    assert (problem["line"], problem["column"]) == (2, 7), problem
    assert s.get("/e/get/1").status == 404, "nothing was stored"


def check_options(s):
    reply = s.request("OPTIONS", "/e/1")
    assert reply.status == 204 and reply.header("Allow") == "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS, PURGE", reply
    assert s.request("OPTIONS", "/ping").header("Allow") == "GET, HEAD, OPTIONS"
    assert s.request("OPTIONS", "/x/y/z/w").status == 404


def check_before_the_body(s):
    """What is known from the head is refused before the body is asked for."""
    for target, kind, length, status in (("/nope/put/1", "application/json", 10, 404),
                                         ("/e/put/1?x=1", "application/json", 10, 400),
                                         ("/e/put/1", "application/xml", 10, 415),
                                         ("/e/put/1", "application/json", 1 << 40, 413),
                                         ("/putschema/e", "application/json", (1 << 20) + 1, 413),
                                         ("/putschema/_e", "application/json", 10, 400)):
        with s.connect() as c:
            c.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Type: %s\r\n"
                      b"Content-Length: %d\r\n\r\n" % (target.encode(), kind.encode(), length))
            reply, _ = read_reply(c)
            assert reply.status == status, reply
    with s.connect() as c:
        body = b'{"a":1,"b":2,"c":3}'
        c.sendall(b"POST /e/put/2 HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n"
                  % len(body))
        reply, rest = read_reply(c)
        assert reply.status == 100 and not rest, reply
        c.sendall(body)
        reply, _ = read_reply(c)
        assert reply.status == 200, reply


def check_chunked_too_large(s):
    with s.connect() as c:
        c.sendall(b"POST /putschema/e HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
        try:
            for _ in range(20):
                c.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass
        reply, _ = read_reply(c)
        check_problem(reply, 413, "body_too_large", "")


def main():
    with Server() as s:
        assert s.post("/putschema/e", body=json.dumps(SCHEMA)).status == 200
        for check in (check_cases, check_one_connection, check_all_problems, check_options, check_before_the_body,
                      check_chunked_too_large):
            check(s)
            print(check.__name__)
        assert s.get("/ping").body == b"pong"
    print("ok")


if __name__ == "__main__":
    main()
