"""tests/http/test_edits.py - changing a part of a stored record: on the writer, or by a helper where that would hold up
all other writes; nothing is lost on the way, and nothing of a connection overtakes it."""

import json
import re
import threading

from avrod import Server, read_reply
from edge import HOST

FIRST = {"type": "record", "name": "R", "fields": [
    {"name": "n", "type": "int", "default": 0},
    {"name": "m", "type": "int", "default": 0},
    {"name": "items", "type": {"type": "array", "items": "int"}, "default": []},
    {"name": "text", "type": "string", "default": ""}]}
SECOND = json.loads(json.dumps(FIRST))
SECOND["fields"][0]["type"] = "long"
SECOND["fields"][2]["type"]["items"] = "long"
LONG = "x" * 100000  # more than the writer edits itself


def expect(reply, status, code=None):
    assert reply.status == status, reply
    if code:
        assert reply.json()["code"] == code, reply
    return reply


def helped(s):
    found = re.search(r"^avrod_edits_helped_total (\S+)$", s.get("/metrics").body.decode(), re.M)
    return int(float(found.group(1)))


def put(target, body, extra=b""):
    return b"PUT " + target + b" HTTP/1.1\r\n" + HOST + extra + b"Content-Length: %d\r\n\r\n" % len(body) + body


def field(s, target, name):
    return expect(s.get(target), 200).json()[name]


def check_short(s):
    """A short record is the writer's, and told of."""
    before = helped(s)
    expect(s.put("/r/short", body=b"{}"), 201)
    reply = expect(s.put("/r/put/short/n", body=b"7"), 200)
    assert reply.header("Changed") == "1" and reply.header("ETag") == s.get("/r/short").header("ETag")
    assert field(s, "/r/short", "n") == 7
    assert helped(s) == before


def check_long(s):
    """A long one is a helper's: the writer gives it back before it puts its chunks together."""
    before = helped(s)
    created = expect(s.put("/r/long", body=json.dumps({"text": LONG}).encode()), 201)
    reply = expect(s.put("/r/put/long/n", body=b"7", headers={"If-Match": created.header("ETag")}), 200)
    assert helped(s) == before + 1
    assert reply.header("ETag") != created.header("ETag") and reply.header("Changed") == "1"
    got = expect(s.get("/r/long"), 200)
    assert got.json() == {"n": 7, "m": 0, "items": [], "text": LONG} and got.header("ETag") == reply.header("ETag")
    stale = expect(s.put("/r/put/long/n", body=b"8", headers={"If-Match": created.header("ETag")}), 412, "condition_failed")
    assert stale.json()["current"]["record"]["n"] == 7
    expect(s.put("/r/put/long/n", body=b"8", headers={"If-None-Match": "*"}), 412, "condition_failed")
    expect(s.put("/r/put/long/n", body=b'"x"'), 422, "bad_record")
    assert field(s, "/r/long", "n") == 7


def check_long_body(s):
    """A short record that is to become a long one is a helper's: what is sent counts as what is there does."""
    items = [1] * 40000
    patch = {"Content-Type": "application/merge-patch+json"}
    for method, target, body, headers in (
            ("PATCH", "/r/grow", json.dumps({"items": items}), patch),
            ("PATCH", "/r/grow", json.dumps([{"op": "add", "path": "/items", "value": items}]),
             {"Content-Type": "application/json-patch+json"}),
            ("POST", "/r/insertall/grow", ".items\n" + json.dumps(items), {}),
            ("POST", "/r/update/grow", ".\n" + json.dumps({"items": items}), {}),
            ("PUT", "/r/put/grow/text", json.dumps(LONG), {})):
        expect(s.put("/r/grow", body=b"{}"), 201)
        before = helped(s)
        expect(s.request(method, target, body=body.encode(), headers=headers), 200)
        got = expect(s.get("/r/grow"), 200).json()
        assert got["items"] == items or got["text"] == LONG
        assert helped(s) == before + 1, (method, target)
        expect(s.delete("/r/grow"), 200)


