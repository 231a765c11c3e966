"""tests/http/test_max_size.py - the option max_size: what was least recently read or written goes, and nothing else; tags stay;
the bound holds under load and through a kill; a store of format 1 is upgraded."""

import gzip
import json
import os
import random
import shutil
import tempfile
import threading
import time

from avrod import Server

KIB, MIB = 1 << 10, 1 << 20
DATA = os.path.join(os.environ["TEST_DATA"], "http/data")


def expect(reply, status, code=None):
    assert reply.status == status, reply
    if code:
        assert reply.json()["code"] == code, reply
    return reply


def register(s, name, max_size, schema='"bytes"'):
    return expect(s.post(f"/putschema/{name}?max_size={max_size}", body=schema), 200)


def about(s, name):
    return next(t for t in s.get("/schemas").json() if t["name"] == name)


def metric(s, name):
    text = s.get("/metrics").body.decode()
    return int(next(line for line in text.splitlines() if line.startswith(name + " ")).split()[1])


def until(condition, what):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def ids_of(s, name):
    return {line.split('"')[3] for line in s.get(f"/{name}?keys=1").body.decode().splitlines()}


def within(s, name, most):
    until(lambda: about(s, name)["bytes"] <= most, f"{name} stays above {most} bytes")


def check_option(s):
    for value, means in (("100", 100), ("3KiB", 3 * KIB), ("2MiB", 2 * MIB), ("1GiB", 1 << 30), ("1TiB", 1 << 40), ("none", None)):
        register(s, "option", value)
        assert about(s, "option")["max_size"] == means, value
    register(s, "option", "100")
    expect(s.post("/putschema/option?missing=zero", body='"bytes"'), 200)
    assert about(s, "option")["max_size"] == 100
    for value in ("0", "", "-1", "1kb", "1.5MiB", "KiB", "99999999999TiB", "unlimited"):
        expect(s.post(f"/putschema/option?max_size={value}", body='"bytes"'), 400, "bad_parameter")
    expect(s.post("/putschema/option?max-size=1", body='"bytes"'), 400, "unknown_parameter")


def check_order_under_mixed_reads(s):
    """Of eight, three are read, each in a way of its own; the rest goes in the order of writing."""
    register(s, "mixed", 8 * 104)
    tags = {}
    for i in range(8):
        tags[i] = expect(s.put(f"/mixed/{i}", body=b"x" * 100, headers={"Content-Type": "a/b"}), 201).header("ETag")
    time.sleep(1.1)
    assert expect(s.get("/mixed/0"), 200).body == b"x" * 100
    expect(s.request("HEAD", "/mixed/get/2"), 200)
    expect(s.get("/mixed/4", headers={"If-None-Match": tags[4]}), 304)
    expect(s.get("/mixed"), 200)  # a scan is no use
    until(lambda: metric(s, "avrod_store_touched_records_total") >= 3, "three touches")
    for i in (0, 2, 4):
        reply = expect(s.get(f"/mixed/{i}"), 200)
        assert reply.header("ETag") == tags[i] and reply.header("Content-Type") == "a/b", reply
    revision = int(expect(s.put("/mixed/new0", body=b"x" * 100), 201).header("ETag").strip('"').split("-")[0])
    assert revision == int(tags[7].strip('"').split("-")[0]) + 1, "a touch took a revision"
    for n, gone in enumerate(("1", "3", "5", "6", "7", "0", "2", "4")):
        if n:
            expect(s.put(f"/mixed/new{n}", body=b"x" * 100), 201)
        until(lambda: gone not in ids_of(s, "mixed"), f"{gone} stays")
        assert len(ids_of(s, "mixed")) == 8
    assert metric(s, "avrod_store_evicted_records_total") == 8


def check_too_large_alone(s):
    register(s, "small", 2 * MIB)
    expect(s.put("/small/a", body=b"x" * 100), 201)
    expect(s.put("/small/b", body=b"x" * (2 * MIB)), 413, "record_too_large")
    expect(s.put("/small/b", body=[b"x" * MIB, b"x" * MIB]), 413, "record_too_large")
    alone = {"op": "put", "type": "small", "id": "b", "record": "x" * (2 * MIB)}
    for dry in "", "?dry_run=1":
        expect(s.put("/small/b" + dry, body=b"x" * (2 * MIB)), 413, "record_too_large")
        reply = s.post("/_txn" + dry, body=json.dumps({"operations": [alone]}))
        expect(reply, 413, "record_too_large")
        assert reply.json()["operation"] == 0
    assert ids_of(s, "small") == {"a"}
    expect(s.put("/small/b", body=[b"x" * MIB, b"x" * (MIB - 100)]), 201)  # in chunks, on the wire and in the store
    within(s, "small", 2 * MIB)
    assert ids_of(s, "small") == {"b"}
    assert len(s.get("/small/b").body) == 2 * MIB - 100


