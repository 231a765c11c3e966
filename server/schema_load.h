/* server/schema_load.h - compiles a version's schema from its stored text when it is needed first (after a
 * restart). */
#ifndef SERVER_SCHEMA_LOAD_H
#define SERVER_SCHEMA_LOAD_H

#include "server/catalog.h"

/* Call `then` on this worker once type_schema(version) is there: at once, or after a read and, on a helper
 * thread, a parse. On failure the request is answered and `then` does not run.
 * Uses the request's operation (struct request: the union) and leaves req->state alone. `version` is of
 * req->type. */
void schema_load(struct request *, const struct type_version *version, void (*then)(struct request *));
/* The same for who has begun to answer: on failure `failed` is called, and nothing is answered. */
void schema_load_or(struct request *, const struct type_version *version, void (*then)(struct request *),
                    void (*failed)(struct request *, const struct err *));

#endif
