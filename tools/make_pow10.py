#!/usr/bin/env python3
"""Print base/pow10.inc: the powers of ten that base/dtoa.c and base/atod.c multiply by, exact to 128 bits.

For each k: the least integer g with g * 2^r >= 10^k, where r is such that 2^127 <= g < 2^128
(g as chosen by Giulietti's paper, there with 126 bits). Usage: tools/make_pow10.py > base/pow10.inc
"""

K_MIN, K_MAX = -292, 324  # POW10_MIN, POW10_MAX in base/pow10.h: what printing doubles needs


def power(k):
    numerator, denominator = (10**k, 1) if k >= 0 else (1, 10**-k)
    shift = 128 - (numerator.bit_length() - denominator.bit_length())
    for s in (shift - 1, shift, shift + 1):
        n, d = (numerator << s, denominator) if s >= 0 else (numerator, denominator << -s)
        g = -(-n // d)
        if g.bit_length() == 128 and n >= d << 127:
            return g
    raise AssertionError(k)


def main():
    print("/* base/pow10.inc - made by tools/make_pow10.py: 10^k for k from POW10_MIN to POW10_MAX, rounded up to")
    print(" * 128 bits, the upper 64 first. */")
    for k in range(K_MIN, K_MAX + 1):
        g = power(k)
        print(f"{{0x{g >> 64:016x}, 0x{g & (1 << 64) - 1:016x}}}, /* 1e{k} */")


if __name__ == "__main__":
    main()
