"""tests/http/test_demands_schemas.py - what users of such stores complain about, as far as schemas are concerned: every fault with
its place, wherever in a schema it stands. docs/testing.md says which test answers which complaint."""

import json
import unittest

from avrod import Server
from places import Places, problems


def setUpModule():
    global server
    server = Server("--engine", "memory")


def tearDownModule():
    server.__exit__(None, None, None)


def field(name, type_, **more):
    return {"name": name, "type": type_, **more}


def record(name, *fields, **more):
    return {"type": "record", "name": name, **more, "fields": list(fields)}


# Where a schema can stand in another: what is around it, and its pointer.
AROUND = (
    (lambda inner: inner, ""),
    (lambda inner: record("Around", field("v", inner)), "/fields/0/type"),
    (lambda inner: record("Around", field("a", "int"), field("v", {"type": "array", "items": inner})), "/fields/1/type/items"),
    (lambda inner: {"type": "map", "values": inner}, "/values"),
    (lambda inner: record("Around", field("v", record("Inner", field("w", inner)))), "/fields/0/type/fields/0/type"),
    (lambda inner: record("Around", field("v", ["null", inner])), "/fields/0/type/1"),
    (lambda inner: [record("First"), record("Around", field("v", inner))], "/1/fields/0/type"),
)


