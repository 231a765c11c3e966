#!/usr/bin/env python3
"""tools/make_lower.py - prints base/lower.def: what is lower case of what, for single characters, by Python's copy of the
Unicode data. Neighbours that go the same way make one row; in alphabets where both cases stand beside each other every second
character does."""

import sys
import unicodedata


def pairs():
    for code in range(0x80, sys.maxunicode + 1):
        lower = chr(code).lower()
        if len(lower) == 1 and ord(lower) != code:
            yield code, ord(lower)


def rows():
    row = None  # first, last, stride, delta
    for code, lower in pairs():
        delta = lower - code
        if row and delta == row[3] and code - row[1] in ((1, 2) if row[0] == row[1] else (row[2],)):
            row[2], row[1] = code - row[1], code
        else:
            if row:
                yield row
            row = [code, code, 1, delta]
    yield row


def main():
    print(f"""/* base/lower.def - LOWER(first, last, stride, delta): every stride-th character from first to last, plus delta, is its lower case.
 * Characters beyond ASCII whose lower case is one character; in order. Made by tools/make_lower.py: Unicode {unicodedata.unidata_version}. */""")
    for first, last, stride, delta in rows():
        print(f"LOWER(0x{first:04x}, 0x{last:04x}, {stride}, {delta})")


if __name__ == "__main__":
    main()
