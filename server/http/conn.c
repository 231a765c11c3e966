/* server/http/conn.c - the life of a connection: events, reading, deadlines, closing. */
#include "server/http/conn.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "server/counts.h"
#include "server/http/accept.h"
#include "server/http/conn_tls.h"
#include "server/http/exchange.h"
#include "server/http/socket.h"

/* ---- reading ---- */

/* Less room than this is not worth a read: the rest is moved, or a new block is taken. A head and this fit
 * into a block together (input_pool_init), so that moving costs no more than has been read. */
enum { ROOM_MIN = 4096 };
_Static_assert(INPUT_BYTES >= 4 * ROOM_MIN, "half of a block takes the longest head, and there is room");

/* Would a read serve anything? */
static bool wants_read(const struct conn *c)
{
    if (c->eof || c->broken)
        return false;
    if (c->lingering)
        return true;
    if (c->body.framing != FRAMING_NONE)
        return !c->closing || !c->body.discard;
    if (c->worker->draining && !c->to_drain && !c->inside && !c->final)
        return false; /* first all that had come is answered, or a client could go on for ever */
    return !c->closing && c->end - c->at < c->worker->limits.http1.head_max &&
           conn_unsent(c) < LIMIT_OUTPUT_HIGH;
}

/* Bytes of a body that stand in the block before `at`, or belong there, keep it from being moved. */
static bool body_in_block(const struct conn *c)
{
    return c->body.framing != FRAMING_NONE && !c->body.discard && !c->last->edge.body;
}

/* False: memory is out. */
static bool block_ready(struct conn *c)
{
    struct input_pool *pool = &c->worker->inputs;
    if (!c->in) {
        c->at = c->end = 0;
        return (c->in = input_take(pool));
    }
    if (body_in_block(c) && c->body.framing == FRAMING_LENGTH)
        return true; /* it was found to fit */
    if (c->in->bytes - c->end >= ROOM_MIN)
        return true;
    if (body_in_block(c) && !body_leave_block(c))
        return false;
    struct input *to = c->in->holders == 1 ? c->in : input_take(pool);
    if (!to)
        return false;
    size_t rest = c->end - c->at;
    memmove(to->data, c->in->data + c->at, rest);
    if (to != c->in)
        input_drop(pool, c->in);
    c->in = to;
    c->at = 0;
    c->end = rest;
    return true;
}

static void socket_is_empty(struct conn *c)
{
    c->readable = false;
    c->to_drain = 0;
}

/* The transport's half of reading. What comes at the end nobody reads, so nobody decrypts it. */
static size_t receive(struct conn *c, uint8_t *to, size_t room)
{
    if (unlikely(c->secure) && !c->lingering)
        return conn_tls_receive(c, to, room);
    ssize_t n = socket_recv(c->fd, to, room);
    if (n > 0) {
        if ((size_t)n < room && !c->peer_shut)
            socket_is_empty(c);
        c->to_drain -= (size_t)n < c->to_drain ? (size_t)n : c->to_drain;
        return (size_t)n;
    }
    if (n == 0) {
        c->eof = true;
        socket_is_empty(c);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        socket_is_empty(c);
    } else if (errno != EINTR) {
        c->broken = true;
    }
    return 0;
}

bool conn_has_more(const struct conn *c)
{
    return c->at < c->end || (unlikely(c->secure) && !conn_tls_is_mute(c) && conn_tls_in_middle(c));
}

/* Returns how many bytes came. */
static size_t fill(struct conn *c)
{
    struct slice room;
    struct err err;
    bool oom;
    size_t n;
    if (c->lingering) {
        n = receive(c, c->worker->sink, SINK_BYTES);
        c->lingered += n;
        return n;
    }
    if (body_room(c, &room, &oom)) {
        n = receive(c, (uint8_t *)(uintptr_t)room.ptr, room.len); /* the request's own block */
    } else if (!oom && block_ready(c)) {
        n = receive(c, c->in->data + c->end, c->in->bytes - c->end);
        c->end += n;
    } else {
        err_oom(&err);
        c->turn_ns = clock_mono_ns();
        exchange_give_up(c, &err);
        return 0;
    }
    body_received(c, n);
    count(c->worker->worker.counts, COUNT_received_bytes, n);
    return n;
}

/* ---- deadlines ---- */

static void list_add(struct conn_list *list, struct conn *c)
{
    c->prev = list->last;
    c->next = NULL;
    if (list->last)
        list->last->next = c;
    else
        list->first = c;
    list->last = c;
}

static void list_remove(struct conn_list *list, struct conn *c)
{
    if (c->prev)
        c->prev->next = c->next;
    else
        list->first = c->next;
    if (c->next)
        c->next->prev = c->prev;
    else
        list->last = c->prev;
}

static enum phase phase_of(const struct conn *c)
{
    if (c->lingering)
        return PHASE_LINGER;
    if (conn_waits_for_client(c))
        return PHASE_WRITE;
    if (c->body.framing != FRAMING_NONE)
        return PHASE_BODY;
    if (c->first)
        return PHASE_HANDLER;
    return c->end > c->at || (unlikely(c->secure) && conn_tls_in_middle(c)) ? PHASE_HEAD : PHASE_IDLE;
}

