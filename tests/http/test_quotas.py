"""tests/http/test_quotas.py - quotas of the file of --access (docs/access.md): requests and bytes a second, of addresses, users, groups;
connections of an address. How exact they are is tests/unit/server/test_quota.c, on a clock of its own: here a quota is used up by asking
until it is refused, and what was let in is compared with the time that has passed."""

import base64
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import tempfile
import time

from avrod import Reply, Server, read_all, read_reply
from edge import HOST, split_replies

ALL = "admin = *\n"
SCHEMA = b'{"type":"record","name":"R","fields":[{"name":"s","type":"string","default":""}]}'


class Limited:
    """A server with a file of --access and a token for each of these users, which is `token-NAME`."""

    def __init__(self, access, users=(), options=()):
        self.dir = tempfile.mkdtemp(prefix="avrod-test-")
        with open(os.path.join(self.dir, "tokens"), "w", encoding="ascii") as f:
            for user in users:
                f.write(f"{user}:{hashlib.sha256(f'token-{user}'.encode()).hexdigest()}\n")
        self.write(access)
        try:
            self.server = Server("--access", self.path("access"), "--tokens", self.path("tokens"), *options)
        except BaseException:
            shutil.rmtree(self.dir)
            raise

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, access):
        with open(self.path("access"), "w", encoding="ascii") as f:
            f.write(access)

    def reload(self, access):
        self.write(access)
        lines = self.server.read_log().count("users and rights")
        self.server.process.send_signal(signal.SIGHUP)
        until(lambda: self.server.read_log().count("users and rights") > lines)

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *how):
        try:
            self.server.__exit__(*how)
        finally:
            shutil.rmtree(self.dir)

    def connect(self, address="127.0.0.1"):
        return socket.create_connection(("127.0.0.1", self.server.port), timeout=60, source_address=(address, 0))

    def ask(self, target="/ping", user=None, method="GET", body=None, address="127.0.0.1", **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if user:
            headers["Authorization"] = f"Bearer token-{user}"
        c = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60, source_address=(address, 0))
        try:
            c.request(method, target, body=body, headers=headers)
            r = c.getresponse()
            return Reply(r.status, r.getheaders(), r.read(), r.version)
        finally:
            c.close()

    def use_up(self, burst, per_second=1, **how):
        """Ask until it is refused, and see that as much was let in as the time allows. The refusal."""
        begun, taken = time.monotonic(), 0
        while True:
            reply = self.ask(**how)
            if reply.status == 429:
                assert burst <= taken <= burst + 1 + per_second * (time.monotonic() - begun), taken
                return refused(reply)
            assert reply.status == 200, reply
            taken += 1

    def metric(self, name, address):
        text = self.ask("/metrics", address=address).body.decode()
        return int(re.search(rf"^{name} (\d+)$", text, re.M).group(1))


def until(check):
    deadline = time.monotonic() + 60
    while not check():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.01)


def refused(reply, code="too_many_requests"):
    assert reply.status == 429 and re.fullmatch("[1-9][0-9]*", reply.header("Retry-After")), reply
    problem = reply.json()
    assert problem["code"] == code and problem["status"] == 429, reply
    return reply


# ---- addresses ----


def test_an_address_may_ask_so_often():
    with Limited("[anonymous]\n" + ALL + "[address]\nrequests_per_second = 1\nrequests_burst = 8\n") as s:
        reply = s.use_up(8)
        assert reply.json()["detail"].startswith("This address may have 1 requests a second"), reply
        assert reply.header("Retry-After") == "1"
        assert s.ask(address="127.0.0.2").status == 200, "another is another"
        until(lambda: s.ask().status == 200)
        # health checks are not counted, unless somebody tries credentials by them
        s.use_up(0)
        for _ in range(20):
            assert s.ask("/healthz").status == 200 and s.ask("/readyz").status == 200
        s.use_up(0)
        assert s.ask("/healthz", Authorization="Bearer x").status == 429
        assert s.metric("avrod_http_quota_refused_total", "127.0.0.3") >= 3


