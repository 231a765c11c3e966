/* base/decimal.c - see decimal.h. Between text and bytes a number is a magnitude in words of 32 bits, the least
 * first; digits go in and out nine at a time. */
#include "base/decimal.h"

#include <assert.h>

enum {
    WORDS_MAX = DECIMAL_BYTES_MAX / 4,
    CHUNK_DIGITS = 9,
    CHUNK = 1000000000,
    DIGITS_MAX = LIMIT_DECIMAL_DIGITS_MAX
};
_Static_assert(DIGITS_MAX * 3322L / 1000 + 2 <= DECIMAL_BYTES_MAX * 8L, "log2(10) bits a digit, and a sign");
_Static_assert(DECIMAL_BYTES_MAX % 4 == 0, "bytes fill words");

struct magnitude {
    uint32_t word[WORDS_MAX];
    unsigned n; /* words in use; the last is not 0 */
};

/* m * factor + more; it has room by the limit of digits. */
static void multiply_add(struct magnitude *m, uint32_t factor, uint32_t more)
{
    uint64_t carry = more;
    for (unsigned i = 0; i < m->n; i++) {
        carry += (uint64_t)m->word[i] * factor;
        m->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) {
        assert(m->n < WORDS_MAX);
        m->word[m->n++] = (uint32_t)carry;
    }
}

/* m / CHUNK; the rest. */
static uint32_t divide_chunk(struct magnitude *m)
{
    uint64_t rest = 0;
    for (unsigned i = m->n; i-- > 0;) {
        rest = rest << 32 | m->word[i];
        m->word[i] = (uint32_t)(rest / CHUNK);
        rest %= CHUNK;
    }
    while (m->n && !m->word[m->n - 1])
        m->n--;
    return (uint32_t)rest;
}

/* ---- text to bytes ---- */

/* The digits of a number without zeros around them, and the power of ten of the last. */
struct digits {
    const uint8_t *p, *end; /* in the text; a point may stand between them */
    size_t n;
    int64_t exponent;
    bool is_negative;
};

static bool is_digit(uint8_t c)
{
    return (uint8_t)(c - '0') <= 9;
}

static const uint8_t *skip_digits(const uint8_t *p, const uint8_t *end)
{
    while (p < end && is_digit(*p))
        p++;
    return p;
}

/* An exponent beyond is cut: no text is long enough to make up for it. */
static const int64_t EXPONENT_CUT = INT64_C(1) << 48;

/* p: behind the 'e'. NULL: no digits. */
static const uint8_t *read_exponent(const uint8_t *p, const uint8_t *end, int64_t *out)
{
    bool is_negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    const uint8_t *first = p;
    int64_t v = 0;
    for (; p < end && is_digit(*p); p++)
        v = v < EXPONENT_CUT ? v * 10 + (*p - '0') : v;
    *out = is_negative ? -v : v;
    return p == first ? NULL : p;
}

static void trim(struct digits *d, int64_t digits_behind_point)
{
    const uint8_t *point = d->end - digits_behind_point - 1; /* if there is one */
    d->exponent -= digits_behind_point;
    while (d->p < d->end && (*d->p == '0' || *d->p == '.'))
        d->p++;
    while (d->p < d->end && (d->end[-1] == '0' || d->end[-1] == '.')) {
        d->exponent += d->end[-1] == '0';
        d->end--;
    }
    bool has_point = digits_behind_point && d->p < point && point < d->end;
    d->n = (size_t)(d->end - d->p) - has_point;
}

/* False: not spelled as a number. */
static bool read_digits(struct slice text, struct digits *d)
{
    const uint8_t *p = text.ptr, *end = p + text.len;
    *d = (struct digits){.is_negative = p < end && *p == '-'};
    d->p = p += d->is_negative;
    p = skip_digits(p, end);
    if (p == d->p || (*d->p == '0' && p > d->p + 1))
        return false;
    int64_t behind_point = 0;
    if (p < end && *p == '.') {
        const uint8_t *first = p + 1;
        p = skip_digits(first, end);
        behind_point = p - first;
        if (!behind_point)
            return false;
    }
    d->end = p;
    if (p < end && (*p | 0x20) == 'e' && !(p = read_exponent(p + 1, end, &d->exponent)))
        return false;
    trim(d, behind_point);
    return p == end;
}

/* The digits, and so many zeros, as a magnitude. */
static void gather(const struct digits *d, size_t zeros, struct magnitude *m)
{
    uint32_t chunk = 0, power = 1;
    const uint8_t *p = d->p;
    for (size_t left = d->n + zeros; left; left--) {
        if (p < d->end && *p == '.')
            p++;
        chunk = chunk * 10 + (p < d->end ? (uint32_t)(*p - '0') : 0);
        p += p < d->end;
        power *= 10;
        if (power == CHUNK || left == 1) {
            multiply_add(m, power, chunk);
            chunk = 0;
            power = 1;
        }
    }
}

