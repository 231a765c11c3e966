"""tests/client/test_avroctl.py - avroctl as it is used: its commands against a server, what it prints and how it ends."""

import json
import os
import pty
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import threading

from avrod import Server, read_all

AVROCTL = os.environ["AVROCTL"]
CITY = {"type": "record", "name": "City", "namespace": "geo", "fields": [
    {"name": "name", "type": "string"}, {"name": "people", "type": "long", "default": 0}]}
OK, REFUSED, USAGE, NO_CONNECTION, NO_ANSWER, HERE = range(6)


class Ctl:
    """avroctl with a server's address in the environment."""

    def __init__(self, url):
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("AVROD_")}
        self.env.update({"AVROD_URL": url, "LC_ALL": "C.UTF-8"})

    def run(self, *args, stdin=b"", env=None):
        if isinstance(stdin, (dict, list)):
            stdin = json.dumps(stdin).encode()
        return subprocess.run([AVROCTL, *args], input=stdin, capture_output=True, timeout=60, check=False,
                              env={**self.env, **(env or {})})

    def __call__(self, *args, stdin=b"", code=OK, env=None):
        """What it printed; fails if it ends otherwise."""
        done = self.run(*args, stdin=stdin, env=env)
        assert done.returncode == code, (args, done)
        assert b"Sanitizer" not in done.stderr and b"runtime error" not in done.stderr, done.stderr.decode()
        if code == OK and "--json" in args:
            assert not done.stderr, done
        return done.stdout

    def refused(self, *args, code=REFUSED, stdin=b"", env=None):
        """What it said on standard error."""
        done = self.run(*args, stdin=stdin, env=env)
        assert done.returncode == code, (args, done)
        assert not done.stdout, done
        return done.stderr.decode()


def of(server):
    return Ctl(f"http://127.0.0.1:{server.port}")


# ---- commands ----


def check_records(s, ctl):
    assert ctl("schema", "put", "city", stdin=CITY) == b"city: version 1, schema id 1\n"
    tag = ctl("put", "city", "london", stdin={"name": "London"}).decode().strip()
    assert re.fullmatch(r'"\d+-1"', tag), tag
    assert ctl("get", "city", "london") == b'{"name":"London","people":0}\n'
    assert json.loads(ctl("get", "city", "london", "--json")) == {
        "status": 200, "etag": tag, "content_type": "application/json", "schema_version": 1, "schema_id": 1,
        "record": {"name": "London", "people": 0}}
    assert ctl("get", "--if-none-match", tag, "city", "london") == b"not modified\n"
    assert ctl("put", "city", "london", "--field", "people", stdin=b"9000000").startswith(b'"')
    assert ctl("get", "city", "london", "-f", "people") == b"9000000\n"
    assert "(412 condition_failed)" in ctl.refused("put", "city", "london", "--if-match", tag, stdin={"name": "X"})
    assert "(412 condition_failed)" in ctl.refused("put", "city", "london", "--if-none-match=*", stdin={"name": "X"})
    assert json.loads(ctl("put", "city", "dry", "-n", "--json", stdin={"name": "Dry"})) == {
        "status": 201, "etag": None, "dry_run": "1"}
    assert s.get("/city/dry").status == 404
    assert ctl("delete", "city", "london", "--if-match=*").startswith(b'"')
    assert ctl.refused("delete", "city", "london") == \
        "avroctl: There is no record 'london' of type 'city'. (404 no_record)\n"


