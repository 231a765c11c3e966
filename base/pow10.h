/* base/pow10.h - powers of ten to 128 bits, for numbers to and from text. Inside base/ only. */
#ifndef BASE_POW10_H
#define BASE_POW10_H

#include <assert.h>
#include <stdint.h>

enum { POW10_MIN = -292, POW10_MAX = 324 };

/* 10^k is at most g * 2^(pow10_log2(k) - 127), and more than (g - 1) times that, with g = high * 2^64 + low
 * and 2^127 <= g < 2^128. */
struct pow10 {
    uint64_t high, low;
};

extern const struct pow10 pow10_table[POW10_MAX - POW10_MIN + 1];

static inline const struct pow10 *pow10_of(int k)
{
    assert(k >= POW10_MIN && k <= POW10_MAX);
    return &pow10_table[k - POW10_MIN];
}

/* floor(log2(10^k)), exact for |k| up to 1233; the constant is 2^19 * log2(10). */
static inline int pow10_log2(int k)
{
    return (k * 1741647) >> 19;
}

#endif
