"""tests/http/test_range_delete.py - DELETE /{type}?prefix=, in bounded transactions, and PURGE, which is DELETE."""

import json
import threading
import time

from avrod import Server, read_reply, records_of


def expect(reply, status, code=None):
    assert reply.status == status, reply
    if code:
        assert reply.json()["code"] == code, reply
    return reply


def deleted(reply):
    return int(reply.header("Deleted"))


def register(s, name, schema='"int"'):
    return expect(s.post(f"/putschema/{name}", body=schema), 200)


def fill(s, name, idents, body=b"1"):
    """Pipelined, so that thousands take a moment."""
    with s.connect() as sock:
        for at in range(0, len(idents), 50):
            some, pending = idents[at:at + 50], b""
            sock.sendall(b"".join(b"PUT /%s/%s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s"
                                  % (name.encode(), ident.encode(), len(body), body) for ident in some))
            for _ in some:
                reply, pending = read_reply(sock, pending=pending)
                assert reply.status in (200, 201), reply


def ids(s, name):
    return [json.loads(line).get("id") for line in s.get(f"/{name}?keys=1").body.splitlines()]


def check_prefix(s):
    register(s, "a")
    register(s, "b")
    for name in "a", "b":
        fill(s, name, ["ab", "ab%00", "ab%C3%A4", "abc", "ab%FF", "ac", "b", "aa"])
    count = expect(s.delete("/a?prefix=ab&dry_run=1"), 200)
    assert deleted(count) == 5 and count.header("Dry-Run") == "1" and count.header("ETag") is None
    assert records_of(s, "a") == 8
    gone = expect(s.delete("/a?prefix=ab"), 200)
    assert gone.body == b"OK" and deleted(gone) == 5 and gone.header("ETag").endswith('-1"')
    assert ids(s, "a") == ["aa", "ac", "b"] and records_of(s, "b") == 8
    again = expect(s.delete("/a?prefix=ab"), 200)
    assert deleted(again) == 0 and again.header("ETag") is None
    assert deleted(expect(s.delete("/b?prefix=ab%C3"), 200)) == 1
    assert deleted(expect(s.delete("/b?prefix=ab%FF"), 200)) == 1
    assert deleted(expect(s.delete("/b?prefix=ab%00"), 200)) == 1
    assert deleted(expect(s.delete("/b?prefix=" + "a" * 600), 200)) == 0
    expect(s.get("/a/b"), 200)
    assert expect(s.put("/a/ab", body=b"5"), 201).header("ETag").endswith('-1"'), "the type stays"


def check_refused(s):
    for target in "/a", "/a?prefix=", "/a?dry_run=1", "/a?prefix=x&dry_run=2":
        expect(s.delete(target), 400, "bad_parameter")
    assert "delschema" in s.delete("/a").json()["detail"]
    expect(s.delete("/a?prefix=%zz"), 400, "bad_target")
    expect(s.delete("/a?prefix=x&from=y"), 400, "unknown_parameter")
    for header in "If-Match", "If-None-Match":
        for value in "*", '"1-1"', "":
            expect(s.delete("/a?prefix=a", headers={header: value}), 400, "bad_request")
    expect(s.delete("/none?prefix=a"), 404, "no_type")
    assert "DELETE" in s.request("OPTIONS", "/a").header("Allow")
    reply = s.delete("/a?prefix=a", headers={"Origin": "http://evil.example"})
    expect(reply, 403, "forbidden_origin")


def check_many(s):
    """More than one transaction takes, raw records in chunks too."""
    register(s, "many")
    fill(s, "many", [f"p{i:05}" for i in range(3000)] + ["o", "q"])
    assert deleted(expect(s.delete("/many?prefix=p&dry_run=1"), 200)) == 3000
    assert deleted(expect(s.delete("/many?prefix=p&timing=1"), 200)) == 3000
    assert ids(s, "many") == ["o", "q"] and records_of(s, "many") == 2
    register(s, "blob", '"bytes"')
    for i in range(20):
        expect(s.put(f"/blob/x{i}", body=b"y" * 50_000), 201)
    assert deleted(expect(s.delete("/blob?prefix=x"), 200)) == 20
    assert records_of(s, "blob") == 0


