"""tests/soak/test_soak.py - a short soak (run.py): every answer is of its class, nothing leaks at the end. Whether memory stays flat
shows only in long runs."""

import sys

import run

if __name__ == "__main__":
    sys.argv[1:] = ["--requests", "20000", "--processes", "2", "--no-slope"]
    sys.exit(run.main())
