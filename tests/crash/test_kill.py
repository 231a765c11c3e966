"""tests/crash/test_kill.py - kill -9 at random moments under a load of puts and deletes, short and long bodies, types that come,
change and go, transactions, increments that are sent again under their idempotency keys, and what is dead being removed: whatever was answered is there after the restart, whole; what
was not answered is there whole or not at all, all records of a transaction or none; counts are exact; nothing needs repair.

    test_kill.py [--seed N] [--long KILLS]     KILLS instead of 30, in all three durabilities by turns"""

import argparse
import json
import random
import re
import socket
import threading
import time
import zlib

from avrod import Server, read_reply

MODES = "sync", "async", "none"
KILLS = 30
WRITERS, IDS, PIPELINE_MAX = 5, 40, 8
TYPES, BULK_MAX = 4, 300  # types that come and go; records put into one in a row, more than one step of the purge removes
ANSWERS = 20, 100, 300  # before a kill, at most
PAD_MAX = 3500
PAD_LONG = 20000  # in chunks
PAD_LONGEST = 2 << 20  # in several groups ...
LONGEST_SHARE = 0.02  # ... now and then
SPARE_BYTES = 1 << 20  # that a store may use beside twice the bytes of its records
BUNDLES, BUNDLE_PUTS = 2, 5
COUNTED = 2
BUNDLE_SCHEMAS = {name: json.dumps({"type": "record", "name": "Part", "fields": [
    {"name": "seq", "type": "long", "default": 0}, {"name": "pad", "type": "string", "default": ""}]})
    for name in ("left", "right")}
SCHEMA = json.dumps({"type": "record", "name": "Kept", "fields": [
    {"name": "id", "type": "string"}, {"name": "seq", "type": "long"}, {"name": "pad", "type": "string"},
    {"name": "sum", "type": "long"}]})


def checksum(ident, seq, pad):
    return zlib.crc32(f"{ident}/{seq}/{pad}".encode())


