"""tests/http/test_registry.py - the registry's API: every route, every error code, exact field sets, what it shares with
types and records, restarts, many clients at once."""

import json
import threading
from urllib.parse import quote

from avrod import Server, read_reply

V1 = {"type": "record", "name": "R", "namespace": "n", "fields": [{"name": "a", "type": "int"}]}
V2 = {**V1, "fields": V1["fields"] + [{"name": "b", "type": "string", "default": ""}]}
V3 = {**V1, "fields": V2["fields"] + [{"name": "c", "type": "long", "default": 0}]}
WRONG = {**V1, "fields": [{"name": "a", "type": "string"}]}
TYPES = ["application/vnd.schemaregistry.v1+json", "application/vnd.schemaregistry+json", "application/json"]


def text(schema):
    return schema if isinstance(schema, str) else json.dumps(schema)


def body(schema, **more):
    return json.dumps({"schema": text(schema), **more})


def at(name, *rest):
    return "/".join(["/subjects", quote(name, safe="")] + [str(piece) for piece in rest])


def ok(reply, wanted=None):
    assert reply.status == 200, reply
    assert reply.header("Content-Type") == TYPES[0], reply
    if wanted is not None:
        assert reply.json() == wanted, (reply.json(), wanted)
    return reply.json()


def fails(reply, status, code):
    assert reply.status == status, reply
    assert reply.header("Content-Type") in TYPES, reply
    fault = reply.json()
    assert set(fault) == {"error_code", "message"}, fault
    assert fault["error_code"] == code and fault["message"], fault
    return fault["message"]


def register(s, name, schema, query="", **more):
    return ok(s.post(at(name, "versions") + query, body(schema, **more)))["id"]


def of_type(s, name):
    for entry in s.get("/schemas").json():
        if entry["name"] == name:
            return entry
    return None


# ---- registering and reading ----


def check_register(s):
    for name in ("reg", "a/b:c", "ä", "with space", "x" * 478):
        first = s.post(at(name, "versions"), body(V1))
        ok(first)
        assert set(first.json()) == {"id"}, first
        one = first.json()["id"]
        assert register(s, name, json.dumps(V1, indent=3)) == one, "another spelling is the same schema"
        two = register(s, name, V2)
        assert two != one
        assert register(s, name, V1) == one, "a version that is there already is found, and not added once more"
        ok(s.get(at(name, "versions")), [1, 2])
        ok(s.get(at(name, "versions", 1)), {"subject": name, "version": 1, "id": one, "schema": text(V1)})
        for latest in ("latest", "LATEST", "-1", "2"):
            ok(s.get(at(name, "versions", latest)),
               {"subject": name, "version": 2, "id": two, "schema": text(V2)})
        assert s.get(at(name, "versions", 1, "schema")).body.decode() == text(V1)
        assert s.get(at(name, "versions", "latest", "schema")).body.decode() == text(V2)
        ok(s.get(at(name, "versions", 1, "referencedby")), [])
        assert name in ok(s.get("/subjects"))
    # One schema, one id, whatever the subject.
    assert len({register(s, name, V1) for name in ("reg", "a/b:c", "other")}) == 1
    # What is not percent-encoded is another path, and the default context may stand before a name.
    fails(s.get("/subjects/a/b:c/versions"), 404, 404)
    ok(s.get(at(":.:reg", "versions")), [1, 2])
    assert ok(s.get(at(":.:reg", "versions", 1)))["subject"] == "reg"


def check_names(s):
    for name in ("a%01", "%7F", "%C2%85", "%FF", "__GLOBAL", "__EMPTY", ":.other:x", "x" * 479):
        for reply in (s.post(f"/subjects/{name}/versions", body(V1)), s.get(f"/subjects/{name}/versions"),
                      s.put(f"/config/{name}", '{"compatibility":"NONE"}')):
            fails(reply, 422, 42208)
    fails(s.get("/subjects//versions"), 404, 404)


def check_not_there(s):
    register(s, "there", V1)
    fails(s.get(at("none", "versions")), 404, 40401)
    fails(s.get(at("none", "versions", 1)), 404, 40401)
    fails(s.get(at("none", "versions", 1, "schema")), 404, 40401)
    fails(s.get(at("none", "versions", 1, "referencedby")), 404, 40401)
    fails(s.post(at("none"), body(V1)), 404, 40401)
    fails(s.delete(at("none")), 404, 40401)
    fails(s.delete(at("none", "versions", 1)), 404, 40401)
    fails(s.get(at("there", "versions", 9)), 404, 40402)
    fails(s.get(at("there", "versions", 9, "schema")), 404, 40402)
    fails(s.delete(at("there", "versions", 9)), 404, 40402)
    fails(s.post("/compatibility/subjects/there/versions/9", body(V1)), 404, 40402)
    fails(s.post("/compatibility/subjects/none/versions/9", body(V1)), 404, 40402)
    fails(s.post(at("there"), body(WRONG)), 404, 40403)
    for path in ("", "/schema", "/subjects", "/versions"):
        for number in ("4000000", "0", "-1", "x", "99999999999999999999"):
            fails(s.get(f"/schemas/ids/{number}{path}"), 404, 40403)
    for version in ("0", "x", "-2", "1.0", "2147483648"):
        fails(s.get(at("there", "versions", version)), 422, 42202)
        fails(s.delete(at("there", "versions", version)), 422, 42202)
        fails(s.post(f"/compatibility/subjects/there/versions/{version}", body(V1)), 422, 42202)


def check_bad_bodies(s):
    for path in (at("bad", "versions"), "/compatibility/subjects/bad/versions/latest"):
        for wrong in ('{"type":"nope"}', "", "{", '["int","int"]', '"nothing"'):
            message = fails(s.post(path, body(wrong)), 422, 42201)
        assert "nothing" in message
        fails(s.post(path, "{}"), 422, 42201)
        fails(s.post(path, '{"schema":null}'), 422, 42201)
        for kind in ("JSON", "PROTOBUF", "avro"):
            fails(s.post(path, body(V1, schemaType=kind)), 422, 42201)
        fails(s.post(path, body(V1, metadata={"owner": "me"})), 422, 42201)
        fails(s.post(path, body(V1, ruleSet={"domainRules": []})), 422, 42201)
        for member in "id", "version":
            fails(s.post(path, body(V1, **{member: "1"})), 422, 422)
            fails(s.post(path, body(V1, **{member: 1 << 31})), 422, 422)
        for not_json in ("", "{", "\xef\xbb\xbf{}", '{"schema":"a","schema":"b"}', "[1,]"):
            fails(s.post(path, not_json), 400, 400)
        for other in ("[]", '"x"', '{"schema":1}', '{"schema":"\\"int\\"","references":1}'):
            fails(s.post(path, other), 422, 422)
    fails(s.get(at("bad", "versions")), 404, 40401)
    # Members that a newer client may send are passed over, and so are parameters; null is as nothing.
    assert ok(s.post(at("more", "versions") + "?context=x&normalize=false",
                     body(V1, schemaType="AVRO", references=None, metadata=None, ruleSet=None, version=-1, id=None,
                          propagateSchemaTags=False)))
    fails(s.post(at("bad", "versions"), body(V1) + " " * 4194304), 413, 413)
    fails(s.post(at("bad", "versions"), body('"' + "x" * 1048576 + '"')), 413, 413)


