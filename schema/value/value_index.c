/* schema/value/value_index.c - a map's entries by their keys: one after the other, or by a seeded hash table where there are
 * many, which follows what comes and goes. */
#include <assert.h>

#include "base/hash.h"
#include "schema/value/value_parts.h"

enum { FEW = 16 };

/* Where an entry was: those that were pushed past it are still found. */
static struct value gone;

static uint32_t start_of(const struct value_index *x, struct slice key)
{
    return (uint32_t)hash_bytes(key) & x->mask;
}

struct value *index_find(const struct value_index *x, struct slice key)
{
    for (uint32_t i = start_of(x, key); x->slot[i]; i = (i + 1) & x->mask)
        if (x->slot[i] != &gone && slice_eq(x->slot[i]->key, key))
            return x->slot[i];
    return NULL;
}

static void place(struct value_index *x, struct value *entry)
{
    uint32_t i = start_of(x, entry->key);
    while (x->slot[i])
        i = (i + 1) & x->mask;
    x->slot[i] = entry;
    x->used++;
}

/* Anew, of what is in the map now. */
static bool build(struct datum *d, struct value *map)
{
    uint32_t slots = 4 * FEW;
    while (slots < 4 * (uint64_t)map->nparts)
        slots *= 2;
    struct value_index *x = arena_alloc(d->arena, sizeof *x);
    struct value **slot = arena_calloc(d->arena, slots, sizeof(struct value *));
    if (!x || !slot)
        return false;
    *x = (struct value_index){.slot = slot, .mask = slots - 1};
    for (uint32_t i = 0; i < map->nparts; i++)
        place(x, map->part[i]);
    map->index = x;
    return true;
}

bool index_add(struct datum *d, struct value *map, struct value *entry)
{
    struct value_index *x = map->index;
    if (x->used >= x->mask / 2)
        return build(d, map);
    place(x, entry);
    return true;
}

void index_remove(struct value_index *x, const struct value *entry)
{
    uint32_t i = start_of(x, entry->key);
    while (x->slot[i] != entry)
        i = (i + 1) & x->mask;
    x->slot[i] = &gone;
}

enum rc value_index(struct datum *d, struct value *map, struct err *err)
{
    assert(map->is_open && d->program->ops[map->op].code == OP_MAP);
    if (map->index || map->nparts < FEW)
        return RC_OK;
    if (datum_pay(d, (uint64_t)map->nparts * COST_KEY, err) != RC_OK)
        return RC_ERR;
    return build(d, map) ? RC_OK : err_oom(err);
}

struct value *value_entry(const struct value *map, struct slice key)
{
    assert(map->is_open);
    if (map->index)
        return index_find(map->index, key);
    for (uint32_t i = 0; i < map->nparts; i++)
        if (slice_eq(map->part[i]->key, key))
            return map->part[i];
    return NULL;
}
