"""tests/http/test_demands_json.py - what users of such stores complain about, as far as values in JSON are concerned: each complaint
at every place where a value can stand (tests/lib/places.py). docs/testing.md says which test answers which."""

import json
import unittest

from avrod import Server
from places import Places, problems, put_chunked


def setUpModule():
    global server
    server = Server("--engine", "memory")


def tearDownModule():
    server.__exit__(None, None, None)


def record(name, *fields):
    """A field is (name, type) or (name, type, default)."""
    return {"type": "record", "name": name, "fields": [
        {"name": f[0], "type": f[1], **({"default": f[2]} if len(f) > 2 else {})} for f in fields]}


class Case(unittest.TestCase):
    def register(self, name, schema, query=""):
        text = schema if isinstance(schema, (str, bytes)) else json.dumps(schema)
        reply = server.post(f"/putschema/{name}{query}", body=text)
        self.assertEqual(reply.status, 200, reply)
        return reply

    def put(self, name, body, status=None):
        reply = server.put(f"/{name}/1", body=body)
        if status:
            self.assertEqual(reply.status, status, reply)
        else:
            self.assertIn(reply.status, (200, 201), reply)
        return reply

    def shows(self, name, text):
        self.assertEqual(server.get(f"/{name}/1").body.decode(), text)

    def tearDown(self):
        self.assertEqual(server.get("/ping").body, b"pong", "alive")


class Unions(Case):
    def test_a_nullable_value_may_stand_bare_or_tagged(self):  # D-01
        for value, tag, schema in (
            ('"a@x"', "string", '"string"'), ("5", "int", '"int"'), ('"\\u0001"', "bytes", '"bytes"'), ("[1]", "array", None),
            ('{"k":1}', "map", '{"type":"map","values":"int"}'),
            ('"B"', "n.E", '{"type":"enum","name":"n.E","symbols":["A","B"]}'),
            ('{"f":1}', "n.R", '{"type":"record","name":"n.R","fields":[{"name":"f","type":"int"}]}'),
        ):
            schema = schema or '{"type":"array","items":"int"}'
            for union in f'["null",{schema}]', f'[{schema},"null"]':
                places = Places(server, union)
                places.takes(value)
                places.takes('{"%s":%s}' % (tag, value), value)
                places.takes("null")

    def test_a_nullable_field_left_out_takes_its_default(self):  # D-02
        mail = ["null", "string"]
        self.register("opt", record("C", ("id", "int"), ("mail", mail, None)))
        self.put("opt", '{"id":4}')
        self.shows("opt", '{"id":4,"mail":null}')

    def test_a_nullable_field_without_default_is_missing_unless_the_type_fills_in_zeros(self):  # D-02
        for options, status in ("", 422), ("missing=default", 422), ("missing=reject", 422), ("missing=zero", None):
            self.register("strict", record("C", ("id", "int"), ("mail", ["null", "string"])), f"?{options}")
            reply = self.put("strict", '{"id":4}', status)
            if status:
                self.assertEqual(problems(reply), [("/mail", "missing")])
            else:
                self.shows("strict", '{"id":4,"mail":null}')
            self.assertEqual(server.delete("/delschema/strict").status, 200)

    def test_a_missing_field_is_told_where_it_would_be(self):  # D-02
        inner = json.dumps(record("C", ("id", "int"), ("mail", ["null", "string"])))
        places = Places(server, inner)
        places.refuses('{"id":4}', 422, ("/mail", "missing"))
        Places(server, inner, "missing=zero").takes('{"id":4}', '{"id":4,"mail":null}')

    def test_an_object_goes_to_the_record_that_has_its_members(self):  # D-03
        union = [record("A", ("p", "string", "")), record("B", ("q", "string", ""))]
        places = Places(server, union)
        places.takes('{"q":"hi"}', '{"B":{"q":"hi"}}')
        places.takes('{"p":"hi"}', '{"A":{"p":"hi"}}')
        places.takes('{"B":{}}', '{"B":{"q":""}}')
        places.takes('{"A":{}}', '{"A":{"p":""}}')

    def test_an_object_that_fits_two_records_is_ambiguous_and_both_are_named(self):  # D-03
        union = ["null", record("A", ("p", "string", "")), record("B", ("q", "string", ""))]
        Places(server, union).refuses("{}", 422, ("", "ambiguous"), words='"expected":"A or B"')

    def test_a_fault_deep_in_a_branch_is_told_with_its_branch(self):  # D-04
        address = {"type": "record", "name": "Addr", "fields": [
            {"name": "street", "type": "string"}, {"name": "zip", "type": "int"}]}
        for union in ["null", address], [address, "null"]:
            places = Places(server, union)
            places.refuses('{"street":"Elm","zip":"x9"}', 422, ("/zip", "type"), words='"branch":"Addr"')
            places.refuses('{"Addr":{"street":"Elm","zip":"x9"}}', 422, ("/Addr/zip", "type"), words='"branch":"Addr"')
        wider = Places(server, ["null", address, record("Geo", ("lat", "double"), ("lon", "double"))])
        wider.refuses('{"Addr":{"street":"Elm","zip":"x9"}}', 422, ("/Addr/zip", "type"), words='"branch":"Addr"')
        wider.refuses('{"street":"Elm","zip":"x9"}', 422, ("/zip", "type"), words='"expected":"int","got":"string"')

    def test_tags_are_full_names_and_short_ones_where_only_one_branch_bears_them(self):  # D-05
        card = {"type": "record", "name": "Card", "namespace": "fin", "fields": [{"name": "no", "type": "string"}]}
        places = Places(server, ["null", card])
        for tag in "fin.Card", "Card":
            places.takes('{"%s":{"no":"4"}}' % tag, '{"no":"4"}')
        other = {**card, "namespace": "old"}
        two = Places(server, ["null", card, other, {"type": "enum", "name": "fin.Kind", "symbols": ["A"]}])
        for tag in "fin.Card", "old.Card":
            two.takes('{"%s":{"no":"4"}}' % tag)
        two.refuses('{"Card":{"no":"4"}}', 422)
        two.takes('{"Kind":"A"}', '{"fin.Kind":"A"}')


