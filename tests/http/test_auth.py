"""tests/http/test_auth.py - who is asking (docs/access.md): names and passwords, tokens, what is remembered, what waits meanwhile, what failed
logins cost, and how users come and go."""

import base64
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import tls
from avrod import AVROD, Reply, Server, read_all, read_reply, sanitized

HOST = b"Host: localhost\r\n"
SLOW = 8 if sanitized() else 10  # cost of a hash that takes long enough for something to happen meanwhile


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def bcrypt(user, password, cost=4):
    """A line as htpasswd writes it."""
    command = ["htpasswd", "-niB", "-C", str(cost), user]
    return subprocess.run(command, input=password.encode(), capture_output=True, check=True).stdout.decode().strip()


def shacrypt(kind, user, password):
    command = ["openssl", "passwd", f"-{kind}", "-stdin"]
    done = subprocess.run(command, input=password.encode(), capture_output=True, check=True)
    return f"{user}:{done.stdout.decode().strip()}"


def token_line(user, token):
    return f"{user}:{hashlib.sha256(token.encode()).hexdigest()}"


class Files:
    """The files of --passwords and --tokens, in a directory of their own."""

    def __init__(self, passwords=(), tokens=()):
        self.dir = tempfile.mkdtemp(prefix="avrod-test-")
        self.write(passwords, tokens)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, passwords=(), tokens=()):
        for name, lines in (("passwords", passwords), ("tokens", tokens)):
            with open(self.path(name), "w", encoding="utf-8") as f:
                f.writelines(line + "\n" for line in lines)

    def options(self):
        return ["--passwords", self.path("passwords"), "--tokens", self.path("tokens")]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir)


def addresses():
    """Of loopback, each used once: a failed login must not slow the next test."""
    for i in range(65000):
        yield f"127.1.{i // 250}.{1 + i % 250}"


fresh = addresses()


def ask(server, authorization=None, target="/schemas", method="GET", body=None, address=None, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if authorization is not None:
        headers["Authorization"] = authorization
    c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60, source_address=(address or next(fresh), 0))
    try:
        c.request(method, target, body=body, headers=headers)
        r = c.getresponse()
        return Reply(r.status, r.getheaders(), r.read(), r.version)
    finally:
        c.close()


def connect(server, address=None):
    return socket.create_connection(("127.0.0.1", server.port), timeout=60, source_address=(address or next(fresh), 0))


def metric(server, name, authorization):
    text = ask(server, authorization, "/metrics").body.decode()
    return int(re.search(rf"^{name} (\d+)$", text, re.M).group(1))


def verified(server, authorization):
    """How many passwords helpers have looked at."""
    return sum(metric(server, f"avrod_logins_{outcome}_total", authorization) for outcome in ("right", "wrong"))


def head(method, target, authorization=None, length=None, more=b""):
    lines = f"{method} {target} HTTP/1.1\r\n".encode() + HOST + more
    if authorization:
        lines += f"Authorization: {authorization}\r\n".encode()
    if length is not None:
        lines += b"Content-Length: %d\r\n" % length
    return lines + b"\r\n"


def check_unauthorized(reply):
    assert reply.status == 401, reply
    assert reply.json()["code"] == "unauthorized", reply
    assert reply.header("WWW-Authenticate"), reply


# ---- credentials ----


def test_every_kind_of_hash():
    lines = [bcrypt("y", "pass y"), bcrypt("b", "pass b").replace("$2y$", "$2b$"), shacrypt(5, "five", "pass five"),
             shacrypt(6, "six", "pass six"), "yes:$y$j9T$saltsalt$VuCHcCYYVuebTL.IxzSml3z./71e36sys.wEb95cM54"]
    with Files(lines) as files, Server(*files.options()) as s:
        for user, password in (("y", "pass y"), ("b", "pass b"), ("five", "pass five"), ("six", "pass six"), ("yes", "secret")):
            for _ in range(2):
                assert ask(s, basic(user, password)).status == 200, user
        assert metric(s, "avrod_logins_right_total", basic("y", "pass y")) == 5
        check_unauthorized(ask(s, basic("y", "pass b")))
        assert "pass" not in s.read_log()


