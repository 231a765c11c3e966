/* server/access/name_map.h - names to pointers: a hash table in an arena. Built once, then immutable. */
#ifndef SERVER_ACCESS_NAME_MAP_H
#define SERVER_ACCESS_NAME_MAP_H

#include "base/arena.h"
#include "base/slice.h"

/* Zero-initialised is ready to use. */
struct name_map {
    struct name_slot {
        struct slice name; /* borrowed; ptr NULL: a free slot */
        void *value;
    } * slots;
    size_t room, n; /* room: a power of 2, or 0 */
};

/* Where the name's value stands, until the next call; NULL stands there if it is new. NULL: memory is out. */
MUST_USE void **name_map_at(struct name_map *, struct slice name, struct arena *);
/* NULL: there is no such name. */
void *name_map_find(const struct name_map *, struct slice name);

#endif
