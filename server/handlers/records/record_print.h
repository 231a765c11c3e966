/* server/handlers/records/record_print.h - a record, or a field of one, in the form in which it leaves: made by the
 * worker while that is quick, else by a helper. */
#ifndef SERVER_HANDLERS_RECORD_PRINT_H
#define SERVER_HANDLERS_RECORD_PRINT_H

#include "schema/encoding.h"
#include "server/handler.h"
#include "server/handlers/records/long_text.h"
#include "server/reading.h"

struct record_form {
    const struct schema *schema; /* the reader's */
    struct reading reading;
    int field;                           /* of schema_field; -1: the whole */
    const struct projection *projection; /* of the whole, as JSON; NULL: all fields */
    const struct path *path;             /* what it finds, as JSON; NULL: all */
    enum json_form json;
    const struct framing *framing; /* NULL: JSON; else Avro binary behind this, of the whole */
};
/* Write what stands before the datum in such a form at `out`; how many bytes. */
size_t record_frame(const struct record_form *, uint8_t out[FRAME_BYTES_MAX]);

/* Append it to `out`, on the worker. RC_AGAIN: that would take long, and `out` is as it was: have a helper do
 * it. RC_NOTFOUND: its chunks are gone. RC_ERR: OTHER_VERSION (its problem in the arena), BAD_AVRO, TOO_DEEP,
 * TOO_MUCH_WORK, NO_MEMORY, IO. Reads chunks, which ends what the record borrows. */
MUST_USE enum rc record_print_here(struct worker *, const struct record_form *, const struct record *,
                                   struct buf *out, struct arena *, struct err *);

/* One that a helper prints, in the request's arena. Who asks fills in the first part. */
struct record_text {
    struct request *req;
    struct record_form form;
    struct record rec;     /* a body that is not in chunks must live until done; or blob and body_bytes */
    struct long_text text; /* what stands before it, then the record too ... */
    struct slice behind;   /* ... and this */
    struct arena *arena;   /* where a problem is kept */
    void (*done)(struct record_text *);

    /* Set before done. RC_NOTFOUND: the chunks are gone. RC_ERR: as above, and JSON_TOO_LARGE, and NO_MEMORY
     * when waiting answers have no room for it. */
    enum rc rc;
    struct err err;

    struct job job; /* this file's own */
};

/* RC_PENDING: done runs later, on this worker. RC_ERR: HELPERS_BUSY. Release it in both cases. */
MUST_USE enum rc record_print(struct record_text *, struct err *);
/* The same, however many wait. */
void record_print_always(struct record_text *);
/* What stream.more does with the text: append the next part of it. RC_PENDING: there is more; RC_OK: that was
 * all. */
MUST_USE enum rc record_text_more(struct record_text *, struct buf *out, size_t room);
void record_text_release(struct record_text *);

/* Answer with the text, as it is: req->state is the record_text, the status and the Content-Type are set. */
void record_text_answer(struct record_text *);

#endif
