"""tests/http/test_demands_http.py - what users of such stores complain about, as far as HTTP is concerned and not in test_edge.py:
what curl sends, framing by which a second request could be smuggled in, ids. docs/testing.md says which test answers what."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

from avrod import Server, read_all, read_reply

HOST = b"Host: localhost\r\n"
PERSON = {"type": "record", "name": "P", "fields": [
    {"name": "name", "type": "string"}, {"name": "age", "type": "int", "default": 0}]}
FORM = "application/x-www-form-urlencoded"
FORMS = (None, FORM, FORM + "; charset=UTF-8", "text/plain", "text/plain;charset=utf-8", "application/octet-stream", "application/json")


def setUpModule():
    global server
    server = Server("--engine", "memory", "--body-max", str(1 << 20))
    assert server.post("/putschema/p", body=json.dumps(PERSON)).status == 200
    assert server.post("/putschema/blob", body=b'"bytes"').status == 200


def tearDownModule():
    server.__exit__(None, None, None)


def statuses(data):
    """Of the answers in a stream: each has a Date."""
    return [int(part.rsplit(b"\r\n", 1)[-1].split(b" ")[1]) for part in data.split(b"\r\nDate: ")[:-1]]


class Case(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(server.get("/ping").body, b"pong", "alive")

    def refused(self, raw, *allowed):
        """Exactly one answer, then the end, whatever comes behind."""
        with server.connect() as c:
            c.sendall(raw)
            data = read_all(c)
        self.assertEqual(len(statuses(data)), 1, data)
        self.assertIn(statuses(data)[0], allowed, data)


class Curl(Case):
    def curl(self, *args):
        self.assertTrue(shutil.which("curl"), "curl is missing; tests/run.sh installs it")
        done = subprocess.run(["curl", "-sS", *args], capture_output=True, timeout=60, check=True)
        return done.stdout

    def url(self, path):
        return f"http://127.0.0.1:{server.port}{path}"

    def test_a_schema_of_many_lines_survives_data_at_file(self):  # D-49
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "schema.avsc")
            text = json.dumps(PERSON, indent=2).replace("\n", "\r\n")
            with open(path, "w", encoding="utf-8", newline="") as f:
                f.write(text)
            for option in "--data", "--data-binary", "--data-ascii", "-T":
                for more in (), ("-H", "Content-Type: application/json"), ("-H", "Content-Type:"), ("-H", "Transfer-Encoding: chunked"):
                    argument = path if option == "-T" else "@" + path
                    self.assertEqual(self.curl(option, argument, *more, self.url("/putschema/curl")), b"OK", (option, more))
        self.assertEqual(self.curl(self.url("/schemas")).count(b'"curl"'), 1)

    def test_a_path_and_its_value_in_a_file_want_data_binary_and_the_answer_says_so(self):  # D-49
        self.assertEqual(server.put("/p/path", body=b'{"name":"Al"}').status, 201)
        with tempfile.NamedTemporaryFile() as f:
            f.write(b'.name\n"Bo"\n')
            f.flush()
            self.assertIn(b"--data-binary", self.curl("--data", "@" + f.name, self.url("/p/update/path")))
            self.assertEqual(server.get("/p/path").json()["name"], "Al")
            self.assertEqual(self.curl("--data-binary", "@" + f.name, self.url("/p/update/path")), b"OK")
        self.assertEqual(server.get("/p/path").json()["name"], "Bo")

    def test_a_body_of_a_form_type_is_never_decoded(self):  # D-49
        for kind in FORMS:
            headers = {"Content-Type": kind} if kind else {}
            for way in server.post, server.put:
                reply = way("/p/put/form", body=b'{"name":"a+b%41%zz&c=d"}', headers=headers)
                self.assertEqual(reply.status, 200, (kind, reply))
                self.assertEqual(server.get("/p/form").json()["name"], "a+b%41%zz&c=d")
                self.assertEqual(way("/p/put/form/name", body=b'"x+%20"', headers=headers).status, 200)
                self.assertEqual(server.get("/p/get/form/name").body, b'"x+%20"')
            for body in b"name=x&age=5", b"%7B%22name%22%3A%22x%22%7D", b"name=%7B%7D":
                reply = server.post("/p/put/form", body=body, headers=headers)
                self.assertEqual((reply.status, reply.json()["code"]), (400, "bad_json"), (kind, body))
        self.assertEqual(self.curl("--data", '{"name":"a+b%41"}', self.url("/p/put/form")), b"OK")
        self.assertEqual(server.get("/p/form").json()["name"], "a+b%41")

    def test_a_multipart_form_and_xml_are_415(self):  # D-49, D-61
        for kind in "multipart/form-data; boundary=x", "application/xml", "text/html", "application/json+x", "image/png":
            for target in "/p/put/x", "/p/x", "/p/put/x/name", "/putschema/x":
                reply = server.post(target, body=b'{"name":"x"}', headers={"Content-Type": kind})
                self.assertEqual((reply.status, reply.json()["code"]), (415, "unsupported_type"), (kind, target))
        self.assertEqual(server.get("/p/x").status, 404)

    def test_a_container_file_as_one_record_is_415_and_is_recognised_as_binary(self):  # D-45
        for kind, status, code in ("application/vnd.apache.avro", 415, "unsupported_type"), ("avro/binary", 422, "bad_avro"):
            reply = server.put("/p/x", body=b"Obj\x01\x04\x14avro.codec", headers={"Content-Type": kind})
            self.assertEqual((reply.status, reply.json()["code"]), (status, code), reply)
        self.assertIn("looks like an object container file", reply.json()["detail"])

    def test_curl_asks_before_it_sends_a_long_body(self):  # D-50
        with tempfile.NamedTemporaryFile() as f:
            f.write(json.dumps({"name": "x" * 900000}).encode())
            f.flush()
            for expect in (), ("-H", "Expect: 100-continue"), ("-H", "Expect:"):
                self.assertEqual(self.curl(*expect, "-X", "PUT", "--data-binary", "@" + f.name, self.url("/p/long")), b"OK")
                refused = self.curl(*expect, "-T", f.name, "-w", " %{http_code} %{size_upload}", self.url("/nope/long"))
                self.assertIn(b"no_type", refused)
                if expect == ("-H", "Expect: 100-continue"):
                    self.assertTrue(refused.endswith(b" 404 0"), refused)


class Framing(Case):
    INNER = b"GET /p/smuggled HTTP/1.1\r\n" + HOST + b"\r\n"

    def test_a_body_with_two_frames_or_an_unknown_one_ends_the_connection(self):  # D-53, D-54
        for method in b"POST", b"PUT", b"GET", b"DELETE":
            for fields in (
                b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
                b"Content-Length: 47\r\nContent-Length: 0\r\n", b"Content-Length: 0\r\nContent-Length: 0\r\n",
                b"Transfer-Encoding : chunked\r\n", b"Transfer-Encoding\t: chunked\r\n", b" Transfer-Encoding: chunked\r\n",
                b"Transfer-Encoding: gzip, chunked\r\n", b"Transfer-Encoding: chunked, gzip\r\n", b"Transfer-Encoding: xchunked\r\n",
                b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", b"Transfer-Encoding: identity\r\n",
                b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", b"Transfer-Encoding: chunked;q=1\r\n",
                b"Transfer-Encoding: xchunked\r\nContent-Length: 4\r\n", b"Transfer-Encoding:\r\n", b"Transfer-Encoding: chunked,\x0b\r\n",
                b"Content-Length: 4,4\r\n", b"Content-Length: 0x4\r\n", b"Content-Length: 4 \x0b\r\n", b"Content-Length: ++4\r\n",
                b"Content-Length:\r\n", b"Content-Length: 4 4\r\n", b"Content-Length: 99999999999999999999\r\n", b"Content-Length: 1e1\r\n",
            ):
                raw = method + b" /p/put/x HTTP/1.1\r\n" + HOST + fields + b"\r\n4\r\nabcd\r\n0\r\n\r\n" + self.INNER
                self.refused(raw, 400, 413, 501)

    def test_a_chunked_body_is_named_in_any_case(self):  # D-53
        for value in b"chunked", b"Chunked", b"CHUNKED", b"  chunked  ":
            with server.connect() as c:
                c.sendall(b"PUT /blob/te HTTP/1.1\r\n" + HOST + b"transfer-encoding:" + value + b"\r\n\r\n4\r\nabcd\r\n0\r\n\r\n")
                self.assertIn(read_reply(c)[0].status, (200, 201))
            self.assertEqual(server.get("/blob/te").body, b"abcd")

    def test_a_body_with_head_is_refused(self):  # D-54
        for fields, body in (b"Content-Length: %d\r\n" % len(self.INNER), b""), (b"Transfer-Encoding: chunked\r\n", b"0\r\n\r\n"):
            self.refused(b"HEAD /ping HTTP/1.1\r\n" + HOST + fields + b"\r\n" + body + self.INNER, 400, 501)

    def test_broken_lines_end_the_connection(self):  # D-55
        for line, allowed in (
            (b"GET / HTTP/4294967297.1", 400), (b"GET  /ping HTTP/1.1", 400), (b"GET /ping HTTP/2.0", 505), (b"GET /ping HTTP/1.", 400),
            (b"GET /ping HTTP/1.1 ", 400), (b" GET /ping HTTP/1.1", 400), (b"GET /ping", 400), (b"G\0T /ping HTTP/1.1", 400),
            (b"GET /pi\0ng HTTP/1.1", 400), (b"GET /ping http/1.1", 400), (b"GET\t/ping HTTP/1.1", 400), (b"GET ping HTTP/1.1", 400),
        ):
            self.refused(line + b"\r\n" + HOST + b"\r\n" + self.INNER, allowed)
        for field in b": x", b"X: a\0b", b"X\0: a", b"X y: a", b"X", b"X : a", b"X: a\r\n b: c", b"X: a\nY: b", b"\xe9: x", b"(x): y":
            self.refused(b"GET /ping HTTP/1.1\r\n" + HOST + field + b"\r\n\r\n" + self.INNER, 400)


class Ids(Case):
    def put(self, path, name):
        reply = server.put(path, body=json.dumps({"name": name}))
        self.assertIn(reply.status, (200, 201), (path, reply))

    def names(self, path, name):
        for way in path, path.replace("/p/", "/p/get/", 1):
            reply = server.get(way)
            self.assertEqual((reply.status, reply.json().get("name")), (200, name), (way, reply))

    def test_a_plus_in_a_path_is_a_plus_and_in_a_query_a_space(self):  # D-58
        self.put("/p/a+b", "plus")
        for same in "/p/a+b", "/p/a%2Bb", "/p/a%2bb":
            self.names(same, "plus")
        self.assertEqual(server.get("/p/a%20b").status, 404)
        self.put("/p/put/a%20b", "space")
        self.names("/p/a%20b", "space")
        self.names("/p/a+b", "plus")
        for prefix, id_ in ("a%2Bb", "a+b"), ("a%2bb", "a+b"), ("a+b", "a b"), ("a%20b", "a b"):
            reply = server.get(f"/p?prefix={prefix}")
            self.assertEqual([json.loads(line)["id"] for line in reply.body.splitlines()], [id_])
        for space in "+", "%20":
            reply = server.post(f"/putschema/p?missing=a{space}b", body=json.dumps(PERSON))
            self.assertEqual(reply.status, 400)
            self.assertIn("'a b'", reply.json()["detail"])
        self.assertIn("'a+b'", server.post("/putschema/p?missing=a%2Bb", body=json.dumps(PERSON)).json()["detail"])

    def test_an_encoded_slash_stays_in_the_id_and_a_bare_one_names_a_field(self):  # D-59
        for id_ in "x%2Fname", "x%2fage", "%2F", "%2Fx", "x%2F", "%2F%2F", "%252F", ".", "..", "%2E%2E", "a%00b", "%ff", "get", "put":
            self.put(f"/p/put/{id_}", id_)
            self.names(f"/p/{id_}", id_)
            got, head = server.get(f"/p/{id_}"), server.request("HEAD", f"/p/{id_}")
            skip = ("date", "x-request-id", "server-timing")
            self.assertEqual(*([h for h in r.headers if h[0].lower() not in skip] for r in (got, head)))
            self.assertEqual((head.status, head.body), (200, b""))
        self.put("/p/x", "the record")
        self.assertEqual(server.get("/p/get/x/name").body, b'"the record"')
        self.assertEqual(server.get("/p/get/x%2Fname/name").body, b'"x%2Fname"')
        for path in "/p/x/name", "/p//x", "/p//", "//p/x", "/p/get//x", "/p/get/x//name", "/p/x/name/y":
            self.assertEqual(server.get(path).status, 404, path)
        self.names("/p/%2E%2E", "%2E%2E")
        self.names("/p/..", "%2E%2E")

    def test_create_only_and_stale_writes_are_412_with_what_is_there(self):  # D-60
        for base in "/p/", "/p/put/":
            server.delete("/p/once")
            first = server.put(base + "once", body=b'{"name":"first"}', headers={"If-None-Match": "*"})
            self.assertEqual(first.status, 201 if base == "/p/" else 200)
            for headers in ({"If-None-Match": "*"}, {"If-Match": '"old"'}, {"If-Match": 'W/"x"'}, {"If-Match": "W/" + first.header("ETag")},
                            {"If-Match": '"1-1", "2-1"'}):
                again = server.put(base + "once", body=b'{"name":"second"}', headers=headers)
                self.assertEqual((again.status, again.json()["current"]["record"]["name"]), (412, "first"), headers)
            listed = {"If-Match": '"1-1", ' + first.header("ETag") + ' , "x"'}
            second = server.put(base + "once", body=b'{"name":"second"}', headers=listed)
            self.assertEqual(second.status, 200)
            for path in "/p/once", "/p/get/once":
                same = server.get(path, headers={"If-None-Match": second.header("ETag")})
                self.assertEqual((same.status, same.body, same.header("ETag")), (304, b"", second.header("ETag")))

    def test_a_page_behind_the_last_id_is_empty_and_a_bad_escape_is_400(self):  # D-61
        for id_ in "page-1", "page-2":
            self.put(f"/p/{id_}", id_)
        for target in "/p?after=page-2&prefix=page-", "/p?after=%FF", "/p?after=page-2&to=page-3&keys=1":
            reply = server.get(target)
            self.assertEqual((reply.status, reply.body), (200, b""), target)
        self.assertEqual(server.get("/p?after=page-2&prefix=page-", headers={"Accept": "application/json"}).json(), [])
        for parameter in "after", "from", "to", "prefix":
            reply = server.get(f"/p?{parameter}=%zz")
            self.assertEqual((reply.status, reply.json()["code"]), (400, "bad_target"), parameter)


if __name__ == "__main__":
    unittest.main()
