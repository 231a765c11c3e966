#!/usr/bin/env python3
"""tests/http/test_tls.py - TLS: versions, sessions, certificates of both sides, reload, and a transport that hides itself."""

import http.client
import json
import os
import random
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
import unittest

import tls
from avrod import Server, read_all, read_reply, sanitized
from edge import HOST, PING, chunked, ends, split_replies

ca, other_ca = tls.Authority(), tls.Authority("Other CA")
CERT = ca.issue("server", san="IP:127.0.0.1,DNS:localhost")
VERSIONS = ("1.2", "1.3")
COLD = random.Random(7)


def server(*args, **kw):
    return Server(*tls.options(*CERT), *args, **kw)


def put(target, body):
    return b"PUT %s HTTP/1.1\r\n" % target + HOST + b"Content-Length: %d\r\n\r\n" % len(body) + body


def get(target):
    return b"GET %s HTTP/1.1\r\n" % target + HOST + b"\r\n"


def ask(sock, request=PING):
    sock.sendall(request)
    return read_reply(sock)[0]


def metric(sock, name):
    text = ask(sock, get(b"/metrics")).body.decode()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith(name + " ")))


def wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("it does not come true")
        time.sleep(0.005)


def refused(function):
    """The words of the refusal: TLS's, or that the connection was cut."""
    try:
        function()
    except (ssl.SSLError, ConnectionError, EOFError) as e:
        return str(e)
    raise AssertionError("it was taken")


