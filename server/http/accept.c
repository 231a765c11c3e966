/* server/http/accept.c - see accept.h. */
#include "server/http/accept.h"

#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "server/counts.h"
#include "server/http/conn.h"
#include "server/http/respond.h"
#include "server/http/worker.h"

enum { ACCEPTS_PER_TURN = 64, WARN_EVERY_MS = 10000 };

static void accept_pause(struct edge_worker *w)
{
    for (unsigned i = 0; i < w->nlisteners; i++)
        event_del(&w->listeners[i].event);
    w->accepting = false;
}

void accept_resume(struct edge_worker *w)
{
    if (!w->nlisteners || w->accepting)
        return;
    w->accepting = true;
    for (unsigned i = 0; i < w->nlisteners; i++)
        w->accepting &= event_add(&w->listeners[i].event, NULL) == 0;
}

static void refuse(struct edge_worker *w, int fd)
{
    struct buf out = {0};
    struct err err;
    err_set(&err, ERR_TOO_MANY_CONNECTIONS, "%u connections are open, and more are not allowed.",
            w->edge->connections_max);
    if (respond_unasked(&out, &err, w->next_number++, &w->date) &&
        send(fd, out.ptr, out.len, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
        shutdown(fd, SHUT_WR);
    buf_release(&out);
    close(fd);
}

static void take(const struct listener *l, int fd)
{
    struct edge_worker *w = l->worker;
    struct edge *e = w->edge;
    unsigned before = atomic_fetch_add_explicit(&e->connections, 1, memory_order_relaxed);
    if (before < e->connections_max) {
        count(w->worker.counts, COUNT_connections_accepted, 1);
        conn_open(w, fd, l->loopback);
        return;
    }
    atomic_fetch_sub_explicit(&e->connections, 1, memory_order_relaxed);
    count(w->worker.counts, COUNT_connections_refused, 1);
    refuse(w, fd);
}

/* False: nobody is waiting, or nothing can be accepted for now. */
static bool accept_one(const struct listener *l)
{
    struct edge_worker *w = l->worker;
    int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        take(l, fd);
        return true;
    }
    switch (errno) {
    case EAGAIN: return false;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM: /* asking again at once would only spin; a tick, or a connection that ends, resumes */
        if (w->now_ms - w->warned_ms >= WARN_EVERY_MS) {
            log_warn("new connections wait: %s", strerror(errno));
            w->warned_ms = w->now_ms;
        }
        accept_pause(w);
        return false;
    default: return true; /* that one connection failed before we had it (accept(2)) */
    }
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    for (int i = 0; i < ACCEPTS_PER_TURN && accept_one(arg); i++)
        continue;
}

void accept_conn_gone(struct edge_worker *w)
{
    count(w->worker.counts, COUNT_connections_closed, 1);
    atomic_fetch_sub_explicit(&w->edge->connections, 1, memory_order_relaxed);
    accept_resume(w);
}

void accept_listen(struct edge_worker *w, const struct listeners *all, const int *fds)
{
    for (unsigned i = 0; i < all->n; i++)
        if (fds[i] >= 0)
            w->listeners[w->nlisteners++] =
                (struct listener){.worker = w, .fd = fds[i], .loopback = all->at[i].loopback};
}

bool accept_begin(struct edge_worker *w)
{
    w->warned_ms = w->now_ms - WARN_EVERY_MS;
    for (unsigned i = 0; i < w->nlisteners; i++) {
        struct listener *l = &w->listeners[i];
        event_assign(&l->event, w->base, l->fd, EV_READ | EV_PERSIST, on_accept, l);
    }
    accept_resume(w);
    return w->accepting;
}

void accept_close(struct edge_worker *w)
{
    for (unsigned i = 0; i < w->nlisteners; i++)
        close(w->listeners[i].fd);
    w->nlisteners = 0;
}

void accept_end(struct edge_worker *w)
{
    for (unsigned i = 0; i < w->nlisteners; i++)
        while (accept_one(&w->listeners[i])) /* they were connected before we stopped */
            continue;
    accept_pause(w);
    accept_close(w);
}