def check_forms_and_ids(s, ctl):
    ctl("put", "city", "bin", "-t", "avro/binary", stdin=b"\x04Rm\x06")
    assert ctl("get", "city", "bin") == b'{"name":"Rm","people":3}\n'
    assert ctl("get", "city", "bin", "-a", "avro/binary") == b"\x04Rm\x06"
    assert json.loads(ctl("get", "city", "bin", "-a", "avro/binary", "--json"))["body_base64"] == "BFJtBg=="
    ctl("put", "city", "a/b c", stdin={"name": "slash"})
    assert s.get("/city/a%2Fb%20c").status == 200
    ctl("put", "city", "get", stdin={"name": "verb"})
    ctl("put", "city", "--", "-x", stdin={"name": "dash"})
    assert b'"dash"' in ctl("get", "city", "--", "-x")
    ctl("put", "city", "--id-base64", "/wA=", stdin={"name": "bytes"})
    assert s.get("/city/%ff%00").json()["name"] == "bytes"
    assert "is no base64" in ctl.refused("get", "city", "--id-base64", "/w", code=USAGE)
    with tempfile.TemporaryDirectory(prefix="avrod-test-") as folder:
        path = os.path.join(folder, "record.json")
        with open(path, "w", encoding="utf-8") as f:
            f.write('{"name":"file"}')
        ctl("put", "city", "file", path)
        out = os.path.join(folder, "out.json")
        assert ctl("get", "city", "file", "-o", out) == b""
        with open(out, encoding="utf-8") as f:
            assert f.read() == '{"name":"file","people":0}'
        ctl.refused("get", "city", "nobody", "-o", out)
        ctl("scan", "city", "-o", out)
        assert sorted(os.listdir(folder)) == ["out.json", "record.json"]
        with open(out, encoding="utf-8") as f:
            assert len(f.readlines()) == 6
        assert "No such file" in ctl.refused("put", "city", "file", path + "x", code=HERE)
        assert "No such file" in ctl.refused("get", "city", "file", "-o", folder + "/no/where", code=HERE)


def check_scan(ctl):
    ctl("schema", "put", "n", stdin=b'"long"')
    for i in range(5):
        ctl("put", "n", f"n{i}", stdin=str(2**62 + i).encode())
    lines = [json.loads(line) for line in ctl("scan", "n").splitlines()]
    assert [line["id"] for line in lines] == [f"n{i}" for i in range(5)] and lines[4]["record"] == 2**62 + 4
    assert ctl("scan", "n", "--keys", "--from", "n1", "--to", "n4", "--limit", "2").count(b"\n") == 2
    assert json.loads(ctl("scan", "n", "--after", "n3", "--int64", "string"))["record"] == str(2**62 + 4)
    assert ctl("scan", "n", "--prefix", "x") == b""
    assert ctl.refused("scan", "none").endswith("(404 no_type)\n")
    assert ctl.refused("scan", "n", "--int64", "roman").endswith("(400 bad_parameter)\n")


def check_schemas(ctl):
    assert json.loads(ctl("schema", "get", "city")) == CITY
    shown = json.loads(ctl("schema", "get", "city", "--json"))
    assert shown["version"] == 1 and shown["schema"] == CITY and len(shown["fingerprint"]) == 16
    assert ctl("schema", "get", "city", "--canonical").startswith(b'{"name":"geo.City"')
    assert ctl("schema", "check", "city", stdin=CITY) == b"compatible (backward): it is version 1\n"
    more = {**CITY, "fields": CITY["fields"] + [{"name": "mayor", "type": "string", "default": ""}]}
    assert ctl("schema", "check", "city", stdin=more) == b"compatible (backward): it would be version 2\n"
    verdict = json.loads(ctl("schema", "check", "city", "--json", "--check-stored", "100", stdin=more))
    assert verdict["compatible"] and verdict["stored"]["unreadable"] == 0 and verdict["stored"]["checked"] == 6
    bad = {**CITY, "fields": CITY["fields"] + [{"name": "mayor", "type": "string"}]}
    said = ctl.refused("schema", "check", "city", stdin=bad)
    assert '(409 incompatible)\n  backward, version 1, /fields/2: The field "mayor"' in said, said
    assert not json.loads(ctl("schema", "check", "city", "--json", stdin=bad, code=REFUSED))["compatible"]
    said = ctl.refused("schema", "put", "city", stdin={"type": "record", "name": "1", "fields": [{"name": "a", "type": "x"}]})
    assert "  /name: " in said and "  /fields/0/type: " in said
    done = ctl.run("schema", "put", "odd", stdin=b'{"type":"int","logicalType":"decimal","precision":1}')
    assert done.returncode == OK and done.stderr.startswith(b"avroctl: warning: The logicalType"), done
    put = json.loads(ctl("schema", "put", "odd2", "--json", "--missing", "zero", "--compatibility", "none",
                         stdin=b'{"type":"int","logicalType":"decimal","precision":1}'))
    assert put["version"] == 1 and len(put["warnings"]) == 1
    ctl("schema", "delete", "odd2")
    assert ctl.refused("schema", "get", "odd2").endswith("(404 no_type)\n")


