/* server/handlers/idem/idem.h - the header field Idempotency-Key: a write that is sent again, since its answer was lost, is done once. What
 * was done is storage's to remember (struct store_idem); here it gets its names, and is answered once more.
 * Source: draft-ietf-httpapi-idempotency-key-header-07.
 *
 *   idem_attach -> the write (its note: idem_note.c) -> done: replayed -> idem_answer
 *   a refusal of a request with a key -> idem_look.c: was it done before? -> idem_answer, or the refusal */
#ifndef SERVER_HANDLERS_IDEM_H
#define SERVER_HANDLERS_IDEM_H

#include "server/handler.h"

static inline bool idem_asked(const struct request *req)
{
    return unlikely(req->headers & 1u << HEADER_IDEMPOTENCY_KEY);
}

/* ---- before the write: idem.c ---- */

/* What the answer to a write of records says, besides `OK` and the tag. */
enum idem_tells {
    IDEM_TELLS_TAG,
    IDEM_TELLS_CREATED, /* 201 and Location, if it made the record */
    IDEM_TELLS_CHANGED, /* how many values, which idem_note_changed says */
    IDEM_TELLS_DELETED  /* how many records: the outcome's count */
};

/* Give the request's key, if it has one, to its write, which is set up but for that; the last thing before store_write. The note is
 * what the answer tells, if there is a type. Fails with BAD_REQUEST (the key is empty or too long), NO_MEMORY. */
MUST_USE enum rc idem_attach_key(struct request *, struct store_write *, enum idem_tells, struct err *);
MUST_USE static inline enum rc idem_attach(struct request *req, struct store_write *w, enum idem_tells tells,
                                           struct err *err)
{
    return idem_asked(req) ? idem_attach_key(req, w, tells, err) : RC_OK;
}

/* ---- notes: idem_note.c ---- */

/* How a note begins. A transaction's is its text, or bits that only it can read (txn_answer.c). */
enum { IDEM_NOTE_RECORD = 1, IDEM_NOTE_WHOLE, IDEM_NOTE_BITS, IDEM_NOTE_JSON = '{' };

/* The note of a write of records; NO_MEMORY. */
MUST_USE enum rc idem_note_record(struct request *, struct store_idem *, enum idem_tells, struct err *);
/* How many values it has changed. Any thread. */
void idem_note_changed(struct store_idem *, uint64_t changed);

/* An answer 200 as a whole: its tag (revision 0: none), further lines of its head, and its body, which are copied to the request's
 * arena. Of what is too long for a note, see docs/http-api.md. Any thread that has the request; NO_MEMORY. */
struct idem_whole {
    uint64_t revision;
    uint32_t version;
    struct slice lines, body;
};
MUST_USE enum rc idem_note_whole(struct request *, struct store_idem *, const struct idem_whole *,
                                 struct err *);

/* Append the lines of reply_warnings. False: memory is out. */
MUST_USE bool idem_warnings(const struct schema *, struct buf *lines);

/* Answer what the first was answered, from what is remembered of it; nothing of the request is looked at that could be
 * otherwise now. A note that only its handler can read is not for it. */
void idem_answer(struct request *, const struct store_write *replayed);
/* The same, of a write that changes which types there are or what they are: the first may have been committed, and not be seen by all
 * yet. First the catalog takes the type from the store, as it is now. req->write may be the request's next operation. */
void idem_answer_once_visible(struct request *, const struct store_write *replayed);
/* Add `Idempotency-Replayed: true` to the response. False: memory is out. */
MUST_USE bool idem_tell_replayed(struct request *);

/* ---- refusals: idem_look.c ---- */

/* What becomes of a refusal (request.look): whoever has done a request does not hear that it cannot be done. */
enum idem_look_state {
    LOOK_NEVER,       /* it is answered */
    LOOK_BEHIND_BODY, /* it is kept until the body is there, by which a repeat is known */
    LOOK_NOW,
    LOOK_KEPT, /* ... and is not answered yet */
    LOOK_DONE
};

/* The response is the answer to *err: is it kept back? Then idem_look answers, at once, or when it is called. */
bool idem_keep(struct request *, const struct err *);
/* Its refusal was kept, and its body is there. */
void idem_look(struct request *);
/* Before a refusal that answer_err does not make: true: it is looked whether the request was done before, and `next` is called if
 * not. Its operation is free. */
bool idem_look_first(struct request *, void (*next)(struct request *));

#endif