/* The worker's clock may be as old as a tick: nobody is to have less time than was promised. */
static int64_t time_to_go(const struct edge_worker *w, enum phase phase)
{
    return w->now_ms + WORKER_TICK_MS + w->limits.deadline_ms[phase];
}

/* While the worker drains, a request that has begun has less time to arrive. */
static int64_t drain_deadline(const struct conn *c, enum phase phase, int64_t deadline_ms)
{
    int64_t latest_ms = c->worker->now_ms + LIMIT_DRAIN_REQUEST_DEADLINE_MS;
    return (phase == PHASE_HEAD || phase == PHASE_BODY) && deadline_ms > latest_ms ? latest_ms : deadline_ms;
}

/* All of a list have the same time to go, so it stays in order when the latest goes to its end. */
static void set_deadline(struct conn *c, enum phase phase)
{
    int64_t deadline_ms = time_to_go(c->worker, phase);
    if (unlikely(c->worker->draining))
        deadline_ms = drain_deadline(c, phase, deadline_ms);
    bool fresh = c->progress;
    c->progress = false;
    if (phase == c->phase && (!fresh || deadline_ms == c->deadline_ms))
        return;
    list_remove(&c->worker->phases[c->phase], c);
    c->phase = phase;
    c->deadline_ms = deadline_ms;
    list_add(&c->worker->phases[phase], c);
}

/* ---- the end ---- */

static void conn_free(struct conn *c)
{
    struct edge_worker *w = c->worker;
    w->conns--;
    c->next = w->free_conns;
    w->free_conns = c;
}

/* One that is on a list of the worker's is found there, and freed then. */
static void free_if_over(struct conn *c)
{
    exchange_abandon(c);
    if (!c->first && !c->ready && !c->paused)
        conn_free(c);
}

void conn_kill(struct conn *c)
{
    struct edge_worker *w = c->worker;
    assert(!c->dead && !c->turning);
    event_del(&c->event);
    if (c->tls) {
        if (!c->broken && !c->first && !conn_unsent(c))
            (void)conn_tls_end(c);
        conn_tls_free(c);
    }
    close(c->fd);
    c->fd = -1;
    c->dead = true;
    c->broken = true;
    list_remove(&w->phases[c->phase], c);
    c->out.len = c->out_at = 0;
    conn_flush(c); /* gives back what it was charged */
    conn_output_release(c);
    c->body = (struct body){0};
    if (c->in)
        input_drop(&w->inputs, c->in);
    c->in = NULL;
    accept_conn_gone(w, c->address);
    free_if_over(c);
}

/* Nothing more will be sent. A client that is still sending would get a reset, which may overtake our answer
 * in its kernel: so first only our side is closed, and what comes is read for a while (RFC 9112, 9.6). */
static void finish(struct conn *c)
{
    if (unlikely(c->secure) && !c->broken && !conn_tls_end(c))
        return;
    bool unread = c->readable || c->at < c->end || c->lingers;
    if (c->eof || c->broken || !unread || (c->lingering && c->lingered > LIMIT_DISCARD_MAX)) {
        conn_kill(c);
        return;
    }
    if (!c->lingering) {
        c->lingering = true;
        c->lingers = true;
        c->at = c->end;
        shutdown(c->fd, SHUT_WR);
    }
}

/* All requests that have come are answered; of one more there may be a part of the head. */
static bool is_quiet(const struct conn *c)
{
    return !c->first && c->body.framing == FRAMING_NONE && !conn_unsent(c) && !c->stalled;
}

/* ---- turns ---- */

/* The end of a turn: give back what is not needed, and say what to wait for. */
static void settle(struct conn *c)
{
    if (c->broken) {
        conn_kill(c);
        return;
    }
    if (!conn_unsent(c))
        conn_output_release(c);
    if (c->in && c->at == c->end && !body_in_block(c)) {
        input_drop(&c->worker->inputs, c->in);
        c->in = NULL;
        c->at = c->end = 0;
    }
    if (is_quiet(c)) {
        c->final = c->worker->draining && !c->to_drain && !c->inside;
        if (c->closing || (c->final && !conn_has_more(c)))
            finish(c);
        if (c->dead)
            return;
    }
    if ((c->stalled && conn_unsent(c) < LIMIT_OUTPUT_HIGH) || (c->readable && wants_read(c)))
        (worker_must_wait(c->worker) ? worker_pause : worker_enqueue)(c->worker, c);
    set_deadline(c, phase_of(c));
}

/* A reset may stand behind bytes that were read, with no edge of its own. An answer finds it; where none is
 * due until the client has sent more, another read has to ask. */
static bool may_hide_reset(const struct conn *c)
{
    enum phase phase = phase_of(c);
    return phase == PHASE_HEAD || phase == PHASE_BODY || phase == PHASE_LINGER;
}

/* Before an answer leaves: who has it, and asks, finds it counted. */
static void count_turn(struct conn *c)
{
    struct counts *counts = c->worker->worker.counts;
    if (unlikely(c->turn_requests > 1))
        count(counts, COUNT_pipelined_requests, c->turn_requests - 1);
    c->turn_requests = 0;
    counts_settle(counts);
}

