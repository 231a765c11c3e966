#!/usr/bin/env python3
"""tests/http/test_edge_listen.py - listening: ports, IPv6, unix sockets, several of them at once."""

import json
import os
import signal
import socket
import tempfile
import threading
import unittest

from avrod import Server, read_all, read_reply
from edge import HOST, PING, ends, split_replies


class Listening(unittest.TestCase):
    def test_a_port_in_use_is_refused_in_words(self):
        with Server() as one:
            for port in (one.port,):
                with self.assertRaisesRegex(RuntimeError, "in use"):
                    Server("--listen", f"127.0.0.1:{port}")

    def test_ipv6_is_spoken(self):
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(("::1", 0))
        except OSError:
            self.skipTest("this machine has no ::1")
        with Server("--listen", "[::1]:0") as six:
            own = f"[::1]:{six.port}"
            self.assertIn(own, six.read_log())
            six.post("/putschema/blob", b'"bytes"', host="::1")
            for headers, status in (
                ({"Host": own, "Origin": f"http://{own}"}, 201),
                ({"Host": own, "Origin": f"http://localhost:{six.port}"}, 403),
                ({"Host": "[::2]"}, 403),
            ):
                self.assertEqual(six.put("/blob/1", b"x", headers=headers, host="::1").status, status, headers)
            with self.assertRaisesRegex(RuntimeError, "in use"):
                Server("--listen", own)
        with self.assertRaisesRegex(RuntimeError, "insecure"):
            Server("--listen", "[::]:0")

    def test_an_ipv4_address_may_be_written_as_one_of_ipv6(self):
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(("::ffff:127.0.0.1", 0))
        except OSError:
            self.skipTest("this machine has no IPv6")
        with Server("--listen", "[::ffff:127.0.0.1]:0") as mapped:
            reply = mapped.get("/ping", headers={"Host": f"[::ffff:127.0.0.1]:{mapped.port}"})
            self.assertEqual(reply.body, b"pong")
        with self.assertRaisesRegex(RuntimeError, "insecure"):
            Server("--listen", "[::ffff:0.0.0.0]:0")

    def test_beyond_loopback_needs_logins_or_insecure(self):
        with tempfile.TemporaryDirectory() as folder:
            tokens, access = os.path.join(folder, "tokens"), os.path.join(folder, "access")
            with open(tokens, "w", encoding="ascii") as f:
                f.write("ci:" + "0" * 64 + "\n")
            with open(access, "w", encoding="ascii") as f:
                f.write("[anonymous]\nreader = *\n")
            with Server("--listen", "0.0.0.0:0", "--tokens", tokens) as known:
                self.assertIn("in plain text", known.read_log())
                self.assertEqual(known.get("/schemas", headers={"Host": "any.example"}).status, 401)
            with Server("--tokens", tokens) as near:
                self.assertNotIn("in plain text", near.read_log())
            with self.assertRaisesRegex(RuntimeError, "insecure"):
                Server("--listen", "0.0.0.0:0", "--access", access)  # says what anonymous may do, but nobody can log in
        with self.assertRaisesRegex(RuntimeError, "insecure"):
            Server("--listen", "0.0.0.0:0")
        with Server("--listen", "0.0.0.0:0", "--insecure") as wide:
            self.assertEqual(wide.get("/ping", headers={"Host": "any.example"}).body, b"pong")


def dial(path):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(20)
    s.connect(path)
    return s


def ask(path, raw):
    with dial(path) as s:
        s.sendall(raw)
        s.shutdown(socket.SHUT_WR)
        return split_replies(read_all(s))


