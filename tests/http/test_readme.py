"""tests/http/test_readme.py - README's console session, run against a fresh server: the answers that it prints are the real
ones. With --write they are put into README.md instead of being compared."""

import os
import re
import subprocess
import sys

from avrod import ROOT, Server

README = os.path.join(ROOT, "README.md")
PORT = "127.0.0.1:8080"


def run(command, port):
    """What a person would see, curl's progress meter apart, with README's port in place of the real one."""
    here = command.replace(PORT, f"127.0.0.1:{port}").replace("curl ", "curl -sS ")
    done = subprocess.run(["sh", "-c", here], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                          check=False)
    return done.stdout.decode().replace(f"127.0.0.1:{port}", PORT)


def session(blocks, port):
    """The blocks again, with the answers of this server."""
    for block in blocks:
        lines = []
        for line in block.splitlines():
            if line.startswith("$ "):
                lines.append(line)
                lines += run(line[2:], port).splitlines()
        yield "\n".join(lines) + "\n"


def main():
    with open(README, encoding="utf-8") as f:
        text = f.read()
    pattern = re.compile(r"(?<=```console\n).*?(?=```)", re.S)
    blocks = pattern.findall(text)
    assert len(blocks) >= 4, "README has lost its session"
    with Server() as server:
        real = list(session(blocks, server.port))
    if "--write" in sys.argv:
        fresh = iter(real)
        with open(README, "w", encoding="utf-8") as f:
            f.write(pattern.sub(lambda _: next(fresh), text))
        return
    for said, is_real in zip(blocks, real):
        assert said == is_real, f"README says\n{said}\nbut the answers are\n{is_real}"
    print("ok")


if __name__ == "__main__":
    main()
