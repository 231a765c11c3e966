"""tests/http/test_fields.py - ?fields=: some fields of a record, of one and in scans, in every version and form."""

import json
import unittest

from avrod import Server


def setUpModule():
    global server
    server = Server("--engine", "memory")


def tearDownModule():
    server.__exit__(None, None, None)


def record(name, *fields):
    return {"type": "record", "name": name, "fields": [dict(zip(("name", "type", "default"), f)) for f in fields]}


POINT = record("Point", ("x", "long"), ("y", "double"))
PLACE = record("Place", ("name", "string"), ("at", POINT), ("day", {"type": "int", "logicalType": "date"}),
               ("tags", {"type": "array", "items": record("Tag", ("key", "string"), ("value", ["null", "string"]))}),
               ("near", {"type": "map", "values": ["null", "Point"]}), ("kind", ["null", "string", "Point"]))
HERE = {"name": "h", "at": {"x": 1, "y": 2.5}, "day": 0, "tags": [{"key": "a", "value": "b"}, {"key": "c", "value": None}],
        "near": {"n": {"x": 3, "y": 4.0}, "o": None}, "kind": {"Point": {"x": 5, "y": 6.0}}}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.register("place", PLACE)
        cls.put("/place/h", HERE)

    @classmethod
    def register(cls, name, schema, query=""):
        reply = server.post(f"/putschema/{name}{query}", body=json.dumps(schema))
        assert reply.status == 200, reply

    @classmethod
    def put(cls, path, body, **more):
        reply = server.put(path, body=body if isinstance(body, bytes) else json.dumps(body).encode(), **more)
        assert reply.status in (200, 201), reply
        return reply

    def shows(self, path, text, **more):
        reply = server.get(path, **more)
        self.assertEqual(reply.status, 200, reply)
        self.assertEqual(reply.body.decode(), text)
        return reply

    def refuses(self, path, status, code, detail="", **more):
        reply = server.get(path, **more)
        self.assertEqual(reply.status, status, reply)
        self.assertEqual(reply.json()["code"], code)
        self.assertIn(detail, reply.json()["detail"])
        return reply

    def tearDown(self):
        self.assertEqual(server.get("/ping").body, b"pong", "alive")


class Gets(Case):
    def test_only_those_fields_are_shown_in_the_order_of_the_schema(self):
        self.shows("/place/h?fields=name", '{"name":"h"}')
        self.shows("/place/h?fields=day,name", '{"name":"h","day":0}')
        self.shows("/place/get/h?fields=at.y", '{"at":{"y":2.5}}')
        self.shows("/place/h?fields=at", '{"at":{"x":1,"y":2.5}}')
        self.shows("/place/h?fields=name,at.x,name", '{"name":"h","at":{"x":1}}')

    def test_arrays_maps_and_unions_are_looked_through(self):
        self.shows("/place/h?fields=tags.key", '{"tags":[{"key":"a"},{"key":"c"}]}')
        self.shows("/place/h?fields=near.x", '{"near":{"n":{"x":3},"o":null}}')
        self.shows("/place/h?fields=kind.x", '{"kind":{"Point":{"x":5}}}')

    def test_names_may_be_percent_encoded(self):
        self.shows("/place/h?fields=n%61me%2cat%2Ex", '{"name":"h","at":{"x":1}}')

    def test_the_form_is_as_that_of_the_whole_record(self):
        self.shows("/place/h?fields=day&logical=text", '{"day":"1970-01-01"}')
        self.shows("/place/h?fields=at&int64=string", '{"at":{"x":"1","y":2.5}}')
        self.shows("/place/h?fields=near.x", '{"near":{"n":{"Point":{"x":3}},"o":null}}',
                   headers={"Accept": "avro/json"})

    def test_a_binary_form_has_all_fields_or_is_not_had(self):
        for form in "avro/binary", "application/vnd.apache.avro+binary":
            reply = server.get("/place/h?fields=name", headers={"Accept": form})
            self.assertEqual(reply.status, 406, reply)
            self.assertEqual(reply.json()["code"], "not_acceptable")

    def test_a_field_that_is_not_there_is_named_with_those_that_are(self):
        self.refuses("/place/h?fields=nome", 400, "bad_parameter", "there is no 'nome'; known are name, at, day, tags, near, kind.")
        self.refuses("/place/h?fields=name,at.z", 400, "bad_parameter", "there is no 'at.z'; known in 'at' are x, y.")
        self.refuses("/place/h?fields=name.x", 400, "bad_parameter", "'name' holds no record.")
        for bad in "", ",", "name,", "a..b", ".", "name,%20at", "%ff":
            self.refuses(f"/place/h?fields={bad}", 400, "bad_parameter", "fields is a list of names")
        self.refuses("/place/h?fields=name&fields=at", 400, "bad_parameter", "twice")
        self.assertIsNone(server.get("/place/h?fields=nome").header("ETag"))
        self.refuses("/place/absent?fields=name", 404, "no_record")

    def test_a_raw_type_has_no_fields(self):
        self.register("raw", "bytes")
        self.put("/raw/r", b"bytes", headers={"Content-Type": "text/plain"})
        self.refuses("/raw/r?fields=name", 400, "bad_parameter", "raw type")
        self.refuses("/raw?fields=name", 400, "bad_parameter", "raw type")

    def test_one_field_takes_no_list(self):
        self.refuses("/place/get/h/at?fields=x", 400, "unknown_parameter")

    def test_head_says_what_get_would(self):
        got = server.get("/place/h?fields=at.x")
        head = server.request("HEAD", "/place/h?fields=at.x")
        self.assertEqual((head.status, head.body), (200, b""))
        for name in "ETag", "Content-Length", "Content-Type":
            self.assertEqual(head.header(name), got.header(name))


