"""tests/crash/test_linear.py - many connections write the same few records, on conditions, by increments and in transactions,
and kill -9 comes in between. What they were answered, and what is there after the restart, must be what one record,
changed by one write after the other, would have shown (tests/lib/linear.py); transfers between accounts never change the
sum; and an increment that is sent again with its Idempotency-Key counts once.

    test_linear.py [--seed N] [--kills N] [--ops N]     N operations of all connections together before each kill"""

import argparse
import json
import random
import socket
import threading
import time

from avrod import Server, read_reply, sanitized
from linear import Op, explain

CLIENTS, REGISTERS, ACCOUNTS, COUNTERS = 8, 3, 4, 2
BALANCE, AMOUNT_MAX = 100, 30
KILLS, OPS = 6, 1500
SCHEMA = json.dumps({"type": "record", "name": "Counted", "fields": [
    {"name": "n", "type": "long", "default": 0}, {"name": "by", "type": "string", "default": ""}]})
ABSENT = (None, None, None)  # a register's state: revision, n, by. A revision "> r" is one that nobody was told yet


def is_after(revision, state_revision):
    """May this revision come next?"""
    if state_revision is None:
        return True
    bound = state_revision[1] if isinstance(state_revision, tuple) else state_revision
    return revision > bound


def unknown_after(revision):
    """The revision of a write whose answer was lost."""
    if revision is None:
        return (">", 0)
    return revision if isinstance(revision, tuple) else (">", revision)


def has_revision(state, revision):
    return state[0] == revision or isinstance(state[0], tuple) and revision > state[0][1]


class Register:
    """What operations on one record do to its state, and what their answers say of it. A state keeps the revision of a record
    that is gone, for the order."""

    @staticmethod
    def write(revision, allowed, change):
        """A write that was answered with this revision (None: not answered), where `allowed` and what it makes of the record."""
        def step(state):
            if not allowed(state) or revision is not None and not is_after(revision, state[0]):
                return None
            return (revision if revision is not None else unknown_after(state[0]), *change(state))
        return step

    @staticmethod
    def sees(revision, n, by):
        def step(state):
            return (revision, n, by) if state[1:] == (n, by) and has_revision(state, revision) else None
        return step

    @staticmethod
    def sees_revision(revision):
        def step(state):
            return (revision, *state[1:]) if state[1] is not None and has_revision(state, revision) else None
        return step

    @staticmethod
    def sees_nothing(state):
        return state if state[1] is None else None


def is_there(state):
    return state[1] is not None


def is_absent(state):
    return state[1] is None


def body_of(n, by):
    return json.dumps({"n": n, "by": by})


def revision_of(reply):
    return int(reply.header("ETag").strip('"').split("-")[0])


