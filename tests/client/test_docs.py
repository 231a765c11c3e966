"""tests/client/test_docs.py - docs/client.md is true: its console sessions are run, its tables compared with the source. With --write the
answers of now are put into the sessions."""

import os
import re
import subprocess
import sys

import console
from avrod import AVROD, ROOT

PAGE = "docs/client.md"


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


def table_of(text, first):
    """The first cells of a table whose first column is called so."""
    table = re.search(rf"^\| {first} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.M).group(1)
    return [line.split("|")[1].strip(" `") for line in table.splitlines()]


def check_tables():
    text = read(PAGE)
    commands = re.findall(r'^COMMAND\(\w+, "([^"]+)"', read("client/ctl/commands.def"), re.M)
    assert table_of(text, "command") == commands
    help_text = subprocess.run([os.path.join(os.path.dirname(AVROD), "avroctl"), "--help"], capture_output=True, text=True, check=True).stdout
    codes = re.findall(r"^  (\d)  (.*)$", help_text, re.M)
    assert codes and all(f"| {code} | {when} |" in text for code, when in codes), codes
    assert table_of(text, "code") == [code for code, _ in codes]
    manual = read("client/man/avroctl.1")
    assert all(f".It {code}\n{when}\n" in manual for code, when in codes)


def check_defaults():
    """Where the page, the header or the help tells a default, it is that of the source."""
    source = read("client/lib/client.c")
    header = read("client/avrod.h")
    for name, member in [("CONNECT_TIMEOUT_MS", "connect_timeout_ms"), ("TIMEOUT_MS", "timeout_ms"), ("STALL_TIMEOUT_MS", "stall_timeout_ms"),
                         ("RETRIES_MAX", "retries_max"), ("BACKOFF_MS", "backoff_ms"), ("IDLE_MAX", "idle_max")]:
        value = re.search(rf"^ +{name} = (\d+),", source, re.M).group(1)
        assert re.search(rf"\b{member};.*default {value}\b", header), (member, value)


def main():
    console.check(PAGE, write="--write" in sys.argv)
    check_tables()
    check_defaults()
    print("ok")


if __name__ == "__main__":
    main()
