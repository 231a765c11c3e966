"""tests/http/test_ab.py - the four commands of astore's benchmark page, as they stand there but for port and count:
nothing fails, every answer is 2xx and of the promised length, connections are kept."""

import os
import re
import shutil
import subprocess

from avrod import ROOT, Server, records_of

COUNT = 2000
COMMANDS = [  # command, bytes of the answer's body
    ("curl --data @PersonInfo.avsc 'http://127.0.0.1:8080/putschema/personinfo'", None),
    ("ab -c100 -n100000 -k 'http://127.0.0.1:8080/personinfo/get/1?benchmark_only=10240'", 50),
    ("ab -c100 -n100000 -k -p PersonInfo.record -T 'application/octet-stream' "
     "'http://127.0.0.1:8080/personinfo/put/1?benchmark_only=10240'", 2),
    ("ab -c100 -n100000 -k 'http://127.0.0.1:8080/ping'", 4),
]


def run(command, port, folder):
    command = command.replace(":8080/", f":{port}/").replace("-n100000", f"-n{COUNT}")
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout.decode()}\n{done.stderr.decode()}"
    return done.stdout.decode()


def figure(text, name):
    found = re.search(rf"^{re.escape(name)}:\s+(\d+)", text, re.M)
    return int(found.group(1)) if found else None


def check_ab(text, body_bytes):
    assert figure(text, "Complete requests") == COUNT, text
    assert figure(text, "Failed requests") == 0, text
    assert figure(text, "Non-2xx responses") is None, text
    assert figure(text, "Document Length") == body_bytes, text
    assert figure(text, "Keep-Alive requests") == COUNT, text


def check_mode(folder, *args):
    with Server(*args) as server:
        for command, body_bytes in COMMANDS:
            answer = run(command, server.port, os.path.join(ROOT, folder))
            if body_bytes is None:
                assert answer == "OK", answer
            else:
                check_ab(answer, body_bytes)
        got = server.get("/personinfo/get/1?benchmark_only=10240")
        assert got.body == b'{"name":"","age":0,"gender":"Unknown","emails":[]}', got
        # Nothing of all this was stored.
        assert records_of(server, "personinfo") == 0


def main():
    for tool in "ab", "curl":
        assert shutil.which(tool), f"{tool} is missing; tests/run.sh installs it"
    check_mode("examples")
    check_mode("examples/astore", "--compat", "astore")
    print("ok")


if __name__ == "__main__":
    main()
