"""tests/http/test_logical.py - logical types as texts, bytes as base64, longs as strings: by parameter and as options of a
type, on every route that shows or takes a record."""

import json
import unittest

from avrod import Server


def setUpModule():
    global server
    server = Server("--engine", "memory")


def tearDownModule():
    server.__exit__(None, None, None)


def logical(base, name, **more):
    return {"type": base, "logicalType": name, **more}


DECIMAL = logical("bytes", "decimal", precision=8, scale=2)
UUID = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
#           name, schema, text, raw
ALL = [
    ("dec", DECIMAL, '"12.30"', '"\\u0004\u00ce"'),
    ("fix", {**logical("fixed", "decimal", precision=8, scale=2), "name": "D", "size": 4}, '"-0.01"', '"\u00ff\u00ff\u00ff\u00ff"'),
    ("day", logical("int", "date"), '"2024-02-29"', "19782"),
    ("tms", logical("int", "time-millis"), '"12:00:00.500"', "43200500"),
    ("tus", logical("long", "time-micros"), '"23:59:59.999999"', "86399999999"),
    ("sms", logical("long", "timestamp-millis"), '"2024-02-29T12:00:00.500Z"', "1709208000500"),
    ("sus", logical("long", "timestamp-micros"), '"1969-12-31T23:59:59.999999Z"', "-1"),
    ("sns", logical("long", "timestamp-nanos"), '"2262-04-11T23:47:16.854775807Z"', "9223372036854775807"),
    ("lms", logical("long", "local-timestamp-millis"), '"0000-01-01T00:00:00.000"', "-62167219200000"),
    ("lus", logical("long", "local-timestamp-micros"), '"1970-01-01T00:00:00.000001"', "1"),
    ("lns", logical("long", "local-timestamp-nanos"), '"1677-09-21T00:12:43.145224192"', "-9223372036854775808"),
    ("id", logical("string", "uuid"), f'"{UUID}"', f'"{UUID}"'),
    ("idf", {**logical("fixed", "uuid"), "name": "U", "size": 16}, f'"{UUID}"',
     '"\u00f8\\u001dO\u00ae}\u00ec\\u0011\u00d0\u00a7e\\u0000\u00a0\u00c9\\u001ek\u00f6"'),
    ("dur", {**logical("fixed", "duration"), "name": "P", "size": 12}, '{"months":1,"days":4294967295,"millis":3000}',
     '"\\u0001\\u0000\\u0000\\u0000\u00ff\u00ff\u00ff\u00ff\u00b8\\u000b\\u0000\\u0000"'),
    ("big", logical("bytes", "big-decimal"), '"\\u0001"', '"\\u0001"'),
    ("n", "int", "7", "7"),
    ("s", "string", '"12.30"', '"12.30"'),
]


def record(name, *fields):
    return {"type": "record", "name": name, "fields": [dict(zip(("name", "type", "default"), f)) for f in fields]}


def whole(column):
    return "{" + ",".join(f'"{row[0]}":{row[column]}' for row in ALL) + "}"


class Case(unittest.TestCase):
    def register(self, name, schema, query=""):
        reply = server.post(f"/putschema/{name}{query}", body=json.dumps(schema))
        self.assertEqual(reply.status, 200, reply)
        return reply

    def put(self, path, body, status=None):
        body = body if isinstance(body, (str, bytes)) else json.dumps(body)
        reply = server.put(path, body=body.encode() if isinstance(body, str) else body)
        if status:
            self.assertEqual(reply.status, status, (path, body, reply))
        else:
            self.assertIn(reply.status, (200, 201), (path, body, reply))
        return reply

    def shows(self, path, text, **more):
        reply = server.get(path, **more)
        self.assertEqual(reply.status, 200, reply)
        self.assertEqual(reply.body.decode(), text)
        return reply

    def problem(self, path, body, code, expected, detail=""):
        errors = self.put(path, body, 422).json()["errors"]
        self.assertEqual([(e["code"], e["expected"]) for e in errors], [(code, expected)], errors)
        self.assertIn(detail, errors[0]["detail"])
        return errors[0]

    def tearDown(self):
        self.assertEqual(server.get("/ping").body, b"pong", "alive")


