"""tests/scale/test_scale.py - many types and many records: all of it is right, and what it takes is printed.

    test_scale.py [--types N] [--records N]     300 and 3,000, as ctest runs it; 5000 and 1000000 say something

With figures: putschema, start, memory a type before and after its schema is compiled, GET /schemas; delschema of a type of
many records under load, with the name taken again at once, and a kill -9 while they are removed."""

import argparse
import json
import re
import threading
import time

from avrod import Server, read_reply, records_of


def schema(i):
    return json.dumps({"type": "record", "name": f"T{i}", "fields": [
        {"name": "n", "type": "int"}, {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []}]})


def request(method, target, body=""):
    return f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def ask(sock, *args):
    sock.sendall(request(*args))
    reply, rest = read_reply(sock)
    assert not rest
    return reply


def percentile(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def milliseconds(times):
    return f"p50 {1000 * percentile(times, 0.5):.2f} ms, p99 {1000 * percentile(times, 0.99):.2f} ms, most {1000 * max(times):.1f} ms"


def timed(work):
    start = time.monotonic()
    result = work()
    return time.monotonic() - start, result


# ---- types ----

def putschemas(server, types):
    times = []
    with server.connect(60) as sock:
        for i in range(types):
            took, reply = timed(lambda i=i: ask(sock, "POST", f"/putschema/type{i}", schema(i)))
            assert reply.status == 200, reply
            times.append(took)
    part = max(1, types // 10)
    print(f"putschema: the first {part}: {milliseconds(times[:part])}; the last: {milliseconds(times[-part:])}")


def check_listed(server, types):
    took, listed = timed(lambda: server.get("/schemas").json())
    names = [entry["name"] for entry in listed]
    assert names == sorted(f"type{i}" for i in range(types)), len(names)
    print(f"GET /schemas: {1000 * took:.1f} ms for {types}")


def check_types(types):
    with Server("--durability", "none") as server:
        before = server.memory()
        putschemas(server, types)
        print(f"memory: {(server.memory() - before) / types / 1024:.1f} KiB a type, compiled")
        check_listed(server, types)
        server.stop()
        took, _ = timed(server.start)
        loaded = server.memory()
        print(f"start: {1000 * took:.0f} ms; memory then: {(loaded - before) / types / 1024:.2f} KiB a type")
        check_listed(server, types)
        with server.connect(60) as sock:
            for i in range(types):
                assert ask(sock, "PUT", f"/type{i}/a", '{"n":%d}' % i).status == 201
            for i in range(types):
                assert ask(sock, "GET", f"/type{i}/a").json() == {"n": i, "tags": []}
            for i in range(0, types, 2):
                assert ask(sock, "POST", f"/delschema/type{i}").status == 200
        left = {entry["name"]: entry["records"] for entry in server.get("/schemas").json()}
        assert left == {f"type{i}": 1 for i in range(1, types, 2)}


# ---- records ----

BEFORE = 1000  # puts and gets, to compare with


class Load(threading.Thread):
    """Puts and gets of another type, one after the other, timed."""

    def __init__(self, server):
        super().__init__()
        self.server, self.over, self.puts, self.gets, self.fault = server, threading.Event(), [], [], None

    def run(self):
        try:
            with self.server.connect(60) as sock:
                n = 0
                while not self.over.is_set():
                    took, reply = timed(lambda n=n: ask(sock, "PUT", f"/other/{n % 100}", '{"n":%d}' % n))
                    assert reply.status in (200, 201), reply
                    self.puts.append(took)
                    took, reply = timed(lambda n=n: ask(sock, "GET", f"/other/{n % 100}"))
                    assert reply.json() == {"n": n, "tags": []}
                    self.gets.append(took)
                    n += 1
        except Exception as fault:  # pylint: disable=broad-except
            self.fault = fault

    def end(self):
        self.over.set()
        self.join()
        assert self.fault is None, self.fault

    def __str__(self):
        return f"puts {milliseconds(self.puts)}; gets {milliseconds(self.gets)}"


def fill(server, records):
    with server.connect(60) as sock:
        for at in range(0, records, 500):
            upto = min(at + 500, records)
            sock.sendall(b"".join(request("PUT", f"/many/{i}", '{"n":%d}' % i) for i in range(at, upto)))
            rest = b""
            for _ in range(at, upto):
                reply, rest = read_reply(sock, pending=rest)
                assert reply.status == 201, reply


def used(server):
    return int(re.search(rb"^avrod_store_used_bytes (\d+)", server.get("/metrics").body, re.M).group(1))


def register(server, name):
    assert server.post(f"/putschema/{name}", schema(0)).status == 200


def check_drop(records):
    with Server("--durability", "none") as server:
        register(server, "other")
        empty = used(server)
        register(server, "many")
        fill(server, records)
        full = used(server)
        before = Load(server)
        before.start()
        while len(before.gets) < BEFORE:
            assert before.is_alive()
            time.sleep(0.01)
        before.end()
        load = Load(server)
        load.start()
        took, reply = timed(lambda: server.post("/delschema/many"))
        assert reply.status == 200
        register(server, "many")
        assert records_of(server, "many") == 0
        assert server.get("/many/0").status == 404 and server.put("/many/0", body=b'{"n":-1}').status == 201
        while used(server) > full - (full - empty) / 4:  # until some of it is gone
            assert load.is_alive()
        load.end()
        server.kill()
        server.start()
        assert records_of(server, "many") == 1 and server.get("/many/0").json() == {"n": -1, "tags": []}
        behind = Load(server)
        behind.start()
        start = time.monotonic()
        while used(server) > empty + (full - empty) / 10:
            assert behind.is_alive()
        gone = time.monotonic() - start
        behind.end()
        assert records_of(server, "many") == 1 and server.get("/many/1").status == 404
        print(f"delschema of {records} records: {1000 * took:.1f} ms; all but gone {gone:.1f} s after a kill amid")
        for when, part in ("before", before), ("until the kill", load), ("behind it", behind):
            print(f"  beside it, {when}: {part}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--types", type=int, default=300)
    parser.add_argument("--records", type=int, default=3000)
    args = parser.parse_args()
    check_types(args.types)
    check_drop(args.records)
    print("ok")


if __name__ == "__main__":
    main()
