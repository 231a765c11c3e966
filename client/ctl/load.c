/* client/ctl/load.c - see load.h. One thread, one request in flight a connection, a level-triggered event each. */
#include "client/ctl/load.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "client/ctl/interrupt.h"

enum {
    IN_BYTES = 65536,
    LOST_MAX = 100,   /* connections in a row without an answer: the server is gone */
    DRAIN_MS = 10000, /* for the answers that are out at the end */
    TICK_MS = 50,     /* between two looks whether it was interrupted */
};

struct run;

struct conn {
    struct run *run;
    int fd;
    struct event *readable, *writable;
    bool waits; /* for an answer */
    int64_t sent_ns;
    size_t unsent; /* bytes of the request that the socket has not taken */
    char number[LOAD_NUMBER_CHARS];
    char *request; /* its own copy, with its number */
    struct reply reply;
};

struct run {
    const struct load *load;
    struct load_result *result;
    struct event_base *base;
    struct conn *conns;
    struct event *timer, *tick;
    bool measures, stops;
    unsigned out, lost; /* answers that are awaited; connections lost in a row */
    uint64_t next, random;
    int64_t begin_ns;
    char *fault;
    size_t fault_room;
    bool failed;
    char in[IN_BYTES];
};

static void give_up(struct run *r, const char *what)
{
    if (!r->failed)
        snprintf(r->fault, r->fault_room, "%s: %s.", what, strerror(errno));
    r->failed = true;
    event_base_loopbreak(r->base);
}

/* ---- numbers ---- */

/* xorshift64*: good enough to spread records. */
static uint64_t number_next(struct run *r)
{
    if (r->load->in_order)
        return r->next++ % r->load->numbers + 1;
    r->random ^= r->random >> 12;
    r->random ^= r->random << 25;
    r->random ^= r->random >> 27;
    return (r->random * UINT64_C(0x2545f4914f6cdd1d) >> 16) % r->load->numbers + 1;
}

static void number_put(struct conn *c, uint64_t number)
{
    const struct load_request *request = c->run->load->request;
    for (unsigned i = LOAD_NUMBER_CHARS; i-- > 0; number /= 10)
        c->number[i] = (char)('0' + number % 10);
    for (unsigned i = 0; i < request->nslots; i++)
        memcpy(c->request + request->slots[i], c->number, LOAD_NUMBER_CHARS);
}

/* ---- sending ---- */

static bool send_rest(struct conn *c)
{
    const struct load_request *request = c->run->load->request;
    while (c->unsent) {
        ssize_t n = send(c->fd, c->request + request->len - c->unsent, c->unsent, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN)
            return false;
        if (n < 0)
            return event_add(c->writable, NULL) == 0;
        c->unsent -= (size_t)n;
    }
    return true;
}

static bool has_more(const struct run *r)
{
    return !r->stops && (!r->load->in_order || r->next < r->load->in_order);
}

static bool send_next(struct conn *c)
{
    struct run *r = c->run;
    if (!has_more(r)) {
        if (r->out == 0)
            event_base_loopbreak(r->base);
        return true;
    }
    number_put(c, number_next(r));
    c->reply.status = 0;
    c->reply.body_bytes = c->reply.body_at = 0;
    c->reply.in_body = c->reply.closes = c->reply.differs = false;
    c->reply.head_bytes = 0;
    c->waits = true;
    r->out++;
    c->unsent = r->load->request->len;
    c->sent_ns = clock_mono_ns();
    return send_rest(c);
}

/* ---- answers ---- */

static void note_fault(struct run *r, const char *what, unsigned status)
{
    if (!r->result->first_fault[0])
        snprintf(r->result->first_fault, sizeof r->result->first_fault, "%s (status %u).", what, status);
}

static struct reply_want want_of(const struct conn *c)
{
    struct reply_want want = c->run->load->request->want;
    if (c->run->load->request->number_in_want)
        want.number = slice_of(c->number, LOAD_NUMBER_CHARS);
    return want;
}