def check_deep(s):
    """To find a value that is nested deeply goes over all that is around it, again and again: a helper's, however short."""
    node = {"type": "record", "name": "Node", "fields": [
        {"name": "n", "type": "int", "default": 0}, {"name": "of", "type": ["null", "Node"], "default": None},
        {"name": "more", "type": {"type": "map", "values": "Node"}, "default": {}}]}
    expect(s.post("/putschema/node", body=json.dumps(node).encode()), 200)
    record = {}
    for _ in range(900):
        record = {"of": record}
    expect(s.put("/node/1", body=json.dumps(record).encode()), 201)
    before = helped(s)
    for depth, more in ((2, 0), (890, 1)):
        patch = [{"op": "increment", "path": "/of" * depth + "/n", "by": 1}]
        expect(s.request("PATCH", "/node/1", body=json.dumps(patch).encode(),
                         headers={"Content-Type": "application/json-patch+json"}), 200)
        assert helped(s) == before + more, depth


def check_dry_run(s):
    tag = s.get("/r/long").header("ETag")
    reply = expect(s.put("/r/put/long/n?dry_run=1", body=b"9"), 200)
    assert reply.header("Dry-Run") == "1" and reply.header("ETag") is None
    expect(s.put("/r/put/none/n?dry_run=1", body=b"9"), 404, "no_record")
    expect(s.put("/r/put/long/n?dry_run=1", body=b"9", headers={"If-None-Match": "*"}), 412, "condition_failed")
    assert s.get("/r/long").header("ETag") == tag


def check_order(s):
    """What stands behind an edit on its connection is not decided before it, though the edit comes back from the writer."""
    whole = json.dumps({"m": 5, "text": "short"}).encode()
    with s.connect() as c:
        c.sendall(put(b"/r/put/long/n", b"41") + put(b"/r/long", whole) + put(b"/r/put/long/n", b"42"))
        pending = b""
        for _ in range(3):
            reply, pending = read_reply(c, pending=pending)
            assert reply.status == 200, reply
    assert expect(s.get("/r/long"), 200).json() == {"n": 42, "m": 5, "items": [], "text": "short"}


def check_nothing_is_lost(s):
    """Edits of one long record from many connections."""
    names, rounds = ["n", "m", "items", "text"], 12
    values = {"n": range(rounds), "m": range(rounds), "items": [[i] * 30000 for i in range(rounds)],
              "text": [LONG + str(i) for i in range(rounds)]}
    expect(s.put("/r/hot", body=json.dumps({"text": LONG, "items": [0] * 30000}).encode()), 201)
    tags, failed = [], []

    def work(name):
        for value in values[name]:
            reply = s.put(f"/r/put/hot/{name}", body=json.dumps(value).encode())
            tags.append(reply.header("ETag"))
            if reply.status != 200 or s.get(f"/r/get/hot/{name}").json() != value:  # nobody else puts this field
                failed.append(reply)

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed, failed
    assert len(set(tags)) == len(names) * rounds
    got = expect(s.get("/r/hot"), 200)
    assert got.json() == {name: list(values[name])[-1] for name in names}
    assert got.header("ETag") == max(tags, key=lambda tag: int(tag.strip('"').split("-")[0]))


def check_other_version(s):
    """A long record of another version is read as the latest by a helper, not by the writer."""
    items = [1] * 3000000
    expect(s.put("/r/old", body=json.dumps({"items": items, "text": LONG * 70}).encode()), 201)
    expect(s.put("/r/older", body=b'{"n":1}'), 201)
    expect(s.post("/putschema/r", body=json.dumps(SECOND).encode()), 200)
    before = helped(s)
    reply = expect(s.put("/r/put/old/n", body=b"123456789012"), 200)
    assert reply.header("ETag").endswith('-2"')
    assert helped(s) == before + 1
    got = expect(s.get("/r/old"), 200).json()
    assert got["n"] == 123456789012 and got["items"] == items and got["text"] == LONG * 70
    expect(s.put("/r/put/older/m", body=b"2"), 200)
    assert helped(s) == before + 1
    assert s.get("/r/older").json() == {"n": 1, "m": 2, "items": [], "text": ""}


def check_restart(s):
    """Schemas and what leads from one to the other are made when they are needed."""
    expect(s.put("/r/raw", body=b'{"n":5}', headers={"Schema-Version": "1"}), 201)
    s.restart()
    expect(s.put("/r/put/raw/m", body=b"6"), 200)
    assert s.get("/r/raw").json() == {"n": 5, "m": 6, "items": [], "text": ""}


def main():
    with Server() as s:
        expect(s.post("/putschema/r?compatibility=none", body=json.dumps(FIRST).encode()), 200)
        check_short(s)
        check_long(s)
        check_long_body(s)
        check_deep(s)
        check_dry_run(s)
        check_order(s)
        check_nothing_is_lost(s)
        check_other_version(s)
        check_restart(s)
    print("ok")


if __name__ == "__main__":
    main()
