/* tests/fuzz/generate_patch.h - patches that nearly fit a record, from a fuzzer's bytes: each is a choice (which field or
 * path, null or a value). */
#ifndef TESTS_FUZZ_GENERATE_PATCH_H
#define TESTS_FUZZ_GENERATE_PATCH_H

#include <jansson.h>

#include "base/buf.h"
#include "schema/program/program.h"

/* record: as GET shows it in the plain form. */
void generate_merge(const struct program *, json_t *record, struct slice choices, struct buf *out);
void generate_operations(const struct program *, json_t *record, struct slice choices, struct buf *out);

#endif
