/* schema/codec.h - JSON <-> Avro binary, driven by a compiled schema. No I/O, no locks, no globals.
 * Sources: Avro 1.12 specification, "Binary encoding" and "JSON encoding"; RFC 8259. */
#ifndef SCHEMA_CODEC_H
#define SCHEMA_CODEC_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

struct schema;

/* Which JSON: avrod's own (unions bare or tagged in; out bare for one non-null branch, else tagged), or the
 * specification's JSON encoding (always tagged, both ways; null is never tagged). The former may spell some values
 * readably, both ways (docs/decisions/0009): the three may be added. */
enum json_form {
    JSON_PLAIN = 0,
    JSON_LOGICAL = 1, /* logical types as texts: dates and times, decimals, UUIDs; a duration as an object */
    JSON_BASE64 = 2,  /* bytes and fixed (of those, what has no text by JSON_LOGICAL) as base64 */
    JSON_INT64 = 4,   /* long as digits in a string */
    JSON_AVRO = 8,
    JSON_FORMS
};

/* What a type allows its records, if that is less than any record may have; 0: as much as any. They are looked at when data
 * come in, never when they are read. */
struct codec_limits {
    uint32_t bytes; /* of Avro binary */
    uint32_t items; /* of one array or map */
    uint32_t depth; /* records, arrays and maps inside each other */
};

/* A type's options, as far as they are about data. Zero-initialised: the defaults. */
struct codec_opts {
    enum json_form form;
    enum { MISSING_DEFAULT, MISSING_ZERO, MISSING_REJECT } missing;
    enum { UNKNOWN_REJECT, UNKNOWN_IGNORE } unknown;
    struct codec_limits limits;
    bool brief; /* give up (TOO_MUCH_WORK) after about a millisecond, not a few hundred: who must not be held
                 * up that long has a body that needs more checked elsewhere */
};

/* Scratch memory of one thread: stacks, spans, memories of what was tried. Kept between calls, so that the
 * steady state allocates nothing; what one large body needed is given back. */
struct codec;
struct codec *codec_new(void); /* NULL: memory is out */
void codec_free(struct codec *);

/* Append the Avro form of `json` to `out`.
 *   json   borrowed for the call      out  the caller's; on failure back to its old length
 *   arena  where problems are kept, on failure only
 * Fails with BAD_JSON (line, column), BAD_RECORD (every problem found, in schema order, then unknown members,
 * at most 100), TOO_DEEP, TOO_MANY_ITEMS, TOO_MUCH_WORK, RECORD_TOO_LARGE, NO_MEMORY. What fits its schema, but not the type's
 * limits, has one problem: the first such place. Linear in json.len; no tree. A fast
 * pass encodes; only when that does not fit, a second one over the same bytes finds out why. INTERNAL: the
 * passes disagree, a bug of ours. */
MUST_USE enum rc codec_from_json(struct codec *, const struct schema *, const struct codec_opts *,
                                 struct slice json, struct buf *out, struct arena *arena, struct err *err);

/* The same for the value of one top-level field (schema_field's index): appends the field's Avro binary.
 * Pointers are relative to the field's value; limits.bytes is not looked at. */
MUST_USE enum rc codec_field_from_json(struct codec *, const struct schema *, int field,
                                       const struct codec_opts *, struct slice json, struct buf *out,
                                       struct arena *arena, struct err *err);

/* Append the JSON form of one datum to `out`. Every byte of `avro` is checked (lengths, indexes, booleans,
 * UTF-8, depth, no key twice in a map, nothing left over): BAD_AVRO names the byte offset and the value's path. TOO_DEEP;
 * TOO_MUCH_WORK (too many items that take no bytes); JSON_TOO_LARGE (the JSON would exceed LIMIT_JSON_MAX);
 * NO_MEMORY. On failure `out` is as it was. Any thread. */
MUST_USE enum rc codec_to_json(const struct schema *, enum json_form form, struct slice avro, struct buf *out,
                               struct err *err);

/* The same for one top-level field of a record. */
MUST_USE enum rc codec_field_to_json(const struct schema *, int field, enum json_form form, struct slice avro,
                                     struct buf *out, struct err *err);

