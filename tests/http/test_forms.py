"""tests/http/test_forms.py - record forms by Content-Type and Accept: each both ways, on every record route."""

import json
import re
import struct
import unittest

from avrod import Server, sanitized

PERSON = {"type": "record", "name": "PersonInfo", "namespace": "astore", "fields": [
    {"name": "name", "type": "string"}, {"name": "age", "type": "int"},
    {"name": "gender", "type": {"type": "enum", "name": "GenderType", "symbols": ["Female", "Male", "Unknown"]}, "default": "Unknown"},
    {"name": "emails", "type": {"type": "array", "items": "string"}}]}
BOND = bytes.fromhex("144a616d657320426f6e64780400")
BOND_JSON = {"name": "James Bond", "age": 60, "gender": "Unknown", "emails": []}
FINGERPRINT = bytes.fromhex("ad4d92fe21c39303")
UNION = {"type": "record", "name": "c.U", "fields": [
    {"name": "u", "type": ["null", "string", {"type": "record", "name": "d.I", "fields": [{"name": "n", "type": "long"}]}]}]}
BINARY, SINGLE, CONFLUENT = "avro/binary", "avro/single-object", "application/vnd.confluent.avro"
FORMS = "application/json", "avro/json", BINARY, SINGLE, CONFLUENT


def setUpModule():
    global server
    server = Server()


def tearDownModule():
    server.stop()


def register(name, schema, **options):
    query = "&".join(f"{key}={value}" for key, value in options.items())
    reply = server.post(f"/putschema/{name}?{query}", body=json.dumps(schema).encode())
    assert reply.status == 200, reply
    return int(reply.header("Schema-Id"))


def put(target, body, kind, **headers):
    return server.put(target, body=body, headers={"Content-Type": kind, **{k.replace("_", "-"): v for k, v in headers.items()}})


def framed(kind, datum, fingerprint=FINGERPRINT, schema_id=1):
    return {BINARY: b"", SINGLE: b"\xc3\x01" + fingerprint, CONFLUENT: b"\0" + struct.pack(">I", schema_id)}[kind] + datum


def fingerprint(canonical):
    """CRC-64-AVRO of a canonical form, as the specification computes it; least byte first."""
    empty = value = 0xc15d213aa4d7a795
    for byte in canonical.encode():
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (empty if value & 1 else 0)
    return struct.pack("<Q", value)


def varint(n):
    n, out = (n << 1) ^ (n >> 63), b""
    while n >= 0x80:
        out, n = out + bytes([n & 0x7f | 0x80]), n >> 7
    return out + bytes([n])


class Forms(unittest.TestCase):
    def expect(self, reply, status, code=None):
        self.assertEqual(reply.status, status, reply)
        if code:
            self.assertEqual(reply.json()["code"], code, reply)
        return reply


