"""tests/crash/test_kill.py - kill -9 under a load of puts and deletes at random moments: whatever was answered is there
after the restart, whole; what was not answered is there whole or not at all; counts are exact; nothing needs repair.

    test_kill.py [--seed N] [--long KILLS]     KILLS in every durability mode instead of 20 in sync and 5 in the others"""

import argparse
import json
import random
import re
import socket
import threading
import time
import zlib

from avrod import Server, read_reply, records_of

WRITERS, IDS, PIPELINE_MAX = 6, 40, 8
ANSWERS_MAX = 300  # before a kill
PAD_MAX = 3500
PAD_LONG = 20000  # in chunks
SCHEMA = json.dumps({"type": "record", "name": "Kept", "fields": [
    {"name": "id", "type": "string"}, {"name": "seq", "type": "long"}, {"name": "pad", "type": "string"},
    {"name": "sum", "type": "long"}]})


def checksum(ident, seq, pad):
    return zlib.crc32(f"{ident}/{seq}/{pad}".encode())


def record_of(ident, seq, rng):
    pad = "".join(rng.choices("abcdefghijklmnop", k=rng.choice([0, 10, 100, rng.randrange(PAD_MAX), rng.randrange(PAD_LONG)])))
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


class Writer(threading.Thread):
    """One connection with up to `depth` pipelined writes, each to another id, until the connection is lost."""

    def __init__(self, number, keys, port, counter, seed):
        super().__init__()
        self.number, self.keys, self.port, self.counter = number, keys, port, counter
        self.rng = random.Random(seed)
        self.depth = self.rng.randint(1, PIPELINE_MAX)
        self.fault, self.dying = None, False

    def run(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as sock:
                while True:
                    self.batch(sock)
        except (EOFError, ConnectionError) as lost:
            if not self.dying:
                self.fault = f"writer {self.number}: the connection was lost before the kill: {lost!r}"
        except Exception as fault:  # pylint: disable=broad-except
            self.fault = f"writer {self.number}: {fault!r}"

    def batch(self, sock):
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


def revision_of(reply):
    found = re.match(r'"(\d+)-', reply.header("ETag") or "")
    return int(found.group(1)) if found else 0


def read_back(server, keys):
    """ident -> (seq or None, revision), all over one connection."""
    found = {}
    with server.connect() as sock:
        for ident in keys:
            sock.sendall(f"GET /kept/{ident} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            reply, pending = read_reply(sock)
            assert not pending and reply.status in (200, 404), f"{ident}: {reply}"
            if reply.status == 404:
                found[ident] = None, 0
                continue
            record = reply.json()
            assert record["id"] == ident, f"{ident}: {record}"
            assert record["sum"] == checksum(ident, record["seq"], record["pad"]), f"{ident} is not whole: {record}"
            found[ident] = record["seq"], revision_of(reply)
    return found


def check_store(server, keys, highest_answered):
    found = read_back(server, keys)
    for ident, key in keys.items():
        seq, _ = found[ident]
        assert seq in key.possible(), f"{ident}: found {seq}, answered {key.settled}, unanswered {key.sent}"
        key.settled, key.sent = seq, []
    present = sum(seq is not None for seq, _ in found.values())
    assert records_of(server, "kept") == present, f"/schemas says {records_of(server, 'kept')}, there are {present}"
    return max([highest_answered] + [revision for _, revision in found.values()])


def one_kill(server, keys, rng):
    counter = Counter()
    writers = [Writer(n, keys[n], server.port, counter, rng.getrandbits(64)) for n in range(WRITERS)]
    answers = rng.randrange(1, ANSWERS_MAX)
    for writer in writers:
        writer.start()
    try:
        counter.wait_for(answers, writers)
        time.sleep(rng.random() * 0.003)  # somewhere within a commit; nothing depends on where
    finally:
        for writer in writers:
            writer.dying = True
        server.kill()
        for writer in writers:
            writer.join()
    for writer in writers:
        assert writer.fault is None, writer.fault
    return counter


def check_new_revision(server, highest):
    """Revisions go on above all that were ever answered or kept."""
    reply = server.put("/kept/revision", body=record_of("revision", 1, random.Random(0)))
    assert revision_of(reply) > highest, f"revision {revision_of(reply)} after {highest}"
    assert server.delete("/kept/revision").status == 200


def check_mode(mode, kills, rng):
    started, total, lost, highest = time.monotonic(), 0, 0, 0
    keys = [{f"w{n}-{i}": Key() for i in range(IDS)} for n in range(WRITERS)]
    everything = {ident: key for one in keys for ident, key in one.items()}
    with Server("--durability", mode) as server:
        reply = server.post("/putschema/kept", SCHEMA)
        assert reply.status == 200, reply
        for _ in range(kills):
            counter = one_kill(server, keys, rng)
            total += counter.value
            lost += sum(len(key.sent) for key in everything.values())
            server.start()
            highest = check_store(server, everything, max(highest, counter.revision))
            check_new_revision(server, highest)
        server.restart()
        check_store(server, everything, highest)
    print(f"{mode}: {kills} kills, {total} answered writes all kept, {lost} in flight at the kills,"
          f" {time.monotonic() - started:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--long", type=int, metavar="KILLS")
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    rng = random.Random(args.seed)
    for mode, kills in ("sync", 20), ("async", 5), ("none", 5):
        check_mode(mode, args.long or kills, rng)
    print("ok")


if __name__ == "__main__":
    main()