def test_schemes_and_forms():
    lines = [bcrypt("al", "a:b:c"), bcrypt("zoë", "pässwörd"), bcrypt("long", "x" * 70)]
    with Files(lines, ["# a comment", "", token_line("ci", "t0ken-._~+/=="), token_line("ci", "second")]) as files, \
            Server(*files.options()) as s:
        good = base64.b64encode(b"al:a:b:c").decode()
        for field in (f"Basic {good}", f"basic {good}", f"BASIC   {good}", "Bearer t0ken-._~+/==", "bearer second",
                      basic("zoë", "pässwörd"), basic("long", "x" * 70)):
            assert ask(s, field).status == 200, field
        broken = ["", "Basic", "Basic ", good, f"Basic {good}x", f"Basic {good[:-1]}", f"Basic {good} x", f"Basic\t{good}",
                  "Basic " + base64.b64encode(b"no colon").decode(), "Basic " + base64.b64encode(b":a:b:c").decode(),
                  "Basic " + base64.b64encode(b"al:a:b:c\0").decode(), "Basic " + base64.b64encode(b"al\xff:x").decode(),
                  "Basic " + base64.b64encode(b"al:" + b"x" * 512).decode(), "Basic " + "A" * 8000,
                  "Bearer", "Bearer a b", "Bearer =", "Bearer t\"", "Digest username=al", "Negotiate abc"]
        for field in broken:
            reply = ask(s, field)
            check_unauthorized(reply)
            assert reply.header_all("WWW-Authenticate") == ['Basic realm="avrod", charset="UTF-8"', 'Bearer realm="avrod"'], reply
            assert good.encode() not in reply.body
        reply = ask(s, "Bearer unknown")
        check_unauthorized(reply)
        assert 'Bearer realm="avrod", error="invalid_token"' in reply.header_all("WWW-Authenticate"), reply
        assert "unknown" not in reply.body.decode()


def test_the_field_comes_once():
    with Files([bcrypt("al", "pw")]) as files, Server(*files.options()) as s:
        field = f"Authorization: {basic('al', 'pw')}\r\n".encode()
        answer = s.raw(b"GET /schemas HTTP/1.1\r\n" + HOST + field + field + b"\r\n")
        assert answer.startswith(b"HTTP/1.1 400 "), answer


def test_offers_only_what_can_help():
    with Files([bcrypt("al", "pw")]) as files, Server(*files.options()) as s:
        assert ask(s, "Bearer x").header_all("WWW-Authenticate")[0].startswith("Basic ")
        assert len(ask(s, "Nonsense").header_all("WWW-Authenticate")) == 1
    with Files(tokens=[token_line("ci", "t")]) as files, Server(*files.options()) as s:
        assert ask(s, basic("al", "pw")).header_all("WWW-Authenticate") == ['Bearer realm="avrod"']


def test_registry_has_its_form():
    with Files([bcrypt("al", "pw")]) as files, Server(*files.options()) as s:
        reply = ask(s, basic("al", "no"), "/subjects")
        assert reply.status == 401 and reply.json()["error_code"] == 401, reply
        assert reply.header("Content-Type").startswith("application/vnd.schemaregistry"), reply


def test_unknown_users_are_looked_at_as_long():
    """They take a helper, too. How long it takes is printed, not asserted."""
    lines = [bcrypt("al", "pw", 7), bcrypt("bob", "pw", 7), bcrypt("old", "pw", 4), token_line("ci", "t")]
    with Files(lines[:3], lines[3:]) as files, Server(*files.options()) as s:
        taken = {}
        for i in range(5):
            for user in ("al", "nobody"):
                jobs = verified(s, "Bearer t")
                begun = time.monotonic()
                check_unauthorized(ask(s, basic(user, f"wrong{i}"), "/ping"))
                taken.setdefault(user, []).append(time.monotonic() - begun)
                assert verified(s, "Bearer t") == jobs + 1, user
        print({user: [f"{t * 1000:.1f} ms" for t in times] for user, times in taken.items()})


