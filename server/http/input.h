/* server/http/input.h - blocks of received bytes, counted: the connection that fills one holds it, and each
 * request whose head or body stands in it. One worker thread. */
#ifndef SERVER_HTTP_INPUT_H
#define SERVER_HTTP_INPUT_H

#include "base/compiler.h"
#include "base/limits.h"
#include "base/slice.h"

/* INPUT_BYTES: the least that a block of a pool has. INPUT_POOL_MAX: as many as are held at once where a hundred
 * connections, all busy, wait for a commit or for the gets of others. */
enum { INPUT_BYTES = 32768, INPUT_POOL_MAX = LIMIT_GETS_A_RUN };

struct input {
    struct input *next; /* the pool's own */
    size_t bytes;       /* of data */
    unsigned holders;
    uint8_t data[];
};

struct input_pool {
    size_t bytes; /* of each block */
    struct input *first;
    unsigned n;
};

/* A block takes the longest head and as much again. */
void input_pool_init(struct input_pool *, size_t head_max);
/* One of the pool's size, held once. NULL: memory is out. */
MUST_USE struct input *input_take(struct input_pool *);
/* One of any size, held once. NULL: memory is out. */
MUST_USE struct input *input_new(size_t bytes);
/* Make one that is held once larger; it may move. NULL: memory is out, and the old one is as it was. */
MUST_USE struct input *input_grow(struct input *, size_t bytes);
/* Give up one hold; the last one frees it or gives it back to the pool. */
void input_drop(struct input_pool *, struct input *);
void input_pool_release(struct input_pool *);

static inline struct input *input_hold(struct input *in)
{
    in->holders++;
    return in;
}

#endif
