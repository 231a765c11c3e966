/* schema/encode/name_set.h - the names of the objects that are open, of the encoder's and of the decoder's, so that a
 * second one is noticed. Few are compared one by one; many stand in a seeded hash table. An object's names
 * leave when it closes, so all of it is stacks. Inside schema/ only. */
#ifndef SCHEMA_NAME_SET_H
#define SCHEMA_NAME_SET_H

#include "schema/scratch.h"

/* One object's part of a set. */
struct name_scope {
    uint32_t names, slots; /* where it begins in the stacks */
    uint32_t slots_mask;   /* of its hash table; 0: none yet */
};

/* Of an object that is inside of those that are open. */
static inline struct name_scope name_scope_open(const struct name_set *s)
{
    return (struct name_scope){.names = s->names.n, .slots = s->slots.n};
}

/* Together with those inside of it. */
static inline void name_scope_close(struct name_set *s, const struct name_scope *scope)
{
    s->names.n = scope->names;
    s->slots.n = scope->slots;
}

static inline void name_set_clear(struct name_set *s)
{
    s->names.n = s->slots.n = 0;
}

/* Add a name to the innermost object. Its bytes are base[at, at + len), and stay until it closes; `base` may
 * move. */
enum names_result { NAMES_NEW, NAMES_DUPLICATE, NAMES_NO_MEMORY };
enum names_result name_set_add(struct name_set *, struct name_scope *, const uint8_t *base, uint32_t at,
                               uint32_t len);

/* Empty it; what many names needed is given back. */
void name_set_reset(struct name_set *);
void name_set_release(struct name_set *);

#endif
