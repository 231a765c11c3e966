/* server/http/respond.h - responses to bytes. The short forms that handlers use are in server/handler.h. */
#ifndef SERVER_HTTP_RESPOND_H
#define SERVER_HTTP_RESPOND_H

#include "base/buf.h"
#include "base/err.h"
#include "server/handler.h"

struct date;

enum connection_says { SAYS_NOTHING, SAYS_KEEP_ALIVE, SAYS_CLOSE };

/* Append the head and, but for HEAD, statuses without one and streams, the body of req->response. Pure. False:
 * memory is out, *out is as it was. */
MUST_USE bool respond_render(struct buf *out, const struct request *req, const struct date *,
                             enum connection_says);

/* How many bytes of a body the answer has, of a stream so far. */
uint64_t respond_body_bytes(const struct request *);
/* May an answer of this status have a body? */
bool respond_status_has_body(unsigned status);
/* Does a body follow the head: neither HEAD nor a status without one? */
bool respond_sends_body(const struct request *);
/* In chunks (RFC 9112, 7.1)? */
bool respond_is_chunked(const struct request *);

/* Append an answer to a client that has not asked yet: come again later. `number` is for X-Request-Id. False: memory is out, *out is as it
 * was. */
MUST_USE bool respond_unasked(struct buf *out, const struct err *, uint64_t number, const struct date *);

/* Make it the one answer that needs no memory: 503. */
void respond_no_memory(struct request *req);

#endif