class Case(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(server.get("/ping").body, b"pong", "alive")

    def register(self, schema, name="t", query="?compatibility=none"):
        text = schema if isinstance(schema, bytes) else json.dumps(schema)
        return server.post(f"/putschema/{name}{query}", body=text)

    def accepts(self, schema, warnings=0, name="t"):
        reply = self.register(schema, name)
        self.assertEqual((reply.status, reply.body), (200, b"OK"), schema)
        self.assertEqual(len(reply.header_all("Schema-Warning")), warnings, reply)
        return reply

    def refuses(self, schema, *want, words=""):
        """Each of `want` is (pointer, code). The type is not there, or as it was."""
        server.delete("/delschema/refused")
        reply = self.register(schema, "refused")
        self.assertEqual((reply.status, reply.json()["code"]), (422, "bad_schema"), (schema, reply))
        self.assertEqual(reply.header("Content-Type"), "application/problem+json")
        self.assertEqual(problems(reply), list(want), (schema, reply))
        self.assertIn(words, reply.body.decode())
        for e in reply.json()["errors"]:
            self.assertTrue(e["detail"], "a sentence")
        self.assertEqual(server.get("/getschema/refused").status, 404)
        return reply

    def refuses_everywhere(self, schema, pointer, code, words="", around=AROUND):
        for make, place in around:
            self.refuses(make(schema), (place + pointer, code), words=words)


class Places_(Case):
    def test_a_fault_is_told_with_its_place_and_a_hint(self):  # D-22
        sub = record("Sub", field("f", "strnig"))
        self.refuses(record("R", field("f", {"type": "array", "items": {"type": "array", "items": sub}})),
                     ("/fields/0/type/items/items/fields/0/type", "unknown_type"), words='did you mean \\"string\\"?')
        self.refuses_everywhere("strnig", "", "unknown_type", words="strnig")
        self.refuses_everywhere({"type": "strnig"}, "/type", "unknown_type", words='\\"string\\"')

    def test_a_name_that_is_nearly_a_type_of_the_schema_is_guessed(self):  # D-22
        self.refuses(record("R", field("a", record("com.shop.Address")), field("b", "com.shop.Adress")),
                     ("/fields/1/type", "unknown_type"), words="com.shop.Address")

    def test_every_fault_is_listed_in_the_order_of_the_text(self):  # D-22
        bad = record("a-b", field("f", "strnig"), field("g", {"type": "fixed", "name": "F", "size": -1}), field("f", "int"))
        self.refuses(bad, ("/name", "name"), ("/fields/0/type", "unknown_type"), ("/fields/1/type/size", "size"),
                     ("/fields/2/name", "duplicate"))


class Defaults(Case):
    WRONG = (
        (["int", "null"], "x"), (["string", "null"], {"string": "x"}), ("int", 1.5), ("int", 3000000000),
        ({"type": "array", "items": "int"}, {}), (record("D", field("must", "int")), {}),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "B"), ("string", None), ("null", 0), ("boolean", "true"),
        ("long", 9223372036854775808), ("bytes", "\u0100"), ({"type": "fixed", "name": "F", "size": 2}, "a"),
        ({"type": "map", "values": "int"}, {"k": "x"}), ({"type": "array", "items": "int"}, [1, "x"]), ("double", "1.5"),
        (["null", "int"], "x"), (record("D", field("must", "int")), {"must": 1, "more": 2}),
    )

    def test_a_wrong_default_is_told_at_the_default_with_the_fix(self):  # D-25
        for type_, default in self.WRONG:
            for make, place in AROUND:
                reply = self.refuses(make(record("Has", field("f", type_, default=default))),
                                     (place + "/fields/0/default", "default"), words='The default of \\"f\\" does not fit its type')
                self.assertEqual(self.register(make(record("Has", field("f", type_))), "neighbour").status, 200, reply)
        self.refuses(record("R", field("f", ["string", "null"], default={"string": "x"})), ("/fields/0/default", "default"),
                     words="A union's default is written bare")
        self.refuses(record("R", field("f", "int", default="7")), ("/fields/0/default", "default"), words="without quotes")

    def test_right_defaults_are_taken(self):  # D-25
        for type_, default in (
            (["int", "null"], 5), (["string", "null"], "x"), ("int", 1.0), ("int", -2147483648), ({"type": "array", "items": "int"}, [1]),
            (record("D", field("must", "int")), {"must": 1}), (record("D", field("may", "int", default=2)), {}),
            ({"type": "enum", "name": "E", "symbols": ["A"]}, "A"), ("null", None), ("bytes", "\u00ff"), ("double", 1),
            ({"type": "map", "values": "int"}, {}), (["null", "int"], None),
        ):
            for make, _ in AROUND:
                self.accepts(make(record("Has", field("f", type_, default=default))), name="defaults")

    def test_a_default_of_a_later_branch_is_taken_with_a_warning(self):  # D-25
        for type_, default in (["null", "int"], 5), (["int", "null"], None), (["int", "string", "null"], "x"):
            reply = self.accepts(record("R", field("f", type_, default=default)), warnings=1)
            self.assertIn("later branch", reply.header("Schema-Warning"))
        self.assertEqual(server.put("/t/1", body=b"{}").status, 201)
        self.assertEqual(server.get("/t/1").body, b'{"f":{"string":"x"}}')

    def test_an_enums_own_default_is_one_of_its_symbols(self):  # D-25
        self.refuses_everywhere({"type": "enum", "name": "E", "symbols": ["A"], "default": "B"}, "/default", "default")

    def test_wrong_defaults_are_listed_beside_other_faults(self):  # D-25
        schema = record("R", field("a", "int", default="x"), field("b", "strnig"), field("c", ["null", "int"], default="y"))
        self.refuses(schema, ("/fields/1/type", "unknown_type"), ("/fields/0/default", "default"), ("/fields/2/default", "default"))
        inner = record("Inner", field("x", "int", default=1.5), field("y", "int", default=1))
        for fault, place, code in (
            (field("b", record("a-b")), "/fields/1/type/name", "name"), (field("a b", "int"), "/fields/1/name", "name"),
            (field("b", {"type": "array"}), "/fields/1/type/items", "missing"), (field("b", ["int", "int"]), "/fields/1/type/1", "union"),
            (field("b", {"type": "map", "values": "nope"}, default={}), "/fields/1/type/values", "unknown_type"),
        ):
            schema = record("R", field("a", "int", default="x"), fault, field("c", inner, default={"x": 1}),
                            field("d", "Inner", default={"x": 1, "z": 2}), field("e", ["null", "R"], default=5))
            self.refuses(schema, (place, code), ("/fields/0/default", "default"), ("/fields/3/default", "default"),
                         ("/fields/2/type/fields/0/default", "default"))


