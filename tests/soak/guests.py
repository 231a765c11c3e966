"""tests/soak/guests.py - clients of the soak test that say who they are: by password, token, certificate or not at all, over TLS or plain.
What each keeps is its own, and remembered here: so every answer is known, not only its class."""

import gzip
import http.client
import json
import random
import socket
import time

import house
from mix import Fault
from secure import Secure

IDS = 200
CACHED = 4000  # ids of the type with max_size, shared by all
JSON_PATCH = {"Content-Type": "application/json-patch+json"}
MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}


class Reply:
    def __init__(self, response):
        self.status, self.header, self.body = response.status, response.getheader, response.read()

    def json(self):
        return json.loads(self.body)


class Line:
    """One connection, and whose it is."""

    asked = 0  # requests of this process

    def __init__(self, port, address, authorization, secure=None):
        sock = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(address, 0))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.secure = secure
        self.http = http.client.HTTPConnection("localhost", port)
        self.http.auto_open = 0
        self.http.sock = secure.wrap(sock) if secure else sock
        self.fields = {"Authorization": authorization} if authorization else {}

    def ask(self, method, target, body=None, **fields):
        Line.asked += 1
        self.http.request(method, target, body=body, headers={**self.fields, **fields})
        return Reply(self.http.getresponse())

    def close(self):
        if self.secure and self.http.sock:
            self.secure.remember(self.http.sock)
        self.http.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def want(reply, *statuses, code=None):
    if reply.status not in statuses or (code and reply.json()["code"] != code):
        raise Fault(f"{reply.status}, not {statuses} {code or ''}: {reply.body[:300]!r}")
    return reply


def same(found, wanted, what):
    if found != wanted:
        raise Fault(f"{what}: {str(found)[:300]}, not {str(wanted)[:300]}")