def check_diff(ctl):
    """What only looks different is the same; names are compared in full."""
    same = {"namespace": "geo", "fields": [{"type": {"type": "string"}, "name": "name"}, {"default": 0, "name": "people", "type": "long"}],
            "name": "City", "type": "record"}
    assert ctl("schema", "diff", "city", stdin=same) == b"compatible (backward): it is version 1\n"
    full = {**CITY, "name": "geo.City"}
    del full["namespace"]
    assert json.loads(ctl("schema", "diff", "city", "--json", stdin=full))["same"]
    changed = json.loads(json.dumps(CITY))
    changed["fields"][1].update(name="souls", aliases=["people"])
    out = ctl("schema", "diff", "city", stdin=changed).decode()
    assert '\n-       "name": "people",\n' in out and '\n+       "name": "souls",\n' in out, out
    assert '\n+       "aliases": ["people"],\n' in out and out.endswith("it would be version 2\n"), out
    told = json.loads(ctl("schema", "diff", "city", "--json", stdin=changed))
    assert not told["same"] and told["verdict"]["version"] == 2
    assert {"mark": "-", "line": '      "name": "people",'} in told["difference"]
    out = ctl("schema", "diff", "city", stdin={**CITY, "fields": []}, code=OK).decode()
    assert out.count("\n- ") > 5
    bad = {**CITY, "fields": [{"name": "x", "type": "int"}]}
    out = ctl("schema", "diff", "city", stdin=bad, code=REFUSED).decode()
    assert "refused: " in out and "\n  backward, version 1, /fields/0: " in out
    assert "is not JSON" in ctl.refused("schema", "diff", "city", stdin=b"{")
    assert "no_type" in ctl.refused("schema", "diff", "none", stdin=CITY)
    deep = b'{"type":"array","items":' * 2100 + b'"int"' + b"}" * 2100
    assert "is not JSON" in ctl.refused("schema", "diff", "city", stdin=deep)


def check_partial_writes(ctl):
    ctl("put", "city", "part-1", "--ttl", "1000", stdin={"name": "Part", "people": 1})
    assert json.loads(ctl("get", "city", "part-1", "--fields", "people")) == {"people": 1}
    told = json.loads(ctl("patch", "city", "part-1", "--json", stdin={"people": 2}))
    assert told["status"] == 200 and told["changed"] == "1", told
    ctl("patch", "city", "part-1", "--json-patch", stdin=[{"op": "increment", "path": "/people", "by": 5}])
    line = json.loads(ctl("scan", "city", "--prefix", "part-", "--fields", "people"))
    assert line["record"] == {"people": 7} and 0 < line["ttl"] <= 1000, line
    ctl.refused("patch", "city", "part-1", stdin={"people": "many"})
    operations = {"operations": [{"op": "put", "type": "city", "id": f"part-{i}", "record": {"name": "x"}} for i in (2, 3)]}
    assert len(json.loads(ctl("txn", stdin=operations))["results"]) == 2
    operations["operations"].append({"op": "delete", "type": "city", "id": "none"})
    assert json.loads(ctl.refused("txn", "--json", stdin=operations))["problem"]["operation"] == 2
    assert ctl("delete", "city", "--prefix", "part-", "--dry-run") == b"3 would be deleted\n"
    told = json.loads(ctl("delete", "city", "--prefix", "part-", "--json"))
    assert told["deleted"] == 3 and told["etag"] and not told["dry_run"]
    assert ctl("scan", "city", "--prefix", "part-") == b""


