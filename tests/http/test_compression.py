"""tests/http/test_compression.py - compression=zstd: every verb on records that are stored packed, beside the same on a type that
stores them as they are; and what becomes of them when the option changes."""

import base64
import json
import random
import re
import subprocess
import tempfile
import unittest

from avrod import AVROD, Server

SCHEMA = {"type": "record", "name": "R", "fields": [
    {"name": "s", "type": "string"}, {"name": "n", "type": "long", "default": 7},
    {"name": "items", "type": {"type": "array", "items": {"type": "record", "name": "I", "fields": [
        {"name": "k", "type": "string"}, {"name": "v", "type": "int"}]}}, "default": []}]}
SIZES = 300, 1500, 5000, 20_000, 66_000, 300_000, 3_000_000


def text(size, seed=1):
    r = random.Random(seed)
    words = [base64.b64encode(r.randbytes(r.randrange(2, 9))).decode() for _ in range(12)]
    piece = " ".join(r.choice(words) for _ in range(5000))
    return (piece * (size // len(piece) + 1))[:size]


def setUpModule():
    global server
    server = Server()
    for name, schema in ("rec", SCHEMA), ("raw", "bytes"), ("str", "string"):
        for kind, option in ("z", "zstd"), ("p", "none"):
            assert server.post(f"/putschema/{name}{kind}?compression={option}", body=json.dumps(schema).encode()).status == 200


def tearDownModule():
    assert server.stop() == 0


def bytes_of(name):
    return next(t["bytes"] for t in server.get("/schemas").json() if t["name"] == name)


def packed_so_far(s=None):
    found = re.search(rb"^avrod_packed_records_total (\d+)$", (s or server).get("/metrics").body, re.M)
    return int(found.group(1))


def record(size, seed=1):
    return {"s": text(size, seed), "n": seed, "items": [{"k": f"k{i}", "v": i} for i in range(5)]}


class Compression(unittest.TestCase):
    def same(self, method, target, body=None, **headers):
        """Of both kinds the same answer, but for what differs in any case. `#` in the target is the kind."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        z, p = (server.request(method, target.replace("#", kind), body=body, headers=headers) for kind in "zp")
        self.assertEqual((z.status, z.header("Content-Type"), z.header("Content-Range")),
                         (p.status, p.header("Content-Type"), p.header("Content-Range")), (target, z, p))
        if b'"current"' not in p.body and b'"revision"' not in p.body:
            self.assertEqual(z.body.replace(b"recz", b"recp"), p.body, target)
        return z

    def put_both(self, id_, size, seed=1):
        self.same("PUT", f"/rec#/{id_}", json.dumps(record(size, seed)).encode())

    def test_what_is_put_comes_back_in_every_form(self):
        for size in SIZES:
            before = packed_so_far()
            self.put_both(size, size)
            self.assertEqual(packed_so_far(), before + 1, size)
            for form in "application/json", "avro/json", "avro/binary", "avro/single-object":
                self.same("GET", f"/rec#/{size}", Accept=form)
            self.assertEqual(server.get(f"/recz/{size}").json(), record(size))
            self.same("GET", f"/rec#/get/{size}/s")
            self.same("GET", f"/rec#/{size}?fields=n,items.k")
            self.same("POST", f"/rec#/select/{size}", b".items.v")
            self.same("HEAD", f"/rec#/{size}")
            binary = server.get(f"/recz/{size}", headers={"Accept": "avro/binary"}).body
            self.same("PUT", f"/rec#/{size}", binary, Content_Type="avro/binary")
            self.same("GET", f"/rec#/{size}")
        self.assertLess(bytes_of("recz"), bytes_of("recp") * 7 // 8)

    def test_edits_of_packed_records(self):
        for size in SIZES:
            def again():
                self.put_both(f"e{size}", size, 2)
            for method, target, body in [
                    ("PATCH", f"/rec#/e{size}", b'{"n":8}'),
                    ("PUT", f"/rec#/put/e{size}/n", b"9"),
                    ("PUT", f"/rec#/put/e{size}/s", json.dumps(text(size + 1000, 3)).encode()),
                    ("POST", f"/rec#/update/e{size}", b".items[0].v\n77"),
                    ("POST", f"/rec#/insert/e{size}", b'.items[0]\n{"k":"new","v":1}'),
                    ("POST", f"/rec#/delete/e{size}", b".items[1]"),
                    ("POST", f"/rec#/clear/e{size}", b".items"),
                    ("PATCH", f"/rec#/e{size}?dry_run=1", b'{"n":8}')]:
                again()
                self.assertEqual(self.same(method, target, body).status, 200, (target, body))
                self.same("GET", f"/rec#/e{size}")
                self.same(method, target, body)  # of what the edit has left
                self.same("GET", f"/rec#/e{size}")
            again()
            self.assertEqual(self.same("PATCH", f"/rec#/e{size}", b'{"n":"x"}').status, 422)
            self.assertEqual(self.same("DELETE", f"/rec#/e{size}").status, 200)
            self.assertEqual(self.same("GET", f"/rec#/e{size}").status, 404)

    def test_conditions_show_what_is_there(self):
        for size in SIZES[:-1]:
            self.put_both("c", size, 4)
            for method, target, body in ("PUT", "/recz/c", b'{"s":""}'), ("PATCH", "/recz/c", b'{"n":1}'), ("DELETE", "/recz/c", None):
                reply = server.request(method, target, body=body, headers={"If-Match": '"1-1"'})
                self.assertEqual((reply.status, reply.json()["current"]["record"]), (412, record(size, 4)))
            tag = server.get("/recz/c").header("ETag")
            self.assertEqual(server.get("/recz/c", headers={"If-None-Match": tag}).status, 304)
            self.assertEqual(server.request("PATCH", "/recz/c", body=b'{"n":1}', headers={"If-Match": tag}).status, 200)
            self.put_both("c?dry_run=1", size, 4)

    def test_scans_show_them_in_their_places(self):
        for i in range(300):
            self.put_both(f"scan{i:03}", [200, 1000, 4500, 30_000][i % 4] if i % 50 else 100_000, i)
        for query in "prefix=scan", "prefix=scan&fields=n", "prefix=scan&keys=1", "prefix=scan&limit=77":
            z, p = ([(line["id"], line.get("record")) for line in map(json.loads, server.get(f"/rec{kind}?{query}").body.splitlines())]
                    for kind in "zp")
            self.assertEqual(z, p)
        self.assertGreater(len(z), 70)

    def test_transactions_see_and_change_them(self):
        for size in SIZES[:-1]:
            self.put_both("t", size, 5)
            for kind in "zp":
                reply = server.post("/_txn", body=json.dumps({"operations": [
                    {"op": "check", "type": f"rec{kind}", "id": "t", "pointer": "/items/1/v", "is": "=", "value": 1},
                    {"op": "patch", "type": f"rec{kind}", "id": "t", "merge": {"n": 50}},
                    {"op": "put", "type": f"rec{kind}", "id": "t2", "record": record(size, 6)}]}).encode())
                self.assertEqual(reply.status, 200, reply)
            self.same("GET", "/rec#/t")
            self.same("GET", "/rec#/t2")
            self.assertEqual(server.get("/recz/t").json()["n"], 50)

    def test_content_as_it_is(self):
        for size in SIZES:
            content = text(size, 7).encode()
            self.same("PUT", "/raw#/x", content, Content_Type="text/css")
            self.same("PUT", "/str#/x", content)
            for target in "/raw#/x", "/str#/x":
                self.assertEqual(self.same("GET", target).body, content)
                self.same("HEAD", target)
                for part in "bytes=0-0", "bytes=100-299", "bytes=-50", f"bytes={size - 1}-", f"bytes={size}-":
                    self.same("GET", target, Range=part)
                self.same("GET", target, Accept="avro/json")
                self.same("GET", target, Accept="avro/binary")
            self.same("GET", "/raw#")
        reply = server.get("/rawz/x", headers={"Accept-Encoding": "gzip"})
        self.assertEqual(reply.header("Content-Encoding"), "gzip")

    def test_what_gets_no_shorter_stays_as_it_is(self):
        noise = random.Random(1).randbytes(300_000)
        for size in 256, 5000, 70_000, 300_000:
            before = packed_so_far()
            self.same("PUT", "/raw#/noise", noise[:size])
            self.assertEqual(packed_so_far(), before)
            self.assertEqual(self.same("GET", "/raw#/noise").body, noise[:size])
        before = packed_so_far()
        self.same("PUT", "/raw#/short", b"a" * 250)
        self.assertEqual(packed_so_far(), before)

    def test_the_limit_is_of_what_is_put(self):
        with Server("--record-max", "100KiB") as s:
            s.post("/putschema/b?compression=zstd", body=b'"bytes"')
            self.assertEqual(s.put("/b/x", body=b"a" * 102_390).status, 201)
            self.assertEqual(s.put("/b/x", body=b"a" * 102_401).status, 413)
            self.assertEqual(s.get("/b/x").body, b"a" * 102_390)

    def test_the_option_is_of_what_comes_and_outlives_a_restart(self):
        with Server() as s:
            put = f"/putschema/t?compression="
            schema = json.dumps(SCHEMA).encode()
            self.assertEqual(s.post("/putschema/t", body=schema).status, 200)
            self.assertEqual(s.get("/schemas").json()[0]["compression"], "none")
            ids = []
            for i, option in enumerate(["zstd", "none", "zstd", None]):
                if option:
                    self.assertEqual(s.post(put + option, body=schema).status, 200)
                    self.assertEqual(s.get("/schemas").json()[0]["compression"], option)
                s.restart(kill=i % 2 == 0)
                for size in SIZES[:-1]:
                    ids.append((f"{i}-{size}", record(size, i)))
                    self.assertEqual(s.put("/t/" + ids[-1][0], body=json.dumps(ids[-1][1]).encode()).status, 201)
                self.assertEqual(packed_so_far(s), 0 if option == "none" else len(SIZES) - 1)
                for id_, want in ids:
                    self.assertEqual(s.get("/t/" + id_).json(), want)
            reply = s.post(put + "gzip", body=schema)
            self.assertEqual((reply.status, reply.json()["code"]), (400, "bad_parameter"))
            self.assertEqual(s.post("/putschema/t?ttl=none", body=schema).status, 200)
            self.assertEqual(s.get("/schemas").json()[0]["compression"], "zstd")

    def test_another_version_reads_them(self):
        first = {"type": "record", "name": "V", "fields": [{"name": "a", "type": "string"}]}
        second = {**first, "fields": first["fields"] + [{"name": "b", "type": "int", "default": 5}]}
        for kind, option in ("z", "zstd"), ("p", "none"):
            server.post(f"/putschema/v{kind}?compression={option}", body=json.dumps(first).encode())
            for size in SIZES:
                self.assertEqual(server.put(f"/v{kind}/{size}", body=json.dumps({"a": text(size, 8)}).encode()).status, 201)
            reply = server.post(f"/putschema/v{kind}?check=stored&dry_run=1", body=json.dumps(second).encode())
            self.assertEqual(reply.status, 200, reply)
            self.assertEqual(server.post(f"/putschema/v{kind}", body=json.dumps(second).encode()).status, 200)
        for size in SIZES:
            self.same("GET", f"/v#/{size}")
            self.same("GET", f"/v#/{size}?version=1")
            self.same("PATCH", f"/v#/{size}", b'{"b":6}')
            self.same("GET", f"/v#/{size}")
        self.assertEqual(len(server.get("/vz").body.splitlines()), len(SIZES))
        for kind, option in ("z", "zstd"), ("p", "none"):
            server.post(f"/putschema/w{kind}?compression={option}", body=b'"bytes"')
            server.put(f"/w{kind}/x", body=text(9000, 9).encode())
            self.assertEqual(server.post(f"/putschema/w{kind}?compatibility=none", body=b'"string"').status, 200)
        self.same("GET", "/w#/x")
        self.same("GET", "/w#/x", Range="bytes=5-90")

    def test_a_check_of_the_store_reads_them_and_a_backup_keeps_them(self):
        with tempfile.TemporaryDirectory() as folder, Server() as s:
            s.post("/putschema/t?compression=zstd", body=b'"string"')
            want = {str(size): text(size, 10) for size in SIZES}
            for id_, value in want.items():
                self.assertEqual(s.put("/t/" + id_, body=value.encode()).status, 201)
            backup, again = folder + "/backup", folder + "/again"
            with open(backup, "wb") as f:
                f.write(s.get("/_backup").body)
            self.assertEqual(s.stop(), 0)
            for place in s.data, backup:
                checked = subprocess.run([AVROD, "--fsck", place], capture_output=True, check=False)
                self.assertEqual(checked.returncode, 0, checked)
            subprocess.run([AVROD, "--restore", backup, again], capture_output=True, check=True)
            with Server(data=again) as restored:
                for id_, value in want.items():
                    self.assertEqual(restored.get("/t/" + id_).body.decode(), value)

    def test_a_life_and_a_key_go_with_them(self):
        body = json.dumps(record(9000)).encode()
        first = server.put("/recz/life?ttl=1000", body=body, headers={"Idempotency-Key": "life"})
        again = server.put("/recz/life?ttl=1000", body=body, headers={"Idempotency-Key": "life"})
        self.assertEqual((first.status, again.status, again.header("Idempotency-Replayed")), (201, 201, "true"))
        self.assertIsNotNone(server.get("/recz/life").header("TTL"))


if __name__ == "__main__":
    unittest.main()
