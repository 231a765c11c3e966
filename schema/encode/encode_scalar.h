/* schema/encode/encode_scalar.h - JSON null, booleans, numbers and strings to Avro binary: what is read in line in
 * the encoder's walk. Each takes p at the value's first byte, writes at e->o, where OUT_SLACK bytes are free,
 * and returns what stands behind the value; NULL: it does not fit, or e->result says why not. */
#ifndef SCHEMA_ENCODE_SCALAR_H
#define SCHEMA_ENCODE_SCALAR_H

#include "schema/encode/encode.h"

/* encode_scalar.c: what is too long or too rare to be read in line. */
const uint8_t *scalar_string_slow(struct encode *e, const uint8_t *p);
const uint8_t *scalar_bytes(struct encode *e, const uint8_t *p);
const uint8_t *scalar_fixed(struct encode *e, const uint8_t *p, uint32_t size);
const uint8_t *scalar_enum(struct encode *e, const struct op *, const uint8_t *p);
const uint8_t *scalar_integer_slow(struct encode *e, const uint8_t *p, bool is_int);
const uint8_t *scalar_double(struct encode *e, const uint8_t *p);
const uint8_t *scalar_float(struct encode *e, const uint8_t *p);
/* The content of the string [p, quote), escapes undone; flags are scan_string's. In the text, or behind the end
 * of codec.name_text until the next call. False: memory is out. */
MUST_USE bool scalar_content(struct encode *e, const uint8_t *p, const uint8_t *quote, unsigned flags,
                             struct slice *out);

static inline const uint8_t *scalar_boolean(struct encode *e, const uint8_t *p)
{
    const uint8_t *behind = scan_word(p, e->end, "true", 4);
    *e->o = behind != NULL;
    if (!behind)
        behind = scan_word(p, e->end, "false", 5);
    e->o++;
    return behind;
}

static inline const uint8_t *scalar_string(struct encode *e, const uint8_t *p)
{
#if defined(__SSE2__)
    if (likely(*p == '"' && e->end - p > SCAN_BLOCK)) { /* most strings end within the first block */
        __m128i v = _mm_loadu_si128((const __m128i *)(p + 1));
        unsigned stops = scan_block(v);
        _mm_storeu_si128((__m128i *)(e->o + 1), v);
        unsigned n = stops ? (unsigned)__builtin_ctz(stops) : SCAN_BLOCK - 1;
        if (likely(p[1 + n] == '"' && stops)) {
            *e->o = (uint8_t)(n << 1);
            e->o += 1 + n;
            return p + n + 2;
        }
    }
#endif
    return scalar_string_slow(e, p);
}

static inline const uint8_t *scalar_integer(struct encode *e, const uint8_t *p, bool is_int)
{
    const uint8_t *start = p;
    bool is_negative = *p == '-';
    p += is_negative;
    uint64_t v = (uint8_t)(*p - '0');
    if (unlikely(v > 9))
        return NULL;
    const uint8_t *first = p++;
    for (uint8_t digit; (digit = (uint8_t)(*p - '0')) <= 9; p++)
        v = v * 10 + digit; /* wraps beyond 19 digits, and is not used then */
    if (unlikely(p - first > 18 || *p == '.' || (*p | 0x20) == 'e' || (*first == '0' && p - first > 1)))
        return scalar_integer_slow(e, start, is_int);
    int64_t n = is_negative ? -(int64_t)v : (int64_t)v;
    if (is_int && unlikely(n != (int32_t)n))
        return NULL;
    e->o = encode_varint(e->o, encode_zigzag(n));
    return p;
}

#endif
