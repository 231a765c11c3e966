/* tests/unit/server/test_streams_threads.c - long answers over a socket that cannot be finished, or end before their
 * time: what a client sees must not look whole when it is not. */
#include <netinet/in.h>

#include "storage/keys.h"
#include "tests/unit/server/edge_fixture.h"

/* More than the kernel takes for a client that does not read. */
enum { LONG = 12 << 20, ROWS = 3000, ROW = 3900 };

#define END_OF_CHUNKS "\r\n0\r\n\r\n"

/* ---- a store whose scans fail, or are met by something else ---- */

static _Atomic bool armed;
static enum rc (*on_look)(struct err *); /* the first look at records once armed, in the worker's thread */

static enum rc seek(struct snap *s, struct slice at, struct slice *key, struct slice *value, struct err *err)
{
    if (at.ptr[0] == DB_RECORDS && atomic_exchange(&armed, false) && on_look(err) != RC_OK)
        return RC_ERR;
    return wrap.inner->seek(s, at, key, value, err);
}

static enum rc get(struct snap *s, struct slice key, struct slice *value, struct err *err)
{
    if (key.ptr[0] == DB_RECORDS && atomic_exchange(&armed, false) && on_look(err) != RC_OK)
        return RC_ERR;
    return wrap.inner->get(s, key, value, err);
}

static void start(enum rc (*hook)(struct err *), uint32_t blob_keep_ms)
{
    (void)wrap_engine(&engine_memory);
    wrap.ops.seek = seek;
    wrap.ops.get = get;
    on_look = hook;
    atomic_store(&armed, false);
    server_start_on(&wrap.ops, (struct store_opts){.blob_keep_ms = blob_keep_ms});
}

/* ---- a client that takes its time ---- */

static int slow_client(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), bytes = 4096;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address.socket, address.bytes), 0);
    return fd;
}

struct heard {
    char *text;   /* owned; a NUL behind it */
    size_t bytes; /* all */
    char *body;   /* in text */
    int end;      /* 0, or the errno */
};

static void hear_some(int fd, struct heard *h, size_t most)
{
    h->text = h->text ? h->text : malloc(2 * LONG);
    assert_non_null(h->text);
    ssize_t got = 1;
    while (h->bytes < most && (got = recv(fd, h->text + h->bytes, 2 * LONG - 1 - h->bytes, 0)) > 0)
        h->bytes += (size_t)got;
    h->end = got < 0 ? errno : 0;
    h->text[h->bytes] = 0;
}

/* Until the server ends it. */
static void hear_all(int fd, struct heard *h)
{
    hear_some(fd, h, SIZE_MAX);
    close(fd);
    h->body = strstr(h->text, "\r\n\r\n");
    assert_non_null(h->body);
    h->body += 4;
}

static size_t body_bytes(const struct heard *h)
{
    return h->bytes - (size_t)(h->body - h->text);
}

static unsigned long long said_length(const struct heard *h)
{
    const char *at = strstr(h->text, "\r\nContent-Length: ");
    return at && at < h->body ? strtoull(at + 18, NULL, 10) : 0;
}

static bool ends_in(const struct heard *h, const char *tail)
{
    size_t n = strlen(tail);
    return h->bytes >= n && memcmp(h->text + h->bytes - n, tail, n) == 0;
}

/* ---- a body whose chunks go while it is read ---- */

static void put_long(int fd)
{
    static char text[LONG + 100];
    int head =
        snprintf(text, sizeof text,
                 "POST /bytes/put/long HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", LONG);
    memset(text + head, 'x', LONG);
    say(fd, text);
    hear(fd, 1, "OK");
}

/* And wait until nothing of it is left. */
static void replace_long(int fd)
{
    struct fixture f = {.ops = &wrap.ops, .store = server.store};
    say(fd, "POST /bytes/put/long HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc");
    hear(fd, 1, "OK");
    fixture_await_rows(&f, DB_CHUNKS, 0);
}

static void check_body_cut_short(const char *request, const char *status, size_t bytes)
{
    struct heard h = {0};
    start(NULL, 1);
    make_type();
    int fd = client(), slow = slow_client();
    put_long(fd);
    say(slow, request);
    hear_some(slow, &h, 1000);
    replace_long(fd);
    hear_all(slow, &h);
    assert_memory_equal(h.text, status, strlen(status));
    assert_int_equal(said_length(&h), bytes);
    assert_true(body_bytes(&h) >= 500 && body_bytes(&h) < bytes);
    for (size_t i = 0; i < body_bytes(&h); i++)
        assert_true(h.body[i] == 'x'); /* and of no other record */
    say(fd, "GET /bytes/get/long HTTP/1.1\r\nHost: localhost\r\n\r\n");
    hear(fd, 1, "abc");
    close(fd);
    free(h.text);
    server_stop();
}

TEST(stream__whose_chunks_were_purged_ends_short_of_its_length)
{
    check_body_cut_short("GET /bytes/get/long HTTP/1.1\r\nHost: localhost\r\n\r\n" PING, STATUS_200, LONG);
}

