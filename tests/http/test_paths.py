"""tests/http/test_paths.py - select, update, insert, insertall, delete, clear: bodies, answers, conditions, versions, forms, long
records; and that changes by path of one record at the same time all count."""

import json
import threading

from avrod import Server, sanitized

CHARGE = {"type": "record", "name": "Charge", "fields": [{"name": "time", "type": "long"}, {"name": "amount", "type": "double"}]}
ACCOUNT = {"type": "record", "name": "Account", "fields": [
    {"name": "id", "type": "string"},
    {"name": "chargeRecords", "type": {"type": "array", "items": CHARGE}, "default": []},
    {"name": "devApps", "type": {"type": "map", "values": {"type": "record", "name": "Apps", "fields": [
        {"name": "numBlackApps", "type": "int", "default": 0}]}}, "default": {}},
    {"name": "day", "type": {"type": "int", "logicalType": "date"}, "default": 0}]}
RECORD = {"id": "x", "chargeRecords": [{"time": 1, "amount": 100.0}, {"time": 2, "amount": -50.0}],
          "devApps": {name: {"numBlackApps": n} for n, name in enumerate("abc", 1)}, "day": 0}
VERBS = "update", "insert", "insertall", "delete", "clear"


def register(s, name, schema, **options):
    query = "&".join(f"{k}={v}" for k, v in options.items())
    reply = s.post(f"/putschema/{name}?{query}", body=json.dumps(schema))
    assert reply.status == 200, reply


def put(s, target, record):
    reply = s.put(target, body=json.dumps(record))
    assert reply.status in (200, 201), reply
    return reply.header("ETag")


def problem(reply, status, code):
    assert reply.status == status and reply.header("Content-Type") == "application/problem+json", reply
    body = reply.json()
    assert body["code"] == code, body
    return body


def change(s, verb, path, value=None, target="account/1", changed=1, brk="\n", **kw):
    kind, id = target.split("/")
    body = path if value is None else path + brk + json.dumps(value)
    reply = s.post(f"/{kind}/{verb}/{id}", body=body.encode(), **kw)
    assert reply.status == 200 and reply.body == b"OK" and reply.header("Changed") == str(changed), (path, reply)
    return reply


def select(s, path, target="account/1", query="", **kw):
    kind, id = target.split("/")
    reply = s.post(f"/{kind}/select/{id}{query}", body=path.encode(), **kw)
    assert reply.status == 200 and reply.header("Content-Type") == "application/json", (path, reply)
    return reply.json()


def check_examples(s):
    register(s, "account", ACCOUNT)
    put(s, "/account/1", RECORD)
    assert select(s, ".chargeRecords[-1].time") == [2]
    assert select(s, ".chargeRecords{.amount > 10 && .time < 1000}.time") == [1]
    change(s, "update", ".chargeRecords[0].time", 1234)
    change(s, "update", '.devApps("a"|"b").numBlackApps', 1234, changed=2)
    change(s, "insert", ".chargeRecords", {"time": 4, "amount": -4.0})
    change(s, "insertall", ".devApps", {"g": {"numBlackApps": 1}, "h": {"numBlackApps": 10}}, changed=2)
    change(s, "delete", ".chargeRecords{.time < 1000}", changed=2)
    assert s.get("/account/1").json() == {
        "id": "x", "chargeRecords": [{"time": 1234, "amount": 100.0}],
        "devApps": {"a": {"numBlackApps": 1234}, "b": {"numBlackApps": 1234}, "c": {"numBlackApps": 3}, "g": {"numBlackApps": 1},
                    "h": {"numBlackApps": 10}}, "day": 0}
    change(s, "clear", ".devApps")
    change(s, "update", ".", {"id": "y", "day": 3}, changed=2)
    assert s.get("/account/1").json() == {"id": "y", "chargeRecords": [{"time": 1234, "amount": 100.0}], "devApps": {}, "day": 3}


