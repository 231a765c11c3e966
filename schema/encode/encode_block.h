/* schema/encode/encode_block.h - arrays and maps in the encoder's walk, read in line. Each is one block; its count
 * is written when it ends (blocks.c). */
#ifndef SCHEMA_ENCODE_BLOCK_H
#define SCHEMA_ENCODE_BLOCK_H

#include "schema/encode/encode_scalar.h"

static inline enum step block_close(struct encode *e, struct frame *f, const uint8_t *p)
{
    if (!encode_room(e, 1) || !blocks_close(e, f->block.out, f->block.count))
        return STEP_FAIL;
    if (f->kind == FRAME_ARRAY && unlikely(e->program->ops[f->block.items].size_min == 0))
        e->empty_items += f->block.count;
    if (f->block.count > e->most_items)
        e->most_items = f->block.count;
    return encode_close(e, p);
}

static inline struct frame *block_open(struct encode *e, enum frame_kind kind, uint32_t items)
{
    struct frame *f = encode_push(e, kind, e->op);
    if (f) {
        f->block.items = items;
        f->block.count = 0;
        f->block.out = (uint32_t)(e->o++ - e->out);
    }
    return f;
}

/* May one more item come? */
static inline bool may_have_more(struct encode *e, const struct frame *f)
{
    return likely(f->block.count < e->items_max) || encode_exceeds(e, PROBLEM_ITEMS, e->codec->frames.n - 1);
}

static inline enum step array_open(struct encode *e, const struct op *op, const uint8_t *p)
{
    struct frame *f;
    if (*p != '[' || !(f = block_open(e, FRAME_ARRAY, op->a)))
        return STEP_FAIL;
    p = scan_space(p + 1);
    return *p == ']' ? block_close(e, f, p + 1) : encode_next(e, p, op->a);
}

static inline enum step array_resume(struct encode *e, struct frame *f)
{
    const uint8_t *p = e->p;
    f->block.count++;
    if (unlikely(p == e->end))
        return STEP_FAIL;
    p = scan_space(p);
    if (*p == ',')
        return may_have_more(e, f) ? encode_next(e, p + 1, f->block.items) : STEP_FAIL;
    return *p == ']' ? block_close(e, f, p + 1) : STEP_FAIL;
}

/* The content of the string that was just written at `at`. */
static inline struct slice written_string(const uint8_t *at, const uint8_t *end)
{
    while (*at++ & 0x80)
        ;
    return slice_of(at, (size_t)(end - at));
}

static inline enum step map_read_key(struct encode *e, struct frame *f, const uint8_t *p)
{
    if (!encode_room(e, 0))
        return STEP_FAIL;
    size_t at = (size_t)(e->o - e->out);
    f->block.key = (uint32_t)at;
    p = scalar_string(e, p);
    if (!p || !(p = encode_pass_colon(e, p)))
        return STEP_FAIL;
    struct slice key = written_string(e->out + at, e->o);
    if (unlikely(e->trials))
        encode_pay(e, COST_KEY + key.len / 2);
    switch (
        name_set_add(&e->codec->names, &f->names, e->out, (uint32_t)(key.ptr - e->out), (uint32_t)key.len)) {
    case NAMES_NEW: return encode_next(e, p, f->block.items);
    case NAMES_DUPLICATE: return STEP_FAIL;
    case NAMES_NO_MEMORY: break;
    }
    return encode_fail(e, ENCODE_NO_MEMORY);
}

static inline enum step map_open(struct encode *e, const struct op *op, const uint8_t *p)
{
    struct frame *f;
    if (*p != '{' || !(f = block_open(e, FRAME_MAP, op->a)))
        return STEP_FAIL;
    p = scan_space(p + 1);
    return *p == '}' ? block_close(e, f, p + 1) : map_read_key(e, f, p);
}

static inline enum step map_resume(struct encode *e, struct frame *f)
{
    const uint8_t *p = e->p;
    f->block.count++;
    if (unlikely(p == e->end))
        return STEP_FAIL;
    p = scan_space(p);
    if (*p == ',')
        return may_have_more(e, f) ? map_read_key(e, f, scan_space(p + 1)) : STEP_FAIL;
    return *p == '}' ? block_close(e, f, p + 1) : STEP_FAIL;
}

#endif
