/* server/http/edge.c - listening sockets, the start and the end of the workers. */
#include "server/http/edge.h"

#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "server/counts.h"
#include "server/http/address.h"
#include "server/http/worker.h"

enum { LISTEN_BACKLOG = 4096 };

/* ---- listeners ---- */

static enum rc io_error(const char *what, const struct address *a, struct err *err)
{
    int error = errno;
    char text[ADDRESS_TEXT_BYTES];
    address_print(a, text);
    if (error == EADDRINUSE)
        return err_set(err, ERR_CONFIG, "%s is in use by another program.", text);
    return err_set(err, ERR_CONFIG, "%s on %s: %s.", what, text, strerror(error));
}

static bool set_option(int fd, int level, int option)
{
    int on = 1;
    return setsockopt(fd, level, option, &on, sizeof on) == 0;
}

/* `first` is bound without SO_REUSEPORT, so that a port that anybody else listens on is refused, and gets the
 * option afterwards: between the two nobody can take the port. The others of this process join it. A socket
 * that is accepted inherits TCP_NODELAY. */
static enum rc bind_one(const struct address *a, bool first, int *out, struct err *err)
{
    int fd = socket(a->socket.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return io_error("socket", a, err);
    *out = fd;
    if (!set_option(fd, SOL_SOCKET, SO_REUSEADDR) || !set_option(fd, IPPROTO_TCP, TCP_NODELAY))
        return io_error("setsockopt", a, err);
    if (!first && !set_option(fd, SOL_SOCKET, SO_REUSEPORT))
        return io_error("setsockopt", a, err);
    if (bind(fd, (const struct sockaddr *)&a->socket, a->bytes))
        return io_error("bind", a, err);
    if (first && !set_option(fd, SOL_SOCKET, SO_REUSEPORT))
        return io_error("setsockopt", a, err);
    if (listen(fd, LISTEN_BACKLOG))
        return io_error("listen", a, err);
    return RC_OK;
}

/* One listener a worker, all on one port. On failure those that are open are in `fds`, the others -1. */
static enum rc bind_all(struct edge *e, struct address *a, int *fds, struct err *err)
{
    for (unsigned i = 0; i < e->nworkers; i++) {
        if (bind_one(a, i == 0, &fds[i], err) != RC_OK)
            return RC_ERR;
        a->bytes = sizeof a->socket;
        if (getsockname(fds[i], (struct sockaddr *)&a->socket, &a->bytes)) /* port 0 has become a real one */
            return io_error("getsockname", a, err);
    }
    address_print(a, e->address);
    return RC_OK;
}

/* ---- start ---- */

unsigned edge_threads(const struct options *o)
{
    if (o->threads)
        return o->threads;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (unsigned)cores : 1;
}

static enum rc workers_init(struct edge *e, struct address *a, struct err *err)
{
    int *fds = malloc(e->nworkers * sizeof *fds);
    if (!fds)
        return err_oom(err);
    for (unsigned i = 0; i < e->nworkers; i++)
        fds[i] = -1;
    enum rc rc = bind_all(e, a, fds, err);
    for (unsigned i = 0; i < e->nworkers; i++) {
        e->workers[i].listener = fds[i];
        if (rc == RC_OK)
            rc = worker_init(&e->workers[i], e, i, fds[i], err);
    }
    free(fds);
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
        e->workers[i].listener = e->workers[i].wake = -1;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&e->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&e->lock, NULL);
    return e;
}

enum rc edge_start(struct edge **out, struct server *server, struct err *err)
{
    struct address a;
    const struct options *o = server->options;
    if (address_parse(o->listen, &a, err) != RC_OK)
        return RC_ERR;
    bool loopback = address_is_loopback(&a);
    if (!loopback && !o->insecure)
        return err_set(
            err, ERR_CONFIG,
            "--listen %.100s is no loopback address, and there is no authentication yet: everybody who "
            "reaches it could read and change everything. --insecure allows it.",
            o->listen);
    struct cors cors;
    if (cors_parse(&cors, o->cors_origin, err) != RC_OK)
        return RC_ERR;
    struct edge *e = edge_new(server);
    if (!e)
        return err_oom(err);
    e->cors = cors;
    e->loopback = loopback;
    server->edge = e;
    if (workers_init(e, &a, err) == RC_OK && threads_start(e, err) == RC_OK) {
        *out = e;
        return RC_OK;
    }
    atomic_store(&e->stopping, true); /* those that have started end at once */
    edge_drain(e);
    edge_join(e, LIMIT_DRAIN_DEADLINE_MS);
    edge_free(e);
    server->edge = NULL;
    return RC_ERR;
}

const char *edge_address(const struct edge *e)
{
    return e->address;
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
    pthread_cond_destroy(&e->ended);
    pthread_mutex_destroy(&e->lock);
    if (left)
        return; /* requests in flight point to their worker */
    counts_free(e->server);
    free(e->workers);
    free(e);
}
