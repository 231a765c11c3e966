/* server/catalog_table.c - see catalog_table.h. */
#include "server/catalog_table.h"

#include <assert.h>
#include <stdlib.h>

enum {
    LEAF_TYPES_MAX = 64,
    LEAF_TYPES_FIRST = 48, /* of a table made at once: room for some more */
    LEAF_TYPES_MIN = 16    /* fewer go to a neighbour, if that has room */
};

/* ---- making ---- */

static struct leaf *leaf_new(struct type *const *types, size_t n)
{
    assert(n > 0 && n <= LEAF_TYPES_MAX);
    struct leaf *l = malloc(sizeof *l + n * sizeof l->type[0]);
    if (!l)
        return NULL;
    l->refs = 1;
    l->ntypes = (uint32_t)n;
    memcpy(l->type, types, n * sizeof l->type[0]);
    for (size_t i = 0; i < n; i++)
        types[i]->refs++;
    return l;
}

/* Of a leaf that no table ever had: its types have other references. */
static void leaf_undo(struct leaf *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->ntypes; i++)
        l->type[i]->refs--;
    free(l);
}

static struct table *table_alloc(size_t nleaves, size_t ntypes)
{
    struct table *t = malloc(sizeof *t + nleaves * sizeof t->leaf[0]);
    if (!t)
        return NULL;
    *t = (struct table){.refs = 1, .nleaves = nleaves, .ntypes = ntypes};
    return t;
}

struct table *table_of(struct type *const *types, size_t n)
{
    size_t nleaves = (n + LEAF_TYPES_FIRST - 1) / LEAF_TYPES_FIRST, made = 0;
    struct table *t = table_alloc(nleaves, n);
    if (!t)
        return NULL;
    for (size_t at = 0; made < nleaves; made++, at += LEAF_TYPES_FIRST) {
        t->leaf[made] = leaf_new(types + at, n - at < LEAF_TYPES_FIRST ? n - at : LEAF_TYPES_FIRST);
        if (!t->leaf[made])
            break;
    }
    if (made == nleaves)
        return t;
    while (made)
        leaf_undo(t->leaf[--made]);
    free(t);
    return NULL;
}

/* What changes: `gone` leaves from `at` on are replaced by one or two that hold `types`. */
struct change {
    size_t at, gone;
    struct type *types[2 * LEAF_TYPES_MAX];
    size_t ntypes;
};

static void add_types(struct change *c, struct type *const *types, size_t n)
{
    memcpy(c->types + c->ntypes, types, n * sizeof *types);
    c->ntypes += n;
}

static struct table *table_changed(const struct table *old, const struct change *c, size_t ntypes)
{
    size_t half = c->ntypes <= LEAF_TYPES_MAX ? c->ntypes : c->ntypes / 2;
    size_t fresh = !c->ntypes ? 0 : half == c->ntypes ? 1 : 2, behind = old->nleaves - c->at - c->gone;
    struct table *t = table_alloc(c->at + fresh + behind, ntypes);
    struct leaf *first = fresh ? leaf_new(c->types, half) : NULL;
    struct leaf *second = fresh == 2 ? leaf_new(c->types + half, c->ntypes - half) : NULL;
    if (!t || (fresh && !first) || (fresh == 2 && !second)) {
        leaf_undo(first);
        leaf_undo(second);
        free(t);
        return NULL;
    }
    size_t n = 0;
    for (size_t i = 0; i < c->at; i++)
        t->leaf[n++] = old->leaf[i];
    for (size_t i = 0; i < behind; i++)
        t->leaf[c->at + fresh + i] = old->leaf[c->at + c->gone + i];
    for (size_t i = 0; i < t->nleaves; i++)
        if (i < c->at || i >= c->at + fresh)
            t->leaf[i]->refs++;
    if (first)
        t->leaf[n++] = first;
    if (second)
        t->leaf[n] = second;
    return t;
}

/* ---- searching ---- */

/* The last leaf whose first name is not above this one; 0 if there is none. */
static size_t leaf_index(const struct table *t, struct slice name)
{
    size_t low = 0, high = t->nleaves;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (slice_cmp(t->leaf[middle]->type[0]->name, name) <= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The first type in a leaf whose name is not below this one; ntypes: none. */
static size_t type_index(const struct leaf *l, struct slice name)
{
    size_t low = 0, high = l->ntypes;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (slice_cmp(l->type[middle]->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_named(const struct leaf *l, size_t i, struct slice name)
{
    return i < l->ntypes && slice_eq(l->type[i]->name, name);
}

struct type *table_find(const struct table *t, struct slice name)
{
    if (!t->nleaves)
        return NULL;
    const struct leaf *l = t->leaf[leaf_index(t, name)];
    size_t i = type_index(l, name);
    return is_named(l, i, name) ? l->type[i] : NULL;
}

struct type *table_after(const struct table *t, struct slice name)
{
    if (!t->nleaves)
        return NULL;
    size_t at = leaf_index(t, name);
    const struct leaf *l = t->leaf[at];
    size_t i = type_index(l, name);
    i += is_named(l, i, name);
    if (i < l->ntypes)
        return l->type[i];
    return at + 1 < t->nleaves ? t->leaf[at + 1]->type[0] : NULL;
}

/* ---- changing ---- */

struct table *table_put(const struct table *old, struct type *type)
{
    struct change c = {.at = 0};
    if (!old->nleaves) {
        add_types(&c, &type, 1);
        return table_changed(old, &c, 1);
    }
    c.at = leaf_index(old, type->name);
    c.gone = 1;
    const struct leaf *l = old->leaf[c.at];
    size_t i = type_index(l, type->name), replaced = is_named(l, i, type->name);
    add_types(&c, l->type, i);
    add_types(&c, &type, 1);
    add_types(&c, l->type + i + replaced, l->ntypes - i - replaced);
    return table_changed(old, &c, old->ntypes + 1 - replaced);
}

struct table *table_remove(const struct table *old, const struct type *type)
{
    struct change c = {.at = leaf_index(old, type->name), .gone = 1};
    const struct leaf *l = old->leaf[c.at];
    size_t i = type_index(l, type->name), left = l->ntypes - 1;
    assert(i < l->ntypes && l->type[i] == type);
    const struct leaf *before = c.at ? old->leaf[c.at - 1] : NULL;
    const struct leaf *behind = c.at + 1 < old->nleaves ? old->leaf[c.at + 1] : NULL;
    bool few = left && left < LEAF_TYPES_MIN;
    if (few && before && before->ntypes + left <= LEAF_TYPES_MAX) {
        add_types(&c, before->type, before->ntypes);
        c.at--;
        c.gone++;
        behind = NULL;
    }
    add_types(&c, l->type, i);
    add_types(&c, l->type + i + 1, left - i);
    if (few && behind && behind->ntypes + left <= LEAF_TYPES_MAX) {
        add_types(&c, behind->type, behind->ntypes);
        c.gone++;
    }
    return table_changed(old, &c, old->ntypes - 1);
}

/* ---- giving back ---- */

static void leaf_unref(struct slots *slots, struct leaf *l)
{
    assert(l->refs);
    if (--l->refs)
        return;
    for (size_t i = 0; i < l->ntypes; i++)
        type_unref(slots, l->type[i]);
    free(l);
}

void table_unref(struct slots *slots, struct table *t)
{
    assert(t->refs);
    if (--t->refs)
        return;
    for (size_t i = 0; i < t->nleaves; i++)
        leaf_unref(slots, t->leaf[i]);
    free(t);
}
