/* server/registry/ask.h - what the bodies of the registry's API say: JSON, read by the codec that reads records, by a
 * schema of each kind of body. What a body has besides is passed over, as Confluent's registry does. */
#ifndef SERVER_REGISTRY_ASK_H
#define SERVER_REGISTRY_ASK_H

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"

struct reference {
    struct slice name, subject;
    uint32_t version;   /* 0: the latest */
    uint32_t schema_id; /* that it leads to, once it has been followed (references.h) */
};

/* Slices are in the arena; empty: not given. */
struct ask_schema {
    struct slice schema;
    struct reference *references;
    size_t nreferences;
    int32_t version, id; /* -1: not given */
};

/* Fail with BAD_JSON, BAD_RECORD, NO_MEMORY; ask_schema also with BAD_SCHEMA: no schema, or of another type than Avro, or
 * with what is not offered; BAD_VERSION, BAD_SUBJECT (of a reference). */
MUST_USE enum rc ask_schema_read(struct slice body, struct arena *, struct ask_schema *out, struct err *err);
/* {"compatibility": word} and {"mode": word}. */
MUST_USE enum rc ask_level_read(struct slice body, struct arena *, struct slice *out, struct err *err);
MUST_USE enum rc ask_mode_read(struct slice body, struct arena *, struct slice *out, struct err *err);

#endif