def check_paths(ctl):
    shelf = {"type": "record", "name": "Shelf", "fields": [{"name": "tags", "type": {"type": "array", "items": "string"}, "default": []},
                                                           {"name": "stock", "type": {"type": "map", "values": "long"}, "default": {}}]}
    ctl("schema", "put", "shelf", stdin=shelf)
    tag = ctl("put", "shelf", "a/b", stdin={"tags": ["x"]}).decode().strip()
    assert ctl("path", "select", "shelf", "a/b", ".tags") == b'["x"]\n'
    assert ctl("path", "insert", "shelf", "a/b", ".tags", "--if-match", tag, stdin=b'"y"') != tag.encode() + b"\n"
    ctl("path", "insertall", "shelf", "a/b", ".tags", stdin=["z", "w"])
    assert json.loads(ctl("path", "insertall", "shelf", "a/b", ".stock", "--json", stdin={"one": 2**53 + 1}))["changed"] == "1"
    assert json.loads(ctl("path", "select", "shelf", "a/b", '.stock("one")', "--int64", "string", "--json")) == [str(2**53 + 1)]
    ctl("path", "update", "shelf", "a/b", ".tags[0]", stdin=b'"first"')
    ctl("path", "delete", "shelf", "a/b", ".tags[-1]")
    assert json.loads(ctl("path", "select", "shelf", "a/b", ".tags.*")) == []
    assert json.loads(ctl("get", "shelf", "a/b"))["tags"] == ["first", "y", "z"]
    assert json.loads(ctl("path", "clear", "shelf", "--id-base64", "YS9i", ".tags", "-n", "--json"))["dry_run"] == "1"
    ctl("path", "clear", "shelf", "a/b", ".tags", "--idempotency-key", "k")
    assert json.loads(ctl("path", "clear", "shelf", "a/b", ".tags", "--idempotency-key", "k", "--json"))["replayed"] == "true"
    assert ctl("path", "select", "shelf", "a/b", ".tags", "--schema-version", "1") == b"[]\n"
    assert "(412 condition_failed)" in ctl.refused("path", "clear", "shelf", "a/b", ".tags", "--if-match", tag)
    ctl.refused("path", "select", "shelf", "a/b", ".tags[")
    ctl.refused("path", "select", "shelf", "nobody", ".tags")
    assert "one line" in ctl.refused("path", "delete", "shelf", "a/b", ".tags\n1", code=USAGE)
    assert "one line" in ctl.refused("path", "select", "shelf", "a/b", "", code=USAGE)
    assert "usage: avroctl path clear" in ctl.refused("path", "clear", "shelf", "a/b", ".tags", "FILE", code=USAGE)
    ctl("schema", "delete", "shelf")


def check_type_options(ctl):
    """What --option says is between avroctl's user and the server."""
    ctl("schema", "put", "few", "--option", "max_items=2", "--option=max_depth=3", "--int64", "string", "--query", "bytes=base64",
        stdin={"type": "array", "items": "long"})
    few = [t for t in json.loads(ctl("types", "--json")) if t["name"] == "few"][0]
    assert few["max_items"] == 2 and few["max_depth"] == 3 and few["json"]["int64"] == "string" and few["json"]["bytes"] == "base64", few
    assert "(422 too_many_items)" in ctl.refused("put", "few", "1", stdin=["1", "2", "3"])
    ctl("schema", "check", "few", "--option", "max_items=none", stdin={"type": "array", "items": "long"})
    assert "(400 " in ctl.refused("schema", "put", "few", "--option", "color=a&b", stdin={"type": "array", "items": "long"})
    for wrong in ("max_items", "=2", "Max=2", "a b=2"):
        assert "--option takes NAME=VALUE" in ctl.refused("schema", "put", "few", "--option", wrong, code=USAGE)
    assert "more than 16 times" in ctl.refused("schema", "put", "few", *["--option", "a=b"] * 17, code=USAGE)
    ctl("schema", "delete", "few")


def check_types(ctl):
    lines = ctl("types").decode().splitlines()
    assert lines[0].split() == ["TYPE", "VERSION", "SCHEMA", "RECORDS", "BYTES", "COMPATIBILITY", "MISSING", "UNKNOWN", "TTL"]
    assert lines[1].split()[:4] == ["city", "1", "1", "6"], lines
    assert [t["name"] for t in json.loads(ctl("types", "--json"))] == [line.split()[0] for line in lines[1:]]


def check_ping(ctl):
    assert re.fullmatch(rb"pong \(\d+\.\d{3} ms\)\n", ctl("ping"))
    assert json.loads(ctl("ping", "--json"))["answer"] == "pong"


# ---- failing ----


def check_json_errors(ctl):
    error = json.loads(ctl.refused("put", "city", "x", "--json", stdin={"name": 1}))
    assert error["error"] == "refused" and error["status"] == 422 and error["code"] == "bad_record"
    assert error["problem"]["errors"][0]["pointer"] == "/name" and error["attempts"] == 1
    assert json.loads(ctl.refused("get", "--json", code=USAGE)) == {"error": "usage", "message": "usage: avroctl get TYPE ID"}
    assert json.loads(ctl.refused("put", "city", "x", "/no/file", "--json", code=HERE))["error"] == "here"


