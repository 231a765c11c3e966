/* server/http/worker.c - a worker's loop: events, then the gets that they have brought, then the connections that were
 * left ready, then the turn's end. */
#include "server/http/worker.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/thread.h"
#include "server/counts.h"
#include "server/http/accept.h"
#include "server/http/conn.h"
#include "server/http/request_id.h"
#include "server/http/stream.h"
#include "server/http/tls_conn.h"

/* After the connections were closed by force, for what is still being written. */
enum { GRACE_MS = 5000 };

/* ---- the list of the ready ---- */

void worker_enqueue(struct edge_worker *w, struct conn *c)
{
    if (c->ready)
        return;
    c->ready = true;
    c->ready_next = NULL;
    if (w->ready_first)
        w->ready_last->ready_next = c;
    else
        w->ready_first = c;
    w->ready_last = c;
}

bool worker_must_wait(const struct edge_worker *w)
{
    return w->paused || store_busy(w->worker.store);
}

void worker_pause(struct edge_worker *w, struct conn *c)
{
    if (c->paused)
        return;
    c->paused = true;
    c->paused_next = NULL;
    if (w->paused)
        w->paused_last->paused_next = c;
    else
        w->paused = c;
    w->paused_last = c;
}

/* In front of those that are ready: among these are some whose writes are just over, and who would take the room in
 * the store again and again. */
static void resume_paused(struct edge_worker *w)
{
    struct conn *c = w->paused, *behind = w->ready_first, **link = &w->ready_first;
    w->paused = NULL;
    for (; c; c = c->paused_next) {
        c->paused = false;
        if (c->ready)
            continue;
        c->ready = true;
        *link = c;
        link = &c->ready_next;
        if (!behind)
            w->ready_last = c;
    }
    *link = behind;
}

/* Those that are on the list now; whoever enqueues itself again waits for the next turn. So do those that are
 * left when streams have had their share of this one: what comes by sockets meanwhile goes first. */
static void turn_ready(struct edge_worker *w)
{
    if (w->paused && !store_busy(w->worker.store))
        resume_paused(w);
    struct conn *last = w->ready_last, *c = NULL;
    while (c != last && !stream_share_is_spent(w)) {
        c = w->ready_first;
        w->ready_first = c->ready_next;
        if (!w->ready_first)
            w->ready_last = NULL;
        c->ready = false;
        conn_turn(c);
    }
}

/* ---- the tick ---- */

static void expire(struct edge_worker *w)
{
    for (int p = 0; p < PHASES; p++) {
        struct conn *c;
        while (p != PHASE_HANDLER && (c = w->phases[p].first) && c->deadline_ms <= w->now_ms)
            conn_expire(c);
    }
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct edge_worker *w = arg;
    (void)fd, (void)what;
    w->now_ms = clock_mono_ms();
    date_update(&w->date, clock_wall_ms() / 1000);
    expire(w);
    accept_resume(w);
}

/* ---- drain and stop ---- */

/* Each connection is turned: it reads what has come, answers it, and closes once it is idle. */
static void drain(struct edge_worker *w)
{
    accept_end(w);
    w->draining = true;
    for (int p = 0; p < PHASES; p++)
        for (struct conn *c = w->phases[p].first; c; c = c->next)
            conn_drain(c);
}

static void close_all(struct edge_worker *w)
{
    for (int p = 0; p < PHASES; p++)
        while (w->phases[p].first)
            conn_kill(w->phases[p].first);
}

/* ---- jobs ---- */

void worker_wake(struct edge_worker *w)
{
    uint64_t one = 1;
    ssize_t n = write(w->wake, &one, sizeof one);
    assert(n == sizeof one); /* 2^64 wakes, never read, are not reached */
    (void)n;
}

void worker_job_done(struct job *job)
{
    struct edge_worker *w = edge_worker_of(job->worker);
    struct job *head = atomic_load_explicit(&w->jobs_done, memory_order_relaxed);
    do
        job->next = head;
    while (!atomic_compare_exchange_weak_explicit(&w->jobs_done, &head, job, memory_order_release,
                                                  memory_order_relaxed));
    if (!head)
        worker_wake(w);
}

enum rc worker_offload(struct worker *worker, struct job *job, struct err *err)
{
    job->worker = worker;
    if (helpers_submit(edge_worker_of(worker)->edge->helpers, job, LIMIT_HELPER_JOBS_MAX))
        return RC_PENDING;
    return err_set(err, ERR_HELPERS_BUSY, "Too much work waits for a helper thread; try again.");
}

void worker_offload_always(struct worker *worker, struct job *job)
{
    bool ok;
    job->worker = worker;
    ok = helpers_submit(edge_worker_of(worker)->edge->helpers, job, UINT_MAX);
    assert(ok);
    (void)ok;
}

static void finish_jobs(struct edge_worker *w)
{
    struct job *newest = atomic_exchange_explicit(&w->jobs_done, NULL, memory_order_acquire), *oldest = NULL;
    while (newest) {
        struct job *job = newest;
        newest = job->next;
        job->next = oldest;
        oldest = job;
    }
    while (oldest) {
        struct job *job = oldest;
        oldest = job->next;
        job->done(job);
    }
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    struct edge_worker *w = arg;
    (void)fd, (void)what;
    finish_jobs(w);
    if (!w->draining && atomic_load(&w->edge->draining))
        drain(w);
}

static void on_store(evutil_socket_t fd, short what, void *arg)
{
    struct edge_worker *w = arg;
    (void)fd, (void)what;
    store_worker_run(w->worker.store);
}

/* ---- the loop ---- */

/* The gets that were queued, then the connections that are ready, those whose get that was among them. */
static void turn_rest(struct edge_worker *w)
{
    store_gets_run(w->worker.store);
    turn_ready(w);
}

