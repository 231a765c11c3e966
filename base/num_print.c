/* base/num_print.c - numbers as text: integers, and the layout of floating-point digits. */
#include "base/num.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/dtoa.h"

/* From 10^17 on and below 10^-5 a number is printed with an exponent. */
enum { EXPONENT_MIN = -5, EXPONENT_MAX = 16, DIGITS_MAX = 17 };

static const char pairs[] = "0001020304050607080910111213141516171819"
                            "2021222324252627282930313233343536373839"
                            "4041424344454647484950515253545556575859"
                            "6061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

/* powers[n]: the least number of n + 1 digits. */
static const uint64_t powers[20] = {
    0,
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

static size_t put(uint8_t *out, const char *text)
{
    size_t n = strlen(text);
    memcpy(out, text, n);
    return n;
}

/* d, d.ddd: the first digit, then the others if there are any, then the exponent. */
static size_t print_scientific(const uint8_t *digits, size_t n, int exponent, uint8_t *out)
{
    uint8_t *p = out;
    *p++ = digits[0];
    if (n > 1) {
        *p++ = '.';
        memcpy(p, digits + 1, n - 1);
        p += n - 1;
    }
    *p++ = 'e';
    p += num_print_i64(exponent, p);
    return (size_t)(p - out);
}

static size_t print_below_one(const uint8_t *digits, size_t n, int exponent, uint8_t *out)
{
    size_t zeros = (size_t)(-exponent - 1);
    memcpy(out, "0.0000", 6);
    memcpy(out + 2 + zeros, digits, n);
    return 2 + zeros + n;
}

static size_t print_from_one(const uint8_t *digits, size_t n, int exponent, uint8_t *out)
{
    size_t whole = (size_t)exponent + 1; /* digits before the point */
    if (n > whole) {
        memcpy(out, digits, whole);
        out[whole] = '.';
        memcpy(out + whole + 1, digits + whole, n - whole);
        return n + 1;
    }
    memcpy(out, digits, n);
    memset(out + n, '0', whole - n);
    memcpy(out + whole, ".0", 2);
    return whole + 2;
}

static size_t print_decimal(struct decimal d, uint8_t *out)
{
    uint8_t digits[NUM_U64_MAX_CHARS];
    size_t n = num_print_u64(d.digits, digits);
    int exponent = d.exponent + (int)n - 1; /* of the first digit */
    while (n > 1 && digits[n - 1] == '0')
        n--;
    if (exponent < EXPONENT_MIN || exponent > EXPONENT_MAX)
        return print_scientific(digits, n, exponent, out);
    return exponent < 0 ? print_below_one(digits, n, exponent, out)
                        : print_from_one(digits, n, exponent, out);
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