class Bytes(Case):
    def test_a_zero_byte_does_not_end_a_value(self):  # D-06, D-18
        places = Places(server, '"bytes"')
        places.takes('"a\\u0000b\\u00ff"', '"a\\u0000b\xff"')
        places.takes('"\\u0000"')
        Places(server, '{"type":"fixed","name":"F","size":4}').takes('"\\u0000\\u00ff\\u0080A"', '"\\u0000\xff\x80A"')
        Places(server, '"string"').takes('"a\\u0000b"')
        Places(server, '{"type":"map","values":"int"}').takes('{"k\\u0000":1,"k":2,"k\\u0000x":3,"\\u0000":4}')

    def test_bytes_are_code_points_up_to_255(self):  # D-07
        for schema in '"bytes"', '{"type":"fixed","name":"F","size":2}':
            places = Places(server, schema)
            places.takes('"\\u00db\\u0080"', '"\xdb\x80"')
            places.takes('"\xdb\x80"')
            places.refuses('"\\u0100a"', 422, ("", "encoding"), words="code point above U+00FF at index 0")
            places.refuses('"a\u20ac"', 422, ("", "encoding"), words="code point above U+00FF at index 1")
            places.refuses('"a\\ud83d\\ude00"', 422, ("", "encoding"), words="U+00FF at index 1")

    def test_a_fixed_has_its_length(self):  # D-07
        places = Places(server, '{"type":"fixed","name":"F","size":2}')
        for text in '""', '"a"', '"abc"':
            places.refuses(text, 422, ("", "size"))