class Tags(Case):
    def tag(self, path, **more):
        reply = server.get(path, **more)
        self.assertEqual(reply.status, 200, reply)
        return reply.header("ETag")

    def test_no_two_projections_share_a_tag(self):
        avro = {"headers": {"Accept": "avro/json"}}
        tags = [self.tag("/place/h"), self.tag("/place/get/h/at")]
        for fields in "name", "at", "at.x", "at.x,at.y", "name,at", "day", "tags.key":
            tags += [self.tag(f"/place/h?fields={fields}"), self.tag(f"/place/h?fields={fields}&logical=text"),
                     self.tag(f"/place/h?fields={fields}", **avro)]
        self.assertEqual(len(tags), len(set(tags)), tags)
        revision = tags[0].rstrip('"')
        for tag in tags:
            self.assertTrue(tag.startswith(revision), tag)

    def test_lists_that_ask_for_the_same_have_one_tag(self):
        want = self.tag("/place/h?fields=name,at")
        for same in "at,name", "at.x,name,at", "name,name,at", "at%2cname":
            self.assertEqual(self.tag(f"/place/h?fields={same}"), want)
        self.assertEqual(self.tag("/place/get/h?fields=name,at"), want)

    def test_the_tag_is_one_condition_of_a_read_and_of_a_write(self):
        path = "/place/t?fields=name"
        self.put("/place/t", HERE)
        tag = self.tag(path)
        self.assertEqual(server.get(path, headers={"If-None-Match": tag}).status, 304)
        self.assertEqual(server.get(path, headers={"If-None-Match": tag}).header("ETag"), tag)
        self.assertEqual(server.get("/place/t?fields=at", headers={"If-None-Match": tag}).status, 200)
        self.assertEqual(server.get("/place/t", headers={"If-None-Match": tag}).status, 200)
        self.assertEqual(server.get(path, headers={"If-Match": tag}).status, 200)
        self.assertEqual(server.get("/place/t?fields=at", headers={"If-Match": tag}).status, 412)
        reply = server.get("/place/t?fields=nome", headers={"If-None-Match": "*"})
        self.assertEqual(reply.status, 400, reply)
        self.assertEqual(server.put("/place/t", body=json.dumps(HERE), headers={"If-Match": tag}).status, 200)
        self.assertEqual(server.put("/place/t", body=json.dumps(HERE), headers={"If-Match": tag}).status, 412)
        self.assertNotEqual(self.tag(path), tag)


class Versions(Case):
    def test_names_are_those_of_the_version_that_is_shown(self):
        self.register("doc", record("Doc", ("title", "string"), ("pages", "long")))
        self.put("/doc/old", {"title": "t", "pages": 1})
        two = record("Doc", ("title", "string"), ("pages", "long"), ("author", record("Who", ("name", "string", "?")), {}))
        self.register("doc", two)
        self.put("/doc/new", {"title": "u", "pages": 2, "author": {"name": "me"}})
        self.shows("/doc/old?fields=author.name,pages", '{"pages":1,"author":{"name":"?"}}')
        self.shows("/doc/new?fields=author.name", '{"author":{"name":"me"}}')
        self.refuses("/doc/new?fields=author&version=1", 400, "bad_parameter", "known are title, pages.")
        self.shows("/doc/new?fields=pages&version=1", '{"pages":2}')
        self.shows("/doc/new?fields=pages", '{"pages":2}', headers={"Accept-Schema-Version": "1"})
        tags = {server.get(f"/doc/new?fields=pages&version={v}").header("ETag") for v in (1, 2)}
        self.assertEqual(len(tags), 2)
        self.shows("/doc?fields=author,pages", '{"id":"new","revision":%d,"record":{"pages":2,"author":{"name":"me"}}}\n'
                   '{"id":"old","revision":%d,"record":{"pages":1,"author":{"name":"?"}}}\n' % tuple(
                       int(server.get(f"/doc/{i}").header("ETag").strip('"').split("-")[0]) for i in ("new", "old")))
        self.refuses("/doc?fields=author&version=1", 400, "bad_parameter", "known are title, pages.")


