/* bench/load.c - an HTTP load generator that costs little: epoll, keep-alive, requests made beforehand, every
 * answer checked. One thread; one line of JSON at the end. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench/answer.h"
#include "bench/cli.h"
#include "bench/histogram.h"
#include "bench/load_opts.h"
#include "bench/plan.h"

enum {
    EVENTS = 256,
    IN_BYTES = 32768,
    RECONNECTS_MAX = 1000, /* in a row without an answer: the server is gone */
};
static const int64_t DRAIN_NS = 10 * INT64_C(1000000000); /* for the answers that are still out at the end */

struct conn {
    int fd; /* -1: none */
    bool closes;
    unsigned owed;      /* answers that are still to come */
    int64_t sent_at_ns; /* the batch */
    uint64_t skip;      /* bytes of a body still to come */
    size_t have;
    char *unsent; /* the rest of a batch that the socket did not take; owned */
    size_t unsent_bytes, unsent_at;
    char in[IN_BYTES];
};

/* What is counted. All of it starts again when the warm-up is over. */
struct totals {
    uint64_t answers, bytes;
    uint64_t non_2xx, wrong_length; /* answers that count but should not be */
    uint64_t broken;                /* requests whose answer never came or was no HTTP */
    uint64_t reconnects;
    unsigned bad_status; /* the first */
    struct histogram latency;
};

struct clocks {
    int64_t wall_ns, self_ns, server_ns;
};

static struct load_opts opts;

static struct {
    int epoll;
    struct conn **conns;
    struct plan plan;
    struct answer_hint hint;
    struct totals totals;
    struct clocks start;
    uint64_t left;     /* requests still to send, where they are counted */
    unsigned out;      /* connections with answers owed */
    unsigned failures; /* reconnects since the last answer */
    bool stopping, no_body;
} run;

/* ---- clocks ---- */

static int64_t clock_ns(clockid_t id)
{
    struct timespec t;
    return clock_gettime(id, &t) ? -1 : (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* User and system time of the watched processes, all their threads. */
static int64_t server_cpu_ns(void)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < opts.npids; i++) {
        clockid_t id;
        int64_t ns = clock_getcpuclockid(opts.pids[i], &id) ? -1 : clock_ns(id);
        if (ns < 0)
            die("process %d is gone", (int)opts.pids[i]);
        sum += ns;
    }
    return sum;
}

static struct clocks clocks_read(void)
{
    return (struct clocks){now_ns(), clock_ns(CLOCK_PROCESS_CPUTIME_ID), server_cpu_ns()};
}

/* ---- connections ---- */

/* Blocking connect, then a non-blocking socket: connecting is not what is measured. Edge-triggered: a ready
 * socket is looked at once, which is a noticeable part of the price of a request. */
static void conn_open(struct conn *c)
{
    const struct addrinfo *a = opts.address;
    int one = 1;
    c->fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (c->fd < 0 || connect(c->fd, a->ai_addr, a->ai_addrlen))
        die("connect to %s: %s", opts.plan.host, strerror(errno));
    /* Pacing and bandwidth probing of the system's default are wasted on loopback; not every kernel lets one
     * choose. */
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    if (setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) || fcntl(c->fd, F_SETFL, O_NONBLOCK) ||
        epoll_ctl(run.epoll, EPOLL_CTL_ADD, c->fd, &e))
        die("socket: %s", strerror(errno));
}

static void conn_close(struct conn *c)
{
    if (c->owed)
        run.out--;
    run.totals.broken += c->owed;
    close(c->fd);
    free(c->unsent);
    memset(c, 0, offsetof(struct conn, in));
    c->fd = -1;
}

static void conn_keep_unsent(struct conn *c, const char *bytes, size_t len)
{
    c->unsent = malloc(len);
    if (!c->unsent)
        die("out of memory");
    memcpy(c->unsent, bytes, len);
    c->unsent_bytes = len;
    c->unsent_at = 0;
}

