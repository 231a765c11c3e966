/* server/http/body.h - how the body of a connection's last request is taken in: kept whole and contiguous, or
 * read over. One worker. */
#ifndef SERVER_HTTP_BODY_H
#define SERVER_HTTP_BODY_H

#include "server/handler.h"
#include "server/http/chunked.h"
#include "server/http/http1.h"

struct conn;
struct edge_worker;

enum framing { FRAMING_NONE, FRAMING_LENGTH, FRAMING_CHUNKED };

/* Zero: no body is awaited. */
struct body {
    enum framing framing;
    bool discard;      /* read over: the request has been answered, and need not be there any more */
    bool continue_due; /* the client waits for 100 before it sends */
    uint64_t length;   /* LENGTH: of the whole; when discarding, what is left */
    size_t start;      /* where in conn->in it begins, unless the request has a block for it */
    size_t have;       /* CHUNKED, or in a block of its own: bytes that are there */
    uint64_t read;     /* off the wire, while discarding or chunked */
    uint64_t marked;   /* bytes since the deadline was set */
    struct chunked chunked;
};

/* Await the body of c->last, if it has one. */
void body_begin(struct conn *, const struct http1_info *);
/* It will be kept: find a place for it. NO_MEMORY. */
MUST_USE enum rc body_keep(struct conn *, struct err *);
/* Take what is there. RC_OK: whole, or read over to its end; no body is awaited any more. RC_PENDING: more is
 * to come. RC_ERR: BAD_REQUEST (the frame is broken), BODY_TOO_LARGE, NO_MEMORY. */
MUST_USE enum rc body_advance(struct conn *, struct err *);
/* The request is answered, its body is not wanted: false: too long to be read over, close instead. */
bool body_discard(struct conn *);

/* Before conn->in is given up or its bytes are moved: what of the body stands in it moves to a block of its
 * own. */
MUST_USE bool body_leave_block(struct conn *);
/* Where the next bytes may be read to directly, and how many; false: to conn->in, or memory is out (*oom). */
bool body_room(struct conn *, struct slice *room, bool *oom);
/* So many were. */
void body_received(struct conn *, size_t bytes);
/* A request's own block goes. */
void body_release(struct edge_worker *, struct request *);

#endif