void worker_event_end(struct edge_worker *w)
{
    if (unlikely(store_gets_waiting(w->worker.store) >= LIMIT_GETS_A_RUN))
        turn_rest(w);
}

static void turn(struct edge_worker *w)
{
    w->pieces = 0;
    bool is_due = w->ready_first || store_gets_waiting(w->worker.store);
    event_base_loop(w->base, EVLOOP_ONCE | (is_due ? EVLOOP_NONBLOCK : 0));
    turn_rest(w);
    if (unlikely(w->access.n))
        access_lines_send(&w->access);
    store_turn_end(w->worker.store);
}

static bool is_over(const struct edge_worker *w)
{
    return w->draining && !w->conns;
}

void *worker_main(void *arg)
{
    struct edge_worker *w = arg;
    struct edge *e = w->edge;
    thread_name("avrod-worker");
    while (!is_over(w) && !atomic_load_explicit(&e->stopping, memory_order_relaxed))
        turn(w);
    close_all(w);
    for (int64_t end_ms = clock_mono_ms() + GRACE_MS; w->conns && clock_mono_ms() < end_ms;)
        turn(w);
    if (w->conns)
        log_warn("worker %u leaves %u connections with requests in flight", w->worker.index, w->conns);
    access_lines_send(&w->access);
    pthread_mutex_lock(&e->lock);
    e->running--;
    pthread_cond_signal(&e->ended);
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* ---- life ---- */

static enum rc events_add(struct edge_worker *w, struct err *err)
{
    const struct timeval tick = {.tv_usec = WORKER_TICK_MS * 1000};
    short edge = EV_READ | EV_ET | EV_PERSIST;
    event_assign(&w->tick_event, w->base, -1, EV_PERSIST, on_tick, w);
    event_assign(&w->wake_event, w->base, w->wake, edge, on_wake, w);
    event_assign(&w->store_event, w->base, store_worker_fd(w->worker.store), edge, on_store, w);
    if (accept_begin(w) && !event_add(&w->tick_event, &tick) && !event_add(&w->wake_event, NULL) &&
        !event_add(&w->store_event, NULL))
        return RC_OK;
    return errno == ENOMEM
               ? err_oom(err)
               : err_set(err, ERR_IO, "A worker's events cannot be watched: %s.", strerror(errno));
}

static struct event_base *base_new(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;
    if (config && !event_config_require_features(config, EV_FEATURE_ET | EV_FEATURE_EARLY_CLOSE) &&
        !event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK))
        base = event_base_new_with_config(config);
    if (config)
        event_config_free(config);
    return base;
}

static void set_limits(struct edge_worker *w, const struct options *o)
{
    w->limits = (struct edge_limits){
        .http1 = {.head_max = (uint32_t)o->head_max,
                  .target_max = (uint32_t)o->target_max,
                  .headers_max = o->headers_max},
        .deadline_ms = {[PHASE_IDLE] = o->idle_deadline_ms,
                        [PHASE_HEAD] = o->head_deadline_ms,
                        [PHASE_BODY] = o->body_deadline_ms,
                        [PHASE_WRITE] = o->write_deadline_ms,
                        [PHASE_LINGER] = LIMIT_LINGER_DEADLINE_MS},
        .bodies_budget = o->bodies_budget,
        .answers_budget = o->answers_budget,
    };
    input_pool_init(&w->inputs, w->limits.http1.head_max);
}

enum rc worker_init(struct edge_worker *w, struct edge *e, unsigned index, struct err *err)
{
    w->edge = e;
    w->access.log = e->server->access_log;
    set_limits(w, e->server->options);
    w->worker.server = e->server;
    w->worker.index = index;
    w->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    w->base = base_new();
    w->worker.codec = codec_new();
    w->sink = malloc(SINK_BYTES);
    w->record = e->tls ? malloc(TLS_RECORD_BYTES) : NULL;
    w->worker.counts = counts_new(e->server);
    if (!w->base || !w->worker.codec || !w->sink || !w->worker.counts || (e->tls && !w->record))
        return err_oom(err);
    if (w->wake < 0)
        return err_set(err, ERR_IO, "eventfd: %s.", strerror(errno));
    if (!random_bytes(&w->worker.random, sizeof w->worker.random))
        return err_set(err, ERR_IO, "The kernel gives no random bytes.");
    w->worker.random |= 1; /* xorshift must not start at zero */
    if (store_worker_new(&w->worker.store, e->server->store, w->base, err) != RC_OK)
        return RC_ERR;
    w->next_number = request_id_start(index, w->worker.random);
    w->now_ms = clock_mono_ms();
    date_update(&w->date, clock_wall_ms() / 1000);
    return events_add(w, err);
}

static void release_pools(struct edge_worker *w)
{
    while (w->requests) {
        struct request *req = w->requests;
        w->requests = req->next;
        arena_release(&req->arena);
        free(req);
    }
    while (w->free_conns) {
        struct conn *c = w->free_conns;
        w->free_conns = c->next;
        free(c);
    }
    while (w->noutputs)
        buf_release(&w->outputs[--w->noutputs]);
    input_pool_release(&w->inputs);
    buf_release(&w->problem);
    coded_pool_release(&w->coded);
    access_lines_release(&w->access);
    buf_release(&w->worker.scratch);
    buf_release(&w->worker.resolved);
    free(w->sink);
    free(w->record);
}

void worker_release(struct edge_worker *w)
{
    if (w->conns) /* something still writes from their requests: what it may touch stays */
        return;
    release_pools(w);
    if (w->worker.store)
        store_worker_free(w->worker.store);
    codec_free(w->worker.codec);
    if (w->base)
        event_base_free(w->base);
    accept_close(w);
    if (w->wake >= 0)
        close(w->wake);
}
