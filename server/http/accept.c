/* server/http/accept.c - see accept.h. */
#include "server/http/accept.h"

#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "server/access/access.h"
#include "server/counts.h"
#include "server/http/address.h"
#include "server/http/address_counts.h"
#include "server/http/conn.h"
#include "server/http/respond.h"
#include "server/http/worker.h"
#include "server/server.h"

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

/* Over TLS it would take a handshake to say why. */
static void refuse(struct edge_worker *w, int fd, bool secure, const struct err *err)
{
    if (secure) {
        close(fd);
        return;
    }
    struct buf out = {0};
    if (respond_unasked(&out, err, w->next_number++, &w->date) &&
        send(fd, out.ptr, out.len, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
        shutdown(fd, SHUT_WR);
    buf_release(&out);
    close(fd);
}

/* Only access control asks. */
static uint64_t peer_of(const struct edge_worker *w, int fd)
{
    struct address a = {.bytes = sizeof a.socket};
    if (likely(!w->edge->server->access) || getpeername(fd, (struct sockaddr *)&a.socket, &a.bytes) != 0)
        return ADDRESS_NONE;
    return address_group(&a);
}

/* One more from this address. What has none, as on a unix socket, is not counted. */
static bool enter_address(struct edge *e, uint64_t address, struct err *err)
{
    if (likely(!e->addresses) || address == ADDRESS_NONE)
        return true;
    uint32_t most = access_address_connections(e->server->access);
    if (address_counts_enter(e->addresses, address, most))
        return true;
    err_set(err, ERR_TOO_MANY_REQUESTS,
            "%u connections from this address are open, and more are not allowed.", most);
    return false;
}

static void leave_address(struct edge *e, uint64_t address)
{
    if (unlikely(e->addresses != NULL) && address != ADDRESS_NONE)
        address_counts_leave(e->addresses, address);
}

static bool enter(struct edge *e, struct err *err)
{
    if (atomic_fetch_add_explicit(&e->connections, 1, memory_order_relaxed) < e->connections_max)
        return true;
    atomic_fetch_sub_explicit(&e->connections, 1, memory_order_relaxed);
    err_set(err, ERR_TOO_MANY_CONNECTIONS, "%u connections are open, and more are not allowed.",
            e->connections_max);
    return false;
}

static void take(const struct listener *l, int fd)
{
    struct edge_worker *w = l->worker;
    struct edge *e = w->edge;
    uint64_t address = peer_of(w, fd);
    struct err err;
    enum count what = COUNT_connections_accepted;
    if (!enter(e, &err)) {
        what = COUNT_connections_refused;
    } else if (!enter_address(e, address, &err)) {
        atomic_fetch_sub_explicit(&e->connections, 1, memory_order_relaxed);
        what = COUNT_connections_refused_of_address;
    }
    count(w->worker.counts, what, 1);
    if (what == COUNT_connections_accepted)
        conn_open(w, fd, l, address);
    else
        refuse(w, fd, l->secure, &err);
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

void accept_conn_gone(struct edge_worker *w, uint64_t address)
{
    count(w->worker.counts, COUNT_connections_closed, 1);
    leave_address(w->edge, address);
    atomic_fetch_sub_explicit(&w->edge->connections, 1, memory_order_relaxed);
    accept_resume(w);
}

void accept_listen(struct edge_worker *w, const struct listeners *all, const int *fds)
{
    for (unsigned i = 0; i < all->n; i++)
        if (fds[i] >= 0)
            w->listeners[w->nlisteners++] = (struct listener){
                .worker = w, .fd = fds[i], .loopback = all->at[i].loopback, .secure = all->at[i].secure};
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
