/* server/http/edge.c - the start and the end of the workers. */
#include "server/http/edge.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "server/counts.h"
#include "server/http/accept.h"
#include "server/http/address_counts.h"
#include "server/http/tls_context.h"
#include "server/http/worker.h"

/* ---- start ---- */

unsigned edge_threads(const struct options *o)
{
    if (o->threads)
        return o->threads;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (unsigned)cores : 1;
}

static enum rc workers_init(struct edge *e, struct err *err)
{
    int *fds = malloc((size_t)e->nworkers * LIMIT_LISTENERS_MAX * sizeof *fds);
    if (!fds)
        return err_oom(err);
    enum rc rc = listeners_bind(&e->listeners, e->nworkers, fds, err);
    for (unsigned i = 0; i < e->nworkers; i++) {
        accept_listen(&e->workers[i], &e->listeners, fds + (size_t)i * LIMIT_LISTENERS_MAX);
        if (rc == RC_OK)
            rc = worker_init(&e->workers[i], e, i, err);
    }
    free(fds);
    listeners_print(&e->listeners, e->listening);
    return rc;
}

/* Signals are the main thread's: what we start inherits a full mask. */
static enum rc threads_start(struct edge *e, struct err *err)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    enum rc rc = helpers_new(&e->helpers, EDGE_HELPERS, e->server->store, worker_job_done, err);
    for (unsigned i = 0; i < e->nworkers && rc == RC_OK; i++) {
        struct edge_worker *w = &e->workers[i];
        pthread_mutex_lock(&e->lock);
        e->running++;
        pthread_mutex_unlock(&e->lock);
        int error = pthread_create(&w->thread, NULL, worker_main, w);
        w->started = !error;
        if (error) {
            pthread_mutex_lock(&e->lock);
            e->running--;
            pthread_mutex_unlock(&e->lock);
            rc = err_set(err, ERR_NO_MEMORY, "A worker thread cannot be started: %s.", strerror(error));
        }
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc;
}

static struct edge *edge_new(struct server *server)
{
    struct edge *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->server = server;
    e->nworkers = edge_threads(server->options);
    e->connections_max = server->options->connections_max;
    e->workers = calloc(e->nworkers, sizeof *e->workers);
    if (!e->workers) {
        free(e);
        return NULL;
    }
    for (unsigned i = 0; i < e->nworkers; i++)
        e->workers[i].wake = -1;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&e->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&e->lock, NULL);
    return e;
}

/* Whether or not the file bounds them: once it has been read anew it may. */
static enum rc count_addresses(struct edge *e, struct err *err)
{
    const struct options *o = e->server->options;
    if (o->access && !(e->addresses = address_counts_new(o->connections_max)))
        return err_oom(err);
    return RC_OK;
}

enum rc edge_start(struct server *server, struct err *err)
{
    const struct options *o = server->options;
    struct edge *e = edge_new(server);
    if (!e)
        return err_oom(err);
    server->edge = e; /* which the threads read */
    if (tls_context_open(&e->tls, o, err) == RC_OK && listeners_parse(&e->listeners, o, err) == RC_OK &&
        cors_parse(&e->cors, o->cors_origin, err) == RC_OK && count_addresses(e, err) == RC_OK &&
        workers_init(e, err) == RC_OK && threads_start(e, err) == RC_OK) {
        if (options_have_logins(o) && listeners_are_plain_beyond(&e->listeners))
            log_warn("Passwords and tokens come in plain text over the network: whoever is on the way can "
                     "read them. https:// in --listen keeps them secret.");
        return RC_OK;
    }
    atomic_store(&e->stopping, true); /* those that have started end at once */
    edge_drain(e);
    edge_join(e, LIMIT_DRAIN_DEADLINE_MS);
    edge_free(e);
    server->edge = NULL;
    return RC_ERR;
}

const char *edge_listening(const struct edge *e)
{
    return e->listening;
}

void edge_stats(const struct edge *e, struct edge_stats *out)
{
    const struct options *o = e->server->options;
    *out = (struct edge_stats){
        .bodies_bytes = atomic_load_explicit(&e->body_bytes, memory_order_relaxed),
        .bodies_max_bytes = o->bodies_budget,
        .answers_bytes = atomic_load_explicit(&e->answer_bytes, memory_order_relaxed),
        .answers_max_bytes = o->answers_budget,
        .certificate_ends_s = (uint64_t)tls_context_not_after(e->tls),
    };
    helpers_stats(e->helpers, &out->jobs_waiting, &out->jobs);
}

enum rc edge_tls_reload(struct edge *e, struct err *err)
{
    return e->tls ? tls_context_reload(e->tls, err) : RC_NOTFOUND;
}

void edge_trim(struct edge *e)
{
    if (atomic_load(&e->body_bytes) || atomic_load(&e->answer_bytes) ||
        !atomic_exchange(&e->much_freed, false))
        return;
    malloc_trim(0);
}

/* ---- end ---- */

static void wake_all(struct edge *e)
{
    for (unsigned i = 0; i < e->nworkers; i++)
        if (e->workers[i].started)
            worker_wake(&e->workers[i]);
}

void edge_drain(struct edge *e)
{
    atomic_store(&e->server->draining, true);
    atomic_store(&e->draining, true);
    listeners_remove(&e->listeners);
    wake_all(e);
}

/* Until all workers have ended; false: the deadline came first. */
static bool wait_for_end(struct edge *e, unsigned deadline_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += deadline_ms / 1000;
    until.tv_nsec += (long)(deadline_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&e->lock);
    int rc = 0;
    while (e->running && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&e->ended, &e->lock, &until);
    bool ended = !e->running;
    pthread_mutex_unlock(&e->lock);
    return ended;
}

void edge_join(struct edge *e, unsigned deadline_ms)
{
    if (!wait_for_end(e, deadline_ms)) {
        log_warn("connections are still open after %u ms: they are closed now", deadline_ms);
        atomic_store(&e->stopping, true);
        wake_all(e);
    }
    for (unsigned i = 0; i < e->nworkers; i++) {
        if (e->workers[i].started)
            pthread_join(e->workers[i].thread, NULL);
        e->workers[i].started = false;
    }
}

void edge_free(struct edge *e)
{
    bool left = false;
    helpers_free(e->helpers); /* its last jobs still push to the workers */
    for (unsigned i = 0; i < e->nworkers; i++) {
        left |= e->workers[i].conns > 0;
        worker_release(&e->workers[i]);
    }
    tls_context_free(e->tls);
    pthread_cond_destroy(&e->ended);
    pthread_mutex_destroy(&e->lock);
    if (left)
        return; /* requests in flight point to their worker */
    counts_free(e->server);
    address_counts_free(e->addresses);
    free(e->workers);
    free(e);
}
