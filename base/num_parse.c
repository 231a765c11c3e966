/* base/num_parse.c - text to numbers. Those of few digits go straight to the answer; the others, and what is
 * close to the middle of two, are brought into a bounded normal form for the C library. */
#include "base/num.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atod.h"
#include "base/compiler.h"

#if FLT_EVAL_METHOD != 0
#error "the short ways below need float and double operations rounded to their own width"
#endif

enum {
    SHORT_DIGITS = 19,      /* what always fits 64 bits */
    DIGITS_KEPT = 768,      /* the middle of two doubles has at most 767 significant digits */
    EXPONENT_BOUND = 100000 /* beyond it, with any kept digits, a double is zero or infinite */
};

/* An exponent as written is cut here; no text is long enough to make up for it. */
static const int64_t EXPONENT_CUT = INT64_C(100000000000000000);

/* What a number's text says: mantissa * 10^exponent, if it has at most SHORT_DIGITS digits; more may have
 * overflown the mantissa. */
struct number {
    struct slice whole, fraction; /* the digits before and after the point */
    int64_t written_exponent;
    uint64_t mantissa;
    int64_t exponent;
    size_t digits;
    bool negative;
};

static inline bool is_digit(uint8_t c)
{
    return (uint8_t)(c - '0') < 10;
}

static inline const uint8_t *scan_digits(const uint8_t *p, const uint8_t *end, uint64_t *mantissa)
{
    uint64_t m = *mantissa;
    for (; p < end && is_digit(*p); p++)
        m = m * 10 + (uint64_t)(*p - '0');
    *mantissa = m;
    return p;
}

static int64_t scan_exponent(const uint8_t *p, const uint8_t *end)
{
    bool negative = p < end && *p == '-';
    int64_t e = 0;
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    for (; p < end && e < EXPONENT_CUT; p++)
        e = e * 10 + (*p - '0');
    if (e > EXPONENT_CUT)
        e = EXPONENT_CUT;
    return negative ? -e : e;
}

static inline struct number scan(struct slice text)
{
    struct number n = {0};
    const uint8_t *p = text.ptr, *end = p + text.len;
    if (p < end && *p == '-') {
        n.negative = true;
        p++;
    }
    const uint8_t *start = p;
    p = scan_digits(p, end, &n.mantissa);
    n.whole = slice_of(start, (size_t)(p - start));
    if (p < end && *p == '.') {
        start = ++p;
        p = scan_digits(p, end, &n.mantissa);
        n.fraction = slice_of(start, (size_t)(p - start));
    }
    if (p < end)
        n.written_exponent = scan_exponent(p + 1, end);
    n.digits = n.whole.len + n.fraction.len;
    n.exponent = n.written_exponent - (int64_t)n.fraction.len;
    return n;
}

/* The significant digits, from the first to the last that is not 0. Where there are more than DIGITS_KEPT:
 * the first of them, then a 1 that stands for all the others; nothing that a type can hold lies between. */
struct normal {
    char digits[DIGITS_KEPT + 1];
    size_t n;
    int64_t first,
        last; /* weights: the first significant digit of the text counts 10^first, its last 10^last */
    bool cut;
};

static void add_digits(struct normal *out, struct slice digits, int64_t weight)
{
    for (size_t i = 0; i < digits.len; i++, weight--) {
        char c = (char)digits.ptr[i];
        if (c == '0' && out->n == 0)
            continue;
        if (out->n == 0)
            out->first = weight;
        if (c != '0')
            out->last = weight;
        if (out->n < DIGITS_KEPT)
            out->digits[out->n++] = c;
        else if (c != '0')
            out->cut = true;
    }
}

static void normalise(const struct number *n, struct normal *out)
{
    out->n = 0;
    out->first = out->last = 0;
    out->cut = false;
    add_digits(out, n->whole, n->written_exponent + (int64_t)n->whole.len - 1);
    add_digits(out, n->fraction, n->written_exponent - 1);
    if (out->cut)
        out->digits[out->n++] = '1';
    while (out->n > 0 && out->digits[out->n - 1] == '0')
        out->n--;
}

static enum num_kind integer_of(bool negative, uint64_t magnitude, int64_t *out)
{
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return NUM_HUGE;
    *out = (int64_t)(negative ? -magnitude : magnitude);
    return NUM_INTEGER;
}

/* mantissa * 10^exponent */
static enum num_kind scale_integer(bool negative, uint64_t mantissa, int64_t exponent, int64_t *out)
{
    if (mantissa == 0)
        return integer_of(false, 0, out);
    for (; exponent < 0; exponent++) {
        if (mantissa % 10 != 0)
            return NUM_FRACTION;
        mantissa /= 10;
    }
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(mantissa, 10, &mantissa))
            return NUM_HUGE;
    return integer_of(negative, mantissa, out);
}

