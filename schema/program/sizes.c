/* schema/program/sizes.c - the least that a datum of each type takes in binary, and with it which records can be
 * finite at all. The least of a record is the sum over its fields, of a union the least over its branches;
 * types refer to each other in circles. Each user takes at least what it uses takes, so settling the smallest
 * first settles each type once (Knuth, "A generalization of Dijkstra's algorithm", 1977). What is never
 * settled can never be finite. */
#include "schema/program/compile.h"

/* ---- who uses whom ---- */

static bool is_counted(const struct field *f, bool skip_defaults)
{
    return !(skip_defaults && f->has_default);
}

/* Calls for each edge; either counts (at NULL) or places. */
static void walk_uses(const struct model *m, bool skip_defaults, uint32_t *slot, struct use *at)
{
    for (uint32_t t = 0; t < m->ntypes; t++) {
        const struct type *type = m->types[t];
        size_t n = type->kind == TYPE_RECORD  ? type->record.nfields
                   : type->kind == TYPE_UNION ? type->branches.nbranches
                                              : 0;
        for (uint32_t i = 0; i < n; i++) {
            bool is_record = type->kind == TYPE_RECORD;
            if (is_record && !is_counted(&type->record.fields[i], skip_defaults))
                continue;
            const struct type *used = is_record ? type->record.fields[i].type : type->branches.branches[i];
            uint32_t place = slot[used->number]++;
            if (at)
                at[place] = (struct use){t, i};
        }
    }
}

bool uses_collect(struct compiler *c, bool skip_defaults, struct uses *out)
{
    const struct model *m = c->model;
    uint32_t *first = arena_calloc(&c->scratch, m->ntypes + 2, sizeof *first);
    if (!first)
        return false;
    /* Counted two places up, then summed one place up, so that placing leaves the beginnings where they
     * belong. */
    walk_uses(m, skip_defaults, first + 2, NULL);
    for (uint32_t t = 1; t <= m->ntypes; t++)
        first[t + 1] += first[t];
    out->at = arena_calloc(&c->scratch, (size_t)first[m->ntypes + 1] + 1, sizeof *out->at);
    if (!out->at)
        return false;
    walk_uses(m, skip_defaults, first + 1, out->at);
    out->first = first;
    return true;
}

/* ---- a heap, the smallest first ---- */

struct candidate {
    uint64_t size;
    uint32_t type;
};

struct heap {
    struct candidate *at;
    uint32_t n;
};

static void heap_push(struct heap *h, struct candidate c)
{
    uint32_t i = h->n++;
    for (; i && h->at[(i - 1) / 2].size > c.size; i = (i - 1) / 2)
        h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = c;
}

static struct candidate heap_pop(struct heap *h)
{
    struct candidate top = h->at[0], last = h->at[--h->n];
    uint32_t i = 0;
    for (uint32_t child; (child = i * 2 + 1) < h->n; i = child) {
        if (child + 1 < h->n && h->at[child + 1].size < h->at[child].size)
            child++;
        if (h->at[child].size >= last.size)
            break;
        h->at[i] = h->at[child];
    }
    h->at[i] = last;
    return top;
}

/* ---- settling ---- */

struct sizing {
    struct compiler *c;
    struct uses uses;
    struct heap heap;
    uint64_t *sum;     /* of a record's settled fields */
    uint32_t *pending; /* fields not settled yet */
    bool *is_settled;
};

static uint64_t capped(uint64_t size)
{
    return size < UINT32_MAX ? size : UINT32_MAX;
}

/* The least size of a type that does not depend on others. */
static uint64_t own_size(const struct type *t)
{
    switch (t->kind) {
    case TYPE_NULL: return 0;
    case TYPE_FLOAT: return 4;
    case TYPE_DOUBLE: return 8;
    case TYPE_FIXED: return t->fixed_size;
    default: return 1; /* a boolean, a number, a length of 0, a symbol's index */
    }
}

static void settle(struct sizing *s, struct candidate found)
{
    const struct model *m = s->c->model;
    s->is_settled[found.type] = true;
    s->c->program->ops[found.type].size_min = (uint32_t)found.size;
    for (uint32_t i = s->uses.first[found.type]; i < s->uses.first[found.type + 1]; i++) {
        struct use use = s->uses.at[i];
        if (m->types[use.user]->kind == TYPE_UNION) {
            heap_push(&s->heap,
                      (struct candidate){capped(found.size + compile_branch_bytes(use.index)), use.user});
            continue;
        }
        s->sum[use.user] = capped(s->sum[use.user] + found.size);
        if (--s->pending[use.user] == 0)
            heap_push(&s->heap, (struct candidate){s->sum[use.user], use.user});
    }
}

static void start(struct sizing *s)
{
    const struct model *m = s->c->model;
    for (uint32_t t = 0; t < m->ntypes; t++) {
        const struct type *type = m->types[t];
        if (type->kind == TYPE_UNION)
            continue;
        s->pending[t] = type->kind == TYPE_RECORD ? (uint32_t)type->record.nfields : 0;
        if (s->pending[t] == 0)
            heap_push(&s->heap, (struct candidate){type->kind == TYPE_RECORD ? 0 : own_size(type), t});
    }
}

/* ---- what cannot be ---- */

static enum rc report_endless(struct sizing *s)
{
    const struct model *m = s->c->model;
    enum rc rc = RC_OK;
    for (uint32_t t = 0; t < m->ntypes; t++) {
        const struct type *type = m->types[t];
        if (type->kind != TYPE_RECORD || s->is_settled[t])
            continue;
        struct problem *p =
            compile_fault(s->c, &rc, PROBLEM_INFINITE, type->place, NULL,
                          "%.*s can never be finite: every value of it would contain another; make the field "
                          "that leads back to it "
                          "a union with null, or an array or map.",
                          (int)(type->fullname.len < 200 ? type->fullname.len : 200), type->fullname.ptr);
        if (p)
            p->expected = SLICE("a record that can end");
    }
    return rc;
}

static enum rc report_large(struct compiler *c)
{
    enum rc rc = RC_OK;
    uint32_t least = c->program->ops[c->program->root].size_min;
    if (least > LIMIT_RECORD_MAX)
        compile_fault(c, &rc, PROBLEM_RANGE, c->model->root->place, NULL,
                      "Every record would take at least %u bytes; at most %d are possible.", least,
                      LIMIT_RECORD_MAX);
    return rc;
}

enum rc sizes_compute(struct compiler *c)
{
    struct sizing s = {.c = c};
    uint32_t n = (uint32_t)c->model->ntypes;
    if (!uses_collect(c, false, &s.uses))
        return err_oom(c->err);
    s.heap.at = arena_calloc(&c->scratch, (size_t)n + s.uses.first[n] + 1, sizeof *s.heap.at);
    s.sum = arena_calloc(&c->scratch, n, sizeof *s.sum);
    s.pending = arena_calloc(&c->scratch, n, sizeof *s.pending);
    s.is_settled = arena_calloc(&c->scratch, n, sizeof *s.is_settled);
    if (!s.heap.at || !s.sum || !s.pending || !s.is_settled)
        return err_oom(c->err);
    start(&s);
    while (s.heap.n) {
        struct candidate found = heap_pop(&s.heap);
        if (!s.is_settled[found.type])
            settle(&s, found);
    }
    enum rc rc = report_endless(&s);
    return rc == RC_OK && s.is_settled[c->model->root->number] ? report_large(c) : rc;
}
