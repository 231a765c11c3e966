/* tests/unit/server/test_edge_threads.c - the edge over a socket while the store is slow, and an end by force. */
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "server/catalog.h"
#include "server/http/address.h"
#include "server/http/edge.h"
#include "server/http/worker.h"
#include "server/router.h"
#include "server/server.h"
#include "storage/engine.h"
#include "tests/unit/storage/wrap.h"

/* ---- a server, whose store can be held back ---- */

/* So many workers share the store's queue that a few connections fill the one worker's part of it. */
enum { STORE_WORKERS = 512, SHARE = 65536 / STORE_WORKERS };

static struct options options;
static struct server server = {.options = &options};
static struct address address;

static void server_start(void)
{
    const struct store_opts opts = {.engine = "memory", .workers = STORE_WORKERS};
    struct store_worker *reader = NULL;
    struct err err;
    options = options_defaults;
    options.listen = "127.0.0.1:0";
    options.threads = 1;
    options.body_max = 1 << 20;
    router_init();
    atomic_store(&server.draining, false);
    if (store_open_engine(&server.store, wrap_engine(&engine_memory), &opts, &err) != RC_OK ||
        store_worker_new(&reader, server.store, NULL, &err) != RC_OK ||
        catalog_open(&server.catalog, reader, &err) != RC_OK)
        fail_msg("%s", err.message);
    store_worker_free(reader);
    if (edge_start(&server.edge, &server, &err) != RC_OK ||
        address_parse(slice_str(edge_listening(server.edge) + 7), &address, &err) != RC_OK)
        fail_msg("%s", err.message);
}

/* After edge_join. */
static void server_free(void)
{
    edge_free(server.edge);
    store_close(server.store);
    catalog_free(server.catalog);
}

static void server_stop(void)
{
    edge_drain(server.edge);
    edge_join(server.edge, 60000);
    server_free();
}

static void store_hold(void)
{
    pthread_mutex_lock(&wrap.lock);
    wrap.hold = true;
    pthread_mutex_unlock(&wrap.lock);
}

/* ---- a client ---- */

static int client(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address.socket, address.bytes), 0);
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

#define PING       "GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define PUT_HEAD   "POST /bytes/put/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n"
#define PUT        PUT_HEAD "abc"
#define GET_LONG   "GET /bytes/get/long HTTP/1.1\r\nHost: localhost\r\nAccept: avro/json\r\n\r\n"
#define PUTSCHEMA  "POST /putschema/bytes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\n\r\n\"bytes\""
#define STATUS_200 "HTTP/1.1 200 OK\r\n"

/* Read until so many bodies have come; each answer must be a 200 and each body the one given. */
static void hear(int fd, unsigned answers, const char *body)
{
    char text[65536], tail[32];
    size_t len = 0;
    unsigned n = 0;
    snprintf(tail, sizeof tail, "\r\n\r\n%s", body);
    while (n < answers) {
        ssize_t got = recv(fd, text + len, sizeof text - 1 - len, 0);
        if (got <= 0)
            fail_msg("%u answers of %u, then the end: %.400s", n, answers, text);
        len += (size_t)got;
        text[len] = 0;
        char *at = text;
        for (char *end; (end = strstr(at, tail)); at = end + strlen(tail), n++)
            if (strncmp(at, STATUS_200, strlen(STATUS_200)) != 0)
                fail_msg("%.100s", at);
        len -= (size_t)(at - text);
        memmove(text, at, len);
    }
    assert_int_equal(len, 0);
}

/* And no more of this client. */
static void hear_status(int fd, const char *status)
{
    char text[32] = "";
    assert_int_equal(recv(fd, text, strlen(status), MSG_WAITALL), strlen(status));
    assert_string_equal(text, status);
    close(fd);
}

static void hear_the_end(int fd)
{
    char byte;
    assert_true(recv(fd, &byte, 1, 0) <= 0);
    close(fd);
}