class Numbers(Case):
    def test_what_is_not_finite_is_a_string(self):  # D-11
        for schema in '"double"', '"float"':
            places = Places(server, schema)
            for word in "NaN", "Infinity", "-Infinity":
                places.takes(f'"{word}"')
                places.refuses(word, 400)
            for word in '"abc"', '"nan"', '"+Infinity"', '"1.5"', '""':
                places.refuses(word, 422, ("", "type"))
            places.refuses("1e999", 422, ("", "range"))
            places.refuses("-1e999", 422, ("", "range"))
            places.takes("1e-999", "0.0")

    def test_floats_come_back_as_the_shortest_text(self):  # D-12
        for schema, texts in (
            ('"double"', ("0.1", "1.1", "0.30000000000000004", "5e-324", "1.7976931348623157e308", "1e23", "0.2")),
            ('"float"', ("0.1", "1.1", "3.4028235e38", "1e-45", "16777216.0", "0.2")),
        ):
            places = Places(server, schema)
            for text in texts:
                places.takes(text)
                places.takes("-" + text)
            places.takes("0.10000000000000001", "0.1")
            places.takes("100", "100.0")
            places.takes("-0", "-0.0")

    def test_an_integer_beyond_64_bits_is_a_problem_among_others(self):  # D-13
        self.register("big", record("N", ("n", "long"), ("s", "string")))
        for digits in "18446744073709548794", "9223372036854775808", "-9223372036854775809", "1e19", "9" * 400:
            reply = self.put("big", '{"n":%s,"s":5}' % digits, 422)
            self.assertEqual(problems(reply), [("/n", "range"), ("/s", "type")], reply)
        places = Places(server, '"long"')
        places.refuses("18446744073709548794", 422, ("", "range"))
        Places(server, record("I", ("a", "int"), ("b", "int"))).refuses(
            '{"a":99999999999999999999,"b":""}', 422, ("/a", "range"), ("/b", "type"))

    def test_a_long_keeps_all_64_bits(self):  # D-14
        places = Places(server, '"long"')
        for digits in ("9007199254740993", "-9007199254740993", "-9223372036854775808", "9223372036854775807",
                       "9223372036854775806"):
            places.takes(digits)
        places.takes("9223372036854775807.0", "9223372036854775807")
        places.refuses('"9007199254740993"', 422, ("", "type"))
        Places(server, '{"type":"long","logicalType":"timestamp-micros"}').takes("9007199254740993")

    def test_an_int_neither_wraps_nor_is_cut(self):  # D-15
        places = Places(server, '"int"')
        for text, out in ("2147483647", None), ("-2147483648", None), ("1.0", "1"), ("1e2", "100"), ("-0", "0"), ("120e-1", "12"):
            places.takes(text, out)
        for text in "2147483648", "-2147483649", "4294967297", "1e10", "1709208000500":
            places.refuses(text, 422, ("", "range"))
        for text in "1.5", '"7"', "true", "[]", "{}":
            places.refuses(text, 422, ("", "type"))
        Places(server, '"int"', places=("root", "field", "nested", "array", "map")).refuses("null", 422, ("", "type"))
        for text in "01", "+1", "1.", ".5", "0x10", "1e", "--1":
            places.refuses(text, 400)