class Values(Case):
    @classmethod
    def setUpClass(cls):
        reply = server.post("/putschema/all", body=json.dumps(record("All", *(row[:2] for row in ALL))))
        assert reply.status == 200, reply
        assert reply.header("Schema-Warning") is None, reply

    def field(self, name, schema, query="?logical=text"):
        """A record type of one field; its path for a put."""
        self.register("one", record("One", ("v", schema)), "?compatibility=none")
        return f"/one/{name}{query}"

    def test_what_is_put_as_text_is_the_raw_value_and_the_reverse(self):
        self.put("/all/text?logical=text", whole(2))
        self.shows("/all/text", whole(3))
        self.shows("/all/text?logical=raw", whole(3))
        self.shows("/all/text?logical=text", whole(2))
        self.put("/all/raw", whole(3))
        self.shows("/all/raw?logical=text", whole(2))
        for path in "/all/raw", "/all/get/raw":
            self.assertEqual(server.get(path).body, server.get("/all/text").body)
        self.put("/all/put/verb?logical=text", whole(2))
        self.shows("/all/get/verb?logical=text", whole(2))

    def test_a_field_is_shown_and_put_likewise(self):
        self.put("/all/f", whole(3))
        for name, _, text, raw in ALL:
            self.shows(f"/all/get/f/{name}?logical=text", text)
            self.shows(f"/all/get/f/{name}", raw)
        for name, _, text, raw in ALL:
            self.put(f"/all/put/f/{name}?logical=text", text)
        self.shows("/all/f", whole(3))

    def test_scans_show_it_by_lines_and_as_an_array(self):
        self.register("scanned", record("S", ("day", ALL[2][1])))
        self.put("/scanned/1?logical=text", {"day": "2024-02-29"})
        line = server.get("/scanned?logical=text").json()
        self.assertEqual(line["record"], {"day": "2024-02-29"})
        array = server.get("/scanned?logical=text", headers={"Accept": "application/json"}).json()
        self.assertEqual(array[0]["record"], {"day": "2024-02-29"})
        self.assertEqual(server.get("/scanned").json()["record"], {"day": 19782})

    def test_a_failed_condition_shows_the_record_in_the_form_that_was_asked_for(self):
        self.put("/all/c", whole(3))
        reply = server.put("/all/c?logical=text", body=whole(2).encode(), headers={"If-None-Match": "*"})
        self.assertEqual((reply.status, reply.json()["current"]["record"]["day"]), (412, "2024-02-29"))
        reply = server.put("/all/c", body=whole(3).encode(), headers={"If-None-Match": "*"})
        self.assertEqual(reply.json()["current"]["record"]["day"], 19782)
        reply = server.delete("/all/c?logical=text", headers={"If-Match": '"1-1"'})
        self.assertEqual((reply.status, reply.json()["current"]["record"]["day"]), (412, "2024-02-29"))

    def test_benchmark_only_takes_the_parameters_too(self):
        self.register("one_zero", record("Z", ("v", ALL[2][1])))
        self.shows("/one_zero/1?benchmark_only=1&logical=text", '{"v":"1970-01-01"}')
        self.put("/one_zero/1?benchmark_only=1&logical=text", {"v": "2024-02-29"}, 200)
        self.put("/one_zero/1?benchmark_only=1", {"v": "2024-02-29"}, 422)

    def test_decimals_are_exact_texts(self):  # D-08
        path = self.field("dec", DECIMAL)
        for given, text, raw in (("12.34", "12.34", "\x04\xd2"), (12.34, "12.34", "\x04\xd2"), ("-0.01", "-0.01", "\xff"),
                                 ("12.3", "12.30", "\x04\xce"), ("12.3000", "12.30", "\x04\xce"), ("1.2e1", "12.00", "\x04\xb0"),
                                 ("-0", "0.00", "\x00"), ("999999.99", "999999.99", "\x05\xf5\xe0\xff")):
            self.put(path, {"v": given})
            self.assertEqual(server.get(path).json(), {"v": text})
            self.assertEqual(server.get("/one/dec").json(), {"v": raw})
        self.put(path, b'{"v":0.1}')
        self.shows(path, '{"v":"0.10"}')
        self.problem(path, {"v": "12.345"}, "range", "decimal(8,2)", "digits behind the point")
        self.problem(path, b'{"v":12.345}', "range", "decimal(8,2)", "digits behind the point")
        self.problem(path, {"v": "1234567.89"}, "range", "decimal(8,2)")
        self.problem(path, b'{"v":1e6}', "range", "decimal(8,2)")
        for bad in "", "12,30", " 1", "1.", ".5", "+1", "NaN", "0x0":
            self.problem(path, {"v": bad}, "encoding", "decimal(8,2)")
        for bad in True, None, [], {}:
            self.problem(path, {"v": bad}, "type", "decimal(8,2)")
        self.put("/one/dec", b'{"v":12.34}', 422)

    def test_a_number_never_goes_by_way_of_floating_point(self):
        path = self.field("wide", logical("bytes", "decimal", precision=40, scale=20))
        for number in "12345678901234567890.12345678901234567890", "0.1", "-99999999999999999999.99999999999999999999":
            self.put(path, '{"v":%s}' % number)
            shown = server.get(path).json()["v"]
            self.assertEqual(shown.rstrip("0"), number.rstrip("0"))

    def test_bytes_that_are_no_number_of_the_type_go_round_as_hexadecimal_digits(self):
        path = self.field("beyond", DECIMAL)
        for raw, shown in (("\x05\xf5\xe1\x00", "0x05f5e100"), ("", "0x"), ("\x00\x04\xd2", "12.34")):
            self.put("/one/beyond", {"v": raw})
            self.assertEqual(server.get(path).json(), {"v": shown})
            self.put(path, {"v": shown})
            back = server.get("/one/beyond").json()["v"]
            self.assertEqual(back.lstrip("\x00"), raw.lstrip("\x00"))
        fixed = self.field("beyond", ALL[1][1])
        self.put(fixed, {"v": "0x7fffffff"})
        self.shows(fixed, '{"v":"0x7fffffff"}')
        self.problem(fixed, {"v": "0x7f"}, "size", "4 bytes")
        self.problem(fixed, {"v": "0x7fffffff7"}, "encoding", "decimal(8,2)")

    def test_a_decimal_of_more_digits_than_have_a_text_stays_raw(self):
        path = self.field("huge", logical("bytes", "decimal", precision=1001, scale=2))
        self.put(path, {"v": "\x04\xd2"})
        self.assertEqual(server.get(path).json(), {"v": "\x04\xd2"})
        path = self.field("huge", logical("bytes", "decimal", precision=1000, scale=999))
        self.put(path, {"v": "-9." + "9" * 999})
        self.assertEqual(server.get(path).json(), {"v": "-9." + "9" * 999})

    def test_timestamps_are_rfc_3339(self):  # D-10
        path = self.field("t", ALL[5][1])
        for given, raw in (("2024-02-29T12:00:00.5Z", 1709208000500), (1709208000500, 1709208000500),
                           ("2024-02-29T12:00:00.5+02:00", 1709200800500), ("2024-02-29t12:00:00.500000000z", 1709208000500),
                           ("1969-12-31T23:59:59.999Z", -1), ("1970-01-01T00:00:00-00:00", 0)):
            self.put(path, {"v": given})
            self.assertEqual(server.get("/one/t").json(), {"v": raw})
        words = "RFC 3339 date and time, to milliseconds"
        self.problem(path, {"v": "2023-02-29T00:00:00Z"}, "range", words, "there is not")
        self.problem(path, {"v": "2016-12-31T23:59:60Z"}, "range", words, "leap second")
        self.problem(path, {"v": "2024-02-29T12:00:00.0001Z"}, "range", words, "more digits")
        self.problem(path, {"v": "2024-02-29T24:00:00Z"}, "range", words)
        for bad in "", "2024-02-29", "2024-02-29 12:00:00Z", "2024-02-29T12:00:00", "1709208000500", "yesterday":
            self.problem(path, {"v": bad}, "encoding", words)
        self.problem(path, b'{"v":0.5}', "type", words)
        self.problem(path, b'{"v":9223372036854775808}', "range", words)
        self.problem(path, {"v": True}, "type", words)
        self.problem("/one/t", {"v": "2024-02-29T12:00:00.5Z"}, "type", "long")

    def test_all_problems_are_listed(self):
        schema = record("Many", *((name, schema) for name, schema, *_ in ALL[:14]))
        self.register("many", schema)
        errors = self.put("/many/1?logical=text", {name: "?" for name, *_ in ALL[:14]}, 422).json()["errors"]
        self.assertEqual([e["pointer"] for e in errors], ["/" + name for name, *_ in ALL[:14]])
        self.assertEqual({e["code"] for e in errors[:-1]}, {"encoding"})
        self.assertEqual((errors[-1]["code"], errors[-1]["expected"]), ("type", "object of months, days and millis"))
        self.assertEqual(errors[-1]["detail"], f"Expected object of months, days and millis, got {errors[-1]['got']}.")

    def test_what_no_text_can_say_is_a_number_both_ways(self):
        for schema, values in ((ALL[2][1], (-719529, 2932897, 2**31 - 1, -2**31)), (ALL[3][1], (-1, 86400000)),
                               (ALL[4][1], (-1, 86400000000)), (ALL[5][1], (-62167219200001, 253402300800000, 2**63 - 1, -2**63)),
                               (ALL[8][1], (2**63 - 1,))):
            path = self.field("n", schema)
            for value in values:
                self.put(path, {"v": value})
                self.shows(path, '{"v":%d}' % value)
                self.shows("/one/n", '{"v":%d}' % value)
        path = self.field("n", ALL[2][1])
        self.problem(path, {"v": 2**31}, "range", "RFC 3339 date")

    def test_local_times_and_times_of_day_have_no_offset(self):
        path = self.field("l", ALL[8][1])
        self.problem(path, {"v": "2024-02-29T12:00:00Z"}, "encoding", "RFC 3339 date and time without offset, to milliseconds")
        path = self.field("l", ALL[3][1])
        self.problem(path, {"v": "12:00:00Z"}, "encoding", "RFC 3339 time without offset, to milliseconds")

    def test_uuids_are_checked(self):
        path = self.field("u", ALL[11][1])
        self.put(path, {"v": UUID.upper()})
        self.assertEqual(server.get(path).json(), {"v": UUID.upper()}, "as it was written")
        self.put("/one/u", {"v": "none"})
        self.assertEqual(server.get(path).json(), {"v": "none"}, "what came in raw is shown")
        for bad in "", "none", UUID[:-1], UUID.replace("-", ""), "{" + UUID[1:-1] + "}":
            self.problem(path, {"v": bad}, "encoding", "UUID")
        self.problem(path, {"v": 1}, "type", "UUID")
        path = self.field("u", ALL[12][1])
        self.put(path, {"v": UUID.upper()})
        self.assertEqual(server.get(path).json(), {"v": UUID})
        self.problem(path, {"v": UUID[1:]}, "encoding", "UUID")

    def test_a_duration_is_its_three_numbers(self):
        path = self.field("d", ALL[13][1])
        self.put(path, {"v": {"millis": 3, "months": 1.0, "days": 2e0}})
        self.shows(path, '{"v":{"months":1,"days":2,"millis":3}}')
        words = "whole number from 0 to 4294967295"
        self.problem(path, {"v": {"months": -1, "days": 2, "millis": 3}}, "range", words)
        self.problem(path, {"v": {"months": 4294967296, "days": 2, "millis": 3}}, "range", words)
        self.problem(path, {"v": {"months": 0.5, "days": 2, "millis": 3}}, "type", words)
        self.problem(path, {"v": {"months": "1", "days": 2, "millis": 3}}, "type", words)
        missing = self.problem(path, {"v": {"months": 1, "millis": 3}}, "missing", words)
        self.assertEqual(missing["pointer"], "/v/days")
        self.assertEqual(self.put(path, {"v": {"months": 1, "days": 2, "millis": 3, "years": 1}}, 422).json()["errors"][0]["code"],
                         "unknown")
        self.problem(path, {"v": "P1M"}, "type", "object of months, days and millis")
        self.problem(path, {"v": [1, 2, 3]}, "type", "object of months, days and millis")

    def test_texts_may_be_escaped(self):
        path = self.field("e", ALL[2][1])
        self.put(path, b'{"v":"2024\\u002d02-29"}')
        self.shows(path, '{"v":"2024-02-29"}')
        path = self.field("e", DECIMAL)
        self.put(path, b'{"v":"12\\u002e34"}')
        self.shows(path, '{"v":"12.34"}')

    def test_defaults_in_schemas_stay_raw(self):
        self.register("def", record("Def", ("day", ALL[2][1], 19782), ("dec", DECIMAL, "\x04\xd2")))
        self.put("/def/1?logical=text", {})
        self.shows("/def/1?logical=text", '{"day":"2024-02-29","dec":"12.34"}')
        reply = server.post("/putschema/def2?logical=text", body=json.dumps(record("Def", ("day", ALL[2][1], "2024-02-29"))))
        self.assertEqual(reply.status, 422, reply)

    def test_they_nest(self):
        self.register("nest", record("Nest", ("a", {"type": "array", "items": ALL[2][1]}),
                                     ("m", {"type": "map", "values": ["null", DECIMAL]})))
        body = '{"a":["2024-02-29","0000-01-01"],"m":{"2024-02-29":"1.00","b":null}}'
        self.put("/nest/1?logical=text", body)
        self.shows("/nest/1?logical=text", body)
        errors = self.put("/nest/2?logical=text", '{"a":["2024-02-30"],"m":{"x":"1.001"}}', 422).json()["errors"]
        self.assertEqual([e["pointer"] for e in errors], ["/a/0", "/m/x"])

    def test_long_bodies_are_checked_and_shown_by_helpers_likewise(self):
        self.register("long", {"type": "array", "items": ALL[5][1]})
        body = "[" + ",".join(['"2024-02-29T12:00:00.500Z"'] * 20000) + "]"
        self.put("/long/1?logical=text", body)
        self.shows("/long/1?logical=text", body)
        self.shows("/long/1", "[" + ",".join(["1709208000500"] * 20000) + "]")


