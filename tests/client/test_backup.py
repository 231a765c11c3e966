"""tests/client/test_backup.py - avroctl backup, restore and fsck: what is there in the end is whole, or is not there."""

import base64
import fcntl
import hashlib
import json
import os
import re
import stat
import subprocess
import tempfile
import threading

from avrod import Server
from test_avroctl import AVROCTL, CITY, HERE, NO_ANSWER, NO_CONNECTION, OK, REFUSED, USAGE, Ctl, Script, of, on_terminal

RECORDS = 300


def digest_of(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def answer(body, digest=None, length=None, name="avrod-7.backup"):
    """What a server says of a backup."""
    digest = base64.b64encode(hashlib.sha256(body if digest is None else digest).digest()).decode()
    head = ["HTTP/1.1 200 OK", f"Content-Length: {len(body) if length is None else length}",
            f'Content-Disposition: attachment; filename="{name}"', f"Repr-Digest: sha-512=:AA==:, sha-256=:{digest}:"]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def make_store(ctl):
    ctl("schema", "put", "city", "--option", "max_items=7", "--option", "max_depth=9", stdin=CITY)
    operations = [{"op": "put", "type": "city", "id": f"c{i}", "record": {"name": "x" * i, "people": i}} for i in range(RECORDS)]
    ctl("txn", stdin={"operations": operations})


def check_backup(ctl, folder):
    """There and back again: the restored store has what the first one had."""
    path = os.path.join(folder, "city.backup")
    told = json.loads(ctl("backup", path, "--json"))
    assert told == {"file": path, "bytes": os.path.getsize(path), "sha256": digest_of(path)}, told
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600 and os.listdir(folder) == ["city.backup"]
    assert "is there already; --force replaces it" in ctl.refused("backup", path, code=HERE)
    ctl("put", "city", "late", stdin={"name": "late"})
    said = ctl("backup", path, "--force").decode()
    assert said == f"{path}: {os.path.getsize(path)} bytes\n" and digest_of(path) != told["sha256"]
    piped = ctl("backup", "-")
    assert hashlib.sha256(piped).digest() and len(piped) == os.path.getsize(path) and os.listdir(folder) == ["city.backup"]
    restored = os.path.join(folder, "restored")
    assert f"restored {restored}: 1 types, {RECORDS + 1} records" in ctl("restore", path, restored).decode()
    with Server(data=restored) as second:
        again = of(second)
        assert again("scan", "city") == ctl("scan", "city")
        assert json.loads(again("types", "--json"))[0]["max_items"] == 7
    return path, restored


def check_name(ctl, folder):
    """Without FILE it is called as the server calls it, in the folder where one is."""
    done = subprocess.run([AVROCTL, "backup"], env=ctl.env, cwd=folder, stdout=subprocess.PIPE, timeout=60, check=True)
    name = re.fullmatch(r"(avrod-\d+\.backup): \d+ bytes\n", done.stdout.decode()).group(1)
    assert os.listdir(folder) == [name]
    done = subprocess.run([AVROCTL, "backup"], env=ctl.env, cwd=folder, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == HERE and b"is there already" in done.stderr, done
    os.unlink(os.path.join(folder, name))


def check_names_of_strangers(folder):
    for name, made in [("../evil", "avrod.backup"), (".hidden", "avrod.backup"), ("a/b", "avrod.backup"), ("x" * 64, "avrod.backup"),
                       ("", "avrod.backup"), ("-f", "avrod.backup"), ("fine_1.2-x", "fine_1.2-x")]:
        with Script(answer(b"store", name=name)) as (script, ctl):
            done = subprocess.run([AVROCTL, "backup"], env=ctl.env, cwd=folder, stdout=subprocess.PIPE, timeout=60, check=True)
            assert done.stdout == f"{made}: 5 bytes\n".encode(), (name, done)
            assert script.requests[0].startswith(b"GET /_backup HTTP/1.1\r\n")
        assert os.listdir(folder) == [made]
        os.unlink(os.path.join(folder, made))


def check_what_is_not_whole(folder):
    """Nothing is left of it, and what was there before stays."""
    path = os.path.join(folder, "kept")
    with open(path, "wb") as f:
        f.write(b"before")
    none = answer(b"store").replace(b"Repr-Digest", b"X-Digest")
    for said, word in [(answer(b"store", digest=b"other"), "its SHA-256 is another"), (answer(b"store", length=9), "ended before the answer"),
                       (none, "not one of avrod's"), (answer(b""), "The answer is empty"),
                       (answer(b"store").replace(b"=:", b"=:A"), "not one of avrod's")]:
        with Script(said) as (script, ctl):
            told = ctl.refused("backup", path, "--force", code=NO_ANSWER)
            assert word in told and "attempts" not in told, (word, told)
            assert len(script.requests) == 1
        with open(path, "rb") as f:
            assert os.listdir(folder) == ["kept"] and f.read() == b"before"
    os.unlink(path)


def check_retries(folder):
    """As long as nothing has come it is tried again."""
    path = os.path.join(folder, "b")
    busy = b"HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"
    with Script(busy, b"", answer(b"store")) as (script, ctl):
        ctl("backup", path)
        assert len(script.requests) == 3
    os.unlink(path)
    with Script(busy) as (_, ctl):
        assert "(503)" in ctl.refused("backup", path, "--retries", "0")
    ctl.refused("backup", path, "--retries", "0", code=NO_CONNECTION)
    assert not os.listdir(folder)


def check_silence(folder):
    """The time of silence counts from when something has come; before that the server is at work, and Ctrl-C ends it."""
    path = os.path.join(folder, "b")
    slow = threading.Event()

    class Slow(Script):
        def serve(self):
            connection, _ = self.listener.accept()
            connection.recv(65536)
            slow.wait(60)
            connection.sendall(answer(b"store"))
            connection.close()

    with Slow() as (_, ctl):
        with subprocess.Popen([AVROCTL, "backup", path, "--timeout", "1s"], env=ctl.env, stdout=subprocess.PIPE) as process:
            try:
                process.wait(3)
                raise AssertionError("it did not wait")
            except subprocess.TimeoutExpired:
                pass
            slow.set()
            assert process.wait(60) == OK
    os.unlink(path)
    slow.clear()
    with Slow() as (_, ctl):
        code, shown = on_terminal(ctl, ["backup", path], rb"the server makes the backup")
        assert code == HERE and b"Interrupted." in shown, (code, shown)
        slow.set()
    assert not os.listdir(folder)


def check_part(folder):
    """What a killed run has left is no hindrance; one that still writes is."""
    path = os.path.join(folder, "b")
    with open(path + ".part", "wb") as left:
        left.write(b"left" * 1000)
        left.flush()
        fcntl.flock(left, fcntl.LOCK_EX)
        with Script(answer(b"store")) as (_, ctl):
            assert "is being written by another process" in ctl.refused("backup", path, code=HERE)
    with Script(answer(b"store")) as (_, ctl):
        ctl("backup", path)
    with open(path, "rb") as f:
        assert f.read() == b"store" and os.listdir(folder) == ["b"]
    os.unlink(path)
    with Script() as (_, ctl):
        assert "No such file" in ctl.refused("backup", os.path.join(folder, "no", "b"), code=HERE)
    with Script(answer(b"store")) as (_, ctl), open("/dev/full", "wb") as full:
        done = subprocess.run([AVROCTL, "backup", "-"], stdout=full, stderr=subprocess.PIPE, env=ctl.env, timeout=60, check=False)
        assert done.returncode == HERE, done


# ---- avrod in place of avroctl ----


def check_program(ctl, folder):
    """--avrod, AVROD_PROGRAM, the one beside, the one in PATH."""
    named = os.path.join(folder, "named")
    with open(named, "w", encoding="ascii") as f:
        f.write('#!/bin/sh\necho "$0: $@"\nexit 7\n')
    os.chmod(named, 0o755)
    assert ctl("fsck", "DIR", "--avrod", named, code=7) == f"{named}: --fsck DIR\n".encode()
    assert ctl("fsck", "DIR", "--json", "--mark-clean", env={"AVROD_PROGRAM": named}, code=7) == \
        f"{named}: --fsck DIR --json --mark-clean\n".encode()
    assert ctl("restore", "FILE", "DIR", env={"AVROD_PROGRAM": named}, code=7) == f"{named}: --restore FILE DIR\n".encode()
    said = ctl.refused("fsck", "DIR", "--avrod", named + "x", code=HERE)
    assert said == f"avroctl: {named}x cannot be started: No such file or directory. --avrod names it.\n", said
    assert "prints no JSON" in ctl.refused("restore", "FILE", "DIR", "--json", code=USAGE)
    assert "--avrod is no option" in ctl.refused("ping", "--avrod", named, code=USAGE)
    ctl.refused("ping", "--retries", "0", env={"AVROD_PROGRAM": named, "AVROD_URL": "http://127.0.0.1:1"}, code=NO_CONNECTION)
    alone = os.path.join(folder, "avroctl")
    with open(AVROCTL, "rb") as source, open(alone, "wb") as copy:
        copy.write(source.read())
    os.chmod(alone, 0o755)
    os.mkdir(os.path.join(folder, "bin"))
    os.rename(named, os.path.join(folder, "bin", "avrod"))
    env = {**ctl.env, "PATH": os.path.join(folder, "bin") + ":" + ctl.env["PATH"]}
    done = subprocess.run([alone, "fsck", "DIR"], env=env, stdout=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 7 and done.stdout.endswith(b"bin/avrod: --fsck DIR\n"), done


def check_restore_fails(ctl, path, restored):
    code, said = run(ctl, "restore", path, restored)
    assert code == 1 and said == f"avrod: {restored} is not empty: a store is restored into a directory of its own, which is not there yet.\n"
    with open(path, "r+b") as f:
        f.seek(os.path.getsize(path) // 2)
        f.write(b"damage!" * 100)
    code, said = run(ctl, "restore", path, restored + "-2")
    assert code == 1 and said.startswith("avrod: "), (code, said)
    code, _ = run(ctl, "restore", path + "x", restored + "-3")
    assert code == 1


def run(ctl, *args):
    done = ctl.run(*args)
    assert not done.stdout, done
    return done.returncode, done.stderr.decode()


def check_fsck(ctl, path, restored):
    """Its output and exit codes are avrod's: 0 clean, 1 faults, 2 it cannot be told."""
    for place in (path, restored):
        assert f"{place} is clean: 1 types, {RECORDS + 1} records" in ctl("fsck", place).decode()
        assert json.loads(ctl("fsck", place, "--json"))["clean"] is True
    ctl("fsck", restored + "-none", code=2)


def main():
    with tempfile.TemporaryDirectory(prefix="avrod-test-") as folder:
        for check in (check_names_of_strangers, check_what_is_not_whole, check_retries, check_silence):
            check(folder)
        check_part(folder)
    with Server() as s, tempfile.TemporaryDirectory(prefix="avrod-test-") as folder:
        ctl = of(s)
        make_store(ctl)
        check_name(ctl, folder)
        path, restored = check_backup(ctl, folder)
        check_fsck(ctl, path, restored)
        check_restore_fails(ctl, path, restored)
    with Server("--engine", "memory") as s, tempfile.TemporaryDirectory(prefix="avrod-test-") as folder:
        ctl = of(s)
        assert "(501 not_supported)" in ctl.refused("backup", os.path.join(folder, "b")) and not os.listdir(folder)
        check_program(ctl, folder)
    print("ok")


if __name__ == "__main__":
    main()