def check_bodies(s):
    put(s, "/account/1", RECORD)
    for n, brk in enumerate(("\n", "\r\n", "\r")):
        change(s, "update", ".id", f"v{n}", brk=brk)
        assert select(s, ".id" + brk) == [f"v{n}"]
        change(s, "delete", '.devApps("nothing")' + brk, changed=0)
    for kind in (None, "text/plain", "application/octet-stream", "application/x-www-form-urlencoded", "application/json",
                 "text/plain; charset=utf-8"):
        headers = {"Content-Type": kind} if kind else {}
        change(s, "update", ".id", "k", headers=headers)
        assert select(s, ".id", headers=headers) == ["k"]
    for verb in VERBS + ("select",):
        for headers in ({"Content-Type": "application/xml"}, {"Content-Type": "text/plain; charset=latin-1"},
                        {"Content-Encoding": "gzip"}):
            assert s.post(f"/account/{verb}/1", body=b".id\n1", headers=headers).status == 415
        assert s.get(f"/account/{verb}/1").status == 405
        assert s.post(f"/account/{verb}", body=b".id\n1").status == 400
        problem(s.post(f"/account/{verb}/", body=b".id\n1"), 400, "bad_target")
    for verb in "update", "insert", "insertall":
        body = problem(s.post(f"/account/{verb}/1", body=b'.chargeRecords {"time":1,"amount":1}'), 400, "bad_request")
        assert "--data-binary" in body["detail"]
    for verb in "select", "delete", "clear":
        problem(s.post(f"/account/{verb}/1", body=b".chargeRecords\n1"), 400, "bad_request")
        assert s.post(f"/account/{verb}/1", body=b".chargeRecords[9]\n \n").status == 200
    # A line break within a JSON text is one, too: where it is told.
    body = problem(s.post("/account/update/1", body=b".day\r\n{\r\n\"a\":}"), 400, "bad_json")
    assert (body["line"], body["column"]) == (3, 5), body
    problem(s.post("/account/update/1", body=b".day\n"), 400, "bad_json")
    problem(s.post("/account/update/1", body=b""), 400, "bad_request")
    problem(s.post("/account/select/1", body=b""), 400, "bad_path")


def check_refusals(s):
    put(s, "/account/1", RECORD)
    for path, column in ((".nope", 1), (".chargeRecords[", 16), (".chargeRecords{.time = 1}", 22), ("id", 1),
                         ('.devApps(~"(")', 11), (".chargeRecords.nope", 15), (".id\xff", 4)):
        for verb in VERBS + ("select",):
            body = path.encode("latin-1") + (b"\n1" if verb[:2] in ("up", "in") else b"")
            said = problem(s.post(f"/account/{verb}/1", body=body), 400, "bad_path")
            assert said["line"] == 1 and said["column"] == column, (path, said)
    said = problem(s.post("/account/insertall/1", body=b'.chargeRecords\n[{"time":1,"amount":1},{"time":"x"}]'), 422, "bad_record")
    assert [e["pointer"] for e in said["errors"]] == ["/chargeRecords/3/time", "/chargeRecords/3/amount"], said
    said = problem(s.post("/account/update/1", body=b'.\n{"nope":1,"day":"x"}'), 422, "bad_record")
    assert [(e["pointer"], e["code"]) for e in said["errors"]] == [("/day", "type"), ("/nope", "unknown")], said
    said = problem(s.post("/account/delete/1", body=b".id"), 422, "not_applicable")
    assert '"id" is a field' in said["detail"]
    problem(s.post("/account/delete/1", body=b"."), 422, "not_applicable")
    problem(s.post("/account/clear/1", body=b".id"), 422, "not_applicable")
    problem(s.post("/account/insert/1", body=b".id\n1"), 422, "not_applicable")
    assert s.get("/account/1").json() == RECORD, "what is refused changes nothing"
    for verb in VERBS + ("select",):
        body = b".chargeRecords\n" + (b'[{"time":1,"amount":1}]' if verb[:2] in ("up", "in") else b"")
        problem(s.post(f"/account/{verb}/none", body=body if verb != "delete" else b".chargeRecords[0]"), 404, "no_record")
        problem(s.post(f"/none/{verb}/1", body=body), 404, "no_type")
        problem(s.post(f"/account/{verb}/1?x=1", body=body), 400, "unknown_parameter")
    register(s, "raw", "bytes")
    assert s.put("/raw/1", body=b"content").status == 201
    assert select(s, ".", "raw/1") == ["content"]
    problem(s.post("/raw/update/1", body=b'.\n"x"'), 422, "not_applicable")


def check_conditions(s):
    tag = put(s, "/account/1", RECORD)
    reply = change(s, "update", ".day", 1, headers={"If-Match": tag})
    assert reply.header("ETag") != tag
    said = problem(s.post("/account/update/1", body=b".day\n2", headers={"If-Match": tag}), 412, "condition_failed")
    assert said["current"]["record"]["day"] == 1
    problem(s.post("/account/update/1", body=b".day\n2", headers={"If-None-Match": "*"}), 412, "condition_failed")
    # Nothing is written where nothing changes.
    before = s.get("/account/1").header("ETag")
    assert change(s, "clear", ".devApps").header("ETag") != before
    before = s.get("/account/1").header("ETag")
    assert change(s, "clear", ".devApps", changed=0).header("ETag") == before
    # Each path, form and revision has a tag of its own; a POST is never 304.
    tags = {s.post(f"/account/select/1{q}", body=p).header("ETag")
            for p in (b".id", b".day", b"..day") for q in ("", "?logical=text", "?int64=string")}
    assert len(tags) == 9 and before not in tags and None not in tags
    tag = s.post("/account/select/1", body=b".day").header("ETag")
    assert s.post("/account/select/1", body=b".day", headers={"If-Match": tag}).status == 200
    assert s.post("/account/select/1", body=b".id", headers={"If-Match": tag}).status == 412
    assert s.post("/account/select/1", body=b".id", headers={"If-None-Match": tag}).status == 200
    said = problem(s.post("/account/select/1", body=b".day", headers={"If-None-Match": tag}), 412, "condition_failed")
    assert said["current"]["record"]["id"] == "x"
    # dry_run says what would be.
    for verb, body in (("update", b'.id\n"dry"'), ("delete", b".chargeRecords[*]"), ("clear", b".chargeRecords")):
        assert s.post(f"/account/{verb}/1?dry_run=1", body=body).status == 200
    assert s.get("/account/1").header("ETag") == before
    problem(s.post("/account/update/1?dry_run=1", body=b".id\n1"), 422, "bad_record")