class Long(Case):
    def test_a_long_record_is_read_by_a_helper(self):
        tags = [{"key": f"k{i}", "value": "v" * 50} for i in range(40000)]
        self.put("/place/long", {**HERE, "tags": tags})
        self.shows("/place/long?fields=name,kind.x", '{"name":"h","kind":{"Point":{"x":5}}}')
        reply = server.get("/place/long?fields=tags.key")
        self.assertEqual([t["key"] for t in reply.json()["tags"]], [t["key"] for t in tags])
        self.assertEqual(set(map(len, reply.json()["tags"])), {1})
        self.assertEqual(server.get("/place/long?fields=tags.key", headers={"If-None-Match": reply.header("ETag")}).status, 304)
        self.refuses("/place/long?fields=tags.nokey", 400, "bad_parameter")

    def test_a_short_record_may_have_a_long_form(self):
        self.put("/place/wide", {**HERE, "tags": [{"key": "\u0001" * 3000, "value": None}] * 6})
        reply = server.get("/place/wide?fields=tags")
        self.assertEqual(reply.json(), {"tags": [{"key": "\u0001" * 3000, "value": None}] * 6})


class Scans(Case):
    @classmethod
    def setUpClass(cls):
        cls.register("row", PLACE)
        for i in range(5):
            cls.put(f"/row/{i}", {**HERE, "name": f"n{i}"})

    def test_each_record_shows_those_fields(self):
        lines = [json.loads(line) for line in server.get("/row?fields=at.x,name").body.splitlines()]
        self.assertEqual([(line["id"], line["record"]) for line in lines],
                         [(str(i), {"name": f"n{i}", "at": {"x": 1}}) for i in range(5)])
        reply = server.get("/row?fields=name&limit=2&logical=text", headers={"Accept": "application/json"})
        self.assertEqual([line["record"] for line in reply.json()], [{"name": "n0"}, {"name": "n1"}])

    def test_a_list_that_does_not_fit_is_refused_before_the_answer_begins(self):
        self.refuses("/row?fields=nome", 400, "bad_parameter", "known are name, at, day")
        self.refuses("/row?fields=", 400, "bad_parameter")
        self.refuses("/row?fields=name&keys=1", 400, "bad_parameter", "keys or fields")
        self.shows("/row?fields=name&prefix=x", "")

    def test_long_records_show_them_too(self):
        self.put("/row/5", {**HERE, "tags": [{"key": "k" * 100, "value": None}] * 2000})
        lines = server.get("/row?fields=name,tags.value&from=4").body.splitlines()
        self.assertEqual(json.loads(lines[1])["record"], {"name": "h", "tags": [{"value": None}] * 2000})
        server.delete("/row/5")


class AfterARestart(unittest.TestCase):
    def test_schemas_are_compiled_when_they_are_needed(self):
        with Server() as s:
            self.assertEqual(s.post("/putschema/place", body=json.dumps(PLACE)).status, 200)
            self.assertEqual(s.put("/place/h", body=json.dumps(HERE)).status, 201)
            tag = s.get("/place/h?fields=name").header("ETag")
            s.restart()
            lines = s.get("/place?fields=name").body.splitlines()
            self.assertEqual(json.loads(lines[0])["record"], {"name": "h"})
            s.restart()
            reply = s.get("/place/h?fields=name")
            self.assertEqual((reply.body, reply.header("ETag")), (b'{"name":"h"}', tag))
            s.restart()
            self.assertEqual(s.get("/place?fields=x").status, 400)


class Astore(unittest.TestCase):
    def test_an_absent_record_shows_fields_of_the_initial_one(self):
        with Server("--engine", "memory", "--compat", "astore") as s:
            self.assertEqual(s.post("/putschema/place", body=json.dumps(PLACE)).status, 200)
            reply = s.get("/place/get/nobody?fields=tags,at.x")
            self.assertEqual((reply.status, reply.body, reply.header("ETag")), (200, b'{"at":{"x":0},"tags":[]}', None))
            self.assertEqual(s.get("/place/get/nobody?fields=x").status, 400)


if __name__ == "__main__":
    unittest.main()
