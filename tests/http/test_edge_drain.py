#!/usr/bin/env python3
"""tests/http/test_edge_drain.py - SIGTERM: what had come is answered, nobody can hold the end up."""

import json
import signal
import threading
import unittest

from avrod import Server, read_all, read_reply
from edge import HOST, PING, ends, split_replies


class Drain(unittest.TestCase):
    def test_what_was_read_is_answered_with_close(self):
        with Server("--threads", "1") as s:
            busy, idle, later = s.connect(), s.connect(), s.connect()
            for c in (busy, idle, later):
                c.sendall(PING)
                read_reply(c)
            s.post("/putschema/blob", b'"bytes"')
            busy.sendall(b"PUT /blob/1 HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n")
            self.assertEqual(read_reply(busy)[0].status, 100)
            s.process.send_signal(signal.SIGTERM)
            self.assertTrue(ends(idle))
            busy.sendall(b"hello")
            reply, rest = read_reply(busy)
            self.assertEqual((reply.status, reply.header("Connection")), (201, "close"))
            self.assertTrue(ends(busy))
            self.assertEqual(s.process.wait(20), 0)
            with self.assertRaises(ConnectionRefusedError):
                s.connect()
            for c in (busy, idle, later):
                c.close()

    def test_a_request_that_has_begun_may_end(self):
        with Server("--threads", "1") as s, s.connect() as begun, s.connect() as idle:
            for c in (begun, idle):
                c.sendall(PING)
                read_reply(c)
            begun.sendall(PING + PING[:20])
            read_reply(begun)
            s.process.send_signal(signal.SIGTERM)
            self.assertTrue(ends(idle))
            begun.sendall(PING[20:])
            reply, rest = read_reply(begun)
            self.assertEqual((reply.body, reply.header("Connection"), rest), (b"pong", "close", b""))
            self.assertTrue(ends(begun))
            self.assertEqual(s.process.wait(20), 0)

    def test_what_waits_behind_a_long_answer_is_answered(self):
        """Twenty requests in one segment, whose answers are far more than may wait for a client at once."""
        schema = {"type": "record", "name": "R", "doc": "x" * 1000000, "fields": []}
        with Server("--threads", "1") as s, s.connect() as c:
            s.post("/putschema/r", json.dumps(schema).encode())
            c.sendall((b"GET /getschema/r HTTP/1.1\r\n" + HOST + b"\r\n") * 20)
            read = c.recv(1)  # the server is at it
            s.process.send_signal(signal.SIGTERM)
            replies = split_replies(read + read_all(c))
            self.assertEqual([r.status for r in replies], [200] * 20)
            self.assertEqual(replies[-1].header("Connection"), "close")
            c.close()
            self.assertEqual(s.process.wait(20), 0)

    def test_who_goes_on_pipelining_is_not_served_for_ever(self):
        for request in PING, b"PUT /blob/1 HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\n\r\nx":
            with Server("--threads", "1") as s, s.connect() as c:
                s.post("/putschema/blob", b'"bytes"')
                sent = [0]

                def talk():
                    try:
                        while True:
                            sent[0] += c.send(request * 50)
                    except OSError:
                        pass

                talker = threading.Thread(target=talk)
                talker.start()
                data = bytearray(c.recv(65536))
                s.process.send_signal(signal.SIGTERM)
                data += read_all(c)
                replies = split_replies(bytes(data))
                c.close()
                talker.join()
                self.assertEqual(s.process.wait(60), 0)
                self.assertNotIn("still open", s.read_log())
                self.assertTrue(all(r.status in (200, 201) for r in replies))
                self.assertLessEqual(len(replies), sent[0] // len(request))
                self.assertTrue(all(r.header("Connection") is None for r in replies[:-1]))

    def test_who_sent_half_a_request_is_not_waited_for_long(self):
        """Less than the deadline of a drain: nothing is closed by force."""
        with Server("--threads", "1") as s:
            s.post("/putschema/blob", b'"bytes"')
            halves = [PING[:10], b"PUT /blob/1 HTTP/1.1\r\n" + HOST + b"Content-Length: 9\r\n\r\nhalf"]
            clients = [s.connect(timeout=60) for _ in halves]
            for c, half in zip(clients, halves):
                c.sendall(PING + half)
                read_reply(c)
            s.process.send_signal(signal.SIGTERM)
            for c in clients:
                self.assertEqual([r.status for r in split_replies(read_all(c))], [408])
                c.close()
            self.assertEqual(s.process.wait(60), 0)
            self.assertNotIn("still open", s.read_log())


if __name__ == "__main__":
    unittest.main(verbosity=1)
