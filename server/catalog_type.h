/* server/catalog_type.h - types and the schemas they share, made and counted. The catalog's own; all of it is
 * to be called under the catalog's lock. */
#ifndef SERVER_CATALOG_TYPE_H
#define SERVER_CATALOG_TYPE_H

#include "server/catalog.h"

/* Every schema that some type has a version of, by its id: ids are dense, counted from 1. */
struct slots {
    struct schema_slot **slot;
    size_t n;
};
void slots_release(struct slots *); /* types that are left keep their own */

/* With one reference, the caller's. Fails with NO_MEMORY. */
MUST_USE enum rc type_new(struct type **, struct slots *, struct slice name, const struct type_row *,
                          struct err *);
void type_unref(struct slots *, struct type *);
/* `t`, which nobody has seen yet, keeps the resolvers that the same type had before a change; without memory they are made
 * again when they are needed. */
void type_inherit(struct type *t, const struct type *before);

#endif
