/* schema/decode/avro_skip.h - over one value, without a call where it has no parts. Inside schema/ only. */
#ifndef SCHEMA_AVRO_SKIP_H
#define SCHEMA_AVRO_SKIP_H

#include "schema/decode/avro_read.h"
#include "schema/decode/decode.h"

/* Behind the value of instruction `op` at `at`. NULL: *err is filled (BAD_AVRO, TOO_DEEP). */
static inline const uint8_t *avro_skip(const struct program *p, uint32_t first, struct slice avro,
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

#endif
