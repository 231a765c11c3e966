/* storage/dead.c - a two-level bitmap; its first level is only address space until it is used. */
#include "storage/dead.h"

#include <assert.h>
#include <stdlib.h>

bool dead_init(struct dead_set *d)
{
    d->chunks = calloc(DEAD_CHUNKS, sizeof *d->chunks);
    return d->chunks != NULL;
}

void dead_release(struct dead_set *d)
{
    if (!d->chunks)
        return;
    for (size_t i = 0; i < DEAD_CHUNKS; i++)
        free(atomic_load_explicit(&d->chunks[i], memory_order_relaxed));
    free(d->chunks);
    d->chunks = NULL;
}

bool dead_reserve(struct dead_set *d, uint32_t type)
{
    if (atomic_load_explicit(&d->chunks[type >> 16], memory_order_relaxed))
        return true;
    _Atomic uint64_t *chunk = calloc(DEAD_CHUNK_WORDS, sizeof *chunk);
    if (!chunk)
        return false;
    atomic_store_explicit(&d->chunks[type >> 16], chunk, memory_order_release);
    return true;
}

void dead_mark(struct dead_set *d, uint32_t type)
{
    _Atomic uint64_t *chunk = atomic_load_explicit(&d->chunks[type >> 16], memory_order_relaxed);
    assert(chunk);
    atomic_fetch_or_explicit(&chunk[(type & 0xffff) >> 6], (uint64_t)1 << (type & 63), memory_order_release);
}
