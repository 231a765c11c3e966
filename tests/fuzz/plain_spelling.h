/* tests/fuzz/plain_spelling.h - texts of logical types, base64 and quoted longs to Avro, once more, by the C library and as
 * the rules of docs/http-api.md say it: what schema/encode/spelling.c does is compared with it. */
#ifndef TESTS_FUZZ_PLAIN_SPELLING_H
#define TESTS_FUZZ_PLAIN_SPELLING_H

#include "base/buf.h"
#include "base/err.h"
#include "schema/program/program.h"

enum plain_spelling { SPELLED_FITS, SPELLED_MISFIT, SPELLED_GIVES_UP };

/* Append the Avro form of a string's content, or of a number as it stands. SPELLED_MISFIT: *why. SPELLED_GIVES_UP: more
 * digits than a 128-bit integer has. */
enum plain_spelling plain_spell(const struct op *, struct slice text, bool is_string, struct buf *out,
                                enum problem_code *why);

/* int or long, however it is spelled; any other: its own. */
enum opcode plain_kind(const struct op *);

#endif