def test_it_is_refused_before_anything_else_is_looked_at():
    with Limited("[anonymous]\n" + ALL + "[address]\nrequests_per_second = 1\nrequests_burst = 3\n", ["ada"]) as s:
        s.use_up(3)
        # wrong credentials are not even looked at
        replies = [s.ask(Authorization="Basic " + base64.b64encode(b"ada:guess").decode()) for _ in range(5)]
        assert [r.status for r in replies].count(429) >= 4, replies
        assert all(r.json()["code"] in ("too_many_requests", "unauthorized") for r in replies), replies
        # the registry's API in its own form
        registry = [s.ask("/subjects") for _ in range(3)][-1]
        assert registry.status == 429 and registry.json()["error_code"] == 429, registry
        assert registry.header("Retry-After") == "1"
        # no 100 for a body that will not be taken; and a body that comes is passed over
        with s.connect() as c:
            c.sendall(b"PUT /r/1 HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\n")
            reply, _ = read_reply(c)
            assert reply.status in (404, 429), reply
        with s.connect() as c:
            c.sendall(b"PUT /r/1 HTTP/1.1\r\n" + HOST + b"Content-Length: 9\r\n\r\nGET /ping" +
                      b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
            replies = split_replies(read_all(c))
            assert [r.status for r in replies] == [429, 200] or replies[0].status == 404, replies


def test_each_of_a_connection_counts():
    with Limited("[anonymous]\n" + ALL + "[address]\nrequests_per_second = 1\nrequests_burst = 12\n") as s:
        assert s.ask("/putschema/r", method="POST", body=SCHEMA, address="127.0.0.2").status == 200
        begun = time.monotonic()
        with s.connect() as c:
            puts = b"".join(b"PUT /r/%d HTTP/1.1\r\n" % i + HOST + b"Content-Length: 2\r\n\r\n{}" for i in range(40))
            c.sendall(puts + b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
            replies = split_replies(read_all(c))
        statuses = [r.status for r in replies]
        let_in = statuses.count(201)
        assert 12 <= let_in <= 13 + time.monotonic() - begun and statuses[:12] == [201] * 12, statuses
        assert statuses[-1] == 200 and statuses.count(429) == 40 - let_in, statuses
        stored = s.ask("/r?keys=1", address="127.0.0.2").body.decode().splitlines()
        assert sorted(json.loads(line)["id"] for line in stored) == \
            sorted(str(i) for i in range(40) if statuses[i] == 201), "what was refused is not there"


def test_unix_sockets_have_no_address():
    directory = tempfile.mkdtemp(prefix="avrod-test-")
    try:
        where = os.path.join(directory, "s")
        access = "[anonymous]\n" + ALL + "[address]\nrequests_per_second = 1\nrequests_burst = 1\nconnections = 1\n"
        with Limited(access, options=["--listen", f"127.0.0.1:0,unix:{where}"]):
            kept = []
            for _ in range(10):
                c = socket.socket(socket.AF_UNIX)
                kept.append(c)
                c.connect(where)
                c.sendall(b"GET /ping HTTP/1.1\r\n" + HOST + b"\r\n")
                assert read_reply(c)[0].status == 200
            for c in kept:
                c.close()
    finally:
        shutil.rmtree(directory)


# ---- users and groups ----


def test_users_and_groups():
    access = ("[anonymous]\n" + ALL + "requests_per_second = 1\nrequests_burst = 4\n"
              "[authenticated]\nrequests_per_second = 1\nrequests_burst = 5\n"
              "[user ada]\n" + ALL + "requests_per_second = 1\nrequests_burst = 6\n"
              "[group team]\nmembers = bob, cy\nrequests_per_second = 1\nrequests_burst = 3\n")
    with Limited(access, ["ada", "bob", "cy", "dora", "emil"]) as s:
        reply = s.use_up(4)
        assert reply.json()["detail"].startswith("Those who do not say who they are may have 1 requests"), reply
        assert s.ask(address="127.0.0.2").status == 429, "all of them together, wherever they are"
        reply = s.use_up(6, user="ada")
        assert reply.json()["detail"].startswith("This user may have 1 requests a second"), reply
        reply = s.use_up(3, user="bob")
        assert reply.json()["detail"].startswith("A group of this user's may have"), reply
        s.use_up(0, user="cy")  # what bob has taken
        s.use_up(5, user="dora")
        s.use_up(5, user="emil")  # who is another than dora
        # whom nobody knows is no user with a quota
        assert s.ask(Authorization="Bearer token-nobody").status == 401


def test_bytes():
    access = ("[anonymous]\n" + ALL + "[user ada]\n" + ALL + "bytes_per_second = 1KiB\nbytes_burst = 8KiB\n"
              "[user bob]\n" + ALL + "[address]\nbytes_per_second = 1GiB\n")
    with Limited(access, ["ada", "bob"]) as s:
        assert s.ask("/putschema/r", method="POST", body=SCHEMA).status == 200
        body = json.dumps({"s": "x" * 100000}).encode()
        assert s.ask("/r/1", user="ada", method="PUT", body=body).status == 201, "there was something left"
        reply = refused(s.ask(user="ada"))
        assert "may have 1024 bytes of bodies and answers a second" in reply.json()["detail"], reply
        assert 60 <= int(reply.header("Retry-After")) <= 90, reply
        assert s.ask("/r/1", user="bob").body == s.ask("/r/1").body  # others do not pay
    with Limited(access, ["ada", "bob"]) as s:
        assert s.ask("/putschema/r", method="POST", body=SCHEMA).status == 200
        for i in range(20):
            assert s.ask(f"/r/{i}", user="bob", method="PUT", body=body).status == 201
        assert s.ask("/r", user="ada").body.count(b"\n") == 20  # a stream goes out to its end ...
        reply = refused(s.ask(user="ada"))  # ... and is paid for behind that
        assert int(reply.header("Retry-After")) > 1500, reply


def test_a_reload_keeps_what_has_not_changed():
    access = ("[anonymous]\n" + ALL + "[authenticated]\nrequests_per_second = 1\nrequests_burst = 5\n"
              "[user ada]\n" + ALL + "requests_per_second = 1\nrequests_burst = {}\n"
              "[address]\nrequests_per_second = {}\nrequests_burst = 100\n")
    with Limited(access.format(20, 1), ["ada", "dora"]) as s:
        s.use_up(20, user="ada")
        s.use_up(5, user="dora")
        s.reload(access.format(20, 50))
        s.use_up(0, user="ada")
        s.use_up(0, user="dora")
        s.reload(access.format(10, 50))
        s.use_up(10, user="ada")  # other limits begin anew
        s.reload("[anonymous]\n" + ALL + "[user ada]\n" + ALL + "[authenticated]\n" + ALL)
        for _ in range(120):
            assert s.ask(user="ada").status == 200, "nobody is limited any more"


# ---- connections ----


def open_one(s, address):
    """A connection that is taken, or the refusal."""
    c = s.connect(address)
    try:
        c.sendall(b"GET /ping HTTP/1.1\r\n" + HOST + b"\r\n")
        reply, _ = read_reply(c)
    except ConnectionError:  # it was closed before we could ask
        c.close()
        return None, None
    if reply.status == 200:
        return c, reply
    c.close()
    return None, reply


def test_connections_of_an_address():
    access = "[anonymous]\n" + ALL + "[address]\nconnections = {}\n"
    with Limited(access.format(3)) as s:
        kept = [open_one(s, "127.0.0.9")[0] for _ in range(3)]
        assert all(kept)
        answers = []
        for _ in range(20):
            c, reply = open_one(s, "127.0.0.9")
            assert c is None
            answers.append(reply)
        for reply in filter(None, answers):
            refused(reply)
            assert reply.header("Connection") == "close"
            assert reply.json()["detail"].startswith("3 connections from this address are open"), reply
        assert any(answers), "none was told why"
        c, _ = open_one(s, "127.0.0.8")
        assert c, "another address has its own"
        c.close()
        kept.pop().close()

        def one_more():
            c, _ = open_one(s, "127.0.0.9")
            kept.extend([c] if c else [])
            return c

        until(one_more)
        assert open_one(s, "127.0.0.9")[0] is None
        assert s.metric("avrod_http_address_connections_refused_total", "127.0.0.7") >= 21
        s.reload(access.format(5))
        kept += [open_one(s, "127.0.0.9")[0] for _ in range(2)]
        assert all(kept) and open_one(s, "127.0.0.9")[0] is None
        s.reload("[anonymous]\n" + ALL)
        more = [open_one(s, "127.0.0.9")[0] for _ in range(20)]
        assert all(more)
        s.reload(access.format(5))  # those that were opened meanwhile count, too
        assert open_one(s, "127.0.0.9")[0] is None
        for c in kept + more:
            c.close()
        until(lambda: open_one(s, "127.0.0.9")[0])


def test_many_addresses_come_and_go():
    """The table of connections finds each of them again."""
    with Limited("[anonymous]\n" + ALL + "[address]\nconnections = 2\n") as s:
        for round_ in range(3):
            kept = {}
            for i in range(200):
                address = f"127.2.{round_}.{1 + i}"
                kept[address] = [open_one(s, address)[0], open_one(s, address)[0]]
                assert all(kept[address]), address
            for address in kept:
                assert open_one(s, address)[0] is None, address
            for address, two in kept.items():
                two.pop().close()

                def again():
                    c, _ = open_one(s, address)
                    two.extend([c] if c else [])
                    return c

                until(again)
            for two in kept.values():
                for c in two:
                    c.close()


def main():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name)
    print("ok")


if __name__ == "__main__":
    main()
