/* base/slice.h - borrowed bytes. */
#ifndef BASE_SLICE_H
#define BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

/* Not owned, not NUL-terminated. Whoever returns one says until when it is valid.
 * ptr may be NULL only where len is 0. */
struct slice {
    const uint8_t *ptr;
    size_t len;
};

/* A slice of a string literal, without its NUL. */
#define SLICE(literal) ((struct slice){(const uint8_t *)("" literal), sizeof(literal) - 1})

static inline struct slice slice_of(const void *ptr, size_t len)
{
    return (struct slice){(const uint8_t *)ptr, len};
}

static inline struct slice slice_str(const char *s)
{
    return slice_of(s, strlen(s));
}

/* The same bytes, not at NULL: for who computes with the pointer (NULL + 0 is no C). */
static inline struct slice slice_not_null(struct slice s)
{
    return s.ptr ? s : SLICE("");
}

static inline bool slice_eq(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline int word_cmp(uint64_t a, uint64_t b)
{
    return __builtin_bswap64(a) < __builtin_bswap64(b) ? -1 : 1;
}

/* memcmp by words: most of what is compared is so short that a call would cost more. Of the last word some
 * bytes have been compared before, and are equal. */
static inline int bytes_cmp(const uint8_t *a, const uint8_t *b, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        if (get_le64(a + i) != get_le64(b + i))
            return word_cmp(get_le64(a + i), get_le64(b + i));
    if (i > 0 && i < n && get_le64(a + n - 8) != get_le64(b + n - 8))
        return word_cmp(get_le64(a + n - 8), get_le64(b + n - 8));
    for (; n < 8 && i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* memcmp order, the shorter first: the order of keys everywhere in avrod. */
static inline int slice_cmp(struct slice a, struct slice b)
{
    int c = bytes_cmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
    return c ? c : (a.len > b.len) - (a.len < b.len);
}

static inline bool slice_starts(struct slice s, struct slice prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

/* ASCII only, as RFC 9110 wants of field names and tokens; no locale. */
bool slice_eq_nocase(struct slice a, struct slice b);

#endif