class Handshakes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = server("--threads", "2")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def test_1_2_and_1_3_are_spoken(self):
        for version in VERSIONS:
            with tls.connect(self.server.port, ca.client(version)) as c:
                self.assertEqual(ask(c).body, b"pong")
                self.assertEqual(c.tls.version(), "TLSv" + version)

    def test_1_1_is_refused(self):
        context = ca.client()
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        self.assertIn("PROTOCOL_VERSION", refused(lambda: tls.connect(self.server.port, context)).upper())

    def test_ciphers_without_forward_secrecy_are_refused(self):
        for ciphers in "AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA":
            context = ca.client("1.2")
            context.set_ciphers(ciphers)
            self.assertIn("HANDSHAKE_FAILURE", refused(lambda c=context: tls.connect(self.server.port, c)))

    def test_alpn_names_http_1_1_and_nothing_else(self):
        for offered, chosen in ((["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "http/1.1"), (None, None)):
            with tls.connect(self.server.port, ca.client(alpn=offered)) as c:
                self.assertEqual(c.tls.selected_alpn_protocol(), chosen)
                self.assertEqual(ask(c).body, b"pong")
        words = refused(lambda: tls.connect(self.server.port, ca.client(alpn=["h2"])))
        self.assertIn("no application protocol", words)

    def test_plain_http_is_told_so(self):
        for request in PING, b"DELETE /a/b HTTP/1.1\r\n\r\n", b"get", put(b"/a/1", b"x" * 1000000):
            with self.server.connect() as c:
                try:
                    c.sendall(request)
                except ConnectionError:
                    pass
                reply = split_replies(read_all(c))[0]
                self.assertEqual((reply.status, reply.header("Connection")), (400, "close"))
                self.assertIn("TLS", reply.json()["detail"])

    def test_garbage_is_refused_and_harms_nobody(self):
        hello = tls.TlsSocket(socket.socket(), ca.client(), shake=False)
        try:
            hello.tls.do_handshake()
        except ssl.SSLWantReadError:
            hello = hello.outgoing.read()
        cases = [b"\x16", b"\x16\x03", b"\x16\x03\x01\xff\xff" + b"x" * 70000, b"\x00" * 100, b"\x80\x2e\x01\x00\x02", hello[:50]]
        for _ in range(200):
            cases.append(bytes(COLD.randrange(256) for _ in range(COLD.randrange(1, 300))))
            mangled = bytearray(hello)
            for _ in range(COLD.randrange(1, 4)):
                mangled[COLD.randrange(len(mangled))] = COLD.randrange(256)
            cases.append(bytes(mangled))
        for case in cases:
            with self.server.connect() as c:
                c.sendall(case)
                c.shutdown(socket.SHUT_WR)
                read_all(c)
        with tls.connect(self.server.port, ca.client()) as c:
            self.assertEqual(ask(c).body, b"pong")
            self.assertGreater(metric(c, "avrod_tls_handshakes_failed_total"), 0)

    def test_garbage_behind_the_handshake_ends_the_connection(self):
        for version in VERSIONS:
            with tls.connect(self.server.port, ca.client(version)) as c:
                self.assertEqual(ask(c).body, b"pong")
                c.sock.sendall(b"\x17\x03\x03\x00\x20" + b"x" * 32)
                refused(lambda c=c: c.recv(1) or refused.__call__)

    def test_it_may_come_byte_by_byte(self):
        for version in VERSIONS:
            sock = socket.create_connection(("127.0.0.1", self.server.port), timeout=20)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with tls.TlsSocket(sock, ca.client(version), shake=False) as c:
                c.pace = 1
                c.shake()
                self.assertEqual(ask(c).body, b"pong")

    def test_a_client_may_leave_at_any_byte(self):
        c = tls.TlsSocket(socket.socket(), ca.client(), shake=False)
        try:
            c.tls.do_handshake()
        except ssl.SSLWantReadError:
            hello = c.outgoing.read()
        for n in range(1, len(hello), 7):
            with self.server.connect() as s:
                s.sendall(hello[:n])
                if n % 2:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def test_the_origin_of_its_own_pages_is_https(self):
        port = self.server.port
        for origin, status in ((f"https://localhost:{port}", 404), (f"http://localhost:{port}", 403)):
            raw = b"PUT /x/1 HTTP/1.1\r\nHost: localhost:%d\r\nOrigin: %s\r\nContent-Length: 0\r\n\r\n" % (port, origin.encode())
            with tls.connect(port, ca.client()) as c:
                self.assertEqual(ask(c, raw).status, status)

    def test_an_absolute_target_may_say_https(self):
        with tls.connect(self.server.port, ca.client()) as c:
            self.assertEqual(ask(c, b"GET https://localhost/ping HTTP/1.1\r\n" + HOST + b"\r\n").body, b"pong")


class Sessions(unittest.TestCase):
    def resumed(self, port, context, session):
        with tls.connect(port, context, session=session) as c:
            self.assertEqual(ask(c).body, b"pong")
            return c.tls.session_reused, c.tls.session

    def test_they_are_resumed_by_any_worker_and_across_a_reload(self):
        with server("--threads", "3") as s:
            for version in VERSIONS:
                context = ca.client(version)
                was, session = self.resumed(s.port, context, None)
                self.assertFalse(was)
                for i in range(24):
                    if i % 8 == 0:
                        before = s.read_log().count("reloading: TLS")
                        s.process.send_signal(signal.SIGHUP)
                        wait_for(lambda b=before: s.read_log().count("reloading: TLS") > b)
                    was, session = self.resumed(s.port, context, session)
                    self.assertTrue(was, (version, i))
            with tls.connect(s.port, ca.client()) as c:
                self.assertEqual(metric(c, "avrod_tls_handshakes_resumed_total"), 48)
                self.assertEqual(metric(c, "avrod_tls_handshakes_total"), 51)
                self.assertEqual(metric(c, "avrod_tls_connections"), 1)

    def test_a_ticket_of_another_server_is_not_taken(self):
        context = ca.client()
        with server() as one:
            _, session = self.resumed(one.port, context, None)
        with server() as two:
            self.assertFalse(self.resumed(two.port, context, session)[0])


def subject_of(certificate, **kw):
    return {"certificate": certificate, **kw}


class Clients(unittest.TestCase):
    def test_they_must_or_may_show_a_certificate(self):
        good, expired, foreign = (a.issue("u", lives=lives) for a, lives in ((ca, 999), (ca, -9), (other_ca, 999)))
        for how, without in (("optional", None), ("required", "CERTIFICATE_REQUIRED")):
            with server("--tls-client-ca", ca.cert, "--tls-client-auth", how) as s:
                for version in VERSIONS:
                    for certificate, word in ((good, None), (None, without), (expired, "CERTIFICATE_EXPIRED"), (foreign, "UNKNOWN_CA")):
                        def talk(v=version, c=certificate):
                            with tls.connect(s.port, ca.client(v, c)) as sock:
                                return ask(sock).body
                        if word is None:
                            self.assertEqual(talk(), b"pong")
                        elif version == "1.3" or certificate:
                            self.assertIn(word, refused(talk), (how, version))
                        else:
                            self.assertIn("HANDSHAKE_FAILURE", refused(talk))

    def test_without_authorities_nobody_is_asked(self):
        with server() as s, tls.connect(s.port, ca.client(None, other_ca.issue("u"))) as c:
            self.assertEqual(ask(c).body, b"pong")

    def test_a_session_is_not_resumed_once_its_certificate_is_not_trusted(self):
        """Neither when it has expired meanwhile nor when a reload has brought other authorities."""
        folder = tempfile.mkdtemp(prefix="avrod-test-")
        self.addCleanup(shutil.rmtree, folder)
        trusted = os.path.join(folder, "ca.pem")
        for version in VERSIONS:
            shutil.copy(ca.cert, trusted)
            with server("--tls-client-ca", trusted, "--tls-client-auth", "required", "--threads", "1") as s:
                certificate = ca.issue("brief", lives=3)
                context = ca.client(version, certificate)

                def talk(session=None):
                    with tls.connect(s.port, context, session=session) as c:
                        self.assertEqual(ask(c).body, b"pong")
                        return c.tls.session_reused, c.tls.session

                _, session = talk()
                was, session = talk(session)
                self.assertTrue(was)
                deadline = time.monotonic() + 20
                try:
                    while time.monotonic() < deadline:
                        _, session = talk(session)
                        time.sleep(0.05)
                    self.fail("an expired certificate goes on")
                except (ssl.SSLError, ConnectionError, EOFError):
                    pass
                context = ca.client(version, ca.issue("lasting"))
                _, session = talk()
                shutil.copy(other_ca.cert, trusted)
                s.process.send_signal(signal.SIGHUP)
                wait_for(lambda: "reloading: TLS" in s.read_log())
                refused(lambda: talk(session))


class Reload(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="avrod-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.files = [os.path.join(self.folder, name) for name in ("cert.pem", "key.pem")]

    def install(self, pair):
        for source, target in zip(pair, self.files):
            if source:
                shutil.copy(source, target)

    def serial(self, s):
        with tls.connect(s.port, ca.client()) as c:
            return c.tls.getpeercert()["serialNumber"]

    def hup(self, s, words):
        before = s.read_log().count(words)
        s.process.send_signal(signal.SIGHUP)
        wait_for(lambda: s.read_log().count(words) > before)

    def test_new_connections_get_the_new_certificate_and_old_ones_go_on(self):
        fresh = ca.issue("fresh", san="IP:127.0.0.1")
        self.install(CERT)
        with Server(*tls.options(*self.files), "--threads", "2") as s:
            old = [tls.connect(s.port, ca.client(v)) for v in VERSIONS for _ in range(10)]
            first = self.serial(s)
            self.install(fresh)
            self.assertEqual(self.serial(s), first, "not before it is told")
            self.hup(s, "reloading: TLS")
            self.assertNotEqual(self.serial(s), first)
            for c in old:
                self.assertEqual(ask(c).body, b"pong")
                self.assertEqual(c.tls.getpeercert()["serialNumber"], first)
                c.close()

    def test_what_cannot_be_read_leaves_all_as_it_was(self):
        self.install(CERT)
        fresh = ca.issue("fresh", san="IP:127.0.0.1")
        with Server(*tls.options(*self.files), "--threads", "1") as s:
            first = self.serial(s)
            for pair in ((fresh[0], None), (None, "/dev/null"), ("/dev/null", fresh[1])):
                self.install(CERT)
                self.install(pair)
                self.hup(s, "TLS: what was in effect stays")
                self.assertEqual(self.serial(s), first)
            os.unlink(self.files[0])
            self.hup(s, "TLS: what was in effect stays")
            self.assertIn("No such file", s.read_log())
            self.assertEqual(self.serial(s), first)
            self.install(fresh)
            self.hup(s, "reloading: TLS")
            self.assertNotEqual(self.serial(s), first)

    def test_under_load_no_request_is_lost(self):
        self.install(CERT)
        with Server(*tls.options(*self.files), "--threads", "2") as s:
            ended, faults, done = threading.Event(), [], [0]

            def talk():
                try:
                    while not ended.is_set():
                        with tls.connect(s.port, ca.client()) as c:
                            for _ in range(3):
                                assert ask(c).body == b"pong"
                                done[0] += 1
                except Exception as e:  # pylint: disable=broad-except
                    faults.append(e)

            talkers = [threading.Thread(target=talk) for _ in range(4)]
            for t in talkers:
                t.start()
            for _ in range(50):
                self.hup(s, "reloading: TLS")
            ended.set()
            for t in talkers:
                t.join()
            self.assertEqual(faults, [])
            self.assertGreater(done[0], 0)


class Options(unittest.TestCase):
    def refuse(self, words, *args):
        with self.assertRaisesRegex(RuntimeError, words):
            Server(*args)

    def test_wrong_ones_are_refused_in_words(self):
        cert, key = CERT
        other = ca.issue("other")
        self.refuse("--tls-key without --tls-cert", "--tls-key", key)
        self.refuse("needs a certificate", "--listen", "https://127.0.0.1:0")
        self.refuse("--tls-cert .*No such file", *tls.options("/nowhere", key))
        self.refuse("--tls-cert .*directory", *tls.options("/tmp", key))
        self.refuse("--tls-cert .*no start line", *tls.options("/etc/hostname", key))
        self.refuse("--tls-key .*key values mismatch", *tls.options(cert, other[1]))
        self.refuse("--tls-key ", "--tls-cert", cert)
        self.refuse("--tls-client-auth needs --tls-client-ca", *tls.options(*CERT), "--tls-client-auth", "required")
        self.refuse("--tls-user-from needs", *tls.options(*CERT), "--tls-user-from", "cn")
        self.refuse("optional or required", *tls.options(*CERT), "--tls-client-ca", ca.cert, "--tls-client-auth", "perhaps")
        self.refuse("--tls-user-from is cn, uid, .*not 'nose'", *tls.options(*CERT), "--tls-client-ca", ca.cert, "--tls-user-from", "nose")
        self.refuse("--tls-client-ca .*No such", *tls.options(*CERT), "--tls-client-ca", "/nowhere")
        self.refuse("--tls-client-ca ", *tls.options(*CERT), "--tls-client-ca", key)

    def test_a_key_with_a_passphrase_is_refused_and_nobody_is_asked(self):
        key = ca.path("locked.pem")
        tls.run("openssl", "pkey", "-in", CERT[1], "-aes128", "-passout", "pass:x", "-out", key, folder=ca.folder)
        self.refuse("--tls-key ", *tls.options(CERT[0], key))

    def test_one_file_may_have_both(self):
        both = ca.path("both.pem")
        with open(both, "w", encoding="ascii") as out:
            for path in CERT:
                with open(path, encoding="ascii") as f:
                    out.write(f.read())
        with Server("--tls-cert", both) as s, tls.connect(s.port, ca.client()) as c:
            self.assertEqual(ask(c).body, b"pong")

    def test_what_is_suspicious_is_said(self):
        expired = ca.issue("old", san="IP:127.0.0.1", lives=-60)
        os.chmod(expired[1], 0o644)
        with Server(*tls.options(*expired)) as s:
            self.assertRegex(s.read_log(), "has expired")
            self.assertRegex(s.read_log(), "open to everybody")
        with Server(*tls.options(*ca.issue("long", lives=30 * 86400, key="rsa4096"))) as s:
            self.assertRegex(s.read_log(), "4096 bits of RSA")
            self.assertNotRegex(s.read_log(), "expire|open to")

    def test_schemes_say_which_addresses_speak_it(self):
        with tempfile.TemporaryDirectory(prefix="avrod-test-") as folder:
            unix, unix_tls = os.path.join(folder, "s"), os.path.join(folder, "t")
            addresses = f"127.0.0.1:0,http://127.0.0.1:0,https://127.0.0.2:0,unix:{unix},https://unix:{unix_tls}"
            with server("--listen", addresses) as s:
                listening = s.read_log().split("ready: ")[1].splitlines()[0].split(", ")
                self.assertEqual([x.rsplit(":", 1)[0] for x in listening],
                                 ["https://127.0.0.1", "http://127.0.0.1", "https://127.0.0.2", "unix", "https://unix"])
                for one in listening:
                    if "unix:" in one:
                        sock = socket.socket(socket.AF_UNIX)
                        sock.settimeout(20)
                        sock.connect(one.split("unix:")[1])
                    else:
                        host, port = one.split("//")[1].split(":")
                        sock = socket.create_connection((host, int(port)), timeout=20)
                    with tls.TlsSocket(sock, ca.client()) if one.startswith("https") else sock as c:
                        self.assertEqual(ask(c).body, b"pong")


class Transport(unittest.TestCase):
    """What leaves and comes is the same as without TLS, however records and segments lie."""

    @classmethod
    def setUpClass(cls):
        cls.server = server("--threads", "2")
        with tls.connect(cls.server.port, ca.client()) as c:
            assert ask(c, b"POST /putschema/blob HTTP/1.1\r\n" + HOST + b"Content-Length: 7\r\n\r\n\"bytes\"").status == 200

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def connect(self, version, **kw):
        return tls.connect(self.server.port, ca.client(version), **kw)

    def test_large_bodies_and_answers(self):
        for version in VERSIONS:
            body = COLD.randbytes(5_000_000)
            with self.connect(version) as c:
                self.assertIn(ask(c, put(b"/blob/large", body)).status, (200, 201))
                self.assertEqual(ask(c, get(b"/blob/large")).body, body)
                raw = b"PUT /blob/chunks HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(body, 7000)
                self.assertIn(ask(c, raw).status, (200, 201))
                self.assertEqual(ask(c, get(b"/blob/chunks")).body, body)

    def test_records_of_any_size_in_segments_of_any_size(self):
        body = COLD.randbytes(40000)
        raw = PING + put(b"/blob/pieces", body) + get(b"/blob/pieces") + PING
        for version in VERSIONS:
            for size, pace in ((1, None), (3, 5), (len(PING), 7), (100, 1000), (16384, 1), (16384, 16384 + 29), (4000, 4096)):
                with self.connect(version) as c:
                    data = c.records(raw[: 3000 if size < 3 else len(raw)], size)
                    data += c.records(raw[3000:], 16000) if size < 3 else b""
                    pace = pace or len(data)
                    pace = max(pace, len(data) // 5000)
                    for at in range(0, len(data), pace):
                        c.sock.sendall(data[at : at + pace])
                    replies, rest = [], b""
                    for _ in range(4):
                        reply, rest = read_reply(c, pending=rest)
                        replies.append(reply)
                    self.assertEqual([r.body for r in replies[::3]], [b"pong", b"pong"])
                    self.assertEqual(replies[2].body, body, (version, size, pace))

    def test_many_requests_in_one_record(self):
        for version in VERSIONS:
            with self.connect(version) as c:
                count = 16384 // len(PING)
                data = c.records(PING * count * 20, 16384)
                c.sock.sendall(data)
                c.shutdown(socket.SHUT_WR)
                self.assertEqual(len(split_replies(read_all(c))), count * 20)

    def test_half_a_record_waits_for_the_rest(self):
        for version in VERSIONS:
            with self.connect(version) as c, self.connect(version) as probe:
                data = c.records(PING, 1000)
                c.sock.sendall(data[:-1])
                for _ in range(3):
                    self.assertEqual(ask(probe).body, b"pong")
                c.sock.sendall(data[-1:])
                self.assertEqual(read_reply(c)[0].body, b"pong")

    def test_who_has_ended_its_side_gets_its_answers(self):
        """With close_notify or without: requests say themselves where they end (RFC 9112, 9.8)."""
        for version in VERSIONS:
            for end in tls.TlsSocket.end, lambda c: c.sock.shutdown(socket.SHUT_WR), lambda c: c.shutdown(socket.SHUT_WR):
                with self.connect(version) as c:
                    c.sendall(PING * 300 + get(b"/blob/large"))
                    end(c)
                    replies = split_replies(read_all(c))
                    self.assertEqual(len(replies), 301)

    def test_a_body_that_is_cut_off_is_not_taken(self):
        for version in VERSIONS:
            for head in b"Content-Length: 10\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n5\r\n":
                with self.connect(version) as c:
                    c.sendall(b"PUT /blob/cut HTTP/1.1\r\n" + HOST + head + b"hello")
                    c.sock.shutdown(socket.SHUT_WR)
                    self.assertEqual([r.status for r in split_replies(read_all(c))], [400])
                with self.connect(version) as c:
                    self.assertEqual(ask(c, get(b"/blob/cut")).status, 404)

    def test_the_end_is_announced(self):
        """recv would raise if the connection were cut."""
        for version in VERSIONS:
            for request in (PING.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), b"GET /ping HTTP/1.0\r\n\r\n",
                            b"nonsense\r\n\r\n", b"GET /blob?keys=1 HTTP/1.0\r\n\r\n"):
                with self.connect(version) as c:
                    c.sendall(request)
                    data = b""
                    while piece := c.recv(65536):
                        data += piece
                    self.assertTrue(data.startswith(b"HTTP/1.1 "), data[:40])

    def test_an_answer_without_length_ends_with_close_notify_for_a_slow_reader(self):
        with self.connect("1.3") as c:
            for i in range(40):
                ask(c, put(b"/blob/slow-%d" % i, COLD.randbytes(200_000)))
        for version in VERSIONS:
            with self.connect(version) as c:
                c.sendall(b"GET /blob?prefix=slow- HTTP/1.0\r\n\r\n")
                data = bytearray()
                while piece := c.recv(4096):
                    data += piece
                self.assertEqual(data.count(b'"id":"slow-'), 40)

    def test_who_reads_slowly_gets_all_of_it(self):
        body = COLD.randbytes(3_000_000)
        for version in VERSIONS:
            with self.connect(version) as c:
                ask(c, put(b"/blob/slowly", body))
                c.sendall(get(b"/blob/slowly") * 3 + PING)
                rest = b""
                for _ in range(3):
                    reply, rest = read_reply(c, pending=rest)
                    self.assertEqual(reply.body, body)
                self.assertEqual(read_reply(c, pending=rest)[0].body, b"pong")

    def test_expect_continue(self):
        with self.connect("1.3") as c:
            c.sendall(b"PUT /blob/1 HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n")
            self.assertEqual(read_reply(c)[0].status, 100)
            c.sendall(b"hello")
            self.assertIn(read_reply(c)[0].status, (200, 201))

    def test_a_refused_body_is_read_over_so_that_its_answer_arrives(self):
        for version in VERSIONS:
            with self.connect(version) as c:
                head = b"PUT /nothing/1 HTTP/1.1\r\n" + HOST + b"Content-Length: 70000000\r\n\r\n"
                try:
                    c.sendall(head + bytes(3_000_000))
                except ConnectionError:
                    pass
                self.assertEqual(read_reply(c)[0].status, 404)

    def test_many_talk_at_once(self):
        faults = []

        def talk(n):
            try:
                mine = random.Random(n)
                with self.connect(VERSIONS[n % 2]) as c:
                    for i in range(20):
                        body = mine.randbytes(mine.choice((10, 5000, 20000, 100000)))
                        target = b"/blob/many-%d-%d" % (n, i)
                        c.sendall(put(target, body) + get(target) + PING)
                        first, rest = read_reply(c)
                        second, rest = read_reply(c, pending=rest)
                        third, rest = read_reply(c, pending=rest)
                        assert (first.status, second.body, third.body) == (201, body, b"pong"), (first, i)
            except Exception as e:  # pylint: disable=broad-except
                faults.append(e)

        talkers = [threading.Thread(target=talk, args=(n,)) for n in range(12)]
        for t in talkers:
            t.start()
        for t in talkers:
            t.join()
        self.assertEqual(faults, [])


class KeyUpdates:
    """The openssl program as a client of TLS 1.3: Python's ssl sends no key updates. A line that begins with K is a command of its."""

    def __init__(self, port):
        self.process = subprocess.Popen(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_3", "-CAfile", ca.cert, "-quiet", "-no_ign_eof"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0)

    def send(self, data, until):
        """False: the server has ended the connection."""
        try:
            self.process.stdin.write(data)
        except BrokenPipeError:
            return False
        seen = b""
        while until not in seen:
            piece = self.process.stdout.read(65536)
            if not piece:
                return False
            seen += piece
        return True

    def update(self):
        return self.send(b"K\n", b"KEYUPDATE")

    def ping(self):
        return self.send(PING, b"pong")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.process.kill()
        self.process.communicate()


class Limits(unittest.TestCase):
    def test_key_updates_are_taken_between_requests(self):
        with server("--threads", "1") as s, KeyUpdates(s.port) as c:
            for _ in range(6):
                self.assertTrue(all(c.update() for _ in range(8)))
                self.assertTrue(c.ping())

    def test_who_sends_nothing_but_key_updates_is_closed(self):
        with server("--threads", "1") as s, KeyUpdates(s.port) as c:
            self.assertTrue(c.ping())
            wait_for(lambda: not c.update())

    def test_a_handshake_has_the_time_of_a_head(self):
        with server("--head-deadline", "300ms", "--threads", "1") as s:
            hello = tls.TlsSocket(socket.socket(), ca.client(), shake=False)
            try:
                hello.tls.do_handshake()
            except ssl.SSLWantReadError:
                hello = hello.outgoing.read()
            for begin in b"", hello[:40], hello:
                with s.connect(timeout=8) as c:
                    c.sendall(begin)
                    read_all(c)

    def test_half_a_record_and_half_a_head_have_it_too(self):
        with server("--head-deadline", "300ms", "--threads", "1") as s:
            for version in VERSIONS:
                for cut in 0, 5:
                    with tls.connect(s.port, ca.client(version), timeout=8) as c:
                        data = c.records(PING[:20], 100)
                        c.sock.sendall(data[: len(data) - cut])
                        self.assertEqual([r.status for r in split_replies(read_all(c))], [408])

    def test_idle_ones_are_closed_with_a_word(self):
        with server("--idle-deadline", "300ms", "--threads", "1") as s:
            for version in VERSIONS:
                with tls.connect(s.port, ca.client(version), timeout=8) as c:
                    self.assertEqual(ask(c).body, b"pong")
                    self.assertTrue(ends(c))

    def test_who_takes_nothing_is_closed(self):
        with server("--write-deadline", "300ms", "--threads", "1") as s, tls.connect(s.port, ca.client()) as c:
            ask(c, b"POST /putschema/blob HTTP/1.1\r\n" + HOST + b"Content-Length: 7\r\n\r\n\"bytes\"")
            ask(c, put(b"/blob/1", bytes(8_000_000)))
            before = s.descriptors()
            with tls.connect(s.port, ca.client(), timeout=8) as slow:
                slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                slow.sendall(get(b"/blob/1"))
                wait_for(lambda: s.descriptors() > before)
                wait_for(lambda: s.descriptors() == before)

    def test_connections_beyond_the_limit_are_closed(self):
        with server("--connections-max", "3", "--threads", "1") as s:
            kept = [tls.connect(s.port, ca.client()) for _ in range(3)]
            for c in kept:
                self.assertEqual(ask(c).body, b"pong")
            refused(lambda: tls.connect(s.port, ca.client()))
            for c in kept:
                c.close()

    def test_idle_connections_take_little_memory(self):
        many = 400 if sanitized() else 2000
        with server("--threads", "1") as s:
            context = ca.client("1.3")
            warm = tls.connect(s.port, context)
            ask(warm)
            session, before = warm.tls.session, s.memory()
            held = []
            for _ in range(many):
                held.append(tls.connect(s.port, context, session=session))
                self.assertEqual(ask(held[-1]).body, b"pong")
            each = (s.memory() - before) // many
            print(f"an idle TLS connection takes {each} bytes")
            self.assertTrue(sanitized() or each < 40_000, each)  # a sanitizer keeps what is freed for a while
            for c in held:
                c.close()
            warm.close()


class Drain(unittest.TestCase):
    def stopped(self, s):
        s.process.send_signal(signal.SIGTERM)

    def test_what_had_come_is_answered(self):
        """In the kernel, in what TLS has read ahead, and with the last record half there."""
        for version in VERSIONS:
            with server("--threads", "1") as s:
                context = ca.client(version)
                busy, idle, shaking = tls.connect(s.port, context), tls.connect(s.port, context), s.connect()
                for c in busy, idle:
                    self.assertEqual(ask(c).body, b"pong")
                data = busy.records(PING * 1000, 1000)
                busy.sock.sendall(data[:-10])
                busy.sock.recv(1, socket.MSG_PEEK)
                self.stopped(s)
                self.assertTrue(ends(idle))
                self.assertEqual(shaking.recv(1), b"")
                busy.sock.sendall(data[-10:])
                replies = split_replies(read_all(busy))
                self.assertEqual(len(replies), 38 * 1000 // len(PING) + 1, "those of whole records, and the one that had begun")
                self.assertEqual(replies[-1].header("Connection"), "close")
                for c in busy, idle, shaking:
                    c.close()
                self.assertEqual(s.process.wait(20), 0)

    def test_who_goes_on_pipelining_is_not_served_for_ever(self):
        for version in VERSIONS:
            for request in PING, put(b"/blob/1", b"x"), put(b"/blob/1", b"x" * 5000):
                with server("--threads", "1") as s, tls.connect(s.port, ca.client(version)) as c:
                    ask(c, b"POST /putschema/blob HTTP/1.1\r\n" + HOST + b"Content-Length: 7\r\n\r\n\"bytes\"")
                    data = c.records(request * 20000, 1600)

                    def talk():
                        try:
                            c.sock.sendall(data)
                            c.sock.shutdown(socket.SHUT_WR)
                        except OSError:
                            pass

                    talker = threading.Thread(target=talk)
                    talker.start()
                    read = bytearray(c.recv(65536))
                    self.stopped(s)
                    read += read_all(c)
                    replies = split_replies(bytes(read))
                    c.close()
                    talker.join()
                    self.assertEqual(s.process.wait(60), 0)
                    self.assertNotIn("still open", s.read_log())
                    self.assertTrue(all(r.status in (200, 201) for r in replies))
                    self.assertTrue(all(r.header("Connection") is None for r in replies[:-1]))


class Seen(unittest.TestCase):
    def test_the_access_log_says_how(self):
        with tempfile.NamedTemporaryFile() as log:
            with server("--access-log", log.name, "--listen", "127.0.0.1:0,http://127.0.0.1:0") as s:
                for version in VERSIONS:
                    with tls.connect(s.port, ca.client(version)) as c:
                        ask(c)
                plain = int(s.read_log().split("http://127.0.0.1:")[1].split()[0])
                with socket.create_connection(("127.0.0.1", plain)) as c:
                    ask(c)
                with s.connect() as c:
                    ask(c)
            lines = [json.loads(line)["tls"] for line in log.read().decode().splitlines()]
            self.assertRegex(lines[0], "^TLSv1.2 ECDHE-")
            self.assertRegex(lines[1], "^TLSv1.3 TLS_")
            self.assertEqual(lines[2:], ["", ""])


if __name__ == "__main__":
    unittest.main(verbosity=1)