/* Send a batch. False: the connection is lost. */
static bool conn_send(struct conn *c, int64_t now)
{
    unsigned count = run.plan.depth;
    if (opts.requests && run.left < count)
        count = (unsigned)run.left;
    if (count == 0 || run.stopping)
        return true;
    size_t bytes;
    const char *batch = plan_next(&run.plan, count, &bytes);
    run.left -= opts.requests ? count : 0;
    c->owed = count;
    c->sent_at_ns = now;
    run.out++;
    ssize_t n = send(c->fd, batch, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN)
        return false;
    size_t sent = n < 0 ? 0 : (size_t)n;
    if (sent < bytes)
        conn_keep_unsent(c, batch + sent, bytes - sent);
    return true;
}

static bool conn_send_rest(struct conn *c)
{
    while (c->unsent) {
        ssize_t n = send(c->fd, c->unsent + c->unsent_at, c->unsent_bytes - c->unsent_at, MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN;
        c->unsent_at += (size_t)n;
        if (c->unsent_at == c->unsent_bytes) {
            free(c->unsent);
            c->unsent = NULL;
        }
    }
    return true;
}

static void answer_count(const struct answer *a)
{
    struct totals *t = &run.totals;
    t->answers++;
    if (unlikely(a->status < 200 || a->status > 299)) {
        if (!t->non_2xx++)
            t->bad_status = a->status;
    } else if (unlikely(opts.body_wanted >= 0 && a->body_bytes != (uint64_t)opts.body_wanted)) {
        t->wrong_length++;
    }
}

/* Take the whole answers out of `in`: how many ended, or -1 if this is no HTTP that can be followed. */
static int conn_take(struct conn *c)
{
    size_t at = 0;
    int ended = 0;
    while (c->owed > (unsigned)ended) {
        struct answer a = {0};
        if (c->skip == 0) {
            long head = answer_head(c->in + at, c->have - at, run.no_body, &run.hint, &a);
            if (head < 0)
                return -1;
            if (head == 0)
                break;
            at += (size_t)head;
            answer_count(&a);
            c->closes |= a.closes;
            c->skip = a.body_bytes;
        }
        size_t take = c->have - at < c->skip ? c->have - at : (size_t)c->skip;
        at += take;
        c->skip -= take;
        if (c->skip)
            break;
        ended++;
    }
    if (c->owed == (unsigned)ended && at != c->have)
        return -1; /* more than was asked for */
    c->have -= at;
    if (c->have)
        memmove(c->in, c->in + at, c->have);
    return ended;
}

/* Count what was read and, when the whole batch is answered, send the next. False: the connection is lost. */
static bool conn_advance(struct conn *c)
{
    int ended = conn_take(c);
    if (ended < 0 || c->have == sizeof c->in)
        return false;
    if (ended == 0)
        return true;
    int64_t now = now_ns();
    histogram_add(&run.totals.latency, (uint64_t)(now - c->sent_at_ns), (uint64_t)ended);
    run.failures = 0;
    c->owed -= (unsigned)ended;
    if (c->owed)
        return true;
    run.out--;
    return !c->closes && conn_send(c, now);
}

/* Read until the socket has no more: a read that leaves room has emptied it. False:
 * the connection is lost. */
static bool conn_read(struct conn *c)
{
    for (;;) {
        size_t room = sizeof c->in - c->have;
        ssize_t n = recv(c->fd, c->in + c->have, room, 0);
        if (n < 0)
            return errno == EAGAIN;
        if (n == 0)
            return false;
        run.totals.bytes += (uint64_t)n;
        c->have += (size_t)n;
        if (!conn_advance(c))
            return false;
        if ((size_t)n < room)
            return true;
    }
}

/* A lost connection is replaced, its unanswered requests are counted and not sent again. */
static void conn_again(struct conn *c)
{
    do {
        conn_close(c);
        if (run.stopping)
            return;
        run.totals.reconnects++;
        if (++run.failures > RECONNECTS_MAX)
            die("%s drops every connection", opts.plan.host);
        conn_open(c);
    } while (!conn_send(c, now_ns()));
}

/* ---- the run ---- */

static void report(const struct clocks *end)
{
    const struct totals *t = &run.totals;
    const struct clocks *start = &run.start;
    double seconds = (double)(end->wall_ns - start->wall_ns) / 1e9;
    double each = t->answers ? 1.0 / (double)t->answers : 0;
    printf("{\"requests\":%llu,\"seconds\":%.4f,\"per_second\":%.0f,\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_"
           "us\":%.1f,",
           (unsigned long long)t->answers, seconds, (double)t->answers / seconds,
           (double)histogram_at(&t->latency, 0.5) / 1e3, (double)histogram_at(&t->latency, 0.99) / 1e3,
           (double)t->latency.max / 1e3);
    printf(
        "\"non_2xx\":%llu,\"first_bad_status\":%u,\"wrong_length\":%llu,\"broken\":%llu,\"reconnects\":%llu,",
        (unsigned long long)t->non_2xx, t->bad_status, (unsigned long long)t->wrong_length,
        (unsigned long long)t->broken, (unsigned long long)t->reconnects);
    printf("\"bytes\":%llu,\"load_cpu_us\":%.3f", (unsigned long long)t->bytes,
           (double)(end->self_ns - start->self_ns) / 1e3 * each);
    if (opts.npids) {
        double server_ns = (double)(end->server_ns - start->server_ns);
        printf(",\"server_cpu_us\":%.3f,\"server_busy\":%.4f", server_ns / 1e3 * each,
               server_ns / 1e9 / seconds);
    }
    printf("}\n");
}

static void turn(int timeout_ms)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(run.epoll, events, EVENTS, timeout_ms);
    if (n < 0 && errno != EINTR)
        die("epoll_wait: %s", strerror(errno));
    for (int i = 0; i < n; i++) {
        struct conn *c = events[i].data.ptr;
        if (!conn_send_rest(c) || ((events[i].events & ~(uint32_t)EPOLLOUT) && !conn_read(c)))
            conn_again(c);
    }
}

