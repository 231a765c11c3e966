/* storage/dead.h - which type numbers are dead. Numbers never return, so a bit is set once and stays. One
 * thread reserves and marks; any thread asks, without a lock. */
#ifndef STORAGE_DEAD_H
#define STORAGE_DEAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

enum { DEAD_CHUNKS = 1 << 16, DEAD_CHUNK_WORDS = 1 << 10 }; /* 65,536 numbers a chunk */

struct dead_set {
    _Atomic(_Atomic uint64_t *) *chunks; /* NULL where no number of the chunk is dead */
};

bool dead_init(struct dead_set *) MUST_USE; /* false: memory is out */
void dead_release(struct dead_set *);
/* Take the memory that dead_mark will need. False: memory is out. */
bool dead_reserve(struct dead_set *, uint32_t type) MUST_USE;
void dead_mark(struct dead_set *, uint32_t type); /* after dead_reserve */

static inline bool dead_has(const struct dead_set *d, uint32_t type)
{
    _Atomic uint64_t *chunk = atomic_load_explicit(&d->chunks[type >> 16], memory_order_acquire);
    if (likely(!chunk))
        return false;
    uint64_t word = atomic_load_explicit(&chunk[(type & 0xffff) >> 6], memory_order_acquire);
    return word >> (type & 63) & 1;
}

#endif
