/* schema/resolve/match_names.c - names of the writer's among those of the reader's, promotions, and which branches of
 * the reader's union may take a type. */
#include "schema/resolve/match_build.h"

/* A type by its name without namespace; several may bear the same. */
struct bearer {
    const struct type *type;
    struct bearer *next;
};

/* ---- the reader's names ---- */

/* An alias that is taken belongs to a type that the parser let pass: the first one keeps it. */
static bool add_name(struct match_builder *b, struct slice name, const struct type *t)
{
    void *taken;
    return name_add(&b->names, name, (void *)(uintptr_t)t, &taken);
}

static bool add_short(struct match_builder *b, const struct type *t)
{
    struct bearer *one = arena_calloc(&b->scratch, 1, sizeof *one);
    void *taken;
    if (!one || !name_add(&b->shorts, name_short(t->fullname), one, &taken))
        return false;
    one->type = t;
    if (taken) { /* behind the first: which is always there to be found */
        struct bearer *first = taken;
        one->next = first->next;
        first->next = one;
    }
    return true;
}

bool match_names_make(struct match_builder *b)
{
    const struct model *m = b->match->reader->model;
    b->names.arena = b->shorts.arena = &b->scratch;
    for (size_t i = 0; i < m->ntypes; i++)
        if (m->types[i]->fullname.len &&
            (!add_name(b, m->types[i]->fullname, m->types[i]) || !add_short(b, m->types[i])))
            return false;
    for (size_t i = 0; i < m->ntypes; i++)
        for (size_t a = 0; a < m->types[i]->naliases; a++)
            if (!add_name(b, m->types[i]->aliases[a], m->types[i]))
                return false;
    return true;
}

bool match_names_fit(const struct match_builder *b, const struct type *writer, const struct type *reader)
{
    return slice_eq(name_short(writer->fullname), name_short(reader->fullname)) ||
           name_find(&b->names, writer->fullname) == reader;
}

/* ---- promotions ---- */

bool match_promotes(enum type_kind writer, enum type_kind reader)
{
    switch (writer) {
    case TYPE_INT: return reader == TYPE_LONG || reader == TYPE_FLOAT || reader == TYPE_DOUBLE;
    case TYPE_LONG: return reader == TYPE_FLOAT || reader == TYPE_DOUBLE;
    case TYPE_FLOAT: return reader == TYPE_DOUBLE;
    case TYPE_STRING: return reader == TYPE_BYTES;
    case TYPE_BYTES: return reader == TYPE_STRING;
    default: return false;
    }
}

/* ---- branches ---- */

static int edge_cmp(const void *a, const void *b)
{
    const struct match_edge *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* In the order of the union. */
static void sort_edges(struct match *m, uint32_t from)
{
    if (m->nedges - from > 1)
        qsort(m->edges + from, m->nedges - from, sizeof *m->edges, edge_cmp);
}

/* Add it if it is a branch of the union, and of the writer's kind. */
static enum rc add_named(struct match_builder *b, const struct type *w, const struct type *t, uint32_t reader)
{
    const struct program *p = b->match->reader;
    const struct op *op = &p->ops[reader];
    int i = t->kind == w->kind ? program_branch(p, op, t->fullname) : -1;
    if (i < 0 || p->branches[op->a + (uint32_t)i].op != t->number)
        return RC_OK;
    return match_add_edge(b, w->number, t->number, (uint32_t)i);
}

/* The one that bears the name in full or as an alias. Only where there is none, those that share its short
 * form: a type that has changed is not read as its namesake. */
static enum rc add_all_named(struct match_builder *b, const struct type *w, uint32_t reader)
{
    uint32_t from = b->match->nedges;
    const struct type *best = name_find(&b->names, w->fullname);
    if (best && add_named(b, w, best, reader))
        return RC_ERR;
    if (b->match->nedges > from)
        return RC_OK;
    const struct bearer *one = name_find(&b->shorts, name_short(w->fullname));
    for (; one; one = one->next)
        if (match_pay(b, 1) || add_named(b, w, one->type, reader))
            return RC_ERR;
    sort_edges(b->match, from);
    return RC_OK;
}

/* The branch of its own kind, then those that it is promoted to, in the order of the union. */
static enum rc add_kinds(struct match_builder *b, const struct type *w, uint32_t reader)
{
    const struct program *p = b->match->reader;
    const struct op *op = &p->ops[reader];
    const uint32_t *first = p->unions[op->info].first;
    if (first[w->kind] != PROGRAM_NONE &&
        match_add_edge(b, w->number, p->branches[op->a + first[w->kind]].op, first[w->kind]))
        return RC_ERR;
    uint32_t from = b->match->nedges;
    for (int kind = 0; kind < TYPE_KINDS; kind++)
        if (first[kind] != PROGRAM_NONE && match_promotes(w->kind, (enum type_kind)kind) &&
            match_add_edge(b, w->number, p->branches[op->a + first[kind]].op, first[kind]))
            return RC_ERR;
    sort_edges(b->match, from);
    return RC_OK;
}

enum rc match_branches(struct match_builder *b, uint32_t writer, uint32_t reader)
{
    const struct type *w = b->match->writer->model->types[writer];
    return w->fullname.len ? add_all_named(b, w, reader) : add_kinds(b, w, reader);
}
