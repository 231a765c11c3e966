/* schema/json.h - strict JSON (RFC 8259) as text: the checker that every schema text and every refused body
 * passes, and strings to and from their tokens. No tree; the checker allocates its stack and the table that
 * finds duplicate names. Outside of schema/ only json_check is used. */
#ifndef SCHEMA_JSON_H
#define SCHEMA_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json_quote.h"
#include "base/slice.h"

/* Is `text` one JSON value and nothing else: UTF-8 without byte order mark, no lone surrogates, no duplicate
 * names, nested at most `depth_max` deep? Below 4 GiB. Fails with BAD_JSON (message, line, column from 1 in
 * bytes; duplicates also as a DUPLICATE problem with the second member's pointer), TOO_DEEP (likewise, and as a
 * DEPTH problem), NO_MEMORY.
 * Linear, whatever the input: names are hashed with a seed. */
MUST_USE enum rc json_check(struct slice text, uint32_t depth_max, struct arena *arena, struct err *err);

/* The value of the four hexadecimal digits at p (behind "\u"); -1 if they are not there before `end`. */
int32_t json_hex4(const uint8_t *p, const uint8_t *end);

static inline bool json_is_high_surrogate(int32_t v)
{
    return v >= 0xd800 && v < 0xdc00;
}

static inline bool json_is_low_surrogate(int32_t v)
{
    return v >= 0xdc00 && v < 0xe000;
}

/* The content of a JSON string token (`token` with its quotes, checked before): escapes undone, appended to
 * `out` as UTF-8; NULs stay. False: memory is out. */
MUST_USE bool json_unescape(struct slice token, struct buf *out);

/* Append one RFC 6901 reference token ("/", then `name` with ~ and / escaped). */
MUST_USE bool json_pointer_push(struct buf *pointer, struct slice name);

#endif