class Unions(Case):
    """A bare value goes to the first branch that takes it under the options in force."""

    def goes(self, branches, given, tagged, query="?logical=text"):
        self.register("u", record("Un", ("v", branches)), "?compatibility=none")
        self.put("/u/1" + query, '{"v":%s}' % given)
        self.shows("/u/1" + query, '{"v":%s}' % tagged)
        self.put("/u/2" + query, '{"v":%s}' % tagged)  # what is read can be written back
        self.assertEqual(server.get("/u/2").body, server.get("/u/1").body)

    def test_strings(self):
        day, stamp = ALL[2][1], ALL[5][1]
        self.goes([day, "string"], '"2024-02-29"', '{"int":"2024-02-29"}')
        self.goes([day, "string"], '"2024-02-30"', '{"string":"2024-02-30"}')
        self.goes(["string", day], '"2024-02-29"', '{"string":"2024-02-29"}')
        self.goes([day, "string"], '"2024-02-29"', '{"string":"2024-02-29"}', "")
        self.goes([day, stamp], '"2024-02-29T12:00:00Z"', '{"long":"2024-02-29T12:00:00.000Z"}')
        self.goes([DECIMAL, "string"], '"1.5"', '{"bytes":"1.50"}')
        self.goes([DECIMAL, "string"], '"1.555"', '{"string":"1.555"}')
        self.goes([DECIMAL, "double"], '"NaN"', '{"double":"NaN"}')
        self.goes([ALL[11][1], "bytes"], f'"{UUID}"', '{"string":"%s"}' % UUID)
        self.goes([ALL[11][1], "bytes"], '"x"', '{"bytes":"x"}')
        self.goes([ALL[12][1], ALL[1][1], "string"], '"0.01"', '{"D":"0.01"}')
        self.goes([{"type": "enum", "name": "E", "symbols": ["A"]}, day, "string"], '"A"', '{"E":"A"}')

    def test_numbers_go_where_they_go_without(self):
        self.goes(["double", DECIMAL], "12.34", '{"double":12.34}')
        self.goes([DECIMAL, "double"], "12.34", '{"double":12.34}')
        self.goes([DECIMAL, "string"], "12.34", '{"bytes":"12.34"}')
        self.goes([DECIMAL, "int"], "12", '{"int":12}')
        self.goes([DECIMAL, "int"], "12.5", '{"bytes":"12.50"}')
        self.goes(["string", ALL[2][1], ALL[5][1]], "19782", '{"int":"2024-02-29"}')
        self.goes(["string", ALL[2][1], ALL[5][1]], "1709208000500", '{"long":"2024-02-29T12:00:00.500Z"}')

    def test_objects(self):
        duration, other = ALL[13][1], record("O", ("months", "int"))
        whole = '{"months":1,"days":2,"millis":3}'
        self.goes([duration, other], whole, '{"P":%s}' % whole)
        self.goes([duration, other], '{"months":1}', '{"O":{"months":1}}')
        self.goes(["null", duration], whole, whole)
        self.goes(["null", duration], '{"P":%s}' % whole, whole)
        self.goes([duration, "string", {"type": "map", "values": "string"}], '{"months":"x"}', '{"map":{"months":"x"}}')

    def test_what_no_branch_takes_is_told(self):
        self.register("u", record("Un", ("v", ["null", ALL[2][1], ALL[1][1]])), "?compatibility=none")
        errors = self.put("/u/1?logical=text", {"v": "yesterday"}, 422).json()["errors"]
        self.assertEqual([(e["code"], e["pointer"]) for e in errors], [("no_branch", "/v")])
        self.register("u", record("Un", ("v", ["null", ALL[2][1]])), "?compatibility=none")
        errors = self.put("/u/1?logical=text", {"v": "yesterday"}, 422).json()["errors"]
        self.assertEqual([(e["code"], e["expected"], e["branch"]) for e in errors], [("encoding", "RFC 3339 date", "int")])


