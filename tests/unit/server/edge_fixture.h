/* tests/unit/server/edge_fixture.h - the edge, with one worker, over a store that a test can hold back or have fail,
 * and clients on sockets. */
#ifndef TESTS_UNIT_SERVER_EDGE_FIXTURE_H
#define TESTS_UNIT_SERVER_EDGE_FIXTURE_H

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

/* On that engine, which wrap_engine has been given. */
static inline void server_start_on(const struct engine_ops *engine, struct store_opts opts)
{
    struct store_worker *reader = NULL;
    struct err err;
    opts.engine = "memory";
    opts.workers = STORE_WORKERS;
    options = options_defaults;
    options.listen = "127.0.0.1:0";
    options.threads = 1;
    options.body_max = LIMIT_BODY_MAX;
    router_init();
    atomic_store(&server.draining, false);
    if (store_open_engine(&server.store, engine, &opts, &err) != RC_OK ||
        store_worker_new(&reader, server.store, NULL, &err) != RC_OK ||
        catalog_open(&server.catalog, reader, &err) != RC_OK)
        fail_msg("%s", err.message);
    store_worker_free(reader);
    if (edge_start(&server, &err) != RC_OK ||
        address_parse(slice_str(edge_listening(server.edge) + 7), &address, &err) != RC_OK)
        fail_msg("%s", err.message);
}

static inline void server_start(void)
{
    server_start_on(wrap_engine(&engine_memory), (struct store_opts){0});
}

/* After edge_join. */
static inline void server_free(void)
{
    edge_free(server.edge);
    store_close(server.store);
    catalog_free(server.catalog);
}

static inline void server_stop(void)
{
    edge_drain(server.edge);
    edge_join(server.edge, 60000);
    server_free();
}

static inline void store_hold(void)
{
    pthread_mutex_lock(&wrap.lock);
    wrap.hold = true;
    pthread_mutex_unlock(&wrap.lock);
}

/* ---- a client ---- */

static inline int client(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address.socket, address.bytes), 0);
    return fd;
}

static inline void say(int fd, const char *text)
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
static inline void hear(int fd, unsigned answers, const char *body)
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
static inline void hear_status(int fd, const char *status)
{
    char text[32] = "";
    assert_int_equal(recv(fd, text, strlen(status), MSG_WAITALL), strlen(status));
    assert_string_equal(text, status);
    close(fd);
}

static inline void hear_the_end(int fd)
{
    char byte;
    assert_true(recv(fd, &byte, 1, 0) <= 0);
    close(fd);
}

static inline bool is_silent(const int *fds, size_t n, int ms)
{
    struct pollfd p[64];
    assert_true(n <= ARRAY_LEN(p));
    for (size_t i = 0; i < n; i++)
        p[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    return poll(p, n, ms) == 0;
}

static inline void make_type(void)
{
    int fd = client();
    say(fd, PUTSCHEMA);
    hear(fd, 1, "OK");
    say(fd, PUT); /* the schema is compiled now, and the record exists */
    hear(fd, 1, "OK");
    close(fd);
}

#endif
