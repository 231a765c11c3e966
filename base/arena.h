/* base/arena.h - memory that dies together: one arena a request, one a schema.
 * Not for two threads at once. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/compiler.h"
#include "base/slice.h"

struct arena_block;

/* Zero-initialised is ready to use. */
struct arena {
    struct arena_block *blocks; /* newest first */
    uint8_t *at, *end;          /* free part of the newest */
    size_t bytes;               /* taken from malloc in all */
};

/* Aligned to 8, uninitialised, valid until arena_reset or arena_release. NULL: memory is out. */
void *arena_alloc(struct arena *, size_t bytes) MUST_USE;
void *arena_calloc(struct arena *, size_t count, size_t bytes) MUST_USE; /* zeroed; NULL also on overflow */

/* Copy bytes (and a NUL behind them, not counted) into the arena. False: memory is out, *out untouched. */
bool arena_copy(struct arena *, struct slice, struct slice *out) MUST_USE;
/* printf into the arena; NULL: memory is out. */
char *arena_printf(struct arena *, const char *format, ...) PRINTF_LIKE(2, 3) MUST_USE;

/* All allocations die; keeps one block of at most 4 KiB for the next user. */
void arena_reset(struct arena *);
/* Frees everything; ready to use again. */
void arena_release(struct arena *);

#endif
