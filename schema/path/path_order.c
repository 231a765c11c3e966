/* schema/path/path_order.c - what several ways have found, in document order and each value once: all are marked, and a walk over
 * what is open collects them. */
#include <assert.h>

#include "schema/path/path_run.h"

/* How many there are, each counted once. */
static uint32_t mark(const struct path_run *r, uint32_t begin)
{
    uint32_t marked = 0;
    for (uint32_t i = begin; i < r->found.n; i++) {
        marked += !r->found.at[i]->is_marked;
        value_mark(r->found.at[i]);
    }
    return marked;
}

/* They fit where the list stood. */
static enum rc collect(struct path_run *r, struct value *base, uint32_t marked)
{
    uint32_t before = r->todo.n;
    if (path_push(r, &r->todo, base))
        return RC_ERR;
    while (marked) {
        assert(r->todo.n > before); /* else they are not in `base` */
        struct value *v = r->todo.at[--r->todo.n];
        if (datum_pay(r->d, COST_VISIT, r->err))
            return RC_ERR;
        if (v->is_marked) {
            v->is_marked = false;
            r->found.at[r->found.n++] = v;
            marked--;
        }
        if (v->is_open && path_push_parts(r, &r->todo, v))
            return RC_ERR;
    }
    r->todo.n = before;
    return RC_OK;
}

enum rc path_order(struct path_run *r, const struct path_found *f, struct value *base)
{
    uint32_t n = r->found.n - f->begin;
    if (n < 2)
        return RC_OK;
    if (datum_pay(r->d, (uint64_t)n * COST_VISIT, r->err))
        return RC_ERR;
    n = mark(r, f->begin);
    r->found.n = f->begin;
    return collect(r, base, n);
}
