/* server/timing.h - `?timing=1`: how long the stages of a request took, told in Server-Timing (W3C Server Timing). A
 * stopwatch: whoever ends a stage says which one it was. All on the request's worker; a request that did not
 * ask has req->timing NULL and reads no clock. */
#ifndef SERVER_TIMING_H
#define SERVER_TIMING_H

#include "server/handler.h"

enum stage {
#define STAGE(name, what) STAGE_##name,
#include "server/stages.def"
#undef STAGE
    STAGES
};

/* In the request's arena. */
struct timing {
    int64_t mark_ns; /* where the stage at hand began */
    uint64_t ns[STAGES];
    unsigned ran; /* bits 1 << STAGE_x */
};

/* Does the request ask for it? Its parameters are parsed; the stage parse has begun with the request. Fails with
 * BAD_PARAMETER, NO_MEMORY. */
MUST_USE enum rc timing_begin(struct request *, struct err *);

void timing_mark_now(struct timing *);
void timing_lap_now(struct timing *, enum stage);
void timing_lap_write_now(struct timing *, const struct store_write *);
void timing_show_now(struct request *);

/* A stage begins: what was before it is none's. */
static inline void timing_mark(struct request *req)
{
    if (unlikely(req->timing != NULL))
        timing_mark_now(req->timing);
}

/* This stage has ended, and the next begins. A stage may come again: its times are added. */
static inline void timing_lap(struct request *req, enum stage stage)
{
    if (unlikely(req->timing != NULL))
        timing_lap_now(req->timing, stage);
}

/* A write is over: the commit of its group, and the rest of the time since it was queued. */
static inline void timing_lap_write(struct request *req, const struct store_write *write)
{
    if (unlikely(req->timing != NULL))
        timing_lap_write_now(req->timing, write);
}

/* It is about to be answered: add the header. */
static inline void timing_show(struct request *req)
{
    if (unlikely(req->timing != NULL))
        timing_show_now(req);
}

#endif
