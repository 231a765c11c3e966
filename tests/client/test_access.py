"""tests/client/test_access.py - avroctl says who asks, to a server that wants to know: by passwords, tokens and, over TLS, certificates;
and what it makes of 401, 403 and 429."""

import hashlib
import json
import os
import subprocess
import tempfile

import tls
from avrod import Server
from test_avroctl import CITY, NO_ANSWER, NO_CONNECTION, USAGE, Ctl, of

PASSWORD, TOKEN = "correct hörse: battery", "b64.Zm9v/+=="


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o600)
    return path


def hash_of(password):
    done = subprocess.run(["openssl", "passwd", "-5", "-stdin"], input=password.encode(), stdout=subprocess.PIPE, timeout=60, check=True)
    return done.stdout.decode().strip()


def credentials(folder):
    """Options of a server that knows ada by her password and ci by its token."""
    passwords = write(folder, "passwords", f"ada:{hash_of(PASSWORD)}\n")
    tokens = write(folder, "tokens", f"ci:{hashlib.sha256(TOKEN.encode()).hexdigest()}\n")
    return ["--passwords", passwords, "--tokens", tokens]


def check_who(ctl):
    """By options and by the environment; a password may hold a colon, and what is no ASCII."""
    by_password = {"AVROD_USER": "ada", "AVROD_PASSWORD": PASSWORD}
    assert ctl("schema", "put", "city", stdin=CITY, env=by_password).startswith(b"city: version ")
    for args, env in [(("--user", "ada:" + PASSWORD), {}), (("--user", "ada"), {"AVROD_PASSWORD": PASSWORD}), (("--token", TOKEN), {}),
                      ((), {"AVROD_TOKEN": TOKEN}), ((), by_password)]:
        ctl("put", "city", "1", *args, env=env, stdin={"name": "one"})
        assert ctl("scan", "city", "--keys", *args, env=env).count(b"\n") == 1
        ctl("path", "select", "city", "1", ".name", *args, env=env)
    ctl.refused("ping", "--token", TOKEN, "--user", "ada", code=USAGE)


def check_nobody(ctl):
    """Who does not say who they are."""
    said = ctl.refused("types", "--retries", "0")
    assert said.endswith("(401 unauthorized)\n"), said


def check_unknown(ctl):
    said = ctl.refused("types", "--token", "wrong", "--retries", "0")
    assert said.endswith("(401 unauthorized)\n"), said
    error = json.loads(ctl.refused("types", "--user", "ada", "--json", "--retries", "0", env={"AVROD_PASSWORD": "wrong"}))
    assert error["error"] == "refused" and (error["status"], error["code"]) in [(401, "unauthorized"), (429, "logins_slowed")], error
    assert "wrong" not in json.dumps(error["problem"]).replace("is wrong", "")


def check_slowed(ctl):
    """After a failed login the next has to wait: it is tried again when the server says, and the right one gets in."""
    ctl.refused("types", "--token", "wrong-2", "--retries", "0")
    slowed = json.loads(ctl.refused("types", "--token", "wrong-3", "--json", "--retries", "0"))
    assert slowed["status"] == 429 and slowed["code"] == "logins_slowed" and slowed["retry_after_s"] >= 1, slowed
    said = ctl.refused("types", "--token", "wrong-4", "--retries", "0")
    assert "(429 logins_slowed) (not before " in said, said
    ctl("types", "--token", TOKEN)


def check_quota(folder):
    """429 with Retry-After is tried again while there is time."""
    access = write(folder, "quota", "[anonymous]\nadmin = *\nrequests_per_second = 1\nrequests_burst = 1\n")
    with Server("--engine", "memory", "--access", access) as s:
        ctl = of(s)
        ctl("ping", "--json", "--retries", "5")
        refused = json.loads(ctl.refused("ping", "--retries", "0", "--json"))
        assert refused["status"] == 429 and refused["code"] == "too_many_requests" and refused["retry_after_s"] == 1, refused
        ctl("types", "--retries", "5")


def check_rights(folder):
    """Who may not is told 403, who may not even know 404."""
    access = write(folder, "rights", "[user ada]\nadmin = *\n\n[user ci]\nreader = city\n")
    with Server(*credentials(folder), "--access", access) as s:
        ctl = of(s)
        ada, ci = {"AVROD_USER": "ada", "AVROD_PASSWORD": PASSWORD}, {"AVROD_TOKEN": TOKEN}
        for name in ("city", "secret"):
            ctl("schema", "put", name, stdin=CITY, env=ada)
        ctl("put", "city", "1", stdin={"name": "one"}, env=ada)
        assert ctl("get", "city", "1", env=ci)
        assert "(403 forbidden)" in ctl.refused("put", "city", "1", stdin={"name": "two"}, env=ci)
        assert "(404 no_type)" in ctl.refused("get", "secret", "1", env=ci)
        backup = os.path.join(folder, "backup")
        assert "(403 forbidden)" in ctl.refused("backup", backup, env=ci) and not os.path.exists(backup + ".part")
        ctl("backup", backup, env=ada)


def check_tls(folder):
    """The same over https: the server's certificate is looked at, and the client's names its user."""
    ca, other = tls.Authority(), tls.Authority("Other CA")
    cert, key = ca.issue("server", san="DNS:localhost")
    mine, my_key = ca.issue("ada")
    strange, strange_key = other.issue("ada")
    pair = write(folder, "pair.pem", "".join(open(path, encoding="ascii").read() for path in (mine, my_key)))
    with Server(*credentials(folder), *tls.options(cert, key), "--tls-client-ca", ca.cert) as s:
        distrustful = Ctl(f"https://localhost:{s.port}")
        ctl = Ctl(f"https://localhost:{s.port}")
        ctl.env["AVROD_CA_FILE"] = ca.cert
        check_who(ctl)
        check_nobody(ctl)
        for env in ({"AVROD_CERT_FILE": mine, "AVROD_KEY_FILE": my_key}, {"AVROD_CERT_FILE": pair}):
            assert ctl("schema", "check", "city", stdin=CITY, env=env) and ctl("types", env=env)
        backup = os.path.join(folder, "tls.backup")
        ctl("backup", backup, "--cert-file", mine, "--key-file", my_key)
        assert os.path.getsize(backup) > 0
        for who, args in [(distrustful, ()), (ctl, ("--ca-file", other.cert)), (ctl, ("--ca-file", os.path.join(folder, "none"))),
                          (ctl, ("--url", f"https://127.0.0.1:{s.port}")), (ctl, ("--cert-file", mine, "--key-file", strange_key))]:
            who.refused("ping", "--retries", "0", *args, code=NO_CONNECTION)
        done = ctl.run("types", "--retries", "0", "--cert-file", strange, "--key-file", strange_key)
        assert done.returncode in (NO_CONNECTION, NO_ANSWER), done
        assert "plain http" in ctl.refused("bench", "ping", code=USAGE)


def main():
    with tempfile.TemporaryDirectory(prefix="avrod-test-") as folder:
        with Server("--engine", "memory", *credentials(folder)) as s:
            ctl = of(s)
            check_who(ctl)
            check_nobody(ctl)
            check_unknown(ctl)
            check_slowed(ctl)
            ctl("bench", "ping", "--time", "20ms", "--warmup", "10ms", "--connections", "2", env={"AVROD_TOKEN": TOKEN})
        check_quota(folder)
        check_rights(folder)
        check_tls(folder)
    print("ok")


if __name__ == "__main__":
    main()
