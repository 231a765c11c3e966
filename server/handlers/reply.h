/* server/handlers/reply.h - what several handlers do with an answer or a write. */
#ifndef SERVER_HANDLERS_REPLY_H
#define SERVER_HANDLERS_REPLY_H

#include "server/conditions.h"
#include "server/handler.h"

/* 200 `OK`. */
void reply_ok(struct request *);
void reply_no_memory(struct request *);
/* 404 for the request's type. */
void reply_no_type(struct request *);
/* The error of a read that another Accept or Accept-Schema-Version may not have met: it says so to caches, in Vary. */
void reply_read_refused(struct request *, const struct err *);
/* Call `again` with the request's job on this worker, a moment later: what is committed must be seen by all
 * before it is answered, and memory was out. */
void reply_later(struct request *, void (*again)(struct job *));
/* What If-Match and If-None-Match ask of a read that would show something with this tag, compressed or not. Of
 * READ_NOT_MODIFIED the response gets the coding of what the client has. BAD_REQUEST. */
MUST_USE enum rc reply_condition(struct request *, uint64_t revision, uint32_t version, struct slice suffix,
                                 enum read_verdict *, struct err *);
MUST_USE bool reply_header_u64(struct request *, const char *name, uint64_t value);
/* A Schema-Warning for each warning of a schema that is taken. */
MUST_USE bool reply_warnings(struct request *, const struct schema *);

enum { SCRATCH_KEEP_BYTES = 262144 };
/* Done with worker->scratch: empty, and not larger than most answers need. */
static inline void reply_scratch_done(struct worker *w)
{
    w->scratch.len = 0;
    if (unlikely(w->scratch.cap > SCRATCH_KEEP_BYTES))
        buf_reset(&w->scratch, SCRATCH_KEEP_BYTES);
}

/* Set all of a write that storage looks at, but for its key and what its kind needs:
 * no condition, no body. */
void reply_write_init(struct store_write *, int kind, void (*done)(struct store_write *));

#endif
