"""tests/http/test_rights.py - who may do what (docs/access.md): every route for every role, hidden types, lists, transactions, the registry,
TRACE, and a file that changes."""

import contextlib
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import tempfile
import time

from avrod import ROOT, Reply, Server

SCHEMA = json.dumps({"type": "record", "name": "R", "fields": [{"name": "n", "type": "int", "default": 0}]})
RIGHTS = """
[user reader]
reader = t
[user writer]
writer = t
[user schema]
schema = t
[user admin]
admin = t
[user root]
admin = *
[user health]
health = yes
"""
USERS = ("reader", "writer", "schema", "admin", "root", "health", "stranger")
SEES = {"reader", "writer", "schema", "admin", "root"}  # of t

# What a route asks for: who may, of USERS. The column `role` of routes.def is not looked at.
MAY = {
    "anyone": {"", *USERS},
    "health": {"health", "root"},
    "lists": SEES,
    "see": SEES,
    "read": {"reader", "writer", "admin", "root"},
    "write": {"writer", "admin", "root"},
    "schema": {"schema", "admin", "root"},
    "admin": {"admin", "root"},
    "store": {"root"},
}
JSON = {"Content-Type": "application/json"}
REGISTER = json.dumps({"schema": SCHEMA}).encode()
LEVEL, MODE = b'{"compatibility":"NONE"}', b'{"mode":"READWRITE"}'
PATCH = {"Content-Type": "application/merge-patch+json"}

# Of every row of routes.def, for each of its methods: what it asks for, its body, further fields; `+`: it makes what it names.
EXPECT = {
    "GET /": ("anyone",), "GET /ping": ("anyone",), "GET /healthz": ("anyone",), "GET /readyz": ("anyone",),
    "GET /metrics": ("health",),
    "POST /putschema/{type}": ("schema+", SCHEMA.encode()), "PUT /putschema/{type}": ("schema+", SCHEMA.encode()),
    "GET /getschema/{type}": ("see",),
    "POST /delschema/{type}": ("admin", b""), "DELETE /delschema/{type}": ("admin",), "GET /delschema/{type}": ("admin",),
    "GET /schemas": ("lists",),
    "GET /subjects": ("lists",),
    "POST /subjects/{subject}": ("see", REGISTER),
    "DELETE /subjects/{subject}": ("schema",),
    "GET /subjects/{subject}/versions": ("see",),
    "POST /subjects/{subject}/versions": ("schema+", REGISTER),
    "GET /subjects/{subject}/versions/{version}": ("see",),
    "DELETE /subjects/{subject}/versions/{version}": ("schema",),
    "GET /subjects/{subject}/versions/{version}/schema": ("see",),
    "GET /subjects/{subject}/versions/{version}/referencedby": ("see",),
    "GET /schemas/types": ("lists",),
    "GET /schemas/ids/{arg}": ("lists",), "GET /schemas/ids/{arg}/schema": ("lists",),
    "GET /schemas/ids/{arg}/subjects": ("lists",), "GET /schemas/ids/{arg}/versions": ("lists",),
    "POST /compatibility/subjects/{subject}/versions": ("see", REGISTER),
    "POST /compatibility/subjects/{subject}/versions/{version}": ("see", REGISTER),
    "GET /config": ("lists",), "PUT /config": ("store", LEVEL), "DELETE /config": ("store",),
    "GET /config/{subject}": ("see",), "PUT /config/{subject}": ("schema+", LEVEL), "DELETE /config/{subject}": ("schema",),
    "GET /mode": ("lists",), "PUT /mode": ("store", MODE), "DELETE /mode": ("store",),
    "GET /mode/{subject}": ("see",), "PUT /mode/{subject}": ("admin+", MODE), "DELETE /mode/{subject}": ("admin",),
    "GET /contexts": ("lists",),
    "GET /_backup": ("store",),
    "POST /_txn": ("lists", b'{"operations":[]}'),
    "GET /{type}": ("read",),
    "DELETE /{type}": ("write",),
    "GET /{type}/get/{id}": ("read",), "GET /{type}/get/{id}/{field}": ("read",),
    "POST /{type}/put/{id}": ("write", b"{}"), "PUT /{type}/put/{id}": ("write", b"{}"),
    "POST /{type}/put/{id}/{field}": ("write", b"1"), "PUT /{type}/put/{id}/{field}": ("write", b"1"),
    "POST /{type}/select/{id}": ("read", b"/n"),
    "POST /{type}/update/{id}": ("write", b"/n\n1"), "POST /{type}/insert/{id}": ("write", b'/n\n1'),
    "POST /{type}/insertall/{id}": ("write", b"/n\n[1]"), "POST /{type}/delete/{id}": ("write", b"/n"),
    "POST /{type}/clear/{id}": ("write", b"/n"),
    "GET /{type}/{id}": ("read",),
    "POST /{type}/{id}": ("write", b"{}"), "PUT /{type}/{id}": ("write", b"{}"),
    "PATCH /{type}/{id}": ("write", b"{}", PATCH),
    "DELETE /{type}/{id}": ("write",), "PURGE /{type}/{id}": ("write",),
}


