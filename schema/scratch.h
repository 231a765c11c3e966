/* schema/scratch.h - struct codec: what encoder, decoder and explainer keep between calls, so that the steady
 * state allocates nothing. One thread's. Inside schema/ only. */
#ifndef SCHEMA_SCRATCH_H
#define SCHEMA_SCRATCH_H

#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "schema/codec.h"

/* A stack of fixed-size items that keeps its memory. The items' type is the caller's: `size` bytes each. */
struct stack {
    void *ptr;
    uint32_t n, cap;
};

/* Room for `more` items, `size` bytes each. False: memory is out. */
MUST_USE bool stack_grow(struct stack *, uint32_t more, size_t size);
void stack_release(struct stack *);

/* Empty it; frees the memory if it holds more than keep_bytes. */
static inline void stack_reset(struct stack *s, size_t size, size_t keep_bytes)
{
    if (unlikely(s->cap * size > keep_bytes))
        stack_release(s);
    s->n = 0;
}

static inline MUST_USE bool stack_reserve(struct stack *s, uint32_t more, size_t size)
{
    return likely(s->cap - s->n >= more) || stack_grow(s, more, size);
}

/* encode.c: the budget of work for a body of so many bytes; brief: as in struct codec_opts. */
int64_t encode_budget(size_t body_bytes, bool brief);

/* name_set.h: struct name; uint32_t, hash tables over large groups of names. */
struct name_set {
    struct stack names, slots;
};

enum {
    SCRATCH_KEEP_BYTES = 65536, /* of each part, between two bodies */
    /* The deepest that brackets can nest in a body that fits: a tag around every level, and one within. */
    JSON_NEST_MAX = 2 * LIMIT_DATA_DEPTH_MAX + 1,
};

struct memo_entry;

struct codec {
    struct stack frames;   /* struct frame of encode.h: what the encoder is inside of */
    struct stack spans;    /* struct text_span: members met before their turn */
    struct stack ends;     /* struct text_span: where skipped containers begin and end, by their beginning */
    struct stack blocks;   /* struct block: counts of items that take more than the byte left for them */
    struct name_set names; /* of the open maps, and of members that are no fields */
    struct buf name_text;  /* names that are not part of the output */
    struct buf text;       /* a copy of a body that has no closing bracket or quote at its end */
    struct {
        struct memo_entry *at;
        uint32_t mask, n, generation;
        uint64_t seed;
    } memo; /* what was tried for values in unions */
};

#endif
