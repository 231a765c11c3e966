/* schema/encode/scan.h - tokens of JSON text, read where they stand. Shared by the encoder, its skipper and the
 * explainer.
 *
 * A text to scan is a `struct scan_text` made by scan_text_init: white space at its end is cut off, and what
 * may be read at `end` or stands before it ends every run of space, digits or letters. So after a comma, a
 * colon or an opening bracket one byte may be read without asking; after a closing bracket or a quote, ask
 * for p < end first. */
#ifndef SCHEMA_SCAN_H
#define SCHEMA_SCAN_H

#include "base/buf.h"
#include "base/bytes.h"
#include "base/num.h"
#include "base/utf8.h"
#include "schema/program/program.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { SCAN_BLOCK = 16 };

/* *p and *end of the text between them; borrowed from `json`, or from `copy` where the text ends in a bare
 * word or number. False: memory is out. */
MUST_USE bool scan_text_init(struct slice json, struct buf *copy, const uint8_t **p, const uint8_t **end);

static inline bool scan_is_space(uint8_t c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline const uint8_t *scan_space(const uint8_t *p)
{
    if (likely(*p > ' '))
        return p;
    while (scan_is_space(*p))
        p++;
    return p;
}

static inline bool scan_is_digit(uint8_t c)
{
    return (uint8_t)(c - '0') <= 9;
}

/* Does the text at p begin with `what`, whose head is `head`? */
static inline bool scan_match(const uint8_t *p, const uint8_t *end, struct slice what, struct op_head head)
{
    size_t left = (size_t)(end - p);
    if (likely(left >= 8)) {
        if ((get_le64(p) ^ head.word) & head.mask)
            return false;
        if (what.len <= 8)
            return true;
        if (what.len <= 16 && left >= what.len) /* the second word overlaps the first */
            return get_le64(p + what.len - 8) == get_le64(what.ptr + what.len - 8);
    }
    return left >= what.len && memcmp(p, what.ptr, what.len) == 0;
}

/* Behind null, true or false; NULL: that is not what stands at p. */
static inline const uint8_t *scan_word(const uint8_t *p, const uint8_t *end, const char *word, size_t len)
{
    return (size_t)(end - p) >= len && memcmp(p, word, len) == 0 ? p + len : NULL;
}

#if defined(__SSE2__)
/* A bit for each byte of the block that is no plain string content: quote, backslash, control or beyond
 * ASCII. */
static inline unsigned scan_block(__m128i v)
{
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    __m128i escape = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    __m128i other = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20)); /* signed: controls, and all from 0x80 on */
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, escape), other));
}
#endif

/* The first byte in [p, end) that is no plain string content, or end. */
const uint8_t *scan_plain(const uint8_t *p, const uint8_t *end);

enum { SCAN_ESCAPED = 1, SCAN_WIDE = 2 /* beyond ASCII */ };

/* p: behind the opening quote. The closing quote, or NULL: no string of RFC 8259 in UTF-8. *flags: what is in
 * it. */
const uint8_t *scan_string(const uint8_t *p, const uint8_t *end, unsigned *flags);

/* Behind the number at p, or NULL: no number of RFC 8259 stands there. */
const uint8_t *scan_number(const uint8_t *p);

/* The content of a string that scan_string has passed, [p, quote), escapes undone, to `out` (room for quote -
 * p); where it ends. */
uint8_t *scan_unescape(const uint8_t *p, const uint8_t *quote, uint8_t *out);

/* The same as bytes, one for each code point; NULL: one is above 255, *bad is its place in the string (from
 * 0), *c itself. */
struct scan_wide {
    size_t index;
    uint32_t code_point;
};
uint8_t *scan_bytes(const uint8_t *p, const uint8_t *quote, uint8_t *out, struct scan_wide *wide);

/* How many code points the string has, and whether all are below 256. */
size_t scan_count(const uint8_t *p, const uint8_t *quote, bool *all_bytes);

#endif
