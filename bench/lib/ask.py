"""bench/lib/ask.py - one request at a time, as plainly as `load` sends it."""

import socket
import time

from machine import fail


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_port(port, process, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            fail(f"a server ended with {process.returncode} at its start: {' '.join(process.args)}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    fail(f"nothing listens on port {port}: {' '.join(process.args)}")


def receive(sock):
    """One answer from a socket: (status, bytes of its head, body). It must say how long it is."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += sock.recv(65536) or fail("closed in the head of an answer")
    head, body = answer.split(b"\r\n\r\n", 1)
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    length = int(lengths[0].split(b":")[1]) if lengths else fail(f"no Content-Length: {answer!r}")
    while len(body) < length:
        body += sock.recv(65536) or fail("closed in the body of an answer")
    return int(head.split(b" ")[1]), len(head) + 4, body


def request_bytes(port, method, target, body=None):
    text = f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    text += f"Content-Length: {len(body)}\r\n\r\n" if body is not None else "\r\n"
    return text.encode() + (body or b"")


def ask(port, method, target, body=None):
    with socket.create_connection(("127.0.0.1", port), timeout=30) as s:
        s.sendall(request_bytes(port, method, target, body))
        return receive(s)


def exchange(port, method, target, body=None):
    """As ask(), and it must be 2xx: (bytes of the whole answer, its body)."""
    status, head, answer = ask(port, method, target, body)
    if not 200 <= status <= 299:
        fail(f"{method} {target}: {status} {answer!r}")
    return head + len(answer), answer
