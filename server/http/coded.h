/* server/http/coded.h - answers that are compressed as they leave, for who asks (Accept-Encoding): a short body at once, all
 * else piece by piece, as the client takes it. One worker. */
#ifndef SERVER_HTTP_CODED_H
#define SERVER_HTTP_CODED_H

#include "server/coding.h"
#include "server/handler.h"

struct edge_worker;
struct deflater;

enum { CODED_IDLE_MAX = 4, CODED_WISH_BYTES = 80 };

/* What a worker keeps for it. Zero-initialised is empty. */
struct coded_pool {
    struct deflater *idle[CODINGS][CODED_IDLE_MAX];
    unsigned nidle[CODINGS];
    struct buf plain; /* a piece before ... */
    struct buf body;  /* ... and a short body behind it, until the next one */
    /* The Accept-Encoding before: clients say the same again and again. */
    struct coding_wish wish;
    uint8_t wish_bytes;
    uint8_t wish_text[CODED_WISH_BYTES];
};
void coded_pool_release(struct coded_pool *);

/* Note what the request asks for, of one that has an Accept-Encoding. NOT_ACCEPTABLE: nothing that there is. */
MUST_USE enum rc coded_ask(struct request *, struct err *);

/* The answer is complete, and the request asks for a coding: if it pays, the body is made that, or will be as it leaves.
 * Where memory is out it stays as it is. */
void coded_begin(struct request *);

/* What stream.more does, of an answer that is coded as it leaves. */
MUST_USE enum rc coded_more(struct request *, struct buf *out, size_t room);
/* Give back what that took. */
void coded_end(struct request *);

#endif