/* Byte i of the number, from the least significant on, also beyond its words. */
static uint8_t byte_of(const struct magnitude *m, unsigned i)
{
    return i / 4 < m->n ? (uint8_t)(m->word[i / 4] >> i % 4 * 8) : 0;
}

static size_t put_bytes(const struct magnitude *m, bool is_negative, uint8_t *out)
{
    uint8_t little[DECIMAL_BYTES_MAX + 1];
    unsigned n = 0, carry = is_negative;
    for (; n < m->n * 4 + 1; n++) {
        unsigned v = (is_negative ? (uint8_t)~byte_of(m, n) : byte_of(m, n)) + carry;
        little[n] = (uint8_t)v;
        carry = v >> 8;
    }
    uint8_t sign = is_negative && m->n ? 0xff : 0;
    while (n > 1 && little[n - 1] == sign && (little[n - 2] & 0x80) == (sign & 0x80))
        n--;
    assert(n <= DECIMAL_BYTES_MAX);
    for (unsigned i = 0; i < n; i++)
        out[i] = little[n - 1 - i];
    return n;
}

enum decimal_fault decimal_parse(struct slice text, struct decimal_type type, uint8_t out[DECIMAL_BYTES_MAX],
                                 size_t *n)
{
    struct digits d;
    struct magnitude m = {.n = 0};
    assert(type.precision <= DIGITS_MAX && type.scale <= type.precision);
    if (!read_digits(slice_not_null(text), &d))
        return DECIMAL_SYNTAX;
    int64_t zeros = d.exponent + type.scale;
    if (d.n && zeros < 0)
        return DECIMAL_SCALE;
    if (d.n && (d.n > type.precision || zeros > (int64_t)(type.precision - d.n)))
        return DECIMAL_PRECISION;
    if (d.n)
        gather(&d, (size_t)zeros, &m);
    *n = put_bytes(&m, d.is_negative, out);
    return DECIMAL_FITS;
}

/* ---- bytes to text ---- */

/* The number's magnitude; false: it has more bytes than any number of that many digits. */
static bool read_bytes(struct slice bytes, struct magnitude *m, bool *is_negative)
{
    uint8_t sign = bytes.ptr[0] & 0x80 ? 0xff : 0;
    while (bytes.len > 1 && bytes.ptr[0] == sign)
        bytes = slice_of(bytes.ptr + 1, bytes.len - 1);
    if (bytes.len > DECIMAL_BYTES_MAX)
        return false;
    unsigned carry = *is_negative = sign != 0;
    m->n = (unsigned)(bytes.len + 3) / 4;
    for (unsigned i = 0; i < m->n; i++) {
        uint64_t v = 0;
        for (unsigned j = 0; j < 4; j++) {
            size_t at = (size_t)i * 4 + j;
            uint8_t byte = at < bytes.len ? bytes.ptr[bytes.len - 1 - at] : sign;
            v |= (uint64_t)byte << j * 8;
        }
        v = (sign ? (uint32_t)~v : v) + carry;
        m->word[i] = (uint32_t)v;
        carry = (unsigned)(v >> 32);
    }
    if (carry) /* -2^n: all bytes 0 */
        return m->n < WORDS_MAX && (m->word[m->n++] = 1);
    while (m->n && !m->word[m->n - 1])
        m->n--;
    return true;
}

/* All digits at `out` (room for more than DIGITS_MAX by a chunk), the most significant first; how many, 0 of zero. */
static size_t put_digits(struct magnitude *m, uint8_t *out)
{
    uint8_t reversed[WORDS_MAX * 10 + CHUNK_DIGITS];
    size_t n = 0;
    while (m->n) {
        uint32_t chunk = divide_chunk(m);
        for (unsigned i = 0; i < CHUNK_DIGITS; i++, chunk /= 10)
            reversed[n++] = (uint8_t)('0' + chunk % 10);
    }
    while (n && reversed[n - 1] == '0')
        n--;
    for (size_t i = 0; i < n; i++)
        out[i] = reversed[n - 1 - i];
    return n;
}

size_t decimal_print(struct slice bytes, struct decimal_type type, uint8_t *out)
{
    uint8_t digits[WORDS_MAX * 10 + CHUNK_DIGITS];
    struct magnitude m;
    bool is_negative;
    uint8_t *w = out;
    if (!bytes.len || !read_bytes(bytes, &m, &is_negative))
        return 0;
    size_t n = put_digits(&m, digits);
    if (n > type.precision)
        return 0;
    if (is_negative)
        *w++ = '-';
    size_t whole = n > type.scale ? n - type.scale : 0;
    memcpy(w, digits, whole);
    w += whole;
    if (!whole)
        *w++ = '0';
    if (!type.scale)
        return (size_t)(w - out);
    *w++ = '.';
    for (size_t zeros = type.scale - (n - whole); zeros; zeros--)
        *w++ = '0';
    memcpy(w, digits + whole, n - whole);
    return (size_t)(w + (n - whole) - out);
}
