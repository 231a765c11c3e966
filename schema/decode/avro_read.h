/* schema/decode/avro_read.h - reading the pieces of Avro binary, every byte checked. Inside schema/ only.
 * Source: Avro 1.12 specification, "Primitive Types" of the binary encoding. */
#ifndef SCHEMA_AVRO_READ_H
#define SCHEMA_AVRO_READ_H

#include "base/compiler.h"
#include "base/slice.h"

enum { AVRO_VARINT_MAX = 10, AVRO_INT_MAX = 5 }; /* bytes of a long and of an int */

/* A variable-length integer of two bytes or more; see avro_read_varint. */
const uint8_t *avro_read_wide_varint(const uint8_t *at, const uint8_t *end, uint64_t *out);

/* The bits of a variable-length integer, before zig-zag. Returns what stands behind it; NULL: it is cut off,
 * or has more than 64 bits, or more than AVRO_VARINT_MAX bytes. */
static inline const uint8_t *avro_read_varint(const uint8_t *at, const uint8_t *end, uint64_t *out)
{
    if (likely(at < end && *at < 0x80)) {
        *out = *at;
        return at + 1;
    }
    return avro_read_wide_varint(at, end, out);
}

static inline int64_t avro_unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static inline const uint8_t *avro_read_long(const uint8_t *at, const uint8_t *end, int64_t *out)
{
    uint64_t bits = 0;
    at = avro_read_varint(at, end, &bits);
    *out = avro_unzigzag(bits);
    return at;
}

/* What is wrong with the length or number at `at`, in a few words, for messages: a wrong varint, or one that
 * is negative, or longer than what is left. A static string. */
const char *avro_length_fault(const uint8_t *at, const uint8_t *end);
const char *avro_int_fault(const uint8_t *at, const uint8_t *end);

/* The beginning of a block of an array or map: how many items, and where its bytes end if it says so (else
 * NULL). Returns what stands behind it; NULL: *fault tells why. items 0 ends the array or map. */
const uint8_t *avro_read_block(const uint8_t *at, const uint8_t *end, uint64_t *items,
                               const uint8_t **block_end, const char **fault);

#endif
