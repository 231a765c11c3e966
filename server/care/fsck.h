/* server/care/fsck.h - what a check knows of the catalog, and looks at with it: schemas, types, subjects, the Avro of records. */
#ifndef SERVER_CARE_FSCK_H
#define SERVER_CARE_FSCK_H

#include "base/arena.h"
#include "schema/schema.h"
#include "storage/care.h"

/* A type, as long as the check lasts. */
struct fsck_type {
    uint32_t number, nversions;
    uint64_t max_size;
    uint32_t *schema_id; /* of each version */
    struct slice name;
};

enum { FSCK_SCHEMAS = 64 }; /* compiled ones that are kept: a type has few at a time */

struct fsck {
    struct store_check check;
    struct arena arena;   /* of types */
    struct arena scratch; /* of the row at hand */
    struct fsck_type *types;
    size_t ntypes, types_cap;
    bool types_sorted;
    struct codec *codec;
    struct {
        uint32_t id;
        struct schema *schema; /* NULL: it cannot be had, which was told */
    } schemas[FSCK_SCHEMAS];
    const struct fsck_type *at; /* of the record before ... */
    uint32_t at_schema;         /* ... whose schema is one of its versions */
};

/* Zero-initialised but for check.fault and check.progress. Sets the rest of check. */
MUST_USE enum rc fsck_init(struct fsck *, struct err *);
void fsck_release(struct fsck *);
/* The type of this number; NULL: there is none. */
const struct fsck_type *fsck_type(struct fsck *, uint32_t number);

#endif