class Client(threading.Thread):
    """One connection: one operation after the other, until it is lost."""

    def __init__(self, name, port, rng, history, budget):
        super().__init__()
        self.name, self.port, self.rng, self.history, self.budget = name, port, rng, history, budget
        self.fault, self.dying, self.n, self.tags, self.retries = None, False, 0, {}, []

    def run(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as self.sock:
                while True:
                    self.rng.choice([self.read, self.read, self.put, self.create, self.swap, self.swap, self.increment,
                                     self.increment, self.delete, self.transfer, self.transfer, self.count])()
                    self.budget.take()
        except (EOFError, ConnectionError) as lost:
            if not self.dying:
                self.fault = f"{self.name}: the connection was lost before the kill: {lost!r}"
        except Exception as fault:  # pylint: disable=broad-except
            self.fault = f"{self.name}: {fault!r}"

    def call(self, method, target, body="", headers=()):
        text = f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n" + "".join(f"{h}\r\n" for h in headers)
        text += f"Content-Length: {len(body)}\r\n\r\n{body}" if body or method != "GET" else "\r\n"
        self.sock.sendall(text.encode())
        reply, rest = read_reply(self.sock)
        assert not rest, rest
        return reply

    def token(self):
        self.n += 1
        return f"{self.name}.{self.n}"

    def record(self, key, told, unanswered, method, *request):
        """Do it. Its place in the history is taken before it is sent: an answer that never comes leaves `unanswered`."""
        op = Op(unanswered, time.monotonic(), None, None, f"{told} by {self.name}")
        self.history[key].append(op)
        reply = self.call(method, f"/counted/{key}", *request)
        op.returned, op.told = time.monotonic(), f"{op.told}: {reply.status} {reply.header('ETag')}"
        return op, reply

    def wrote(self, key, told, allowed, change, method, *request):
        op, reply = self.record(key, told, Register.write(None, allowed, change), method, *request)
        if reply.status in (200, 201):
            op.order = revision_of(reply)
            op.step = Register.write(op.order, lambda state: allowed(state) and (reply.status == 201) <= is_absent(state), change)
            return True
        if reply.status == 412 and reply.json().get("current"):
            op.step = Register.sees_revision(reply.json()["current"]["revision"])
        elif reply.status in (404, 412):
            op.step = Register.sees_nothing
        else:
            raise AssertionError(f"{told} {key}: {reply}")
        return False

    def register(self):
        return f"r{self.rng.randrange(REGISTERS)}"

    def read(self):
        key = self.register()
        op, reply = self.record(key, "read", lambda state: state, "GET")
        assert reply.status in (200, 404), reply
        if reply.status == 404:
            op.step = Register.sees_nothing
            self.tags.pop(key, None)
            return
        seen = reply.json()
        op.told += f" {seen}"
        op.step = Register.sees(revision_of(reply), seen["n"], seen["by"])
        self.tags[key] = reply.header("ETag")

    def put(self):
        by = self.token()
        n = self.rng.randrange(1000)
        self.wrote(self.register(), f"put {n}", lambda state: True, lambda state: (n, by), "PUT", body_of(n, by))

    def create(self):
        by = self.token()
        self.wrote(self.register(), "create", is_absent, lambda state: (0, by), "PUT", body_of(0, by), ["If-None-Match: *"])

    def swap(self):
        key, by = self.register(), self.token()
        if key not in self.tags:
            self.read()
            return
        tag = self.tags.pop(key)
        revision, n = int(tag.strip('"').split("-")[0]), self.rng.randrange(1000)
        self.wrote(key, f"swap {n} for {tag}", lambda state: is_there(state) and has_revision(state, revision), lambda state: (n, by),
                   "PUT", body_of(n, by), [f"If-Match: {tag}"])

    def delete(self):
        self.wrote(self.register(), "delete", is_there, lambda state: (None, None), "DELETE")

    def increment(self):
        by, step = self.token(), self.rng.randrange(1, 10)
        self.wrote(self.register(), f"increment by {step}", is_there, lambda state: (state[1] + step, by), "PATCH", patch_of(step, by),
                   ["Content-Type: application/json-patch+json"])

    def transfer(self):
        """From one account to another, if it has so much."""
        (giver, taker), amount, by = self.rng.sample(range(ACCOUNTS), 2), self.rng.randrange(1, AMOUNT_MAX), self.token()
        operations = [{"op": "check", "type": "counted", "id": f"a{giver}", "pointer": "/n", "is": ">=", "value": amount}]
        operations += [{"op": "patch", "type": "counted", "id": f"a{who}", "patch": json.loads(patch_of(step, by))}
                       for who, step in ((giver, -amount), (taker, amount))]
        called, key = time.monotonic(), f"a{giver}"
        change = {f"a{giver}": -amount, f"a{taker}": amount}
        allowed = {f"a{giver}": lambda state: state[1] >= amount, f"a{taker}": lambda state: True}
        ops = {key: Op(Register.write(None, allowed[key], lambda state, step=step: (state[1] + step, by)), called, None, None,
                       f"transfer of {step} by {self.name}") for key, step in change.items()}
        for key, op in ops.items():
            self.history[key].append(op)
        reply = self.call("POST", "/_txn", json.dumps({"operations": operations}))
        assert reply.status in (200, 412), reply
        for key, op in ops.items():
            op.returned, op.told = time.monotonic(), f"{op.told}: {reply.status}"
            if reply.status == 200:
                op.order = reply.json()["revision"]
                op.step = Register.write(op.order, allowed[key], lambda state, step=change[key]: (state[1] + step, by))
            elif change[key] < 0:
                op.step = lambda state: state if state[1] < amount else None
            else:
                op.step = lambda state: state

    def count(self):
        """An increment that is sent until it is answered, also after the kill."""
        self.retries.append((f"c{self.rng.randrange(COUNTERS)}", self.token()))
        self.send_count(*self.retries[-1])
        self.retries.pop()

    def send_count(self, key, token):
        reply = self.call("PATCH", f"/counted/{key}", patch_of(1, token),
                          ["Content-Type: application/json-patch+json", f'Idempotency-Key: "{token}"'])
        assert reply.status == 200, reply
        self.history[key].append(token)

    def retry(self):
        """After the restart, and once more: what was answered is answered again."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as self.sock:
            for key, token in self.retries:
                self.send_count(key, token)
                self.send_count(key, token)
                self.history[key].pop()


def patch_of(step, by):
    return json.dumps([{"op": "increment", "path": "/n", "by": step}, {"op": "replace", "path": "/by", "value": by}])


class Budget:
    """How many operations there are to be before the kill."""

    def __init__(self, n):
        self.left, self.changed = n, threading.Condition()

    def take(self):
        with self.changed:
            self.left -= 1
            if self.left <= 0:
                self.changed.notify_all()

    def wait(self, clients):
        with self.changed:
            while self.left > 0:
                before = self.left
                self.changed.wait(60)
                assert self.left < before, f"{self.left} operations are left, and nothing came for a minute"
                for client in clients:
                    assert client.fault is None, client.fault


class Bank:
    """A server that is killed again and again, and what its records were when it was last looked at."""

    def __init__(self):
        self.server, self.ops, self.lost = Server(), 0, 0
        assert self.server.post("/putschema/counted", SCHEMA).status == 200
        for i in range(ACCOUNTS):
            assert self.server.put(f"/counted/a{i}", body_of(BALANCE, "")).status == 201
        for i in range(COUNTERS):
            assert self.server.put(f"/counted/c{i}", body_of(0, "")).status == 201
        self.counts = {f"c{i}": 0 for i in range(COUNTERS)}
        self.keys = [f"r{i}" for i in range(REGISTERS)] + [f"a{i}" for i in range(ACCOUNTS)]
        self.states = {key: self.state_of(key) for key in self.keys}

    def state_of(self, key):
        reply = self.server.get(f"/counted/{key}")
        if reply.status == 404:
            return ABSENT
        return revision_of(reply), reply.json()["n"], reply.json()["by"]

    def epoch(self, number, ops, rng):
        history = {key: [] for key in self.keys + list(self.counts)}
        budget = Budget(ops)
        clients = [Client(f"{number}.{i}", self.server.port, random.Random(rng.getrandbits(64)), history, budget) for i in range(CLIENTS)]
        for client in clients:
            client.start()
        try:
            budget.wait(clients)
            time.sleep(rng.random() * 0.003)  # somewhere within a commit; nothing depends on where
        finally:
            for client in clients:
                client.dying = True
            self.server.kill()
            for client in clients:
                client.join()
        for client in clients:
            assert client.fault is None, client.fault
        self.server.start()
        self.check(history)
        for client in clients:
            client.port = self.server.port
            client.retry()
        self.check_counts(history)

    def check(self, history):
        states = {key: self.state_of(key) for key in self.keys}
        for key in self.keys:
            seen = states[key]
            why = explain(history[key], self.states[key],
                          lambda state: state[1:] == seen[1:] and (seen[0] is None or has_revision(state, seen[0])))
            assert why is None, f"{key}, which is {seen} in the end: {why}"
            self.ops += len(history[key])
            self.lost += sum(op.returned is None for op in history[key])
        total = sum(states[f"a{i}"][1] for i in range(ACCOUNTS))
        assert total == ACCOUNTS * BALANCE, f"the accounts have {total}: a transaction is torn: {states}"
        self.states = states

    def check_counts(self, history):
        for key in self.counts:
            self.counts[key] += len(history[key])
            found = self.server.get(f"/counted/{key}").json()["n"]
            assert found == self.counts[key], f"{key} is {found}, and {self.counts[key]} increments were answered"


def main():
    slow = sanitized()
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--kills", type=int, default=KILLS // 2 if slow else KILLS)
    parser.add_argument("--ops", type=int, default=OPS // 4 if slow else OPS)
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    rng, bank = random.Random(args.seed), Bank()
    with bank.server:
        for number in range(args.kills):
            bank.epoch(number, args.ops, rng)
        print(f"{args.kills} kills, {bank.ops} operations explained, {bank.lost} of them in flight at a kill, "
              f"{sum(bank.counts.values())} increments counted once each")
    print("ok")


if __name__ == "__main__":
    main()