static void turns_until(int64_t end_ns)
{
    for (int64_t left; (left = end_ns - now_ns()) > 0;)
        turn((int)(left / 1000000) + 1);
}

/* By time, or until all is sent and answered. */
static struct clocks run_measured(void)
{
    if (opts.requests) {
        while (run.left || run.out)
            turn(1000);
        return clocks_read();
    }
    turns_until(run.start.wall_ns + opts.timed_ns);
    return clocks_read();
}

static void run_drain(void)
{
    run.stopping = true;
    for (int64_t end = now_ns() + DRAIN_NS; run.out && now_ns() < end;)
        turn(100);
    for (unsigned i = 0; i < opts.connections; i++)
        if (run.conns[i]->fd >= 0)
            conn_close(run.conns[i]); /* what is owed counts as broken */
}

static void run_start(void)
{
    run.epoll = epoll_create1(EPOLL_CLOEXEC);
    run.conns = calloc(opts.connections, sizeof *run.conns);
    if (run.epoll < 0 || !run.conns)
        die("epoll: %s", strerror(errno));
    run.left = opts.requests;
    run.start = clocks_read();
    for (unsigned i = 0; i < opts.connections; i++) {
        run.conns[i] = calloc(1, sizeof *run.conns[i]);
        if (!run.conns[i])
            die("out of memory");
        conn_open(run.conns[i]);
    }
    for (unsigned i = 0; i < opts.connections; i++)
        if (!conn_send(run.conns[i], now_ns()))
            conn_again(run.conns[i]);
    if (opts.warm_ns)
        turns_until(now_ns() + opts.warm_ns);
    struct totals warm = run.totals;
    run.totals = (struct totals){.non_2xx = warm.non_2xx,
                                 .bad_status = warm.bad_status, /* faults are never forgotten */
                                 .wrong_length = warm.wrong_length,
                                 .broken = warm.broken};
    if (opts.warm_ns)
        run.start = clocks_read();
}

int main(int argc, char **argv)
{
    load_opts_parse(&opts, argc, argv);
    run.no_body = strcmp(opts.plan.method, "HEAD") == 0;
    plan_init(&run.plan, &opts.plan);
    run_start();
    struct clocks end = run_measured();
    struct totals measured = run.totals;
    run_drain();
    measured.non_2xx = run.totals.non_2xx;
    measured.bad_status = run.totals.bad_status;
    measured.wrong_length = run.totals.wrong_length;
    measured.broken = run.totals.broken;
    run.totals = measured;
    report(&end);
    plan_release(&run.plan);
    freeaddrinfo(opts.address);
    return run.totals.non_2xx || run.totals.wrong_length || run.totals.broken ? 1 : 0;
}