def record_of(ident, seq, rng):
    length = rng.choice([0, 10, 100, rng.randrange(PAD_MAX), rng.randrange(PAD_LONG)])
    if rng.random() < LONGEST_SHARE:
        length = rng.randrange(PAD_LONGEST // 2, PAD_LONGEST)
    pad = "".join(rng.choices("abcdefghijklmnop", k=min(length, PAD_LONG)))
    pad = (pad * (length // PAD_LONG + 1))[:length]
    return json.dumps({"id": ident, "seq": seq, "pad": pad, "sum": checksum(ident, seq, pad)})


class Key:
    """What a record may be after a crash: `settled`, the outcome of the last answered write (a seq; None: absent), or
    the outcome of one of the `sent` ones behind it, which were not answered."""

    def __init__(self):
        self.settled, self.sent, self.last = None, [], 0

    def next_seq(self):
        self.last += 1  # never again, so that an old record cannot pass for a new one
        return self.last

    def answered(self):
        self.settled = self.sent.pop(0)

    def possible(self):
        return [self.settled] + self.sent


class Counter:
    """How many answers all writers have; wait_for(n) returns once there are n."""

    def __init__(self):
        self.value, self.revision, self.changed = 0, 0, threading.Condition()

    def add(self, revision):
        with self.changed:
            self.value += 1
            self.revision = max(self.revision, revision)
            self.changed.notify_all()

    def wait_for(self, n, writers):
        with self.changed:
            while self.value < n:
                assert self.changed.wait(60), f"{self.value} of {n} answers, then nothing for a minute"
                for writer in writers:
                    assert writer.fault is None, writer.fault


class Client(threading.Thread):
    """One connection, on which turns are taken until it is lost."""

    def __init__(self, port, counter, seed):
        super().__init__()
        self.port, self.counter, self.rng = port, counter, random.Random(seed)
        self.fault, self.dying = None, False

    def run(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as sock:
                while True:
                    self.turn(sock)
        except (EOFError, ConnectionError) as lost:
            if not self.dying:
                self.fault = f"{type(self).__name__}: the connection was lost before the kill: {lost!r}"
        except Exception as fault:  # pylint: disable=broad-except
            self.fault = f"{type(self).__name__}: {fault!r}"


class Writer(Client):
    """Up to `depth` pipelined writes, each to another id."""

    def __init__(self, keys, *args):
        super().__init__(*args)
        self.keys, self.depth = keys, self.rng.randint(1, PIPELINE_MAX)

    def turn(self, sock):
        batch, text = self.rng.sample(sorted(self.keys), self.depth), b""
        for ident in batch:
            text += self.request(ident)
        sock.sendall(text)
        pending = b""
        for ident in batch:
            reply, pending = read_reply(sock, pending=pending)
            self.check(reply, ident)
            self.keys[ident].answered()
            self.counter.add(revision_of(reply))
        assert not pending, pending

    def request(self, ident):
        key = self.keys[ident]
        if self.rng.random() < 0.1:
            key.sent.append(None)
            return f"DELETE /kept/{ident} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        seq = key.next_seq()
        key.sent.append(seq)
        body = record_of(ident, seq, self.rng)
        return f"PUT /kept/{ident} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()

    def check(self, reply, ident):
        """Nobody else writes this id, so the status says exactly what was there."""
        absent, deletes = self.keys[ident].settled is None, self.keys[ident].sent[0] is None
        wanted = {(False, False): 200, (True, False): 201, (False, True): 200, (True, True): 404}[absent, deletes]
        assert reply.status == wanted, f"{ident}: {wanted} was due, got {reply}"


class Type:
    """A type that comes and goes. `version` 0: it is not there. Its records are 0 to n - 1, so their number says which."""

    def __init__(self, name):
        self.name, self.version, self.records, self.lives = name, 0, 0, 0
        self.sent = []  # what (version, records) may be as well, after writes that were not answered

    def settle(self, version, records):
        self.version, self.records, self.sent = version, records, []


def type_schema(of, version):
    """Never the same text twice."""
    return json.dumps({"type": "record", "name": "T", "doc": f"{of.name}/{of.lives}/{version}", "fields": [
        {"name": "n", "type": "int"}]})


class Registrar(Client):
    """Registers types and versions, fills them and drops them, so that something dead is always on its way out."""

    def __init__(self, types, *args):
        super().__init__(*args)
        self.types = types

    def turn(self, sock):
        of = self.rng.choice(self.types)
        if not of.version:
            of.lives += 1
            self.change(sock, of, f"/putschema/{of.name}?compatibility=none", type_schema(of, 1), (1, 0))
        else:
            self.rng.choice([self.fill, self.fill, self.new_version, self.drop])(sock, of)

    def change(self, sock, of, target, body, leads_to):
        of.sent = [leads_to]
        sock.sendall(f"POST {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        reply, pending = read_reply(sock)
        assert reply.status == 200 and not pending, f"{target}: {reply}"
        of.settle(*leads_to)
        self.counter.add(revision_of(reply))

    def new_version(self, sock, of):
        version = of.version + 1
        self.change(sock, of, f"/putschema/{of.name}", type_schema(of, version), (version, of.records))

    def drop(self, sock, of):
        self.change(sock, of, f"/delschema/{of.name}", "", (0, 0))

    def fill(self, sock, of):
        """Writes of a connection reach the store in their order, so what is there is a beginning of what was sent."""
        n, text, pending = self.rng.choice([1, 10, BULK_MAX]), "", b""
        total = of.records + n
        of.sent = [(of.version, records) for records in range(of.records + 1, total + 1)]
        for i in range(of.records, total):
            body = '{"n":%d}' % i
            text += f"PUT /{of.name}/{i} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        sock.sendall(text.encode())
        for _ in range(n):
            reply, pending = read_reply(sock, pending=pending)
            assert reply.status == 201, f"{of.name}/{of.records}: {reply}"
            of.settle(of.version, of.records + 1)
            of.sent = [(of.version, records) for records in range(of.records + 1, total + 1)]
            self.counter.add(revision_of(reply))


class Bundle:
    """Records of two types that are only ever written together. Their seq is the number of the transaction: `settled`, the
    last one that was answered, or `sent`, the one behind it."""

    def __init__(self, name):
        self.name, self.settled, self.sent = name, 0, 0

    def places(self):
        """type, id; the last is there after odd transactions only, the one before it is long."""
        return [(("left", "right")[i % 2], f"{self.name}-{i}") for i in range(BUNDLE_PUTS + 3)]

    def operations(self, seq, rng):
        *puts, counted, padded, blinking = self.places()
        ops = [{"op": "put", "type": t, "id": i, "record": {"seq": seq, "pad": "x" * rng.randrange(PAD_MAX)}} for t, i in puts]
        for t, i in (counted, padded) if seq == 1 else ():
            ops.append({"op": "put", "type": t, "id": i, "record": {"pad": "y" * (PAD_LONG if i == padded[1] else 0)}})
        ops.append({"op": "patch", "type": counted[0], "id": counted[1], "patch": [
            {"op": "test", "path": "/seq", "value": seq - 1}, {"op": "increment", "path": "/seq", "by": 1}]})
        ops.append({"op": "patch", "type": padded[0], "id": padded[1], "merge": {"seq": seq}})
        last = {"type": blinking[0], "id": blinking[1]}
        ops.append({"op": "put", **last, "record": {"seq": seq}} if seq % 2 else {"op": "delete", **last})
        if seq > 1:
            rng.shuffle(ops)
        if seq > 1:
            rng.shuffle(ops)
        return ops


class Transactor(Client):
    """Transactions on a bundle, one after the other."""

    def __init__(self, bundle, *args):
        super().__init__(*args)
        self.bundle = bundle

    def turn(self, sock):
        b = self.bundle
        b.sent = b.settled + 1
        body = json.dumps({"operations": b.operations(b.sent, self.rng)})
        sock.sendall(f"POST /_txn HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        reply, pending = read_reply(sock)
        assert reply.status == 200 and not pending, reply
        b.settled = b.sent
        self.counter.add(reply.json()["revision"])


class Counted:
    """A record to which one is added under a key, again and again. `sent`: the last one was not answered."""

    def __init__(self, name):
        self.name, self.done, self.sent = name, 0, False

    def request(self, number):
        body = '[{"op":"increment","path":"/n","by":1}]'
        return (f"PATCH /counted/{self.name} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json-patch+json\r\n"
                f"Idempotency-Key: {self.name}-{number}\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode()


class Retrier(Client):
    """Adds one, and now and then sends an earlier one again, which must not count."""

    def __init__(self, counted, *args):
        super().__init__(*args)
        self.counted = counted

    def turn(self, sock):
        of = self.counted
        number, again = of.done + 1, self.rng.randint(1, of.done) if of.done and self.rng.random() < 0.3 else 0
        of.sent = True
        sock.sendall(of.request(number) + (of.request(again) if again else b""))
        reply, pending = read_reply(sock)
        assert reply.status == 200 and not reply.header("Idempotency-Replayed"), reply
        of.done, of.sent = number, False
        self.counter.add(revision_of(reply))
        if again:
            reply, pending = read_reply(sock, pending=pending)
            assert reply.status == 200 and reply.header("Idempotency-Replayed") == "true", reply
        assert not pending, pending


def revision_of(reply):
    found = re.match(r'"(\d+)-', reply.header("ETag") or "")
    return int(found.group(1)) if found else 0


def used_bytes(server):
    return float(re.search(r"^avrod_store_used_bytes (\S+)$", server.get("/metrics").body.decode(), re.M).group(1))


def read_back(server, keys):
    """ident -> (seq or None, revision), all over one connection."""
    found, idents, each = {}, list(keys), 40
    with server.connect() as sock:
        for at in range(0, len(idents), each):
            pending = b""
            sock.sendall("".join(f"GET /kept/{ident} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" for ident in idents[at:at + each]).encode())
            for ident in idents[at:at + each]:
                reply, pending = read_reply(sock, pending=pending)
                found[ident] = whole_record(ident, reply)
            assert not pending, pending
    return found


def whole_record(ident, reply):
    assert reply.status in (200, 404), f"{ident}: {reply}"
    if reply.status == 404:
        return None, 0
    record = reply.json()
    assert record["id"] == ident, f"{ident}: {record}"
    assert record["sum"] == checksum(ident, record["seq"], record["pad"]), f"{ident} is not whole: {record}"
    return record["seq"], revision_of(reply)


class Kept:
    """A store that is killed again and again, and what is known of it."""

    def __init__(self, mode):
        self.mode, self.kills, self.answers, self.lost, self.highest, self.replayed = mode, 0, 0, 0, 0, 0
        self.keys = [{f"w{n}-{i}": Key() for i in range(IDS)} for n in range(WRITERS)]
        self.everything = {ident: key for one in self.keys for ident, key in one.items()}
        self.types = [Type(f"t{i}") for i in range(TYPES)]
        self.bundles = [Bundle(f"b{i}") for i in range(BUNDLES)]
        self.counted = [Counted(f"c{i}") for i in range(COUNTED)]
        self.server = Server("--durability", mode, "--write-deadline", "5s")  # and ten later what is dead goes
        reply = self.server.post("/putschema/kept", SCHEMA)
        assert reply.status == 200, reply
        for name, schema in BUNDLE_SCHEMAS.items():
            assert self.server.post(f"/putschema/{name}", schema).status == 200
        schema = '{"type":"record","name":"C","fields":[{"name":"n","type":"long"}]}'
        assert self.server.post("/putschema/counted", schema).status == 200
        for of in self.counted:
            assert self.server.put(f"/counted/{of.name}", body='{"n":0}').status == 201

    def kill(self, rng):
        counter = Counter()
        clients = [Writer(keys, self.server.port, counter, rng.getrandbits(64)) for keys in self.keys]
        clients.append(Registrar(self.types, self.server.port, counter, rng.getrandbits(64)))
        clients += [Transactor(b, self.server.port, counter, rng.getrandbits(64)) for b in self.bundles]
        clients += [Retrier(of, self.server.port, counter, rng.getrandbits(64)) for of in self.counted]
        answers = rng.randrange(1, rng.choice(ANSWERS))
        for client in clients:
            client.start()
        try:
            counter.wait_for(answers, clients)
            time.sleep(rng.random() * 0.003)  # somewhere within a commit; nothing depends on where
        finally:
            for client in clients:
                client.dying = True
            self.server.kill()
            for client in clients:
                client.join()
        for client in clients:
            assert client.fault is None, client.fault
        self.kills += 1
        self.answers += counter.value
        self.lost += sum(len(key.sent) for key in self.everything.values()) + sum(len(of.sent) for of in self.types)
        self.highest = max(self.highest, counter.revision)

    def check(self):
        listed = {entry["name"]: entry for entry in self.server.get("/schemas").json()}
        self.check_records(listed["kept"]["records"])
        for of in self.types:
            self.check_type(of, listed.get(of.name))
        for bundle in self.bundles:
            self.check_bundle(bundle)
        self.check_counted()
        self.check_new_revision()

    def check_bundle(self, bundle):
        """No transaction is torn."""
        found = []
        for type_name, ident in bundle.places():
            reply = self.server.get(f"/{type_name}/{ident}")
            assert reply.status in (200, 404), reply
            found.append(reply.json()["seq"] if reply.status == 200 else None)
        seq = found[0] or 0
        wanted = [seq or None] * (len(found) - 1) + [seq if seq % 2 else None]
        assert seq in (bundle.settled, bundle.sent), f"{bundle.name}: found {seq}, answered {bundle.settled}"
        assert found == wanted, f"{bundle.name} is torn: {found}, answered {bundle.settled}"
        bundle.settled = bundle.sent = seq

    def check_records(self, count):
        found = read_back(self.server, self.everything)
        for ident, key in self.everything.items():
            seq, _ = found[ident]
            assert seq in key.possible(), f"{ident}: found {seq}, answered {key.settled}, unanswered {key.sent}"
            key.settled, key.sent = seq, []
        present = sum(seq is not None for seq, _ in found.values())
        assert count == present, f"/schemas says {count}, there are {present}"
        self.highest = max([self.highest] + [revision for _, revision in found.values()])

    def check_type(self, of, entry):
        found = (entry["version"], entry["records"]) if entry else (0, 0)
        possible = [(of.version, of.records)] + of.sent
        assert found in possible, f"{of.name}: found {found}, possible {possible[:3]} ..."
        of.settle(*found)
        if not of.version:
            assert self.server.get(f"/{of.name}/0").status == 404
            return
        reply = self.server.get(f"/getschema/{of.name}")
        assert reply.json()["doc"] == f"{of.name}/{of.lives}/{of.version}", reply
        for ident, there in (of.records - 1, True), (of.records, False):
            if ident >= 0:
                reply = self.server.get(f"/{of.name}/{ident}")
                assert (reply.status != 404) == there, f"{of.name}/{ident} of {of.records}: {reply}"

    def check_counted(self):
        """What was not answered is sent again, and is done once, whether or not it had been."""
        for of in self.counted:
            if of.sent:
                with self.server.connect() as sock:
                    sock.sendall(of.request(of.done + 1))
                    reply, _ = read_reply(sock)
                assert reply.status == 200, reply
                self.replayed += reply.header("Idempotency-Replayed") == "true"
                of.done, of.sent = of.done + 1, False
            reply = self.server.get(f"/counted/{of.name}")
            assert reply.json()["n"] == of.done, f"{of.name}: {of.done} were done once, and it is {reply}"

    def check_new_revision(self):
        """Revisions go on above all that were ever answered or kept."""
        reply = self.server.put("/kept/revision", body=record_of("revision", 1, random.Random(0)))
        assert revision_of(reply) > self.highest, f"revision {revision_of(reply)} after {self.highest}"
        assert self.server.delete("/kept/revision").status == 200

    def check_space(self):
        """What was replaced, and bodies that a kill cut off, go; what is left is what is there."""
        there = sum(entry["bytes"] for entry in self.server.get("/schemas").json())
        until = time.monotonic() + 60
        while used_bytes(self.server) > 2 * there + SPARE_BYTES:
            assert time.monotonic() < until, f"{used_bytes(self.server)} bytes are used for {there}"
            time.sleep(0.1)

    def said(self):
        return (f"{self.mode}: {self.kills} kills, {self.answers} answered writes all kept, {self.lost} in flight at the kills, "
                f"{self.replayed} of those that were sent again had been done")


def run(kills, rng):
    started, stores = time.monotonic(), [Kept(mode) for mode in MODES]
    try:
        for i in range(kills):
            store = stores[i % len(stores)]
            store.kill(rng)
            store.server.fsck()
            store.server.start()
            store.check()
            if (i + 1) % 1000 == 0:
                print(f"{i + 1} kills, {(i + 1) * 60 / (time.monotonic() - started):.0f} a minute", flush=True)
        for store in stores:
            store.server.restart()
            store.check()
            store.check_space()
            store.server.stop()
            store.server.fsck()
            print(store.said(), flush=True)
    finally:
        for store in stores:
            store.server.__exit__(None, None, None)
    print(f"{kills} kills, {kills * 60 / (time.monotonic() - started):.0f} a minute")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--long", type=int, metavar="KILLS", default=KILLS)
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    run(args.long, random.Random(args.seed))
    print("ok")


if __name__ == "__main__":
    main()
