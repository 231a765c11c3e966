/* schema/resolve_walk.h - where values of the writer's end, for the resolver: one after the other, or looked
 * up, where records inside each other are taken in another order than they come in. */
#ifndef SCHEMA_RESOLVE_WALK_H
#define SCHEMA_RESOLVE_WALK_H

#include "schema/avro_read.h"
#include "schema/decode.h"
#include "schema/resolve.h"

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

/* Behind the value of instruction `op` at `at`. NULL: *err is filled (BAD_AVRO, TOO_DEEP). */
static inline const uint8_t *walk_skip(const struct program *p, uint32_t first, struct slice avro,
                                       const uint8_t *at, struct err *err)
{
    const struct op *op = &p->ops[first];
    const uint8_t *end = avro.ptr + avro.len, *q;
    uint64_t bits = 0;
    switch ((enum opcode)op->code) {
    case OP_NULL: return at;
    case OP_BOOLEAN:
        if (likely(at < end))
            return at + 1;
        break;
    case OP_INT:
    case OP_LONG:
    case OP_ENUM:
        q = avro_read_varint(at, end, &bits);
        if (likely(q))
            return q;
        break;
    case OP_FLOAT:
    case OP_DOUBLE:
    case OP_FIXED:
        bits = op->code == OP_FLOAT ? 4 : op->code == OP_DOUBLE ? 8 : op->a;
        if (likely(bits <= (uint64_t)(end - at)))
            return at + bits;
        break;
    case OP_BYTES:
    case OP_STRING:
        q = avro_read_varint(at, end, &bits);
        if (likely(q && !(bits & 1) && bits >> 1 <= (uint64_t)(end - q)))
            return q + (bits >> 1);
        break;
    case OP_ARRAY:
    case OP_MAP:
        if (likely(at < end) && *at == 0) /* empty */
            return at + 1;
        break;
    default: break;
    }
    return decode_skip(p, first, avro, at, err);
}

/* Walk over the value, with `depth` records, arrays and maps around it, and keep the spans inside it, itself
 * included. */
const uint8_t *walk_index(struct walk *, uint32_t op, const uint8_t *at, uint32_t depth);

/* As walk_skip, by what was kept. */
const uint8_t *walk_find(struct walk *, uint32_t op, const uint8_t *at, uint32_t depth);

#endif
