"""bench/test_load.py LOAD LIMIT - that the load generator notices every wrong answer and sends what it was told, and
that limit answers each request once, however it was cut into packets. A benchmark that does not check measures nothing."""

import json
import re
import socket
import subprocess
import sys
import threading

LOAD, LIMIT = sys.argv[1:3]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK"


class Fake:
    """A server whose answer to each request is script(n, request): bytes, or None to close. Requests are kept."""

    def __init__(self, script):
        self.script, self.requests, self.lock = script, [], threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(sock,), daemon=True).start()

    def serve(self, sock):
        data = b""
        with sock:
            while True:
                request, data = take(data)
                if request is None:
                    piece = sock.recv(65536)
                    if not piece:
                        return
                    data += piece
                    continue
                with self.lock:
                    self.requests.append(request)
                    answer = self.script(len(self.requests), request)
                if answer is None:
                    return
                try:
                    sock.sendall(answer)
                except OSError:
                    return

    def close(self):
        self.listener.close()


def take(data):
    """One whole request and the rest; None while it is not whole."""
    if b"\r\n\r\n" not in data:
        return None, data
    head, rest = data.split(b"\r\n\r\n", 1)
    found = re.search(rb"(?i)content-length: (\d+)", head)
    length = int(found.group(1)) if found else 0
    if len(rest) < length:
        return None, data
    return (head, rest[:length]), rest[length:]


def load(script, *args, target="/x"):
    fake = Fake(script)
    done = subprocess.run([LOAD, *args, f"http://127.0.0.1:{fake.port}{target}"], stdout=subprocess.PIPE, timeout=60,
                          check=False)
    fake.close()
    return done.returncode, json.loads(done.stdout), fake.requests


def test_right_answers_are_counted():
    code, figures, requests = load(lambda n, r: OK, "-n", "1000", "-c", "7", "-d", "3", "-l", "2")
    assert code == 0 and figures["requests"] == 1000 == len(requests), figures
    assert figures["bytes"] == 1000 * len(OK), figures
    faults = [figures[k] for k in ("non_2xx", "wrong_length", "broken", "reconnects")]
    assert faults == [0, 0, 0, 0], figures


def test_statuses_other_than_2xx_are_noticed():
    bad = b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno"
    code, figures, _ = load(lambda n, r: bad if n % 10 == 0 else OK, "-n", "100", "-c", "4")
    assert code == 1 and figures["non_2xx"] == 10 and figures["first_bad_status"] == 503, figures


def test_wrong_lengths_are_noticed():
    long = b"HTTP/1.1 200 OK\r\nX: y\r\ncontent-length:  3\r\n\r\nOK!"
    code, figures, _ = load(lambda n, r: long if n % 25 == 0 else OK, "-n", "100", "-c", "4", "-l", "2")
    assert code == 1 and figures["wrong_length"] == 4 and figures["requests"] == 100, figures


def test_missing_and_cut_answers_are_noticed():
    code, figures, _ = load(lambda n, r: None if n == 50 else OK, "-n", "100", "-c", "1")
    assert code == 1 and figures["broken"] == 1 and figures["requests"] == 99 and figures["reconnects"] == 1, figures


def test_what_is_no_http_is_noticed():
    for wrong in b"HTTP/1.1 2000 OK\r\n\r\n", b"+PONG\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n":
        code, figures, _ = load(lambda n, r, wrong=wrong: wrong if n == 5 else OK, "-n", "20", "-c", "1")
        assert code == 1 and figures["broken"] == 1, (wrong, figures)


def test_more_answers_than_requests_are_noticed():
    code, figures, _ = load(lambda n, r: OK + OK if n == 5 else OK, "-n", "20", "-c", "1")
    assert code == 1 and figures["broken"] == 1, figures


def test_a_server_that_closes_politely_is_followed():
    last = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nOK"
    code, figures, _ = load(lambda n, r: last if n % 10 == 0 else OK, "-n", "95", "-c", "1", "-l", "2")
    assert code == 0 and figures["requests"] == 95 and figures["reconnects"] == 9, figures