def check_json_edits_and_lives(s):
    register(s, "json", 300, '{"type":"record","name":"J","fields":[{"name":"a","type":"string"}]}')
    expect(s.put("/json/old", body='{"a":"%s"}' % ("x" * 120)), 201)
    expect(s.put("/json/short?ttl=1", body='{"a":"%s"}' % ("y" * 50)), 201)
    expect(s.put("/json/third", body='{"a":"z"}'), 201)
    expect(s.request("PATCH", "/json/old", body='{"a":"%s"}' % ("w" * 130),
                     headers={"Content-Type": "application/merge-patch+json"}), 200)
    until(lambda: ids_of(s, "json") == {"old", "third"}, "the record past its time")
    expect(s.request("PATCH", "/json/third", body='{"a":"%s"}' % ("w" * 250),
                     headers={"Content-Type": "application/merge-patch+json"}), 200)
    until(lambda: ids_of(s, "json") == {"third"}, "the one that was edited before")
    for dry in "", "?dry_run=1":
        expect(s.request("PATCH", "/json/third" + dry, body='{"a":"%s"}' % ("w" * 350),
                         headers={"Content-Type": "application/merge-patch+json"}), 413, "record_too_large")
    expect(s.request("DELETE", "/json?prefix=t"), 200)
    assert about(s, "json")["bytes"] == 0
    expect(s.request("DELETE", "/delschema/json"), 200)


def check_load(s):
    """Eight writers, no more than the bound at any time anybody looks, and what stays is what came last."""
    most = 2 * MIB
    register(s, "load", most)
    seen, over = [], threading.Event()

    def write(n):
        rng = random.Random(n)
        for i in range(150):
            expect(s.put(f"/load/{n}-{i}", body=b"x" * rng.randrange(1, 40000)), 201)

    def look():
        while not over.is_set():
            seen.append(about(s, "load")["bytes"])

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    looker = threading.Thread(target=look)
    for t in threads + [looker]:
        t.start()
    for t in threads:
        t.join()
    over.set()
    looker.join()
    assert max(seen) <= most + 64 * MIB and len(seen) > 3, max(seen)
    within(s, "load", most)
    kept = ids_of(s, "load")
    assert any(f"{n}-149" in kept for n in range(8)) and min(int(i.split("-")[1]) for i in kept) > 50, kept
    assert about(s, "load")["bytes"] > most - 40100


def counts_agree(s, name):
    t = about(s, name)
    assert t["records"] == len(ids_of(s, name)), t
    return t


def check_kill_while_it_goes_down():
    with Server("--durability", "async") as s:
        register(s, "many", "none")
        for i in range(3000):
            expect(s.put(f"/many/{i}", body=b"x" * 400), 201)
        for _ in range(3):
            register(s, "many", 100 * KIB)
            time.sleep(0.02)
            s.restart(kill=True)
        within(s, "many", 100 * KIB)
        t = counts_agree(s, "many")
        assert 100 * KIB - 500 < t["bytes"], t
        assert "2999" in ids_of(s, "many") and "0" not in ids_of(s, "many")


def check_upgrade():
    """A store that a version before max_size made: all is there, and it takes part."""
    folder = tempfile.mkdtemp(prefix="avrod-test-")
    try:
        with gzip.open(os.path.join(DATA, "format1.mdb.gz")) as packed, open(os.path.join(folder, "data.mdb"), "wb") as f:
            shutil.copyfileobj(packed, f)
        with open(os.path.join(folder, "LOCK"), "w") as f:
            f.write("This directory holds a store of avrod.\n")
        with Server(data=folder) as s:
            assert "format 1" in s.read_log()
            assert [t["name"] for t in s.get("/schemas").json()] == ["blob", "point"]
            reply = expect(s.get("/blob/small07"), 200)
            assert reply.body == b"07" * 40 and reply.header("ETag") == '"10-1"', reply
            assert reply.header("Content-Type") == "text/plain"
            assert s.get("/blob/long").body == bytes(range(256)) * 40
            assert s.get("/blob/edge").body == b"e" * 4033
            assert int(s.get("/point/a").header("TTL")) > 1000000000
            assert s.get("/point/b").json() == {"x": 2}
            s.restart()
            assert "format 1" not in s.read_log()
            register(s, "blob", 14500)  # of 15,918 bytes: the first written goes
            within(s, "blob", 14500)
            kept = ids_of(s, "blob")
            assert {"long", "edge", "small19"} <= kept and "small00" not in kept, kept
            assert expect(s.get("/blob/edge"), 200).body == b"e" * 4033
            s.restart()
            assert s.get("/blob/long").body == bytes(range(256)) * 40
            assert ids_of(s, "blob") == kept
    finally:
        shutil.rmtree(folder)


def main():
    with Server() as s:
        for check in (check_option, check_order_under_mixed_reads, check_too_large_alone, check_json_edits_and_lives, check_load):
            print(check.__name__, flush=True)
            check(s)
        assert metric(s, "avrod_store_damaged_rows") == 0
        s.restart()
        for t in s.get("/schemas").json():
            if t["name"] != "option":
                counts_agree(s, t["name"])
        assert s.stop() == 0
    for check in (check_kill_while_it_goes_down, check_upgrade):
        print(check.__name__, flush=True)
        check()
    print("ok")


main()
