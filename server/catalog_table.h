/* server/catalog_table.h - one immutable table of types, sorted by name, in leaves of a few dozen each. A
 * changed table shares all leaves but one with the last, so that a change costs little however many types
 * there are. The catalog's own; references are counted under its lock. */
#ifndef SERVER_CATALOG_TABLE_H
#define SERVER_CATALOG_TABLE_H

#include "server/catalog.h"
#include "server/catalog_type.h"

struct leaf {
    uint32_t refs;
    uint32_t ntypes; /* 1 to LEAF_TYPES_MAX */
    struct type *type[];
};

struct table {
    uint32_t refs;
    size_t ntypes, nleaves;
    struct leaf *leaf[];
};

/* All that make a table give it one reference, the caller's, and take their own of leaves and types. NULL:
 * memory is out. */

/* Of types in order of their names. */
struct table *table_of(struct type *const *types, size_t n);
/* With this type, in place of one of the same name if there is one. */
struct table *table_put(const struct table *, struct type *);
/* Without this type, which is there. */
struct table *table_remove(const struct table *, const struct type *);
void table_unref(struct slots *, struct table *);

/* By name; NULL. Any thread that holds the table. */
struct type *table_find(const struct table *, struct slice name);
/* The first whose name is above this one (empty: the first of all); NULL behind the last. */
struct type *table_after(const struct table *, struct slice name);

#endif