def check_forms(s):
    put(s, "/account/1", RECORD)
    assert select(s, ".day", query="?logical=text") == ["1970-01-01"]
    assert select(s, ".chargeRecords.time", query="?int64=string") == ["1", "2"]
    reply = s.post("/account/update/1?logical=text", body=b'.day\n"1970-01-05"')
    assert reply.status == 200, reply
    assert select(s, ".day") == [4]
    assert select(s, ".{.day == 4}.id") == ["x"], "predicates see what is stored"
    reply = s.post("/account/select/1", body=b".id", headers={"Accept": "avro/json"})
    assert reply.status == 200 and reply.header("Content-Type") == "avro/json", reply
    assert s.post("/account/select/1", body=b".id", headers={"Accept": "avro/binary"}).status == 406


def check_versions(s):
    old = {"type": "record", "name": "V", "fields": [{"name": "a", "type": "int"}]}
    new = {"type": "record", "name": "V", "fields": [{"name": "b", "type": {"type": "array", "items": "int"}, "default": [7]},
                                                     {"name": "a", "type": "int"}]}
    register(s, "v", old)
    put(s, "/v/1", {"a": 1})
    register(s, "v", new)
    assert select(s, ".b", "v/1") == [7]
    problem(s.post("/v/select/1?version=1", body=b".b"), 400, "bad_path")
    assert select(s, ".a", "v/1", "?version=1") == [1]
    assert select(s, ".a", "v/1", headers={"Accept-Schema-Version": "1"}) == [1]
    problem(s.post("/v/insert/1", body=b".b\n8", headers={"Schema-Version": "1"}), 409, "other_version")
    change(s, "insert", ".b", 8, target="v/1", headers={"Schema-Version": "2"})
    assert s.get("/v/1").json() == {"b": [7, 8], "a": 1}


def check_long(s):
    """A record of some megabytes: a helper looks and changes."""
    n = 20_000 if sanitized() else 100_000
    register(s, "long", {"type": "array", "items": CHARGE})
    put(s, "/long/1", [{"time": i, "amount": i / 2} for i in range(n)])
    assert select(s, f"{{.time > {n - 3}}}.time", "long/1") == [n - 2, n - 1]
    assert select(s, "[-1].amount", "long/1") == [(n - 1) / 2]
    assert len(select(s, ".", "long/1")) == n
    change(s, "update", "{.time % 2 == 0}.amount", 1.0, target="long/1", changed=n // 2)
    change(s, "delete", "{.time % 2 == 1}", target="long/1", changed=n // 2)
    assert select(s, "{.amount != 1}", "long/1") == []
    assert len(s.get("/long/1").json()) == n // 2
    problem(s.post("/long/select/1", body=b"{.time == ^.time + 0.5 || .time < ^.amount * -1}"), 422, "too_much_work")
    problem(s.post("/long/delete/1", body=b"{.time < ^.amount * -1}"), 422, "too_much_work")
    assert s.get("/ping").status == 200


def check_together(s):
    """Inserts of one record from many connections: each is there once."""
    threads, rounds = 4, 20 if sanitized() else 100
    register(s, "set", {"type": "map", "values": "int"})
    put(s, "/set/1", {})
    failures = []

    def run(t):
        for i in range(rounds):
            reply = s.post("/set/insert/1", body=b'.\n{"%d-%d":%d}' % (t, i, i))
            if reply.status != 200:
                failures.append(reply)

    running = [threading.Thread(target=run, args=(t,)) for t in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not failures, failures[:3]
    assert s.get("/set/1").json() == {f"{t}-{i}": i for t in range(threads) for i in range(rounds)}


def main():
    with Server() as s:
        for check in (check_examples, check_bodies, check_refusals, check_conditions, check_forms, check_versions, check_long,
                      check_together):
            check(s)
            print(check.__name__)
    print("ok")


if __name__ == "__main__":
    main()
