"""tests/soak/house.py - what a server of the soak test with users begins with, and reads again at SIGHUP: users by passwords, tokens and
certificates, what each may do, and the certificates of the server."""

import base64
import hashlib
import os
import shutil
import subprocess
import tempfile

import tls

PASSWORDS = ("pia", "rita")  # a name's password is "pass NAME", its token "token-NAME"
TOKENS = ("tom", "boss", "stranger", "few")
NEWCOMER = "newcomer"  # has a token after each other reload
CERTIFIED = "carl"
RIGHTS = """[anonymous]
admin = person, event, blob, nope, own*
reader = public
health = yes
[group writers]
members = pia, tom, carl
writer = kept, cache, brief, packed
[user rita]
reader = kept
[user newcomer]
reader = public
[user few]
reader = public
requests_per_second = 5
[user boss]
admin = *
"""


def basic(name, password=None):
    return "Basic " + base64.b64encode(f"{name}:{password or 'pass ' + name}".encode()).decode()


def bearer(name):
    return f"Bearer token-{name}"


class House:
    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="avrod-soak-")
        self.ca = tls.Authority("Soak CA")
        self.of_server = [self.ca.issue(f"server{i}", san="DNS:localhost") for i in range(2)]
        self.of_client = self.ca.issue(CERTIFIED)
        self.turn = 0
        self.write()

    def path(self, name):
        return os.path.join(self.dir, name)

    def replace(self, name, text):
        with open(self.path(name + ".new"), "w", encoding="utf-8") as f:
            f.write(text)
        os.replace(self.path(name + ".new"), self.path(name))

    def passwords(self):
        """With another salt each time, so that all that was remembered of them is not."""
        command = ["htpasswd", "-niB", "-C", "4"]
        return "".join(subprocess.run([*command, name], input=f"pass {name}".encode(), capture_output=True, check=True).stdout.decode().strip()
                       + "\n" for name in PASSWORDS)

    def write(self):
        """The files as they are to be read next."""
        names = TOKENS + ((NEWCOMER,) if self.turn % 2 else ())
        self.replace("passwords", self.passwords())
        self.replace("tokens", "".join(f"{name}:{hashlib.sha256(f'token-{name}'.encode()).hexdigest()}\n" for name in names))
        self.replace("access", RIGHTS + f"# {self.turn}\n")
        for name, file in zip(("cert", "key"), self.of_server[self.turn % 2]):
            with open(file, encoding="ascii") as f:
                self.replace(name, f.read())

    def options(self):
        return ["--listen", "http://127.0.0.1:0,https://127.0.0.1:0", "--passwords", self.path("passwords"), "--tokens",
                self.path("tokens"), "--access", self.path("access"), "--tls-cert", self.path("cert"), "--tls-key", self.path("key"),
                "--tls-client-ca", self.ca.cert, "--idempotency-ttl", "20"]

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)
