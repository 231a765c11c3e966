/* bench/limit.c - the speed of light of an HTTP server on one core: raw epoll, find the blank line, answer a
 * fixed text. It knows nothing of targets and methods but that GET and HEAD carry no body. With --hold-us it answers
 * when a group commit of that length would be over: whatever waits when one ends is what the next one answers. */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "bench/cli.h"

enum { IN_BYTES = 16384, EVENTS = 256, COPIES_MAX = 64, COPIES_BYTES = 256 << 10, TOTAL_MAX = 1 << 20 };
enum { HOLD_US_MAX = 10000000 };

struct conn {
    int fd;
    bool want_write; /* EPOLLOUT is asked for: the socket was full */
    size_t have;     /* bytes in `in` */
    uint64_t skip;   /* bytes of a request body that are still to come */
    uint64_t owed;   /* bytes of answers not written yet */
    size_t at;       /* where in the repeated answer the next write starts */
    bool held;       /* on a list of `hold` */
    bool gone;       /* closed meanwhile */
    struct conn *next;
    char in[IN_BYTES];
};

/* The answer, some times in a row: a pipelined batch is one write. Of a long one fewer: they shall stay in the cache,
 * as a server's own would. */
static struct {
    char *bytes;
    size_t len; /* of one */
    size_t copies;
} answer;

/* What waits for its commit. */
static struct {
    struct timespec time; /* of one; 0: answers are not held */
    int timer;
    struct conn *waiting; /* for the one behind that at hand */
    struct conn *due;     /* when the timer rings */
} hold = {.timer = -1};

/* One answer with a body of `body` bytes; `total`, if not 0, is the length of head and body together: what is
 * missing is made up in the reason phrase, so that every length can be had. */
static void answer_build(size_t body, size_t total)
{
    char length[64];
    int n = snprintf(length, sizeof length, "\r\nContent-Length: %zu\r\n\r\n", body);
    size_t plain = strlen("HTTP/1.1 200 OK") + (size_t)n + body;
    if (total && total < plain)
        die("--total %zu is too short: %zu bytes are the least with --body %zu", total, plain, body);
    size_t pad = total ? total - plain : 0;
    answer.len = plain + pad;
    size_t copies = COPIES_BYTES / answer.len;
    answer.copies = copies < 1 ? 1 : copies > COPIES_MAX ? COPIES_MAX : copies;
    answer.bytes = malloc(answer.len * answer.copies);
    if (!answer.bytes)
        die("out of memory");
    for (size_t i = 0; i < answer.copies; i++) {
        char *p = answer.bytes + i * answer.len;
        p = mempcpy(p, "HTTP/1.1 200 OK", strlen("HTTP/1.1 200 OK"));
        memset(p, 'K', pad);
        p = mempcpy(p + pad, length, (size_t)n);
        memset(p, 'x', body);
    }
}

static int listen_on(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) ||
        bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 4096) ||
        getsockname(fd, (struct sockaddr *)&a, &len))
        die("port %u: %s", port, strerror(errno));
    printf("%u\n", ntohs(a.sin_port));
    fflush(stdout);
    return fd;
}

static void conn_close(struct conn *c)
{
    if (!c->gone)
        close(c->fd);
    c->gone = true;
    if (!c->held)
        free(c);
}

static void conn_accept(int epoll, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), one = 1;
    if (fd < 0)
        return;
    struct conn *c = malloc(sizeof *c);
    if (!c) {
        close(fd);
        return;
    }
    memset(c, 0, offsetof(struct conn, in));
    c->fd = fd;
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e))
        conn_close(c);
}

static uint64_t content_length(const char *head, const char *end)
{
    static const char name[] = "content-length:";
    if (*head == 'G' || *head == 'H')
        return 0;
    while ((head = memchr(head, '\n', (size_t)(end - head))) != NULL) {
        head++;
        if ((size_t)(end - head) > sizeof name && strncasecmp(head, name, sizeof name - 1) == 0)
            return strtoull(head + sizeof name - 1, NULL, 10);
    }
    return 0;
}

/* Take the whole requests out of `in`: how many ended. */
static size_t conn_take(struct conn *c)
{
    size_t at = 0, ended = 0;
    for (;;) {
        if (c->skip) {
            size_t take = c->have - at < c->skip ? c->have - at : (size_t)c->skip;
            at += take;
            c->skip -= take;
            if (c->skip)
                break;
            ended++;
        }
        const char *head = c->in + at, *end = memmem(head, c->have - at, "\r\n\r\n", 4);
        if (!end)
            break;
        at += (size_t)(end - head) + 4;
        c->skip = content_length(head, end + 2);
        if (!c->skip)
            ended++;
    }
    c->have -= at;
    if (c->have)
        memmove(c->in, c->in + at, c->have);
    return ended;
}

