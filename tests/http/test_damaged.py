"""tests/http/test_damaged.py - a record whose bytes are not Avro of its schema any more (a bad disk) is our fault, never the
client's: 500 and a line in the log, whatever is asked of it; putting it whole mends it."""

import json
import os

from avrod import Server

SCHEMA = {"type": "record", "name": "D", "fields": [
    {"name": "first", "type": "int"}, {"name": "text", "type": "string"}, {"name": "list", "type": {"type": "array", "items": "null"}},
    {"name": "last", "type": "int"}]}
# What stands in the file, and what a bad disk makes of it: as many bytes.
DAMAGES = {
    "length": (b"\x0elength.", b"\x7flength."),  # a text that ends behind the record
    "utf8": (b"\x0cutf8..", b"\x0cutf8\xff."),
    "items": (b"\x0citems.\x02\x00", b"\x0citems.\xff\x7f"),  # a block that tells a size beyond the end
}


def damage(directory):
    for place, _, names in os.walk(directory):
        for name in names:
            with open(os.path.join(place, name), "r+b") as f:
                content = f.read()
                for before, after in DAMAGES.values():
                    assert len(before) == len(after)
                    content = content.replace(before, after)
                f.seek(0)
                f.write(content)


def is_our_fault(reply, about):
    assert reply.status == 500 and reply.json()["code"] == "internal", (about, reply)


def check_damage(s, name):
    whole = s.get(f"/d/{name}")
    is_our_fault(whole, name)
    for wrote in s.put(f"/d/put/{name}/first", body=b"7"), s.put(f"/d/put/{name}/last", body=b"7"):
        # A field before the damage, or behind it: what must not be looked at for it is not.
        assert wrote.status in (200, 500), (name, wrote)
        if wrote.status == 500:
            is_our_fault(wrote, name)
    for field in "text", "list", "last":
        assert s.get(f"/d/get/{name}/{field}").status in (200, 500), (name, field)
    failed = s.put(f"/d/{name}", body=b"{}", headers={"If-None-Match": "*"})
    assert failed.status in (412, 422), failed
    record = {"first": 1, "text": "mended", "list": [], "last": 2}
    failed = s.put(f"/d/{name}", body=json.dumps(record), headers={"If-Match": '"1-1"'})
    assert failed.status == 412 and "current" not in failed.json(), failed
    assert s.put(f"/d/{name}", body=json.dumps(record)).status == 200
    assert s.get(f"/d/{name}").json() == record


def main():
    with Server() as s:
        assert s.post("/putschema/d", body=json.dumps(SCHEMA)).status == 200
        for name, (content, _) in DAMAGES.items():
            text = content[1:].split(b"\x02")[0].decode()
            body = {"first": 1, "text": text, "list": [None] if b"\x02" in content else [], "last": 2}
            assert s.put(f"/d/{name}", body=json.dumps(body)).status == 201
            assert s.get(f"/d/{name}").json() == body
        s.stop()
        damage(s.data)
        s.start()
        is_our_fault(s.put("/d/put/length/last", body=b"7"), "a field behind the damage")
        is_our_fault(s.put("/d/put/items/last", body=b"7"), "a field behind the damage")
        is_our_fault(s.get("/d/get/length/text"), "the damaged field")
        assert s.get("/d/get/length/first").body == b"1", "what is whole can be had"
        for name in DAMAGES:
            check_damage(s, name)
        assert s.get("/ping").body == b"pong"
        assert "record 'length' of type" in s.read_log(), s.log
    print("ok")


if __name__ == "__main__":
    main()
