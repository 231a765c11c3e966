/* schema/assertion.h - a claim about one value of a record: that it is equal to what a JSON text says, above it, below it.
 * What a transaction's `check` asks. Part of the front of this folder. */
#ifndef SCHEMA_ASSERTION_H
#define SCHEMA_ASSERTION_H

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"
#include "schema/codec.h"

struct schema;

/* Prepared, immutable: any thread may ask it. In the arena that it was made in; borrows the schema, the options and
 * the texts. */
struct assertion;

enum comparison { IS_EQUAL, IS_OTHER, IS_BELOW, IS_AT_MOST, IS_ABOVE, IS_AT_LEAST };
/* By "=", "!=", "<", "<=", ">", ">=". False: it is none of them. */
bool comparison_find(struct slice text, enum comparison *out);

/* pointer: RFC 6901, into the record's JSON as GET shows it, tags of unions included. BAD_PATH (it is no pointer),
 * NOT_APPLICABLE (no record has such a field), NO_MEMORY. */
MUST_USE enum rc assertion_of(struct assertion **, const struct schema *, const struct codec_opts *,
                              struct slice pointer, enum comparison, struct slice json, struct arena *,
                              struct err *);

/* Does it hold for this record? Numbers go by value, whatever their types; text, bytes and booleans (false first) by
 * their bytes; symbols in the order of the enum. What is not there, null, or of another branch is no more than different;
 * so is NaN, but from itself.
 *   avro     one datum of the schema, checked when it was stored
 *   brief    as in struct codec_opts
 *   scratch  for values and problems
 * Fails with BAD_RECORD (the JSON cannot be of the value's type: pointers into it), NOT_APPLICABLE (records, arrays and
 * maps are equal or not, and have no order), TOO_DEEP, TOO_MUCH_WORK, BAD_AVRO, NO_MEMORY. */
MUST_USE enum rc assertion_holds(const struct assertion *, struct codec *, bool brief, struct slice avro,
                                 bool *holds, struct arena *scratch, struct err *);

#endif
