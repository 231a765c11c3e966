"""tests/lib/tls.py - certificates made by the openssl program, and a socket that speaks TLS the way that tests of a server want:
half-closed, in bytes of the test's choosing, with a session of before.

    ca = Authority()
    cert, key = ca.issue("server", san="IP:127.0.0.1,DNS:localhost")
    with Server(*tls.options(cert, key)) as s, tls.connect(s.port, ca.client()) as c: ...

Standard library only."""

import atexit
import datetime
import os
import shutil
import socket
import ssl
import subprocess
import tempfile

CA_CONFIG = """
[ca]
default_ca = this
[this]
database = index
new_certs_dir = .
serial = serial
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
organizationName = optional
userId = optional
"""
KEYS = {"p256": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "rsa": ["rsa:2048"], "rsa4096": ["rsa:4096"]}


def run(*command, folder):
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.decode(errors='replace')}")


class Authority:
    """A root of its own, in a temporary folder that is removed when the process ends."""

    def __init__(self, name="Test CA"):
        self.folder = tempfile.mkdtemp(prefix="avrod-tls-")
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        self.serial = 0
        self.cert = self.path("ca.pem")
        run("openssl", "req", "-x509", "-newkey", *KEYS["p256"], "-nodes", "-keyout", "ca-key.pem", "-out", "ca.pem", "-days", "2",
            "-subj", f"/CN={name}", folder=self.folder)
        for file, text in (("ca.cnf", CA_CONFIG), ("index", ""), ("serial", "01\n")):
            with open(self.path(file), "w", encoding="ascii") as f:
                f.write(text)

    def path(self, file):
        return os.path.join(self.folder, file)

    def issue(self, name, subject=None, san=None, lives=86400, key="p256"):
        """(certificate, key), both paths. It has begun yesterday, and ends in so many seconds; below zero: it has."""
        self.serial += 1
        stem = f"{self.serial}-{name}"
        run("openssl", "req", "-new", "-utf8", "-newkey", *KEYS[key], "-nodes", "-keyout", stem + "-key.pem", "-out", stem + ".csr",
            "-subj", subject or f"/CN={name}", folder=self.folder)
        with open(self.path(stem + ".ext"), "w", encoding="utf-8") as f:
            f.write("basicConstraints = CA:FALSE\n" + (f"subjectAltName = {san}\n" if san else ""))
        now = datetime.datetime.now(datetime.timezone.utc)
        times = [(now + datetime.timedelta(seconds=s)).strftime("%Y%m%d%H%M%SZ") for s in (-86400, lives)]
        run("openssl", "ca", "-batch", "-config", "ca.cnf", "-utf8", "-cert", "ca.pem", "-keyfile", "ca-key.pem", "-in", stem + ".csr",
            "-notext", "-out", stem + ".pem", "-extfile", stem + ".ext", "-startdate", times[0], "-enddate", times[1],
            folder=self.folder)
        return self.path(stem + ".pem"), self.path(stem + "-key.pem")

    def client(self, version=None, certificate=None, alpn=None):
        """What a client of servers of this authority begins connections with. version: "1.2", "1.3"; None: either."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(self.cert)
        if version:
            context.minimum_version = context.maximum_version = getattr(ssl.TLSVersion, "TLSv" + version.replace(".", "_"))
        if certificate:
            context.load_cert_chain(*certificate)
        if alpn:
            context.set_alpn_protocols(alpn)
        return context


def options(cert, key):
    return ["--tls-cert", cert, "--tls-key", key]


class TlsSocket:
    """As a socket, as far as tests need it. What Python's own cannot do: end one direction (close_notify, then FIN) and read on."""

    def __init__(self, sock, context, host="127.0.0.1", session=None, shake=True):
        self.sock = sock
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname=host, session=session)
        self.pace = None  # bytes in a call of send; None: as they come
        if shake:
            self.shake()

    def shake(self):
        try:
            self.call(self.tls.do_handshake)
        except BaseException:
            self.sock.close()
            raise

    def flush(self):
        data = self.outgoing.read()
        for at in range(0, len(data), self.pace or len(data) or 1):
            self.sock.sendall(data[at : at + (self.pace or len(data))])

    def call(self, function, *args):
        while True:
            try:
                result = function(*args)
                self.flush()
                return result
            except ssl.SSLWantReadError:
                self.flush()
                data = self.sock.recv(65536)
                self.incoming.write(data) if data else self.incoming.write_eof()
            except ssl.SSLError:
                self.flush()  # an alert
                raise

    def recv(self, bytes_max):
        """b"": the peer has said that this was all. Its connection ended without: ConnectionResetError."""
        try:
            return self.call(self.tls.read, bytes_max)
        except ssl.SSLZeroReturnError:
            return b""
        except ssl.SSLEOFError as e:
            raise ConnectionResetError("the connection was cut") from e

    def sendall(self, data):
        self.call(self.tls.write, data) if data else None

    def send(self, data):
        self.sendall(data)
        return len(data)

    def records(self, data, size):
        """The bytes of records with so many of the data's bytes each, which are not sent."""
        for at in range(0, len(data), size):
            self.tls.write(data[at : at + size])
        return self.outgoing.read()

    def end(self):
        """close_notify alone."""
        try:
            self.tls.unwrap()
        except ssl.SSLError:
            pass
        self.flush()

    def shutdown(self, how):
        if how != socket.SHUT_RD:
            self.end()
        self.sock.shutdown(how)

    def __getattr__(self, name):  # close, settimeout, fileno, getsockname ...
        return getattr(self.sock, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()


def connect(port, context, timeout=20, **kw):
    sock = socket.create_connection(("127.0.0.1", port), timeout=timeout)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return TlsSocket(sock, context, **kw)


class Everything:
    """With AVROD_TEST_TLS=1.2 or 1.3 tests that know nothing of TLS are run over it: tests/lib/avrod.py asks here."""

    def __init__(self, version):
        self.ca = Authority()
        self.files = self.ca.issue("server", san="IP:127.0.0.1,IP:::1,DNS:localhost")
        self.context = self.ca.client(version)
        self.context.check_hostname = False

    def options(self):
        return options(*self.files)


EVERYTHING = Everything(os.environ["AVROD_TEST_TLS"]) if os.environ.get("AVROD_TEST_TLS") else None