def test_counted_ids_come_once_each_with_true_lengths():
    code, _, requests = load(lambda n, r: OK, "-n", "1234", "-r", "1234", "-s", "-c", "5", "-d", "4", "-B",
                             '{"id":{id},"again":"{id}"}', target="/t/put/{id}")
    assert code == 0
    seen = []
    for head, body in requests:
        number = int(re.match(rb"POST /t/put/(\d+) HTTP/1.1\r\n", head).group(1))
        assert json.loads(body) == {"id": number, "again": str(number)}, body
        seen.append(number)
    assert sorted(seen) == list(range(1, 1235))


def mix(z):
    """The output function of SplitMix64."""
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9 & 2**64 - 1
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb & 2**64 - 1
    return z ^ (z >> 31)


def test_a_key_is_sixteen_digits_that_stand_for_the_number():
    code, _, requests = load(lambda n, r: OK, "-n", "150", "-r", "150", "-s", "-c", "3", "-d", "4", "-B",
                             '{"id":{id},"key":"{key}"}', target="/t/put/{key}")
    assert code == 0
    seen = []
    for head, body in requests:
        key = re.match(rb"POST /t/put/([0-9a-f]{16}) HTTP/1.1\r\n", head).group(1).decode()
        record = json.loads(body)
        assert record["key"] == key == f"{mix(record['id']):016x}", (head, body)
        seen.append(record["id"])
    assert sorted(seen) == list(range(1, 151))


def test_an_answer_that_begins_like_the_last_is_read_anew():
    """Equal heads are recognized without being looked at; what differs in one byte, or comes in pieces, is not equal."""
    answers = [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (n, b"x" * n) for n in (5, 5, 6, 5, 5, 7)]
    code, figures, _ = load(lambda n, r: answers[n % 6], "-n", "600", "-c", "1", "-d", "8", "-l", "5")
    assert code == 1 and figures["wrong_length"] == 200 and figures["requests"] == 600, figures
    statuses = [OK, OK, OK.replace(b"200", b"500")]
    code, figures, _ = load(lambda n, r: statuses[n % 3], "-n", "300", "-c", "1", "-d", "5")
    assert code == 1 and figures["non_2xx"] == 100 and figures["first_bad_status"] == 500, figures


def test_random_ids_cover_their_range_and_no_more():
    _, _, requests = load(lambda n, r: OK, "-n", "3000", "-r", "20", "-c", "3", target="/{id}")
    seen = {int(re.match(rb"GET /(\d+) ", head).group(1)) for head, _ in requests}
    assert seen == set(range(1, 21)), seen


def test_limit_answers_each_request_once_in_the_length_asked_for():
    server = subprocess.Popen([LIMIT, "--body", "4", "--total", "151"], stdout=subprocess.PIPE)
    try:
        port = int(server.stdout.readline())
        request = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\nPOST /b HTTP/1.1\r\ncontent-LENGTH: 24\r\n\r\n" + b"\r\n\r\nno head " * 2
        for size in 1, 7, 30, 1000:
            with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                whole = request * 3
                for at in range(0, len(whole), size):
                    sock.sendall(whole[at:at + size])
                sock.shutdown(socket.SHUT_WR)
                got = b""
                while piece := sock.recv(65536):
                    got += piece
            assert len(got) == 6 * 151 and got.count(b"Content-Length: 4\r\n\r\nxxxx") == 6, (size, got)
    finally:
        server.kill()
        server.wait()


def test_limit_holds_its_answers_and_gives_all_of_them():
    server = subprocess.Popen([LIMIT, "--body", "4", "--total", "151", "--hold-us", "20000"], stdout=subprocess.PIPE)
    try:
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/a"
        done = subprocess.run([LOAD, "-n", "60", "-c", "10", "-l", "4", url], stdout=subprocess.PIPE, check=False)
        found = json.loads(done.stdout)
        assert done.returncode == 0 and found["requests"] == 60, done.stdout
        assert found["p50_us"] >= 20000 * 0.9, "none may be answered before its commit would be over"
        with socket.create_connection(url_address(url), timeout=20) as gone:
            gone.sendall(b"GET /a HTTP/1.1\r\n\r\n")
        done = subprocess.run([LOAD, "-n", "20", "-c", "2", url], stdout=subprocess.PIPE, check=False)
        assert done.returncode == 0 and server.poll() is None, "a client that left must not end it"
    finally:
        server.kill()
        server.wait()


def url_address(url):
    host, port = re.match(r"http://([^:/]+):(\d+)", url).groups()
    return host, int(port)


for name, test in sorted(globals().items()):
    if name.startswith("test_"):
        test()
        print("ok", name)
