#!/usr/bin/env python3
"""tests/http/test_edge_cors.py - pages of listed origins may read and write, all others as little as before; OPTIONS everywhere."""

import unittest

from avrod import Server
from edge import HOST, split_replies

APP, TOOL = "https://app.example", "http://localhost:3000"
EVIL = "https://evil.example"


class Cors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--threads", "1", "--cors-origin", f"{APP},{TOOL}")
        cls.server.post("/putschema/blob", b'"bytes"')
        cls.server.put("/blob/1", b"x")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def ask(self, method, target, origin, body=None, **headers):
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        return self.server.request(method, target, body, {"Origin": origin, **named} if origin is not None else named)

    def no_cors(self, reply):
        self.assertFalse([name for name, _ in reply.headers if name.lower().startswith("access-control-")])

    def test_a_preflight_of_a_listed_origin_is_told_what_it_may(self):
        for origin in APP, TOOL:
            for target, methods in (("/blob/1", "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS, PURGE"), ("/ping", "GET, HEAD, OPTIONS")):
                reply = self.ask("OPTIONS", target, origin, Access_Control_Request_Method="PUT",
                                 Access_Control_Request_Headers="content-type")
                self.assertEqual((reply.status, reply.body), (204, b""))
                self.assertEqual(reply.header_all("Access-Control-Allow-Origin"), [origin])
                self.assertEqual(reply.header("Access-Control-Allow-Methods"), methods)
                self.assertEqual(reply.header("Allow"), methods)
                allowed = reply.header("Access-Control-Allow-Headers").lower().split(", ")
                self.assertLessEqual({"content-type", "if-match", "if-none-match", "x-request-id", "range"}, set(allowed))
                self.assertTrue(int(reply.header("Access-Control-Max-Age")) > 0)
                self.assertIn("Origin", reply.header_all("Vary"))
                self.assertIsNone(reply.header("Access-Control-Expose-Headers"))

    def test_answers_to_a_listed_origin_can_be_read(self):
        for method, target, body, status in (
            ("GET", "/blob/1", None, 200), ("HEAD", "/blob/1", None, 200), ("GET", "/blob/none", None, 404),
            ("PUT", "/blob/1", b"y", 200), ("PATCH", "/blob/1", b"y", 415), ("PUT", "/nothing/1", b"y", 404),
            ("POST", "/putschema/bad", b"{", 400),
        ):
            reply = self.ask(method, target, APP, body, Sec_Fetch_Site="cross-site")
            self.assertEqual(reply.status, status, (method, target))
            self.assertEqual(reply.header_all("Access-Control-Allow-Origin"), [APP])
            exposed = reply.header("Access-Control-Expose-Headers").split(", ")
            self.assertLessEqual({"ETag", "Location", "Schema-Version", "X-Request-Id", "Retry-After"}, set(exposed))
            self.assertIn("Origin", reply.header_all("Vary"))
        reply = self.ask("GET", "/blob/1", APP, If_None_Match=self.server.get("/blob/1").header("ETag"))
        self.assertEqual((reply.status, reply.header("Access-Control-Allow-Origin")), (304, APP))

    def test_any_other_origin_reads_no_answer_and_writes_nothing(self):
        before = self.server.get("/blob/1").header("ETag")
        for origin in (EVIL, "null", "", APP + ".evil", APP.upper(), "http://app.example", APP + ":443", APP + "/", f"{APP},{TOOL}"):
            reply = self.ask("PUT", "/blob/1", origin, b"evil")
            self.assertEqual((reply.status, reply.json()["code"]), (403, "forbidden_origin"), origin)
            self.no_cors(reply)
            self.no_cors(self.ask("GET", "/blob/1", origin))
            preflight = self.ask("OPTIONS", "/blob/1", origin, Access_Control_Request_Method="PUT")
            self.assertEqual(preflight.status, 204)
            self.no_cors(preflight)
            self.assertIn("Origin", preflight.header_all("Vary"), "a cache must not give it to others")
        self.assertEqual(self.ask("PUT", "/blob/1", None, b"evil", Sec_Fetch_Site="cross-site").status, 403)
        self.assertEqual(self.server.get("/blob/1").header("ETag"), before)

    def test_the_own_origin_still_writes(self):
        own = f"http://127.0.0.1:{self.server.port}"
        reply = self.ask("PUT", "/blob/own", own, b"x", Sec_Fetch_Site="same-origin")
        self.assertEqual(reply.status, 201)
        self.no_cors(reply)

    def test_a_listed_origin_does_not_open_a_rebound_host(self):
        reply = self.ask("GET", "/blob/1", APP, Host="rebound.example")
        self.assertEqual((reply.status, reply.json()["code"]), (403, "forbidden_host"))


class Options(unittest.TestCase):
    def test_every_route_answers_options_with_its_methods(self):
        with Server("--threads", "1") as s:
            for path, allow in (("/", "GET, HEAD, OPTIONS"), ("/ping", "GET, HEAD, OPTIONS"), ("/schemas", "GET, HEAD, OPTIONS"),
                                ("/putschema/x", "POST, PUT, OPTIONS"), ("/getschema/x", "GET, HEAD, OPTIONS"),
                                ("/delschema/x", "POST, DELETE, OPTIONS"), ("/x/get/1", "GET, HEAD, OPTIONS"),
                                ("/x/put/1", "POST, PUT, OPTIONS"), ("/x/put/1/f", "POST, PUT, OPTIONS")):
                reply = s.request("OPTIONS", path)
                self.assertEqual((reply.status, reply.header("Allow"), reply.body), (204, allow, b""), path)
                self.assertIsNone(reply.header("Vary"), "nothing depends on Origin where none is listed")
            self.assertEqual(s.request("OPTIONS", "/x/y/z/1").status, 404)

    def test_options_of_the_whole_server_names_only_what_something_has(self):
        for args in [], ["--compat", "astore"]:
            with Server("--threads", "1", *args) as s:
                for target in b"*", b"http://localhost":
                    (reply,) = split_replies(s.raw(b"OPTIONS " + target + b" HTTP/1.1\r\n" + HOST + b"\r\n"))
                    self.assertEqual(reply.status, 204)
                    named = reply.header("Allow").split(", ")
                    self.assertLessEqual({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"}, set(named))
                    for method in named:
                        has = [s.request(method, path, b"").status != 405 for path in ("/ping", "/putschema/x", "/x/1")]
                        self.assertTrue(any(has), method)

    def test_what_no_browser_sends_is_refused_in_words(self):
        for bad in "*", "null", "", APP + "/", APP + ",", "app.example", "HTTPS://app.example", "https://app.example:443", \
                "http://a:80", "https://a/b", "https://", "https://a b":
            with self.assertRaisesRegex(RuntimeError, "no origin as browsers send it"):
                Server("--cors-origin", bad)
        with self.assertRaisesRegex(RuntimeError, "at most 64"):
            Server("--cors-origin", ",".join(f"http://a{i}" for i in range(65)))
        with Server("--cors-origin", ",".join(f"http://a{i}:1" for i in range(63)) + ",http://[::1]:3000") as s:
            reply = s.get("/ping", headers={"Origin": "http://[::1]:3000"})
            self.assertEqual(reply.header("Access-Control-Allow-Origin"), "http://[::1]:3000")


if __name__ == "__main__":
    unittest.main(verbosity=1)