static void conn_want_write(struct conn *c, int epoll, bool want)
{
    if (c->want_write == want)
        return;
    struct epoll_event e = {.events = want ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = c};
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, c->fd, &e))
        die("epoll_ctl: %s", strerror(errno));
    c->want_write = want;
}

/* False: the connection is gone. */
static bool conn_write(struct conn *c, int epoll)
{
    while (c->owed) {
        size_t run = answer.len * answer.copies - c->at;
        size_t bytes = c->owed < run ? (size_t)c->owed : run;
        ssize_t n = write(c->fd, answer.bytes + c->at, bytes);
        if (n < 0) {
            if (errno != EAGAIN)
                return false;
            conn_want_write(c, epoll, true);
            return true;
        }
        c->owed -= (uint64_t)n;
        c->at = (c->at + (size_t)n) % answer.len;
    }
    conn_want_write(c, epoll, false);
    return true;
}

static bool conn_read(struct conn *c)
{
    ssize_t n = read(c->fd, c->in + c->have, sizeof c->in - c->have);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0)
        return false;
    c->have += (size_t)n;
    c->owed += conn_take(c) * answer.len;
    return c->have < sizeof c->in; /* a head that fills the buffer is too long */
}

/* ---- held answers ---- */

static void hold_begin(void)
{
    const struct itimerspec once = {.it_value = hold.time};
    hold.due = hold.waiting;
    hold.waiting = NULL;
    if (hold.due && timerfd_settime(hold.timer, 0, &once, NULL))
        die("timerfd_settime: %s", strerror(errno));
}

static void hold_add(struct conn *c)
{
    if (c->held || !c->owed)
        return;
    c->held = true;
    c->next = hold.waiting;
    hold.waiting = c;
    if (!hold.due)
        hold_begin();
}

/* The next commit begins, then the answers of this one leave. */
static void hold_end(int epoll)
{
    struct conn *next, *c = hold.due;
    hold_begin();
    for (; c; c = next) {
        next = c->next;
        c->held = false;
        if (c->gone || !conn_write(c, epoll))
            conn_close(c);
    }
}

static void hold_init(int epoll)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.ptr = &hold}; /* never read */
    hold.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (hold.timer < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, hold.timer, &e))
        die("timerfd: %s", strerror(errno));
}

/* ---- the loop ---- */

static bool is_holding(void)
{
    return hold.timer >= 0;
}

static void conn_turn(struct conn *c, uint32_t events, int epoll)
{
    if ((events & ~(uint32_t)EPOLLOUT) && !conn_read(c)) {
        conn_close(c);
        return;
    }
    if (is_holding() && !c->want_write)
        hold_add(c);
    else if (!conn_write(c, epoll))
        conn_close(c);
}

static void serve(int listener)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL}, events[EVENTS];
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e))
        die("epoll: %s", strerror(errno));
    if (hold.time.tv_sec || hold.time.tv_nsec)
        hold_init(epoll);
    for (;;) {
        int n = epoll_wait(epoll, events, EVENTS, -1);
        if (n < 0 && errno != EINTR)
            die("epoll_wait: %s", strerror(errno));
        bool ends = false;
        for (int i = 0; i < n; i++) {
            if (!events[i].data.ptr)
                conn_accept(epoll, listener);
            else if (events[i].data.ptr == &hold)
                ends = true; /* behind the others: a connection that it closes may be among them */
            else
                conn_turn(events[i].data.ptr, events[i].events, epoll);
        }
        if (ends)
            hold_end(epoll);
    }
}

int main(int argc, char **argv)
{
    static const struct option table[] = {{"port", required_argument, NULL, 'p'},
                                          {"body", required_argument, NULL, 'b'},
                                          {"total", required_argument, NULL, 't'},
                                          {"hold-us", required_argument, NULL, 'h'},
                                          {0}};
    uint64_t port = 0, body = 4, total = 0, hold_us = 0;
    for (int o; (o = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        switch (o) {
        case 'p': port = cli_number("--port", optarg, 0, 65535); break;
        case 'b': body = cli_number("--body", optarg, 0, TOTAL_MAX); break;
        case 't': total = cli_number("--total", optarg, 0, TOTAL_MAX); break;
        case 'h': hold_us = cli_number("--hold-us", optarg, 0, HOLD_US_MAX); break;
        default:
            die("limit [--port P] [--body BYTES] [--total BYTES] [--hold-us N]\n"
                "answers every request on 127.0.0.1:P with 200 and a body of BYTES; --total is head and "
                "body\n"
                "together. --hold-us: answer as if each group of requests took a commit of N us. The port "
                "(0: a free "
                "one) is printed.");
        }
    }
    hold.time = (struct timespec){(time_t)(hold_us / 1000000), (long)(hold_us % 1000000) * 1000};
    answer_build(body, total);
    serve(listen_on((uint16_t)port));
}
