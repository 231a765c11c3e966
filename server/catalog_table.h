/* server/catalog_table.h - one immutable table of types: sorted by name, found by a seeded hash. The
 * catalog's own. */
#ifndef SERVER_CATALOG_TABLE_H
#define SERVER_CATALOG_TABLE_H

#include "server/catalog.h"

struct table {
    uint32_t refs; /* under the catalog's lock */
    size_t ntypes;
    size_t mask;    /* slots - 1 */
    uint32_t *slot; /* 1 + index into type, 0: free */
    struct type *type[];
};

/* The table is `old` (NULL: empty) without `gone` (NULL: none) and with `added` (NULL: none). Takes no
 * references of types. NULL: memory is out. */
struct table *table_new(const struct table *old, const struct type *gone, struct type *added);
/* Build from `n` types in order of their names, as table_new. */
struct table *table_of(struct type **types, size_t n);
struct type *table_find(const struct table *, struct slice name, uint64_t hash);

#endif
