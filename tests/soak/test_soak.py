"""tests/soak/test_soak.py - short soaks (run.py), without users and with: every answer is what it must be, nothing leaks at the end,
the store that is left and one of a backup have no fault. Whether memory stays flat shows only in long runs."""

import sys

import run

if __name__ == "__main__":
    for load in (["--requests", "20000"], ["--seconds", "5", "--guests", "2"]):
        sys.argv[1:] = [*load, "--processes", "2", "--no-slope"]
        if run.main():
            sys.exit(1)
