"""tests/soak/keeper.py - who looks after the server of the soak test while the others use it: has its files changed and read again, and
takes backups."""

import os
import signal
import time

import house
from guests import Line, want
from mix import Fault
from secure import Secure

RELOADS_EACH = 4  # seconds
BACKUPS_EACH = 10


class Keeper:
    def __init__(self, server, ports, home, folder):
        self.server, self.ports, self.house = server, ports, home
        self.backup_file = os.path.join(folder, "backup")
        self.secure, self.count, self.addresses = Secure(home.ca.cert, 7), {"reloads": 0, "backups": 0, "backup bytes": 0}, 0
        self.next_reload = time.monotonic() + RELOADS_EACH / 4
        self.next_backup = time.monotonic() + BACKUPS_EACH / 4

    def await_true(self, condition, what):
        until = time.monotonic() + 60
        while not condition():
            if time.monotonic() > until:
                raise Fault(what)
            time.sleep(0.02)

    def newcomer(self):
        """Is the newcomer known? From an address of its own each time: one who is not is slowed."""
        self.addresses += 1
        with Line(self.ports[0], f"127.3.{self.addresses // 250 % 250}.{1 + self.addresses % 250}", house.bearer(house.NEWCOMER)) as line:
            return want(line.ask("GET", "/public/1"), 200, 401, 429).status == 200

    def shown(self):
        """The name in the certificate that the server shows to new connections."""
        with Line(self.ports[1], "127.0.0.1", None, Secure(self.house.ca.cert, 7)) as line:
            return dict(part[0] for part in line.http.sock.getpeercert()["subject"])["commonName"]

    def reload(self):
        self.house.turn += 1
        self.house.write()
        self.server.process.send_signal(signal.SIGHUP)
        turn = self.house.turn % 2
        self.await_true(lambda: self.newcomer() == bool(turn), "the files of users were not read again")
        self.await_true(lambda: self.shown() == f"server{turn}", "the certificate was not read again")
        self.count["reloads"] += 1

    def backup(self):
        over_tls = self.count["backups"] % 2
        with Line(self.ports[over_tls], "127.0.0.1", house.bearer("boss"), self.secure if over_tls else None) as line:
            body = want(line.ask("GET", "/_backup"), 200).body
        with open(self.backup_file, "wb") as f:
            f.write(body)
        self.count["backups"] += 1
        self.count["backup bytes"] += len(body)

    def look(self):
        """What is due."""
        if time.monotonic() > self.next_reload:
            self.reload()
            self.next_reload = time.monotonic() + RELOADS_EACH
        if time.monotonic() > self.next_backup:
            self.backup()
            self.next_backup = time.monotonic() + BACKUPS_EACH
