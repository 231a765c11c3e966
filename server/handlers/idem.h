/* server/handlers/idem.h - the header field Idempotency-Key: a write that is sent again, since its answer was lost, is done once. What
 * was done is storage's to remember (struct store_idem); here it gets its names.
 * Source: draft-ietf-httpapi-idempotency-key-header-07. */
#ifndef SERVER_HANDLERS_IDEM_H
#define SERVER_HANDLERS_IDEM_H

#include "server/handler.h"

static inline bool idem_asked(const struct request *req)
{
    return unlikely(req->headers & 1u << HEADER_IDEMPOTENCY_KEY);
}

/* Give the request's key, if it has one, to its write, which is set up but for that; the last thing before store_write. The note is the
 * type's version now, if there is a type: see idem_version. Room for idem_tell is reserved. Fails with BAD_REQUEST (the key is empty
 * or too long), NO_MEMORY. */
MUST_USE enum rc idem_attach_key(struct request *, struct store_write *, struct err *);
MUST_USE static inline enum rc idem_attach(struct request *req, struct store_write *w, struct err *err)
{
    return idem_asked(req) ? idem_attach_key(req, w, err) : RC_OK;
}

/* The version for the tag of the answer: as it was when the write was done first. */
uint32_t idem_version(const struct request *, const struct store_write *);

/* Add `Idempotency-Replayed: true` to the response, if the write has been done before. */
#define IDEM_REPLAYED_LINE "Idempotency-Replayed: true\r\n"
void idem_tell_replayed(struct request *);
static inline void idem_tell(struct request *req, const struct store_write *w)
{
    if (unlikely(w->replayed))
        idem_tell_replayed(req);
}

#endif
