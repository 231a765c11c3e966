/* schema/edit.h - changes of a part of a record: by path (docs/paths.md), by JSON Merge Patch, by JSON Patch, of one
 * field. An edit is prepared once, from what the client sent, and then applied to whatever the record is when its
 * turn comes: a pure function from old bytes to new ones. Part of the front of this folder. */
#ifndef SCHEMA_EDIT_H
#define SCHEMA_EDIT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "schema/codec.h"

struct schema;

/* Prepared, immutable: any thread may apply it. In the arena that it was made in; borrows the schema, the options
 * and the texts. */
struct edit;

enum path_verb { PATH_UPDATE, PATH_INSERT, PATH_INSERTALL, PATH_DELETE, PATH_CLEAR };

/* path: docs/paths.md; json: empty for delete and clear. BAD_PATH (column, from 1, in bytes of the path), BAD_JSON,
 * BAD_RECORD as far as the value can be wrong whatever the record is, TOO_DEEP, NO_MEMORY. */
MUST_USE enum rc edit_of_path(struct edit **, const struct schema *, const struct codec_opts *,
                              enum path_verb, struct slice path, struct slice json, struct arena *,
                              struct err *);
/* RFC 7396. A null sets null where the type has null, else the default, else it is a problem. BAD_JSON, NO_MEMORY. */
MUST_USE enum rc edit_of_merge(struct edit **, const struct schema *, const struct codec_opts *,
                               struct slice json, struct arena *, struct err *);
/* RFC 6902, and {"op":"increment","path":"/n","by":1}. BAD_JSON, BAD_PATCH (no such document: err.operation), NO_MEMORY. */
MUST_USE enum rc edit_of_patch(struct edit **, const struct schema *, const struct codec_opts *,
                               struct slice json, struct arena *, struct err *);
/* One top-level field (schema_field's index) becomes these bytes, which are one datum of it. NO_MEMORY. */
MUST_USE enum rc edit_of_field(struct edit **, const struct schema *, const struct codec_opts *, int field,
                               struct slice avro, struct arena *, struct err *);

/* How long is what the client has sent: applying it takes that much longer. */
size_t edit_bytes(const struct edit *);

/* Append what the record becomes. All of it is data of the schema, within the limits of any record and, if it has changed, of
 * the options that the edit was made with; on the way there it may be beyond those.
 *   old      one datum of the schema, checked when it was stored
 *   brief    as in struct codec_opts: TOO_MUCH_WORK after about a millisecond
 *   changed  how many values were changed; 0: what is appended is `old`
 *   scratch  for values and problems; problems must be told before it is reset
 * Fails with BAD_RECORD (pointers into the record), NOT_APPLICABLE (an operation of a patch that cannot be applied to
 * this record), TEST_FAILED (a `test` of a patch; both with err.operation), TOO_DEEP, TOO_MANY_ITEMS, TOO_MUCH_WORK,
 * RECORD_TOO_LARGE, BAD_AVRO, NO_MEMORY. On failure `out` is as it was. */
MUST_USE enum rc edit_apply(const struct edit *, struct codec *, bool brief, struct slice old,
                            struct buf *out, uint64_t *changed, struct arena *scratch, struct err *);
/* The same, brief, where many edits have a budget together: besides what each may take for its bytes and the record's they
 * may take *work, in about nanoseconds, which is lowered by what this one has taken of it. */
MUST_USE enum rc edit_apply_shared(const struct edit *, struct codec *, int64_t *work, struct slice old,
                                   struct buf *out, uint64_t *changed, struct arena *scratch, struct err *);

/* ---- paths that only look ---- */

struct path;
/* BAD_PATH, NO_MEMORY. Immutable; as struct edit. */
MUST_USE enum rc path_parse(struct path **, const struct schema *, struct slice text, struct arena *,
                            struct err *);
/* Append the JSON array of the values found, in document order. TOO_MUCH_WORK, JSON_TOO_LARGE, BAD_AVRO, NO_MEMORY. */
MUST_USE enum rc path_select(const struct path *, enum json_form, bool brief, size_t bytes_max,
                             struct slice avro, struct buf *out, struct arena *scratch, struct err *);

#endif
