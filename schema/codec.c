/* schema/codec.c - struct codec: the scratch memory's beginning, growth and end. */
#include "schema/scratch.h"

#include "base/hash.h"

bool stack_grow(struct stack *s, uint32_t more, size_t size)
{
    uint64_t cap = s->cap < 16 ? 16 : s->cap;
    while (cap - s->n < more)
        cap += cap / 2;
    if (cap > UINT32_MAX)
        return false;
    void *p = realloc(s->ptr, cap * size);
    if (!p)
        return false;
    s->ptr = p;
    s->cap = (uint32_t)cap;
    return true;
}

void stack_release(struct stack *s)
{
    free(s->ptr);
    *s = (struct stack){0};
}

void stack_reset(struct stack *s, size_t size, size_t keep_bytes)
{
    if ((size_t)s->cap * size > keep_bytes)
        stack_release(s);
    s->n = 0;
}

struct codec *codec_new(void)
{
    struct codec *c = calloc(1, sizeof *c);
    if (c)
        c->memo.seed = hash_bytes(SLICE("memo")) | 1;
    return c;
}

void codec_free(struct codec *c)
{
    if (!c)
        return;
    stack_release(&c->frames);
    stack_release(&c->spans);
    stack_release(&c->ends);
    stack_release(&c->blocks);
    stack_release(&c->names);
    stack_release(&c->slots);
    buf_release(&c->name_text);
    buf_release(&c->text);
    free(c->memo.at);
    buf_release(&c->decode);
    free(c);
}