# ---- files ----


def refused(files):
    """What the server says that does not start."""
    command = [AVROD, "--engine", "memory", "--listen", "127.0.0.1:0"] + files.options()
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert done.returncode != 0, done
    return done.stderr.decode()


def test_wrong_files_stop_the_start():
    good = bcrypt("al", "pw")
    secret = "$apr1$topsecret$abcdefghijklmnopqrstuv"
    for lines, number in (([good, "no colon"], 2), ([good, f"bob:{secret}"], 2), (["", "# x", good, good], 4), (["a:plain"], 1),
                          (["a:$2y$15$" + good.split("$")[-1]], 1), ([good[:-1]], 1), ([good + "x"], 1), ([good + ":x"], 1),
                          ([f":{good[3:]}"], 1), (["x" * 129 + good[2:]], 1)):
        with Files(lines) as files:
            said = refused(files)
            assert f"{files.path('passwords')}:{number}: " in said, said
            assert "topsecret" not in said and "plain" not in said, said
    digest = hashlib.sha256(b"t").hexdigest()
    for lines, number in (([f"a:{digest}", "b:topsecret"], 2), ([f"a:{digest}", "", f"b:{digest.upper()}"], 3), ([f"a:{digest}0"], 1)):
        with Files(tokens=lines) as files:
            said = refused(files)
            assert f"{files.path('tokens')}:{number}: " in said and "topsecret" not in said, said
    with Files() as files:
        os.remove(files.path("tokens"))
        assert files.path("tokens") in refused(files)


def reload(server, files, passwords=(), tokens=()):
    files.write(passwords, tokens)
    server.process.send_signal(signal.SIGHUP)


def until(check):
    deadline = time.monotonic() + 60
    while not check():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.01)


def test_reload():
    al, bob, ci = bcrypt("al", "old"), bcrypt("bob", "pw"), token_line("ci", "t")
    with Files([al, bob], [ci]) as files, Server(*files.options(), "--threads", "2") as s, connect(s) as kept:
        users = (basic("al", "old"), basic("bob", "pw"), "Bearer t")
        for user in users:
            assert ask(s, user).status == 200
        kept.sendall(head("GET", "/schemas", users[0]) * 2)
        rest = b""
        for _ in range(2):
            reply, rest = read_reply(kept, pending=rest)
            assert reply.status == 200, reply
        # What is wrong changes nothing.
        reload(s, files, [al, "wrong"], [ci])
        until(lambda: "users and rights: what was in effect stays" in s.read_log())
        assert f"{files.path('passwords')}:2: " in s.log.decode()
        assert all(ask(s, user).status == 200 for user in users)
        # Another password: the one that was remembered is forgotten, also on a connection that has used it.
        reload(s, files, [bcrypt("al", "new"), bob], [ci])
        until(lambda: ask(s, users[0]).status == 401)
        kept.sendall(head("GET", "/schemas", users[0]))
        reply, _ = read_reply(kept)
        assert reply.status == 401, reply
        jobs = verified(s, users[1])
        assert ask(s, users[1]).status == 200 and ask(s, users[2]).status == 200
        assert verified(s, users[1]) == jobs, "who has not changed is remembered"
        assert ask(s, basic("al", "new")).status == 200
        # Users and tokens go, and come back.
        reload(s, files, [al])
        until(lambda: ask(s, users[2]).status == 401)
        assert ask(s, users[1]).status == 401 and ask(s, users[0]).status == 200
        reload(s, files, [al, bob], [ci])
        until(lambda: ask(s, users[2]).status == 200)
        assert ask(s, users[1]).status == 200


# ---- what waits meanwhile ----


