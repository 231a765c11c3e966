/* schema/explain.h - the second pass: why a text does not fit. Inside schema/ only. */
#ifndef SCHEMA_EXPLAIN_H
#define SCHEMA_EXPLAIN_H

#include "schema/encode.h"

/* Every problem of a text that encode_text called a misfit, as codec_from_json tells it. Always RC_ERR:
 * BAD_JSON, BAD_RECORD, TOO_DEEP, TOO_MUCH_WORK, NO_MEMORY, or INTERNAL if nothing is found. Texts in
 * `arena`. Leaves in the job's budget what is left of it. */
enum rc explain_text(struct codec *, struct encode_job *, struct slice json, struct arena *arena,
                     struct err *err);

#endif
