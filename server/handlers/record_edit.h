/* server/handlers/record_edit.h - changing a part of a stored record: the way of an edit (schema/edit.h) to the record
 * and back. On the writer if that is quick, else by a helper (docs/decisions/0013). */
#ifndef SERVER_HANDLERS_RECORD_EDIT_H
#define SERVER_HANDLERS_RECORD_EDIT_H

#include "schema/edit.h"
#include "server/handlers/record.h"

/* What req->state points to, in the arena; handlers may have it as the first member of more. */
struct record_edit {
    struct record_input
        input; /* condition and dry_run are record_edit_begin's; the handler may set the encoding */
    /* Make the edit from the body, for the latest version of req->type. Runs on the worker, or, if the body is longer than
     * LIMIT_BODY_INLINE_MAX, on a helper; once more if the type has got a new version meanwhile. Opts: the type's, with
     * the form of the body. All in `arena`. */
    enum rc (*prepare)(struct request *, const struct schema *, const struct codec_opts *, struct arena *,
                       struct edit **, struct err *);
    bool creates;     /* an absent record is made from the initial one */
    uint64_t changed; /* of edit_apply, when it has succeeded */
    /* record_edit.c's own */
    struct edit *edit;
    unsigned losses;
};

/* Look at what can be refused before the body is there: Content-Range, conditions, dry_run. False: it is answered. */
bool record_edit_begin(struct request *, struct record_edit *);
/* The body is there: load the schema, prepare, apply, store, answer: 200 `OK` (201 if it created) with the ETag and
 * the header `Changed`; or 404, 409, 412 with `current`, 422. If nothing changes nothing is written, and the tag is the
 * record's as it was. */
void record_edit_handle(struct request *);

#endif