static void count(struct conn *c, const struct reply_want *want)
{
    struct run *r = c->run;
    r->lost = 0;
    r->out--;
    c->waits = false;
    if (!reply_is_right(&c->reply, want)) { /* never forgotten, not even those of the warm-up */
        r->result->wrong++;
        note_fault(r,
                   c->reply.differs ? "An answer has another body than it should"
                                    : "An answer is not what it should be",
                   c->reply.status);
    }
    if (!r->measures)
        return;
    r->result->answers++;
    latency_add(&r->result->latency, (uint64_t)(clock_mono_ns() - c->sent_ns));
}

/* False: the connection is of no more use. */
static bool take(struct conn *c, struct slice bytes)
{
    struct reply_want want = want_of(c);
    while (bytes.len) {
        size_t taken;
        if (!c->waits)
            return false;
        enum reply_state state = reply_take(&c->reply, &want, bytes, &taken);
        bytes = slice_of(bytes.ptr + taken, bytes.len - taken);
        if (state == REPLY_BROKEN)
            return false;
        if (state == REPLY_MORE)
            continue;
        bool closes = c->reply.closes;
        count(c, &want);
        if (closes || !send_next(c))
            return false;
        want = want_of(c);
    }
    return true;
}

/* ---- connections ---- */

static void conn_again(struct conn *c);

static void on_readable(evutil_socket_t fd, short what, void *user)
{
    struct conn *c = user;
    struct run *r = c->run;
    (void)what;
    ssize_t n = recv(fd, r->in, sizeof r->in, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0 && r->measures)
        r->result->bytes += (uint64_t)n;
    if (n <= 0 || !take(c, slice_of(r->in, (size_t)n)))
        conn_again(c);
}

static void on_writable(evutil_socket_t fd, short what, void *user)
{
    struct conn *c = user;
    (void)fd;
    (void)what;
    if (!send_rest(c))
        conn_again(c);
}

static void conn_close(struct conn *c)
{
    if (c->readable)
        event_free(c->readable);
    if (c->writable)
        event_free(c->writable);
    c->readable = c->writable = NULL;
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

/* Connecting blocks: it is not what is measured. */
static bool conn_open(struct conn *c)
{
    struct run *r = c->run;
    const struct load_place *place = r->load->place;
    const struct sockaddr *address = (const struct sockaddr *)&place->address;
    int one = 1;
    c->fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, address, place->address_bytes)) {
        give_up(r, "No connection");
        return false;
    }
    if (address->sa_family != AF_UNIX)
        (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c->readable = event_new(r->base, c->fd, EV_READ | EV_PERSIST, on_readable, c);
    c->writable = event_new(r->base, c->fd, EV_WRITE, on_writable, c);
    if (fcntl(c->fd, F_SETFL, O_NONBLOCK) || !c->readable || !c->writable || event_add(c->readable, NULL)) {
        give_up(r, "A socket");
        return false;
    }
    return true;
}

/* A lost connection is replaced; the request that it owed an answer to counts as broken. */
static void conn_again(struct conn *c)
{
    struct run *r = c->run;
    do {
        if (c->waits) {
            r->result->broken++;
            note_fault(r, "A connection ended without an answer", c->reply.status);
            r->out--;
            r->lost++;
        }
        c->waits = false;
        conn_close(c);
        if (r->lost > LOST_MAX) {
            errno = ECONNRESET;
            give_up(r, "The server drops every connection");
        }
        if (r->failed || !has_more(r)) {
            if (r->out == 0)
                event_base_loopbreak(r->base);
            return;
        }
    } while (conn_open(c) && !send_next(c));
}

/* ---- time ---- */

static void set_timer(struct run *r, uint32_t ms)
{
    struct timeval after = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    if (event_add(r->timer, &after))
        give_up(r, "A timer");
}