static bool is_silent(const int *fds, size_t n, int ms)
{
    struct pollfd p[64];
    assert_true(n <= ARRAY_LEN(p));
    for (size_t i = 0; i < n; i++)
        p[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    return poll(p, n, ms) == 0;
}

static void make_type(void)
{
    int fd = client();
    say(fd, PUTSCHEMA);
    hear(fd, 1, "OK");
    say(fd, PUT); /* the schema is compiled now, and the record exists */
    hear(fd, 1, "OK");
    close(fd);
}

/* ---- tests ---- */

TEST(edge__reads_no_more_while_the_store_is_busy_and_goes_on_later)
{
    enum { CLIENTS = 8, PUTS = 64 };
    _Static_assert(CLIENTS * PUTS > 3 * SHARE, "far more than the store would take");
    int fds[CLIENTS + 1];
    server_start();
    make_type();
    store_hold();
    for (unsigned i = 0; i < CLIENTS; i++) {
        fds[i] = client();
        for (unsigned k = 0; k < PUTS; k++)
            say(fds[i], PUT);
    }
    fds[CLIENTS] = client();
    say(fds[CLIENTS], PING PING);
    /* Who reads on would refuse writes, for the queue is full, and answer the pings. */
    assert_true(is_silent(fds, CLIENTS + 1, 300));
    wrap_release();
    hear(fds[CLIENTS], 2, "pong");
    for (unsigned i = 0; i < CLIENTS; i++)
        hear(fds[i], PUTS, "OK");
    for (unsigned i = 0; i <= CLIENTS; i++)
        close(fds[i]);
    server_stop();
}

TEST(edge__answers_little_though_too_much_waits_for_slow_clients)
{
    enum { LONG = LIMIT_ANSWER_SMALL + 1 };
    static char text[LONG + 100];
    server_start();
    make_type();
    int fd = client();
    int head =
        snprintf(text, sizeof text,
                 "POST /bytes/put/long HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", LONG);
    memset(text + head, 'x', LONG);
    say(fd, text);
    hear(fd, 1, "OK");
    atomic_fetch_add(&server.edge->answer_bytes, LIMIT_ANSWERS_BUDGET + 1);
    say(fd, PING);
    hear(fd, 1, "pong");
    say(fd, "GET /bytes/get/1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    hear(fd, 1, "abc");
    say(fd, PUT);
    hear(fd, 1, "OK");
    say(fd, GET_LONG);
    hear_status(fd, "HTTP/1.1 503 ");
    atomic_fetch_sub(&server.edge->answer_bytes, LIMIT_ANSWERS_BUDGET + 1);
    fd = client();
    say(fd, GET_LONG);
    hear_status(fd, STATUS_200);
    server_stop();
}

static void *join(void *deadline_ms)
{
    edge_join(server.edge, *(unsigned *)deadline_ms);
    return NULL;
}

TEST(edge__closes_by_force_what_is_open_at_the_deadline)
{
    int begun, waiting, idle;
    server_start();
    make_type();
    begun = client();
    say(begun, PING PUT_HEAD "ab");
    hear(begun, 1, "pong");
    waiting = client();
    say(waiting, PING PING "GET /pi");
    hear(waiting, 2, "pong");
    idle = client();
    say(idle, PING);
    hear(idle, 1, "pong");
    edge_drain(server.edge);
    hear_the_end(idle);
    edge_join(server.edge, 0);
    hear_the_end(begun);
    hear_the_end(waiting);
    server_free();
}

TEST(edge__ends_by_force_once_the_writes_in_flight_are_done)
{
    unsigned deadline_ms = 0;
    pthread_t joiner;
    server_start();
    make_type();
    store_hold();
    int fd = client();
    say(fd, PUT PUT PUT);
    pthread_mutex_lock(&wrap.lock);
    while (!wrap.held)
        pthread_cond_wait(&wrap.changed, &wrap.lock);
    pthread_mutex_unlock(&wrap.lock);
    edge_drain(server.edge);
    assert_int_equal(pthread_create(&joiner, NULL, join, &deadline_ms), 0);
    hear_the_end(fd); /* unanswered: nobody was told that they are stored */
    wrap_release();
    pthread_join(joiner, NULL);
    server_free();
}

TEST_MAIN()