def routes():
    """METHOD and pattern of every row of routes.def."""
    with open(os.path.join(ROOT, "server/routes.def"), encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    for methods, pattern in re.findall(r'^ROUTE\((M\(.*?), "(/[^"]*)"', text, re.M):
        for method in re.findall(r"M\((\w+)\)", methods):
            yield method, pattern


def filled(pattern, type_name):
    for part, value in (("{type}", type_name), ("{subject}", type_name), ("{id}", "1"), ("{field}", "n"), ("{version}", "1"), ("{arg}", "1")):
        pattern = pattern.replace(part, value)
    return pattern


def token(user):
    return "token-of-" + user


def bearer(user):
    return {"Authorization": "Bearer " + token(user)} if user else {}


class Asked:
    """A server whose users have tokens, and a file of rights."""

    def __init__(self, rights=RIGHTS, *args, users=USERS):
        self.dir = tempfile.mkdtemp(prefix="avrod-test-")
        self.rights = os.path.join(self.dir, "access.ini")
        self.write(rights)
        tokens = os.path.join(self.dir, "tokens")
        with open(tokens, "w", encoding="utf-8") as f:
            f.writelines(f"{user}:{hashlib.sha256(token(user).encode()).hexdigest()}\n" for user in users)
        self.server = Server("--tokens", tokens, "--access", self.rights, "--durability", "none", *args)

    def write(self, rights):
        with open(self.rights, "w", encoding="utf-8") as f:
            f.write(rights)

    def reload(self):
        self.server.process.send_signal(signal.SIGHUP)

    def ask(self, user, method, target, body=None, headers=None):
        return self.server.request(method, target, body=body, headers={**bearer(user), **(headers or {})})

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.server.__exit__(*what)
        shutil.rmtree(self.dir)


def expect(reply, status, code=None):
    assert reply.status == status, (status, reply)
    if code:
        told = reply.json()
        assert told.get("code", told.get("error_code")) == code, (code, reply)
    return reply


def set_up(a, *names):
    """The types as root left them."""
    for name in names:
        expect(a.ask("root", "PUT", f"/putschema/{name}?compatibility=none", SCHEMA.encode()), 200)
        assert a.ask("root", "PUT", f"/{name}/1", b'{"n":1}').status in (200, 201)
        expect(a.ask("root", "PUT", f"/config/{name}", LEVEL), 200)
        expect(a.ask("root", "PUT", f"/mode/{name}", MODE), 200)


def is_refused(reply):
    told = reply.json() if reply.status == 404 else {}
    return reply.status in (401, 403) or told.get("code", told.get("error_code")) in ("no_type", 40401)


def check_row(a, method, pattern):
    role, body, fields, *_ = (*EXPECT[f"{method} {pattern}"], None, None)
    makes, role = role.endswith("+"), role.rstrip("+")
    has_type = "{type}" in pattern or "{subject}" in pattern
    in_form = pattern.startswith(("/subjects", "/config", "/mode", "/compatibility", "/contexts", "/schemas/"))
    target = filled(pattern, "t")
    for user in ("", *USERS):
        if user in MAY[role]:
            continue
        reply = a.ask(user, method, target, body, fields)
        what = (method, pattern, user, reply)
        if not user:
            assert reply.status == 401 and reply.header("WWW-Authenticate"), what
        elif has_type and user not in SEES and not makes:
            assert reply.status == 404, what
            assert reply.json().get("code", reply.json().get("error_code")) == (40401 if in_form else "no_type"), what
        else:
            assert reply.status == 403, what
            assert reply.json().get("code", reply.json().get("error_code")) == (40301 if in_form else "forbidden"), what
        if method == "GET":
            assert a.ask(user, "HEAD", target).status == (405 if pattern.startswith("/delschema") else reply.status), what
    for user in ("", *USERS):
        if user not in MAY[role]:
            continue
        if method != "GET" or "delschema" in pattern:
            set_up(a, "t")
        reply = a.ask(user, method, target, body, fields)
        assert not is_refused(reply) and reply.status < 500, (method, pattern, user, reply)


def test_every_route_for_everybody():
    rows = list(dict.fromkeys(routes()))
    assert len(rows) > 60
    missing = [f"{method} {pattern}" for method, pattern in rows if f"{method} {pattern}" not in EXPECT]
    assert not missing, f"what do these ask for? {missing}"
    with Asked(RIGHTS, "--compat", "astore") as a:
        set_up(a, "t")
        for method, pattern in rows:
            check_row(a, method, pattern)


# ---- what may not be known of ----

VARIANTS = [
    ("GET", "/{}/1", None, {}), ("HEAD", "/{}/1", None, {}), ("GET", "/{}/1?nosuch=1", None, {}), ("GET", "/{}", None, {}),
    ("GET", "/{}/get/1/n", None, {}), ("GET", "/{}/1", None, {"Accept": "x/y"}), ("PUT", "/{}/1", b"{", {}), ("PUT", "/{}/1", b"{}", {}),
    ("PUT", "/{}/1?ttl=x", b"{}", {}), ("PUT", "/{}/1", b"{}", {"Idempotency-Key": "k"}), ("PUT", "/{}/1", b"{}", {"If-Match": '"1-1"'}),
    ("PUT", "/{}/1", b"x" * 100000, {}), ("POST", "/{}/select/1", b"/n", {}), ("PATCH", "/{}/1", b"{}", PATCH), ("DELETE", "/{}/1", None, {}),
    ("DELETE", "/{}?prefix=x", None, {}), ("GET", "/getschema/{}", None, {}), ("DELETE", "/delschema/{}", None, {}),
    ("PUT", "/putschema/{}", SCHEMA.encode(), {}), ("PUT", "/putschema/{}?dry_run=1", SCHEMA.encode(), {}),
    ("GET", "/{}/get/1?benchmark_only=10", None, {}), ("OPTIONS", "/{}/1", None, {}), ("BREW", "/{}/1", None, {}), ("POST", "/{}/get/1", b"", {}),
    ("GET", "/subjects/{}/versions", None, {}), ("GET", "/subjects/{}/versions/1", None, {}), ("GET", "/subjects/:.:{}/versions/1", None, {}),
    ("GET", "/subjects/{}/versions/x", None, {}), ("DELETE", "/subjects/{}", None, {}), ("DELETE", "/subjects/{}?permanent=true", None, {}),
    ("POST", "/subjects/{}", REGISTER, {}), ("POST", "/subjects/{}/versions", REGISTER, {}), ("GET", "/config/{}", None, {}),
    ("GET", "/config/{}?defaultToGlobal=true", None, {}), ("GET", "/mode/{}", None, {}), ("PUT", "/config/{}", LEVEL, {}),
    ("DELETE", "/config/{}", None, {}), ("DELETE", "/mode/{}", None, {}), ("POST", "/compatibility/subjects/{}/versions", REGISTER, {}),
    ("POST", "/compatibility/subjects/{}/versions/1?verbose=true", REGISTER, {}),
    ("POST", "/_txn", b'{"operations":[{"op":"put","type":"{}","id":"1","record":{}}]}', JSON),
    ("POST", "/_txn", b'{"operations":[{"op":"check","type":"{}","id":"1","revision":1}]}', JSON),
    ("POST", "/_txn?dry_run=1", b'{"operations":[{"op":"delete","type":"{}","id":"1"}]}', {**JSON, "Idempotency-Key": "x"}),
]


def bare(reply, name):
    """All of an answer but what is another each time, and the name that was asked for."""
    fields = [(key, value.replace(name, "NAME")) for key, value in reply.headers if key not in ("Date", "X-Request-Id", "Content-Length")]
    return reply.status, fields, reply.body.replace(name.encode(), b"NAME")


def test_hidden_types_answer_as_those_that_are_not_there():
    with Asked() as a:
        set_up(a, "t", "hidden")
        expect(a.ask("root", "PUT", "/config/hidden", LEVEL), 200)
        expect(a.ask("root", "PUT", "/mode/hidden", MODE), 200)
        expect(a.ask("root", "POST", "/subjects/hidden-value/versions", REGISTER), 200)
        for user in ("", "reader", "writer", "schema", "admin", "stranger"):
            for method, target, body, fields in VARIANTS:
                for there, absent in (("hidden", "absent"), ("hidden-value", "absent-value")):
                    answers = [bare(a.ask(user, method, target.replace("{}", name),
                                          body and body.replace(b"{}", name.encode(), 1) if "_txn" in target else body, fields), name)
                               for name in (there, absent)]
                    assert answers[0] == answers[1], (user, method, target, answers)
                    assert answers[0][0] in (204, 400, 401, 403, 404, 405, 501), (user, method, target, answers)
        # A name that may be there, and is not, is told in the same words.
        for method, target, body, fields in VARIANTS[:4]:
            gone = bare(a.ask("root", method, target.replace("{}", "gone"), body, fields), "gone")
            assert bare(a.ask("reader", method, target.replace("{}", "hidden"), body, fields), "hidden") == gone
        assert a.ask("root", "GET", "/hidden/1").json() == {"n": 1}


def test_lists_leave_out_what_the_caller_may_not_know_of():
    other = SCHEMA.replace('"n"', '"m"')
    with Asked() as a:
        set_up(a, "t", "hidden")
        expect(a.ask("root", "POST", "/subjects/hidden-value/versions", json.dumps({"schema": other}).encode()), 200)
        for i in range(300):  # more than a page
            expect(a.ask("root", "PUT", f"/putschema/x{i}", b'"int"'), 200)
        registry = {"Accept": "application/vnd.schemaregistry.v1+json"}
        for user in ("reader", "writer", "schema", "admin"):
            assert [entry["name"] for entry in a.ask(user, "GET", "/schemas").json()] == ["t"]
            assert a.ask(user, "GET", "/subjects").json() == ["t"]
            assert a.ask(user, "GET", "/subjects?subjectPrefix=x").json() == []
            assert [v["subject"] for v in a.ask(user, "GET", "/schemas", headers=registry).json()] == ["t"]
            assert [v["subject"] for v in a.ask(user, "GET", "/schemas?limit=1&offset=0").json()] == ["t"]
            assert a.ask(user, "GET", "/schemas?limit=1&offset=1").json() == []
        assert len(a.ask("root", "GET", "/schemas").json()) == 303
        assert len(a.ask("root", "GET", "/subjects").json()) == 303
        shared = a.ask("root", "GET", "/subjects/t/versions/1").json()["id"]
        assert shared == a.ask("root", "GET", "/subjects/hidden/versions/1").json()["id"]
        own = a.ask("root", "GET", "/subjects/hidden-value/versions/1").json()["id"]
        assert a.ask("root", "GET", f"/schemas/ids/{shared}/subjects").json() == ["hidden", "t"]
        for user in ("reader", "schema"):
            assert a.ask(user, "GET", f"/schemas/ids/{shared}/subjects").json() == ["t"]
            assert a.ask(user, "GET", f"/schemas/ids/{shared}/versions").json() == [{"subject": "t", "version": 1}]
            assert json.loads(a.ask(user, "GET", f"/schemas/ids/{shared}").json()["schema"]) == json.loads(SCHEMA)
            for rest in "", "/schema", "/subjects", "/versions":
                secret = bare(a.ask(user, "GET", f"/schemas/ids/{own}{rest}"), str(own))
                assert secret[0] == 404 and secret == bare(a.ask(user, "GET", f"/schemas/ids/99999{rest}"), "99999")
        # Who sees nothing hears so.
        expect(a.ask("stranger", "GET", "/schemas"), 403, "forbidden")
        expect(a.ask("", "GET", "/schemas"), 401, "unauthorized")
        expect(a.ask("", "GET", "/schemas", headers=registry), 401, 401)
        expect(a.ask("", "GET", "/schemas?offset=0"), 401, 401)


REFERRED = json.dumps({"type": "record", "name": "Ref", "fields": [{"name": "r", "type": "R"}]})


def refer(name, version=1):
    return json.dumps({"schema": REFERRED, "references": [{"name": "R", "subject": name, "version": version}]}).encode()


def test_references_neither_lead_to_hidden_subjects_nor_tell_of_them():
    with Asked(RIGHTS + "[user two]\nschema = t, own-*\n", users=(*USERS, "two")) as a:
        set_up(a, "t", "hidden")
        expect(a.ask("root", "POST", "/subjects/secret-ref/versions", refer("t")), 200)
        answers = [bare(a.ask("two", "POST", "/subjects/own-a/versions", refer(name)), name) for name in ("hidden", "absent")]
        assert answers[0] == answers[1] and answers[0][0] == 422, answers
        assert a.ask("two", "GET", "/subjects/t/versions/1/referencedby").json() == []
        expect(a.ask("two", "POST", "/subjects/own-a/versions", refer("t")), 200)
        assert len(a.ask("root", "GET", "/subjects/t/versions/1/referencedby").json()) == 1
        assert len(a.ask("two", "GET", "/subjects/t/versions/1/referencedby").json()) == 1
        # The schema that stands in the way is a secret; that there is one is not.
        expect(a.ask("root", "DELETE", "/subjects/own-a"), 200)
        expect(a.ask("root", "DELETE", "/subjects/own-a?permanent=true"), 200)
        told = expect(a.ask("admin", "DELETE", "/delschema/t"), 409, "in_use").json()["detail"]
        assert "secret" not in told and "may not see" in told, told
        assert "secret-ref" in expect(a.ask("root", "DELETE", "/delschema/t"), 409, "in_use").json()["detail"]


# ---- transactions ----

def txn(*operations):
    return json.dumps({"operations": list(operations)}).encode()


def test_each_operation_of_a_transaction_is_asked_for():
    put = {"op": "put", "type": "t", "id": "2", "record": {}}
    check = {"op": "check", "type": "t", "id": "2", "revision": 0}
    hidden, absent = ({**put, "type": name} for name in ("hidden", "absent"))
    with Asked(RIGHTS + "[user two]\nreader = t\nwriter = u\n", users=(*USERS, "two")) as a:
        set_up(a, "t", "u", "hidden")
        for body in (txn(put), txn(*[check] * 20, put)):
            refused = expect(a.ask("reader", "POST", "/_txn", body), 403, "forbidden").json()
            assert refused["operation"] == len(json.loads(body)["operations"]) - 1, refused
        expect(a.ask("reader", "POST", "/_txn", txn(check)), 200)
        expect(a.ask("schema", "POST", "/_txn", txn(check)), 403, "forbidden")
        assert expect(a.ask("two", "POST", "/_txn", txn({**put, "type": "u"}, put)), 403, "forbidden").json()["operation"] == 1
        expect(a.ask("two", "POST", "/_txn", txn({**put, "type": "u"}, check)), 200)
        expect(a.ask("root", "GET", "/t/2"), 404)
        for user in ("writer", "stranger"):
            told = [bare(a.ask(user, "POST", "/_txn", txn(put, o)), o["type"]) for o in (hidden, absent)]
            assert told[0] == told[1] and told[0][0] == (403 if user == "stranger" else 404), told
        assert expect(a.ask("writer", "POST", "/_txn", txn(put, hidden)), 404, "no_type").json()["operation"] == 1
        expect(a.ask("", "POST", "/_txn", txn(put)), 401, "unauthorized")
        expect(a.ask("writer", "POST", "/_txn", txn(put, check)), 412)
        expect(a.ask("writer", "POST", "/_txn", txn(put)), 200)


def test_who_lost_a_right_is_not_told_of_what_was_done_with_it():
    key, put = {"Idempotency-Key": "once"}, {"op": "put", "type": "t", "id": "7", "record": {}}
    with Asked() as a:
        set_up(a, "t")
        first = [expect(a.ask("writer", *what, key), status) for what, status in (
            (("PUT", "/t/3", b"{}"), 201), (("POST", "/_txn", txn(put)), 200)) for key in [{"Idempotency-Key": what[1]}]]
        assert first[1].status == 200
        assert a.ask("writer", "PUT", "/t/3", b"{}", {"Idempotency-Key": "/t/3"}).header("Idempotency-Replayed") == "true"
        assert a.ask("writer", "POST", "/_txn", txn(put), {"Idempotency-Key": "/_txn"}).header("Idempotency-Replayed") == "true"
        for rights, status in (("reader = t", 403), ("reader = other", 404)):
            a.write(f"[user root]\nadmin = *\n[user writer]\n{rights}\n")
            a.reload()
            until(lambda s=status: a.ask("writer", "PUT", "/t/9", b"{}").status == s)
            for target, method, body in (("/t/3", "PUT", b"{}"), ("/_txn", "POST", txn(put))):
                reply = expect(a.ask("writer", method, target, body, {"Idempotency-Key": target}), status)
                assert not reply.header("Idempotency-Replayed"), reply


# ---- single rules ----

def test_what_is_gone_for_good_takes_an_admin():
    with Asked() as a:
        expect(a.ask("schema", "POST", "/subjects/t/versions", REGISTER), 200)
        for target in "/subjects/t/versions/1", "/subjects/t":
            expect(a.ask("schema", "DELETE", target + "?permanent=true"), 403, 40301)
        expect(a.ask("schema", "DELETE", "/subjects/t"), 200)
        expect(a.ask("schema", "DELETE", "/subjects/t?permanent=true"), 403, 40301)
        expect(a.ask("schema", "DELETE", "/subjects/t?permanent=true", headers={"Idempotency-Key": "k"}), 403, 40301)
        expect(a.ask("admin", "DELETE", "/subjects/t?permanent=true"), 200)


def test_a_new_type_takes_a_grant_on_its_name():
    with Asked("[user schema]\nschema = new-*\n") as a:
        expect(a.ask("schema", "PUT", "/putschema/new-a", SCHEMA.encode()), 200)
        expect(a.ask("schema", "PUT", "/putschema/old", SCHEMA.encode()), 403, "forbidden")
        expect(a.ask("schema", "PUT", "/putschema/old?dry_run=1", SCHEMA.encode()), 403, "forbidden")
        expect(a.ask("schema", "POST", "/subjects/old/versions", REGISTER), 403, 40301)
        expect(a.ask("schema", "PUT", "/new-a/1", b"{}"), 403, "forbidden")
        expect(a.ask("schema", "GET", "/new-a/1"), 403, "forbidden")
        expect(a.ask("schema", "GET", "/getschema/new-a"), 200)


def test_who_sees_no_records_is_not_told_their_ids():
    narrow = json.dumps({"type": "record", "name": "R", "fields": [{"name": "n", "type": {"type": "enum", "name": "E", "symbols": ["A"]}}]})
    with Asked() as a:
        set_up(a, "t")
        target = "/putschema/t?compatibility=none&dry_run=1&check=stored"
        stored = {user: expect(a.ask(user, "PUT", target, narrow.encode()), 200).json()["stored"] for user in ("schema", "admin")}
        assert stored["admin"]["first"][0]["id"] == "1" and stored["admin"]["unreadable"] == 1, stored
        assert stored["schema"]["first"] == [] and stored["schema"]["unreadable"] == 1, stored


def test_a_writer_reads_what_a_failed_condition_shows():
    with Asked() as a:
        set_up(a, "t")
        told = expect(a.ask("writer", "PUT", "/t/1", b"{}", {"If-Match": '"999-1"'}), 412).json()
        assert told["current"]["record"] == {"n": 1}, told


def test_options_and_unknown_paths_say_the_same_to_everybody():
    with Asked() as a:
        set_up(a, "t")
        for user in ("", "stranger", "reader", "root"):
            assert "PUT" in expect(a.ask(user, "OPTIONS", "/t/1"), 204).header("Allow")
            expect(a.ask(user, "GET", "/nosuch/a/b"), 404, "no_route")
            expect(a.ask(user, "POST", "/ping", b""), 405, "bad_method")
            expect(a.ask(user, "GET", "/t/%zz"), 400, "bad_target")


def test_trace_is_a_health_check_on_any_path():
    with Asked() as a:
        for target in "/", "/t/1", "/no/such/path/at/all", "/%zz", "/subjects/x/versions":
            for user in ("health", "root"):
                reply = expect(a.ask(user, "TRACE", target, headers={"X-Secret": "s"}), 200)
                assert reply.body == b"" and reply.header("Content-Length") == "0" and reply.header("Content-Type") is None, reply
                assert not any("X-Secret" in field for field in reply.headers), reply
            expect(a.ask("", "TRACE", target), 401)
            expect(a.ask("reader", "TRACE", target), 403)
        raw = a.server.raw(b"TRACE / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nxGET /ping HTTP/1.1\r\nHost: a\r\n\r\n")
        assert raw.startswith(b"HTTP/1.1 400 ") and raw.count(b"HTTP/1.1") == 1, raw
    with Server() as s:
        assert expect(s.request("TRACE", "/t/1"), 200).body == b""


def test_without_a_file_who_is_known_may_do_everything():
    with Asked() as a:
        args = [arg for arg in a.server.args if arg not in ("--access", a.rights)]
        with Server(*args) as s:
            expect(s.request("PUT", "/putschema/t", SCHEMA.encode(), bearer("stranger")), 200)
            expect(s.request("PUT", "/config", LEVEL, bearer("stranger")), 200)
            expect(s.request("GET", "/metrics", headers=bearer("stranger")), 200)
            for target in "/t", "/schemas", "/subjects", "/metrics", "/nosuch", "/config":
                expect(s.request("GET", target), 401)
            for target in "/", "/ping", "/healthz", "/readyz":
                expect(s.request("GET", target), 200)


def test_refusals_are_counted():
    with Asked() as a:
        def counts():
            text = a.ask("health", "GET", "/metrics").body.decode()
            return [int(re.search(rf"^avrod_access_{name}_total (\d+)$", text, re.M).group(1)) for name in ("unauthorized", "forbidden")]
        before = counts()
        a.ask("", "GET", "/t/1"), a.ask("reader", "PUT", "/t/1", b"{}"), a.ask("stranger", "GET", "/t/1"), a.ask("reader", "GET", "/t/1")
        assert [now - then for now, then in zip(counts(), before)] == [1, 2]


# ---- the file ----

def until(check):
    deadline = time.monotonic() + 60
    while not check():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.01)