def check_chosen_numbers(s):
    """An id is given by the registry, and a version's number is the next: both may be said, but not chosen."""
    for name in "numbers", "num/bers":
        path = at(name, "versions")
        fails(s.post(path, body(V1, id=1_000_000)), 422, 42205)
        fails(s.post(path, body(V1, id=0)), 422, 42205)
        assert "one more" in fails(s.post(path, body(V1, version=2)), 422, 42201)
        fails(s.get(path), 404, 40401)
        one = ok(s.post(path, body(V1, version=1)))["id"]
        # One that is there already: with its own numbers, or none.
        for said in {}, {"id": one}, {"version": 1}, {"id": one, "version": 1}, {"id": -1, "version": -1}, {"version": 0}:
            ok(s.post(path, body(V1, **said)), {"id": one})
        fails(s.post(path, body(V1, id=one + 1)), 422, 42205)
        fails(s.post(path, body(V1, version=2)), 422, 42201)
        fails(s.post(path, body(V2, id=one)), 422, 42205)
        fails(s.post(path, body(V2, version=1)), 422, 42201)
        fails(s.post(path, body(V2, version=3)), 422, 42201)
        two = ok(s.post(path, body(V2, version=2)))["id"]
        ok(s.post(path, body(V1, version=1)), {"id": one})
        fails(s.post(at("other" + name, "versions"), body(V2, id=two)), 422, 42205) # that of another subject's
        ok(s.get(path), [1, 2])
        # Looking asks for neither.
        assert ok(s.post(at(name), body(V2, id=77, version=9)))["version"] == 2
        ok(s.post(f"/compatibility/subjects/{quote(name, safe='')}/versions/latest", body(V2, id=77, version=9)),
           {"is_compatible": True})
        ok(s.delete(at(name, "versions", 2)), 2)
        fails(s.post(path, body(V3, version=2)), 422, 42201) # a number is not given again
        ok(s.post(path, body(V3, version=3)))
    # A type may have a schema twice: either number is its.
    for schema in V1, V2, V1:
        assert s.post("/putschema/twice?compatibility=none", text(schema)).status == 200
    for version in 1, 3:
        ok(s.post(at("twice", "versions"), body(V1, version=version)))
    fails(s.post(at("twice", "versions"), body(V1, version=2)), 422, 42201)
    fails(s.put("/mode", '{"mode":"IMPORT"}'), 422, 42204)


def check_lookup(s):
    one, two = register(s, "look", V1), register(s, "look", V2)
    ok(s.post(at("look"), body(json.dumps(V1, indent=1))),
       {"subject": "look", "version": 1, "id": one, "schema": text(V1)})
    assert ok(s.post(at("look"), body(V2)))["id"] == two
    documented = {**V1, "doc": "a word"}
    fails(s.post(at("look"), body(documented)), 404, 40403)
    fails(s.post(at("look") + "?normalize=true", body(documented)), 404, 40403)
    found = ok(s.post(at("look") + "?format=canonical", body(documented)))
    assert (found["version"], found["id"]) == (1, one)
    assert json.loads(found["schema"]) == {"name": "n.R", "type": "record",
                                           "fields": [{"name": "a", "type": "int"}]}
    fails(s.post(at("look") + "?format=canonical", body(WRONG)), 404, 40403)
    ok(s.delete(at("look", "versions", 1)), 1)
    fails(s.post(at("look"), body(V1)), 404, 40403)
    assert ok(s.post(at("look") + "?deleted=true", body(V1)))["version"] == 1


def check_normalize(s):
    spelled = '{"fields": [], "name": "N", "namespace": "m", "type": "record"}'
    number = register(s, "norm", spelled, "?normalize=true")
    shown = ok(s.get(f"/schemas/ids/{number}"))["schema"]
    assert shown != spelled and json.loads(shown)["name"] == "m.N", shown
    assert register(s, "norm", spelled) == number
    assert register(s, "norm", shown, "?normalize=true") == number
    ok(s.get(at("norm", "versions")), [1])


def check_ids(s):
    one = register(s, "id-one", V3)
    register(s, "id/two", V1)
    assert register(s, "id/two", V3) == one
    ok(s.get(f"/schemas/ids/{one}"), {"schema": text(V3)})
    ok(s.get(f"/schemas/ids/{one}?subject=id-one"), {"schema": text(V3)})
    assert s.get(f"/schemas/ids/{one}/schema").body.decode() == text(V3)
    most = ok(s.get(f"/schemas/ids/{one}?fetchMaxId=true"))
    assert set(most) == {"schema", "maxId"} and most["maxId"] >= one
    assert register(s, "id-one", {**V3, "doc": "newer"}) > most["maxId"]
    ok(s.get(f"/schemas/ids/{one}/subjects"), ["id-one", "id/two"])
    ok(s.get(f"/schemas/ids/{one}/subjects?limit=1"), ["id-one"])
    ok(s.get(f"/schemas/ids/{one}/subjects?offset=1"), ["id/two"])
    ok(s.get(f"/schemas/ids/{one}/subjects?subject=id%2Ftwo"), ["id/two"])
    ok(s.get(f"/schemas/ids/{one}/versions"),
       [{"subject": "id-one", "version": 1}, {"subject": "id/two", "version": 2}])
    canonical = ok(s.get(f"/schemas/ids/{one}?format=canonical"))["schema"]
    assert json.loads(canonical)["fields"][2] == {"name": "c", "type": "long"}
    ok(s.get(f"/schemas/ids/{one}?format=whatever"), {"schema": text(V3)})
    ok(s.delete(at("id/two", "versions", 2)), 2)
    ok(s.get(f"/schemas/ids/{one}/subjects"), ["id-one"])
    ok(s.get(f"/schemas/ids/{one}/subjects?deleted=true"), ["id-one", "id/two"])
    ok(s.get(f"/schemas/ids/{one}"), {"schema": text(V3)})


