"""tests/http/test_full.py - a store or a disk that is full: 507 that says how full, reads and deletes go on, and so does
everything when there is room, without a restart."""

import ctypes
import os
import re
import subprocess
import tempfile

from avrod import Server, read_reply, records_of

MAP = 16 << 20
RESERVE = 4 << 20  # kept for deletes in a map of this size
BODY = bytes(range(256)) * 16
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18


def exchange(s, requests):
    """The statuses of pipelined writes, in order."""
    statuses = []
    with s.connect(60) as sock:
        for at in range(0, len(requests), 50):
            rest, batch = b"", requests[at:at + 50]
            sock.sendall(b"".join(batch))
            for _ in batch:
                reply, rest = read_reply(sock, pending=rest)
                statuses.append(reply.status)
    return statuses


def put_text(i):
    body = BODY + b"%08d" % i
    return b"PUT /blob/%d HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (i, len(body)) + body


def delete_text(i):
    return b"DELETE /blob/%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % i


def fill(s, first=0):
    """Put records until one is refused; how many there are then, and the refusal."""
    n = first
    while True:
        statuses = exchange(s, [put_text(n + i) for i in range(50)])
        taken = statuses.index(507) if 507 in statuses else 50
        assert set(statuses[:taken]) <= {201}, statuses
        for i in range(taken, 50):  # a smaller group behind may have found room
            if statuses[i] == 201:
                assert s.delete(f"/blob/{n + i}").status == 200
        n += taken
        if taken < 50:
            reply = s.put(f"/blob/{n}", body=BODY + b"%08d" % n)
            if reply.status == 507:
                return n, reply
            n += 1


def assert_holds(s, first, upto):
    assert records_of(s, "blob") == upto - first
    for i in {first, first + 1, (first + upto) // 2, upto - 1}:
        reply = s.get(f"/blob/{i}")
        assert reply.status == 200 and reply.body == BODY + b"%08d" % i, reply


def register(s):
    assert s.post("/putschema/blob", body=b'"bytes"').status == 200


def check_full_map():
    with Server("--map-max", "16MiB", "--durability", "none") as s:
        register(s)
        n, refusal = fill(s)
        problem = refusal.json()
        assert problem["code"] == "no_space" and problem["max_bytes"] == MAP, problem
        assert MAP - RESERVE - 200000 < problem["used_bytes"] <= MAP - RESERVE, problem
        assert str(problem["used_bytes"]) in problem["detail"], problem
        assert n > 1000
        assert_holds(s, 0, n)
        assert exchange(s, [delete_text(i) for i in range(100)]) == [200] * 100
        assert exchange(s, [put_text(n + i) for i in range(60)]) == [201] * 60
        assert_holds(s, 100, n + 60)
        n, _ = fill(s, n + 60)
        s.restart(kill=True)
        assert_holds(s, 100, n)
        assert s.put(f"/blob/{n}", body=BODY).status == 507
        assert s.delete("/blob/100").status == 200
        s.args[s.args.index("16MiB")] = "64MiB"
        s.restart()
        assert_holds(s, 101, n)
        assert exchange(s, [put_text(n + i) for i in range(1000)]) == [201] * 1000
        assert_holds(s, 101, n + 1000)


def check_file_grows_by_itself():
    """It is no larger than is needed, and no 507 comes below the map's end."""
    with Server("--map-max", "128MiB", "--durability", "none") as s:
        register(s)
        file, sizes = os.path.join(s.data, "data.mdb"), []
        for at in range(0, 8000, 2000):
            assert exchange(s, [put_text(at + i) for i in range(2000)]) == [201] * 2000
            sizes.append(os.stat(file).st_size)
        assert sizes == sorted(sizes) and sizes[0] < 40 << 20 and sizes[-1] < 128 << 20, sizes
        assert_holds(s, 0, 8000)


def check_full_by_large_bodies():
    """What does not fit is refused, what fits lands; the refused leave nothing behind."""
    with Server("--map-max", "32MiB", "--durability", "none") as s:
        register(s)
        big = b"x" * (11 << 20)
        assert [s.put(f"/blob/big{i}", body=big).status for i in range(4)] == [201, 201, 507, 507]
        assert s.put("/blob/small", body=b"y").status == 201
        assert records_of(s, "blob") == 3
        assert s.get("/blob/big1").body == big
        assert s.get("/blob/big2").status == 404
        assert s.delete("/blob/big0").status == 200


# ---- disks ----

def own_mounts():
    """Mounts of this process alone, which end with it; False: not root."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.unshare(CLONE_NEWNS) == 0 and libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) == 0


def mounted(command):
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def full_disk(folder, kind):
    """Fill a file system of 32 MiB, of which a ballast takes 8; then take that away."""
    ballast = os.path.join(folder, "ballast")
    with open(ballast, "wb") as f:
        f.write(b"b" * (8 << 20))
    with Server("--map-max", "1GiB", data=os.path.join(folder, "store")) as s:
        register(s)
        n, refusal = fill(s)
        assert "disk" in refusal.json()["detail"], refusal
        assert n > 500 and s.get("/healthz").status == 200
        assert_holds(s, 0, n)
        assert exchange(s, [delete_text(i) for i in range(100)]) == [200] * 100
        assert exchange(s, [put_text(n + i) for i in range(20)]) == [201] * 20
        assert_holds(s, 100, n + 20)
        s.restart(kill=True)
        assert_holds(s, 100, n + 20)
        os.unlink(ballast)
        assert exchange(s, [put_text(n + 20 + i) for i in range(500)]) == [201] * 500
        assert_holds(s, 100, n + 520)
        assert s.get("/healthz").status == 200
        log = s.read_log()
        assert not re.search("broken|error", log), log
    print(f"{kind}: full at {n} records, and served again", flush=True)


def check_full_disks():
    if not own_mounts():
        print("not root: no disk of a few MiB to fill")
        return
    with tempfile.TemporaryDirectory() as folder:
        if mounted(["mount", "-t", "tmpfs", "-o", "size=32m", "avrod-test", folder]):
            full_disk(folder, "tmpfs")
            subprocess.run(["umount", folder], check=True)
    with tempfile.TemporaryDirectory() as folder:
        image, point = os.path.join(folder, "image"), os.path.join(folder, "point")
        os.mkdir(point)
        with open(image, "wb") as f:
            f.truncate(40 << 20)
        if mounted(["mkfs.ext4", "-q", "-O", "^has_journal", image]) and mounted(["mount", "-o", "loop", image, point]):
            full_disk(point, "ext4")
            subprocess.run(["umount", point], check=True)
        else:
            print("no ext4 in a file: not tried")


def main():
    check_full_map()
    check_file_grows_by_itself()
    check_full_by_large_bodies()
    check_full_disks()
    print("ok")


if __name__ == "__main__":
    main()
