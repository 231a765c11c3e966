/* base/base64.h - bytes as base64 text (RFC 4648, section 4: with padding). Pure. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

/* How many characters so many bytes take. */
static inline size_t base64_chars(size_t bytes)
{
    return (bytes + 2) / 3 * 4;
}

/* Write the text at `out` (room for base64_chars); what stands behind it. */
uint8_t *base64_put(struct slice bytes, uint8_t *out);

/* Append the text. False: memory is out, `out` is as it was. */
MUST_USE bool base64_print(struct slice bytes, struct buf *out);

/* Write the bytes at `out` (room for three for each four characters), *n of them. Strict: nothing but the alphabet,
 * the padding is there, and the bits that it leaves are 0 (section 3.5); so one text stands for the bytes. False:
 * that is not such a text. */
MUST_USE bool base64_parse(struct slice text, uint8_t *out, size_t *n);

#endif