def check_order(s):
    """On a connection it comes behind what was before it, and before what is behind it."""
    register(s, "order")
    with s.connect() as sock:
        put = b"PUT /order/x%d HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\n\r\n1"
        sock.sendall(put % 1 + put % 2 + b"DELETE /order?prefix=x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + put % 3 +
                     b"HEAD /order HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        pending, replies = b"", []
        for i in range(5):
            reply, pending = read_reply(sock, head=i == 4, pending=pending)
            replies.append(reply)
    assert [r.status for r in replies] == [201, 201, 200, 201, 200]
    assert deleted(replies[2]) == 2 and replies[4].header("Record-Count") == "1"


def check_client_leaves(s):
    """Nobody waits for the end: it is not gone on with."""
    register(s, "left")
    n = 20_000
    fill(s, "left", [f"p{i:05}" for i in range(n)])
    with s.connect() as sock:
        sock.sendall(b"DELETE /left?prefix=p HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    ended = b'avrod_http_requests_total{route="/{type}",method="DELETE",status="503"} 1\n'
    deadline = time.monotonic() + 60
    while ended not in s.get("/metrics").body:
        assert time.monotonic() < deadline, "it went on to the end, or never ends"
    left = records_of(s, "left")
    assert left > 0, "all were deleted although the client had left"
    assert deleted(expect(s.delete("/left?prefix=p"), 200)) == left


def check_type_goes(s):
    """Dropped meanwhile: 404, or it was faster."""
    register(s, "goes")
    fill(s, "goes", [f"p{i:05}" for i in range(5000)])
    got = []
    thread = threading.Thread(target=lambda: got.append(s.delete("/goes?prefix=p")))
    thread.start()
    expect(s.delete("/delschema/goes"), 200)
    thread.join()
    assert got[0].status in (200, 404), got
    if got[0].status == 404:
        assert got[0].json()["code"] == "no_type"


def check_purge(s):
    """The method of HTTP caches: what DELETE is."""
    made = expect(s.put("/a/gone", body=b"1"), 201)
    expect(s.request("PURGE", "/a/gone", headers={"If-Match": '"1-1"'}), 412, "condition_failed")
    gone = expect(s.request("PURGE", "/a/gone", headers={"If-Match": made.header("ETag")}), 200)
    assert gone.body == b"OK" and gone.header("ETag")
    expect(s.request("PURGE", "/a/gone"), 404, "no_record")
    expect(s.request("PURGE", "/a/none"), 404, "no_record")
    assert "PURGE" in s.request("OPTIONS", "/a/gone").header("Allow").split(", ")
    for target in "/a", "/ping", "/a/get/gone", "/schemas", "/a?prefix=x":
        expect(s.request("PURGE", target), 405, "bad_method")
    expect(s.request("PURGE", "/a/b", headers={"Origin": "http://evil.example"}), 403, "forbidden_origin")
    expect(s.request("PURGE", "/a/b", headers={"Sec-Fetch-Site": "cross-site"}), 403, "forbidden_origin")
    expect(s.get("/a/b"), 200)


def check_drain(s):
    """It ends with what is done by then told."""
    register(s, "drain")
    n = 20_000
    fill(s, "drain", [f"p{i:05}" for i in range(n)])
    with s.connect() as sock:
        sock.sendall(b"DELETE /drain?prefix=p HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        while records_of(s, "drain") == n:
            pass
        assert s.stop() == 0
        reply, _ = read_reply(sock)
    assert reply.status in (200, 503), reply
    s.start()
    assert records_of(s, "drain") == n - deleted(reply), "it told what it has done"
    if reply.status == 503:
        assert reply.json()["code"] == "draining" and reply.header("Retry-After")
    assert deleted(expect(s.delete("/drain?prefix=p"), 200)) == n - deleted(reply)


def main():
    with Server() as s:
        for check in (check_prefix, check_refused, check_many, check_order, check_client_leaves, check_type_goes, check_purge,
                      check_drain):
            check(s)
            print(check.__name__)
    print("ok")


if __name__ == "__main__":
    main()
