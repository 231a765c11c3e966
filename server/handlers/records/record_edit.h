/* server/handlers/records/record_edit.h - changing a part of a stored record: the way of an edit (schema/edit.h) to the record
 * and back. On the writer if that is quick, else by a helper (docs/decisions/0013).
 *
 *   record_edit_begin -> record_edit_handle -> prepare -> record_edit_go: the writer applies it -> the answer
 *                                                      `-> too long: read, a helper applies it, put if unchanged -> the answer */
#ifndef SERVER_HANDLERS_RECORD_EDIT_H
#define SERVER_HANDLERS_RECORD_EDIT_H

#include "schema/edit.h"
#include "server/handlers/records/record.h"

struct edit_help;

/* What req->state points to, in the arena, zeroed; handlers may have it as the first member of more. */
struct record_edit {
    struct record_input
        input; /* condition and dry_run are record_edit_begin's; the handler may set the encoding */
    /* Make the edit from the body, for the latest version of req->type. Runs on the worker, or, if the body is longer than
     * LIMIT_BODY_INLINE_MAX or opts->brief is not enough for it (TOO_MUCH_WORK), on a helper; once more if the type has got
     * a new version meanwhile. Opts: the type's, with the form of the body. All in `arena`. */
    enum rc (*prepare)(struct request *, const struct schema *, const struct codec_opts *, struct arena *,
                       struct edit **, struct err *);
    void (*again)(struct request *); /* begin anew, for a newer version; NULL: record_edit_handle */
    bool creates;                    /* an absent record is made from the initial one */
    uint64_t changed;                /* of edit_apply, when it has succeeded */
    struct edit *edit;               /* for who makes it himself and calls record_edit_go */
    /* record_edit*.c's own: of the last time that it was applied ... */
    bool absent;        /* there is no record */
    bool damaged;       /* or one that is not Avro of its schema */
    uint32_t other_id;  /* or one of another schema, which must be at hand to read it; else 0 */
    int64_t expires_ms; /* of the record, as it leaves it */
    /* ... and of the way as a whole. */
    bool unbounded;  /* the writer is to do it, however long it takes */
    bool in_hand;    /* it is read, and not the writer's */
    unsigned losses; /* of a helper's, to other writes */
    struct codec_opts opts;
    struct edit_help *help;
};

/* Look at what can be refused before the body is there: Content-Range, conditions, dry_run. False: it is answered. */
bool record_edit_begin(struct request *, struct record_edit *);
/* The body is there: load the schema, see that Schema-Version (if it is sent) is the latest, prepare, apply, store, answer:
 * 200 `OK` with the ETag and the header `Changed`; or 404, 409, 412 with `current`, 422. If nothing changes nothing is
 * written, and the tag is the record's as it was. Nothing of this connection overtakes it. */
void record_edit_handle(struct request *);
/* The same from where edit is there: of the latest version of req->type, whose schema is compiled. */
void record_edit_go(struct request *);

#endif
