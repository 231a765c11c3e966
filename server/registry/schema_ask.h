/* server/registry/schema_ask.h - a body with a schema, and what it refers to, read by a helper. */
#ifndef SERVER_REGISTRY_SCHEMA_ASK_H
#define SERVER_REGISTRY_SCHEMA_ASK_H

#include "server/registry/references.h"

/* All in the arena. */
struct schema_ask {
    struct references refs; /* text: the schema as it was sent */
    struct slice *known;    /* texts that the references lead to */
    size_t nknown;
    struct slice list;   /* of the references; empty: none */
    int32_t version, id; /* that a registration is to have; below 1 and 0: any */
};

/* As ask_schema_read, and BAD_SCHEMA where a reference leads nowhere. */
MUST_USE enum rc schema_ask_read(struct call *, struct schema_ask *, struct err *err);
/* The caller's: schema_free. As schema_parse, but see schema_ask_fault. */
MUST_USE enum rc schema_ask_parse(struct call *, const struct schema_ask *, struct schema **,
                                  struct err *err);
/* What schema_parse says of a text that is no JSON is BAD_SCHEMA here: the body that it came in is JSON. */
void schema_ask_fault(struct err *err);

#endif
