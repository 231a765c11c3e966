"""tests/lib/edge.py - what the tests of the HTTP edge share: raw requests, and answers taken apart."""

import json
import socket
import threading

from avrod import read_reply

HOST = b"Host: localhost\r\n"
PING = b"GET /ping HTTP/1.1\r\n" + HOST + b"\r\n"


def split_replies(data):
    """All answers in a stream of bytes."""
    replies = []
    left, right = socket.socketpair()
    with left, right:
        threading.Thread(target=lambda: (left.sendall(data), left.shutdown(socket.SHUT_WR))).start()
        rest = b""
        while True:
            try:
                reply, rest = read_reply(right, pending=rest)
            except EOFError:
                return replies
            replies.append(reply)


def chunked(data, size):
    out = b""
    for at in range(0, len(data), size):
        piece = data[at : at + size]
        out += b"%x\r\n" % len(piece) + piece + b"\r\n"
    return out + b"0\r\n\r\n"


def numbers(n):
    return json.dumps(list(range(n))).encode()


def ends(sock):
    """The server closes; a reset would be an exception."""
    return sock.recv(65536) == b""
