/* server/http/respond.h - responses to bytes. The short forms that handlers use are in server/handler.h. */
#ifndef SERVER_HTTP_RESPOND_H
#define SERVER_HTTP_RESPOND_H

#include "base/buf.h"
#include "server/handler.h"

struct date;

enum connection_says { SAYS_NOTHING, SAYS_KEEP_ALIVE, SAYS_CLOSE };

/* Append the head and, but for HEAD and statuses without one, the body of req->response. Pure. False: memory
 * is out, *out is as it was. */
MUST_USE bool respond_render(struct buf *out, const struct request *req, const struct date *,
                             enum connection_says);

/* Make it the one answer that needs no memory: 503. */
void respond_no_memory(struct request *req);

#endif
