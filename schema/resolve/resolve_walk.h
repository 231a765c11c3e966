/* schema/resolve/resolve_walk.h - where values of the writer's end, for the resolver: one after the other, or looked
 * up, where records inside each other are taken in another order than they come in. */
#ifndef SCHEMA_RESOLVE_WALK_H
#define SCHEMA_RESOLVE_WALK_H

#include "schema/decode/avro_skip.h"
#include "schema/resolve/resolve.h"

/* A record, array or map that was walked over: offsets into the datum, and how many are around it. */
struct walk_span {
    uint32_t begin, end, depth;
};

/* Shorter ones are walked over again rather than kept. */
enum { WALK_KEEP_BYTES = 64 };

struct walk {
    const struct resolver *resolver;
    struct slice avro;
    struct stack spans; /* struct walk_span by where they begin, the outer first */
    struct err *err;
};

/* Walk over the value, with `depth` records, arrays and maps around it, and keep the spans inside it, itself
 * included. */
const uint8_t *walk_index(struct walk *, uint32_t op, const uint8_t *at, uint32_t depth);

/* As avro_skip, by what was kept. */
const uint8_t *walk_find(struct walk *, uint32_t op, const uint8_t *at, uint32_t depth);

#endif