class Bytes(Case):
    def setUp(self):
        self.register("b", record("B", ("b", "bytes"), ("f", {"type": "fixed", "name": "F", "size": 2}), ("p", DECIMAL)),
                      "?compatibility=none")

    def test_base64_both_ways(self):  # D-07
        self.put("/b/1", {"b": "\xdb\x80", "f": "ab", "p": "\x04\xd2"})
        self.shows("/b/1?bytes=base64", '{"b":"24A=","f":"YWI=","p":"BNI="}')
        self.shows("/b/1?bytes=base64&logical=text", '{"b":"24A=","f":"YWI=","p":"12.34"}')
        self.shows("/b/get/1/b?bytes=base64", '"24A="')
        self.put("/b/2?bytes=base64", {"b": "24A=", "f": "YWI=", "p": "BNI="})
        self.assertEqual(server.get("/b/2").body, server.get("/b/1").body)
        self.put("/b/put/2/b?bytes=base64", '""')
        self.assertEqual(server.get("/b/2").json()["b"], "")

    def test_it_is_strict(self):
        for bad in "24A", "24A==", "2-A=", "24B=", " 24A=", "24A=\n", "\xdb\x80":
            self.problem("/b/1?bytes=base64", {"b": bad, "f": "YWI=", "p": ""}, "encoding", "base64 text with padding")
        self.problem("/b/1?bytes=base64", {"b": "", "f": "YWJj", "p": ""}, "size", "2 bytes")
        self.problem("/b/1?bytes=base64", {"b": 1, "f": "YWI=", "p": ""}, "type", "base64 text with padding")

    def test_unions(self):
        self.register("bu", ["null", {"type": "fixed", "name": "F", "size": 2}, "bytes", "string"])
        for given, tagged in (('"YWI="', '{"F":"YWI="}'), ('"YWJj"', '{"bytes":"YWJj"}'), ('"YWJ"', '{"string":"YWJ"}')):
            self.put("/bu/1?bytes=base64", given)
            self.shows("/bu/1?bytes=base64", tagged)

    def test_types_of_bytes_alone_keep_bodies_as_they_are(self):
        self.register("raw", "bytes")
        self.put("/raw/1?bytes=base64", b"\x00\xff")
        self.assertEqual(server.get("/raw/1?bytes=base64").body, b"\x00\xff")
        self.assertEqual(server.get("/raw?bytes=base64").json()["record"], "AP8=", "a line is JSON")
        self.assertEqual(server.get("/raw").json()["record"], "\x00\xff")


