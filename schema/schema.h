/* schema/schema.h - the front of this folder: Avro schemas and the codec they drive. Pure: no sockets, no
 * keys, no logging, no locks.
 *
 *   text -> schema_parse -> struct schema (model and compiled program) -> codec_* (schema/codec.h)
 *   two schemas -> schema_resolver_new -> struct resolver -> codec_resolve (schema/codec.h)
 *   a new schema and those before it -> compat_check (schema/compat.h)
 *
 * Source: the Avro 1.12 specification; where it is silent, docs/policies.md. */
#ifndef SCHEMA_SCHEMA_H
#define SCHEMA_SCHEMA_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "schema/codec.h"
#include "schema/compat.h"
#include "schema/projection.h"

/* A checked and compiled schema. Immutable once parsed (what a form of JSON needs is made when it is first asked for,
 * and published at once): any number of threads may use one at the same time.
 * All slices that the functions below return are borrowed until schema_free. */
struct schema;

/* Parse, check every rule, compile.
 *   text      borrowed for the call
 *   fullname  empty, or which entry of a top-level union (JSON array) is meant
 *   arena     where problems are kept
 * Fails with BAD_JSON (line, column; a duplicate name also as a problem with its pointer), BAD_SCHEMA (every
 * fault as a problem with the JSON Pointer into `text`), TOO_DEEP, TOO_MUCH_WORK (of its defaults),
 * BODY_TOO_LARGE (text beyond 1 MiB), NO_MEMORY. Takes time: up to some milliseconds for a large text. */
MUST_USE enum rc schema_parse(struct schema **out, struct slice text, struct slice fullname,
                              struct arena *arena, struct err *err);
/* The same for a text that uses types by name which other texts define.
 *   known   n schemas, each of which may use those before it; what they define may be used as if it stood before
 *           `text`. Borrowed for the call. A fault in one is told below the pointer /references/{its index}
 * schema_text is then a text of its own, with all types that are used. */
MUST_USE enum rc schema_parse_known(struct schema **out, struct slice text, const struct slice *known,
                                    size_t n, struct arena *arena, struct err *err);
void schema_free(struct schema *);

/* The text to store and to give back: the one that was parsed, or with `fullname` the picked entry as a text
 * of its own with the types it uses. */
struct slice schema_text(const struct schema *);

/* The normal form of docs/policies.md, "The same schema": full names, members sorted, primitives in short
 * form; doc, aliases, defaults, order, logical types and other attributes kept. Equal texts: the same
 * schema. */
struct slice schema_normal_form(const struct schema *);

/* Append the Parsing Canonical Form (Avro 1.12, "Transforming into Parsing Canonical Form"): what of the
 * schema matters to who reads its data. doc, aliases, defaults, order and logical types are no part of it.
 * Linear. False: memory is out. */
MUST_USE bool schema_canonical(const struct schema *, struct buf *out);
/* CRC-64-AVRO of that form, as a number: what stands, least byte first, in the single-object encoding. */
uint64_t schema_fingerprint(const struct schema *);

/* What was accepted but deserves a word (an ignored logical type, a default for a later branch): one sentence
 * each, ASCII without control characters, fit for a header. */
size_t schema_warnings(const struct schema *);
struct slice schema_warning(const struct schema *, size_t i);

/* Exactly "bytes" or "string" without logical type: bodies of such types are kept as they are. */
enum schema_raw { SCHEMA_RAW_NONE, SCHEMA_RAW_BYTES, SCHEMA_RAW_STRING };
enum schema_raw schema_raw(const struct schema *);

/* The Avro binary of the initial record: every field its default, else the zero of its type. */
struct slice schema_initial(const struct schema *);

/* The index of a top-level record field by its name (not an alias), or -1 (also when the schema is
 * no record). */
int schema_field(const struct schema *, struct slice name);

/* What reads data of one schema with another (codec_resolve in codec.h). Made once for a pair; immutable:
 * any number of threads. Both schemas must outlive it. TOO_MUCH_WORK (the schemas have too many types that
 * could be read as each other), NO_MEMORY. Never fails because the schemas do not fit: what cannot be read
 * is found when it is met, since an empty array of it can. Source: Avro 1.12 specification, "Schema
 * Resolution"; where it is silent, docs/policies.md, "Reading with another schema". */
MUST_USE enum rc schema_resolver_new(struct resolver **out, const struct schema *writer,
                                     const struct schema *reader, struct err *err);
void schema_resolver_free(struct resolver *);
/* Every datum is under the reader's schema the bytes that it is: no need to call codec_resolve. */
bool schema_resolver_is_copy(const struct resolver *);
/* Every datum can be read (as compat_check says of these two), but for bytes that are no UTF-8 read as a
 * string, and records that with the reader's defaults exceed a limit. */
bool schema_resolver_reads_all(const struct resolver *);
/* Some datum might be read; false: none can. */
bool schema_resolver_reads_any(const struct resolver *);
/* As text, for people and tests. */
MUST_USE bool schema_print_resolver(const struct resolver *, struct buf *out);

/* The compiled program as text, one instruction a line, for people and golden tests. */
MUST_USE bool schema_print_program(const struct schema *, struct buf *out);

#endif