class Unix(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="avrod-test-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "avrod.sock")

    def test_requests_of_all_kinds(self):
        with Server("--threads", "2", "--listen", "unix:" + self.path) as s:
            self.assertIn(f"ready: unix:{self.path}\n", s.read_log())
            raw = b"POST /putschema/blob HTTP/1.1\r\n" + HOST + b"Content-Length: 7\r\n\r\n\"bytes\""
            self.assertEqual([r.status for r in ask(self.path, raw)], [200])
            body = bytes(range(256)) * 4000
            raw = b"PUT /blob/1 HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(body) + body
            replies = ask(self.path, raw + PING * 300 + b"GET /blob/1 HTTP/1.1\r\n" + HOST + b"\r\n" + PING)
            self.assertEqual([r.status for r in replies], [201] + [200] * 302)
            self.assertEqual(replies[-2].body, body)
        self.assertFalse(os.path.exists(self.path), "removed at the end")

    def test_many_at_once_are_served_by_all_workers(self):
        with Server("--threads", "2", "--listen", "unix:" + self.path):
            clients = [dial(self.path) for _ in range(200)]
            for c in clients:
                c.sendall(PING)
            for c in clients:
                self.assertEqual(read_reply(c)[0].body, b"pong")
                c.close()

    def test_any_host_is_taken_but_no_other_origin(self):
        with Server("--listen", "unix:" + self.path):
            for extra, status in ((b"", 404), (b"Origin: http://evil.example\r\n", 403)):
                raw = b"PUT /x/1 HTTP/1.1\r\nHost: any.example\r\n" + extra + b"Content-Length: 0\r\n\r\n"
                self.assertEqual([r.status for r in ask(self.path, raw)], [status])

    def test_a_host_that_was_taken_there_is_not_taken_on_loopback(self):
        raw = b"GET /ping HTTP/1.1\r\nHost: any.example\r\n\r\n"
        with Server("--threads", "1", "--listen", "127.0.0.1:0,unix:" + self.path) as s:
            for _ in range(3):
                self.assertEqual([r.status for r in ask(self.path, raw)], [200])
                with s.connect() as c:
                    c.sendall(raw + raw)
                    reply, rest = read_reply(c)
                    self.assertEqual((reply.status, read_reply(c, pending=rest)[0].status), (403, 403))

    def test_the_file_of_a_dead_server_is_replaced(self):
        with Server("--listen", "unix:" + self.path) as s:
            for _ in range(2):
                s.restart(kill=True)
                self.assertEqual(ask(self.path, PING)[0].body, b"pong")

    def test_the_socket_of_a_live_server_is_not_touched(self):
        with Server("--listen", "unix:" + self.path):
            with self.assertRaisesRegex(RuntimeError, "in use"):
                Server("--listen", "unix:" + self.path)
            self.assertEqual(ask(self.path, PING)[0].body, b"pong")

    def test_of_two_that_start_at_once_one_has_it(self):
        for _ in range(5):
            with socket.socket(socket.AF_UNIX) as dead:
                dead.bind(self.path)
            servers = [Server("--threads", "1", "--listen", "unix:" + self.path, start=False) for _ in range(3)]
            started = []

            def start(server):
                try:
                    started.append(server.start())
                except RuntimeError:
                    pass

            threads = [threading.Thread(target=start, args=(server,)) for server in servers]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(len(started), 1)
            self.assertEqual(ask(self.path, PING)[0].body, b"pong")
            for server in servers:
                server.__exit__(None, None, None) if server in started else server.__exit__(RuntimeError, None, None)

    def test_what_is_no_socket_is_left_alone(self):
        with open(self.path, "w", encoding="ascii") as f:
            f.write("mine")
        with self.assertRaisesRegex(RuntimeError, "no socket"):
            Server("--listen", "unix:" + self.path)
        with open(self.path, encoding="ascii") as f:
            self.assertEqual(f.read(), "mine")

    def test_a_file_that_another_server_has_put_there_stays(self):
        with Server("--listen", "unix:" + self.path) as first:
            os.rename(self.path, self.path + ".old")
            with Server("--listen", "unix:" + self.path):
                self.assertEqual(first.stop(), 0)
                self.assertEqual(ask(self.path, PING)[0].body, b"pong")

    def test_a_drain_answers_what_had_come(self):
        with Server("--threads", "1", "--listen", "unix:" + self.path) as s, dial(self.path) as c, dial(self.path) as idle:
            c.sendall(PING * 1000)
            first = c.recv(1)
            s.process.send_signal(signal.SIGTERM)
            replies = split_replies(first + read_all(c))
            self.assertEqual(len(replies), 1000)
            self.assertTrue(ends(idle))
            self.assertEqual(s.process.wait(20), 0)

    def test_the_access_log_says_unix(self):
        log = self.path + ".log"
        with Server("--listen", "127.0.0.1:0,unix:" + self.path, "--access-log", log) as s:
            ask(self.path, PING)
            s.get("/ping")
        with open(log, encoding="ascii") as f:
            self.assertEqual(sorted(json.loads(line)["remote"] for line in f), ["127.0.0.1", "unix"])

    def test_paths_are_refused_in_words(self):
        for path, word in (("", "1 to 107 bytes"), ("x" * 108, "1 to 107 bytes"), ("/nowhere/at/all", "No such file")):
            with self.assertRaisesRegex(RuntimeError, word):
                Server("--listen", "unix:" + path)


class Several(unittest.TestCase):
    def test_each_is_listened_on_with_its_own_rule_for_host(self):
        with tempfile.TemporaryDirectory(prefix="avrod-test-") as folder:
            path = os.path.join(folder, "s")
            with Server("--threads", "2", "--listen", f"127.0.0.1:0,127.0.0.2:0,0.0.0.0:0,unix:{path}", "--insecure") as s:
                listening = s.read_log().split("ready: ")[1].splitlines()[0].split(", ")
                self.assertEqual(len(listening), 4)
                for one, strange in zip(listening, (403, 403, 200, 200)):
                    host, port = (None, None) if one.startswith("unix:") else one[7:].rsplit(":", 1)
                    for name, status in ((b"localhost", 200), (b"rebound.example", strange)):
                        raw = b"GET /ping HTTP/1.1\r\nHost: " + name + b"\r\nConnection: close\r\n\r\n"
                        if host is None:
                            replies = ask(path, raw)
                        else:
                            with socket.create_connection((host, int(port)), timeout=20) as c:
                                c.sendall(raw)
                                replies = split_replies(read_all(c))
                        self.assertEqual([r.status for r in replies], [status], (one, name))

    def test_a_list_is_refused_as_a_whole(self):
        with tempfile.TemporaryDirectory(prefix="avrod-test-") as folder:
            path = os.path.join(folder, "s")
            with Server("--threads", "1") as other:
                for text, word in ((f"unix:{path},127.0.0.1:{other.port}", "in use"), (f"unix:{path},nonsense", "not ADDRESS:PORT"),
                                   (f"unix:{path},", "not ADDRESS:PORT"), (f"unix:{path},0.0.0.0:0", "insecure"),
                                   (",".join(["127.0.0.1:0"] * 17), "at most 16")):
                    with self.assertRaisesRegex(RuntimeError, word):
                        Server("--listen", text)
                    self.assertFalse(os.path.exists(path), text)


if __name__ == "__main__":
    unittest.main(verbosity=1)