class Longs(Case):
    def setUp(self):
        self.register("l", record("L", ("n", "long"), ("i", "int"), ("t", ALL[5][1])), "?compatibility=none")

    def test_digits_in_quotes_both_ways(self):  # D-14
        self.put("/l/1?int64=string", {"n": "9007199254740993", "i": 1, "t": "-5"})
        self.shows("/l/1", '{"n":9007199254740993,"i":1,"t":-5}')
        self.shows("/l/1?int64=string", '{"n":"9007199254740993","i":1,"t":"-5"}')
        self.shows("/l/get/1/n?int64=string", '"9007199254740993"')
        self.put("/l/2?int64=string", {"n": 9007199254740993, "i": 1, "t": -5})
        self.assertEqual(server.get("/l/2").body, server.get("/l/1").body)
        self.problem("/l/1", {"n": "9007199254740993", "i": 1, "t": 0}, "type", "long")
        self.problem("/l/1?int64=string", {"n": "1", "i": "1", "t": 0}, "type", "int")

    def test_limits_and_spelling(self):
        for text in "9223372036854775807", "-9223372036854775808", "0":
            self.put("/l/1?int64=string", {"n": text, "i": 0, "t": 0})
            self.assertEqual(server.get("/l/1?int64=string").json()["n"], text)
        for beyond in "9223372036854775808", "-9223372036854775809", "9" * 5000:
            self.problem("/l/1?int64=string", {"n": beyond, "i": 0, "t": 0}, "range", "long")
        for bad in "", "-", "1.0", "1e2", " 1", "1 ", "+1", "01", "0x1", "abc":
            self.problem("/l/1?int64=string", {"n": bad, "i": 0, "t": 0}, "encoding", "long")

    def test_a_moment_without_a_text_is_quoted_too(self):
        query = "?int64=string&logical=text"
        self.put("/l/1" + query, {"n": "1", "i": 1, "t": "253402300800000"})
        self.shows("/l/1" + query, '{"n":"1","i":1,"t":"253402300800000"}')
        self.shows("/l/1?logical=text", '{"n":1,"i":1,"t":253402300800000}')
        self.put("/l/1" + query, {"n": "1", "i": 1, "t": "2024-02-29T12:00:00.5Z"})
        self.shows("/l/1" + query, '{"n":"1","i":1,"t":"2024-02-29T12:00:00.500Z"}')

    def test_unions(self):
        self.register("lu", ["long", "string", "double"])
        for given, tagged in (('"5"', '{"long":"5"}'), ('"05"', '{"string":"05"}'), ("5", '{"long":"5"}'), ("5.5", '{"double":5.5}')):
            self.put("/lu/1?int64=string", given)
            self.shows("/lu/1?int64=string", tagged)


