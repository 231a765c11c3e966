/* tests/fuzz/generate.h - JSON texts that nearly fit a schema, so that a fuzzer's bytes come further than
 * the first brace: each byte is a choice (which branch, tagged or bare, which field is left out, which
 * value). */
#ifndef TESTS_FUZZ_GENERATE_H
#define TESTS_FUZZ_GENERATE_H

#include "base/buf.h"
#include "schema/program/program.h"

/* Append a text for the type of instruction `op`, chosen by the bytes; where they end, all choices are 0. */
void generate_json(const struct program *, uint32_t op, struct slice choices, struct buf *out);

#endif