static void begin_measuring(struct run *r)
{
    r->measures = true;
    r->begin_ns = clock_mono_ns();
    if (r->load->time_ms && !r->load->in_order)
        set_timer(r, r->load->time_ms);
}

static void stop(struct run *r)
{
    r->measures = false;
    r->stops = true;
    r->result->seconds = (double)(clock_mono_ns() - r->begin_ns) / 1e9;
    if (r->out == 0)
        event_base_loopbreak(r->base);
    else
        set_timer(r, DRAIN_MS);
}

/* The warm-up is over, then the measured time, then the time for what is still out. */
static void on_timer(evutil_socket_t fd, short what, void *user)
{
    struct run *r = user;
    (void)fd;
    (void)what;
    if (r->stops)
        event_base_loopbreak(r->base);
    else if (r->measures)
        stop(r);
    else
        begin_measuring(r);
}

/* Nobody waits for what is still out. */
static void on_tick(evutil_socket_t fd, short what, void *user)
{
    struct run *r = user;
    (void)fd;
    (void)what;
    if (!interrupt_came())
        return;
    r->result->interrupted = true;
    event_base_loopbreak(r->base);
}

/* ---- the run ---- */

/* A descriptor a connection: as many as are allowed at all. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static bool prepare(struct run *r)
{
    const struct timeval every = {.tv_usec = TICK_MS * 1000};
    raise_descriptors();
    r->base = event_base_new();
    r->conns = calloc(r->load->connections, sizeof *r->conns);
    if (!r->base || !r->conns)
        return false;
    r->timer = event_new(r->base, -1, 0, on_timer, r);
    r->tick = event_new(r->base, -1, EV_PERSIST, on_tick, r);
    for (unsigned i = 0; i < r->load->connections; i++) {
        struct conn *c = &r->conns[i];
        c->run = r;
        c->fd = -1;
        c->request = malloc(r->load->request->len);
        if (!c->request)
            return false;
        memcpy(c->request, r->load->request->bytes, r->load->request->len);
    }
    return r->timer && r->tick && !event_add(r->tick, &every);
}

static void start(struct run *r)
{
    for (unsigned i = 0; !r->failed && i < r->load->connections; i++)
        conn_open(&r->conns[i]);
    if (r->load->warmup_ms && !r->load->in_order)
        set_timer(r, r->load->warmup_ms);
    else
        begin_measuring(r);
    for (unsigned i = 0; !r->failed && i < r->load->connections; i++)
        if (!send_next(&r->conns[i]))
            conn_again(&r->conns[i]);
}

/* What is still out counts as broken. */
static void finish(struct run *r)
{
    for (unsigned i = 0; r->conns && i < r->load->connections; i++) {
        if (r->conns[i].waits)
            r->result->broken++;
        if (r->conns[i].waits)
            note_fault(r, "An answer did not come", 0);
        if (r->conns[i].run)
            conn_close(&r->conns[i]);
        free(r->conns[i].request);
    }
    free(r->conns);
    if (r->timer)
        event_free(r->timer);
    if (r->tick)
        event_free(r->tick);
    if (r->base)
        event_base_free(r->base);
}

bool load_run(const struct load *load, struct load_result *result, char *fault, size_t room)
{
    struct run *r = calloc(1, sizeof *r);
    *result = (struct load_result){0};
    if (!r) {
        snprintf(fault, room, "Memory is out.");
        return false;
    }
    r->load = load;
    r->result = result;
    r->random = UINT64_C(0x9e3779b97f4a7c15);
    r->fault = fault;
    r->fault_room = room;
    if (prepare(r)) {
        start(r);
        if (!r->failed && r->out)
            event_base_dispatch(r->base);
        if (!result->seconds)
            result->seconds = (double)(clock_mono_ns() - r->begin_ns) / 1e9;
    } else {
        errno = ENOMEM;
        r->failed = true;
        snprintf(fault, room, "Memory is out.");
    }
    bool good = !r->failed;
    finish(r);
    free(r);
    return good;
}
