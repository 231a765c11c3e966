"""tests/http/test_backup.py - GET /_backup, --restore and --compact: what comes out is the store as it was at one revision, whatever is
written meanwhile; what cannot be done is refused and leaves nothing behind."""

import base64
import hashlib
import json
import os
import re
import resource
import subprocess
import tempfile
import threading
import time

from avrod import AVROD, Server, read_reply

COUNTER = '{"type":"record","name":"N","fields":[{"name":"n","type":"long"},{"name":"pad","type":"string","default":""}]}'


def care(*args, stdin=None):
    done = subprocess.run([AVROD, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=stdin, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def restored(folder, backup, name="restored"):
    """A directory that has been made of a backup's bytes, and is clean."""
    path, directory = os.path.join(folder, f"{name}.backup"), os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(backup)
    code, out, err = care("--restore", path, directory)
    assert code == 0 and not err and out.startswith(f"restored {directory}: "), (code, out, err)
    code, said, err = care("--fsck", directory)
    assert code == 0, (code, said, err)
    return directory, out


def fill(s, n, size, name="blob"):
    assert s.post(f"/putschema/{name}", '"bytes"').status == 200
    for i in range(n):
        assert s.put(f"/{name}/{i}", os.urandom(size)).status == 201


def metric(s, name):
    return float(re.search(rf"^{name} (\S+)$", s.get("/metrics").body.decode(), re.M).group(1))


def await_idle(s):
    until = time.monotonic() + 60
    while metric(s, "avrod_backup_running"):
        assert time.monotonic() < until
        time.sleep(0.01)


def await_descriptors(s, most):
    """Of connections whose clients have gone the server hears a moment later."""
    until = time.monotonic() + 60
    while s.descriptors() > most:
        assert time.monotonic() < until, "a file is still open"
        time.sleep(0.01)


def names_in(s):
    return sorted(os.listdir(s.data))


def check_whole(folder):
    """All types, options, records, lives and the registry's settings are in it."""
    with Server() as s:
        before = names_in(s)
        assert s.post("/putschema/n?missing=zero", COUNTER).status == 200
        fill(s, 5, 30000)
        for i in range(500):
            assert s.put(f"/n/{i}", json.dumps({"n": i, "pad": "x" * i})).status == 201
        assert s.put("/n/brief?ttl=1000", '{"n":1}').status == 201
        assert s.delete("/n/7").status == 200
        assert s.put("/config", '{"compatibility":"FULL"}').status == 200
        reply = s.get("/_backup")
        assert reply.status == 200 and reply.header("Content-Type") == "application/octet-stream", reply
        assert reply.header("Content-Length") == str(len(reply.body))
        digest = base64.b64encode(hashlib.sha256(reply.body).digest()).decode()
        assert reply.header("Repr-Digest") == f"sha-256=:{digest}:", reply.headers
        name = re.fullmatch(r'attachment; filename="avrod-(\d+)\.backup"', reply.header("Content-Disposition"))
        assert name, reply.headers
        directory, said = restored(folder, reply.body)
        assert f"2 types, 505 records, revision {name[1]}, " in said, said
        assert names_in(s) == before, "something was left behind"
        paths = ["/schemas", "/n", "/n?keys=1", "/n/5", "/blob/3", "/config", "/getschema/n"]
        with Server(data=directory) as other:
            for path in paths:
                a, b = s.get(path), other.get(path)
                clock = re.compile(rb'"ttl":\d+')
                assert a.status == b.status == 200 and clock.sub(b"", a.body) == clock.sub(b"", b.body), (path, a, b)
                assert a.header("ETag") == b.header("ETag")
            assert 990 <= int(other.get("/n/brief").header("TTL")) <= 1000
            written = other.put("/n/7", '{"n":7}')
            assert written.status == 201 and int(re.match(r'"(\d+)', written.header("ETag"))[1]) > int(name[1])


class Mover(threading.Thread):
    """Two records that only ever move together, and others beside them that are long."""

    def __init__(self, server):
        super().__init__()
        self.server, self.over, self.n, self.fault = server, False, 0, None

    def run(self):
        try:
            with self.server.connect() as sock:
                pending = b""
                while not self.over:
                    self.n += 1
                    ops = [{"op": "put", "type": "n", "id": ident, "record": {"n": self.n, "pad": "y" * (self.n * 97 % 9000)}}
                           for ident in ("left", "right", f"other-{self.n % 50}")]
                    body = json.dumps({"operations": ops})
                    sock.sendall(f"POST /_txn HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
                    reply, pending = read_reply(sock, pending=pending)
                    assert reply.status == 200, reply
        except Exception as fault:  # told by the test
            self.fault = fault


def check_one_revision(folder):
    """Under load, again and again."""
    with Server("--durability", "none") as s:
        assert s.post("/putschema/n", COUNTER).status == 200
        fill(s, 30, 200000)
        mover, seen = Mover(s), set()
        mover.start()
        try:
            for i in range(4):
                low = mover.n
                while mover.n < low + 5:
                    assert not mover.fault, mover.fault
                    time.sleep(0.001)
                low = mover.n - 1
                reply = s.get("/_backup")
                assert reply.status == 200, reply
                directory, _ = restored(folder, reply.body, f"round-{i}")
                with Server(data=directory) as other:
                    left, right = other.get("/n/left").json(), other.get("/n/right").json()
                    assert left == right and low <= left["n"] <= mover.n, (low, left, right, mover.n)
                    revision = re.search(r"avrod-(\d+)", reply.header("Content-Disposition"))[1]
                    assert other.get("/n/left").header("ETag") == f'"{revision}-1"'
                    seen.add(left["n"])
        finally:
            mover.over = True
            mover.join()
        assert not mover.fault, mover.fault
        assert len(seen) == 4


def check_one_at_a_time(folder):
    with Server() as s:
        fill(s, 20, 1000000)
        with s.connect() as first:
            first.sendall(b"GET /_backup HTTP/1.1\r\nHost: localhost\r\n\r\n")
            head = first.recv(100)
            assert head.startswith(b"HTTP/1.1 200 "), head
            second = s.get("/_backup")
            assert second.status == 503 and second.json()["code"] == "backup_running" and second.header("Retry-After"), second
            assert metric(s, "avrod_backup_running") == 1
            assert s.put("/blob/beside", b"x").status == 201  # others go on
        await_idle(s)  # its client has left
        reply = s.get("/_backup")
        assert reply.status == 200
        restored(folder, reply.body, "later")
        descriptors = s.descriptors()
        assert s.get("/_backup").status == 200
        await_idle(s)
        await_descriptors(s, descriptors)


def check_client_that_leaves():
    with Server() as s:
        fill(s, 40, 1000000)
        with s.connect() as sock:
            sock.sendall(b"GET /_backup HTTP/1.1\r\nHost: localhost\r\n\r\n")
            while "backup: begun" not in s.read_log():
                time.sleep(0.001)
        await_idle(s)
        assert "backup: given up: The client has left." in s.read_log() or "rows, made in" in s.read_log(), s.log
        assert metric(s, "avrod_store_oldest_snapshot_seconds") < 1
        assert s.get("/_backup").status == 200


def check_head():
    with Server() as s:
        reply = s.request("HEAD", "/_backup")
        assert reply.status == 200 and reply.header("Content-Type") == "application/octet-stream", reply
        assert not reply.header("Content-Length") and "backup" not in s.read_log()
        coded = s.get("/_backup", headers={"Accept-Encoding": "gzip, identity;q=0"})
        assert coded.header("Content-Encoding") == "gzip" and not coded.header("Repr-Digest"), coded.headers
        assert s.post("/_backup").status == 405 and s.get("/_backup?x=1").status == 400
        assert s.post("/putschema/_backup", '"int"').status == 400


def check_memory_engine():
    with Server("--engine", "memory") as s:
        reply = s.get("/_backup")
        assert reply.status == 501 and reply.json()["code"] == "not_supported", reply


def check_no_room():
    """The disk takes no more in the middle of it: 507, the file is gone, and the store goes on."""
    with Server() as s:
        fill(s, 8, 1000000)
        before, descriptors = names_in(s), s.descriptors()
        old = resource.prlimit(s.process.pid, resource.RLIMIT_FSIZE, (3 << 20, resource.RLIM_INFINITY))
        reply = s.get("/_backup")
        assert reply.status == 507 and reply.json()["code"] == "no_space", reply
        resource.prlimit(s.process.pid, resource.RLIMIT_FSIZE, old)
        assert names_in(s) == before
        await_descriptors(s, descriptors + 1)  # and the eventfd of the store's reader
        assert metric(s, "avrod_backups_failed_total") == 1 and metric(s, "avrod_backup_running") == 0
        assert s.put("/blob/more", b"x").status == 201 and s.get("/_backup").status == 200


def check_backup_dir(folder):
    elsewhere = os.path.join(folder, "elsewhere")
    with Server("--backup-dir", elsewhere) as s:
        fill(s, 1, 10)
        reply = s.get("/_backup")
        assert reply.status == 500 and "elsewhere" not in reply.body.decode(), reply
        os.mkdir(elsewhere)
        assert s.get("/_backup").status == 200 and not os.listdir(elsewhere)


def check_drain():
    """It does not keep a server from ending."""
    s = Server()
    with s:
        fill(s, 40, 1000000)
        with s.connect() as sock:
            sock.sendall(b"GET /_backup HTTP/1.1\r\nHost: localhost\r\n\r\n")
            while "backup: begun" not in s.read_log():
                time.sleep(0.001)
            s.process.terminate()
            reply, _ = read_reply(sock)
            assert reply.status == 200 or (reply.status == 503 and reply.json()["code"] == "draining"), reply
        assert s.process.wait(60) == 0
        assert s.fsck()


def check_restore_refuses(folder):
    with Server() as s:
        fill(s, 3, 20000)
        backup = s.get("/_backup").body
        inside = s.data
        code, out, err = care("--restore", os.path.join(folder, "later.backup"), s.data)
        assert code == 1 and "is not empty" in err, (code, out, err)
    whole = os.path.join(folder, "whole.backup")
    with open(whole, "wb") as f:
        f.write(backup)
    spoiled = bytearray(backup)
    spoiled[4096 * 2:4096 * 5] = os.urandom(4096 * 3)
    for name, content in ("cut", backup[:-1]), ("spoiled", bytes(spoiled)), ("empty", b""), ("other", b"x" * 100000):
        path, directory = os.path.join(folder, name), os.path.join(folder, name + ".d")
        with open(path, "wb") as f:
            f.write(content)
        code, out, err = care("--restore", path, directory)
        assert code == 1 and not out and err.startswith("avrod: "), (name, code, out, err)
        assert not os.path.exists(directory), name
    taken = os.path.join(folder, "taken")
    os.mkdir(taken)
    with open(os.path.join(taken, "file"), "w", encoding="ascii"):
        pass
    code, _, err = care("--restore", whole, taken)
    assert code == 1 and "is not empty" in err and os.listdir(taken) == ["file"], err
    empty = os.path.join(folder, "empty.dir")
    os.mkdir(empty)
    with open(whole, "rb") as f:
        code, out, err = care("--restore", "-", empty, stdin=f)
    assert code == 0 and "1 types, 3 records" in out, (code, out, err)
    assert not os.path.exists(inside) or not names_in(s)
    for args in (["--restore", whole], ["--restore"], ["--restore", whole, "a", "b"], ["--json", "--data", "x"], ["stray"],
                 ["--restore", whole, "a", "--compact", "b"]):
        code, _, err = care(*args)
        assert code == 2 and err, args


def check_what_is_lost_stays_lost(folder):
    """Where a store's file is missing, a restore that fails leaves it so: no server begins anew there."""
    lost, junk = os.path.join(folder, "lost"), os.path.join(folder, "junk")
    with open(junk, "wb") as f:
        f.write(b"x" * 100000)
    with Server(data=lost) as s:
        fill(s, 1, 10)
        backup = s.get("/_backup").body
    os.unlink(os.path.join(lost, "data.mdb"))
    os.unlink(os.path.join(lost, "lock.mdb"))
    code, _, err = care("--restore", junk, lost)
    assert code == 1 and os.listdir(lost) == ["LOCK"], (err, os.listdir(lost))
    assert os.path.getsize(os.path.join(lost, "LOCK")) > 0
    with open(junk, "wb") as f:
        f.write(backup)
    assert care("--restore", junk, lost)[0] == 0 and care("--fsck", lost)[0] == 0
    os.unlink(os.path.join(lost, "data.mdb"))
    with open(junk, "wb") as f:
        f.write(backup[:5000])
    assert care("--restore", junk, lost)[0] == 1
    code, _, err = care("--data", lost, "--listen", "127.0.0.1:0")
    assert code == 1 and "a store was here" in err, (code, err)


def check_a_running_server_s_file(folder):
    """By its name it is no more to be had than by its directory's."""
    with Server() as s:
        fill(s, 1, 10)
        path = os.path.join(s.data, "data.mdb")
        assert care("--fsck", path)[0] == 2
        code, _, err = care("--restore", path, os.path.join(folder, "living"))
        assert code == 1 and "Another process has the store" in err and not os.path.exists(os.path.join(folder, "living")), err
        s.stop()
        assert care("--fsck", path)[0] == 0 and care("--restore", path, os.path.join(folder, "living"))[0] == 0


def check_links(folder):
    """What a link leads to is neither written to nor left behind."""
    with Server() as s:
        fill(s, 1, 10)
        path, away = os.path.join(s.data, "data.mdb"), os.path.join(folder, "away.mdb")
        s.stop()
        os.rename(path, away)
        os.symlink(away, path)
        code, _, err = care("--compact", s.data)
        assert code == 1 and "symbolic link" in err and os.path.islink(path) and not os.path.exists(path + ".new"), err
        os.unlink(path)
        os.rename(away, path)
        other, linked = os.path.join(folder, "other.file"), os.path.join(folder, "linked")
        with open(other, "w", encoding="ascii") as f:
            f.write("somebody's")
        os.mkdir(linked)
        os.symlink(other, os.path.join(linked, "LOCK"))
        assert care("--restore", path, linked)[0] == 1
        with open(other, encoding="ascii") as f:
            assert f.read() == "somebody's"


def check_compact():
    with Server() as s:
        fill(s, 60, 300000)
        for i in range(55):
            assert s.delete(f"/blob/{i}").status == 200
        code, _, err = care("--compact", s.data)
        assert code == 1 and "Another process has the store" in err, err
        left = {i: s.get(f"/blob/{i}") for i in range(55, 60)}
        used = metric(s, "avrod_store_file_bytes")
        s.restart()
        s.stop()
        path = os.path.join(s.data, "data.mdb")
        with open(path + ".new", "wb") as f:
            f.write(b"left by one that was killed")
        code, out, err = care("--compact", s.data)
        assert code == 0 and not err and out.startswith(f"compacted {s.data}: "), (code, out, err)
        # What is dead stays for a while in the trash, and so in the file.
        assert os.path.getsize(path) < used and not os.path.exists(path + ".new")
        assert s.fsck()
        s.start()
        for i, reply in left.items():
            again = s.get(f"/blob/{i}")
            assert again.body == reply.body and again.header("ETag") == reply.header("ETag")
        assert s.get("/blob/1").status == 404 and s.put("/blob/1", b"x").status == 201


def main():
    with tempfile.TemporaryDirectory(prefix="avrod-test-") as folder:
        for check in check_whole, check_one_revision, check_one_at_a_time, check_backup_dir, check_restore_refuses, \
                check_what_is_lost_stays_lost, check_a_running_server_s_file, check_links:
            print(check.__name__, flush=True)
            check(folder)
        for check in check_client_that_leaves, check_head, check_memory_engine, check_no_room, check_drain, check_compact:
            print(check.__name__, flush=True)
            check()
    print("ok")


if __name__ == "__main__":
    main()
