/* schema/path_order.c - what several ways have found, in document order and each value once: a walk over what is open. */
#include <stdlib.h>

#include "schema/path_run.h"

static int compare(const void *a, const void *b)
{
    const struct value *x = *(struct value *const *)a, *y = *(struct value *const *)b;
    return (x > y) - (x < y);
}

/* Sort them by their addresses, each once. How many are left. */
static uint32_t sort(struct value **at, uint32_t n)
{
    uint32_t kept = 0;
    qsort(at, n, sizeof *at, compare);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || at[kept - 1] != at[i])
            at[kept++] = at[i];
    return kept;
}

static uint64_t log2_of(uint32_t n)
{
    return 32 - (uint64_t)__builtin_clz(n | 1);
}

/* Append those of the n sorted ones that are in `base`, as the walk meets them. */
static enum rc walk(struct path_run *r, struct value *base, uint32_t begin, uint32_t n)
{
    uint32_t before = r->todo.n, left = n;
    uint64_t cost = COST_VISIT * log2_of(n);
    if (path_push(r, &r->todo, base))
        return RC_ERR;
    while (r->todo.n > before && left) {
        struct value *v = r->todo.at[--r->todo.n];
        if (datum_pay(r->d, cost, r->err))
            return RC_ERR;
        if (bsearch(&v, r->found.at + begin, n, sizeof v, compare)) {
            left--;
            if (path_push(r, &r->found, v))
                return RC_ERR;
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
    if (datum_pay(r->d, n * log2_of(n) * COST_VISIT, r->err))
        return RC_ERR;
    n = sort(r->found.at + f->begin, n);
    r->found.n = f->begin + n;
    if (walk(r, base, f->begin, n))
        return RC_ERR;
    memmove(r->found.at + f->begin, r->found.at + f->begin + n, n * sizeof *r->found.at);
    r->found.n = f->begin + n;
    return RC_OK;
}
