/* tests/fuzz/generate_path.h - paths that nearly lead somewhere in a schema, so that a fuzzer's bytes come further than the
 * first name: each byte is a choice. */
#ifndef TESTS_FUZZ_GENERATE_PATH_H
#define TESTS_FUZZ_GENERATE_PATH_H

#include "base/buf.h"
#include "schema/program/program.h"

/* Append a path for the type of instruction `op`, chosen by the bytes, which are taken off; where they end, all choices are 0. */
void generate_path(const struct program *, uint32_t op, struct slice *choices, struct buf *out);

#endif
