/* base/atod.c - one multiplication by a power of ten, after D. Lemire, "Number parsing at a gigabyte per
 * second", 2021; where its rounding could be in doubt, the caller takes another way. */
#include "base/atod.h"

#include <assert.h>
#include <string.h>

#include "base/compiler.h"
#include "base/pow10.h"

/* The normal number of `bits` bits nearest to mantissa * 10^exponent is c * 2^q.
 *
 * The product of the mantissa, shifted to fill 64 bits, and the power's 128 has 192 bits; t is its upper 128.
 * The power is too large by less than 1 in its last bit, so the exact product, in units of t's last bit, lies
 * above t - 1 and below t + 1. Of t, `bits` bits are kept and the rest decides: below the half it is rounded
 * down, and above it up, whatever the error. Only where the rest is the half itself is there doubt. */
static inline bool round_product(uint64_t mantissa, int64_t exponent, int bits, uint64_t *c, int *q)
{
    if (exponent < POW10_MIN || exponent > POW10_MAX)
        return false;
    assert(mantissa != 0);
    int zeros = __builtin_clzll(mantissa);
    uint64_t w = mantissa << zeros;
    const struct pow10 *g = pow10_of((int)exponent);
    unsigned __int128 low = (unsigned __int128)g->low * w;
    unsigned __int128 t = (unsigned __int128)g->high * w + (uint64_t)(low >> 64);
    uint64_t high = (uint64_t)(t >> 64);

    int cut = 64 - bits - !(high >> 63); /* bits of high that belong to the rest */
    uint64_t rest = high & (((uint64_t)1 << cut) - 1);
    uint64_t half = (uint64_t)1 << (cut - 1);
    if (unlikely(rest == half && (uint64_t)t == 0))
        return false;
    *c = (high >> cut) + (rest >= half);
    *q = pow10_log2((int)exponent) - zeros + cut + 1;
    if (*c >> bits) { /* rounded up to the next power of two */
        *c >>= 1;
        ++*q;
    }
    return true;
}

bool atod_double(uint64_t mantissa, int64_t exponent, double *out)
{
    uint64_t c;
    int q;
    if (!round_product(mantissa, exponent, 53, &c, &q))
        return false;
    int biased = q + 52 + 1023;
    if (biased < 1 || biased > 2046)
        return false;
    uint64_t bits = (uint64_t)biased << 52 | (c & (((uint64_t)1 << 52) - 1));
    memcpy(out, &bits, sizeof bits);
    return true;
}

bool atod_float(uint64_t mantissa, int64_t exponent, float *out)
{
    uint64_t c;
    int q;
    if (!round_product(mantissa, exponent, 24, &c, &q))
        return false;
    int biased = q + 23 + 127;
    if (biased < 1 || biased > 254)
        return false;
    uint32_t bits = (uint32_t)biased << 23 | ((uint32_t)c & ((1u << 23) - 1));
    memcpy(out, &bits, sizeof bits);
    return true;
}
