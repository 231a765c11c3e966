"""tests/http/test_storage.py - what the store promises, seen from outside: reads behind writes, many writes waiting at the end,
a second server by another path, large schemas, sizes of ids."""

import json
import os
import signal
import subprocess
import tempfile

from avrod import AVROD, Server, read_reply, records_of

SCHEMA = json.dumps({"type": "record", "name": "S", "fields": [{"name": "n", "type": "int"}]})
HOST = b" HTTP/1.1\r\nHost: localhost\r\n"


def put_text(ident, n):
    body = b'{"n":%d}' % n
    return b"PUT /s/%s%sContent-Length: %d\r\n\r\n%s" % (ident, HOST, len(body), body)


def register(s):
    assert s.post("/putschema/s", body=SCHEMA).status == 200


def check_read_behind_an_answered_write(s):
    """Half of a get has come when a put on another connection is answered: the rest of it shows the put."""
    with s.connect() as reader, s.connect() as writer:
        for n in range(200):
            reader.sendall(b"GET /s/half HTTP/1.1\r\nHo")
            writer.sendall(put_text(b"half", n))
            assert read_reply(writer)[0].status in (200, 201)
            reader.sendall(b"st: localhost\r\n\r\n")
            reply, _ = read_reply(reader)
            assert reply.json() == {"n": n}, (n, reply)


def check_put_and_get_in_one_packet(s):
    get = b"GET /s/both" + HOST + b"\r\n"
    with s.connect() as c:
        for n in range(200):
            c.sendall(put_text(b"both", n) + get + put_text(b"both", -n) + b"DELETE /s/both" + HOST + b"\r\n" + get)
            rest, replies = b"", []
            for _ in range(5):
                reply, rest = read_reply(c, pending=rest)
                replies.append(reply)
            assert [r.status for r in replies] == [201, 200, 200, 200, 404], replies
            assert replies[1].json() == {"n": n}


def check_clients_that_leave(s):
    """Their writes are done or not done, and the server goes on."""
    for n in range(50):
        with s.connect() as c:
            c.sendall(put_text(b"left", n) * 10)
    assert s.put("/s/other", body=b'{"n":-1}').status == 201
    reply = s.get("/s/left")
    assert reply.status == 404 or reply.json()["n"] in range(50), reply


def read_answers(c, first, upto):
    """How many of the answers first to upto come before the end."""
    rest, answered = b"", first
    try:
        while answered < upto:
            reply, rest = read_reply(c, pending=rest)
            assert reply.status == 201, reply
            answered += 1
    except (EOFError, ConnectionResetError):
        pass
    return answered


def check_thousand_writes_waiting():
    """SIGTERM: what was read is answered, and what was answered is there."""
    with Server() as s:
        register(s)
        connections = [s.connect(60) for _ in range(25)]
        for i, c in enumerate(connections):
            c.sendall(b"".join(put_text(b"%d-%d" % (i, k), k) for k in range(40)))
        reply, rest = read_reply(connections[0])
        assert reply.status == 201
        s.process.send_signal(signal.SIGTERM)
        answered = [read_answers(c, 0, 40) for c in connections[1:]]
        for c in connections:
            c.close()
        assert s.process.wait(60) == 0, rest
        s.start()
        for i, n in enumerate(answered):
            for k in range(n):
                assert s.get(f"/s/{i + 1}-{k}").json() == {"n": k}
        assert records_of(s, "s") > sum(answered)


def check_second_server_through_a_link(s):
    with tempfile.TemporaryDirectory() as folder:
        link = os.path.join(folder, "link")
        os.symlink(s.data, link)
        command = [AVROD, "--data", link, "--listen", "127.0.0.1:0"]
        second = subprocess.run(command, capture_output=True, timeout=60, check=False)
        assert second.returncode == 1 and b"cannot start" in second.stderr, second
    assert s.get("/ping").body == b"pong"
    s.restart(kill=True)  # the lock of a process that died is none
    assert s.get("/ping").body == b"pong"


def check_sizes(s):
    long = s.put("/s/" + "i" * 2000, body=b'{"n":1}')
    assert long.status == 414 and "480" in long.json()["detail"], long
    assert s.put("/s/" + "i" * 480, body=b'{"n":1}').status == 201
    assert s.put("/s/" + "i" * 481, body=b'{"n":1}').status == 414
    assert s.get("/s/" + "i" * 480).json() == {"n": 1}
    every = "%00%ff" * 240
    assert s.put("/s/" + every, body=b'{"n":2}').status == 201 and s.get("/s/" + every).json() == {"n": 2}
    assert s.post("/putschema/" + "t" * 300, body=SCHEMA).status == 400


# ---- large schemas ----

def wide_schema(fields):
    types = ["null", "string", "long"]
    return {"type": "record", "name": "Wide", "fields": [{"name": f"f{i}", "type": types[i % 3]} for i in range(fields)]}


def deep_schema(levels):
    schema = "int"
    for i in range(levels, 0, -1):
        schema = {"type": "record", "name": f"L{i}", "fields": [{"name": "v", "type": schema}]}
    return schema


def check_wide(s):
    fields = 2000
    assert s.post("/putschema/wide", body=json.dumps(wide_schema(fields))).status == 200
    record = {f"f{i}": [None, f"text {i}", i][i % 3] for i in range(fields)}
    for body in json.dumps(record), json.dumps(dict(reversed(record.items()))):
        assert s.put("/wide/1", body=body).status in (200, 201)
        assert s.get("/wide/1").json() == record
    assert s.get("/wide/get/1/f1999").json() == record["f1999"]
    assert s.post("/wide/put/1/f1999", body=b'"new"').status == 200
    record["f1999"] = "new"
    assert s.get("/wide/1").json() == record
    refused = s.put("/wide/1", body=json.dumps({**record, "f1000": 5, "f2": "text"}))
    assert refused.status == 422 and [e["pointer"] for e in refused.json()["errors"]] == ["/f2", "/f1000"], refused
    assert s.put("/wide/2", body=b"{}").json()["truncated"] is True
    s.restart()
    assert s.get("/wide/1").json() == record


def check_deep(s):
    levels = next(n for n in range(128, 120, -1) if s.post("/putschema/deep", body=json.dumps(deep_schema(n))).status == 200)
    assert levels >= 127, levels
    record = 42
    for _ in range(levels):
        record = {"v": record}
    assert s.put("/deep/1", body=json.dumps(record)).status == 201
    assert s.get("/deep/1").json() == record
    refused = s.post("/putschema/deeper", body=json.dumps(deep_schema(130)))
    assert refused.status == 422 and "128" in refused.json()["detail"], refused


def main():
    for threads in "1", "2":
        with Server("--durability", "none", "--threads", threads) as s:
            register(s)
            check_read_behind_an_answered_write(s)
            check_put_and_get_in_one_packet(s)
            check_clients_that_leave(s)
    check_thousand_writes_waiting()
    with Server() as s:
        register(s)
        check_second_server_through_a_link(s)
        check_sizes(s)
        check_wide(s)
        check_deep(s)
    print("ok")


if __name__ == "__main__":
    main()