def test_one_verification_for_all():
    with Files([bcrypt("al", "pw", SLOW)], [token_line("ci", "t")]) as files, Server(*files.options(), "--threads", "2") as s:
        assert ask(s, "Bearer t", "/putschema/note", "POST", '"string"').status == 200
        jobs, replies = verified(s, "Bearer t"), []
        threads = [threading.Thread(target=lambda: replies.append(ask(s, basic("al", "pw"), "/schemas"))) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [r.status for r in replies] == [200] * 40
        assert verified(s, "Bearer t") == jobs + 1
        # A wrong one is looked at once, too, for those that came together; those that came later are another try.
        replies.clear()
        threads = [threading.Thread(target=lambda: replies.append(ask(s, basic("al", "no"), "/schemas"))) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [r.status for r in replies] == [401] * 40
        assert all(r.header("WWW-Authenticate") for r in replies)
        until(lambda: metric(s, "avrod_logins_verifying", "Bearer t") == 0)


def users_for(n, cost=4):
    return [bcrypt(f"u{i}", f"pw{i}", cost) for i in range(n)]


def test_bodies_wait():
    """A request whose password is looked at has its body taken afterwards, however it comes."""
    n = 16
    with Files(users_for(n, 6), [token_line("ci", "t")]) as files, Server(*files.options()) as s:
        assert ask(s, "Bearer t", "/putschema/raw", "POST", '"bytes"').status == 200
        idle = lambda: metric(s, "avrod_logins_verifying", "Bearer t") == 0
        for i in range(n):
            user, body = basic(f"u{i}", f"pw{i}"), bytes([65 + i]) * (3, 5000, 20000, 1 << 20)[i % 4]
            put = head("PUT", f"/raw/{i}", user, len(body))
            is_chunked = i % 3 == 2
            if is_chunked:
                put = head("PUT", f"/raw/{i}", user, None, b"Transfer-Encoding: chunked\r\n")
                body_sent = b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
            else:
                body_sent = body
            sent = put + body_sent + head("GET", f"/raw/get/{i}", user)
            with connect(s) as c:
                if i % 2:
                    c.sendall(sent)
                else: # the head alone, which is looked at before the rest comes
                    c.sendall(put)
                    until(idle)
                    c.sendall(sent[len(put):])
                reply, rest = read_reply(c)
                assert reply.status == 201, reply
                reply, rest = read_reply(c, pending=rest)
                assert reply.status == 200 and reply.body == body and not rest, (i, reply.status)


def test_expect_waits_for_the_password():
    with Files(users_for(2, 8), [token_line("ci", "t")]) as files, Server(*files.options()) as s:
        assert ask(s, "Bearer t", "/putschema/raw", "POST", '"bytes"').status == 200
        with connect(s) as c:
            c.sendall(head("PUT", "/raw/1", basic("u0", "pw0"), 5, b"Expect: 100-continue\r\n"))
            reply, rest = read_reply(c)
            assert reply.status == 100 and not rest, reply
            c.sendall(b"hello")
            reply, _ = read_reply(c)
            assert reply.status == 201, reply
        with connect(s) as c:
            c.sendall(head("PUT", "/raw/1", basic("u1", "wrong"), 5, b"Expect: 100-continue\r\n"))
            reply, _ = read_reply(c)
            check_unauthorized(reply)


def test_refused_bodies_are_passed_over():
    with Files(users_for(1)) as files, Server(*files.options()) as s, connect(s) as c:
        c.sendall(head("PUT", "/raw/1", basic("u0", "wrong"), 100000) + b"x" * 100000 + head("GET", "/ping"))
        reply, rest = read_reply(c)
        check_unauthorized(reply)
        reply, _ = read_reply(c, pending=rest)
        assert reply.body == b"pong", reply


def test_pipelined():
    """Earlier answers do not wait for the password, later ones do."""
    with Files([bcrypt("al", "pw", SLOW)]) as files, Server(*files.options()) as s, connect(s) as c:
        al = basic("al", "pw")
        c.sendall(head("GET", "/ping") + head("GET", "/schemas", al) + head("GET", "/nothing/here/at/all", al) + head("GET", "/ping"))
        rest = b""
        for status in (200, 200, 404, 200):
            reply, rest = read_reply(c, pending=rest)
            assert reply.status == status, reply
        # All of one packet with wrong credentials in between.
        c.sendall(head("GET", "/ping") + head("GET", "/schemas", basic("al", "no")) + head("GET", "/schemas", al) + head("GET", "/ping"))
        for status in (200, 401, 200, 200):
            reply, rest = read_reply(c, pending=rest)
            assert reply.status == status, reply


def test_half_closed():
    with Files(users_for(1, SLOW)) as files, Server(*files.options()) as s:
        answer = s.raw(head("GET", "/schemas", basic("u0", "pw0")))
        assert answer.startswith(b"HTTP/1.1 200 "), answer
        answer = s.raw(head("PUT", "/raw/1", basic("u0", "no"), 10) + b"abc")
        assert answer.startswith(b"HTTP/1.1 401 "), answer


def test_clients_that_leave():
    n = 12
    with Files(users_for(n, 6), [token_line("ci", "t")]) as files, Server(*files.options(), "--threads", "2") as s:
        before = s.descriptors()
        for i in range(n):
            c = connect(s)
            c.sendall(head(*(("GET", "/schemas"), ("PUT", "/raw/1"))[i % 2], basic(f"u{i}", f"pw{i}"), (None, 100000)[i % 2]) + b"x" * (i % 2))
            if i % 3 == 0: # a reset
                c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            c.close()
        until(lambda: metric(s, "avrod_logins_verifying", "Bearer t") == 0 and s.descriptors() == before)
        assert ask(s, basic("u0", "pw0")).status == 200


def test_drain():
    with Files(users_for(1, SLOW)) as files, Server(*files.options()) as s, connect(s) as c:
        c.sendall(head("GET", "/ping"))
        read_reply(c)
        c.sendall(head("GET", "/schemas", basic("u0", "pw0")))
        s.process.send_signal(signal.SIGTERM)
        answer = read_all(c)
        assert answer.startswith(b"HTTP/1.1 200 ") or not answer, answer
        assert s.process.wait(60) == 0


# ---- what failed logins cost ----


def test_failed_logins_are_slowed():
    with Files([bcrypt("al", "pw"), bcrypt("bob", "pw")], [token_line("ci", "t")]) as files, Server(*files.options()) as s:
        here, there = next(fresh), next(fresh)
        assert ask(s, basic("al", "pw"), address=here).status == 200
        check_unauthorized(ask(s, basic("al", "no"), address=here))
        for wrong in (basic("al", "other"), basic("bob", "pw"), "Bearer x"):
            reply = ask(s, wrong, address=here)
            assert reply.status == 429 and reply.json()["code"] == "logins_slowed", reply
            assert 1 <= int(reply.header("Retry-After")) <= 1 and not reply.header("WWW-Authenticate"), reply
        # What was right once, and tokens, are let through; so is everybody else.
        assert ask(s, basic("al", "pw"), address=here).status == 200
        assert ask(s, "Bearer t", address=here).status == 200
        assert ask(s, None, "/ping", address=here).status == 200
        assert ask(s, basic("bob", "pw"), address=there).status == 200
        # Malformed ones cost nothing, and tell nothing.
        assert ask(s, "Basic !", address=here).status == 401
        longest = 0
        for _ in range(2):
            while True:
                reply = ask(s, "Bearer x", address=here)
                if reply.status == 401:
                    break
                longest = max(longest, int(reply.header("Retry-After")))
                time.sleep(0.05)
        assert longest == 2, longest
        assert metric(s, "avrod_logins_slowed_total", "Bearer t") > 3
        assert metric(s, "avrod_logins_wrong_total", "Bearer t") == 3


def test_unix_sockets_are_one_address():
    with Files([bcrypt("al", "pw")]) as files:
        path = files.path("s")
        with Server(*files.options(), "--listen", f"127.0.0.1:0,unix:{path}"):
            for status in (401, 429):
                with socket.socket(socket.AF_UNIX) as c:
                    c.settimeout(60)
                    c.connect(path)
                    c.sendall(head("GET", "/ping", basic("al", f"no{status}")))
                    reply, _ = read_reply(c)
                    assert reply.status == status, reply


# ---- beside ----


def test_preflights_need_no_name():
    with Files([bcrypt("al", "pw")]) as files, Server(*files.options(), "--cors-origin", "https://app.example") as s:
        for target in ("/raw/1", "/schemas"):
            reply = ask(s, None, target, "OPTIONS", Origin="https://app.example", Access_Control_Request_Method="GET",
                        Access_Control_Request_Headers="authorization")
            assert reply.status == 204 and "Authorization" in reply.header("Access-Control-Allow-Headers"), reply
        assert s.raw(b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n").startswith(b"HTTP/1.1 204 ")
        reply = ask(s, basic("al", "no"), Origin="https://app.example")
        assert reply.status == 401 and "WWW-Authenticate" in reply.header("Access-Control-Expose-Headers"), reply


def test_access_log():
    for kind in ("json", "combined"):
        with Files([bcrypt("al x", "pw")], [token_line("ci", "t")]) as files:
            log = files.path("log")
            with Server(*files.options(), "--access-log", log, "--access-log-format", kind) as s:
                for field in (basic("al x", "pw"), "Bearer t", None, basic("al x", "no")):
                    ask(s, field, "/ping")
            with open(log, encoding="ascii") as f:
                lines = f.read().splitlines()
            if kind == "json":
                assert [json.loads(line)["user"] for line in lines] == ["al x", "ci", "", ""], lines
            else:
                assert [line.split(" ")[2] for line in lines] == ["al\\x20x", "ci", "-", "-"], lines


def test_certificates_name_users():
    ca = tls.Authority()
    server = tls.options(*ca.issue("server", san="IP:127.0.0.1,DNS:localhost")) + ["--tls-client-ca", ca.cert]
    ann, odd = ca.issue("ann"), ca.issue("odd", subject="/CN=o:dd")

    def talk(s, certificate, authorization=None):
        with tls.connect(s.port, ca.client(certificate=certificate)) as c:
            c.sendall(head("GET", "/ping", authorization))
            return read_reply(c)[0].status

    with Files([], [token_line("ci", "t")]) as files:
        log = files.path("log")
        with Server(*server, *files.options(), "--access-log", log) as s:
            for certificate, authorization, status in ((ann, None, 200), (ann, "Bearer t", 200), (None, None, 200), (ann, "Bearer x", 401),
                                                       (odd, None, 401), (odd, "Bearer t", 200)):
                assert talk(s, certificate, authorization) == status, (certificate, authorization)
        with open(log, encoding="ascii") as f:
            assert [json.loads(line)["user"] for line in f] == ["ann", "ci", "", "", "", "ci"]
    # Authorities of clients alone are access control.
    with Server(*server) as s:
        assert talk(s, ann) == 200 and talk(s, ann, "Bearer x") == 401


def test_idempotency_keys_are_each_users_own():
    with Files(tokens=[token_line("al", "a"), token_line("bob", "b")]) as files, Server(*files.options()) as s:
        assert ask(s, "Bearer a", "/putschema/raw", "POST", '"bytes"').status == 200
        put = lambda who, id: ask(s, f"Bearer {who}", f"/raw/{id}", "PUT", b"x", Idempotency_Key="k")
        assert put("a", 1).status == 201
        reply = put("a", 1)
        assert reply.status == 201 and reply.header("Idempotency-Replayed") == "true", reply
        reply = put("b", 2)
        assert reply.status == 201 and not reply.header("Idempotency-Replayed"), reply
        assert put("a", 2).status == 422


def main():
    tests = [value for name, value in globals().items() if name.startswith("test_")]
    for test in tests:
        begun = time.monotonic()
        test()
        print(f"{test.__name__} {time.monotonic() - begun:.2f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
