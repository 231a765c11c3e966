/* base/dtoa.c - Schubfach: R. Giulietti, "The Schubfach way to render doubles", 2020 (sections 8 and 9). */
#include "base/dtoa.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/pow10.h"

/* A number is c * 2^q. What rounds to it lies between the middles to its neighbours; four times c gives these
 * middles as integers. Below a power of two the neighbour is nearer by half ("irregular spacing"). */
struct binary {
    uint64_t c;
    int q;
    bool irregular;
};

static inline struct binary binary_of(uint64_t bits, int mantissa_bits, int exponent_bits)
{
    uint64_t hidden = (uint64_t)1 << mantissa_bits;
    uint64_t fraction = bits & (hidden - 1);
    int biased = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    int bias = (1 << (exponent_bits - 1)) - 1 + mantissa_bits;
    assert(biased != (1 << exponent_bits) - 1 && bits != 0);
    if (biased == 0)
        return (struct binary){fraction, 1 - bias, false};
    return (struct binary){fraction | hidden, biased - bias, fraction == 0 && biased > 1};
}

/* floor(log10(2^q)), or floor(log10(3/4 * 2^q)): how far apart the decimals tried may stand. Exact for |q| up
 * to 1650; the constants are 2^22 * log10(2) and -2^22 * log10(3/4). */
static inline int floor_log10(struct binary v)
{
    return (v.q * 1262611 - (v.irregular ? 524031 : 0)) >> 22;
}

/* The upper 64 bits of g * x (192 bits), the lowest of them also set if anything but rounding noise was cut off
 * ("round to odd"): then comparing it with multiples of 4 or 2 is as good as comparing the exact number. */
static inline uint64_t scale_double(const struct pow10 *g, uint64_t x)
{
    unsigned __int128 low = (unsigned __int128)g->low * x;
    unsigned __int128 sum = (unsigned __int128)g->high * x + (uint64_t)(low >> 64);
    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/* The same with a power of 64 bits and the upper 32 of the product: enough for a float. */
static inline uint64_t scale_float(uint64_t g, uint64_t x)
{
    unsigned __int128 product = (unsigned __int128)g * x;
    return (uint64_t)(product >> 64) | ((uint32_t)(product >> 32) > 1);
}

/* `value` is four times the number, `low` and `high` the bounds of what rounds to it, in units of 10^k.
 * (Where c is odd the bounds themselves do not round to the number: the callers moved them inwards.) */
static inline struct decimal shortest(uint64_t low, uint64_t value, uint64_t high, int k)
{
    uint64_t s = value >> 2;
    if (s >= 10) { /* is there exactly one multiple of 10^(k+1)? */
        uint64_t tens = s / 10;
        bool below = low <= 40 * tens;
        bool above = 40 * tens + 40 <= high;
        if (below != above)
            return (struct decimal){tens + above, k + 1};
    }
    bool below = low <= 4 * s;
    bool above = 4 * s + 4 <= high;
    if (below != above)
        return (struct decimal){s + above, k};
    uint64_t middle = 4 * s + 2; /* both or (never) none: the closer one, ties to even */
    bool up = value > middle || (value == middle && (s & 1));
    return (struct decimal){s + up, k};
}

struct decimal dtoa_double(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    struct binary b = binary_of(bits, 52, 11);
    int k = floor_log10(b);
    int shift = b.q + pow10_log2(-k) + 1;
    const struct pow10 *g = pow10_of(-k);
    uint64_t odd = b.c & 1;
    uint64_t low = scale_double(g, (4 * b.c - (b.irregular ? 1 : 2)) << shift);
    uint64_t value = scale_double(g, (4 * b.c) << shift);
    uint64_t high = scale_double(g, (4 * b.c + 2) << shift);
    return shortest(low + odd, value, high - odd, k);
}

struct decimal dtoa_float(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    struct binary b = binary_of(bits, 23, 8);
    int k = floor_log10(b);
    int shift = b.q + pow10_log2(-k) + 1;
    const struct pow10 *exact = pow10_of(-k);
    uint64_t g = exact->high + (exact->low != 0); /* rounded up, as the 128 bits are */
    uint64_t odd = b.c & 1;
    uint64_t low = scale_float(g, (4 * b.c - (b.irregular ? 1 : 2)) << shift);
    uint64_t value = scale_float(g, (4 * b.c) << shift);
    uint64_t high = scale_float(g, (4 * b.c + 2) << shift);
    return shortest(low + odd, value, high - odd, k);
}
