"""tests/lib/places.py - one value of one type at every place where a value can stand, sent in every way in which a body can be
sent: what holds for a value must hold for it wherever it is.

    p = Places(server, '"int"')
    p.takes("1e2", "100")
    p.refuses('"7"', 422, ("", "type"))

Values are JSON texts, not Python's: how a number is spelled matters."""

import json

from avrod import read_reply

# name, what stands around the type, what stands around the value in and out, the value's pointer; the record's field v holds it.
PLACES = (
    ("root", "%s", "%s", ""),
    ("field", '{"type":"record","name":"Around","fields":[{"name":"v","type":%s}]}', '{"v":%s}', "/v"),
    ("nested", '{"type":"record","name":"Around","fields":[{"name":"v","type":{"type":"record","name":"Inner",'
     '"fields":[{"name":"before","type":"int","default":1},{"name":"w","type":%s}]}}]}', '{"v":{"before":1,"w":%s}}', "/v/w"),
    ("array", '{"type":"record","name":"Around","fields":[{"name":"v","type":{"type":"array","items":%s}}]}',
     '{"v":[%s]}', "/v/0"),
    ("map", '{"type":"record","name":"Around","fields":[{"name":"v","type":{"type":"map","values":%s}}]}',
     '{"v":{"k~/":%s}}', "/v/k~0~1"),
    ("nullable", '{"type":"record","name":"Around","fields":[{"name":"v","type":["null",%s]}]}', '{"v":%s}', "/v"),
)


def chunks(data, size=3):
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def put_chunked(server, target, body):
    """A PUT whose body comes in chunks of three bytes, however long it is."""
    with server.connect() as c:
        c.sendall(b"PUT %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" % target.encode() + chunks(body))
        return read_reply(c)[0]


def problems(reply):
    """What a refusal lists, without its sentences."""
    return [(e["pointer"], e["code"]) for e in reply.json().get("errors", [])]


class Places:
    count = 0

    def __init__(self, server, schema, options="", places=None):
        """`places`: only these, by name."""
        self.server, self.types = server, []
        schema = schema if isinstance(schema, str) else json.dumps(schema)
        kind = json.loads(schema)
        no_branch = isinstance(kind, list) or kind == "null"
        raw = kind in ("bytes", "string")  # whose bodies are no JSON
        for place in PLACES:
            if (places and place[0] not in places) or (place[0] == "nullable" and no_branch) or (place[0] == "root" and raw):
                continue
            Places.count += 1
            name = f"p{Places.count}"
            reply = server.post(f"/putschema/{name}?{options}", body=(place[1] % schema).encode())
            assert reply.status == 200, (place[0], schema, reply)
            self.types.append((name, *place))

    def ways(self, name, place, body):
        """Every way to send a whole record; then its field alone, if it is one and can be put alone."""
        s = self.server
        data = body.encode() if isinstance(body, str) else body
        yield "/1", s.put(f"/{name}/1", body=data), s.get(f"/{name}/1")
        yield "/put/2", s.post(f"/{name}/put/2", body=data), s.get(f"/{name}/get/2")
        yield "/put/3", put_chunked(s, f"/{name}/put/3", data), s.get(f"/{name}/3")
        yield "/4", put_chunked(s, f"/{name}/4", b" \r\n\t" + data + b"\n"), s.get(f"/{name}/get/4")

    def takes(self, value, out=None):
        """The value is stored at every place and comes back as `out`; None: as it is."""
        out = value if out is None else out
        for name, place, _, around, _ in self.types:
            want = (around % out).encode()
            for way, wrote, read in self.ways(name, place, around % value):
                assert wrote.status in (200, 201) and wrote.body == b"OK", (place, way, value, wrote)
                assert read.status == 200 and read.body == want, (place, way, value, read)
            if place != "root":
                self.field(name, place, around % value, want)

    def field(self, name, place, record, want):
        """The field v alone: put into the record, read, and what it made of the record."""
        value, out = record[len('{"v":') : -1], want[len('{"v":') : -1]
        for put in self.server.post, lambda target, body: put_chunked(self.server, target, body):
            wrote = put(f"/{name}/put/1/v", body=value.encode())
            assert wrote.status == 200, (place, "field", value, wrote)
            assert self.server.get(f"/{name}/get/1/v").body == out, (place, "field", value)
            assert self.server.get(f"/{name}/1").body == want, (place, "field", value)

    def refuses(self, value, status, *want, words=""):
        """At every place, in every way; each of `want` is (pointer into the value, code). Nothing is stored or changed."""
        for name, place, _, around, pointer in self.types:
            body = value_in(around, value)
            for way, wrote, read in self.ways(name, place + "x", body):
                self.check(wrote, status, pointer, want, words, (place, way, value))
            if place != "root":
                before = self.server.get(f"/{name}/1")
                wrote = self.server.post(f"/{name}/put/1/v", body=body[len('{"v":') : -1])
                self.check(wrote, status, pointer[len("/v") :], want, words, (place, "field", value))
                after = self.server.get(f"/{name}/1")
                assert (before.status, before.body) == (after.status, after.body), (place, value)

    def check(self, reply, status, pointer, want, words, where):
        assert reply.status == status, (where, reply)
        assert reply.header("Content-Type") == "application/problem+json", (where, reply)
        if want:
            assert problems(reply) == [(pointer + at, code) for at, code in want], (where, reply)
        assert words in reply.body.decode(), (where, words, reply)


def value_in(around, value):
    """The value's bytes may be no text."""
    before, behind = around.split("%s")
    value = value.encode() if isinstance(value, str) else value
    return before.encode() + value + behind.encode()
