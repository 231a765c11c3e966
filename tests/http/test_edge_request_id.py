#!/usr/bin/env python3
"""tests/http/test_edge_request_id.py - X-Request-Id: the client's or ours, in every answer, and in the log line of a 500."""

import os
import re
import unittest

from avrod import Server, read_all, read_reply
from edge import HOST, PING, split_replies


def ids(data):
    return [r.header_all("X-Request-Id") for r in split_replies(data)]


class RequestId(unittest.TestCase):
    def test_a_usable_one_is_echoed_and_any_other_is_replaced(self):
        def ask(value):
            return b"GET /ping HTTP/1.1\r\n" + HOST + b"X-Request-Id: " + value + b"\r\n\r\n"

        with Server("--threads", "1") as s:
            for value in b"a", b"abc-1", b"!\"#~", b"x" * 128, b'{"a":1},b:c;d=e':
                self.assertEqual(ids(s.raw(ask(value))), [[value.decode()]])
            for value in b"", b"x" * 129, b"a b", b"a\tb", b"\xc3\xbc", b"\x80":
                (made,), = ids(s.raw(ask(value)))
                self.assertRegex(made, r"^[0-9a-f]{16}$")
            data = s.raw(ask(b"one")[:-2] + b"X-Request-Id: two\r\n\r\n")
            self.assertEqual(split_replies(data)[0].status, 400, "it comes once")

    def test_every_answer_has_one_of_its_own(self):
        with Server("--threads", "2", "--connections-max", "20", "--head-deadline", "200ms") as s:
            s.post("/putschema/blob", b'"bytes"')
            seen = []
            for raw in (
                PING * 500,
                b"GET /nothing/at/all HTTP/1.1\r\n" + HOST + b"\r\n" + PING,
                b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n",
                b"OPTIONS /ping HTTP/1.1\r\n" + HOST + b"\r\n",
                b"BREW /ping HTTP/1.1\r\n" + HOST + b"\r\n",
                b"PUT /blob/1 HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\n\r\nx" + PING,
                b"broken\r\n\r\n",
                b"GET /ping HTTP/2.0\r\n\r\n",
                b"PUT /blob/1 HTTP/1.1\r\n" + HOST + b"Content-Length: 9\r\n\r\ncut",
            ):
                seen += ids(s.raw(raw))
            with s.connect() as c:  # 408
                c.sendall(b"GET")
                seen += ids(read_all(c))
            self.assertEqual(len(seen), 500 + 11)
            many, status = [], 200
            while status == 200:  # until there is one too many: 503
                many.append(s.connect())
                many[-1].sendall(PING)
                reply, _ = read_reply(many[-1])
                status = reply.status
                seen.append(reply.header_all("X-Request-Id"))
            self.assertEqual(status, 503)
            for c in many:
                c.close()
        for one in seen:
            self.assertEqual(len(one), 1, one)
            self.assertRegex(one[0], r"^[0-9a-f]{16}$")
        self.assertEqual(len({one[0] for one in seen}), len(seen), "no two are the same")

    def test_the_log_line_of_a_500_has_it(self):
        """A record whose bytes on disk are no UTF-8 any more."""
        with Server("--threads", "1") as s:
            s.post("/putschema/r", b'{"type":"record","name":"R","fields":[{"name":"a","type":"string"}]}')
            s.put("/r/1", b'{"a":"abcdefghijklmnop"}')
            s.stop()
            path = os.path.join(s.data, "data.mdb")
            with open(path, "rb") as f:
                data = f.read()
            self.assertIn(b"abcdefghijklmnop", data)
            with open(path, "wb") as f:
                f.write(data.replace(b"abcdefghijklmnop", b"abcdefgh\xff\xfeklmnop"))
            s.start()
            for headers in {"X-Request-Id": "find-me"}, {}:
                reply = s.get("/r/1", headers=headers)
                self.assertEqual(reply.status, 500)
                name = reply.header("X-Request-Id")
                self.assertEqual(headers.get("X-Request-Id", name), name)
                line = re.search(rf"^.* error GET /r/1: .*\(request {name}\)$", s.read_log(), re.M)
                self.assertTrue(line, s.log)


if __name__ == "__main__":
    unittest.main(verbosity=1)
