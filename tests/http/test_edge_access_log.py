#!/usr/bin/env python3
"""tests/http/test_edge_access_log.py - the access log: a line for each request, one that no stranger can forge; log rotation; a file
that takes nothing holds up nobody."""

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from avrod import AVROD, Server, read_all
from edge import HOST, PING, split_replies

COMBINED = re.compile(r'^127\.0\.0\.1 - - \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000\] '
                      r'"([^"]*)" (\d{3}) (\d+) "([^"]*)" "([^"]*)"$')


def lines_of(path):
    with open(path, "rb") as f:
        text = f.read()
    assert not text or text.endswith(b"\n"), "every line is whole"
    return text.decode("ascii").splitlines()


def wait_for(what):
    deadline = time.monotonic() + 60
    while not what():
        assert time.monotonic() < deadline


class AccessLog(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="avrod-test-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "access.log")

    def serve(self, *args):
        return Server("--access-log", self.path, *args)

    def test_json_says_what_was_asked_and_answered(self):
        with self.serve("--threads", "1") as s:
            begin = time.time()
            s.post("/putschema/blob", b'"bytes"')
            s.put("/blob/a%20b?benchmark_only=7", b"x" * 10, headers={"User-Agent": "me/1", "Referer": "http://a/"})
            s.put("/blob/1", b"x" * 100000, headers={"X-Request-Id": "mine"})
            s.get("/blob/1")
            s.request("HEAD", "/blob/1")
            s.get("/nothing/1")
            last = s.get("/ping")
            end = time.time()
        entries = [json.loads(line) for line in lines_of(self.path)]
        self.assertEqual([(e["method"], e["target"], e["status"], e["bytes"]) for e in entries[:5]], [
            ("POST", "/putschema/blob", 200, 2), ("PUT", "/blob/a%20b?benchmark_only=7", 200, 2),
            ("PUT", "/blob/1", 201, 2), ("GET", "/blob/1", 200, 100000), ("HEAD", "/blob/1", 200, 0)])
        self.assertEqual((entries[5]["status"], entries[6]["target"], len(entries)), (404, "/ping", 7))
        for e in entries:
            self.assertEqual(list(e), ["time", "remote", "user", "method", "target", "version", "status", "bytes", "duration_us",
                                       "request_id", "user_agent", "referer", "tls"])
            self.assertRegex(e["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertEqual((e["remote"], e["version"]), ("127.0.0.1", "HTTP/1.1"))
            self.assertGreaterEqual(e["duration_us"], 0)
            self.assertLessEqual(e["duration_us"], (end - begin + 1) * 1e6)
        self.assertEqual((entries[1]["user_agent"], entries[1]["referer"]), ("me/1", "http://a/"))
        self.assertEqual(entries[2]["request_id"], "mine")
        self.assertEqual(entries[6]["request_id"], last.header("X-Request-Id"))

    def test_what_strangers_send_stays_inside_its_field(self):
        forged = b'x" 200 1\\"{}\x80\xff'
        raws = [
            b"GET /ping HTTP/1.0\r\nUser-Agent: " + forged + b"\r\nReferer: a\tb\r\n\r\n",
            b"GET /a\"\\b HTTP/1.1\r\n" + HOST + b"User-Agent: one\r\nUser-Agent: two\r\n\r\n",
            b"BREW /ping HTTP/1.1\r\n" + HOST + b"X-Request-Id: \"},{\"\r\n\r\n",
            b"GET\x01 /ping HTTP/1.1\r\n\r\n",
            b"GET /caf\xc3\xa9 HTTP/1.1\r\n" + HOST + b"\r\n",
            b"GET /ping HTTP/1.1\r\n",
        ]
        for args in [], ["--access-log-format", "combined"]:
            with self.serve("--threads", "1", *args) as s:
                for raw in raws:
                    self.assertEqual(len(split_replies(s.raw(raw))), 1)
            lines = lines_of(self.path)
            os.unlink(self.path)
            self.assertEqual(len(lines), len(raws))
            if not args:
                entries = [json.loads(line) for line in lines]
                self.assertEqual(entries[0]["user_agent"].encode("latin-1"), forged)
                self.assertEqual((entries[0]["referer"], entries[0]["version"]), ("a\tb", "HTTP/1.0"))
                self.assertEqual((entries[1]["target"], entries[1]["user_agent"]), ('/a"\\b', "one, two"))
                self.assertEqual((entries[2]["method"], entries[2]["status"]), ("BREW", 501))
                self.assertEqual(entries[2]["request_id"], '"},{"')
                self.assertEqual((entries[3]["method"], entries[3]["target"], entries[3]["status"]), ("-", "-", 400))
                self.assertEqual(entries[4]["target"].encode("latin-1"), b"/caf\xc3\xa9")
                self.assertEqual((entries[5]["target"], entries[5]["status"]), ("-", 400))
                continue
            fields = [COMBINED.match(line).groups() for line in lines]
            self.assertEqual(fields[0], ("GET /ping HTTP/1.0", "200", "4", r"a\x09b", r"x\x22 200 1\x5c\x22{}\x80\xff"))
            self.assertEqual(fields[1][0], r"GET /a\x22\x5cb HTTP/1.1")
            self.assertEqual((fields[2][0], fields[2][1]), ("BREW /ping HTTP/1.1", "501"))
            self.assertEqual((fields[3][0], fields[3][1]), ("-", "400"))

    def test_every_request_has_its_line_in_order_of_its_connection(self):
        with self.serve("--threads", "2") as s:
            s.post("/putschema/blob", b'"bytes"')

            def talk(k):
                raw = b"".join(b"PUT /blob/%d-%d HTTP/1.1\r\n" % (k, i) + HOST + b"Content-Length: 1\r\n\r\nx" for i in range(500))
                self.assertEqual(len(split_replies(s.raw(raw))), 500)

            threads = [threading.Thread(target=talk, args=(k,)) for k in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        targets = [json.loads(line)["target"] for line in lines_of(self.path)[1:]]
        for k in range(4):
            self.assertEqual([t for t in targets if t.startswith(f"/blob/{k}-")], [f"/blob/{k}-{i}" for i in range(500)])
        self.assertEqual(len(targets), 2000)

    def test_who_left_before_the_answer_has_status_0(self):
        with self.serve("--threads", "1") as s:
            s.post("/putschema/blob", b'"bytes"')
            with s.connect() as c:
                c.sendall(b"PUT /blob/1 HTTP/1.1\r\n" + HOST + b"Content-Length: 100000\r\n\r\nx")
                s.get("/ping")
                c.setsockopt(1, 13, b"\1\0\0\0\0\0\0\0")  # SO_LINGER: a reset
            s.get("/ping")
        entries = [json.loads(line) for line in lines_of(self.path)]
        self.assertIn([entries[2]["status"], entries[-1]["status"]], ([0, 200], [200, 0]))

    def test_an_answer_in_pieces_has_its_line_when_it_ends(self):
        body = b"x" * (8 << 20)
        with self.serve("--threads", "1") as s:
            s.post("/putschema/blob", b'"bytes"')
            s.put("/blob/1", body)
            with s.connect() as c:
                c.sendall(b"GET /blob/1 HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
                c.recv(1)
                s.get("/ping")  # its line comes first
                self.assertGreater(len(read_all(c)), len(body))
            with s.connect() as c:
                c.sendall(b"GET /blob/1 HTTP/1.1\r\n" + HOST + b"\r\n")
                c.recv(1)
        entries = [json.loads(line) for line in lines_of(self.path)[2:]]
        self.assertEqual([e["target"] for e in entries], ["/ping", "/blob/1", "/blob/1"])
        self.assertEqual((entries[1]["status"], entries[1]["bytes"]), (200, len(body)))
        self.assertEqual(entries[2]["status"], 200)
        self.assertLess(entries[2]["bytes"], len(body))

    def test_a_file_that_was_moved_away_is_made_anew_on_sighup(self):
        old = self.path + ".1"
        with self.serve("--threads", "2") as s:
            s.raw(PING * 300)
            wait_for(lambda: Path(self.path).read_bytes().count(b"\n") == 300)  # a line may come after its answer
            os.rename(self.path, old)
            s.raw(PING * 200)
            s.process.send_signal(signal.SIGHUP)
            wait_for(lambda: "opened anew" in s.read_log())
            s.raw(PING * 100)
        before, after = len(lines_of(old)), len(lines_of(self.path))
        self.assertEqual(before + after, 600)
        self.assertGreaterEqual(before, 300)
        self.assertGreaterEqual(after, 100)

    def test_a_file_that_cannot_be_opened_anew_leaves_the_old_one(self):
        with self.serve("--threads", "1") as s:
            s.get("/ping")
            old = self.path + ".1"
            os.rename(self.path, old)
            os.mkdir(self.path)
            s.process.send_signal(signal.SIGHUP)
            wait_for(lambda: "cannot be opened" in s.read_log())
            s.get("/ping")
        self.assertEqual(len(lines_of(old)), 2)

    def test_it_is_appended_to_and_must_be_there_to_begin_with(self):
        for n in 1, 2:
            with self.serve("--threads", "1") as s:
                s.get("/ping")
            self.assertEqual(len(lines_of(self.path)), n)
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o640 & ~os.umask(os.umask(0o22)) & 0o777 | 0o600)
        with self.assertRaisesRegex(RuntimeError, "access log .* cannot be opened"):
            Server("--access-log", self.path + "/x")

    def test_standard_output(self):
        with tempfile.TemporaryFile() as out:
            with Server("--access-log", "-", "--threads", "1", stdout=out) as s:
                s.get("/ping")
                s.process.send_signal(signal.SIGHUP)
                s.get("/ping")
            out.seek(0)
            self.assertEqual([json.loads(line)["target"] for line in out.read().splitlines()], ["/ping"] * 2)

    def test_a_reader_that_takes_nothing_holds_up_nobody(self):
        """What does not fit is dropped, and each lost line is counted."""
        os.mkfifo(self.path)
        reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        total = 0
        s = self.serve("--threads", "1")
        try:
            while total < 60000:
                replies = s.raw(PING * 10000).count(b"\r\n\r\npong")
                self.assertEqual(replies, 10000)
                total += replies
            s.process.send_signal(signal.SIGTERM)
            got = bytearray()
            while True:
                try:
                    piece = os.read(reader, 1 << 20)
                    if not piece and s.process.poll() is not None:
                        break
                    got += piece
                except BlockingIOError:
                    pass
            self.assertEqual(s.process.wait(60), 0)
        finally:
            s.kill()
            os.close(reader)
        dropped = sum(int(n) for n in re.findall(r"warn  (\d+) lines of the access log were dropped", s.read_log()))
        lines = bytes(got).decode("ascii").splitlines()
        self.assertGreater(dropped, 0)
        self.assertEqual(len(lines) + dropped, total)
        for line in lines:
            self.assertEqual(json.loads(line)["target"], "/ping")

    def test_a_reader_that_hangs_does_not_hold_up_the_end(self):
        os.mkfifo(self.path)
        reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        with self.serve("--threads", "1") as s:
            s.raw(PING * 2000)
            self.assertEqual(s.stop(), 0)
            self.assertIn("could not be written", s.read_log())
        os.close(reader)

    def test_a_full_disk_loses_lines_and_nothing_else(self):
        with Server("--access-log", "/dev/full", "--threads", "1") as s:
            self.assertEqual(s.raw(PING * 100).count(b"pong"), 100)
            dropped = 0
            while dropped < 100:  # a thread of its own tries to write them
                found = re.search(rb"^avrod_access_log_dropped_lines_total (\d+)$", s.get("/metrics").body, re.M)
                self.assertGreaterEqual(int(found.group(1)), dropped)
                dropped = int(found.group(1))
            self.assertEqual(s.stop(), 0)
            self.assertIn("lines of the access log were dropped: No space left", s.read_log())

    def test_options_are_refused_in_words(self):
        for args, word in ((["--access-log-format", "xml"], b"json or combined"), (["--access-log="], b"empty")):
            wrong = subprocess.run([AVROD, "--engine=memory", *args], capture_output=True, timeout=60, check=False)
            self.assertEqual(wrong.returncode, 2)
            self.assertIn(word, wrong.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
