/* tests/fuzz/mutate.h - a schema that somebody changed a little, so that a fuzzer's bytes make pairs of
 * versions: fields added, removed, renamed and moved, types promoted and put into unions, symbols and
 * names changed. */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include "base/buf.h"
#include "base/slice.h"

/* Append the text of the schema `text` with a change for every two bytes of `choices`. It may be no
 * schema. False: Jansson cannot read the text. */
bool mutate_schema(struct slice text, struct slice choices, struct buf *out);

#endif
