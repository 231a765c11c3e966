/* schema/encode/encode_scalar.c - JSON scalars to Avro binary: long strings and those with escapes, bytes, symbols,
 * numbers that are spelt with a point or an exponent. */
#include "schema/encode/encode_scalar.h"

/* ---- strings ---- */

/* The string at p, with its quote; NULL: there is none. */
static const uint8_t *find_quote(const struct encode *e, const uint8_t *p, unsigned *flags)
{
    return *p == '"' ? scan_string(p + 1, e->end, flags) : NULL;
}

bool scalar_content(struct encode *e, const uint8_t *p, const uint8_t *quote, unsigned flags,
                    struct slice *out)
{
    *out = slice_of(p, (size_t)(quote - p));
    if (!(flags & SCAN_ESCAPED))
        return true;
    struct buf *text = &e->codec->name_text;
    if (!buf_reserve(text, out->len))
        return encode_refuse(e, ENCODE_NO_MEMORY);
    out->ptr = text->ptr + text->len;
    out->len = (size_t)(scan_unescape(p, quote, text->ptr + text->len) - out->ptr);
    return true;
}

/* Write the length, then the bytes that `len` more at e->o will be; room for both. */
static void put_length(struct encode *e, size_t len)
{
    e->o = encode_varint(e->o, (uint64_t)len << 1);
}

/* [body, end) was written 10 bytes behind e->o, where there was room for the longest length;
 * close the gap. */
static void put_behind(struct encode *e, const uint8_t *body, const uint8_t *end)
{
    size_t len = (size_t)(end - body);
    put_length(e, len);
    memmove(e->o, body, len);
    e->o += len;
}

enum { LENGTH_BYTES_MAX = 10 };

const uint8_t *scalar_string_slow(struct encode *e, const uint8_t *p)
{
    unsigned flags = 0;
    const uint8_t *quote = find_quote(e, p++, &flags);
    if (!quote)
        return NULL;
    size_t len = (size_t)(quote - p);
    if (!encode_room(e, len + LENGTH_BYTES_MAX))
        return NULL;
    if (flags & SCAN_ESCAPED) {
        uint8_t *body = e->o + LENGTH_BYTES_MAX;
        put_behind(e, body, scan_unescape(p, quote, body));
    } else {
        put_length(e, len);
        memcpy(e->o, p, len);
        e->o += len;
    }
    return quote + 1;
}

const uint8_t *scalar_bytes(struct encode *e, const uint8_t *p)
{
    unsigned flags;
    struct scan_wide wide;
    const uint8_t *quote = find_quote(e, p++, &flags);
    if (!quote || !encode_room(e, (size_t)(quote - p) + LENGTH_BYTES_MAX))
        return NULL;
    uint8_t *body = e->o + LENGTH_BYTES_MAX, *end = scan_bytes(p, quote, body, &wide);
    if (!end)
        return NULL;
    put_behind(e, body, end);
    return quote + 1;
}

const uint8_t *scalar_fixed(struct encode *e, const uint8_t *p, uint32_t size)
{
    unsigned flags;
    struct scan_wide wide;
    const uint8_t *quote = find_quote(e, p++, &flags);
    if (!quote || (size_t)(quote - p) < size || !encode_room(e, (size_t)(quote - p)))
        return NULL;
    uint8_t *end = scan_bytes(p, quote, e->o, &wide);
    if (!end || (size_t)(end - e->o) != size)
        return NULL;
    e->o = end;
    return quote + 1;
}

/* ---- enums ---- */

enum { FEW_SYMBOLS = 8 };

/* The symbol that the string at p is, or -1; *behind: what stands behind the string. */
static int read_symbol(struct encode *e, const struct op *op, const uint8_t *p, const uint8_t **behind)
{
    const struct op_symbol *symbols = e->program->symbols + op->a;
    if (op->b <= FEW_SYMBOLS)
        for (uint32_t i = 0; i < op->b; i++)
            if (scan_match(p, e->end, symbols[i].text, symbols[i].head)) {
                *behind = p + symbols[i].text.len;
                return (int)i;
            }
    unsigned flags;
    struct slice name;
    const uint8_t *quote = find_quote(e, p++, &flags);
    if (!quote || !scalar_content(e, p, quote, flags, &name))
        return -1;
    *behind = quote + 1;
    return program_symbol(e->program, op, name);
}

const uint8_t *scalar_enum(struct encode *e, const struct op *op, const uint8_t *p)
{
    const uint8_t *behind;
    int symbol = read_symbol(e, op, p, &behind);
    if (symbol < 0)
        return NULL;
    e->o = encode_varint(e->o, encode_zigzag(symbol));
    return behind;
}

/* ---- integers ---- */

const uint8_t *scalar_integer_slow(struct encode *e, const uint8_t *p, bool is_int)
{
    int64_t v;
    const uint8_t *behind = scan_number(p);
    if (!behind || num_parse_i64(slice_of(p, (size_t)(behind - p)), &v) != NUM_INTEGER)
        return NULL;
    if (is_int && v != (int32_t)v)
        return NULL;
    e->o = encode_varint(e->o, encode_zigzag(v));
    return behind;
}

