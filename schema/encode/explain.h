/* schema/encode/explain.h - the second pass: why a text does not fit. Inside schema/ only. */
#ifndef SCHEMA_EXPLAIN_H
#define SCHEMA_EXPLAIN_H

#include "schema/encode/encode.h"

/* Every problem of a text that encode_text called a misfit, or beyond the type's limits (job->excess says where), as
 * codec_from_json tells it. Always RC_ERR: BAD_JSON, BAD_RECORD, TOO_DEEP, TOO_MANY_ITEMS, TOO_MUCH_WORK, NO_MEMORY, or
 * INTERNAL if nothing is found. Texts in `arena`. Leaves in the job's budget what is left of it. */
enum rc explain_text(struct codec *, struct encode_job *, struct slice json, struct arena *arena,
                     struct err *err);

/* codec.c: both passes, as codec_from_json tells it; leaves in the job's budget what is left of it. */
MUST_USE enum rc encode_or_explain(struct codec *, struct encode_job *, struct slice json, struct buf *out,
                                   struct arena *arena, struct err *err);
/* codec.c: the job of a value by itself: no depth yet, and no budget. */
struct encode_job encode_job_of(const struct program *, uint32_t op, const struct codec_opts *);

#endif