class Guest:
    def __init__(self, ports, seed, ca, certificate, zstd):
        """ports: plain, TLS. zstd: is there the type of packed values?"""
        self.ports, self.seed, self.random, self.count = ports, seed, random.Random(seed), {}
        self.anyone, self.certified = Secure(ca, seed), Secure(ca, seed + 1, certificate)
        self.address, self.wrong_address = f"127.0.1.{1 + seed % 250}", f"127.0.2.{1 + seed % 250}"
        self.kept, self.brief, self.keys, self.line = {}, {}, 0, None
        self.writing = [kind for kind in self.WRITING if zstd or kind[0] is not Guest.packed]

    def connect(self, authorization, address=None, secure=None):
        over_tls = secure or (self.anyone if self.random.random() < 0.6 else None)
        return Line(self.ports[1 if over_tls else 0], address or self.address, authorization, over_tls)

    def id(self):
        return f"g{self.seed}-{self.random.randrange(IDS)}"

    def record(self):
        text = "some words, " * self.random.choice((0, 1, 10, 300, 3000 if self.random.random() < 0.1 else 1))
        return {"n": self.random.randrange(1 << 40), "s": text, "m": {f"k{self.random.randrange(9)}": self.random.randrange(99)}}

    # ---- what a writer does; self.kept is what there must be ----

    def put(self):
        ident, record = self.id(), self.record()
        want(self.line.ask("PUT", f"/kept/{ident}", json.dumps(record)), 200 if ident in self.kept else 201)
        self.kept[ident] = record

    def get(self):
        ident = self.id()
        if ident not in self.kept:
            want(self.line.ask("GET", f"/kept/{ident}"), 404, code="no_record")
            return
        reply = want(self.line.ask("GET", f"/kept/{ident}", **{"Accept-Encoding": self.random.choice(("gzip", "identity"))}), 200)
        coded = reply.header("Content-Encoding") == "gzip"
        same(json.loads(gzip.decompress(reply.body) if coded else reply.body), self.kept[ident], ident)
        self.note("gzip" if coded else "identity")

    def merge(self):
        ident, n, key = self.id(), self.random.randrange(99), f"k{self.random.randrange(9)}"
        value = self.random.choice((None, n))
        reply = self.line.ask("PATCH", f"/kept/{ident}", json.dumps({"n": n, "m": {key: value}}), **MERGE_PATCH)
        if want(reply, 200 if ident in self.kept else 404).status == 200:
            kept = self.kept[ident]
            kept["n"] = n
            kept["m"].pop(key, None)
            if value is not None:
                kept["m"][key] = value

    def increment(self):
        """By JSON Patch, with a test before it that may not hold."""
        ident, holds = self.id(), self.random.random() < 0.7
        n = self.kept.get(ident, {"n": 0})["n"]
        patch = [{"op": "test", "path": "/n", "value": n if holds else n + 1}, {"op": "increment", "path": "/n", "by": 5}]
        reply = self.line.ask("PATCH", f"/kept/{ident}", json.dumps(patch), **JSON_PATCH)
        if want(reply, 404 if ident not in self.kept else 200 if holds else 409).status == 200:
            self.kept[ident]["n"] += 5

    def path(self):
        ident, n = self.id(), self.random.randrange(1000)
        done = want(self.line.ask("POST", f"/kept/update/{ident}", f".n\n{n}"), 200 if ident in self.kept else 404)
        if done.status == 200:
            self.kept[ident]["n"] = n
            same(want(self.line.ask("POST", f"/kept/select/{ident}", ".n"), 200).json(), [n], ident)

    def transaction(self):
        """Two records and a check of a third; or with a fault at its end, and then none of it."""
        ids, records = sorted({self.id(), self.id()}), [self.record(), self.record()]
        operations = [{"op": "put", "type": "kept", "id": i, "record": r} for i, r in zip(ids, records)]
        kind = self.random.choice(("good", "none", "bad"))
        if kind == "none":
            operations.append({"op": "delete", "type": "kept", "id": "no such"})
        if kind == "bad":
            operations.append({"op": "put", "type": "kept", "id": "x", "record": {"n": "x"}})
        reply = self.line.ask("POST", "/_txn", json.dumps({"operations": operations}))
        if want(reply, {"good": 200, "none": 404, "bad": 422}[kind]).status == 200:
            same([r["status"] for r in reply.json()["results"]], [200 if i in self.kept else 201 for i in ids], ids)
            self.kept.update(zip(ids, records))
        else:
            same(reply.json()["operation"], len(ids), "operation")

    def again(self):
        """One increment, sent twice with its key."""
        ident, self.keys = self.id(), self.keys + 1
        if ident not in self.kept:
            return
        ask = ("PATCH", f"/kept/{ident}", json.dumps([{"op": "increment", "path": "/n", "by": 1}]))
        key = {"Idempotency-Key": f"{self.seed} {self.keys}", **JSON_PATCH}
        first, second = (want(self.line.ask(*ask, **key), 200) for _ in range(2))
        same((first.header("Idempotency-Replayed"), second.header("Idempotency-Replayed")), (None, "true"), "replayed")
        same(second.header("ETag"), first.header("ETag"), "ETag")
        self.kept[ident]["n"] += 1
        same(want(self.line.ask("GET", f"/kept/get/{ident}/n"), 200).json(), self.kept[ident]["n"], ident)

    def lives(self):
        """A second or two; whose time was over long before is gone."""
        ident, seconds = self.id(), self.random.randrange(1, 3)
        want(self.line.ask("PUT", f"/brief/{ident}?ttl={seconds}", "words"), 200, 201)
        self.brief[ident] = time.monotonic() + seconds
        for old, end in list(self.brief.items())[:3]:
            if end + 1 < time.monotonic():
                want(self.line.ask("GET", f"/brief/{old}"), 404)
                del self.brief[old]

    def cached(self):
        """What is there is what was put, however much has gone."""
        n = self.random.randrange(CACHED)
        body = random.Random(n).randbytes(100 + n * 5)
        if self.random.random() < 0.5:
            want(self.line.ask("PUT", f"/cache/{n}", body), 200, 201)
        elif (reply := want(self.line.ask("GET", f"/cache/{n}"), 200, 404)).status == 200:
            same(reply.body, body, f"cache {n}")

    def packed(self):
        ident = self.id()
        text = f"{ident} is packed. " * self.random.randrange(1, 2000)
        want(self.line.ask("PUT", f"/packed/{ident}", text), 200, 201)
        same(want(self.line.ask("GET", f"/packed/{ident}"), 200).body, text.encode(), ident)

    def delete(self):
        ident = self.id()
        want(self.line.ask("DELETE", f"/kept/{ident}"), 200 if self.kept.pop(ident, None) else 404)

    def delete_prefix(self):
        prefix = f"g{self.seed}-{self.random.randrange(20)}"
        gone = [i for i in self.kept if i.startswith(prefix)]
        same(want(self.line.ask("DELETE", f"/kept?prefix={prefix}"), 200).header("Deleted"), str(len(gone)), prefix)
        for ident in gone:
            del self.kept[ident]

    def scan(self):
        reply = want(self.line.ask("GET", f"/kept?prefix=g{self.seed}-&keys=1&limit=1000"), 200)
        same([json.loads(line)["id"] for line in reply.body.splitlines() if b'"id"' in line], sorted(self.kept), "ids")

    WRITING = ((put, 10), (get, 12), (merge, 5), (increment, 4), (path, 4), (transaction, 4), (again, 3), (lives, 2), (cached, 6),
               (packed, 3), (delete, 2), (delete_prefix, 0.3), (scan, 0.5))

    def write(self, authorization, secure=None):
        kinds, weights = zip(*self.writing)
        with self.connect(authorization, secure=secure) as self.line:
            for kind in self.random.choices(kinds, weights, k=self.random.randrange(1, 60)):
                kind(self)
                self.note(kind.__name__)

    # ---- who: each is one connection ----

    def by_password(self):
        self.write(house.basic("pia"))

    def by_token(self):
        self.write(house.bearer("tom"))

    def by_certificate(self):
        self.write(None, self.certified)

    def reader(self):
        ident = self.id()
        with self.connect(house.basic("rita")) as line:
            want(line.ask("GET", f"/kept/{ident}"), 200 if ident in self.kept else 404)
            want(line.ask("PUT", f"/kept/{ident}", "{}"), 403, code="forbidden")
            want(line.ask("POST", "/_txn", json.dumps({"operations": [{"op": "delete", "type": "kept", "id": ident}]})), 403)
            want(line.ask("GET", "/_backup"), 403)

    def stranger(self):
        with self.connect(house.bearer("stranger")) as line:
            want(line.ask("GET", f"/kept/{self.id()}"), 404, code="no_type")
            want(line.ask("GET", "/public/1"), 200)
            want(line.ask("TRACE", "/kept"), 200)

    def anonymous(self):
        with self.connect(None) as line:
            want(line.ask("GET", f"/kept/{self.id()}"), 401, code="unauthorized")
            same(want(line.ask("GET", "/public/1"), 200).body, b"hello", "public")
            want(line.ask("PUT", "/public/1", "bye"), 401)

    def wrong(self):
        """A login that fails; the next of its address have to wait, those of others do not."""
        bad = self.random.choice((house.basic("pia", "pass rita"), house.basic("nobody"), house.bearer("wrong"), "Basic !"))
        with self.connect(bad, self.wrong_address) as line:
            want(line.ask("GET", f"/kept/{self.id()}"), 401, 429)

    def over_quota(self):
        with self.connect(house.bearer("few")) as line:
            for _ in range(10):
                reply = want(line.ask("GET", "/public/1"), 200, 429)
                if reply.status == 429:
                    same((reply.json()["code"], reply.header("Retry-After")), ("too_many_requests", "1"), "refused")
                self.note("quota refused" if reply.status == 429 else "quota allowed")

    WHO = ((by_password, 6), (by_token, 6), (by_certificate, 6), (reader, 3), (stranger, 2), (anonymous, 2), (wrong, 1), (over_quota, 0.5))

    def note(self, what):
        self.count[what] = self.count.get(what, 0) + 1

    def run(self, done, deadline):
        kinds, weights = zip(*self.WHO)
        told = Line.asked = 0  # the parent of this process has asked, too
        while time.monotonic() < deadline:
            kind = self.random.choices(kinds, weights)[0]
            kind(self)
            self.note(kind.__name__)
            with done.get_lock():
                done.value += Line.asked - told
            told = Line.asked


def guest(ports, seed, done, results, deadline, ca, certificate, zstd):
    """Runs in a process of its own; puts the same as mix.client into `results`."""
    faults, g = [], Guest(ports, seed, ca, certificate, zstd)
    try:
        g.run(done, deadline)
    except (Fault, OSError, http.client.HTTPException) as e:
        faults.append(f"guest {seed}: {type(e).__name__}: {e}")
    for secure in (g.anyone, g.certified):
        for what, n in secure.count.items():
            g.count[what] = g.count.get(what, 0) + n
    results.put({"count": g.count, "faults": faults})