/* Write what waits, read once. Returns how many bytes came. */
static size_t turn_begin(struct conn *c)
{
    size_t received = 0;
    c->pieces = 0;
    counts_settle(c->worker->worker.counts); /* of answers from callbacks */
    if (conn_unsent(c))
        conn_flush(c);
    if (c->readable && wants_read(c) && !worker_must_wait(c->worker))
        received = fill(c);
    c->turn_ns = clock_mono_ns();
    return received;
}

/* The only request of this turn is a get that is read with those of others: the rest of the turn is due once they are
 * read, still in the worker's. */
static void turn_later(struct conn *c)
{
    c->turning = false;
    worker_enqueue(c->worker, c);
}

void conn_turn(struct conn *c)
{
    size_t received = 0;
    if (c->dead) {
        free_if_over(c);
        return;
    }
    c->turning = true;
    if (!c->awaits_get)
        received = turn_begin(c);
    c->awaits_get = false;
    exchange_advance(c);
    if (c->awaits_get) {
        turn_later(c);
        return;
    }
    count_turn(c);
    conn_flush(c);
    if (received && may_hide_reset(c))
        c->readable = true;
    c->turning = false;
    settle(c);
}

void conn_drain(struct conn *c)
{
    int bytes = 0;
    if (ioctl(c->fd, FIONREAD, &bytes) == 0 && bytes > 0) {
        c->to_drain = (size_t)bytes;
        c->readable = true; /* its edge may still be on its way */
    }
    c->deadline_ms = drain_deadline(c, c->phase, c->deadline_ms);
    worker_enqueue(c->worker, c);
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
    struct conn *c = arg;
    struct edge_worker *w = c->worker;
    (void)fd;
    if (what & EV_WRITE) {
        c->blocked = false;
        c->readable |= c->reads_by_write;
        c->reads_by_write = false;
    }
    if (what & EV_CLOSED)
        c->peer_shut = true;
    if (what & (EV_READ | EV_CLOSED))
        c->readable = true;
    if (unlikely(c->streaming))
        worker_enqueue(c->worker, c); /* behind those that stream too: each has its turn */
    else if (c->readable || conn_unsent(c) || unlikely(c->ends))
        conn_turn(c);
    worker_event_end(w);
}

static void extend_deadline(struct conn *c)
{
    c->progress = true;
    set_deadline(c, c->phase);
}

static void time_out(struct conn *c)
{
    struct err err;
    if (unlikely(c->secure) && conn_tls_is_mute(c)) {
        conn_kill(c);
        return;
    }
    err_set(&err, ERR_REQUEST_TIMEOUT, "The request did not arrive in time.");
    exchange_give_up(c, &err);
    conn_turn(c);
}

void conn_expire(struct conn *c)
{
    if (c->paused || c->awaits_get) { /* it is we who do not read, or do not go on */
        extend_deadline(c);
        return;
    }
    switch (c->phase) {
    case PHASE_HEAD:
    case PHASE_BODY: time_out(c); return;
    case PHASE_WRITE:
        if (conn_output_moves(c))
            extend_deadline(c);
        else
            conn_kill(c);
        return;
    case PHASE_IDLE:
    case PHASE_LINGER: conn_kill(c); return;
    case PHASE_HANDLER:
    case PHASES: break;
    }
    assert(!"a connection that waits for its handler has no deadline");
}

/* ---- the beginning ---- */

static struct conn *conn_new(struct edge_worker *w)
{
    struct conn *c = w->free_conns;
    if (c)
        w->free_conns = c->next;
    else if (!(c = malloc(sizeof *c)))
        return NULL;
    *c = (struct conn){.worker = w, .guess = head_cache_guess(&w->heads)};
    w->conns++;
    return c;
}

static COLD void name_remote(struct conn *c)
{
    struct address a = {.bytes = sizeof a.socket};
    if (getpeername(c->fd, (struct sockaddr *)&a.socket, &a.bytes) == 0)
        address_print_host(&a, c->remote);
}

void conn_open(struct edge_worker *w, int fd, const struct listener *l, uint64_t address)
{
    struct conn *c = conn_new(w);
    if (!c) {
        close(fd);
        accept_conn_gone(w, address);
        return;
    }
    c->fd = fd;
    c->loopback = l->loopback;
    c->secure = l->secure;
    c->address = address;
    if (unlikely(w->access.log))
        name_remote(c);
    c->phase = phase_of(c);
    c->deadline_ms = time_to_go(w, c->phase);
    list_add(&w->phases[c->phase], c);
    /* Both ways at once and edge-triggered, so that this is the only epoll_ctl until the socket is closed. */
    short what = EV_READ | EV_WRITE | EV_CLOSED | EV_ET | EV_PERSIST;
    event_assign(&c->event, w->base, fd, what, on_event, c);
    if (event_add(&c->event, NULL) == 0)
        return;
    log_warn("a connection cannot be watched: memory is out");
    conn_kill(c);
}
