/* schema/decode/avro_read.c - the rarer pieces of Avro binary, and what is wrong with wrong ones. */
#include "schema/decode/avro_read.h"

const uint8_t *avro_read_wide_varint(const uint8_t *at, const uint8_t *end, uint64_t *out)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 7 * AVRO_VARINT_MAX; shift += 7) {
        if (at == end)
            return NULL;
        uint8_t b = *at++;
        if (shift == 63 && b > 1) /* the tenth byte has one bit left */
            return NULL;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) {
            *out = v;
            return at;
        }
    }
    return NULL;
}

static const char *varint_fault(const uint8_t *at, const uint8_t *end)
{
    for (int i = 0; i < AVRO_VARINT_MAX; i++, at++) {
        if (at == end)
            return "a number that is cut off";
        if (*at < 0x80)
            break;
    }
    return "a number of more than 64 bits";
}

const char *avro_length_fault(const uint8_t *at, const uint8_t *end)
{
    int64_t len;
    if (!avro_read_long(at, end, &len))
        return varint_fault(at, end);
    return len < 0 ? "negative length" : "a length beyond the end of the data";
}

const char *avro_int_fault(const uint8_t *at, const uint8_t *end)
{
    int64_t v;
    return avro_read_long(at, end, &v) ? "an int of more than 32 bits" : varint_fault(at, end);
}

const uint8_t *avro_read_block(const uint8_t *at, const uint8_t *end, uint64_t *items,
                               const uint8_t **block_end, const char **fault)
{
    int64_t count, bytes;
    *block_end = NULL;
    const uint8_t *p = avro_read_long(at, end, &count);
    if (unlikely(!p)) {
        *fault = varint_fault(at, end);
        return NULL;
    }
    *items = (uint64_t)count;
    if (likely(count >= 0))
        return p;
    *items = -(uint64_t)count;
    const uint8_t *size = p;
    p = avro_read_long(size, end, &bytes);
    if (!p || bytes < 0 || bytes > end - p) {
        *fault = !p          ? varint_fault(size, end)
                 : bytes < 0 ? "negative block size"
                             : "a block beyond the end of the data";
        return NULL;
    }
    *block_end = p + bytes;
    return p;
}
