/* base/num_print.c - numbers as text: integers, and the layout of floating-point digits. */
#include "base/num.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "base/dtoa.h"

/* From 10^17 on and below 10^-5 a number is printed with an exponent. */
enum { EXPONENT_MIN = -5, EXPONENT_MAX = 16, DIGITS_MAX = 17 };

static const char pairs[] = "0001020304050607080910111213141516171819"
                            "2021222324252627282930313233343536373839"
                            "4041424344454647484950515253545556575859"
                            "6061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

/* powers[n] is 10^n. */
static const uint64_t powers[20] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    1000000000000000000,
    10000000000000000000u,
};

/* Of v > 0. */
static size_t count_digits(uint64_t v)
{
    /* bits * log10(2): right, or one too low */
    size_t guess = (size_t)(64 - __builtin_clzll(v | 1)) * 1233 >> 12;
    return guess + (v >= powers[guess]);
}

size_t num_print_u64(uint64_t v, uint8_t *out)
{
    if (v < 10) {
        out[0] = (uint8_t)('0' + v);
        return 1;
    }
    size_t n = count_digits(v);
    uint8_t *p = out + n;
    while (v >= 100) {
        p -= 2;
        memcpy(p, pairs + v % 100 * 2, 2);
        v /= 100;
    }
    if (v >= 10)
        memcpy(out, pairs + v * 2, 2);
    else
        out[0] = (uint8_t)('0' + v);
    return n;
}

size_t num_print_i64(int64_t v, uint8_t *out)
{
    if (v >= 0)
        return num_print_u64((uint64_t)v, out);
    out[0] = '-';
    return 1 + num_print_u64(-(uint64_t)v, out + 1);
}

/* The eight digits of v < 10^8 as values 0 to 9, the first in the lowest byte: halves, quarters and eighths
 * of the number are split off in all lanes of the word at once. */
static inline uint64_t eight_digits(uint32_t v)
{
    uint64_t fours = v / 10000 | (uint64_t)(v % 10000) << 32;
    uint64_t high = (fours * 10486) >> 20 & 0x0000007f0000007f; /* / 100, right below 10^4 */
    uint64_t twos = high | (fours - high * 100) << 16;
    high = (twos * 103) >> 10 & 0x000f000f000f000f; /* / 10, right below 100 */
    return high | (twos - high * 10) << 8;
}

/* DIGITS_MAX digits as text: the first, then eight in each word, the earliest in its lowest byte. They go
 * from registers to where they belong, since a text that was stored in words is slow to read again at another
 * offset. */
struct digits {
    uint8_t first;
    uint64_t high, low;
    size_t n;     /* without zeros at the end */
    int exponent; /* of the first */
};

static inline struct digits digits_of(struct decimal d)
{
    static const uint64_t zeros = UINT64_C(0x3030303030303030);
    size_t n = count_digits(d.digits);
    uint64_t all = d.digits * powers[DIGITS_MAX - n];
    uint64_t rest = all % powers[16];
    uint64_t high = eight_digits((uint32_t)(rest / powers[8]));
    uint64_t low = eight_digits((uint32_t)(rest % powers[8]));
    struct digits out = {
        .first = (uint8_t)('0' + all / powers[16]),
        .high = high | zeros,
        .low = low | zeros,
        .exponent = d.exponent + (int)n - 1,
    };
    if (low)
        out.n = 17 - (size_t)__builtin_clzll(low) / 8;
    else
        out.n = high ? 9 - (size_t)__builtin_clzll(high) / 8 : 1;
    return out;
}

/* The layouts write all digits, more than count: NUM_DOUBLE_MAX_CHARS has the room. */

/* d, d.ddd: the first digit, then the others if there are any, then the exponent. */
static size_t print_scientific(const struct digits *d, uint8_t *out)
{
    out[0] = d->first;
    out[1] = '.';
    put_le64(out + 2, d->high);
    put_le64(out + 10, d->low);
    uint8_t *p = out + (d->n > 1 ? d->n + 1 : 1);
    *p++ = 'e';
    p += num_print_i64(d->exponent, p);
    return (size_t)(p - out);
}

static inline size_t print_below_one(const struct digits *d, uint8_t *out)
{
    size_t zeros = (size_t)(-d->exponent - 1);
    memcpy(out, "0.0000", 6);
    uint8_t *p = out + 2 + zeros;
    *p = d->first;
    put_le64(p + 1, d->high);
    put_le64(p + 9, d->low);
    return 2 + zeros + d->n;
}

static inline size_t print_from_one(const struct digits *d, uint8_t *out)
{
    size_t whole = (size_t)d->exponent + 1; /* digits before the point */
    out[0] = d->first;
    put_le64(out + 1, d->high);
    put_le64(out + 9, d->low);
    uint8_t *point = out + whole;
    *point = '.';
    if (likely(whole < DIGITS_MAX)) {
        unsigned __int128 behind = ((unsigned __int128)d->low << 64 | d->high) >> (whole - 1) * 8;
        put_le64(point + 1, (uint64_t)behind);
        put_le64(point + 9, (uint64_t)(behind >> 64));
    } else {
        point[1] = '0';
    }
    return d->n > whole ? d->n + 1 : whole + 2; /* behind the point at least one digit, which is 0 then */
}

static inline size_t print_decimal(struct decimal decimal, uint8_t *out)
{
    struct digits d = digits_of(decimal);
    if (unlikely(d.exponent < EXPONENT_MIN || d.exponent > EXPONENT_MAX))
        return print_scientific(&d, out);
    return d.exponent < 0 ? print_below_one(&d, out) : print_from_one(&d, out);
}

static size_t put(uint8_t *out, const char *text)
{
    size_t n = strlen(text);
    memcpy(out, text, n);
    return n;
}

/* NaN, the infinities and the zeros: what has no digits. */
static COLD size_t print_special(double v, uint8_t *out)
{
    if (isnan(v))
        return put(out, "NaN");
    if (isinf(v))
        return put(out, v < 0 ? "-Infinity" : "Infinity");
    return put(out, signbit(v) ? "-0.0" : "0.0");
}

size_t num_print_double(double v, uint8_t *out)
{
    if (unlikely(!isfinite(v) || v == 0))
        return print_special(v, out);
    out[0] = '-';
    size_t sign = v < 0;
    return sign + print_decimal(dtoa_double(fabs(v)), out + sign);
}

size_t num_print_float(float v, uint8_t *out)
{
    if (unlikely(!isfinite(v) || v == 0))
        return print_special((double)v, out);
    out[0] = '-';
    size_t sign = v < 0;
    return sign + print_decimal(dtoa_float(fabsf(v)), out + sign);
}