/* ---- floating point ---- */

/* "NaN", "Infinity" or "-Infinity" at p, however escaped: behind it, and *out; else NULL. */
static const uint8_t *read_special(const struct encode *e, const uint8_t *p, double *out)
{
    unsigned flags;
    uint8_t plain[6 * (sizeof "-Infinity" - 1)]; /* each character as an escape */
    const uint8_t *quote = find_quote(e, p, &flags);
    if (!quote || (size_t)(quote - p - 1) > sizeof plain)
        return NULL;
    struct slice word = slice_of(plain, (size_t)(scan_unescape(p + 1, quote, plain) - plain));
    if (slice_eq(word, SLICE("NaN")))
        *out = __builtin_nan("");
    else if (slice_eq(word, SLICE("Infinity")))
        *out = __builtin_inf();
    else if (slice_eq(word, SLICE("-Infinity")))
        *out = -__builtin_inf();
    else
        return NULL;
    return quote + 1;
}

/* A number as digits times a power of ten, if that is short enough. */
struct decimal {
    uint64_t digits;
    int32_t exponent;
    bool is_negative, is_short; /* is_short: all digits are there, and the exponent */
};

/* p: behind the 'e' of a number. */
static const uint8_t *read_exponent(const uint8_t *p, struct decimal *d)
{
    bool is_negative = *p == '-';
    p += is_negative || *p == '+';
    const uint8_t *first = p;
    int32_t v = 0;
    for (; scan_is_digit(*p); p++)
        v = p - first < 4 ? v * 10 + (*p - '0') : v;
    if (p - first > 4)
        d->is_short = false;
    d->exponent += is_negative ? -v : v;
    return p == first ? NULL : p;
}

/* Behind the number at p, or NULL: none of RFC 8259 stands there. */
static const uint8_t *read_decimal(const uint8_t *p, struct decimal *d)
{
    d->is_negative = *p == '-';
    p += d->is_negative;
    const uint8_t *first = p, *point = NULL;
    uint64_t v = 0;
    for (uint8_t digit; (digit = (uint8_t)(*p - '0')) <= 9; p++)
        v = v * 10 + digit;
    ptrdiff_t ndigits = p - first;
    if (ndigits == 0 || (*first == '0' && ndigits > 1))
        return NULL;
    d->exponent = 0;
    if (*p == '.') {
        point = ++p;
        for (uint8_t digit; (digit = (uint8_t)(*p - '0')) <= 9; p++)
            v = v * 10 + digit;
        if (p == point)
            return NULL;
        ndigits += p - point;
    }
    d->digits = v;
    d->is_short = ndigits <= 19; /* 19 digits fit 64 bits */
    if (point && d->is_short)
        d->exponent = -(int32_t)(p - point);
    return (*p | 0x20) == 'e' ? read_exponent(p + 1, d) : p;
}

/* Powers of ten that a double holds exactly. */
static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Digits and power exact: one operation rounds once (Clinger, "How to read floating point numbers
 * accurately"). */
static bool short_double(const struct decimal *d, double *out)
{
    if (!d->is_short || d->digits > (uint64_t)1 << 53 || d->exponent < -22 || d->exponent > 22)
        return false;
    double v = (double)d->digits;
    v = d->exponent < 0 ? v / power_of_ten[-d->exponent] : v * power_of_ten[d->exponent];
    *out = d->is_negative ? -v : v;
    return true;
}

static bool short_float(const struct decimal *d, float *out)
{
    if (!d->is_short || d->digits > 1 << 24 || d->exponent < -10 || d->exponent > 10)
        return false;
    float v = (float)d->digits, power = (float)power_of_ten[d->exponent < 0 ? -d->exponent : d->exponent];
    v = d->exponent < 0 ? v / power : v * power;
    *out = d->is_negative ? -v : v;
    return true;
}

const uint8_t *scalar_double(struct encode *e, const uint8_t *p)
{
    double v;
    struct decimal d;
    const uint8_t *behind = *p == '"' ? read_special(e, p, &v) : read_decimal(p, &d);
    if (!behind)
        return NULL;
    if (*p != '"' && !short_double(&d, &v) && !num_parse_double(slice_of(p, (size_t)(behind - p)), &v))
        return NULL;
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_le64(e->o, bits);
    e->o += sizeof bits;
    return behind;
}

const uint8_t *scalar_float(struct encode *e, const uint8_t *p)
{
    double special;
    float v;
    struct decimal d;
    const uint8_t *behind = *p == '"' ? read_special(e, p, &special) : read_decimal(p, &d);
    if (!behind)
        return NULL;
    if (*p == '"')
        v = (float)special;
    else if (!short_float(&d, &v) && !num_parse_float(slice_of(p, (size_t)(behind - p)), &v))
        return NULL;
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_le32(e->o, bits);
    e->o += sizeof bits;
    return behind;
}
