/* tests/unit/server/test_respond.c - the bytes of a response. */
#include "server/http/respond.h"

#include <stdlib.h>

#include "server/http/date.h"
#include "server/http/request_id.h"
#include "tests/lib/test.h"

#define ID   "X-Request-Id: 0000000000000000\r\n" /* of number 0 */
#define DATE "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, REQUEST_ID_MADE_BYTES);
}

static void check(const struct request *req, enum connection_says says, const char *want)
{
    struct buf out = {0};
    struct date date = {0};
    date_update(&date, 784111777);
    assert_true(respond_render(&out, req, &date, says));
    assert_slice_str(buf_slice(&out), want);
    buf_release(&out);
}

TEST(respond_render__says_what_a_client_needs)
{
    struct request req = {.method = METHOD_GET,
                          .response = {.status = 200, .content_type = "text/plain", .body = SLICE("pong")}};
    check(&req, SAYS_NOTHING,
          "HTTP/1.1 200 OK\r\n" DATE "Content-Type: text/plain\r\nContent-Length: 4\r\n" ID "\r\npong");
    check(&req, SAYS_KEEP_ALIVE,
          "HTTP/1.1 200 OK\r\n" DATE "Content-Type: text/plain\r\nContent-Length: 4\r\n" ID
          "Connection: keep-alive\r\n\r\npong");
    check(&req, SAYS_CLOSE,
          "HTTP/1.1 200 OK\r\n" DATE "Content-Type: text/plain\r\nContent-Length: 4\r\n" ID
          "Connection: close\r\n\r\npong");
}

TEST(respond_render__gives_head_the_same_head_and_no_body)
{
    struct request req = {.method = METHOD_HEAD,
                          .response = {.status = 200, .content_type = "text/plain", .body = SLICE("pong")}};
    check(&req, SAYS_NOTHING,
          "HTTP/1.1 200 OK\r\n" DATE "Content-Type: text/plain\r\nContent-Length: 4\r\n" ID "\r\n");
}

TEST(respond_render__writes_the_etag_and_further_headers)
{
    struct request req = {.method = METHOD_PUT,
                          .response = {.status = 201,
                                       .etag_revision = UINT64_MAX,
                                       .etag_version = UINT32_MAX,
                                       .headers = SLICE("Location: /e/1\r\n")}};
    check(&req, SAYS_NOTHING,
          "HTTP/1.1 201 Created\r\n" DATE
          "Content-Length: 0\r\nETag: \"18446744073709551615-4294967295\"\r\nLocation: /e/1\r\n" ID "\r\n");
}

TEST(respond_render__writes_the_etag_of_a_form)
{
    struct request req = {
        .method = METHOD_GET,
        .response = {.status = 304, .etag_revision = 1, .etag_version = 2, .etag_suffix = SLICE("-lb")}};
    check(&req, SAYS_NOTHING, "HTTP/1.1 304 Not Modified\r\n" DATE "ETag: \"1-2-lb\"\r\n" ID "\r\n");
    req.response.etag_revision = 0;
    check(&req, SAYS_NOTHING, "HTTP/1.1 304 Not Modified\r\n" DATE ID "\r\n");
}

TEST(respond_render__has_no_length_where_there_is_no_body)
{
    struct request req = {.method = METHOD_GET,
                          .response = {.status = 304, .etag_revision = 1, .etag_version = 2}};
    check(&req, SAYS_NOTHING, "HTTP/1.1 304 Not Modified\r\n" DATE "ETag: \"1-2\"\r\n" ID "\r\n");
    req.response = (struct response){.status = 204};
    check(&req, SAYS_NOTHING, "HTTP/1.1 204 No Content\r\n" DATE ID "\r\n");
}

TEST(respond_render__echoes_a_request_id_that_is_visible_ascii)
{
    struct request req = {.method = METHOD_GET, .response = {.status = 200}};
    req.header[HEADER_REQUEST_ID] = SLICE("ab-1!");
    check(&req, SAYS_NOTHING, "HTTP/1.1 200 OK\r\n" DATE "Content-Length: 0\r\nX-Request-Id: ab-1!\r\n\r\n");
    uint8_t longer[129];
    memset(longer, 'x', sizeof longer);
    req.header[HEADER_REQUEST_ID] = slice_of(longer, sizeof longer - 1);
    assert_int_equal(request_id(&req, NULL).len, REQUEST_ID_MAX);
    struct slice bad[] = {SLICE(""), SLICE("a b"), SLICE("a\tb"), SLICE("\xc3\xbc"),
                          slice_of(longer, sizeof longer)};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        req.header[HEADER_REQUEST_ID] = bad[i];
        check(&req, SAYS_NOTHING, "HTTP/1.1 200 OK\r\n" DATE "Content-Length: 0\r\n" ID "\r\n");
    }
}

