"""tests/http/test_fsck.py - avrod --fsck: whatever is damaged in a store is told, by type and id; what is whole is clean; and nothing of
it is ever changed."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile

from avrod import AVROD, Server

DAMAGE = os.path.join(os.path.dirname(AVROD), "tests/damage")
META, TYPES, SUBJECTS, SCHEMAS, HASHES, RECORDS, CHUNKS, COUNTS, EXPIRY, IDEM, TRASH, USED = range(1, 13)
PERSON = {"type": "record", "name": "P", "fields": [{"name": "name", "type": "string"}, {"name": "age", "type": "int"}]}
LONG = 10000  # bytes: three chunks


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def fsck(path, *args):
    done = subprocess.run([AVROD, "--fsck", path, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def hashes_of(directory):
    found = {}
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as f:
            found[name] = hashlib.sha256(f.read()).hexdigest()
    return found


class Store:
    """A copy of the store that main has made, to be damaged."""

    def __init__(self, original):
        self.dir = tempfile.mkdtemp(prefix="avrod-test-")
        shutil.rmtree(self.dir)
        shutil.copytree(original, self.dir)

    def __enter__(self):
        return self

    def __exit__(self, *why):
        shutil.rmtree(self.dir)

    def tool(self, *args):
        done = subprocess.run([DAMAGE, self.dir, *map(str, args)], stdout=subprocess.PIPE, timeout=60, check=True)
        return done.stdout.decode()

    def rows(self, db):
        return {bytes.fromhex(key): bytes.fromhex(value) for key, value in
                (line.split(" ") for line in self.tool("rows", db).splitlines())}

    def put(self, db, key, value=b""):
        self.tool("put", db, key.hex(), value.hex())

    def delete(self, db, key):
        self.tool("del", db, key.hex())

    def change(self, db, key, at, new):
        value = bytearray(self.rows(db)[key])
        value[at:at + len(new)] = new
        self.put(db, key, bytes(value))

    def faults(self):
        """What --fsck tells; it changes no byte, and both forms of it count the same."""
        before = hashes_of(self.dir)
        code, out, err = fsck(self.dir, "--json")
        assert code == 1 and not err, (code, out, err)
        *faults, summary = [json.loads(line) for line in out.splitlines()]
        assert not summary["clean"] and summary["faults"] == len(faults) > 0, out
        code, text, err = fsck(self.dir)
        assert code == 1 and not err and f" has {len(faults)} faults: " in text.splitlines()[-1], text
        assert hashes_of(self.dir) == before, "it was changed"
        return faults


def key_of(type_number, ident):
    return type_number.to_bytes(4, "big") + ident


def with_checksum(value):
    """A record whose checksum is right, whatever it is."""
    head = int.from_bytes(value[2:4], "little")
    blank = value[:28] + bytes(4) + value[32:head]
    return value[:28] + crc32c(value[head:] + blank).to_bytes(4, "little") + value[32:]


# ---- the damages: each returns what must be told ----


def body_flipped(s):
    key = key_of(1, b"ann")
    s.change(RECORDS, key, len(s.rows(RECORDS)[key]) - 2, b"\x7f")
    return [("checksum", "person", "ann")]


def body_of_another_schema(s):
    key = key_of(1, b"ann")
    value = s.rows(RECORDS)[key]
    s.put(RECORDS, key, with_checksum(value[:32] + b"\x7f" + value[33:]))
    return [("record", "person", "ann")]


def schema_of_another_type(s):
    key = key_of(1, b"ann")
    value = s.rows(RECORDS)[key]
    s.put(RECORDS, key, with_checksum(value[:4] + (2).to_bytes(4, "little") + value[8:]))
    return [("record", "person", "ann")]


def head_of_no_format(s):
    s.change(RECORDS, key_of(1, b"ann"), 0, b"\x63")
    return [("head", "person", "ann"), ("counts", "person", None)]


def revision_to_come(s):
    key = key_of(1, b"ann")
    value = s.rows(RECORDS)[key]
    s.put(RECORDS, key, with_checksum(value[:8] + (10 ** 6).to_bytes(8, "little") + value[16:]))
    return [("number", "person", "ann")]


def key_too_short(s):
    s.put(RECORDS, b"\0\0", b"x")
    return [("head", None, None)]


def record_gone(s):
    s.delete(RECORDS, key_of(1, b"ann"))
    return [("counts", "person", None)]


def chunk_of(s, ident=b"long"):
    value = s.rows(RECORDS)[key_of(2, ident)]
    return value[-12:-4][::-1]  # big-endian


def chunk_flipped(s):
    s.change(CHUNKS, chunk_of(s) + bytes(4), 100, b"\xff\0\xff")
    return [("checksum", "blob", "long")]


def chunk_gone(s):
    s.delete(CHUNKS, chunk_of(s) + (1).to_bytes(4, "big"))
    return [("chunks", "blob", "long")]


def chunk_cut(s):
    key = chunk_of(s) + (2).to_bytes(4, "big")
    s.put(CHUNKS, key, s.rows(CHUNKS)[key][:-1])
    return [("chunks", "blob", "long")]


def chunk_too_many(s):
    s.put(CHUNKS, chunk_of(s) + (3).to_bytes(4, "big"), b"x")
    return [("chunks", "blob", "long")]


def chunk_of_no_key(s):
    s.put(CHUNKS, b"\0\1", b"x")
    return [("chunks", None, None)]


def blob_of_two(s):
    s.put(RECORDS, key_of(2, b"twin"), s.rows(RECORDS)[key_of(2, b"long")])
    return [("blob", "blob", "twin"), ("counts", "blob", None)]


def blob_of_nobody(s):
    s.delete(RECORDS, key_of(2, b"long"))
    return [("blob", None, None), ("counts", "blob", None)]


def blob_alive_in_the_trash(s):
    s.put(TRASH, b"\2" + chunk_of(s), bytes(8))
    return [("blob", None, None)]


def counts_wrong(s):
    s.change(COUNTS, (1).to_bytes(4, "big"), 0, b"\x09")
    return [("counts", "person", None)]


def counts_gone(s):
    s.delete(COUNTS, (1).to_bytes(4, "big"))
    return [("counts", "person", None)]


def counts_cut(s):
    s.put(COUNTS, (1).to_bytes(4, "big"), b"\1")
    return [("counts", "person", None)]


def counts_of_nobody(s):
    s.put(COUNTS, (77).to_bytes(4, "big"), bytes(16))
    return [("orphan", None, None)]


def counts_of_an_empty_type(s):
    s.put(COUNTS, (4).to_bytes(4, "big"), b"\1" + bytes(15))
    return [("counts", "empty", None)]


def expiry_of(s, kind):
    return next(key for key in s.rows(EXPIRY) if key[8] == kind)


def expiry_gone(s):
    s.delete(EXPIRY, expiry_of(s, 1))
    return [("expiry", "person", "brief")]


def expiry_at_another_time(s):
    key = expiry_of(s, 1)
    s.put(EXPIRY, (int.from_bytes(key[:8], "big") + 1).to_bytes(8, "big") + key[8:])
    return [("expiry", "person", "brief")]


def expiry_of_nothing(s):
    s.put(EXPIRY, (10 ** 13).to_bytes(8, "big") + b"\1" + key_of(1, b"nobody"))
    return [("expiry", "person", "nobody")]


def expiry_damaged(s):
    s.put(EXPIRY, b"\0\0\0")
    return [("expiry", None, None)]


def used_gone(s):
    s.delete(USED, next(iter(s.rows(USED))))
    return [("used", "cache", "hit")]


def used_by_nobody(s):
    key = next(iter(s.rows(USED)))
    s.put(USED, key[:4] + b"\0" + key[5:])
    s.put(USED, key[:10] + b"nobody")
    s.put(USED, b"\0\1")
    return [("used", "cache", "hit"), ("used", "cache", "nobody"), ("used", None, None)]


def used_counted_wrong(s):
    key = next(iter(s.rows(USED)))[:4]
    s.change(COUNTS, key, 24, b"\x05")
    return [("counts", "cache", None)]


def limit_of_another(s):
    key = next(iter(s.rows(USED)))[:4]
    s.change(COUNTS, key, 16, b"\x05")
    return [("counts", "cache", None)]


def idem_gone(s):
    s.delete(IDEM, next(iter(s.rows(IDEM))))
    return [("expiry", None, None)]


def idem_without_end(s):
    s.delete(EXPIRY, expiry_of(s, 2))
    return [("idem", None, None)]


def idem_damaged(s):
    s.put(IDEM, next(iter(s.rows(IDEM))), b"\1\2\3")
    return [("idem", None, None)]


def trash_of_a_type_that_lives(s):
    s.put(TRASH, b"\1" + (1).to_bytes(8, "big"), bytes(8))
    return [("trash", "person", None)]


def trash_over_types_that_live(s):
    s.put(TRASH, b"\3" + (2).to_bytes(8, "big"), (1).to_bytes(8, "little"))
    return [("trash", "person", None)]


def trash_of_a_number_to_come(s):
    s.put(TRASH, b"\1" + (999).to_bytes(8, "big"), bytes(8))
    s.put(TRASH, b"\2" + (999).to_bytes(8, "big"), bytes(8))
    return [("number", None, None)]


def trash_of_an_unknown_kind(s):
    s.put(TRASH, b"\7" + bytes(8), bytes(8))
    return [("trash", None, None)]


def schema_gone(s):
    s.delete(SCHEMAS, (1).to_bytes(4, "big"))
    return [("type", None, "person"), ("schema_hash", None, None)]


def schema_damaged(s):
    s.put(SCHEMAS, (1).to_bytes(4, "big"), b"{")
    return [("schema", None, "\0\0\0\1"), ("schema_hash", None, None)]


def schema_changed(s):
    s.put(SCHEMAS, (2).to_bytes(4, "big"), b'"string"')
    return [("schema_hash", None, None)]


def schema_hash_gone(s):
    s.delete(HASHES, next(iter(s.rows(HASHES))))
    return [("schema_hash", None, None)]


def schema_hash_damaged(s):
    s.put(HASHES, b"\1\2\3", b"x")
    return [("schema_hash", None, None)]


def schema_hash_of_another(s):
    a, b = list(s.rows(HASHES))[:2]
    s.put(HASHES, a, s.rows(HASHES)[b])
    return [("schema_hash", None, None)]


def type_gone(s):
    s.delete(TYPES, b"person")
    return [("orphan", None, None)]


def type_damaged(s):
    s.put(TYPES, b"person", b"\x09")
    return [("type", None, "person"), ("orphan", None, None)]


def type_twice(s):
    s.put(TYPES, b"other", s.rows(TYPES)[b"person"])
    return [("type", None, None)]


def type_of_no_name(s):
    s.put(TYPES, b"_x", s.rows(TYPES)[b"empty"])
    return [("type", None, "_x")]


def type_of_no_number(s):
    s.change(TYPES, b"empty", 4, bytes(4))
    return [("type", None, "empty")]


def version_of_no_schema(s):
    value = s.rows(TYPES)[b"person"]
    s.put(TYPES, b"person", value[:-8] + (999).to_bytes(4, "little") + value[-4:])
    return [("type", None, "person")]


def subject_damaged(s):
    s.put(SUBJECTS, b"\0s", b"\x09")
    s.put(SUBJECTS, b"\0?x", b"\x09")
    s.put(SUBJECTS, b"\0l", b"\x09")
    return [("subject", None, "\0s"), ("subject", None, "\0?x"), ("subject", None, "\0l")]


def subject_of_a_types_name(s):
    s.put(SUBJECTS, b"nice", s.rows(SUBJECTS)[b"a/b-value"])
    return [("subject", None, "nice")]


def references_of_no_schema(s):
    key, value = next((key, value) for key, value in s.rows(SUBJECTS).items() if key[:2] == b"\0r")
    s.put(SUBJECTS, b"\0r" + (999).to_bytes(4, "big"), value)
    s.put(SUBJECTS, key, value[:-1])
    return [("subject", None, None), ("schema_hash", None, None)]


def numbers_taken_back(s):
    state = s.rows(META)[b"state"]
    s.put(META, b"state", state[:8] + (2).to_bytes(4, "little") + (2).to_bytes(4, "little") + state[16:])
    return [("number", None, None), ("number", "blob", None)]


def open_row_gone(s):
    s.delete(META, b"open")
    return [("meta", None, "open")]


def state_damaged(s):
    s.put(META, b"state", b"x")
    return [("meta", None, "state")]


def store_row_cut(s):
    s.put(META, b"store", b"x")
    return [("meta", None, "store")]


def page_overwritten(s):
    """Any page of a tree: those at the front are."""
    with open(os.path.join(s.dir, "data.mdb"), "r+b") as f:
        for page in range(2, 40):
            f.seek(page * 4096 + 8)
            f.write(b"\xee" * 24)
    return [("page", None, None)]


DAMAGES = [body_flipped, body_of_another_schema, schema_of_another_type, head_of_no_format, revision_to_come, key_too_short,
           record_gone, chunk_flipped, chunk_gone, chunk_cut, chunk_too_many, chunk_of_no_key, blob_of_two, blob_of_nobody,
           blob_alive_in_the_trash, counts_wrong, counts_gone, counts_cut, counts_of_nobody, counts_of_an_empty_type, expiry_gone,
           expiry_at_another_time, expiry_of_nothing, expiry_damaged, used_gone, used_by_nobody,
           used_counted_wrong, limit_of_another, idem_gone, idem_without_end, idem_damaged,
           trash_of_a_type_that_lives, trash_over_types_that_live, trash_of_a_number_to_come, trash_of_an_unknown_kind,
           schema_gone, schema_damaged, schema_changed, schema_hash_gone, schema_hash_damaged, schema_hash_of_another, type_gone,
           type_damaged, type_twice, type_of_no_name, type_of_no_number, version_of_no_schema, subject_damaged,
           subject_of_a_types_name, references_of_no_schema, numbers_taken_back, open_row_gone, state_damaged, store_row_cut,
           page_overwritten]


def check_damages(original):
    kinds = set()
    for damage in DAMAGES:
        with Store(original) as s:
            wanted = damage(s)
            faults = s.faults()
            kinds |= {fault["fault"] for fault in faults}
            told = [(fault["fault"], fault.get("type"), fault.get("id", fault.get("key"))) for fault in faults]
            for kind, type_name, ident in wanted:
                assert any(kind == k and type_name == t and ident in (i, None) for k, t, i in told), (damage.__name__, wanted, faults)
    with open(os.path.join(os.path.dirname(__file__), "../../storage/faults.def"), encoding="utf-8") as f:
        known = {line.split('"')[1] for line in f if line.startswith("FAULT(")}
    assert kinds == known, f"never told: {known - kinds}"


def make(directory):
    with Server(data=directory) as s:
        assert s.post("/putschema/person", json.dumps(PERSON)).status == 200
        assert s.post("/putschema/blob", '"bytes"').status == 200
        assert s.post("/putschema/dropped", '"string"').status == 200
        assert s.post("/putschema/empty", '"long"').status == 200
        assert s.post("/putschema/cache?max_size=1000000", '"bytes"').status == 200
        assert s.put("/cache/hit", b"x").status == 201
        for name in "ann", "bob", "cid":
            assert s.put(f"/person/{name}", json.dumps({"name": name, "age": 7})).status == 201
        assert s.put("/person/brief?ttl=100000", json.dumps({"name": "brief", "age": 7})).status == 201
        assert s.put("/person/once", json.dumps({"name": "once", "age": 7}), headers={"Idempotency-Key": "k"}).status == 201
        assert s.put("/blob/long", bytes(range(256)) * (LONG // 256)).status == 201
        assert s.put("/blob/short", b"xyz").status == 201
        for i in range(3):
            assert s.put(f"/dropped/{i}", b"z" * LONG).status == 201
        assert s.delete("/delschema/dropped").status == 200
        register = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
        base = json.dumps({"schema": json.dumps({"type": "record", "name": "Base", "fields": []})})
        using = json.dumps({"schema": '{"type":"record","name":"U","fields":[{"name":"b","type":"Base"}]}',
                            "references": [{"name": "Base", "subject": "a/b-value", "version": 1}]})
        assert s.post("/subjects/a%2Fb-value/versions", base, headers=register).status == 200
        assert s.post("/subjects/using-value/versions", using, headers=register).status == 200
        assert s.put("/config", '{"compatibility":"FULL"}', headers=register).status == 200
        code, out, err = fsck(directory)
        assert code == 2 and not out and "Another process has the store" in err, (code, out, err)


def check_clean(directory):
    before = hashes_of(directory)
    code, out, err = fsck(directory)
    assert code == 0 and not err and " is clean: 5 types, 8 records " in out, (code, out, err)
    code, out, err = fsck(directory, "--json")
    summary = json.loads(out)
    assert code == 0 and not err and summary["clean"] and summary["closed"] and summary["faults"] == 0 and summary["records"] == 8, out
    assert hashes_of(directory) == before
    file = os.path.join(directory, "data.mdb")
    code, out, err = fsck(file)
    assert code == 0 and out.startswith(f"{file} is clean: "), (code, out, err)


def check_what_cannot_be_checked(directory):
    for path, words in (directory + "-absent", "No such file"), ("/etc/passwd", "is no data file"):
        code, out, err = fsck(path)
        assert code == 2 and not out and words in err, (code, out, err)
    with Store(directory) as s:
        s.put(META, b"format", (99).to_bytes(4, "little"))
        code, out, err = fsck(s.dir)
        assert code == 2 and not out and "format 99, from a newer version" in err, (code, out, err)
    with Store(directory) as s:
        with open(os.path.join(s.dir, "data.mdb"), "r+b") as f:
            f.truncate(5 * 4096)
        assert "cut short" in s.faults()[0]["detail"]


def check_mark_clean(directory):
    """A store of mode none, open when the machine stopped."""
    with Store(directory) as s:
        s.put(META, b"open", b"\0\2" + bytes(16))
        try:
            Server(data=s.dir)
            assert False, "it was opened"
        except RuntimeError as error:
            assert "may be damaged" in str(error), error
        code, out, err = fsck(s.dir)
        assert code == 0 and "--mark-clean" in out, (code, out, err)
        assert not json.loads(fsck(s.dir, "--json")[1])["closed"]
        code, out, err = fsck(s.dir, "--mark-clean")
        assert code == 0 and not err, (code, out, err)
        with Server(data=s.dir) as server:
            assert server.get("/person/ann").status == 200
    with Store(directory) as s:  # with a fault it is not marked
        s.put(META, b"open", b"\0\2" + bytes(16))
        s.delete(COUNTS, (1).to_bytes(4, "big"))
        before = hashes_of(s.dir)
        assert fsck(s.dir, "--mark-clean")[0] == 1
        assert hashes_of(s.dir) == before


def main():
    with tempfile.TemporaryDirectory(prefix="avrod-test-") as folder:
        directory = os.path.join(folder, "store")
        make(directory)
        for check in check_clean, check_what_cannot_be_checked, check_mark_clean, check_damages:
            print(check.__name__, flush=True)
            check(directory)
    print("ok")


if __name__ == "__main__":
    main()
