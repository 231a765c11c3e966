/* base/utf8.h - UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. Pure. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/compiler.h"
#include "base/slice.h"

/* How many bytes from the start are valid UTF-8: s.len if all are. ASCII goes by words or vectors. */
size_t utf8_valid_len(struct slice s);

static inline bool utf8_valid(struct slice s)
{
    return utf8_valid_len(s) == s.len;
}

/* At most `bytes` of s, which is UTF-8, for a message: without the beginning of a character at the end. */
struct slice utf8_cut(struct slice s, size_t bytes);

/* Write the UTF-8 form of a scalar value at `out` (room for 4); how many bytes. */
size_t utf8_put(uint32_t codepoint, uint8_t *out);

static inline bool utf8_is_tail(uint8_t c)
{
    return (c & 0xc0) == 0x80;
}

/* Bytes of the one character at `p` (1 to 4); 0: none is well-formed there. p < end.
 * Source: the Unicode standard, table 3-7. */
static inline size_t utf8_char_len(const uint8_t *p, const uint8_t *end)
{
    uint8_t c = p[0];
    size_t left = (size_t)(end - p);
    if (c < 0x80)
        return 1;
    if (c < 0xc2)
        return 0; /* a tail, or an overlong form of two */
    if (c < 0xe0)
        return left >= 2 && utf8_is_tail(p[1]) ? 2 : 0;
    if (c < 0xf0) {
        uint8_t low = c == 0xe0 ? 0xa0 : 0x80;  /* overlong below */
        uint8_t high = c == 0xed ? 0x9f : 0xbf; /* surrogates above */
        return left >= 3 && p[1] >= low && p[1] <= high && utf8_is_tail(p[2]) ? 3 : 0;
    }
    if (c > 0xf4 || left < 4)
        return 0;
    uint8_t low = c == 0xf0 ? 0x90 : 0x80;  /* overlong below */
    uint8_t high = c == 0xf4 ? 0x8f : 0xbf; /* beyond U+10FFFF above */
    return p[1] >= low && p[1] <= high && utf8_is_tail(p[2]) && utf8_is_tail(p[3]) ? 4 : 0;
}

#endif
