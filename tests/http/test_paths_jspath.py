"""tests/http/test_paths_jspath.py - tests/npm/paths.js against a server: select beside JSPath. tests/run.sh installs it and says
where ($NPM_MODULES); without that it looks in build/npm, and where nothing is installed there is nothing to test."""

import os
import subprocess
import sys

from avrod import ROOT, Server


def main():
    modules = os.environ.get("NPM_MODULES")
    if not modules:
        modules = os.path.join(ROOT, "build/npm/node_modules")
        if not os.path.isdir(os.path.join(modules, "jspath")):
            print("skipped: JSPath is not installed; tests/run.sh does it")
            return
    env = {**os.environ, "NODE_PATH": modules, "no_proxy": "*"}
    with Server() as s:
        subprocess.run(["node", os.path.join(ROOT, "tests/npm/paths.js"), f"http://127.0.0.1:{s.port}"], env=env,
                       timeout=300, check=True, stdout=sys.stdout, stderr=sys.stderr)


if __name__ == "__main__":
    main()
