/* server/schema_rows.h - the catalog's rows, read on a helper: where nothing waits for a callback. */
#ifndef SERVER_SCHEMA_ROWS_H
#define SERVER_SCHEMA_ROWS_H

#include "server/catalog.h"

/* A row's bytes, in the arena. RC_NOTFOUND; IO, NO_MEMORY. */
MUST_USE enum rc schema_row_read(struct store_worker *, const struct store_key *, struct arena *,
                                 struct slice *out, struct err *err);

/* The schema with this id, compiled: by the catalog, if `type` (or NULL) has it and has compiled it, or gets it now; then
 * *own is NULL, and it lasts as long as the type. Or *own, the caller's to free. INTERNAL (logged), IO, NO_MEMORY. */
MUST_USE enum rc schema_row_load(struct store_worker *, const struct type *type, uint32_t schema_id,
                                 struct arena *, const struct schema **out, struct schema **own,
                                 struct err *err);

#endif