def test_rights_change_with_sighup_and_connections_stay():
    with Asked(RIGHTS, "--threads", "2") as a:
        set_up(a, "t")
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", a.server.port, timeout=60)) as kept:
            def ask(method, target, body=None):
                kept.request(method, target, body=body, headers=bearer("reader"))
                r = kept.getresponse()
                return Reply(r.status, r.getheaders(), r.read())
            expect(ask("GET", "/t/1"), 200)
            local = kept.sock.getsockname()
            expect(ask("PUT", "/t/1", b"{}"), 403)
            a.write(RIGHTS.replace("[user reader]\nreader = t", "[user reader]\nwriter = t"))
            a.reload()
            until(lambda: ask("PUT", "/t/1", b"{}").status == 200)
            a.write(RIGHTS.replace("[user reader]\nreader = t", "[user reader]\nwriter = other"))
            a.reload()
            until(lambda: ask("GET", "/t/1").status == 404)
            # What is wrong changes nothing.
            a.write("[user reader]\nwriter = t, t\n")
            a.reload()
            until(lambda: "access.ini:2: " in a.server.read_log() and "stands twice" in a.server.read_log())
            expect(ask("GET", "/t/1"), 404)
            assert kept.sock.getsockname() == local


def test_a_wrong_file_stops_the_start_with_its_line():
    with Asked() as a:
        path = os.path.join(a.dir, "wrong.ini")
        for text, words in (("[user a]\nreder = *\n", "wrong.ini:2: There is no key 'reder'."), ("[users]\n", "wrong.ini:1: There is no section [users]"),
                            ("[user a]\nreader = [a-z]\n", "wrong.ini:2: The pattern '[a-z]' ")):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            try:
                with Server("--access", path):
                    raise AssertionError("it started: " + text)
            except RuntimeError as e:
                assert "ended with 1" in str(e) and words in str(e), e


def main():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            print(name, flush=True)
            test()
    print("ok")


if __name__ == "__main__":
    main()