class Recursion(Case):
    def test_a_record_without_end_is_refused(self):  # D-26
        self.refuses(record("A", field("a", "A")), ("", "infinite"), words="A can never be finite")
        self.refuses_everywhere(record("A", field("n", "int"), field("a", "A")), "", "infinite", words="A can never be finite",
                                around=(AROUND[0], AROUND[2], AROUND[3], AROUND[5]))
        self.refuses(record("A", field("b", record("B", field("a", "A")))), ("", "infinite"), ("/fields/0/type", "infinite"))
        self.refuses(record("A", field("u", ["A"])), ("", "infinite"))
        self.refuses(record("A", field("u", ["A", record("B", field("a", "A"))])), ("", "infinite"),
                     ("/fields/0/type/1", "infinite"))

    def test_a_record_that_ends_may_hold_itself(self):  # D-27
        long_list = record("LongList", field("value", "long"), field("next", ["null", "LongList"]), namespace="t")
        self.accepts(long_list, name="longs")
        nested = '{"value":1,"next":{"value":2,"next":{"value":3,"next":null}}}'
        self.assertEqual(server.put("/longs/1", body=nested).status, 201)
        self.assertEqual(server.get("/longs/1").body.decode(), nested)
        tagged = '{"value":1,"next":{"t.LongList":{"value":2,"next":{"LongList":{"value":3,"next":null}}}}}'
        self.assertEqual(server.put("/longs/1", body=tagged).status, 200)
        self.assertEqual(server.get("/longs/1").body.decode(), nested)
        again = self.register(long_list, "longs", "")
        self.assertEqual((again.status, again.header("Schema-Version")), (200, "1"), "it is the same schema")
        canonical = server.get("/getschema/longs?format=canonical")
        self.assertTrue(canonical.body.decode().endswith('"next","type":["null","t.LongList"]}]}'), canonical)
        self.assertEqual(canonical.header("Schema-Fingerprint"), bytes.fromhex("187e356bef4dea30")[::-1].hex())
        self.assertEqual(server.get("/longs/1", headers={"Accept": "avro/single-object"}).body[:10].hex(), "c301187e356bef4dea30")
        doubles = record("LongList", field("value", "double"), field("next", ["null", "LongList"]), namespace="t")
        for schema, level, is_compatible in ((long_list, "full_transitive", True), (doubles, "backward", True),
                                             (doubles, "forward", False)):
            verdict = self.register(schema, "longs", f"?dry_run=1&compatibility={level}")
            self.assertEqual(verdict.json()["compatible"], is_compatible, "the comparison comes to an end")
        self.accepts(record("Node", field("kids", {"type": "array", "items": "Node"})), name="nodes")
        self.accepts(record("Dict", field("of", {"type": "map", "values": "Dict"})), name="dicts")
        self.accepts(record("A", field("b", record("B", field("a", ["null", "A"])))), name="mutual")
        for name, body in ("nodes", '{"kids":[{"kids":[]},{"kids":[{"kids":[]}]}]}'), ("dicts", '{"of":{"a":{"of":{"b":{"of":{}}}}}}'), (
                "mutual", '{"b":{"a":{"b":{"a":null}}}}'):
            self.assertEqual(server.put(f"/{name}/1", body=body).status, 201)
            self.assertEqual(server.get(f"/{name}/1").body.decode(), body)


