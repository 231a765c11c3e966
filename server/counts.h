/* server/counts.h - what a worker counts of its connections and requests: in memory of its own, so that nothing
 * is shared on the hot path. server/metrics.c adds the workers up. */
#ifndef SERVER_COUNTS_H
#define SERVER_COUNTS_H

#include "base/compiler.h"
#include "base/histogram.h"

struct server;

/* One for each row of metrics.def whose source is WORKERS(id). What begins stands before what ends, see metrics.c. */
enum count {
    COUNT_streams_begun,
#define WORKERS(id) COUNT_##id,
#define VALUE(...)
#define MILLISECONDS(...)
#define HISTOGRAM(...)
#define PRINTED(...)
#define METRIC(type, name, unit, labels, source, help) source
#include "server/metrics.def"
#undef METRIC
#undef PRINTED
#undef HISTOGRAM
#undef MILLISECONDS
#undef VALUE
#undef WORKERS
    COUNT_connections_closed,
    COUNT_tls_closed,
    COUNTS
};

/* Rows of server/http/status.def. */
enum status_index {
#define STATUS(code, reason) STATUS_INDEX_##code,
#include "server/http/status.def"
#undef STATUS
    STATUSES
};

enum { COUNTS_METHODS = 10 /* those of enum method, and "none" */, COUNTS_WAITING_MAX = 128 };

/* Requests of one route and method. */
struct route_counts {
    _Atomic uint64_t status[STATUSES];
    struct histogram duration_ns;
};

struct counts {
    struct counts *next; /* of another worker */
    void *memory;        /* that it stands in */
    _Atomic uint64_t plain[COUNTS];
    struct histogram streams_ns; /* of answers in pieces that came to their end */

    /* (the worker) Answered in this turn; how long they took is known at its end. Equal ones are one. */
    struct counts_waiting {
        uint32_t what; /* route and method << 16 | status */
        uint32_t n;
        int64_t begun_ns;
    } waiting[COUNTS_WAITING_MAX], *last; /* the last of them; waiting[0] is always empty */

    struct route_counts route[]; /* of counts_route: (routes + 1) * COUNTS_METHODS */
};

/* Make one more and add it to server->counts. NULL: memory is out. Before the workers start. */
MUST_USE struct counts *counts_new(struct server *);
/* All of a server's. */
void counts_free(struct server *);

static inline void count(struct counts *c, enum count what, uint64_t n)
{
    counter_add(&c->plain[what], n);
}

/* The worker's turn with a connection is over, and the answers of this turn are in the output: count them. Reads
 * the clock if there are any. */
void counts_settle_waiting(struct counts *);
static inline void counts_settle(struct counts *c)
{
    if (c->last != c->waiting)
        counts_settle_waiting(c);
}

/* A request was answered, by the route of this row (0: none) and method (enum method, or METHODS: it is not known);
 * it had come at `begun_ns`, of clock_mono_ns. Counted by the next counts_settle. */
static inline void counts_answered(struct counts *c, unsigned row, unsigned method, unsigned status,
                                   int64_t begun_ns)
{
    uint32_t what = (row * COUNTS_METHODS + method) << 16 | status;
    if (c->last->what == what && c->last->begun_ns == begun_ns) {
        c->last->n++;
        return;
    }
    if (unlikely(c->last == &c->waiting[COUNTS_WAITING_MAX - 1]))
        counts_settle_waiting(c);
    *++c->last = (struct counts_waiting){.what = what, .n = 1, .begun_ns = begun_ns};
}

#endif
