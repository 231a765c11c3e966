"""tests/soak/secure.py - how a client of the soak test begins its connections over TLS: by a new handshake, or by a session of before."""

import random
import ssl

RESUMES = 0.6  # of those that could


class Secure:
    def __init__(self, ca, seed, certificate=None):
        """ca: a file; certificate: (certificate, key), both files, or None."""
        self.context = ssl.create_default_context(cafile=ca)
        self.random, self.session = random.Random(seed), None
        self.count = {"handshakes": 0, "resumed": 0}
        if self.random.random() < 0.3:
            self.context.maximum_version = ssl.TLSVersion.TLSv1_2
        if certificate:
            self.context.load_cert_chain(*certificate)

    def wrap(self, sock):
        session = self.session if self.random.random() < RESUMES else None
        wrapped = self.context.wrap_socket(sock, server_hostname="localhost", session=session)
        self.count["resumed" if wrapped.session_reused else "handshakes"] += 1
        return wrapped

    def remember(self, sock):
        """Of a connection that is about to end: by TLS 1.3 the tickets have come with what was read."""
        self.session = sock.session or self.session
