/* server/access/name_map.c - see name_map.h. */
#include "server/access/name_map.h"

#include "base/hash.h"

enum { ROOM_FIRST = 8 };

static struct name_slot *slot_of(const struct name_map *m, struct slice name)
{
    size_t i = hash_bytes(name) & (m->room - 1);
    while (m->slots[i].name.ptr && !slice_eq(m->slots[i].name, name))
        i = (i + 1) & (m->room - 1);
    return &m->slots[i];
}

static bool grow(struct name_map *m, struct arena *arena)
{
    struct name_map wider = {.room = m->room ? m->room * 2 : ROOM_FIRST, .n = m->n};
    wider.slots = arena_calloc(arena, wider.room, sizeof *wider.slots);
    if (!wider.slots)
        return false;
    for (size_t i = 0; i < m->room; i++)
        if (m->slots[i].name.ptr)
            *slot_of(&wider, m->slots[i].name) = m->slots[i];
    *m = wider;
    return true;
}

void **name_map_at(struct name_map *m, struct slice name, struct arena *arena)
{
    if (m->n >= m->room / 2 && !grow(m, arena))
        return NULL;
    struct name_slot *slot = slot_of(m, name);
    if (!slot->name.ptr) {
        slot->name = slice_not_null(name);
        m->n++;
    }
    return &slot->value;
}

void *name_map_find(const struct name_map *m, struct slice name)
{
    return m->n ? slot_of(m, name)->value : NULL;
}
