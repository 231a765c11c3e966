/* server/catalog_table.c - see catalog_table.h. */
#include "server/catalog_table.h"

#include <assert.h>
#include <stdlib.h>

enum { SLOTS_MIN = 16 };

static size_t slots_for(size_t ntypes)
{
    size_t n = SLOTS_MIN;
    while (n < ntypes * 2)
        n *= 2;
    return n;
}

static struct table *table_alloc(size_t ntypes)
{
    size_t slots = slots_for(ntypes);
    struct table *t = calloc(1, sizeof *t + ntypes * sizeof t->type[0] + slots * sizeof t->slot[0]);
    if (!t)
        return NULL;
    t->refs = 1;
    t->ntypes = ntypes;
    t->mask = slots - 1;
    t->slot = (uint32_t *)(void *)&t->type[ntypes];
    return t;
}

static void index_types(struct table *t)
{
    for (size_t i = 0; i < t->ntypes; i++) {
        size_t s = t->type[i]->hash & t->mask;
        while (t->slot[s])
            s = (s + 1) & t->mask;
        t->slot[s] = (uint32_t)i + 1;
    }
}

struct table *table_new(const struct table *old, const struct type *gone, struct type *added)
{
    size_t nold = old ? old->ntypes : 0, n = 0;
    struct table *t = table_alloc(nold - (gone ? 1 : 0) + (added ? 1 : 0));
    if (!t)
        return NULL;
    for (size_t i = 0; i < nold; i++) {
        if (added && slice_cmp(added->name, old->type[i]->name) < 0) {
            t->type[n++] = added;
            added = NULL;
        }
        if (old->type[i] != gone)
            t->type[n++] = old->type[i];
    }
    if (added)
        t->type[n++] = added;
    assert(n == t->ntypes);
    index_types(t);
    return t;
}

struct table *table_of(struct type **types, size_t n)
{
    struct table *t = table_alloc(n);
    if (!t)
        return NULL;
    if (n)
        memcpy(t->type, types, n * sizeof t->type[0]);
    index_types(t);
    return t;
}

struct type *table_find(const struct table *t, struct slice name, uint64_t hash)
{
    for (size_t s = hash & t->mask; t->slot[s]; s = (s + 1) & t->mask) {
        struct type *type = t->type[t->slot[s] - 1];
        if (type->hash == hash && slice_eq(type->name, name))
            return type;
    }
    return NULL;
}
