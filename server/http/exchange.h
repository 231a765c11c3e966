/* server/http/exchange.h - the queue of a connection's requests: from a parsed head to the answer in the
 * output. What handlers call is answer(), in server/handler.h. One worker. */
#ifndef SERVER_HTTP_EXCHANGE_H
#define SERVER_HTTP_EXCHANGE_H

#include "base/err.h"

struct conn;

/* request.edge.flags */
enum {
    REQ_BEGUN = 1,       /* router_end is due */
    REQ_HANDLED = 2,     /* router_handle has been called, or its credentials are being looked at */
    REQ_ANSWERED = 4,    /* by its handler, or by us */
    REQ_SENT = 8,        /* its answer is in the output, or the head of a stream */
    REQ_KEEP_ALIVE = 16, /* an HTTP/1.0 client wants to read that in the answer */
    REQ_WAITS = 32,      /* its stream has nothing now; stream_resume is due */
    REQ_STREAMS = 64     /* its stream has begun, and is not at its end */
};

/* Begin and handle all requests that are there and whose turn it is; move answers to the output, in order. */
void exchange_advance(struct conn *);
/* The request that is being read will not become whole: answer it with *err and take no more from this
 * client. */
void exchange_give_up(struct conn *, const struct err *);
/* The connection is dead: end all requests but those that something is still at work for. */
void exchange_abandon(struct conn *);

#endif