TEST(stream__whose_chunks_were_purged_ends_short_of_its_length_in_http_1_0_too)
{
    check_body_cut_short("GET /bytes/get/long HTTP/1.0\r\n\r\n", STATUS_200, LONG);
}

TEST(stream__of_a_range_whose_chunks_were_purged_ends_short_of_its_length)
{
    check_body_cut_short("GET /bytes/get/long HTTP/1.1\r\nHost: localhost\r\nRange: bytes=5-\r\n\r\n",
                         "HTTP/1.1 206 ", LONG - 5);
}

/* ---- a scan ---- */

#define SCHEMA(more)                                                                                         \
    "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"s\",\"type\":\"string\"}" more "]}"

static void post(int fd, const char *target, const char *body)
{
    static char text[ROW + 1000];
    int n =
        snprintf(text, sizeof text, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s",
                 target, strlen(body), body);
    assert_true(n > 0 && (size_t)n < sizeof text);
    say(fd, text);
    hear(fd, 1, "OK");
}

static void put_rows(int fd)
{
    char body[ROW + 32], target[32];
    int head = snprintf(body, sizeof body, "{\"s\":\"");
    memset(body + head, 's', ROW);
    snprintf(body + head + ROW, sizeof body - (size_t)head - ROW, "\"}");
    post(fd, "/putschema/r", SCHEMA());
    for (unsigned i = 0; i < ROWS; i++) {
        snprintf(target, sizeof target, "/r/put/%06u", i);
        post(fd, target, body);
    }
}

static enum rc fail_to_seek(struct err *err)
{
    return err_set(err, ERR_IO, "The disk is gone.");
}

static void hear_scan_fail(const char *request, struct heard *h)
{
    start(fail_to_seek, 0);
    int fd = client(), slow = slow_client();
    put_rows(fd);
    say(slow, request);
    hear_some(slow, h, 1000);
    atomic_store(&armed, true);
    hear_all(slow, h);
    assert_false(atomic_load(&armed));
    assert_memory_equal(h->text, STATUS_200, strlen(STATUS_200));
    assert_true(body_bytes(h) >= 500 && body_bytes(h) < (size_t)ROWS * ROW);
    say(fd, PING);
    hear(fd, 1, "pong");
    close(fd);
    server_stop();
}

TEST(stream__in_chunks_that_cannot_go_on_has_no_last_chunk)
{
    struct heard h = {0};
    hear_scan_fail("GET /r HTTP/1.1\r\nHost: localhost\r\n\r\n" PING, &h);
    assert_non_null(strstr(h.text, "\r\nTransfer-Encoding: chunked\r\n"));
    assert_false(ends_in(&h, END_OF_CHUNKS));
    assert_null(strstr(h.body, "pong"));
    free(h.text);
}

TEST(stream__that_ends_with_the_connection_and_cannot_go_on_ends_with_a_reset)
{
    struct heard h = {0};
    hear_scan_fail("GET /r HTTP/1.0\r\n\r\n", &h);
    assert_null(strstr(h.text, "\r\nTransfer-Encoding:"));
    assert_int_equal(h.end, ECONNRESET);
    free(h.text);
}

/* The type goes between the store's look at it and the record's. */
static enum rc drop_type(struct err *err)
{
    struct catalog_change change;
    assert_true(catalog_change_begin(server.catalog, &change));
    enum rc rc = catalog_drop(server.catalog, SLICE("r"), 1, err);
    catalog_change_end(server.catalog, &change);
    return rc;
}

TEST(scan__of_a_type_that_is_dropped_ends_before_a_record_of_a_version_that_it_does_not_know)
{
    struct heard h = {0};
    start(drop_type, 0);
    int fd = client(), slow = slow_client();
    put_rows(fd);
    say(slow, "GET /r HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    hear_some(slow, &h, 1000);
    post(fd, "/putschema/r?compatibility=none", SCHEMA(",{\"name\":\"n\",\"type\":\"int\",\"default\":0}"));
    post(fd, "/r/put/002999", "{\"s\":\"\"}");
    for (unsigned i = 2000; i < 2999; i++) {
        char target[32];
        snprintf(target, sizeof target, "/r/put/%06u", i);
        post(fd, target, "{\"s\":\"\"}");
    }
    atomic_store(&armed, true);
    hear_all(slow, &h);
    assert_null(strstr(h.body, "error"));
    assert_true(ends_in(&h, END_OF_CHUNKS));
    free(h.text);
    close(fd);
    server_stop();
}

TEST(get__of_a_type_that_is_dropped_meanwhile_is_404_also_in_a_version_that_it_does_not_know)
{
    struct store_worker *store;
    struct err err;
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, "1"), .schema_id = 999, .part = {SLICE("\002x")}};
    start(drop_type, 0);
    int fd = client();
    post(fd, "/putschema/r", SCHEMA());
    assert_int_equal(store_worker_new(&store, server.store, NULL, &err), RC_OK);
    assert_int_equal(fixture_write_on(store, &w), RC_OK);
    store_worker_free(store);
    atomic_store(&armed, true);
    say(fd, "GET /r/1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    hear_status(fd, "HTTP/1.1 404 ");
    assert_false(atomic_load(&armed));
    server_stop();
}

TEST_MAIN()
