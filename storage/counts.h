/* storage/counts.h - a row of the database `counts`, little-endian: records u64, bytes of bodies u64; and, unless both are 0, the
 * most bytes that the type may have u64 (0: any), records that have a row in `used` u64. Pure. */
#ifndef STORAGE_COUNTS_H
#define STORAGE_COUNTS_H

#include "base/bytes.h"
#include "storage/storage.h"

enum { COUNTS_BYTES = 16, COUNTS_LIMITED_BYTES = 32 };

static inline size_t counts_encode(const struct store_count *c, uint8_t out[COUNTS_LIMITED_BYTES])
{
    put_le64(out, c->records);
    put_le64(out + 8, c->bytes);
    if (likely(!c->bytes_max && !c->used))
        return COUNTS_BYTES;
    put_le64(out + 16, c->bytes_max);
    put_le64(out + 24, c->used);
    return COUNTS_LIMITED_BYTES;
}

static inline bool counts_decode(struct slice s, struct store_count *c)
{
    if (s.len < COUNTS_BYTES)
        return false;
    *c = (struct store_count){.records = get_le64(s.ptr), .bytes = get_le64(s.ptr + 8)};
    if (unlikely(s.len >= COUNTS_LIMITED_BYTES)) {
        c->bytes_max = get_le64(s.ptr + 16);
        c->used = get_le64(s.ptr + 24);
    }
    return true;
}

#endif
