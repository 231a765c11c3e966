/* server/catalog.h - which types there are: name -> versions -> compiled schemas. An immutable table,
 * replaced as a whole when a type changes and before that change is answered; workers read it without locks.
 *
 *   catalog_enter(req) -> catalog_find(req->hold, name) -> type_schema(version) -> catalog_leave(req) */
#ifndef SERVER_CATALOG_H
#define SERVER_CATALOG_H

#include <stdatomic.h>

#include "server/catalog_rows.h"
#include "server/handler.h"

struct catalog;

/* One distinct schema, shared by all versions of all types that have it. */
struct schema_slot {
    uint32_t id;
    uint32_t refs;                   /* under the catalog's lock */
    _Atomic(struct schema *) schema; /* NULL until it was needed; set once */
};

/* What an answer that shows records depends on, besides the path. */
#define VARY_READS "Accept, Accept-Schema-Version, Accept-Encoding"

enum { VERSION_HEADERS_MAX = 96 };

struct pairs; /* server/catalog_pairs.h */

struct type_version {
    uint32_t number, schema_id;
    struct schema_slot *slot;
    bool deleted; /* in the registry, which does not show it; here it is a version like any other */
    uint8_t headers_len;
    char headers[VERSION_HEADERS_MAX]; /* header lines of an answer that shows this version */
};

/* Immutable. */
struct type {
    uint32_t refs; /* under the catalog's lock */
    uint32_t number;
    uint64_t revision; /* of its last change */
    struct type_options options;
    struct codec_opts codec;
    struct slice name;   /* its own copy */
    struct pairs *pairs; /* how its versions read each other; NULL: it has but one */
    uint32_t nversions;
    const struct type_version *latest;
    struct type_version version[]; /* oldest first */
};

/* ---- life; main thread ---- */

/* Read all types from the store. Fails with STORE_FORMAT, IO, NO_MEMORY. */
MUST_USE enum rc catalog_open(struct catalog **, struct store_worker *, struct err *);
/* After the last worker has ended and the store is closed. What requests still hold that were given up on the
 * way is left to the end of the process. NULL is fine. */
void catalog_free(struct catalog *);

/* ---- reading; workers ---- */

/* Hold the newest table for this request: sets req->hold, until catalog_leave. False: memory is out. */
MUST_USE bool catalog_enter(struct request *);
void catalog_leave(struct request *);
/* NULL: no such type. Lives as long as the hold. */
/* NO_TYPE, in words. */
enum rc catalog_no_type(struct slice name, struct err *);
const struct type *catalog_find(const struct catalog_hold *, struct slice name);
/* How many types there are, and the first whose name is above this one, in byte order (empty: the first of all;
 * NULL: there is none). */
size_t catalog_count(const struct catalog_hold *);
const struct type *catalog_after(const struct catalog_hold *, struct slice name);
/* Exchange req->hold and req->type for the newest; what was borrowed from the old type is dead. RC_NOTFOUND:
 * the type is gone. NO_MEMORY. In both cases hold and type are as they were. */
MUST_USE enum rc catalog_renew(struct request *, struct err *);

/* The version whose records bear this schema id (the newest such one), or NULL. */
const struct type_version *type_version_of_schema(const struct type *, uint32_t schema_id);
/* By number, or NULL. */
const struct type_version *type_version_find(const struct type *, uint32_t number);

/* The compiled schema, or NULL: then server/schema_load.h gets it. */
static inline const struct schema *type_schema(const struct type_version *v)
{
    return atomic_load_explicit(&v->slot->schema, memory_order_acquire);
}
/* Give a compiled schema to the slot. If it has one by now, ours is freed. Any thread. */
void type_schema_offer(const struct type_version *, struct schema *);

/* The level of compatibility that is set for all in the registry: that of types with options.follows_level. Any thread. */
enum compat_mode catalog_level(const struct catalog *);

/* ---- changing; any worker ---- */

/* Around the store's part of a change: from before the write is queued until after it was published, so that
 * late news of a dropped type can be told from a new type. `change` is the caller's memory, and lent until its end.
 * False: memory is out. */
struct catalog_change {
    struct catalog_change *before, *behind; /* those in flight, in order of their beginning */
    uint64_t drops;                         /* how many types had been dropped then */
};
MUST_USE bool catalog_change_begin(struct catalog *, struct catalog_change *);
void catalog_change_end(struct catalog *, struct catalog_change *);
/* Of how many dropped types it is still remembered that they are: those dropped since the oldest change in flight has
 * begun. For tests. */
size_t catalog_drops_remembered(struct catalog *);
/* Publish a committed row, unless something newer is known of its name. NO_MEMORY: it is not visible; call
 * again before it is answered. */
MUST_USE enum rc catalog_put(struct catalog *, struct slice name, const struct type_row *, struct err *);
/* Publish a committed change of the level for all, unless a newer one is known. */
void catalog_level_put(struct catalog *, uint64_t revision, enum compat_mode);
/* Publish a committed drop of the type with this number; nothing if that is known. NO_MEMORY as above. */
MUST_USE enum rc catalog_drop(struct catalog *, struct slice name, uint32_t number, struct err *);

#endif