def check_lists():
    with Server() as s:
        ok(s.get("/subjects"), [])
        ok(s.get("/schemas?latestOnly=true"), [])
        ids = [register(s, "l-b", V1), register(s, "l-b", V2)]
        register(s, "l-a", V1)
        register(s, "l/c", V1)
        register(s, "m", V1)
        ok(s.get("/subjects"), ["l-a", "l-b", "l/c", "m"])
        ok(s.get("/subjects?subjectPrefix=l-"), ["l-a", "l-b"])
        ok(s.get("/subjects?subjectPrefix=:*:"), ["l-a", "l-b", "l/c", "m"])
        ok(s.get("/subjects?subjectPrefix=:.:l/"), ["l/c"])
        ok(s.get("/subjects?offset=1&limit=2"), ["l-b", "l/c"])
        ok(s.get("/subjects?limit=0"), [])
        fails(s.get("/subjects?limit=x"), 400, 400)
        ok(s.get(at("l-b", "versions") + "?offset=1"), [2])
        everything = ok(s.get("/schemas", headers={"Accept": TYPES[0]}))
        assert [(e["subject"], e["version"], e["id"]) for e in everything] == [
            ("l-a", 1, ids[0]), ("l-b", 1, ids[0]), ("l-b", 2, ids[1]), ("l/c", 1, ids[0]), ("m", 1, ids[0])]
        assert all(set(e) == {"subject", "version", "id", "schema"} for e in everything)
        latest = ok(s.get("/schemas?latestOnly=true&subjectPrefix=l"))
        assert [(e["subject"], e["version"]) for e in latest] == [("l-a", 1), ("l-b", 2), ("l/c", 1)]
        assert [e["subject"] for e in ok(s.get("/schemas?offset=1&limit=1"))] == ["l-b"]
        # The types, where nobody asks for the registry's list.
        for headers in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}, {"Accept": "application/*"}):
            types = s.get("/schemas", headers=headers)
            assert [t["name"] for t in types.json()] == ["l-a", "l-b", "m"], types
            assert types.header("Content-Type") == "application/json" and types.header("Vary") == "Accept, Accept-Encoding"
        assert s.get("/schemas?prefix=x").header("Content-Type") == "application/problem+json"
        ok(s.delete(at("l-a")), [1])
        ok(s.delete(at("l-b", "versions", 1)), 1)
        ok(s.get("/subjects"), ["l-b", "l/c", "m"])
        ok(s.get("/subjects?deleted=true"), ["l-a", "l-b", "l/c", "m"])
        ok(s.get("/subjects?deletedOnly=true"), ["l-a"])
        ok(s.get("/subjects?deletedOnly=true&deleted=true"), ["l-a"])
        ok(s.get(at("l-b", "versions")), [2])
        ok(s.get(at("l-b", "versions") + "?deleted=true"), [1, 2])
        ok(s.get(at("l-b", "versions") + "?deletedOnly=true"), [1])
        assert len(ok(s.get("/schemas?deleted=true"))) == 5
        assert len(ok(s.get("/schemas?deleted=false"))) == 3
        ok(s.get("/schemas/types"), ["AVRO"])
        ok(s.get("/contexts"), ["."])


def check_long_lists():
    """Lists are walked page by page, and what they print is counted: one that is too long for the server is refused whole."""
    def metric(s, name):
        lines = s.get("/metrics").body.decode().splitlines()
        return float(next(line for line in lines if line.startswith(name + " ")).split()[1])

    n = 400 # more than a page of either kind
    names = sorted([f"s{i:04}" for i in range(n)] + [f"s{i:04}/x" for i in range(n)])
    with Server("--durability", "none", "--answers-budget", "1MiB") as s:
        ids = [register(s, name, {"type": "fixed", "name": "F", "size": i + 1, "doc": "x" * 8000})
               for i, name in enumerate(names)]
        ok(s.get("/subjects"), names)
        ok(s.get("/subjects?subjectPrefix=s02"), [name for name in names if name.startswith("s02")])
        ok(s.get(f"/subjects?offset={n}&limit=300"), names[n:n + 300])
        ok(s.get(f"/schemas/ids/{ids[-1]}/subjects"), names[-1:])
        assert ok(s.get(f"/schemas/ids/{ids[3]}?fetchMaxId=true"))["maxId"] == max(ids)
        for _ in range(3):
            fails(s.get("/schemas?deleted=true"), 503, 503)
            assert metric(s, "avrod_http_answers_bytes") == 0, "what was counted is given back"
        got = []
        while True:
            page = ok(s.get(f"/schemas?deleted=true&limit=90&offset={len(got)}"))
            got += [(e["subject"], e["id"]) for e in page]
            if len(page) < 90:
                break
        assert got == list(zip(names, ids))
        # Those that are deleted in between are still in their places.
        for name in names[100:110]:
            ok(s.delete(at(name)), [1])
        ok(s.get("/subjects?deletedOnly=true"), names[100:110])


