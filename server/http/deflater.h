/* server/http/deflater.h - gzip (RFC 1952) and deflate (RFC 1950), piece by piece: the home of zlib. One thread. */
#ifndef SERVER_HTTP_DEFLATER_H
#define SERVER_HTTP_DEFLATER_H

#include "base/buf.h"
#include "base/compiler.h"
#include "server/coding.h"

struct deflater; /* about 264 KiB */

/* For gzip or deflate; ready. NULL: memory is out. */
struct deflater *deflater_new(enum coding) MUST_USE;
void deflater_free(struct deflater *); /* NULL is fine */
/* Ready for the next body. */
void deflater_reset(struct deflater *);

enum deflater_then {
    DEFLATER_GOES_ON, /* it may be kept back until more comes */
    DEFLATER_FLUSH,   /* who has all that was put out can read all that was put in */
    DEFLATER_END      /* that was the last */
};
/* Append what comes of `in` to `out`. Nothing in, nothing to flush: nothing out. False: memory is out, and the body cannot
 * go on. */
MUST_USE bool deflater_put(struct deflater *, struct slice in, enum deflater_then, struct buf *out);

#endif