static COLD enum num_kind parse_long_i64(const struct number *n, int64_t *out)
{
    struct normal normal;
    normalise(n, &normal);
    if (normal.n > SHORT_DIGITS)
        return normal.last < 0 ? NUM_FRACTION : NUM_HUGE;
    uint64_t mantissa = 0;
    for (size_t i = 0; i < normal.n; i++)
        mantissa = mantissa * 10 + (uint64_t)(normal.digits[i] - '0');
    return scale_integer(n->negative, mantissa, normal.last, out);
}

enum num_kind num_parse_i64(struct slice text, int64_t *out)
{
    struct number n = scan(text);
    if (unlikely(n.digits > SHORT_DIGITS))
        return parse_long_i64(&n, out);
    if (likely(n.exponent == 0))
        return integer_of(n.negative, n.mantissa, out);
    return scale_integer(n.negative, n.mantissa, n.exponent, out);
}

/* The normal form as strtod reads it, "-123e-45": it has no point, so no locale matters. */
enum { NORMAL_CHARS = 1 + DIGITS_KEPT + 1 + sizeof "e-100000" };

static COLD void print_normal(const struct number *n, char text[static NORMAL_CHARS])
{
    struct normal normal;
    normalise(n, &normal);
    char *p = text;
    if (n->negative)
        *p++ = '-';
    if (normal.n == 0)
        *p++ = '0';
    memcpy(p, normal.digits, normal.n);
    p += normal.n;
    int64_t exponent = normal.first - (int64_t)normal.n + 1;
    if (exponent > EXPONENT_BOUND)
        exponent = EXPONENT_BOUND;
    if (exponent < -EXPONENT_BOUND)
        exponent = -EXPONENT_BOUND;
    size_t room = NORMAL_CHARS - (size_t)(p - text);
    int wrote = snprintf(p, room, "e%d", (int)exponent);
    assert(wrote > 0 && (size_t)wrote < room);
}

static COLD bool parse_long_double(const struct number *n, double *out)
{
    char text[NORMAL_CHARS];
    print_normal(n, text);
    *out = strtod(text, NULL);
    return isfinite(*out);
}

static COLD bool parse_long_float(const struct number *n, float *out)
{
    char text[NORMAL_CHARS];
    print_normal(n, text);
    *out = strtof(text, NULL);
    return isfinite(*out);
}

/* The powers that a double holds exactly. */
static const double pow10_exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* W. Clinger, "How to read floating point numbers accurately", 1990: where mantissa and power are both exact,
 * the one operation rounds once. The sign comes later. */
static inline bool parse_exact(const struct number *n, double *out)
{
    if (n->digits > SHORT_DIGITS || n->mantissa > (uint64_t)1 << 53 || n->exponent < -22 || n->exponent > 22)
        return false;
    double m = (double)n->mantissa;
    *out = n->exponent < 0 ? m / pow10_exact[-n->exponent] : m * pow10_exact[n->exponent];
    return true;
}

/* What atod takes. */
static inline bool is_short(const struct number *n)
{
    return n->digits <= SHORT_DIGITS && n->mantissa != 0;
}

bool num_parse_double(struct slice text, double *out)
{
    struct number n = scan(text);
    double v;
    if (!parse_exact(&n, &v) && unlikely(!is_short(&n) || !atod_double(n.mantissa, n.exponent, &v)))
        return parse_long_double(&n, out);
    *out = n.negative ? -v : v;
    return true;
}

bool num_parse_float(struct slice text, float *out)
{
    struct number n = scan(text);
    float v = 0;
    if (n.digits <= SHORT_DIGITS && n.mantissa == 0) {
        *out = n.negative ? -v : v;
        return true;
    }
    if (unlikely(!is_short(&n) || !atod_float(n.mantissa, n.exponent, &v)))
        return parse_long_float(&n, out);
    *out = n.negative ? -v : v;
    return true;
}

bool num_parse_decimal(struct slice text, uint64_t max, uint64_t *out)
{
    uint64_t v = 0;
    size_t i = 0;
    if (text.len == 0)
        return false;
    for (; i < text.len && i < 19; i++) { /* so many digits do not overflow */
        if (!is_digit(text.ptr[i]))
            return false;
        v = v * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    if (v > max)
        return false;
    for (; i < text.len; i++) {
        if (!is_digit(text.ptr[i]) || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(text.ptr[i] - '0'), &v) || v > max)
            return false;
    }
    *out = v;
    return true;
}