def check_warnings(s):
    odd = {"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 5}
    for _ in range(2): # a schema that is there already is as odd as it was
        reply = s.post(at("odd", "versions"), body(odd))
        assert set(ok(reply)) == {"id"} and len(reply.header_all("Schema-Warning")) == 1, reply
        assert "scale" in reply.header("Schema-Warning") and reply.header("Vary") == "Accept, Accept-Encoding", reply
    assert s.post(at("even", "versions"), body(V1)).header("Schema-Warning") is None


def check_many_reasons(s):
    register(s, "reasons", {"type": "record", "name": "R", "fields": []})
    fields = [{"name": f"f{i}", "type": "int"} for i in range(150)]
    message = fails(s.post(at("reasons", "versions"), body({"type": "record", "name": "R", "fields": fields})), 409, 409)
    assert message.count("reader") == 100 and message.endswith("There are more."), message


# ---- media types, and errors that the edge makes ----


def check_media(s):
    register(s, "media", V1)
    for kind in TYPES:
        for accept in (kind, f"{kind}; q=0.5, text/plain", f"text/html, {kind}"):
            reply = s.get("/subjects/media/versions", headers={"Accept": accept})
            assert reply.status == 200 and reply.header("Content-Type") == kind, (accept, reply)
            assert reply.header("Vary") == "Accept, Accept-Encoding", reply
        gone = s.get("/subjects/none/versions", headers={"Accept": kind})
        assert gone.status == 404 and gone.header("Content-Type") == kind, gone
        for sent in (kind, kind + "; charset=utf-8", kind.upper()):
            assert s.post(at("media"), body(V1), headers={"Content-Type": sent}).status == 200, sent
    weighted = "application/vnd.schemaregistry.v1+json; q=0.1, application/json"
    assert s.get("/subjects", headers={"Accept": weighted}).header("Content-Type") == "application/json"
    assert s.get("/subjects", headers={"Accept": "*/*"}).header("Content-Type") == TYPES[0]
    for sent in ("application/octet-stream", "application/x-www-form-urlencoded"):
        assert s.post(at("media"), body(V1), headers={"Content-Type": sent}).status == 200, sent
    fails(s.get("/subjects", headers={"Accept": "text/html"}), 406, 406)
    message = fails(s.post(at("media"), body(V1), headers={"Content-Type": "application/xml"}), 415, 415)
    assert all(kind in message for kind in TYPES), ("what is offered", message)
    fails(s.post(at("media"), body(V1), headers={"Content-Encoding": "gzip"}), 415, 415)
    fails(s.post(at("media"), body(V1), headers={"Content-Type": TYPES[2] + "; charset=latin1"}), 415, 415)


def check_edge(s):
    for method, path in (("PATCH", "/subjects"), ("POST", "/subjects"), ("DELETE", "/schemas/types"),
                         ("PUT", "/subjects/a"), ("POST", "/config"), ("DELETE", "/contexts")):
        reply = s.request(method, path)
        fails(reply, 405, 405)
        assert reply.header("Allow") and reply.header_all("Vary") == ["Accept, Accept-Encoding"], reply
    for path in ("/subjects/a/b", "/subjects/a/versions/1/x", "/schemas/ids", "/schemas/x", "/config/a/b", "/mode/a/b",
                 "/compatibility", "/compatibility/subjects/a", "/contexts/x", "/subjects/a/b/c/d/e/f"):
        fails(s.get(path), 404, 404)
        assert s.get(path).header_all("Vary") == ["Accept, Accept-Encoding"], "its media type is that which Accept prefers"
    assert s.get("/subjects/none/versions").header_all("Vary") == ["Accept, Accept-Encoding"]
    assert s.request("HEAD", "/subjects").status == 200
    assert s.request("OPTIONS", "/subjects/a/versions").header("Allow") == "GET, HEAD, POST, OPTIONS"
    fails(s.get("/subjects?deleted=true&deleted=true"), 400, 400)
    with s.connect() as c: # too large is said before the body is read
        c.sendall(b"POST /subjects/big/versions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n")
        reply, _ = read_reply(c)
        fails(reply, 413, 413)
    # What is wrong before any handler sees it, too.
    for path in ("/subjects/%zz", "/subjects/a/versions/%", "/config/%4", "/schemas/ids/%g1", "/%73ubjects/%zz",
                 "/subjects?subjectPrefix=%zz", "/subjects/a/versions/1?format=%", "/mode?timing=2"):
        fails(s.get(path), 400, 400)
    fails(s.get("/subjects/" + "x" * 9000), 414, 414)
    fails(s.request("BREW", "/subjects"), 501, 501)
    fails(s.get("/config", headers={"Expect": "a miracle"}), 417, 417)
    fails(s.delete("/subjects/a", headers={"Origin": "http://evil.example"}), 403, 403)
    with s.connect() as c:
        c.sendall(b"GET /subjects HTTP/1.1\r\n\r\n") # no Host
        fails(read_reply(c)[0], 400, 400)
    # /schemas is the registry's for who asks for it.
    own = {"Accept": TYPES[0]}
    fails(s.get("/schemas?deleted=%zz", headers=own), 400, 400)
    fails(s.get("/schemas?deleted=true&limit=x"), 400, 400)
    fails(s.get("/schemas?subjectPrefix=a&limit=%zz"), 400, 400)
    fails(s.request("BREW", "/schemas", headers=own), 501, 501)
    ok(s.get("/schemas?nobodyKnows=1&subjectPrefix=none"), [])
    for path in "/schemas?nobodyKnows=1", "/schemas?timing=%zz", "/schemas?timing=2", "/nothing/%zz", "/%zz/subjects":
        reply = s.get(path)
        assert (reply.status, reply.header("Content-Type")) == (400, "application/problem+json"), (path, reply)
    assert s.request("BREW", "/schemas").header("Content-Type") == "application/problem+json"
    # What is no route of the registry speaks as before.
    assert s.get("/nothing/at/all").header("Content-Type") == "application/problem+json"
    assert s.request("PATCH", "/schemas").header("Content-Type") == "application/problem+json"
    assert s.get("/").json()["name"] == "avrod"


# ---- compatibility ----


def check_compatibility(s):
    register(s, "compat", V1)
    register(s, "compat", V2)
    path = "/compatibility/subjects/compat/versions"
    ok(s.post(f"{path}/latest", body(V3)), {"is_compatible": True})
    ok(s.post(f"{path}/latest?verbose=true", body(V3)), {"is_compatible": True, "messages": []})
    ok(s.post(f"{path}/1", body(WRONG)), {"is_compatible": False})
    told = ok(s.post(f"{path}/1?verbose=true", body(WRONG)))
    assert set(told) == {"is_compatible", "messages"} and not told["is_compatible"], told
    assert len(told["messages"]) == 1 and "/fields/0/type" in told["messages"][0], told
    ok(s.post(path, body(WRONG)), {"is_compatible": False})
    ok(s.post(path, body(V3)), {"is_compatible": True})
    fails(s.post(path, body('{"type":"nope"}')), 422, 42201)
    broken = ok(s.post(path + "?verbose=true", body('{"type":"nope"}')))
    assert not broken["is_compatible"] and "nope" in broken["messages"][0]
    for empty in ("/compatibility/subjects/nobody/versions", "/compatibility/subjects/nobody/versions/latest"):
        ok(s.post(empty, body(WRONG)), {"is_compatible": True})
    # One reason or many: each is told with its places in both schemas.
    message = fails(s.post(at("compat", "versions"), body(WRONG)), 409, 409)
    assert "compat" in message and "string" in message, message
    assert message.count('version 2, backward, reader "/fields/0/type", writer "/fields/0/type"') == 1, message
    two = {**V1, "fields": [{"name": "a", "type": "string"}, {"name": "z", "type": "int"}]}
    message = fails(s.post(at("compat", "versions"), body(two)), 409, 409)
    assert "/fields/0/type" in message and "/fields/1" in message, message
    ok(s.get(at("compat", "versions")), [1, 2])
    # Each level, by a schema that only some take; a version may be compared alone.
    added = {**V1, "fields": V3["fields"] + [{"name": "z", "type": "int"}]} # without a default
    lost = V1 # against the latest, which has b
    for level, takes_added, takes_lost in (("BACKWARD", False, True), ("FORWARD", True, True), ("FULL", False, True),
                                           ("NONE", True, True)):
        ok(s.put("/config/compat", json.dumps({"compatibility": level})), {"compatibility": level})
        ok(s.post(path, body(added)), {"is_compatible": takes_added})
        ok(s.post(path, body(lost)), {"is_compatible": takes_lost})
    for subject in ("trans", "tra/ns"):
        ok(s.put("/config/" + quote(subject, safe=""), '{"compatibility":"NONE"}'))
        renamed = {**V1, "fields": [{"name": "q", "type": "int", "default": 1}]}
        for schema in (WRONG, renamed):
            register(s, subject, schema)
        on = f"/compatibility/subjects/{quote(subject, safe='')}/versions"
        ok(s.put("/config/" + quote(subject, safe=""), '{"compatibility":"BACKWARD"}'))
        narrow = {**V1, "fields": [{"name": "a", "type": "int", "default": 1}]}
        ok(s.post(on, body(narrow)), {"is_compatible": True})
        ok(s.post(on + "/1", body(narrow)), {"is_compatible": False})
        ok(s.put("/config/" + quote(subject, safe=""), '{"compatibility":"BACKWARD_TRANSITIVE"}'))
        ok(s.post(on, body(narrow)), {"is_compatible": False})
        fails(s.post(at(subject, "versions"), body(narrow)), 409, 409)
        # A deleted version is not asked.
        ok(s.delete(at(subject, "versions", 1)), 1)
        register(s, subject, narrow)


# ---- settings ----


def check_config():
    with Server() as s:
        ok(s.get("/config"), {"compatibilityLevel": "BACKWARD"})
        for level in ("FORWARD_TRANSITIVE", "full", "NONE", "BACKWARD"):
            ok(s.put("/config", json.dumps({"compatibility": level})), {"compatibility": level.upper()})
            ok(s.get("/config"), {"compatibilityLevel": level.upper()})
        for name in ("typed", "un/typed"):
            path = "/config/" + quote(name, safe="")
            fails(s.get(path), 404, 40408)
            ok(s.get(path + "?defaultToGlobal=true"), {"compatibilityLevel": "BACKWARD"})
            fails(s.delete(path), 404, 40401)
            ok(s.put(path, '{"compatibility":"FULL"}'), {"compatibility": "FULL"}) # before there is a version
            ok(s.get(path), {"compatibilityLevel": "FULL"})
            register(s, name, V1)
            ok(s.get(path), {"compatibilityLevel": "FULL"})
            for wrong in ('{"compatibility":"SIDEWAYS"}', "{}", '{"compatibility":null}'):
                fails(s.put(path, wrong), 422, 42203)
            fails(s.put(path, "{"), 400, 400)
            fails(s.put(path, '{"compatibility":1}'), 422, 422)
        assert of_type(s, "typed")["compatibility"] == "full"
        ok(s.put("/config", '{"compatibility":"NONE"}'))
        # Who has no level of its own follows that for all: a type, however it was made, and any other subject.
        register(s, "later", V1)
        register(s, "lat/er", V1)
        assert s.post("/putschema/put", text(V1)).status == 200
        for level in ("NONE", "FORWARD", "BACKWARD"):
            ok(s.put("/config", json.dumps({"compatibility": level})))
            for name in ("later", "lat/er", "put"):
                path = "/config/" + quote(name, safe="")
                fails(s.get(path), 404, 40408)
                fails(s.delete(path), 404, 40401)
                ok(s.get(path + "?defaultToGlobal=true"), {"compatibilityLevel": level})
                ok(s.post("/compatibility/subjects/" + quote(name, safe="") + "/versions", body(WRONG)),
                   {"is_compatible": level == "NONE"})
                if of_type(s, name):
                    assert of_type(s, name)["compatibility"] == level.lower()
                    verdict = s.post(f"/putschema/{name}?dry_run=1", text(WRONG))
                    assert (verdict.status, verdict.json()["compatibility"]) == (200 if level == "NONE" else 409, level.lower())
            s.restart(kill=True)
        for name in ("later", "lat/er", "put"):
            fails(s.post(at(name, "versions"), body(WRONG)), 409, 409)
        assert s.post("/putschema/later", text(WRONG)).status == 409
        # One of its own stays, until it is taken away.
        ok(s.put("/config/later", '{"compatibility":"NONE"}'))
        assert s.post("/putschema/put?compatibility=none", text(V1)).status == 200
        for level in ("BACKWARD", "FULL"):
            ok(s.put("/config", json.dumps({"compatibility": level})))
            for name in ("later", "put"):
                ok(s.get("/config/" + name), {"compatibilityLevel": "NONE"})
                assert of_type(s, name)["compatibility"] == "none"
            s.restart()
        for name in ("later", "put"):
            register(s, name, WRONG)
            before = s.get("/getschema/" + name).header("ETag")
            ok(s.delete("/config/" + name), {"compatibilityLevel": "NONE"})
            assert s.get("/getschema/" + name).header("ETag") != before, "the type has changed"
            fails(s.get("/config/" + name), 404, 40408)
            ok(s.get(f"/config/{name}?defaultToGlobal=true"), {"compatibilityLevel": "FULL"})
            fails(s.post(at(name, "versions"), body(V2)), 409, 409)
        # Also the level that it would have had anyway.
        assert s.post("/putschema/put?compatibility=full", text(WRONG)).status == 200
        ok(s.put("/config", '{"compatibility":"NONE"}'))
        ok(s.get("/config/put"), {"compatibilityLevel": "FULL"})
        ok(s.put("/config", '{"compatibility":"FORWARD"}'))
        ok(s.delete("/config/un%2Ftyped"), {"compatibilityLevel": "FULL"})
        fails(s.get("/config/un%2Ftyped"), 404, 40408)
        # The option of the type, from either side.
        assert s.post("/putschema/typed?compatibility=backward_transitive", text(V1)).status == 200
        ok(s.get("/config/typed"), {"compatibilityLevel": "BACKWARD_TRANSITIVE"})
        ok(s.put("/config/early", '{"compatibility":"NONE"}'))
        assert s.post("/putschema/early", text(V1)).status == 200
        assert of_type(s, "early")["compatibility"] == "none"
        assert s.post("/delschema/early").status == 200
        assert s.post("/putschema/early", text(V1)).status == 200
        assert of_type(s, "early")["compatibility"] == "forward", "the level went with the type"
        ok(s.delete("/config"), {"compatibilityLevel": "FORWARD"})
        ok(s.put("/config/typed", '{"compatibility":"FORWARD"}'))
        ok(s.put("/config", '{"compatibility":"FULL_TRANSITIVE"}'))
        s.restart(kill=True)
        ok(s.get("/config"), {"compatibilityLevel": "FULL_TRANSITIVE"})
        ok(s.get("/config/typed"), {"compatibilityLevel": "FORWARD"})


def check_level_of_astore():
    """There a new type has a level of its own: none; not one that the registry makes."""
    with Server("--compat", "astore") as s:
        assert s.post("/putschema/old", text(V1)).status == 200
        ok(s.get("/config/old"), {"compatibilityLevel": "NONE"})
        register(s, "new", V1)
        fails(s.get("/config/new"), 404, 40408)
        fails(s.post(at("new", "versions"), body(WRONG)), 409, 409)
        register(s, "old", WRONG)


def check_levels_at_once():
    """What the last change said is what /schemas tells, whichever worker heard of it last."""
    with Server("--threads", "2") as s:
        assert s.post("/putschema/t", text(V1)).status == 200
        levels = ["NONE", "FULL", "FORWARD", "BACKWARD_TRANSITIVE"]
        for _ in range(20):
            at_once(4, lambda who: ok(s.put("/config", json.dumps({"compatibility": levels[who]}))))
            now = ok(s.get("/config"))["compatibilityLevel"]
            assert of_type(s, "t")["compatibility"] == now.lower()


def check_dry_run_of_read_only(s):
    """It says what a putschema would; the registry's own question is of the schema alone."""
    for schema, options in ((V2, ""), (WRONG, ""), (V1, "&unknown=ignore")):
        refused = s.post("/putschema/typed?dry_run=1" + options, text(schema))
        assert (refused.status, refused.json()["code"]) == (409, "read_only"), refused
    assert s.post("/putschema/typed?dry_run=1", text(V1)).status == 200
    ok(s.post("/compatibility/subjects/typed/versions/latest", body(V2)), {"is_compatible": True})
    ok(s.post("/compatibility/subjects/typed/versions", body(WRONG)), {"is_compatible": False})


def check_mode():
    with Server() as s:
        ok(s.get("/mode"), {"mode": "READWRITE"})
        register(s, "typed", V1)
        register(s, "un/typed", V1)
        assert s.put("/typed/1", '{"a":1}').status == 201
        for name in ("typed", "un/typed"):
            path, subject = "/mode/" + quote(name, safe=""), at(name)
            fails(s.get(path), 404, 40409)
            ok(s.get(path + "?defaultToGlobal=true"), {"mode": "READWRITE"})
            fails(s.delete(path), 404, 40401)
            for wrong in ('{"mode":"IMPORT"}', '{"mode":"FORWARD"}', "{}", '{"mode":"x"}'):
                fails(s.put(path, wrong), 422, 42204)
            ok(s.put(path, '{"mode":"READONLY"}'), {"mode": "READONLY"})
            ok(s.get(path), {"mode": "READONLY"})
            register(s, name, V1) # is there
            fails(s.post(subject + "/versions", body(V2)), 422, 42205)
            fails(s.post(subject + "/versions", body(WRONG)), 422, 42205)
            fails(s.delete(subject), 422, 42205)
            fails(s.delete(subject + "/versions/1"), 422, 42205) if name != "typed" else None
            fails(s.put("/config/" + quote(name, safe=""), '{"compatibility":"NONE"}'), 422, 42205)
        refused = s.post("/putschema/typed", text(V2))
        assert (refused.status, refused.json()["code"]) == (409, "read_only"), refused
        assert s.post("/putschema/typed?unknown=ignore", text(V1)).status == 409
        assert s.post("/putschema/typed", text(V1)).status == 200, "what changes nothing is no change"
        check_dry_run_of_read_only(s)
        assert s.put("/typed/2", '{"a":2}').status == 201, "records do not care"
        ok(s.put("/mode/fresh", '{"mode":"READONLY"}'))
        fails(s.post(at("fresh", "versions"), body(V1)), 422, 42205)
        assert s.post("/putschema/fresh?dry_run=1", text(V1)).status == 409
        ok(s.put("/mode", '{"mode":"READONLY"}'), {"mode": "READONLY"})
        ok(s.put("/mode/typed", '{"mode":"READWRITE"}'))
        register(s, "typed", V2) # its own mode counts ...
        ok(s.put("/mode", '{"mode":"readonly_override"}'), {"mode": "READONLY_OVERRIDE"})
        fails(s.post(at("typed", "versions"), body(V3)), 422, 42205) # ... unless that for all overrides it
        ok(s.get("/mode/typed"), {"mode": "READWRITE"})
        ok(s.get("/mode/typed?defaultToGlobal=true"), {"mode": "READONLY_OVERRIDE"})
        s.restart()
        ok(s.get("/mode"), {"mode": "READONLY_OVERRIDE"})
        ok(s.get("/mode/un%2Ftyped"), {"mode": "READONLY"})
        ok(s.delete("/mode"), {"mode": "READONLY_OVERRIDE"})
        ok(s.get("/mode"), {"mode": "READWRITE"})
        ok(s.delete("/mode/un%2Ftyped"), {"mode": "READONLY"})
        register(s, "un/typed", V2)
        register(s, "typed", V3)


# ---- deleting ----


def check_delete(s):
    for name in ("del", "d/el"):
        register(s, name, V1)
        two = register(s, name, V2)
        fails(s.delete(at(name) + "?permanent=true"), 404, 40405)
        fails(s.delete(at(name, "versions", 1) + "?permanent=true"), 404, 40407)
        ok(s.delete(at(name, "versions", "latest")), 2)
        ok(s.get(at(name, "versions")), [1])
        assert ok(s.get(at(name, "versions", "latest")))["version"] == 1
        fails(s.get(at(name, "versions", 2)), 404, 40402)
        assert ok(s.get(at(name, "versions", 2) + "?deleted=true"))["id"] == two
        assert ok(s.get(f"/schemas/ids/{two}"))["schema"] == text(V2), "whoever has its id can read it still"
        fails(s.delete(at(name, "versions", 2)), 404, 40406)
        assert register(s, name, V2) == two, "it comes back as a new version"
        ok(s.get(at(name, "versions") + "?deleted=true"), [1, 2, 3])
        ok(s.delete(at(name, "versions", 2) + "?permanent=true"), 2)
        ok(s.get(at(name, "versions") + "?deleted=true"), [1, 3])
        fails(s.get(at(name, "versions", 2) + "?deleted=true"), 404, 40402)
        ok(s.delete(at(name)), [1, 3])
        fails(s.delete(at(name)), 404, 40404)
        fails(s.get(at(name, "versions")), 404, 40401)
        fails(s.post(at(name), body(V1)), 404, 40401)
        ok(s.get(at(name, "versions") + "?deleted=true"), [1, 3])
        assert name not in ok(s.get("/subjects"))
        ok(s.put("/mode/" + quote(name, safe=""), '{"mode":"READWRITE"}'))
        ok(s.delete(at(name) + "?permanent=true"), [1, 3])
        fails(s.get(at(name, "versions") + "?deleted=true"), 404, 40401)
        fails(s.get("/mode/" + quote(name, safe="")), 404, 40409)
        assert ok(s.get(f"/schemas/ids/{two}"))["schema"] == text(V2)
        assert register(s, name, V2) == two
        ok(s.get(at(name, "versions")), [1])
    # The last version, one at a time.
    register(s, "sin/gle", V1)
    ok(s.delete(at("sin/gle", "versions", 1)), 1)
    ok(s.delete(at("sin/gle", "versions", 1) + "?permanent=true"), 1)
    fails(s.get(at("sin/gle", "versions") + "?deleted=true"), 404, 40401)


def check_delete_beside_records(s):
    register(s, "used", V1)
    register(s, "used", V2)
    register(s, "used", V3)
    assert s.put("/used/1", '{"a":7}').status == 201
    fails(s.delete(at("used")), 422, 42206)
    fails(s.delete(at("used", "versions", 3)), 422, 42206)
    assert s.get("/used/1").json() == {"a": 7, "b": "", "c": 0}, "nothing has changed"
    deleted = lambda: [v.get("deleted", False) for v in of_type(s, "used")["versions"]]
    assert deleted() == [False, False, False]
    ok(s.delete(at("used", "versions", 1)), 1) # nobody uses it
    assert deleted() == [True, False, False]
    ok(s.delete(at("used", "versions", 1) + "?permanent=true"), 1)
    assert deleted() == [True, False, False] and s.get("/getschema/used?version=1").status == 200
    assert s.delete("/used/1").status == 200
    ok(s.delete(at("used", "versions", 3)), 3)
    assert of_type(s, "used")["version"] == 2, "records are written in the latest that is left"
    assert s.put("/used/2", '{"a":8}').status == 201
    assert s.put("/used/2", '{"a":8,"c":1}').status == 422
    assert s.get("/used/2").json() == {"a": 8, "b": ""}
    assert s.get("/getschema/used?version=3").status == 200, "it can be read all the same"
    fails(s.delete(at("used", "versions", 2)), 422, 42206)
    register(s, "used", V3)
    assert of_type(s, "used")["version"] == 4
    assert s.delete("/used/2").status == 200
    ok(s.delete(at("used")), [2, 4])
    assert of_type(s, "used"), "a type stays until it is deleted for good"
    ok(s.delete(at("used") + "?permanent=true"), [2, 3, 4])
    assert of_type(s, "used") is None and s.get("/used/1").status == 404
    assert register(s, "used", V1)
    assert of_type(s, "used")["version"] == 1
    # A record that came after the subject was hidden keeps the type.
    ok(s.delete(at("used")), [1])
    assert s.put("/used/3", '{"a":1}').status == 201
    fails(s.delete(at("used") + "?permanent=true"), 422, 42206)
    assert s.get("/used/3").json() == {"a": 1}
    assert s.post("/delschema/used").status == 200
    fails(s.get(at("used", "versions") + "?deleted=true"), 404, 40401)
    # Nor does the last version go for good beside a record of one that has gone: the registry would not know the type.
    register(s, "used", V1)
    register(s, "used", V2)
    for version in 1, 2:
        ok(s.delete(at("used", "versions", version)), version)
    ok(s.delete(at("used", "versions", 1) + "?permanent=true"), 1)
    assert s.put("/used/1", '{"a":1}', headers={"Schema-Version": "1"}).status == 201
    fails(s.delete(at("used", "versions", 2) + "?permanent=true"), 422, 42206)
    ok(s.get("/subjects?deleted=true&subjectPrefix=used"), ["used"])
    assert s.get("/used/1").json() == {"a": 1, "b": ""}
    assert s.delete("/used/1").status == 200
    ok(s.delete(at("used", "versions", 2) + "?permanent=true"), 2)
    assert of_type(s, "used") is None


# ---- references ----


ADDRESS = {"type": "record", "name": "Address", "namespace": "geo", "fields": [{"name": "street", "type": "string"}]}
PERSON = {"type": "record", "name": "Person", "namespace": "p", "fields": [{"name": "home", "type": "geo.Address"}]}
FIRM = {"type": "record", "name": "Firm", "namespace": "f",
        "fields": [{"name": "boss", "type": "p.Person"}, {"name": "seat", "type": "geo.Address"}]}


def reference(name, subject, version):
    return {"name": name, "subject": subject, "version": version}


def check_references(s):
    register(s, "addr/ess", ADDRESS)
    to_address = [reference("geo.Address", "addr/ess", 1)]
    person = register(s, "person", PERSON, references=to_address)
    assert register(s, "person", json.dumps(PERSON, indent=1), references=to_address) == person
    shown = ok(s.get(at("person", "versions", 1)))
    assert shown == {"subject": "person", "version": 1, "id": person, "references": to_address, "schema": text(PERSON)}
    ok(s.get(f"/schemas/ids/{person}"), {"schema": text(PERSON), "references": to_address})
    resolved = json.loads(ok(s.get(f"/schemas/ids/{person}?format=resolved"))["schema"])
    assert resolved["fields"][0]["type"]["fields"][0]["name"] == "street", resolved
    found = ok(s.post(at("person"), body(PERSON, references=to_address)))
    assert found["id"] == person and found["references"] == to_address
    fails(s.post(at("person"), body(PERSON)), 422, 42201) # geo.Address is nobody's there
    # The type can be used as any other.
    assert s.put("/person/1", '{"home":{"street":"Elm"}}').status == 201
    assert s.get("/person/1").json() == {"home": {"street": "Elm"}}
    # The latest version becomes its number; what is met on two ways is one type.
    firm = register(s, "firm", FIRM, references=[reference("p.Person", "person", -1),
                                                 reference("geo.Address", "addr/ess", -1)])
    assert ok(s.get(f"/schemas/ids/{firm}"))["references"] == [reference("p.Person", "person", 1),
                                                               reference("geo.Address", "addr/ess", 1)]
    ok(s.get(at("addr/ess", "versions", 1, "referencedby")), sorted([person, firm]))
    ok(s.get(at("person", "versions", 1, "referencedby")), [firm])
    ok(s.post("/compatibility/subjects/person/versions/latest", body(PERSON, references=to_address)),
       {"is_compatible": True})
    for wrong in (reference("geo.Address", "addr/ess", 2), reference("geo.Address", "nobody", 1)):
        fails(s.post(at("person", "versions"), body(PERSON, references=[wrong])), 422, 42201)
    fails(s.post(at("person", "versions"), body(PERSON, references=[reference("x", "addr/ess", 0)])), 422, 42202)
    fails(s.post(at("person", "versions"), body(PERSON, references=[reference("x", "\x01", 1)])), 422, 42208)
    fails(s.post(at("person", "versions"), body(PERSON, references=[{"name": "x"}])), 422, 422)
    # What others refer to stays.
    fails(s.delete(at("addr/ess", "versions", 1)), 422, 42206)
    fails(s.delete(at("addr/ess")), 422, 42206)
    ok(s.delete(at("firm")), [1])
    fails(s.delete(at("addr/ess")), 422, 42206)
    # Deleted, it still refers to what it uses: a type whose schema others use is not dropped.
    refused = s.post("/delschema/person")
    assert (refused.status, refused.json()["code"]) == (409, "in_use") and "'firm'" in refused.json()["detail"], refused
    assert s.get("/person/1").json() == {"home": {"street": "Elm"}}
    ok(s.delete(at("firm") + "?permanent=true"), [1])
    assert s.post("/delschema/person").status == 200
    firm = register(s, "f/irm", {"type": "record", "name": "F", "fields": [{"name": "seat", "type": "geo.Address"}]},
                    references=to_address)
    ok(s.delete(at("f/irm")), [1])
    ok(s.delete(at("addr/ess")), [1])
    fails(s.post(at("person", "versions"), body(PERSON, references=to_address)), 422, 42201)
    # For good only when those are gone for good, too.
    fails(s.delete(at("addr/ess") + "?permanent=true"), 422, 42206)
    ok(s.delete(at("f/irm") + "?permanent=true"), [1])
    ok(s.delete(at("addr/ess") + "?permanent=true"), [1])
    assert ok(s.get(f"/schemas/ids/{person}"))["references"] == to_address


def check_drop_of_what_others_use(s):
    """delschema names who refers to the type; its own versions do not count."""
    register(s, "base", ADDRESS)
    ok(s.put("/config/base", '{"compatibility":"NONE"}'))
    register(s, "base", PERSON | {"name": "Own"}, references=[reference("geo.Address", "base", 1)])
    for i in (1, 2):
        register(s, f"user{i}", PERSON | {"name": f"P{i}"}, references=[reference("geo.Address", "base", 1)])
    detail = s.post("/delschema/base").json()["detail"]
    assert "2 schemas refer to 'base'" in detail and "version 1 of 'user1'" in detail, detail
    assert s.post("/delschema/user1").status == 200
    detail = s.post("/delschema/base").json()["detail"]
    assert "Version 1 of 'user2'" in detail and "refers to 'base'" in detail, detail
    ok(s.get(at("base", "versions")), [1, 2])
    assert s.post("/delschema/user2").status == 200
    assert s.post("/delschema/base").status == 200
    # Nothing leads from an old reference to a new schema of the same name and number.
    register(s, "base", {"type": "record", "name": "Address", "namespace": "geo", "fields": [{"name": "zip", "type": "int"}]})
    one = register(s, "user1", PERSON | {"name": "P1"}, references=[reference("geo.Address", "base", 1)])
    shown = json.loads(ok(s.get(f"/schemas/ids/{one}?format=resolved"))["schema"])
    assert shown["fields"][0]["type"]["fields"][0]["name"] == "zip", shown


def check_own_references(s):
    """A subject may refer to its own versions, and goes as a whole."""
    register(s, "own/", ADDRESS)
    ok(s.put("/config/own%2F", '{"compatibility":"NONE"}'))
    register(s, "own/", PERSON, references=[reference("geo.Address", "own/", 1)])
    fails(s.delete(at("own/", "versions", 1)), 422, 42206)
    ok(s.delete(at("own/")), [1, 2])
    ok(s.delete(at("own/") + "?permanent=true"), [1, 2])


def check_deep_references(s):
    """Long rows of references are refused, and not followed without end."""
    register(s, "deep/0", {"type": "record", "name": "D0", "fields": []})
    for i in range(1, 64):
        reply = s.post(at(f"deep/{i}", "versions"),
                       body({"type": "record", "name": f"D{i}", "fields": [{"name": "d", "type": f"D{i - 1}"}]},
                            references=[reference(f"D{i - 1}", f"deep/{i - 1}", 1)]))
        ok(reply)
    fails(s.post(at("deep/64", "versions"), body('"D63"', references=[reference("D63", "deep/63", 1)])), 422, 42201)


# ---- with types and records ----


def check_one_lineage(s):
    assert s.post("/putschema/both", text(V1)).header("Schema-Version") == "1"
    known = ok(s.get(at("both", "versions", 1)))
    assert known["schema"] == text(V1)
    assert register(s, "both", V1) == known["id"]
    two = register(s, "both", V2)
    assert s.get("/getschema/both").header("Schema-Version") == "2"
    assert int(s.get("/getschema/both").header("Schema-Id")) == two
    assert s.put("/both/x", '{"a":1,"b":"y"}').status == 201
    assert s.post("/putschema/both", text(V3)).header("Schema-Version") == "3"
    ok(s.get(at("both", "versions")), [1, 2, 3])
    assert s.get("/both/x").json().items() >= {"a": 1, "b": "y"}.items()
    assert s.post("/putschema/both", text(WRONG)).status == 409
    fails(s.post(at("both", "versions"), body(WRONG)), 409, 409)
    assert s.post("/delschema/both").status == 200
    fails(s.get(at("both", "versions") + "?deleted=true"), 404, 40401)
    # A subject that cannot be a type is none.
    for name in ("no/type", "subjects", "_x", "1a", "x" * 65):
        register(s, name, V1)
        assert of_type(s, name) is None
    assert s.get("/1a/get/1").status == 404


def check_restart(s):
    register(s, "stays", V1)
    register(s, "st/ays", V1)
    register(s, "st/ays", V2)
    ok(s.delete(at("st/ays", "versions", 1)), 1)
    before = [s.get(path).body for path in ("/subjects?deleted=true", "/schemas?deleted=true")]
    for kill in (False, True):
        s.restart(kill=kill)
        assert [s.get(path).body for path in ("/subjects?deleted=true", "/schemas?deleted=true")] == before
        ok(s.get(at("st/ays", "versions")), [2])
    assert register(s, "stays", V2) == register(s, "st/ays", V2)


# ---- many at once ----


def at_once(n, work):
    faults = []

    def run(i):
        try:
            work(i)
        except Exception as e: # shown below, in the thread that fails the test
            faults.append(e)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if faults:
        raise faults[0]


def check_many_register_one(s):
    for name in ("many", "ma/ny"):
        schema = {"type": "record", "name": "M" + str(len(name)), "fields": []}
        ids = []
        at_once(16, lambda i: ids.append(register(s, name, json.dumps(schema, indent=i))))
        assert len(ids) == 16 and len(set(ids)) == 1, ids
        ok(s.get(at(name, "versions")), [1])


def check_many_register_many(s):
    """Versions that follow each other: none is lost, none compared with the wrong one."""
    for name in ("grow", "gr/ow"):
        schemas = [{**V1, "fields": V1["fields"] + [{"name": f"f{i}", "type": "int", "default": i}]} for i in range(8)]
        at_once(8, lambda i: register(s, name, schemas[i]))
        ok(s.get(at(name, "versions")), list(range(1, 9)))
        seen = [ok(s.get(at(name, "versions", v)))["schema"] for v in range(1, 9)]
        assert sorted(seen) == sorted(text(schema) for schema in schemas)


def check_references_against_deletion(s):
    """Either the version that is referred to is there, or the one that refers to it is not."""
    for i in range(20):
        register(s, f"t/{i}", ADDRESS)
        replies = {}

        def work(who, i=i, replies=replies):
            if who:
                replies["delete"] = s.delete(at(f"t/{i}"))
            else:
                replies["register"] = s.post(at(f"u/{i}", "versions"),
                                             body({**PERSON, "doc": str(i)},
                                                  references=[reference("geo.Address", f"t/{i}", 1)]))

        at_once(2, work)
        if replies["delete"].status == 200:
            fails(replies["register"], 422, 42201)
        else:
            fails(replies["delete"], 422, 42206)
            ok(replies["register"])


def check_references_against_drops(s):
    """The same of delschema, also where another schema takes the name meanwhile."""
    for i in range(20):
        register(s, f"dt{i}", ADDRESS)
        replies = {}

        def work(who, i=i, replies=replies):
            if who:
                replies["drop"] = s.delete(f"/delschema/dt{i}")
                replies["again"] = s.post(at(f"dt{i}", "versions"), body({**ADDRESS, "fields": []}))
            else:
                replies["register"] = s.post(at(f"du{i}", "versions"),
                                             body({**PERSON, "doc": str(i)},
                                                  references=[reference("geo.Address", f"dt{i}", 1)]))

        at_once(2, work)
        registered = replies["register"].status == 200
        if replies["drop"].status == 409:
            assert replies["drop"].json()["code"] == "in_use" and registered, replies
        elif registered: # it came behind both, and means the new one
            id = ok(replies["register"])["id"]
            assert '"fields":[]' in ok(s.get(f"/schemas/ids/{id}?format=resolved"))["schema"]
        else:
            fails(replies["register"], 422, 42201)


def check_deletion_against_puts(s):
    """An answered put is never lost to a deletion in the registry."""
    for i in range(10):
        name = f"race{i}"
        register(s, name, V1)
        replies = {}

        def work(who, name=name, replies=replies):
            if who:
                s.delete(at(name))
                replies["gone"] = s.delete(at(name) + "?permanent=true")
            else:
                replies["put"] = s.put(f"/{name}/1", '{"a":1}')

        at_once(2, work)
        if replies["put"].status == 201:
            assert s.get(f"/{name}/1").json() == {"a": 1}
            assert replies["gone"].status in (404, 422), replies
        else:
            assert replies["put"].status == 404, replies
            ok(replies["gone"], [1])


def main():
    for alone in (check_lists, check_long_lists, check_config, check_level_of_astore, check_levels_at_once, check_mode):
        alone()
        print(alone.__name__)
    with Server() as s:
        for check in (check_register, check_names, check_not_there, check_bad_bodies, check_lookup, check_normalize,
                      check_ids, check_warnings, check_many_reasons, check_media, check_edge, check_compatibility, check_chosen_numbers, check_delete,
                      check_delete_beside_records, check_references, check_drop_of_what_others_use, check_own_references, check_deep_references,
                      check_one_lineage, check_restart, check_many_register_one, check_many_register_many,
                      check_references_against_deletion, check_references_against_drops, check_deletion_against_puts):
            check(s)
            print(check.__name__)
    print("ok")


if __name__ == "__main__":
    main()
