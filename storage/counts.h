/* storage/counts.h - a row of the database `counts`: records u64, bytes of bodies u64,
 * little-endian. Pure. */
#ifndef STORAGE_COUNTS_H
#define STORAGE_COUNTS_H

#include "base/bytes.h"
#include "storage/storage.h"

enum { COUNTS_BYTES = 16 };

static inline void counts_encode(const struct store_count *c, uint8_t out[COUNTS_BYTES])
{
    put_le64(out, c->records);
    put_le64(out + 8, c->bytes);
}

static inline bool counts_decode(struct slice s, struct store_count *c)
{
    if (s.len < COUNTS_BYTES)
        return false;
    *c = (struct store_count){get_le64(s.ptr), get_le64(s.ptr + 8)};
    return true;
}

#endif