class Texts(Case):
    def test_a_name_twice_in_an_object_is_400_and_named(self):  # D-16
        places = Places(server, record("D", ("id", "int"), ("n", "int", 0)))
        for text in '{"id":1,"id":2}', '{"id":1,"n":2,"\\u0069d":1}', '{"n":2,"id":1,"n":2,"id":1}':
            places.refuses(text, 400, words="stands twice")
        Places(server, record("D", ("id", "int")), "unknown=ignore").refuses('{"id":1,"zz":1,"zz":2}', 400, ("/zz", "duplicate"))
        Places(server, record("D", ("id", "int")), "unknown=ignore").refuses(
            '{"id":1,"zz":{"a":[{"b":1,"b":2}]}}', 400, ("/zz/a/0/b", "duplicate"))
        places = Places(server, '{"type":"map","values":"int"}')
        places.refuses('{"k":1,"k":2}', 400, ("/k", "duplicate"), words='\\"k\\"')
        places.refuses('{"\u20ac":1,"\\u20AC":2}', 400, ("/\u20ac", "duplicate"))
        places.refuses('{"":1,"":2}', 400, ("/", "duplicate"))

    def test_a_name_twice_in_a_schema_is_400_and_named(self):  # D-16
        for text in (
            '{"type":"record","name":"R","name":"S","fields":[]}',
            '{"type":"record","name":"R","fields":[{"name":"a","type":"int","type":"long"}]}',
            '{"type":"record","name":"R","fields":[],"x":{"y":1,"y":2}}',
            '{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"map","values":"int"},"default":{"k":1,"k":2}}]}',
        ):
            reply = server.post("/putschema/twice", body=text)
            self.assertEqual((reply.status, reply.json()["code"]), (400, "bad_json"))
            self.assertEqual(reply.json()["errors"][0]["code"], "duplicate")
            self.assertIn(json.dumps(reply.json()["errors"][0]["pointer"].split("/")[-1]), reply.json()["detail"])
        self.assertEqual(server.get("/getschema/twice").status, 404)

    def test_a_character_is_the_same_however_it_is_written(self):  # D-17
        places = Places(server, '"string"')
        for text in '"\\ud83d\\ude00"', '"\U0001f600"', '"\\uD83D\\uDE00"':
            places.takes(text, '"\U0001f600"')
        names = Places(server, '{"type":"map","values":"int"}')
        names.takes('{"\\ud83d\\ude00":1}', '{"\U0001f600":1}')
        names.refuses('{"\\ud83d\\ude00":1,"\U0001f600":2}', 400, ("/\U0001f600", "duplicate"))

    def test_half_a_surrogate_pair_is_400(self):  # D-17
        for schema, around in ('"string"', '"%s"'), ('"bytes"', '"%s"'), ('{"type":"map","values":"int"}', '{"%s":1}'):
            places = Places(server, schema)
            for half in "\\ud83d", "\\udfff", "\\ud83dx", "\\ud83d\\u0041", "\\ude00\\ud83d", "\\ud83d\\ud83d\\ude00":
                places.refuses(around % half, 400, words="surrogate pair")

    def test_what_is_not_utf_8_is_400(self):  # D-19
        for schema, before, behind in ('"string"', b'"', b'"'), ('{"type":"map","values":"int"}', b'{"', b'":1}'):
            places = Places(server, schema)
            for bad in b"\xc3\x28", b"\xc0\x80", b"\xff", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80":
                places.refuses(before + bad + behind, 400, words="bad_json")
        self.register("utf8", record("S", ("s", "string")))
        for body in b'\xef\xbb\xbf{"s":""}', b'{"s":""}\xff', b'\xff\xfe{\0"\0s\0"\0:\0"\0"\0}\0':
            self.put("utf8", body, 400)
        self.register("utf8-ignoring", record("S", ("s", "string")), "?unknown=ignore")
        self.put("utf8-ignoring", b'{"s":"","x":"\xff"}', 400)
        for body in b'\xef\xbb\xbf"int"', b'{"type":"int","doc":"\xc3\x28"}':
            self.assertEqual(server.post("/putschema/utf8-bad", body=body).status, 400)


