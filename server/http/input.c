/* server/http/input.c - counting, growing and pooling input blocks. */
#include "server/http/input.h"

#include <assert.h>
#include <stdlib.h>

struct input *input_new(size_t bytes)
{
    struct input *in = malloc(sizeof *in + bytes);
    if (!in)
        return NULL;
    *in = (struct input){.bytes = bytes, .holders = 1};
    return in;
}

void input_pool_init(struct input_pool *pool, size_t head_max)
{
    *pool = (struct input_pool){.bytes = 2 * head_max > INPUT_BYTES ? 2 * head_max : INPUT_BYTES};
}

struct input *input_take(struct input_pool *pool)
{
    struct input *in = pool->first;
    if (!in)
        return input_new(pool->bytes);
    pool->first = in->next;
    pool->n--;
    in->holders = 1;
    return in;
}

struct input *input_grow(struct input *in, size_t bytes)
{
    assert(in->holders == 1 && bytes > in->bytes);
    struct input *grown = realloc(in, sizeof *in + bytes);
    if (grown)
        grown->bytes = bytes;
    return grown;
}

void input_drop(struct input_pool *pool, struct input *in)
{
    assert(in->holders > 0);
    if (--in->holders)
        return;
    if (in->bytes != pool->bytes || pool->n == INPUT_POOL_MAX) {
        free(in);
        return;
    }
    in->next = pool->first;
    pool->first = in;
    pool->n++;
}

void input_pool_release(struct input_pool *pool)
{
    while (pool->first) {
        struct input *in = pool->first;
        pool->first = in->next;
        free(in);
    }
    pool->n = 0;
}