class Options(Case):
    def options(self, name):
        return next(t for t in server.get("/schemas").json() if t["name"] == name)["json"]

    def test_a_type_keeps_them_and_a_parameter_overrides(self):
        schema = record("T", ("t", ALL[5][1]), ("n", "long"), ("b", "bytes"))
        self.register("kept", schema, "?logical=text&bytes=base64&int64=string")
        self.assertEqual(self.options("kept"), {"logical": "text", "bytes": "base64", "int64": "string"})
        body = '{"t":"2024-02-29T12:00:00.500Z","n":"5","b":"24A="}'
        self.put("/kept/1", body)
        self.shows("/kept/1", body)
        self.shows("/kept/1?logical=raw", '{"t":"1709208000500","n":"5","b":"24A="}')
        self.shows("/kept/1?int64=number", '{"t":"2024-02-29T12:00:00.500Z","n":5,"b":"24A="}')
        self.shows("/kept/1?logical=raw&bytes=text&int64=number", '{"t":1709208000500,"n":5,"b":"\u00db\u0080"}')
        self.assertEqual(server.get("/kept").json()["record"], json.loads(body))
        self.register("kept", schema, "?int64=number")
        self.assertEqual(self.options("kept"), {"logical": "text", "bytes": "base64", "int64": "number"})
        self.shows("/kept/1", body.replace('"5"', "5"))
        self.put("/kept/2?bytes=text", body.replace('"5"', "5").replace("24A=", "\\u00db\\u0080"))
        self.shows("/kept/2", body.replace('"5"', "5"))
        self.register("kept", schema, "?logical=raw&bytes=text")
        self.assertEqual(self.options("kept"), {"logical": "raw", "bytes": "text", "int64": "number"})

    def test_types_start_without(self):
        self.register("plain", "int")
        self.assertEqual(self.options("plain"), {"logical": "raw", "bytes": "text", "int64": "number"})

    def test_they_survive_a_restart(self):
        with Server() as s:
            body = json.dumps(record("T", ("t", ALL[5][1])))
            self.assertEqual(s.post("/putschema/t?logical=text", body=body).status, 200)
            self.assertEqual(s.put("/t/1", body='{"t":"2024-02-29T12:00:00Z"}').status, 201)
            s.restart()
            self.assertEqual(s.get("/t/1").body, b'{"t":"2024-02-29T12:00:00.000Z"}')

    def test_other_words_are_refused(self):
        self.register("w", "int")
        for query, words in (("logical=json", "raw, text"), ("bytes=hex", "text, base64"), ("int64=text", "number, string"),
                             ("logical=", "raw, text")):
            for reply in (server.get(f"/w/1?{query}"), server.put(f"/w/1?{query}", body="1"), server.get(f"/w?{query}"),
                          server.post(f"/putschema/w?{query}", body='"int"')):
                self.assertEqual((reply.status, reply.json()["code"]), (400, "bad_parameter"), reply)
                self.assertIn(words, reply.json()["detail"])
        self.assertEqual(server.get("/w/1?logical=text&logical=raw").status, 400)


