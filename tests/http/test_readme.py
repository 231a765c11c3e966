"""tests/http/test_readme.py - README's console session, run against a fresh server: the answers that it prints are the real
ones. With --write they are put into README.md instead of being compared."""

import sys

import console


def main():
    console.check("README.md", write="--write" in sys.argv)
    print("ok")


if __name__ == "__main__":
    main()