TEST(request_id__prints_every_digit)
{
    uint8_t text[REQUEST_ID_MADE_BYTES];
    struct request req = {.edge = {.number = 1}};
    assert_slice_str(request_id(&req, text), "9e3779b97f4a7c15");
    req.edge.number = UINT64_C(0xf1de83e19937733d); /* the inverse of the multiplier */
    assert_slice_str(request_id(&req, text), "0000000000000001");
    req.edge.number *= UINT64_C(0x0123456789abcdef);
    assert_slice_str(request_id(&req, text), "0123456789abcdef");
}

TEST(request_id__is_another_one_for_each_request_of_each_worker)
{
    static char seen[4000][REQUEST_ID_MADE_BYTES];
    struct request req = {0};
    size_t n = 0;
    for (unsigned worker = 0; worker < 4; worker++) {
        req.edge.number = request_id_start(worker, UINT64_MAX - worker);
        for (int i = 0; i < 1000; i++, req.edge.number++, n++)
            (void)request_id(&req, (uint8_t *)seen[n]);
    }
    qsort(seen, n, sizeof seen[0], by_bytes);
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < REQUEST_ID_MADE_BYTES; k++)
            assert_non_null(memchr("0123456789abcdef", seen[i][k], 16));
        assert_true(i == 0 || memcmp(seen[i - 1], seen[i], sizeof seen[0]));
    }
}

TEST(respond_unasked__is_a_whole_answer_that_ends_the_connection)
{
    struct buf out = {0};
    struct date date = {0};
    struct err err;
    date_update(&date, 784111777);
    err_set(&err, ERR_TOO_MANY_CONNECTIONS, "Later.");
    assert_true(respond_unasked(&out, &err, 0, &date));
    assert_slice_str(buf_slice(&out),
                     "HTTP/1.1 503 Service Unavailable\r\n" DATE
                     "Content-Type: application/problem+json\r\nContent-Length: 93\r\nRetry-After: 1\r\n" ID
                     "Connection: close\r\n\r\n"
                     "{\"status\":503,\"title\":\"Too many connections\",\"detail\":\"Later.\","
                     "\"code\":\"too_many_connections\"}");
    buf_release(&out);
}

TEST(response_header__appends_lines_however_many)
{
    struct request req = {.method = METHOD_GET, .response = {.status = 200, .headers = SLICE("A: b\r\n")}};
    struct buf want = {0};
    assert_true(buf_append(&want, SLICE("A: b\r\n")));
    for (int i = 0; i < 200; i++) {
        assert_true(response_header(&req, "Schema-Warning", SLICE("it is odd")));
        assert_true(buf_append(&want, SLICE("Schema-Warning: it is odd\r\n")));
    }
    assert_true(slice_eq(req.response.headers, buf_slice(&want)));
    buf_release(&want);
    arena_release(&req.arena);
}

TEST(response_header__needs_no_memory_for_what_was_reserved)
{
    struct request req = {.method = METHOD_GET, .response = {.status = 200, .headers = SLICE("A: b\r\n")}};
    assert_true(response_reserve(&req, 2000));
    const uint8_t *lines = req.response.headers.ptr;
    for (int i = 0; i < 100; i++)
        assert_true(response_header(&req, "Schema", SLICE("it is odd")));
    assert_ptr_equal(req.response.headers.ptr, lines);
    assert_int_equal(req.response.headers.len, 6 + 100 * 19);
    arena_release(&req.arena);
}

TEST(response_header__copies_lines_that_it_has_not_made)
{
    struct request req = {.method = METHOD_GET, .response = {.status = 200}};
    static const char lines[] = "A: b\r\n"; /* read-only: not to be written behind */
    assert_true(response_reserve(&req, 200));
    req.response.headers = slice_of(lines, 6);
    assert_true(response_header(&req, "B", SLICE("c")));
    assert_slice_str(req.response.headers, "A: b\r\nB: c\r\n");
    arena_release(&req.arena);
}

TEST(respond_render__tells_how_a_stream_ends)
{
    static const struct stream stream = {NULL, NULL};
    struct request req = {.method = METHOD_GET,
                          .http_minor = 1,
                          .response = {.status = 200, .stream = &stream, .stream_bytes = 5}};
    check(&req, SAYS_NOTHING, "HTTP/1.1 200 OK\r\n" DATE "Content-Length: 5\r\n" ID "\r\n");
    req.response.stream_bytes = STREAM_BYTES_UNKNOWN;
    check(&req, SAYS_NOTHING, "HTTP/1.1 200 OK\r\n" DATE "Transfer-Encoding: chunked\r\n" ID "\r\n");
    req.http_minor = 0;
    check(&req, SAYS_CLOSE, "HTTP/1.1 200 OK\r\n" DATE ID "Connection: close\r\n\r\n");
    req.http_minor = 1;
    req.method = METHOD_HEAD;
    check(&req, SAYS_NOTHING, "HTTP/1.1 200 OK\r\n" DATE ID "\r\n");
}

TEST_MAIN()