class OtherForms(Case):
    def test_the_specifications_form_is_not_touched(self):
        self.register("af", record("A", ("t", ["null", ALL[5][1]]), ("n", "long")), "?logical=text&int64=string")
        self.put("/af/1", '{"t":"1970-01-01T00:00:00.001Z","n":"7"}')
        for query in "", "?logical=text", "?int64=string":
            reply = self.shows("/af/1" + query, '{"t":{"long":1},"n":7}', headers={"Accept": "avro/json"})
            self.assertEqual(reply.header("ETag"), server.get("/af/1", headers={"Accept": "avro/json"}).header("ETag"))
        reply = server.put("/af/2?logical=text", body='{"t":{"long":1},"n":7}', headers={"Content-Type": "avro/json"})
        self.assertEqual(reply.status, 201, reply)
        reply = server.put("/af/3?logical=text", body=b"\x02\x02\x0e", headers={"Content-Type": "avro/binary"})
        self.assertEqual(reply.status, 201, reply)
        for name in "123":
            self.shows("/af/" + name, '{"t":"1970-01-01T00:00:00.001Z","n":"7"}')
        reply = server.put("/af/4", body='{"t":{"long":"1970-01-01T00:00:00Z"},"n":7}', headers={"Content-Type": "avro/json"})
        self.assertEqual(reply.status, 422, reply)

    def test_a_dry_run_takes_them(self):
        self.register("dry", record("D", ("t", ALL[5][1])))
        self.put("/dry/1?dry_run=1&logical=text", {"t": "1970-01-01T00:00:00Z"})
        self.problem("/dry/1?dry_run=1&logical=text", {"t": "x"}, "encoding", "RFC 3339 date and time, to milliseconds")
        self.assertEqual(server.get("/dry/1").status, 404)


