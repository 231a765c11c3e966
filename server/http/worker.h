/* server/http/worker.h - a worker: one thread, one event base, its listener and its connections. */
#ifndef SERVER_HTTP_WORKER_H
#define SERVER_HTTP_WORKER_H

#include <event2/event_struct.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/limits.h"
#include "server/handler.h"
#include "server/helpers.h"
#include "server/http/access_log.h"
#include "server/http/coded.h"
#include "server/http/cors.h"
#include "server/http/date.h"
#include "server/http/edge.h"
#include "server/http/head_cache.h"
#include "server/http/http1.h"
#include "server/http/input.h"
#include "server/http/listen.h"

/* What a connection waits for; each has a list in order of deadline. */
enum phase { PHASE_IDLE, PHASE_HEAD, PHASE_BODY, PHASE_WRITE, PHASE_LINGER, PHASE_HANDLER, PHASES };

enum { WORKER_TICK_MS = 250 }; /* deadlines are looked at so often */

/* What the command line says, at hand. */
struct edge_limits {
    struct http1_limits http1;
    uint32_t deadline_ms[PHASES];
    uint64_t bodies_budget, answers_budget; /* bytes */
};

struct conn_list {
    struct conn *first, *last;
};

/* OUTPUT_POOL_MAX: as many answers are made before the first is sent. */
enum {
    OUTPUT_POOL_MAX = LIMIT_GETS_A_RUN,
    OUTPUT_KEEP_BYTES = 81920,
    REQUEST_POOL_MAX = 2048,
    SINK_BYTES = 65536
};

struct listener {
    struct edge_worker *worker;
    struct event event;
    int fd;
    bool loopback, secure; /* see struct listening */
};

struct edge_worker {
    struct worker worker; /* what handlers see */
    struct edge *edge;
    struct edge_limits limits;
    struct event_base *base;
    pthread_t thread;
    bool started;

    struct listener listeners[LIMIT_LISTENERS_MAX];
    unsigned nlisteners; /* 0: closed */
    bool accepting;
    int64_t warned_ms; /* when it was last said that connections wait */
    struct event tick_event, store_event, wake_event;

    struct conn_list phases[PHASES];
    struct conn *ready_first, *ready_last; /* to be turned at the end of this turn */
    struct conn *paused, *paused_last;     /* readable, and not read until the store is less busy */
    unsigned pieces;                       /* of streams, made in this turn */
    unsigned conns;                        /* closed ones with requests in flight too */
    int64_t now_ms;                        /* monotonic, as of the last tick */
    struct date date;
    bool draining;

    struct head_cache heads;
    struct input_pool inputs;
    struct buf outputs[OUTPUT_POOL_MAX];
    unsigned noutputs;
    uint64_t next_number;     /* of a request */
    struct request *requests; /* free ones */
    unsigned nrequests;
    struct conn *free_conns;
    struct buf problem; /* where answer_err prints */
    struct coded_pool coded;
    struct access_lines access;
    uint8_t *sink;   /* where bytes go that nobody wants */
    uint8_t *record; /* where what is lent in pieces becomes a record of TLS; NULL: there is none */

    int wake; /* an eventfd, watched edge-triggered, never read: jobs are done, or the edge drains or stops */
    _Atomic(struct job *) jobs_done;
};

struct tls_context;

struct edge {
    struct server *server;
    struct helpers *helpers;
    struct edge_worker *workers;
    unsigned nworkers;
    struct cors cors;
    struct tls_context *tls; /* NULL: it is off */
    struct listeners listeners;
    char listening[LISTENERS_TEXT_BYTES];
    unsigned connections_max;
    _Atomic unsigned connections;
    struct address_counts
        *addresses; /* of the connections; NULL: there is no file of --access, which could bound them */
    _Atomic uint64_t body_bytes;    /* of bodies that have blocks of their own */
    _Atomic uint64_t answer_bytes;  /* of answers that wait for slow clients */
    _Atomic unsigned coded_streams; /* answers that are compressed as they leave */
    _Atomic bool much_freed;        /* more than pools take, since the last edge_trim */
    _Atomic bool draining, stopping;
    pthread_mutex_t lock;
    pthread_cond_t ended; /* a worker's thread is at its end */
    unsigned running;     /* workers' threads, under the lock */
};

static inline struct edge_worker *edge_worker_of(struct worker *w)
{
    return CONTAINER_OF(w, struct edge_worker, worker);
}

/* Too much waits for slow clients. What little goes to others goes on, or a few would shut out all. */
static inline bool answers_are_many(const struct edge_worker *w)
{
    return atomic_load_explicit(&w->edge->answer_bytes, memory_order_relaxed) > w->limits.answers_budget;
}

/* Something was freed that no pool keeps: edge_trim is worth its while. */
static inline void edge_note_freed(struct edge *e)
{
    if (!atomic_load_explicit(&e->much_freed, memory_order_relaxed))
        atomic_store_explicit(&e->much_freed, true, memory_order_relaxed);
}

/* In worker.c. All but worker_wake on the worker's own thread, or before it starts. */
MUST_USE enum rc worker_init(struct edge_worker *, struct edge *, unsigned index, struct err *);
/* Also what worker_init has left half done. */
void worker_release(struct edge_worker *);
void *worker_main(void *edge_worker);
void worker_wake(struct edge_worker *);

/* Have the connection turned at the end of this turn. */
void worker_enqueue(struct edge_worker *, struct conn *);
/* At the end of a connection's event, while no connection is turned: gets do not pile up, each with the block that its
 * head came in, where thousands of connections are ready at once. The connection may be gone afterwards. */
void worker_event_end(struct edge_worker *);
/* Is the store too busy for another request, or does a connection wait for it already? Each has its turn. */
bool worker_must_wait(const struct edge_worker *);
/* Have it turned once the store is less busy, behind those that wait already. */
void worker_pause(struct edge_worker *, struct conn *);

#endif
