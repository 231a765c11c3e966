#!/usr/bin/env python3
"""tools/check_includes.py ROOT - the arrows between folders, as ARCHITECTURE.md draws them.

Fails on an #include that runs against an arrow, that reaches past a folder's front header, or that
takes a foreign library out of its home."""

import os
import re
import sys

# folder -> folders it may include from (itself always)
ARROWS = {
    "base": set(),
    "schema": {"base"},
    "storage": {"base"},
    "server": {"schema", "storage", "base"},
    "client": {"base"},
}
# what others may include of a folder (base: all of it)
FRONT = {
    "schema": {"schema/schema.h", "schema/codec.h", "schema/encoding.h", "schema/edit.h", "schema/assertion.h", "schema/json.h",
               "schema/json_members.h"},
    "storage": {"storage/storage.h", "storage/engine.h", "storage/care.h"},
    "server": {"server/handler.h"},
    "client": {"client/avrod.h"},
}
# header prefix -> where it may be included
HOMES = {
    "event2/": ("server/http/", "client/ctl/"),
    "crypt.h": ("server/access/password_hash.c",),
    "curl/": ("client/lib/",),
    "event.h": (),
    "ini.h": ("server/ini_file.c",),
    "lmdb.h": ("storage/engines/lmdb",),
    "zstd.h": ("base/zstd.c",),
    "zlib.h": ("server/http/deflater.c",),
    "openssl/": ("base/sha256.c", "server/http/tls_"),
    "seccomp.h": ("server/sandbox.c",),
    "pcre2.h": ("schema/path/path_regex.c",),
    "jansson.h": ("schema/", "server/handlers/", "client/ctl/"),
    "avro.h": (),
    "avro/": (),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def faults_of(root):
    for folder in ARROWS:
        for where, _, files in os.walk(os.path.join(root, folder)):
            for name in files:
                if not name.endswith((".c", ".h", ".def")):
                    continue
                path = os.path.relpath(os.path.join(where, name), root)
                with open(os.path.join(root, path), encoding="utf-8") as f:
                    for number, line in enumerate(f, 1):
                        found = INCLUDE.match(line)
                        if found:
                            fault = fault_of(path, folder, found.group(1), found.group(2))
                            if fault:
                                yield f"{path}:{number}: {fault}"


# folder inside a folder -> what it may not include: avroctl uses the library as any program would.
INSIDE = {"client/ctl/": "client/lib/", "client/lib/": "client/ctl/"}


def fault_of(path, folder, mark, target):
    for prefix, homes in HOMES.items():
        if target.startswith(prefix):
            if not path.startswith(homes or ("(nowhere)",)):
                return f"{target} has its home in {', '.join(homes) or 'tests and bench only'}"
            return None
    if mark == "<":
        return None
    if "/" not in target:
        return f'write "{target}" with its folder'
    other = target.split("/", 1)[0]
    if other == folder:
        hidden = [theirs for ours, theirs in INSIDE.items() if path.startswith(ours) and target.startswith(theirs)]
        return f"{path} may not include {target}" if hidden else None
    if other not in ARROWS[folder]:
        return f"{folder} may not include {target}"
    if other in FRONT and target not in FRONT[other]:
        return f"{target} is inside {other}; its front is {', '.join(sorted(FRONT[other]))}"
    return None


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    faults = list(faults_of(root))
    print("\n".join(faults) or "every include runs along an arrow")
    # The checker must be able to fail.
    assert fault_of("base/x.c", "base", '"', "schema/schema.h")
    assert fault_of("server/x.c", "server", '"', "schema/model/model.h")
    assert fault_of("schema/x.c", "schema", "<", "lmdb.h")
    assert fault_of("client/ctl/x.c", "client", '"', "client/lib/client.h")
    assert not fault_of("client/ctl/x.c", "client", '"', "client/avrod.h")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