class Caches(Case):
    def test_each_form_has_a_tag_of_its_own(self):
        self.register("tags", record("T", ("t", ALL[5][1])), "?compatibility=none")
        put = self.put("/tags/1", {"t": 0})
        tags = {}
        for query in ("", "?logical=text", "?bytes=base64", "?int64=string", "?logical=text&bytes=base64",
                      "?logical=text&int64=string", "?bytes=base64&int64=string", "?logical=text&bytes=base64&int64=string"):
            for path in "/tags/1", "/tags/get/1/t":
                reply = server.get(path + query)
                self.assertIn("Accept", reply.header("Vary"))
                tags[path + query] = reply.header("ETag")
        self.assertEqual(len(set(tags.values())), 16, tags)
        self.assertEqual(tags["/tags/1"], put.header("ETag"))
        for path, tag in tags.items():
            for other in tags:
                reply = server.get(other, headers={"If-None-Match": tag})
                self.assertEqual(reply.status, 304 if other == path else 200)
        self.put("/tags/1", {"t": 1})
        reply = server.put("/tags/1", body='{"t":2}', headers={"If-Match": server.get("/tags/1?logical=text").header("ETag")})
        self.assertEqual(reply.status, 200, "a write compares the revision alone")

    def test_the_answer_to_a_write_bears_the_tag_of_a_get(self):
        schema = record("T", ("t", ALL[5][1]), ("n", "long"))
        for i, options in enumerate(("", "?logical=text", "?int64=string&bytes=base64")):
            name = f"wtag{i}"
            self.register(name, schema, options)
            for query in ("", "?logical=raw", "?logical=text", "?logical=raw&int64=number&bytes=text"):
                t = '"1970-01-01T00:00:00.000Z"' if "logical=text" in (query if "logical" in query else options) else "0"
                written = [server.put(f"/{name}/1{query}", body='{"t":%s,"n":5}' % t),
                           server.post(f"/{name}/put/1/n{query}", body="6"),
                           server.post(f"/{name}/put/1{query}", body='{"t":%s,"n":7}' % t)]
                for reply in written:
                    self.assertIn(reply.status, (200, 201), (options, query, reply))
                tag = written[-1].header("ETag")
                self.assertEqual(server.get(f"/{name}/1{query}").header("ETag"), tag)
                self.assertEqual(server.get(f"/{name}/1{query}", headers={"If-None-Match": tag}).status, 304)
                self.assertEqual([reply.header("ETag").split("-", 1)[1] for reply in written], [tag.split("-", 1)[1]] * 3)
                failed = server.put(f"/{name}/1{query}", body='{"t":%s,"n":5}' % t, headers={"If-None-Match": "*"})
                self.assertEqual((failed.status, failed.header_all("ETag")), (412, [tag]))
                self.assertEqual(server.put(f"/{name}/1{query}", body='{"t":%s,"n":5}' % t, headers={"If-Match": tag}).status, 200)
        self.register("wtagraw", "bytes", "?bytes=base64")  # content has but one form
        tag = server.put("/wtagraw/1", body=b"x").header("ETag")
        self.assertEqual(server.get("/wtagraw/1", headers={"If-None-Match": tag}).status, 304)

    def test_a_changed_option_changes_the_tag(self):
        schema = record("T", ("t", ALL[5][1]))
        self.register("opt", schema)
        self.put("/opt/1", {"t": 0})
        before = server.get("/opt/1").header("ETag")
        self.register("opt", schema, "?logical=text")
        self.assertEqual(server.get("/opt/1", headers={"If-None-Match": before}).status, 200)


if __name__ == "__main__":
    unittest.main(verbosity=2)
