/* base/utf8.h - UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. Pure. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/slice.h"

/* How many bytes from the start are valid UTF-8: s.len if all are. ASCII goes by words or vectors. */
size_t utf8_valid_len(struct slice s);

static inline bool utf8_valid(struct slice s)
{
    return utf8_valid_len(s) == s.len;
}

/* Write the UTF-8 form of a scalar value at `out` (room for 4); how many bytes. */
size_t utf8_put(uint32_t codepoint, uint8_t *out);

#endif
