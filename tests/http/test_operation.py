"""tests/http/test_operation.py - the process: command line, start, signals, a second server on the same directory."""

import json
import os
import signal
import subprocess
import tempfile

from avrod import AVROD, Server, read_reply

SCHEMA = json.dumps({"type": "record", "name": "O", "fields": [{"name": "n", "type": "int"}]})


def run(*args):
    return subprocess.run([AVROD, *args], capture_output=True, timeout=60, check=False)


def check_command_line():
    shown = run("--help")
    assert shown.returncode == 0 and not shown.stderr
    text = shown.stdout.decode()
    for word in ("--data DIR", "--listen ADDR:PORT", "127.0.0.1:8080", "--durability", "power cut", "--threads",
                 "--map-max", "--body-max", "16MiB", "--connections-max", "10000", "--compat", "--insecure",
                 "--accept-dirty", "--engine", "--version\n"):
        assert word in text, word
    assert run("--version").stdout == b"avrod 0.1.0\n"
    for args, word in ((["--nope"], b"--nope"), (["--data"], b"value is missing"), ([], b"--data"),
                       (["--data", "x", "--durability", "fast"], b"sync, async or none"),
                       (["--data", "x", "--threads", "many"], b"number")):
        wrong = run(*args)
        assert wrong.returncode == 2 and word in wrong.stderr and not wrong.stdout, wrong


def check_wrong_start():
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "file")
        with open(plain, "w", encoding="utf-8") as f:
            f.write("no directory")
        for args in (["--data", plain, "--listen", "127.0.0.1:0"],
                     ["--data", folder + "/d", "--listen", "nowhere"],
                     ["--data", folder + "/d", "--listen", "0.0.0.0:0"],
                     ["--data", folder + "/d", "--listen", "127.0.0.1:0", "--engine", "rocks"]):
            wrong = run(*args)
            assert wrong.returncode == 1 and b"cannot start" in wrong.stderr, (args, wrong)


def check_no_map_is_too_large():
    """What the address space has no room for is halved until it fits."""
    for most in 2**64 - 1, 2**63:
        with Server("--map-max", str(most)) as s:
            assert s.post("/putschema/blob", body=b'"bytes"').status == 200
            for i in range(12):
                assert s.put(f"/blob/{i}", body=bytes(1 << 20)).status == 201


def check_second_server(s):
    second = run("--data", s.data, "--listen", "127.0.0.1:0")
    assert second.returncode == 1, second
    assert s.data.encode() in second.stderr, second
    third = run("--data", s.data + "-other", "--listen", f"127.0.0.1:{s.port}")
    assert third.returncode == 1 and str(s.port).encode() in third.stderr, third
    subprocess.run(["rm", "-r", s.data + "-other"], check=True)
    assert s.get("/ping").body == b"pong"


def check_health(s):
    assert s.get("/ping").body == b"pong"
    assert s.get("/ping").header("Content-Length") == "4"
    for path in "/healthz", "/readyz":
        reply = s.get(path)
        assert reply.status == 200 and reply.header("Content-Type").startswith("text/plain"), reply
    root = s.get("/").json()
    assert root["name"] == "avrod" and root["version"] == "0.1.0" and root["links"]["schemas"] == "/schemas"
    log = s.read_log()
    assert log.count("ready: ") == 1, log


def check_drain(number):
    """What was read is answered, the exit is 0, and what was answered is there afterwards."""
    with Server() as s:
        assert s.post("/putschema/o", body=SCHEMA).status == 200
        with s.connect() as c:
            text = b""
            for i in range(50):
                body = b'{"n":%d}' % i
                text += b"PUT /o/%d HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (i, len(body), body)
            c.sendall(text)
            reply, rest = read_reply(c)
            assert reply.status == 201
            s.process.send_signal(number)
            answered = 1
            try:
                while True:
                    reply, rest = read_reply(c, pending=rest)
                    assert reply.status == 201, reply
                    answered += 1
            except (EOFError, ConnectionResetError):
                pass
        assert s.process.wait(60) == 0
        s.start()
        for i in range(answered):
            assert s.get(f"/o/{i}").json() == {"n": i}
        assert s.get("/schemas").json()[0]["records"] >= answered


def check_second_signal():
    """A client that will not end holds the first one up; the second ends the server at once."""
    with Server() as s:
        with s.connect() as c:
            c.sendall(b"PUT /o/1 HTTP/1.1\r\nHost: localhost\r\nContent-Le")
            s.process.send_signal(signal.SIGTERM)
            while b"draining" not in s.log and s.process.poll() is None:
                s.read_log()
            s.process.send_signal(signal.SIGTERM)
            code = s.process.wait(60)
            assert code in (0, -signal.SIGTERM), code
        s.start()  # without repair
        assert s.get("/ping").body == b"pong"


def main():
    check_command_line()
    check_wrong_start()
    check_no_map_is_too_large()
    with Server() as s:
        check_health(s)
        check_second_server(s)
    for number in signal.SIGTERM, signal.SIGINT:
        check_drain(number)
    check_second_signal()
    for engine in "lmdb", "memory":
        with Server("--engine", engine, "--durability", "none", "--threads", "1") as s:
            assert s.post("/putschema/o", body=SCHEMA).status == 200
            assert s.put("/o/1", body=b'{"n":1}').status == 201
            assert s.get("/o/1").json() == {"n": 1}
    print("ok")


if __name__ == "__main__":
    main()
