/* client/lib/target.h - a path and its query, put together and percent-encoded. */
#ifndef CLIENT_LIB_TARGET_H
#define CLIENT_LIB_TARGET_H

#include "base/buf.h"
#include "base/compiler.h"

/* Zero-initialised is ready; target_release. That memory is out is said once, at the end. */
struct target {
    struct buf text;
    bool no_memory, has_query;
};

/* A slash and one piece. */
void target_piece(struct target *, struct slice);

/* A parameter; a value at NULL is left out. */
void target_param(struct target *, const char *name, const char *value);
void target_param_bytes(struct target *, const char *name, struct slice value);
void target_param_u64(struct target *, const char *name, uint64_t value);

/* Parameters that are encoded: "a=1&b=2", or NULL. */
void target_query(struct target *, const char *query);

/* All of it, borrowed until it is released. NULL: memory is out. */
MUST_USE const char *target_text(struct target *);
void target_release(struct target *);

#endif