def check_usage(ctl):
    for args, said in [
            ((), "A command is missing"), (("fly",), "no command 'fly'"), (("schema",), "goes on with another word"),
            (("schema", "fly"), "goes on with another word"), (("get", "a"), "usage: avroctl get TYPE ID"),
            (("get", "a", "b", "c"), "usage: avroctl get"), (("ping", "--fast"), "Unknown option '--fast'"),
            (("ping", "-x"), "Unknown option '-x'"), (("ping", "--limit", "3"), "--limit is no option of avroctl ping"),
            (("scan", "t", "--limit", "few"), "--limit takes a number from 1"), (("scan", "t", "--limit"), "the value is missing"),
            (("ping", "--timeout", "5"), "takes a time"), (("ping", "--json=1"), "takes no value"),
            (("ping", "--retries", "x"), "--retries is a number"), (("ping", "--url", "nowhere"), "is no address"),
            (("ping", "--user", "a", "--token", "b"), "one of them"), (("bench", "fly"), "no table 'fly'"),
            (("bench", "--connections", "0"), "--connections takes"), (("bench", "--url", "https://localhost"), "plain http"),
            (("delete", "t"), "The id is missing"), (("delete", "t", "1", "--prefix", "a"), "no ID"), (("delete", "t", "1", "-n"), "goes with"),
            (("delete", "t", "--prefix="), "The prefix is empty"), (("get", "", "x"), "The type is missing"), (("get", "x", ""), "The id is missing"),
            (("a", "b", "c", "d", "e", "f", "g", "h"), "more words")]:
        told = ctl.refused(*args, code=USAGE)
        assert said in told and told.count("\n") == 1, (args, told)


def check_help(ctl):
    everything = ctl("--help").decode()
    with open(os.path.join(os.path.dirname(__file__), "../../client/ctl/commands.def"), encoding="utf-8") as f:
        names = re.findall(r'^COMMAND\(\w+, "([^"]+)"', f.read(), re.M)
    assert len(names) > 10
    for name in names:
        assert f"\n  {name}" in everything, name
        own = ctl(*name.split(), "--help").decode()
        assert own.startswith(f"usage: avroctl {name}") and "exit codes:" in own
    assert max(len(line) for line in everything.splitlines()) < 130
    words = ctl("--words").decode().split("\n")
    assert set(names) <= set(words) and "--json" in words and "--url=" in words
    assert "--if-match=" in ctl("--words", "put").decode().split("\n")
    assert re.fullmatch(rb"avroctl \d+\.\d+\.\d+\n", ctl("--version"))


def check_no_connection():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    ctl = Ctl(f"http://127.0.0.1:{port}")
    said = ctl.refused("ping", "--retries", "1", code=NO_CONNECTION)
    assert said.startswith(f"avroctl: No connection to http://127.0.0.1:{port}: ") and "(2 attempts)" in said, said
    assert json.loads(ctl.refused("ping", "--retries", "0", "--json", code=NO_CONNECTION))["error"] == "unreachable"
    ctl.refused("bench", "ping", code=NO_CONNECTION)
    ctl.refused("stats", "--retries", "0", code=NO_CONNECTION)


class Script:
    """A server that answers each connection with the next of some texts, and closes; None: it never answers."""

    def __init__(self, *answers):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.answers, self.requests, self.held = answers, [], []
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        for answer in self.answers:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            data = b""
            while b"\r\n\r\n" not in data:
                data += connection.recv(65536) or b"\r\n\r\n"
            self.requests.append(data)
            if answer is None:
                read_all(connection)
            else:
                connection.sendall(answer)
            connection.close()

    def __enter__(self):
        return self, Ctl(f"http://127.0.0.1:{self.listener.getsockname()[1]}")

    def __exit__(self, *why):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(60)


