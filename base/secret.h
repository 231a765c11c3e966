/* base/secret.h - what is done with passwords, tokens and digests of them. Any thread. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <string.h>

#include "base/slice.h"

/* Are so many bytes the same? Takes as long wherever the first difference is, so that nobody finds out a secret byte by byte from how
 * long a wrong one takes. */
static inline bool secret_eq(const void *one, const void *other, size_t bytes)
{
    const uint8_t *a = (const uint8_t *)one, *b = (const uint8_t *)other;
    uint64_t differ = 0;
    size_t i = 0;
    for (; i + 8 <= bytes; i += 8)
        differ |= get_le64(a + i) ^ get_le64(b + i);
    for (; i < bytes; i++)
        differ |= (uint64_t)(a[i] ^ b[i]);
    return !differ;
}

/* Overwrite it, also where a compiler sees that nobody reads it again. */
static inline void secret_wipe(void *at, size_t bytes)
{
    explicit_bzero(at, bytes);
}

#endif
