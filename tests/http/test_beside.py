"""tests/http/test_beside.py - long answers beside writes: scans, ranges, bodies in chunks, metrics and the times of a request,
by clients on all workers, while records and types come and go. Each answer is whole and of one moment. tsan runs it too."""

import json
import re
import threading

from avrod import Server, sanitized
from test_scan import lines, put_many, register

THREADS = 4
ROUNDS = 15 if sanitized() else 40
RECORD = {"type": "record", "name": "P", "fields": [{"name": "n", "type": "long"}, {"name": "s", "type": "string", "default": ""}]}
IDS = [f"{n:03d}" for n in range(300)]
SIZES = 100, 5_000, 70_000, 1_500_000  # beside the head, in chunks, a stream, one of many pieces
failures = []


def body(n, size):
    """Of one letter, so that no two puts can be mixed unseen."""
    return bytes([ord("a") + n % 26]) * size


def record(n):
    return b'{"n":%d,"s":"%s"}' % (n, body(n, 900))


def is_one(content, size):
    return len(content) == size and content == content[:1] * size


def write_records(s):
    for n in range(1, ROUNDS):
        put_many(s, ((f"/r/{id}", record(n)) for id in IDS))


def write_blobs(s):
    for n in range(1, ROUNDS):
        put_many(s, ((f"/blob/{size}", body(n, size)) for size in SIZES))


def change_types(s):
    for n in range(ROUNDS):
        register(s, "come", RECORD)
        put_many(s, ((f"/come/{id}", record(n)) for id in IDS[:50]))
        found = lines(s.get("/come"))
        assert [line["record"]["n"] for line in found] == [n] * 50
        assert s.delete("/delschema/come").status == 200
        assert s.get("/come").status == 404


def scan_records(s):
    for _ in range(ROUNDS):
        found = lines(s.get("/r?limit=1000"))
        assert [line["id"] for line in found] == IDS
        for line in found:
            assert is_one(line["record"]["s"].encode(), 900) and line["record"]["s"].encode() == body(line["record"]["n"], 900)
        array = s.get("/r?keys=1", headers={"Accept": "application/json"}).json()
        assert [line["id"] for line in array] == IDS


def scan_blobs(s):
    """Among them those that are read behind the page."""
    for _ in range(ROUNDS // 3):
        found = lines(s.get("/blob"))
        assert sorted(int(line["id"]) for line in found) == sorted(SIZES)
        for line in found:
            assert is_one(line["record"].encode(), int(line["id"])), line["id"]


def scan_what_goes(s):
    """A type that comes and goes: its list ends, and says nothing of damage."""
    for _ in range(ROUNDS):
        reply = s.get("/come")
        assert reply.status in (200, 404), reply
        assert reply.status == 404 or all(is_one(line["record"]["s"].encode(), 900) for line in lines(reply))


def read_blobs(s):
    for n in range(ROUNDS):
        size = SIZES[n % len(SIZES)]
        reply = s.get(f"/blob/{size}")
        assert reply.status == 200 and is_one(reply.body, size), (size, reply.status, len(reply.body))
        at = n * 97 % (size - 50)
        part = s.get(f"/blob/{size}", headers={"Range": f"bytes={at}-{at + 49}"})
        assert part.status == 206 and is_one(part.body, 50), part
        assert part.header("Content-Range") == f"bytes {at}-{at + 49}/{size}"
        tag = reply.header("ETag")
        rest = s.get(f"/blob/{size}", headers={"Range": f"bytes={at}-", "If-Range": tag})
        if rest.status == 206:
            assert rest.body == reply.body[at:] and rest.header("ETag") == tag
        else:
            assert rest.status == 200 and is_one(rest.body, size)


def scrape(s):
    """What is counted only grows; no scrape is refused."""
    before = {}
    for _ in range(ROUNDS):
        reply = s.get("/metrics")
        assert reply.status == 200
        found = re.findall(r"^(avrod_\w+_(?:total|count|bucket)(?:\{[^}]*\})?) (\d+)$", reply.body.decode(), re.M)
        now = {name: int(value) for name, value in found if "validation" not in name}
        assert now.keys() >= before.keys() and all(now[name] >= value for name, value in before.items())
        before = now


def time_requests(s):
    for n in range(ROUNDS):
        for target in f"/r/{IDS[n]}?timing=1", "/r?limit=100&timing=1", f"/blob/{SIZES[-1]}?timing=1":
            reply = s.get(target)
            assert reply.status == 200 and "parse;dur=" in reply.header("Server-Timing"), (target, reply.headers)
        assert {t["name"] for t in s.get("/schemas").json()} >= {"r", "blob"}


CLIENTS = (write_records, write_blobs, change_types, scan_records, scan_records, scan_blobs, scan_what_goes, read_blobs,
           read_blobs, scrape, time_requests)


def run(client, s):
    try:
        client(s)
        print(f"{client.__name__}\n", end="", flush=True)
    except BaseException:
        failures.append(client.__name__)
        raise


def main():
    with Server("--threads", str(THREADS), "--durability", "none") as s:
        register(s, "r", RECORD)
        assert s.post("/putschema/blob", body=json.dumps("string").encode()).status == 200
        put_many(s, ((f"/r/{id}", record(0)) for id in IDS))
        put_many(s, ((f"/blob/{size}", body(0, size)) for size in SIZES))
        threads = [threading.Thread(target=run, args=(client, s)) for client in CLIENTS]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not failures, failures
        assert s.get("/healthz").status == 200
        log = s.read_log()
        assert " error " not in log, log
    print("ok")


if __name__ == "__main__":
    main()
