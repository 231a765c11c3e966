/* tests/fuzz/plain_codec.h - JSON to Avro, and whether bytes are Avro, once more, as the rules of docs/ say
 * it and as slowly as they allow: a tree, recursion, every branch tried. What the codec does in one pass is
 * compared with it. */
#ifndef TESTS_FUZZ_PLAIN_CODEC_H
#define TESTS_FUZZ_PLAIN_CODEC_H

#include "base/buf.h"
#include "schema/codec.h"
#include "schema/program/program.h"

enum plain_result {
    PLAIN_FITS,
    PLAIN_MISFIT,
    PLAIN_GIVES_UP, /* too deep for recursion, or too much work */
};

/* Append the Avro form of `json`, which json_check has passed, as the type of instruction `op`. */
enum plain_result plain_encode(const struct program *, uint32_t op, const struct codec_opts *,
                               struct slice json, struct buf *out);

/* Append what is wrong with `json` in the order of the rules, a line each: pointer, a space, the problem's
 * slug. Only where unions are tagged, or there are none: else it is not certain which branch was meant. */
enum plain_result plain_explain(const struct program *, uint32_t op, const struct codec_opts *,
                                struct slice json, struct buf *out);

/* The same for the default of a field: the first branch of a union that takes it, in any way; never tagged.
 * */
enum plain_result plain_default(const struct program *, uint32_t op, struct slice json, struct buf *out);

/* Are the bytes one datum of the type, and nothing else? */
enum plain_result plain_check(const struct program *, uint32_t op, struct slice avro);
/* The same, and indexes take no more bytes than an int may. */
enum plain_result plain_check_strictly(const struct program *, uint32_t op, struct slice avro);
/* How much of each there is in a datum that fits: the least limits that it is within. */
enum plain_result plain_measure(const struct program *, uint32_t op, struct slice avro,
                                struct codec_limits *out);

#endif