class Names(Case):
    def test_invalid_names_are_told_with_their_place(self):  # D-28
        for name in "a-b", ".a", "", "1a", "a b", "a..b", "a.", "ä", "a.1b", "int", "ns.int", "null":
            for schema in record(name), {"type": "fixed", "name": name, "size": 1}, {"type": "enum", "name": name, "symbols": ["A"]}:
                self.refuses_everywhere(schema, "/name", "name")
        for namespace in "x-y", "a..b", ".a", "1", "a ":
            self.refuses_everywhere(record("R", namespace=namespace), "/namespace", "name")
        for symbol in "A B", "1A", "", "a-b", "a.b", "é":
            self.refuses_everywhere({"type": "enum", "name": "E", "symbols": ["OK", symbol]}, "/symbols/1", "name")
        self.refuses_everywhere({"type": "enum", "name": "E", "symbols": [None]}, "/symbols/0", "type")
        for name in "", "a.b", "a-b", "1", " ":
            self.refuses_everywhere(record("R", field(name, "int")), "/fields/0/name", "name")

    def test_what_is_of_no_kind_or_missing_is_told_with_its_place(self):  # D-28
        for name in None, 1, [], {}:
            self.refuses_everywhere({"type": "record", "name": name, "fields": []}, "/name", "type")
        self.refuses_everywhere({"type": "record", "fields": []}, "/name", "missing")
        self.refuses_everywhere({"type": "record", "name": "R"}, "/fields", "missing")
        self.refuses_everywhere({"type": "enum", "name": "E"}, "/symbols", "missing")
        self.refuses_everywhere({"type": "fixed", "name": "F"}, "/size", "missing")
        self.refuses_everywhere({"type": "array"}, "/items", "missing")
        self.refuses_everywhere({"type": "map"}, "/values", "missing")
        self.refuses_everywhere(None, "", "type")
        self.refuses_everywhere(5, "", "type")

    def test_strange_unions_are_refused(self):  # D-29
        array, other = {"type": "array", "items": "int"}, {"type": "array", "items": "string"}
        no_union = AROUND[:5] + AROUND[6:]
        for union, pointer, code in (
            (["string", "string"], "/1", "union"), (["null", ["int"]], "/1", "union"), ([array, other], "/1", "union"),
            ([record("A"), record("A")], "/1/name", "duplicate"), ([], "", "union"), (["null", "int", "null"], "/2", "union"),
            ([{"type": "map", "values": "int"}, "int", {"type": "map", "values": "int"}], "/2", "union"),
            ([{"type": "int", "logicalType": "date"}, "int"], "/1", "union"), ([record("A"), "A"], "/1", "union"),
        ):
            self.refuses_everywhere(union, pointer, code, around=no_union)
        self.refuses(record("R", field("v", ["null", ["int", "string"]])), ("/fields/0/type/1", "union"))

    def test_unions_of_one_branch_and_of_several_records_are_taken(self):  # D-29
        for union in ["int"], ["null"], [record("A"), record("B")], [record("a.A"), record("b.A")], ["int", "long", "float", "double"]:
            self.accepts(union, name="unions")
            self.accepts(record("R", field("v", union)), name="unions")
        Places(server, '["int"]').takes("5")

    def test_duplicates_inside_a_schema_are_refused(self):  # D-30
        self.refuses_everywhere(record("R", field("a", "int"), field("b", "int"), field("a", "string")), "/fields/2/name", "duplicate")
        self.refuses_everywhere({"type": "enum", "name": "E", "symbols": ["A", "B", "A"]}, "/symbols/2", "duplicate")
        fixed = {"type": "fixed", "name": "F", "size": 2}
        for second in {**fixed, "size": 3}, fixed, record("F"), {"type": "enum", "name": "F", "symbols": ["A"]}:
            self.refuses_everywhere(record("R", field("a", fixed), field("b", second)), "/fields/1/type/name", "duplicate",
                                    words='\\"F\\" is defined already')
        self.refuses(record("n.R", field("a", fixed), field("b", {**fixed, "namespace": "n"})), ("/fields/1/type/name", "duplicate"))
        self.accepts(record("n.R", field("a", fixed), field("b", {**fixed, "namespace": "m"})), name="spaces")

    def test_a_fixed_has_a_size_that_can_be(self):  # D-30
        for size in -1, 1 << 40, 1 << 62, 1.5, "4", None, True, 2147483648:
            code = "size" if isinstance(size, (int, float)) and not isinstance(size, bool) else "type"
            reply = self.register({"type": "fixed", "name": "F", "size": size}, "refused")
            self.assertEqual((reply.status, problems(reply)[0][0]), (422, "/size"), reply)
            self.assertIn(problems(reply)[0][1], (code, "size"), reply)
        for size in 0, 1, 1000:
            self.accepts({"type": "fixed", "name": "F", "size": size}, name="sizes")
        Places(server, '{"type":"fixed","name":"F","size":0}').takes('""')


