/* server/handlers/record.h - what reading and writing records have in common. */
#ifndef SERVER_HANDLERS_RECORD_H
#define SERVER_HANDLERS_RECORD_H

#include "server/catalog.h"
#include "server/conditions.h"
#include "server/handler.h"

/* ---- record_show.c ---- */

/* What of a record is to be answered, and by what right. */
struct shown {
    const struct type_version *version; /* whose schema is compiled */
    const struct record *rec;           /* borrowed for the call; revision 0: none is told */
    bool lasts;                         /* its body lives as long as the request */
    void (*again)(struct request *);    /* read the record once more: its chunks went while it waited */
};

/* 200 with the record, or the field req->field of it, in the form that Accept asks for; or 206, 304, 404 (no such
 * field), 406, 412, 416. A long one is printed by a helper and sent in pieces. Uses req->state. */
void record_show(struct request *, const struct shown *);
/* The same with the initial record of the latest version, whose schema must be compiled; without a tag. */
void record_show_initial(struct request *);
/* The version that a stored record is to be shown in, in a type as new as it needs (req->type may change).
 * NULL: it is answered (500, 503). */
const struct type_version *record_version(struct request *, const struct record *);
/* 404. */
void record_absent(struct request *);
/* 500, logged: what the store holds is not what was put there. */
COLD void record_damaged(struct request *, const char *what);
/* Is it the record's fault that it cannot be printed, and not the moment's? */
bool record_is_damage(const struct err *);

/* 200 or 206 with the content of a raw type as it is, or 416. content_type: in the arena, or static. One in chunks
 * is sent from them, in pieces. Uses req->state. */
void record_show_raw(struct request *, const struct shown *, const char *content_type);

/* ---- record_join.c ---- */

/* Append the body of a record that is in chunks. Only blob and body_bytes are looked at; what the record borrows
 * from this worker's snapshot may be dead afterwards. RC_NOTFOUND: chunks are missing. IO, NO_MEMORY. */
MUST_USE enum rc record_join(struct store_worker *, const struct record *, struct buf *joined, struct err *);

/* ---- record_body.c ---- */

/* Is the body of this request one that the schema takes, by Content-Type and Content-Encoding? */
MUST_USE enum rc record_negotiate(const struct request *, const struct schema *, struct err *);
/* Check and encode the body: of a whole record, or of one field (its index; -1: none). Then go on with `then`,
 * which gets the Avro binary, borrowed for the call; of raw types the length prefix alone, the rest is
 * req->body. At once, or, where that would take too long, after a helper has done it. On failure it answers,
 * and `then` does not run. Uses the request's operation and leaves req->state alone. */
void record_encode(struct request *, const struct schema *, int field,
                   void (*then)(struct request *, struct slice avro));

/* ---- record_conflict.c ---- */

/* 412 with the record as it is now in `current`. */
void record_conflict(struct request *);

#endif