class Input(Forms):
    @classmethod
    def setUpClass(cls):
        cls.id = register("person", PERSON)

    def test_each_binary_form_is_stored_on_each_route(self):
        for i, kind in enumerate((BINARY, SINGLE, CONFLUENT)):
            body = framed(kind, BOND, schema_id=self.id)
            self.expect(put(f"/person/r{i}", body, kind), 201)
            self.expect(put(f"/person/r{i}", body, kind), 200)
            self.expect(server.post(f"/person/p{i}", body=body, headers={"Content-Type": kind}), 201)
            self.expect(put(f"/person/put/v{i}", body, kind), 200)
            for target in f"/person/r{i}", f"/person/p{i}", f"/person/get/v{i}":
                self.assertEqual(self.expect(server.get(target), 200).json(), BOND_JSON)

    def test_a_body_in_chunks_is_read_like_one_in_a_piece(self):
        chunks = "".join(f"1\r\n{chr(c)}\r\n" for c in BOND).encode("latin-1") + b"0\r\n\r\n"
        got = server.raw(b"PUT /person/chunked HTTP/1.1\r\nHost: localhost\r\nContent-Type: avro/binary\r\n"
                         b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
        self.assertIn(b" 201 ", got.split(b"\r\n")[0])
        self.assertEqual(server.get("/person/chunked").json(), BOND_JSON)

    def test_avro_json_wants_tags_and_json_does_not(self):
        register("union", UNION)
        tagged, bare = b'{"u":{"d.I":{"n":1}}}', b'{"u":"x"}'
        self.expect(put("/union/1", tagged, "avro/json"), 201)
        self.expect(put("/union/2", bare, "application/json"), 201)
        refused = self.expect(put("/union/3", bare, "avro/json"), 422, "bad_record").json()
        self.assertEqual(refused["errors"][0]["pointer"], "/u")
        self.expect(put("/union/put/1/u", b'{"string":"y"}', "avro/json"), 200)
        self.assertEqual(server.get("/union/1").json(), {"u": {"string": "y"}})
        self.expect(put("/union/put/1/u", b'"y"', "avro/json"), 422, "bad_record")

    def test_a_field_is_put_as_json_only(self):
        put("/person/f", BOND, BINARY)
        for kind in BINARY, SINGLE, CONFLUENT:
            reply = self.expect(put("/person/put/f/age", b"\x02", kind), 415, "unsupported_type")
            self.assertIn("application/json, avro/json are", reply.json()["detail"])

    def test_415_lists_what_is_offered(self):
        reply = self.expect(put("/person/x", BOND, "application/vnd.apache.avro"), 415, "unsupported_type").json()
        for kind in FORMS:
            self.assertIn(kind, reply["detail"])

    def test_a_content_type_may_have_parameters_and_capitals(self):
        self.expect(put("/person/x", BOND, "Avro/Binary; version=1"), 201)

    def test_a_long_body_is_checked_by_a_helper_like_a_short_one(self):
        mails = [f"{i}@x" for i in range(20000)]
        body = BOND[:-1] + varint(len(mails)) + b"".join(varint(len(m)) + m.encode() for m in mails) + b"\0"
        self.expect(put("/person/long", body, BINARY), 201)
        self.assertEqual(server.get("/person/long").json()["emails"], mails)
        self.expect(put("/person/long", framed(SINGLE, body), SINGLE), 200)
        self.assertEqual(server.get("/person/long").json()["emails"], mails)
        broken = self.expect(put("/person/long", framed(CONFLUENT, body[:-2], schema_id=self.id), CONFLUENT), 422, "bad_avro").json()
        self.assertEqual(broken["errors"][0]["pointer"], "/emails/19999")
        self.assertEqual(server.get("/person/long").json()["emails"], mails)

    def test_a_body_longer_than_a_record_may_be_is_413(self):
        register("large", "bytes")
        self.expect(put("/large/1", varint((1 << 24) - 4) + b"x" * ((1 << 24) - 4), BINARY), 201)
        self.expect(put("/large/2", varint(1 << 24) + b"x" * (1 << 24), BINARY), 413)

    def test_benchmark_only_checks_the_body_and_stores_nothing(self):
        self.expect(put("/person/bench?benchmark_only=1", BOND, BINARY), 200)
        self.expect(put("/person/bench?benchmark_only=1", BOND[:-1], BINARY), 422, "bad_avro")
        for target, dry in ("/person/bench", None), ("/person/bench?dry_run=1", "1"), ("/person/put/bench?dry_run=1", "1"):
            target += ("&" if dry else "?") + "benchmark_only=1"
            self.assertEqual(self.expect(put(target, BOND, BINARY), 200).header("Dry-Run"), dry)
        self.expect(server.get("/person/bench"), 404)


class Faults(Forms):
    """D-19, D-24, D-42 to D-45: what is no datum is 422, names the byte and the field, and changes nothing."""

    @classmethod
    def setUpClass(cls):
        register("faulty", {"type": "record", "name": "R", "fields": [
            {"name": "i", "type": "int"}, {"name": "s", "type": "string"}, {"name": "b", "type": "boolean"},
            {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A"]}},
            {"name": "u", "type": ["null", "long"]}, {"name": "y", "type": "bytes"}, {"name": "m", "type": {"type": "map", "values": "int"}}]})
        register("list", {"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]})
        register("nulls", {"type": "array", "items": "null"})

    GOOD = b"\x02" b"\x02s" b"\x01" b"\x00" b"\x02\x02" b"\x02y" b"\x02\x02k\x02\x00"

    def test_each_names_its_byte_and_its_field(self):
        self.expect(put("/faulty/1", self.GOOD, BINARY), 201)
        for at, field, bad, words in (
                (0, "/i", b"\x80\x80\x80\x80\x10", "more than 32 bits at byte 0"),
                (0, "/i", b"\x80" * 11, "more than 64 bits at byte 0"),
                (1, "/s", b"\x01", "negative length at byte 1"),
                (1, "/s", b"\xfe\xff\xff\xff\x0f", "length beyond the end of the data at byte 1"),
                (1, "/s", b"\x80\x80\x80\x80\x80\x40", "length beyond the end of the data at byte 1"),
                (1, "/s", b"\x04\xc3\x28", "not UTF-8 at byte 2"),
                (1, "/s", b"\x04\xc0\x80", "not UTF-8 at byte 2"),
                (3, "/b", b"\x02", "boolean of 2"),
                (4, "/e", b"\x12", "enum symbol 9 of 1"),
                (4, "/e", b"\x01", "enum symbol -1 of 1"),
                (5, "/u", b"\x0e", "union branch 7 of 2"),
                (7, "/y", b"\xff" * 9 + b"\x01", "negative length at byte 7"),
                (9, "/m", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", "more items than the data can hold"),
                (9, "/m/k", b"\x04\x02k\x02\x02k\x02\x00", "a key that stands twice at byte 13"),
                (len(self.GOOD) - 1, "/m", b"", "cut off"),
                (len(self.GOOD), "", b"!", "1 bytes left over")):
            reply = self.expect(put("/faulty/1", self.GOOD[:at] + bad, BINARY), 422, "bad_avro").json()
            self.assertEqual(reply["errors"][0]["pointer"], field, reply)
            self.assertIn(words, reply["detail"])
        self.assertEqual(server.get("/faulty/1").json()["i"], 1)

    def test_a_frame_that_is_none_says_what_it_begins_with(self):
        for kind, body, words in ((SINGLE, b"\xc3\x01", "10 bytes"), (SINGLE, BOND, "c3 01"), (CONFLUENT, b"\0\0\0\1", "5 bytes"),
                                  (CONFLUENT, b"\1\0\0\0\1\2", "zero byte"), (SINGLE, b"", "10 bytes")):
            reply = self.expect(put("/faulty/3", body, kind), 422, "bad_avro").json()
            self.assertIn(words, reply["detail"])
            code = "size" if "bytes" in words else "encoding"
            self.assertEqual(reply["errors"], [{"pointer": "", "code": code, "detail": reply["detail"]}])

    def test_a_million_levels_are_too_deep(self):
        self.expect(put("/list/1", b"\x02" * 499 + b"\0", BINARY), 201)
        self.expect(put("/list/2", b"\x02" * 1023 + b"\0", BINARY), 201)
        self.expect(put("/list/3", b"\x02" * 1024 + b"\0", BINARY), 422, "too_deep")
        self.expect(put("/list/3", b"\x02" * 1_000_000 + b"\x02\0", BINARY), 422, "too_deep")

    def test_a_count_that_a_few_bytes_claim_is_refused(self):
        self.expect(put("/nulls/1", b"\x80\x80\x80\x01\0", BINARY), 201)
        self.expect(put("/nulls/2", b"\x80\x80\x80\x80\x80\x80\x80\x80\x20\0", BINARY), 422, "too_much_work")

    def test_memory_stays_flat_over_refused_bodies(self):  # D-48
        request = (b"PUT /faulty/1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: avro/binary\r\nContent-Length: 2\r\n\r\n\x02\x02")
        def refuse(n):
            got = server.raw(request * (n - 1) + request.replace(b"Host: localhost", b"Host: localhost\r\nConnection: close"))
            self.assertEqual(got.count(b"HTTP/1.1 422 "), n)
        refuse(2000)
        before = server.memory()
        for _ in range(10):
            refuse(2000)
        if not sanitized():  # else what is freed is kept for a while
            self.assertLess(server.memory() - before, 8 << 20)


class Writers(Forms):
    """The version that has written a body, by frame or header, and what becomes of one that is not the latest."""

    V1 = {"type": "record", "name": "W", "fields": [{"name": "a", "type": "int"}]}
    V2 = {"type": "record", "name": "W", "fields": [{"name": "a", "type": "long"}, {"name": "b", "type": "string", "default": "x"}]}

    @classmethod
    def setUpClass(cls):
        cls.id1 = register("w", cls.V1)
        cls.id2 = register("w", cls.V2)
        cls.other = register("other", "double")

    def canonical(self, *fields):
        return '{"name":"W","type":"record","fields":[' + ",".join(f'{{"name":"{n}","type":"{t}"}}' for n, t in fields) + "]}"

    def test_schema_version_names_it_for_forms_without_a_frame(self):
        self.expect(put("/w/1", b"\x02", BINARY, Schema_Version="1"), 201)
        self.expect(put("/w/2", b'{"a":1}', "application/json", Schema_Version="1"), 201)
        self.expect(put("/w/3", b'{"a":1}', "avro/json", Schema_Version="1"), 201)
        self.expect(put("/w/4", b"\x02\x02y", BINARY, Schema_Version="2"), 201)
        self.expect(put("/w/5", b"\x02\x02y", BINARY), 201)
        self.expect(put("/w/6", b"\x02", BINARY), 422, "bad_avro")
        self.expect(put("/w/6", b"\x02\x02y", BINARY, Schema_Version="1"), 422, "bad_avro")
        self.expect(put("/w/6", b'{"a":1,"b":"z"}', "application/json", Schema_Version="1"), 422, "bad_record")
        for target in "/w/1", "/w/2", "/w/3":
            self.assertEqual(server.get(target).json()["a"], 1)

    def test_schema_version_that_is_none(self):
        self.expect(put("/w/x", b"\x02", BINARY, Schema_Version="9"), 404, "no_version")
        for bad in "0", "-1", "latest", "1.0", "4294967297":
            self.expect(put("/w/x", b"\x02", BINARY, Schema_Version=bad), 400, "bad_request")

    def test_a_field_is_put_in_the_latest_version(self):
        self.expect(put("/w/field", b"\x02\x02y", BINARY), 201)
        self.expect(put("/w/put/field/a", b"7", "application/json", Schema_Version="2"), 200)
        self.expect(put("/w/put/field/a", b"8", "application/json", Schema_Version="1"), 409, "other_version")
        self.expect(put("/w/put/field/a", b"8", "application/json", Schema_Version="9"), 404, "no_version")
        self.expect(put("/w/put/field/a", b"8", "application/json", Schema_Version="x"), 400, "bad_request")
        self.assertEqual(server.get("/w/field").json()["a"], 7)

    def test_a_fingerprint_names_any_version_of_the_type(self):
        first, second = fingerprint(self.canonical(("a", "int"))), fingerprint(self.canonical(("a", "long"), ("b", "string")))
        self.expect(put("/w/f1", framed(SINGLE, b"\x02", first), SINGLE), 201)
        self.expect(put("/w/f2", framed(SINGLE, b"\x02\x02y", second), SINGLE), 201)
        self.expect(put("/w/f3", framed(SINGLE, b"\x02\x02y", first), SINGLE), 422, "bad_avro")
        refused = self.expect(put("/w/f4", framed(SINGLE, b"\x02"), SINGLE), 422, "unknown_writer").json()
        self.assertIn("0x0393c321fe924dad", refused["detail"])
        broken = self.expect(put("/w/f5", framed(SINGLE, b"\x02\x03", second), SINGLE), 422, "bad_avro").json()
        self.assertIn("at byte 11", broken["detail"])

    def test_a_schema_id_names_any_version_of_the_type(self):
        self.expect(put("/w/c1", framed(CONFLUENT, b"\x02", schema_id=self.id1), CONFLUENT), 201)
        self.expect(put("/w/c2", framed(CONFLUENT, b"\x02\x02y", schema_id=self.id2), CONFLUENT), 201)
        for foreign in self.other, 0, 4294967295:
            refused = self.expect(put("/w/c3", framed(CONFLUENT, b"\x02", schema_id=foreign), CONFLUENT), 422, "unknown_writer").json()
            self.assertIn(f"schema id {foreign},", refused["detail"])

    def test_a_version_that_the_registry_has_deleted_can_still_have_written(self):
        register("gone", self.V1)
        newest = register("gone", {**self.V1, "fields": self.V1["fields"] + self.V2["fields"][1:]})
        self.expect(server.delete("/subjects/gone/versions/2"), 200)
        self.assertEqual(server.get("/getschema/gone").header("Schema-Version"), "1")
        of_newest = fingerprint(self.canonical(("a", "int"), ("b", "string")))
        self.expect(put("/gone/1", framed(SINGLE, b"\x02\x02y", of_newest), SINGLE), 201)
        self.expect(put("/gone/2", framed(CONFLUENT, b"\x02\x02y", schema_id=newest), CONFLUENT), 201)
        self.expect(put("/gone/3", framed(SINGLE, b"\x02", bytes(8)), SINGLE), 422, "unknown_writer")

    def test_header_and_frame_must_agree(self):
        self.expect(put("/w/h1", framed(CONFLUENT, b"\x02", schema_id=self.id1), CONFLUENT, Schema_Version="1"), 201)
        self.expect(put("/w/h2", framed(CONFLUENT, b"\x02", schema_id=self.id1), CONFLUENT, Schema_Version="2"), 422, "unknown_writer")
        self.expect(put("/w/h2", framed(CONFLUENT, b"\x02", schema_id=self.id1), CONFLUENT, Schema_Version="9"), 404, "no_version")

    def test_versions_are_found_behind_a_restart(self):
        first = fingerprint(self.canonical(("a", "int")))
        for kind, body in ((SINGLE, framed(SINGLE, b"\x02", first)), (CONFLUENT, framed(CONFLUENT, b"\x02", schema_id=self.id1))):
            server.restart()
            self.expect(put("/w/restart", body, kind), 201 if kind == SINGLE else 200)
        server.restart()
        self.expect(put("/w/restart", b"\x02", BINARY, Schema_Version="1"), 200)
        server.restart()
        self.expect(put("/w/restart", framed(SINGLE, b"\x02"), SINGLE), 422, "unknown_writer")

    def test_what_the_latest_version_cannot_read_is_409(self):
        old = register("n", {"type": "record", "name": "N", "fields": [
            {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}}]}, compatibility="none")
        register("n", {"type": "record", "name": "N", "fields": [
            {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A"]}}]})
        self.expect(put("/n/1", framed(CONFLUENT, b"\x00", schema_id=old), CONFLUENT), 201)
        refused = self.expect(put("/n/2", framed(CONFLUENT, b"\x02", schema_id=old), CONFLUENT), 409, "other_version").json()
        self.assertEqual(refused["errors"][0]["pointer"], "/e")
        self.expect(put("/n/2", b'{"e":"B"}', "application/json", Schema_Version="1"), 409, "other_version")
        self.expect(server.get("/n/2"), 404)
        self.expect(put("/n/2?benchmark_only=1", b'{"e":"B"}', "application/json", Schema_Version="1"), 409, "other_version")

    def test_a_type_that_has_become_raw_keeps_to_the_version_that_is_named(self):
        register("turned", {"type": "bytes", "logicalType": "decimal", "precision": 4}, compatibility="none")
        register("turned", "bytes")
        self.expect(put("/turned/1", b'"ab"', "application/json"), 201)
        self.assertEqual(server.get("/turned/1").body, b'"ab"')
        self.expect(put("/turned/2", b'"ab"', "application/json", Schema_Version="1"), 201)
        self.expect(put("/turned/3", b"\x04ab", BINARY, Schema_Version="1"), 201)


class Raw(Forms):
    """Types whose records are kept as they are: Avro's own media types are taken for what they are."""

    @classmethod
    def setUpClass(cls):
        cls.blob = register("blob", "bytes")
        cls.note = register("note", "string")

    def test_avro_forms_are_decoded(self):
        of_bytes = fingerprint('"bytes"')
        for kind, body in ((BINARY, b"\x06\xff\0\xfe"), (SINGLE, framed(SINGLE, b"\x06\xff\0\xfe", of_bytes)),
                           (CONFLUENT, framed(CONFLUENT, b"\x06\xff\0\xfe", schema_id=self.blob)), ("avro/json", b'"\\u00ff\\u0000\\u00fe"')):
            self.expect(put("/blob/1", b"old", "image/png"), 201 if kind == BINARY else 200)
            self.expect(put("/blob/1", body, kind), 200)
            got = self.expect(server.get("/blob/1"), 200)
            self.assertEqual((got.body, got.header("Content-Type")), (b"\xff\0\xfe", "application/octet-stream"), kind)

    def test_a_string_must_be_utf8_in_each_form(self):
        self.expect(put("/note/1", b"\x04\xc3\xa9", BINARY), 201)
        got = self.expect(server.get("/note/1"), 200)
        self.assertEqual((got.body, got.header("Content-Type")), ("é".encode(), "text/plain; charset=utf-8"))
        self.expect(put("/note/2", b"\x04\xc3\x28", BINARY), 422, "bad_avro")
        self.expect(put("/note/2", b'"\xc3\x28"', "avro/json"), 400)

    def test_plain_json_is_kept_as_it_is(self):
        self.expect(put("/blob/2", b'{"a":1}', "application/json"), 201)
        got = server.get("/blob/2")
        self.assertEqual((got.body, got.header("Content-Type")), (b'{"a":1}', "application/json"))

    def test_an_older_raw_version_is_written_where_the_latest_reads_it(self):
        register("older", "bytes")
        register("older", "string")
        for body in b"abc", b"abc" * 30000:
            self.expect(put("/older/1", body, "image/png", Schema_Version="1"), 201 if body == b"abc" else 200)
            got = server.get("/older/1")
            self.assertEqual((got.body, got.header("Content-Type")), (body, "image/png"))
            self.expect(put("/older/1", body + b"\xff", "image/png", Schema_Version="1"), 409, "other_version")
            self.expect(put("/older/1", body + b"\xff", "image/png"), 422, "bad_record")
        self.expect(put("/older/2", b"\x02\xff", BINARY, Schema_Version="1"), 409, "other_version")

    def test_an_empty_body_is_a_datum_of_no_bytes(self):
        register("null", "null")
        self.expect(put("/null/1", b"", BINARY), 201)
        self.assertEqual(server.get("/null/1").body, b"null")
        self.expect(put("/blob/empty", b"", BINARY), 422, "bad_avro")

    def test_other_avro_types_are_415(self):
        self.expect(put("/blob/3", b"x", "avro/xml"), 415, "unsupported_type")
        self.expect(put("/blob/3", b"x", "application/vnd.apache.avro"), 201)


class Output(Forms):
    """What Accept asks for, with the writer named as the version that is shown."""

    @classmethod
    def setUpClass(cls):
        cls.id = register("out", PERSON)
        cls.union = register("outunion", UNION)
        put("/out/1", BOND, BINARY)
        put("/outunion/1", b'{"u":{"d.I":{"n":1}}}', "avro/json")

    def get(self, target, accept, status=200, **headers):
        headers = {"Accept": accept, **{k.replace("_", "-"): v for k, v in headers.items()}}
        return self.expect(server.get(target, headers=headers), status)

    def test_each_form_is_had_on_each_route(self):
        for target in "/out/1", "/out/get/1":
            for kind in BINARY, SINGLE, CONFLUENT:
                reply = self.get(target, kind)
                self.assertEqual(reply.body, framed(kind, BOND, schema_id=self.id))
                self.assertEqual((reply.header("Content-Type"), reply.header("Schema-Version"), reply.header("Schema-Id")),
                                 (kind, "1", str(self.id)))
                self.assertIn("Accept", reply.header("Vary"))
            self.assertEqual(self.get(target, "application/json").json(), BOND_JSON)

    def test_avro_json_tags_and_json_does_so_where_it_must(self):
        register("outnull", {"type": "record", "name": "N", "fields": [{"name": "u", "type": ["null", "string"]}]})
        put("/outnull/1", b'{"u":"x"}', "application/json")
        self.assertEqual(self.get("/outnull/1", "application/json").body, b'{"u":"x"}')
        self.assertEqual(self.get("/outnull/1", "avro/json").body, b'{"u":{"string":"x"}}')
        self.assertEqual(self.get("/outnull/get/1/u", "avro/json").body, b'{"string":"x"}')
        self.assertEqual(self.get("/outunion/1", "avro/json").body, b'{"u":{"d.I":{"n":1}}}')  # D-05

    def test_what_is_read_can_be_put_again(self):
        for kind in FORMS:
            for name in "out", "outunion":
                body = self.get(f"/{name}/1", kind).body
                self.expect(put(f"/{name}/again", body, kind), 201 if kind == FORMS[0] else 200)
                self.assertEqual(self.get(f"/{name}/again", BINARY).body, self.get(f"/{name}/1", BINARY).body)

    def test_weights_choose(self):
        for accept, kind in (("*/*", FORMS[0]), ("avro/*", "avro/json"), ("avro/binary;q=0.5, application/json;q=0.4", BINARY),
                             ("text/html, */*;q=0.1", FORMS[0]), ("application/json;q=0, avro/json;q=0, */*", BINARY),
                             ("avro/single-object, avro/binary", BINARY), (" Avro/Single-Object ", SINGLE)):
            self.assertEqual(self.get("/out/1", accept).header("Content-Type"), kind, accept)

    def test_406_lists_what_is_offered(self):
        reply = self.get("/out/1", "text/html", 406).json()
        for kind in FORMS:
            self.assertIn(kind, reply["detail"])
        reply = self.get("/out/get/1/age", BINARY, 406).json()
        self.assertIn("application/json, avro/json.", reply["detail"])

    def test_scans_and_what_a_condition_met_are_json(self):
        self.assertIn("Accept", self.get("/out", BINARY, 406).header("Vary"))
        reply = self.get("/out", BINARY, 406).json()
        self.assertIn("application/x-ndjson, application/json", reply["detail"])
        self.assertEqual(json.loads(self.get("/out?limit=1&from=1", "application/x-ndjson").body)["record"], BOND_JSON)
        refused = server.put("/out/1", body=BOND, headers={"Content-Type": BINARY, "Accept": BINARY, "If-None-Match": "*"})
        self.assertEqual(self.expect(refused, 412, "condition_failed").json()["current"]["record"], BOND_JSON)

    def test_each_form_has_a_tag_of_its_own(self):
        tags = {kind: self.get("/out/1", kind).header("ETag") for kind in FORMS}
        self.assertEqual(len(set(tags.values())), len(FORMS))
        self.assertEqual(len({tag.split("-")[0] for tag in tags.values()}), 1)
        for kind, tag in tags.items():
            for other in FORMS:
                reply = self.get("/out/1", other, 304 if kind == other else 200, If_None_Match=tag)
                self.assertEqual(reply.header("ETag"), tags[other])
            self.expect(put("/out/1?dry_run=1", BOND, BINARY, If_Match=tag), 200)

    def test_head_tells_what_get_would(self):
        for kind in FORMS:
            got, head = self.get("/out/1", kind), server.request("HEAD", "/out/1", headers={"Accept": kind})
            self.assertEqual((head.status, head.body), (200, b""))
            for name in "Content-Type", "Content-Length", "ETag", "Schema-Version", "Schema-Id":
                self.assertEqual(head.header(name), got.header(name))

    def test_what_was_put_as_binary_is_given_back_byte_for_byte(self):
        register("outarray", {"type": "array", "items": "int"})
        for body in b"\x04\x02\x04\0", b"\x02\x02\x02\x04\0", b"\x03\x04\x02\x04\0", b"\x84\x80\0\x82\0\x84\x80\x80\0\x80\0":
            put("/outarray/1", body, BINARY)
            self.assertEqual(self.get("/outarray/1", BINARY).body, body)
            self.assertEqual(self.get("/outarray/1", "application/json").json(), [1, 2])

    def test_long_records_leave_whole_in_each_form(self):
        register("outlong", {"type": "record", "name": "L", "fields": [{"name": "a", "type": "bytes"}, {"name": "n", "type": "int"}]})
        for size in 3000, 4040, 4080, 4090, 8170, 60000, 65520, 65536, 70000, 1 << 20, (1 << 24) - 10:
            content = (b"0123456789abcdef" * (size // 16 + 1))[:size]
            datum = varint(size) + content + b"\x0e"
            self.expect(put("/outlong/1", datum, BINARY), 201 if size == 3000 else 200)
            for kind in BINARY, SINGLE, CONFLUENT:
                got = self.get("/outlong/1", kind)
                frame = len(framed(kind, b""))
                self.assertEqual(len(got.body), frame + len(datum))
                self.assertTrue(got.body[frame:] == datum and got.body[:1] == framed(kind, datum)[:1])
                head = server.request("HEAD", "/outlong/1", headers={"Accept": kind})
                self.assertEqual(head.header("Content-Length"), str(len(got.body)))

    def test_raw_types_are_framed_too(self):
        of_bytes = fingerprint('"bytes"')
        blob = register("outblob", "bytes")
        for size in 0, 3, 64, 5000, 100000:
            content = bytes(i & 255 for i in range(size))
            put("/outblob/1", content, "image/png")
            datum = varint(size) + content
            self.assertEqual(self.get("/outblob/1", BINARY).body, datum)
            self.assertEqual(self.get("/outblob/1", SINGLE).body, b"\xc3\x01" + of_bytes + datum)
            self.assertEqual(self.get("/outblob/1", CONFLUENT).body, b"\0" + struct.pack(">I", blob) + datum)
            self.assertEqual(self.get("/outblob/1", "image/png").body, content)
            whole = self.get("/outblob/1", BINARY, Range="bytes=0-0")
            self.assertEqual(whole.body, datum)
        reply = self.get("/outblob/1", "text/html", 406).json()
        for kind in ("image/png",) + FORMS[1:]:
            self.assertIn(kind, reply["detail"])

    def test_benchmark_only_answers_the_initial_record(self):
        reply = self.get("/out/get/1?benchmark_only=9", BINARY)
        self.assertEqual((reply.body, reply.header("ETag")), (b"\0\0\x04\0", None))

    def test_another_version_is_what_the_frame_names(self):
        first = register("outv", Writers.V1)
        put("/outv/1", b"\x02", BINARY)
        second = register("outv", Writers.V2)
        canonical = ('{"name":"W","type":"record","fields":[{"name":"a","type":"long"},{"name":"b","type":"string"}]}')
        resolved = b"\x02\x02x"
        self.assertEqual(self.get("/outv/1", BINARY).body, resolved)
        self.assertEqual(self.get("/outv/1", SINGLE).body, b"\xc3\x01" + fingerprint(canonical) + resolved)
        self.assertEqual(self.get("/outv/1", CONFLUENT).body, b"\0" + struct.pack(">I", second) + resolved)
        old = self.get("/outv/1?version=1", CONFLUENT)
        self.assertEqual((old.body, old.header("Schema-Version"), old.header("Schema-Id")), (b"\0" + struct.pack(">I", first) + b"\x02", "1", str(first)))

    def test_long_records_of_another_version_leave_whole_in_each_form(self):
        schema = {"type": "record", "name": "L", "fields": [{"name": "a", "type": "bytes"}, {"name": "n", "type": "int"}]}
        register("outvl", schema)
        for size in 3000, 5000, 60000, 65530, 200000, (1 << 24) - 20:
            content = (b"0123456789abcdef" * (size // 16 + 1))[:size]
            put(f"/outvl/{size}", varint(size) + content + b"\x0e", BINARY)
        schema["fields"].append({"name": "more", "type": "string", "default": "x"})
        second = register("outvl", schema)
        for size in 3000, 5000, 60000, 65530, 200000, (1 << 24) - 20:
            content = (b"0123456789abcdef" * (size // 16 + 1))[:size]
            datum = varint(size) + content + b"\x0e\x02x"
            self.assertTrue(self.get(f"/outvl/{size}", BINARY).body == datum)
            self.assertTrue(self.get(f"/outvl/{size}", CONFLUENT).body == b"\0" + struct.pack(">I", second) + datum)

    def test_what_the_version_shown_cannot_read_is_409(self):
        register("outbad", {"type": "enum", "name": "E", "symbols": ["A", "B"]}, compatibility="none")
        put("/outbad/1", b"\x02", BINARY)
        register("outbad", {"type": "enum", "name": "E", "symbols": ["A"]})
        for kind in FORMS:
            self.assertEqual(self.get("/outbad/1", kind, 409).json()["code"], "other_version")
        self.assertEqual(self.get("/outbad/1?version=1", BINARY).body, b"\x02")


class DryRun(Forms):
    """?dry_run=1 answers what a put would, and stores nothing."""

    @classmethod
    def setUpClass(cls):
        register("dry", PERSON)
        register("dryblob", "bytes")
        register("drywide", {"type": "record", "name": "W", "fields": [{"name": "a", "type": "bytes"}, {"name": "n", "type": "int"}]})

    def dry(self, target, body, kind="application/json", **headers):
        reply = put(target + "?dry_run=1", body, kind, **headers)
        if reply.status < 300:
            self.assertEqual((reply.body, reply.header("Dry-Run"), reply.header("ETag")), (b"OK", "1", None))
        return reply

    def test_a_put_that_would_be_taken(self):
        reply = self.expect(self.dry("/dry/new", b'{"name":"x","age":1,"emails":[]}'), 201)
        self.assertEqual(reply.header("Location"), "/dry/new")
        self.expect(self.dry("/dry/put/new", b'{"name":"x","age":1,"emails":[]}'), 200)
        self.expect(self.dry("/dry/new", BOND, BINARY), 201)
        self.expect(self.dry("/dryblob/new", b"x", "image/png"), 201)
        for target in "/dry/new", "/dryblob/new":
            self.expect(server.get(target), 404)
        put("/dry/old", BOND, BINARY)
        reply = self.expect(self.dry("/dry/old", b'{"name":"x","age":1,"emails":[]}'), 200)
        self.assertIsNone(reply.header("Location"))
        self.assertEqual(server.get("/dry/old").json(), BOND_JSON)
        self.assertIsNone(put("/dry/old?dry_run=0", BOND, BINARY).header("Dry-Run"))

    def test_a_put_that_would_be_refused(self):
        put("/dry/there", BOND, BINARY)
        tag = server.get("/dry/there").header("ETag")
        self.expect(self.dry("/dry/1", b'{"name":1}'), 422, "bad_record")
        self.expect(self.dry("/dry/1", b"{"), 400, "bad_json")
        self.expect(self.dry("/dry/1", b"\x02", BINARY), 422, "bad_avro")
        self.expect(self.dry("/dry/1", b"x", "application/xml"), 415, "unsupported_type")
        self.expect(self.dry("/dry/1", BOND, BINARY, Schema_Version="7"), 404, "no_version")
        self.expect(self.dry("/nothere/1", BOND, BINARY), 404, "no_type")
        self.expect(put("/dry/1?dry_run=yes", BOND, BINARY), 400, "bad_parameter")
        self.expect(self.dry("/dryblob/1", b"x" * (1 << 24), "image/png"), 413, "record_too_large")
        refused = self.expect(self.dry("/dry/there", BOND, BINARY, If_None_Match="*"), 412, "condition_failed").json()
        self.assertEqual(refused["current"]["record"], BOND_JSON)
        self.expect(self.dry("/dry/there", BOND, BINARY, If_Match='"1-1"'), 412, "condition_failed")
        self.expect(self.dry("/dry/there", BOND, BINARY, If_Match=tag), 200)
        self.expect(self.dry("/dry/absent", BOND, BINARY, If_Match="*"), 412, "condition_failed")
        self.assertEqual(server.get("/dry/there").header("ETag"), tag)

    def test_a_field(self):
        put("/dry/f", BOND, BINARY)
        tag = server.get("/dry/f").header("ETag")
        self.expect(self.dry("/dry/put/f/age", b"61"), 200)
        self.expect(self.dry("/dry/put/f/age", b"61", If_Match=tag), 200)
        self.expect(self.dry("/dry/put/f/age", b'"x"'), 422, "bad_record")
        self.expect(self.dry("/dry/put/f/none", b"1"), 404, "no_field")
        self.expect(self.dry("/dry/put/absent/age", b"1"), 404, "no_record")
        self.expect(self.dry("/dry/put/f/age", b"1", If_Match='"1-1"'), 412, "condition_failed")
        self.assertEqual(server.get("/dry/f").header("ETag"), tag)
        self.assertEqual(server.get("/dry/f").json(), BOND_JSON)

    def test_a_field_of_a_long_record(self):
        content = b"x" * ((1 << 24) - 100)
        put("/drywide/1", varint(len(content)) + content + b"\0", BINARY)
        self.expect(self.dry("/drywide/put/1/n", b"7"), 200)
        self.assertEqual(server.get("/drywide/get/1/n").body, b"0")
        put("/drywide/2", varint(20000) + b"x" * 20000 + b"\0", BINARY)
        self.expect(self.dry("/drywide/put/2/a", b'"%s"' % (b"x" * ((1 << 24) - 200))), 200)
        self.assertEqual(len(server.get("/drywide/get/2/a").body), 20002)

    def test_it_sees_the_writes_before_it_on_its_connection(self):
        def request(target, more=""):
            return (f"PUT {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: avro/binary\r\n{more}"
                    f"Content-Length: {len(BOND)}\r\n\r\n").encode() + BOND
        for i in range(50):
            got = server.raw(request(f"/dry/pipe{i}") + request(f"/dry/pipe{i}?dry_run=1", "If-None-Match: *\r\n") +
                             request(f"/dry/pipe{i}?dry_run=1", "Connection: close\r\n"))
            self.assertEqual(re.findall(rb"HTTP/1.1 (\d+) ", got), [b"201", b"412", b"200"])


if __name__ == "__main__":
    unittest.main()