/* Either (field -1: the whole), for who must not be held up or has not much memory: JSON_TOO_LARGE if the JSON
 * is longer than bytes_max and than the room that `out` has already. */
MUST_USE enum rc codec_to_json_within(const struct schema *, int field, enum json_form form, size_t bytes_max,
                                      struct slice avro, struct buf *out, struct err *err);

/* Is what stands in `body` behind its first `before` bytes one datum, and nothing else? Every byte is checked as codec_to_json
 * does it; besides, an enum's or a union's index takes no more than the five bytes of an int. What passes can be stored as
 * it is: numbers that take more bytes than they need and blocks that tell their size are read by all.
 *   opts   brief and limits              arena  where the problem is kept, on failure only
 * Fails with BAD_AVRO, TOO_DEEP and TOO_MANY_ITEMS (one problem: the JSON Pointer into the record, without names of branches; the byte
 * counts from the beginning of `body`), TOO_MUCH_WORK, RECORD_TOO_LARGE, NO_MEMORY. Linear in the bytes. */
MUST_USE enum rc codec_check(struct codec *, const struct schema *, const struct codec_opts *,
                             struct slice body, size_t before, struct arena *arena, struct err *err);

/* Is a datum of so many bytes within opts->limits.bytes? RECORD_TOO_LARGE. */
MUST_USE enum rc codec_check_bytes(const struct codec_opts *, uint64_t bytes, struct err *err);

/* Is a datum that has been made of data which were checked within opts->limits? As codec_check, but quick if it is. */
MUST_USE enum rc codec_check_limits(struct codec *, const struct schema *, const struct codec_opts *,
                                    struct slice avro, struct arena *arena, struct err *err);

/* Where in the record's Avro binary a top-level field's value stands: *out is borrowed from `avro`. BAD_AVRO,
 * TOO_DEEP. Looks only at what it must to find the end: texts are not checked, nor blocks that tell their
 * size. To replace a field: what is before, the new bytes, what is behind. Any thread. */
MUST_USE enum rc codec_field_span(const struct schema *, int field, struct slice avro, struct slice *out,
                                  struct err *err);

/* May the record have as many array items that take no bytes? Each field may, and all of them together not:
 * for who exchanges a field. TOO_MUCH_WORK; BAD_AVRO and TOO_DEEP as codec_field_span. Any thread. */
MUST_USE enum rc codec_check_items(const struct schema *, struct slice avro, struct err *err);

/* Append what the writer's datum is under the reader's schema, as Avro binary; from there every form of
 * output is made. `resolver` is of schema_resolver_new (schema.h).
 *   avro   a datum of the writer's, which was checked when it was stored: only what must be looked at to find
 *          the reader's values is checked again
 *   arena  where a problem is kept, on failure only
 * Fails with OTHER_VERSION (the reader cannot read this datum: one problem with the JSON Pointer into the
 * reader's record, without names of branches, and words that name both sides; also where with the reader's
 * defaults the record would exceed a limit), BAD_AVRO, TOO_DEEP, NO_MEMORY. On failure `out` is as it was.
 * Linear in the bytes read and written. Any thread: needs no scratch memory. */
struct resolver;
MUST_USE enum rc codec_resolve(const struct resolver *, struct slice avro, struct buf *out,
                               struct arena *arena, struct err *err);

/* The same, for who must not be held up or has not much memory: RECORD_TOO_LARGE if what comes of it is longer
 * than bytes_max. */
MUST_USE enum rc codec_resolve_within(const struct resolver *, size_t bytes_max, struct slice avro,
                                      struct buf *out, struct arena *arena, struct err *err);

/* A "bytes" or "string" datum's frame: writes the length prefix of `len` bytes at `out` (room for 10), how
 * many. */
size_t codec_put_length(uint64_t len, uint8_t *out);
/* The content of a raw ("bytes", "string") datum, borrowed from `avro`. BAD_AVRO. */
MUST_USE enum rc codec_raw_content(struct slice avro, struct slice *out, struct err *err);
/* The same of a datum of `total` bytes whose beginning is `avro` (at least 10 bytes, or all): how many bytes stand
 * before the content, which is all the rest. */
MUST_USE enum rc codec_raw_prefix(struct slice avro, uint64_t total, size_t *out, struct err *err);

#endif
