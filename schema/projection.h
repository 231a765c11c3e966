/* schema/projection.h - a record's JSON with some of its fields only. Part of the front of this folder (schema.h
 * brings it). */
#ifndef SCHEMA_PROJECTION_H
#define SCHEMA_PROJECTION_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "schema/codec.h"

struct schema;

/* Which fields: `a,b.c`, where b.c is field c of what is in b. Sorted, each once, without those that another one
 * contains: so two lists that ask for the same are the same. Immutable. */
struct projection_list {
    const struct slice *path;
    uint32_t n;
};
/* Borrows the text. BAD_PARAMETER (it is no list of names), NO_MEMORY. */
MUST_USE enum rc projection_list_parse(struct projection_list *, struct slice text, struct arena *,
                                       struct err *err);
/* The paths with a comma between them, in the arena. False: memory is out. */
MUST_USE bool projection_list_text(const struct projection_list *, struct arena *, struct slice *out);

/* Such a list for the data of one schema; any thread. Arrays, maps and unions are looked through: a path goes on in the
 * records that they hold, and must be known to one of them. */
struct projection;
/* Borrows the schema and the list. BAD_PARAMETER, which names the fields that there are; also if there are so many ways
 * through unions that finding the fields takes too much work. NO_MEMORY. */
MUST_USE enum rc projection_new(struct projection **out, const struct schema *,
                                const struct projection_list *, struct arena *, struct err *err);

/* Append the JSON form of the datum, of its records only those fields: all in the schema's order. A record in which
 * none of them is is {}; what is no record where a path goes on (null, a union's number) is shown as it is.
 * As codec_to_json_within: what is shown is checked as there, of the rest only what must be to find its end. Linear in
 * the bytes, up to the end of what is shown. Any thread. */
MUST_USE enum rc projection_print(const struct projection *, enum json_form, size_t bytes_max,
                                  struct slice avro, struct buf *out, struct err *err);

#endif