class Namespaces(Case):
    def same(self, one, other):
        ids = [self.register(schema, name).header("Schema-Id") for schema, name in ((one, "one"), (other, "other"))]
        self.assertIsNotNone(ids[0])
        return ids[0] == ids[1]

    def test_a_full_name_and_a_namespace_say_the_same(self):  # D-31
        self.assertTrue(self.same(record("b.T", field("n", "int")), record("T", field("n", "int"), namespace="b")))
        self.assertTrue(self.same(record("b.T", namespace="ignored"), record("T", namespace="b")))
        self.assertFalse(self.same(record("b.T"), record("T")))
        self.assertTrue(self.same(record("b.R", field("i", record("I")), field("j", "I")),
                                  record("R", field("i", record("b.I")), field("j", "b.I"), namespace="b")))
        self.assertTrue(self.same(record("T"), record("T", namespace="")))

    def test_references_are_found_from_where_they_stand(self):  # D-31
        inner = record("Inner", field("n", "int"))
        for reference in "Inner", "b.Inner":
            self.accepts(record("b.R", field("i", inner), field("j", reference)), name="refs")
            self.assertEqual(server.put("/refs/1", body=b'{"i":{"n":1},"j":{"n":2}}').status, 201)
            server.delete("/delschema/refs")
        # Inside of b, a namespace of "" leads out, and what is inside of it is out too.
        outer = record("Out", field("n", "int"), namespace="")
        self.accepts(record("b.R", field("o", outer), field("i", record("I"))), name="out")
        self.refuses(record("b.R", field("o", outer), field("p", "Out")), ("/fields/1/type", "unknown_type"), words="b.Out")
        self.refuses(record("b.R", field("i", inner), field("j", "c.Inner")), ("/fields/1/type", "unknown_type"), words="c.Inner")
        self.refuses(record("R", field("i", record("b.Inner")), field("j", "Inner")), ("/fields/1/type", "unknown_type"),
                     words="Inner")
        self.accepts(record("b.R", field("x", record("X", field("y", record("c.Y", field("z", record("Z"))))),), field("z", "c.Z")),
                     name="deep")


class LogicalTypes(Case):
    def test_an_invalid_logical_type_is_ignored_with_a_warning(self):  # D-09
        for schema, value in (
            ({"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 5}, '"\\u0004\xd2"'),
            ({"type": "bytes", "logicalType": "decimal"}, '"ab"'), ({"type": "bytes", "logicalType": "decimal", "precision": 0}, '"ab"'),
            ({"type": "int", "logicalType": "nope"}, "5"), ({"type": "int", "logicalType": "timestamp-millis"}, "5"),
            ({"type": "string", "logicalType": "date"}, '"x"'), ({"type": "fixed", "name": "F", "size": 2, "logicalType": "duration"}, '"ab"'),
            ({"type": "int", "logicalType": 7}, "5"), ({"type": "array", "items": "int", "logicalType": "date"}, "[1]"),
        ):
            for make, place in AROUND:
                reply = self.accepts(make(schema), warnings=1, name="odd")
                self.assertIn(place + '"', reply.header("Schema-Warning"), "it says where")
            Places(server, schema).takes(value)

    def test_a_valid_logical_type_is_taken_without(self):  # D-09
        for schema in (
            {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2}, {"type": "int", "logicalType": "date"},
            {"type": "long", "logicalType": "timestamp-millis"}, {"type": "string", "logicalType": "uuid"},
            {"type": "fixed", "name": "F", "size": 12, "logicalType": "duration"},
        ):
            for make, _ in AROUND:
                self.accepts(make(schema), name="logical")


if __name__ == "__main__":
    unittest.main()
