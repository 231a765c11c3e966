/* schema/decode/decode.h - the decoder as the rest of schema/ calls it: by program and instruction. */
#ifndef SCHEMA_DECODE_H
#define SCHEMA_DECODE_H

#include "schema/codec.h"
#include "schema/program/program.h"

/* Append the JSON form of a datum of instruction `op`. `value` is the datum, a part of `avro`: offsets in
 * messages count from the beginning of `avro`. `name`: what paths in messages begin with (the field's name),
 * or empty. Fails as codec_to_json does. Any thread. */
MUST_USE enum rc decode_json(const struct program *, uint32_t op, enum json_form, size_t bytes_max,
                             struct slice avro, struct slice value, struct slice name, struct buf *out,
                             struct err *err);

/* Pass over one datum of instruction `op` at `at`. Checks what it must to find the end: lengths, counts,
 * indexes; not texts, nor what is inside a block that tells its size. NULL: *err is filled. Any thread. */
const uint8_t *decode_skip(const struct program *, uint32_t op, struct slice avro, const uint8_t *at,
                           struct err *err);

/* The same, and count array items that take no bytes up, also inside of blocks that tell their size: by no
 * more than one beyond LIMIT_EMPTY_ITEMS_MAX. */
const uint8_t *decode_count(const struct program *, uint32_t op, struct slice avro, const uint8_t *at,
                            uint64_t *empty_items, struct err *err);

/* Is the datum, which has been checked, within these limits (items, depth)? Any thread. */
bool decode_within(const struct program *, uint32_t op, const struct codec_limits *, struct slice avro);

#endif
