"""tests/http/test_registry_clients.py - tests/npm/clients.js against a server: clients of the registry as they are
published. tests/run.sh installs them and says where ($NPM_MODULES); without that it looks in build/npm, and where
nothing is installed there is nothing to test."""

import os
import subprocess
import sys

from avrod import ROOT, Server


def main():
    modules = os.environ.get("NPM_MODULES")
    if not modules:
        modules = os.path.join(ROOT, "build/npm/node_modules")
        if not os.path.isdir(modules):
            print("skipped: the clients are not installed; tests/run.sh does it")
            return
    env = {**os.environ, "NODE_PATH": modules, "no_proxy": "*"}
    with Server() as s:
        subprocess.run(["node", os.path.join(ROOT, "tests/npm/clients.js"), f"http://127.0.0.1:{s.port}"], env=env,
                       timeout=300, check=True, stdout=sys.stdout, stderr=sys.stderr)


if __name__ == "__main__":
    main()
