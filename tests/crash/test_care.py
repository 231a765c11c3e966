"""tests/crash/test_care.py - kill -9 at any moment of --restore and --compact. A store that is compacted is there, whole, as it was or as it
should be; what a restore leaves is a store, or nothing that a server takes for one, and can be restored anew.

    test_care.py --seed N --long KILLS"""

import argparse
import os
import random
import shutil
import subprocess
import tempfile
import time

from avrod import AVROD, Server

KILLS = 40  # of each
RECORDS = 300


def avrod(*args):
    return subprocess.run([AVROD, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)


def run_and_kill(args, after_s):
    """True: it had ended before."""
    process = subprocess.Popen([AVROD, *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(after_s)
    ended = process.poll() is not None
    process.kill()
    process.wait()
    return ended


def fsck(path):
    done = avrod("--fsck", path)
    assert done.returncode == 0, done.stdout.decode()
    return done.stdout.decode().split(": ", 1)[1].split("revision")[0]  # types, records, bytes


def duration_of(run):
    begun = time.monotonic()
    run()
    return time.monotonic() - begun


def kill_compact(original, folder, rng, kills):
    directory, finished = os.path.join(folder, "compact"), 0
    wanted = fsck(original)
    shutil.copytree(original, directory)
    whole = duration_of(lambda: avrod("--compact", directory))
    for _ in range(kills):
        shutil.rmtree(directory)
        shutil.copytree(original, directory)
        finished += run_and_kill(["--compact", directory], rng.random() * whole * 1.2)
        assert fsck(directory) == wanted
        with Server(data=directory) as s:
            assert s.get(f"/blob/{RECORDS - 1}").status == 200
    done = avrod("--compact", directory)
    assert done.returncode == 0, done.stdout
    assert sorted(os.listdir(directory)) == ["LOCK", "data.mdb", "lock.mdb"]
    return finished


def kill_restore(backup, folder, rng, kills):
    directory, finished, absent = os.path.join(folder, "restore"), 0, 0
    wanted = fsck(backup)
    whole = duration_of(lambda: avrod("--restore", backup, directory))
    for _ in range(kills):
        shutil.rmtree(directory, ignore_errors=True)
        finished += run_and_kill(["--restore", backup, directory], rng.random() * whole * 1.2)
        if os.path.exists(os.path.join(directory, "data.mdb")):
            assert fsck(directory) == wanted
            continue
        absent += 1
        lock = os.path.join(directory, "LOCK")
        if rng.random() < 0.5 and os.path.exists(lock) and os.path.getsize(lock):
            try:
                Server(data=directory)
                assert False, "a server has taken half a restore for a store"
            except RuntimeError as error:
                assert "has been removed or emptied" in str(error), error
            shutil.rmtree(directory)  # in which it has looked around
        done = avrod("--restore", backup, directory)
        assert done.returncode == 0, done.stdout
        assert fsck(directory) == wanted
    return finished, absent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--long", type=int, metavar="KILLS", default=KILLS)
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    rng = random.Random(args.seed)
    with tempfile.TemporaryDirectory(prefix="avrod-test-") as folder:
        original, backup = os.path.join(folder, "original"), os.path.join(folder, "backup")
        with Server("--durability", "none", data=original) as s:
            assert s.post("/putschema/blob", '"bytes"').status == 200
            for i in range(RECORDS):
                assert s.put(f"/blob/{i}", os.urandom(rng.randrange(60000))).status == 201
            for i in range(0, RECORDS - 1, 3):
                assert s.delete(f"/blob/{i}").status == 200
            with open(backup, "wb") as f:
                f.write(s.get("/_backup").body)
        print(f"compact: {kill_compact(original, folder, rng, args.long)} of {args.long} had ended before the kill", flush=True)
        finished, absent = kill_restore(backup, folder, rng, args.long)
        print(f"restore: {finished} of {args.long} had ended before the kill, {absent} left no store", flush=True)
    print("ok")


if __name__ == "__main__":
    main()