class Records(Case):
    def test_a_record_without_fields_is_a_value_like_others(self):  # D-20
        empty = record("E")
        Places(server, empty).takes("{}")
        places = Places(server, record("Two", ("e", empty), ("n", "int")))
        places.takes('{"e":{},"n":7}')
        places.takes('{"n":7,"e":{}}', '{"e":{},"n":7}')
        Places(server, {"type": "array", "items": empty}).takes("[{},{},{}]")
        Places(server, {"type": "map", "values": empty}).takes('{"a":{},"b":{}}')
        Places(server, empty).refuses('{"x":1}', 422, ("/x", "unknown"))

    def test_every_problem_is_listed_in_the_schemas_order_then_unknown_members(self):  # D-21
        places = Places(server, record("T", ("a", "int"), ("b", "int"), ("c", "int")))
        want = ("/a", "type"), ("/b", "type"), ("/c", "missing"), ("/zz", "unknown")
        for text in '{"a":"x","b":null,"zz":1}', '{"zz":1,"b":null,"a":"x"}', '{"b":null,"zz":{"a":1},"a":"x"}':
            places.refuses(text, 422, *want)
        two = Places(server, {"type": "array", "items": record("T", ("a", "int"), ("b", "int"))})
        two.refuses('[{"b":"","a":""},{"x":1,"a":1}]', 422,
                    ("/0/a", "type"), ("/0/b", "type"), ("/1/b", "missing"), ("/1/x", "unknown"))

    def test_a_hundred_problems_are_listed_and_that_there_are_more(self):  # D-21
        self.register("many", {"type": "array", "items": "int"})
        for n, truncated in (99, None), (100, None), (101, True), (150, True):
            reply = self.put("many", json.dumps(["x"] * n), 422)
            self.assertEqual(problems(reply), [(f"/{i}", "type") for i in range(min(n, 100))])
            self.assertEqual(reply.json().get("truncated"), truncated, n)

    def test_what_is_no_record_is_refused_and_stores_nothing(self):  # D-23
        self.register("none", record("R", ("a", "int", 0)))
        for body, got in ("null", "null"), ("[]", "array"), ('""', "string"), ("0", "number"), ("true", "boolean"):
            reply = self.put("none", body, 422)
            self.assertEqual(problems(reply), [("", "type")])
            self.assertEqual((reply.json()["errors"][0]["expected"], reply.json()["errors"][0]["got"]), ("record", got))
        for body in "", " ", "\n", "{", "}", "nul", "{} {}", "{},":
            self.put("none", body, 400)
            self.assertEqual(put_chunked(server, "/none/put/1", body.encode()).status, 400)
        self.assertEqual(server.get("/none/1").status, 404)
        Places(server, record("R", ("a", "int", 0)), places=("field", "nested", "array", "map")).refuses("null", 422, ("", "type"))

    def test_a_field_may_have_no_more_items_than_the_whole_record(self):
        nothing = {"type": "array", "items": "null"}
        self.register("nothing", record("Z", ("a", nothing, []), ("b", nothing, [])))
        self.put("nothing", "{}")
        half = b"[" + b"null," * 2999999 + b"null]"  # 5,592,405 are allowed in all
        self.assertEqual(server.post("/nothing/put/1/a", body=half).status, 200)
        refused = server.post("/nothing/put/1/b", body=half)
        self.assertEqual((refused.status, refused.json()["code"]), (422, "too_much_work"))
        self.assertEqual(server.get("/nothing/get/1/b").body, b"[]")
        self.assertEqual(server.get("/nothing/1").status, 200, "what was put can be had")

    def test_nesting_has_a_limit_that_is_told(self):  # D-24
        self.register("list", record("L", ("next", ["null", "L"])))
        self.register("flat", record("F", ("n", "int")), "?unknown=ignore")
        self.put("flat", '{"n":1,"x":' + "[" * 1023 + "]" * 1023 + "}")
        for n in 1024, 1500, 2048, 2049, 100000:
            for open_, close in ("[", "]"), ('{"y":', "}"):
                middle = "" if open_ == "[" else "0"
                reply = self.put("flat", '{"n":1,"x":' + open_ * n + middle + close * n + "}", 422)
                self.assertEqual((reply.json()["code"], len(problems(reply))), ("too_deep", 1), reply)
        self.register("tree", record("T", ("kids", {"type": "array", "items": "T"}, [])))
        self.register("maps", record("M", ("of", {"type": "map", "values": "M"}, {})))
        deep = {"list": ('{"next":', "null", "}", 1024, 1), "tree": ('{"kids":[', "", "]}", 512, 2),
                "maps": ('{"of":{"k":', '{}', "}}", 511, 2)}
        for name, (open_, middle, close, most, levels) in deep.items():
            self.put(name, open_ * 500 + middle + close * 500)
            self.put(name, open_ * most + middle + close * most)
            before = server.get(f"/{name}/1").body
            for n in most + 1, 3000, 100000:
                reply = self.put(name, open_ * n + middle + close * n, 422)
                self.assertEqual(reply.json()["code"], "too_deep", reply)
                self.assertEqual([code for _, code in problems(reply)], ["depth"], reply)
            self.assertEqual(server.get(f"/{name}/1").body, before)
        for name in (*deep, "flat"):
            for unit in "[", '{"next":', '{"x":[', "[{\"a\":":
                reply = self.put(name, unit * 100000, 422)
                self.assertEqual(reply.json()["code"], "too_deep")


class Forms(Case):
    def test_json_is_plain_unless_asked_otherwise(self):  # D-62
        self.register("plain", record("P", ("n", "long"), ("b", "bytes"), ("s", "string"), ("u", ["null", "long"], None)))
        self.put("plain", '{"n":9007199254740993,"b":"ab","s":"x","u":1}')
        for accept in None, "*/*", "application/json":
            reply = server.get("/plain/1", headers={"Accept": accept} if accept else {})
            self.assertEqual(reply.body, b'{"n":9007199254740993,"b":"ab","s":"x","u":1}')


if __name__ == "__main__":
    unittest.main()