def check_bad_servers():
    with Script(None) as (_, ctl):
        assert "Time is up" in ctl.refused("get", "t", "1", "--timeout", "1s", code=NO_ANSWER)
    with Script(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{", b"") as (_, ctl):
        said = ctl.refused("patch", "t", "1", stdin={}, code=NO_ANSWER)
        assert said.endswith("It is not known whether it was done.\n"), said
    busy = b"HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"
    with Script(busy, b"HTTP/1.1 200 OK\r\nETag: \"9-1\"\r\nContent-Length: 2\r\n\r\nOK") as (script, ctl):
        assert ctl("patch", "t", "1", "--json-patch", "--idempotency-key", "k1", "-n", stdin=[]) == b'"9-1"\n'
        assert len(script.requests) == 2
        head = script.requests[1].decode()
        assert head.startswith("PATCH /t/1?dry_run=1 HTTP/1.1\r\n") and "Content-Type: application/json-patch+json\r\n" in head
        assert "Idempotency-Key: k1\r\n" in head
    with Script(b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{\"results\":[]}") as (script, ctl):
        assert ctl("txn", stdin={"operations": []}) == b'{"results":[]\n'
        assert script.requests[0].startswith(b"POST /_txn HTTP/1.1\r\n")
    lines = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with Script(lines + b"b\r\n{\"id\":\"a\"}\n\r\nb\r\n{\"id\":\"b\"}\n\r\n3\r\n{\"i", lines + b"b\r\n{\"id\":\"c\"}\n\r\n0\r\n\r\n") as (script, ctl):
        assert ctl("scan", "t") == b'{"id":"a"}\n{"id":"b"}\n{"id":"c"}\n'
        assert script.requests[1].startswith(b"GET /t?after=b HTTP/1.1\r\n")
    with Script(b"HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n") as (script, ctl):
        ctl.refused("ping", env={"AVROD_USER": "me", "AVROD_PASSWORD": "secret"})
        ctl.refused("ping", "--token", "t0k")
        assert b"Authorization: Basic bWU6c2VjcmV0\r\n" in script.requests[0]
        assert b"Authorization: Bearer t0k\r\n" in script.requests[1]


def check_tls():
    """Certificates are checked: the server's against --ca-file, the client's by the server."""
    pong = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong"
    with tempfile.TemporaryDirectory(prefix="avrod-test-") as folder:
        cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert],
                       check=True, capture_output=True, timeout=60)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        context.load_verify_locations(cert)
        context.verify_mode = ssl.CERT_OPTIONAL

        class Secure(Script):
            """Each connection is one request; what the client is called is kept."""

            def serve(self):
                self.names = []
                while True:
                    try:
                        connection, _ = self.listener.accept()
                    except OSError:
                        return
                    try:
                        with context.wrap_socket(connection, server_side=True) as secure:
                            self.names.append(secure.getpeercert())
                            while data := secure.recv(65536):
                                assert data.startswith(b"GET /ping")
                                secure.sendall(pong)
                    except OSError:
                        self.names.append("refused")

        with Secure() as (script, ctl):
            url = f"https://localhost:{script.listener.getsockname()[1]}"
            ctl("ping", "--url", url, "--ca-file", cert)
            ctl("ping", "--url", url, env={"AVROD_CA_FILE": cert, "AVROD_CERT_FILE": cert, "AVROD_KEY_FILE": key})
            said = ctl.refused("ping", "--url", url, code=NO_CONNECTION)
            assert "attempts" not in said, said
            ctl.refused("ping", "--url", url.replace("localhost", "127.0.0.1"), "--ca-file", cert, code=NO_CONNECTION)
        assert len(script.names) == 4 and not script.names[0] and "subject" in script.names[1], script.names


def check_full_output(ctl):
    with open("/dev/full", "wb") as full:
        for args in [("scan", "city"), ("get", "city", "get"), ("types",), ("types", "--json"), ("schema", "get", "city"), ("--help",)]:
            done = subprocess.run([AVROCTL, *args], stdout=full, stderr=subprocess.PIPE, env=ctl.env, timeout=60, check=False)
            assert done.returncode == HERE, (args, done)


# ---- stats ----


def check_stats(ctl):
    looks = [json.loads(line) for line in ctl("stats", "--json", "--count", "2", "--interval", "50ms").splitlines()]
    assert len(looks) == 2 and all(look["connections"] >= 1 and look["requests_per_second"] > 0 for look in looks), looks
    lines = ctl("stats", "--count", "1", "-i", "10ms").decode().splitlines()
    assert len(lines) == 2 and len(lines[0].split("\t")) == len(lines[1].split("\t"))


def on_terminal(ctl, args, until):
    """What avroctl shows on a terminal, up to what `until` finds; then it is interrupted."""
    master, slave = pty.openpty()
    with subprocess.Popen([AVROCTL, *args], stdin=slave, stdout=slave, stderr=slave, env=ctl.env) as process:
        os.close(slave)
        shown = b""
        while not re.search(until, shown):
            shown += os.read(master, 65536)
        process.send_signal(signal.SIGINT)
        try:
            while piece := os.read(master, 65536):
                shown += piece
        except OSError:
            pass
        code = process.wait(60)
    os.close(master)
    return code, shown


def check_terminal(s, ctl):
    code, shown = on_terminal(ctl, ["stats", "-i", "20ms"], rb"(?s)\x1b\[H.*memory.*\x1b\[H")
    assert code == OK and b"requests" in shown, shown
    code, shown = on_terminal(ctl, ["bench", "get", "--time", "1h"], rb"get, 10 connections")
    assert code == REFUSED, (code, shown)
    assert s.get("/getschema/avroctl-bench").status == 404


# ---- bench ----


def check_bench(s, ctl):
    quick = ("--time", "300ms", "--warmup", "20ms", "--connections", "1,7")
    told = json.loads(ctl("bench", "--json", *quick))["rows"]
    assert [(row["table"], row["connections"]) for row in told] == [
        (table, connections) for table in ("ping", "get", "put") for connections in (1, 7)]
    for row in told:
        assert row["answers"] > 0 and row["wrong"] == 0 and row["broken"] == 0, row
        assert 0 < row["p50_us"] <= row["p99_us"] <= row["p999_us"] <= row["max_us"], row
    told = json.loads(ctl("bench", "sizes", "--json", "--sizes", "8,9000", "--ids", "20", *quick))["rows"]
    assert [(row["table"], row["bytes"]) for row in told[::2]] == [("put", 8), ("get", 8), ("put", 9000), ("get", 9000)]
    assert all(row["answers"] > 0 and row["wrong"] == row["broken"] == 0 for row in told), told
    assert s.get("/getschema/avroctl-bench").status == s.get("/getschema/avroctl-bench-blob").status == 404
    table = ctl("bench", "ping", *quick).decode().splitlines()
    assert len(table) == 3 and table[0].split()[0] == "table" and table[1].split()[:2] == ["ping", "1"], table
    s.post("/putschema/avroctl-bench", body=b'"int"')
    assert "There is a type 'avroctl-bench' already" in ctl.refused("bench", "get", *quick)
    assert s.get("/getschema/avroctl-bench").body == b'"int"'
    s.delete("/delschema/avroctl-bench")


def check_bench_sees_wrong_answers():
    """The third answer is another one; the connection that ends is counted, too."""
    right = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong"

    class Liar(Script):
        def serve(self):
            connection, _ = self.listener.accept()
            for answer in [right, right.replace(b"pong", b"pang"), right.replace(b"200 OK", b"500 No"), right]:
                connection.recv(65536)
                connection.sendall(answer)
            connection.recv(65536)
            self.listener.close()
            connection.close()

        def __exit__(self, *why):
            self.thread.join(60)

    with Liar() as (_, ctl):
        ctl.refused("bench", "ping", "--connections", "1", "--json", code=NO_CONNECTION)

    class Server503(Script):
        def serve(self):
            connection, _ = self.listener.accept()
            while connection.recv(65536):
                connection.sendall(right.replace(b"200 OK", b"503 No"))
            connection.close()

    with Server503() as (_, ctl):
        done = ctl.run("bench", "ping", "--connections", "1", "--time", "300ms", "--warmup", "10ms", "--json")
        row = json.loads(done.stdout)["rows"][0]
        assert done.returncode == REFUSED and row["wrong"] >= row["answers"] > 0 and "status 503" in row["first_fault"], row


def main():
    with Server("--engine", "memory") as s:
        ctl = of(s)
        check_ping(ctl)
        check_records(s, ctl)
        check_forms_and_ids(s, ctl)
        check_scan(ctl)
        check_schemas(ctl)
        check_diff(ctl)
        check_types(ctl)
        check_partial_writes(ctl)
        check_paths(ctl)
        check_type_options(ctl)
        check_json_errors(ctl)
        check_usage(ctl)
        check_help(ctl)
        check_full_output(ctl)
        check_stats(ctl)
        check_terminal(s, ctl)
        check_bench(s, ctl)
    with tempfile.TemporaryDirectory(prefix="avrod-test-") as folder:
        with Server("--engine", "memory", "--listen", f"unix:{folder}/socket"):
            ctl = Ctl(f"unix:{folder}/socket")
            check_ping(ctl)
            ctl("bench", "ping", "--time", "20ms", "--warmup", "10ms", "--connections", "2")
    check_no_connection()
    check_bad_servers()
    check_tls()
    check_bench_sees_wrong_answers()
    print("ok")


if __name__ == "__main__":
    main()
