/* tests/unit/server/test_http1.c - heads of requests: what is accepted, what is refused and how, and that the
 * same comes out whether bytes arrive at once or one by one. */
#include "server/http/http1.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "server/handler.h"
#include "tests/lib/test.h"

static const struct http1_limits limits = {
    .head_max = LIMIT_HEAD_MAX, .target_max = LIMIT_TARGET_MAX, .headers_max = LIMIT_HEADERS_MAX};

struct outcome {
    enum http1_found found;
    enum http1_parsed parsed;
    struct err err;
    struct http1_info info;
    struct request req;
    size_t head_bytes; /* of the input, leading empty lines included */
    uint8_t *bytes;    /* a copy of exactly the input, so that a read beyond it is seen */
};

static void outcome_free(struct outcome *o)
{
    arena_release(&o->req.arena);
    free(o->bytes);
    free(o);
}

/* Feed `step` bytes at a time. */
static struct outcome *feed(struct slice in, size_t step)
{
    struct outcome *o = calloc(1, sizeof *o);
    assert_non_null(o);
    struct http1_scan scan = {0};
    for (size_t n = step < in.len ? step : in.len; o->found == HTTP1_MORE; n += step) {
        n = n < in.len ? n : in.len;
        free(o->bytes);
        o->bytes = malloc(n ? n : 1);
        memcpy(o->bytes, in.ptr, n);
        o->found = http1_scan(&scan, &limits, slice_of(o->bytes, n), &o->err);
        if (n == in.len)
            break;
    }
    o->head_bytes = scan.at;
    if (o->found == HTTP1_HEAD)
        o->parsed = http1_parse(slice_of(o->bytes + scan.start, scan.at - scan.start), &limits, &o->req,
                                &o->info, &o->err);
    return o;
}

static struct outcome *parse(const char *text)
{
    return feed(slice_str(text), SIZE_MAX / 2);
}

static void check_broken(struct slice in, enum err_code code)
{
    struct outcome *o = feed(in, SIZE_MAX / 2);
    if (o->found != HTTP1_BAD && !(o->found == HTTP1_HEAD && o->parsed == HTTP1_BROKEN))
        fail_msg("accepted: %.*s", (int)in.len, (const char *)in.ptr);
    if (o->err.code != code)
        fail_msg("code %d, not %d: %.*s", (int)o->err.code, (int)code, (int)in.len, (const char *)in.ptr);
    outcome_free(o);
}

static void check_refused(const char *text, enum err_code code)
{
    struct outcome *o = parse(text);
    assert_int_equal(o->found, HTTP1_HEAD);
    assert_int_equal(o->parsed, HTTP1_REFUSED);
    assert_int_equal(o->err.code, code);
    outcome_free(o);
}

static struct outcome *parse_ok(const char *text)
{
    struct outcome *o = parse(text);
    if (o->found != HTTP1_HEAD || o->parsed != HTTP1_OK)
        fail_msg("refused: %s: %s", text, o->err.message);
    return o;
}

#define HOST "Host: a\r\n"

TEST(http1_parse__takes_a_request_apart)
{
    struct outcome *o = parse_ok("POST /e/put/1?x=1&y HTTP/1.1\r\nHost: a:80\r\nContent-Length: 12\r\n"
                                 "content-TYPE:\t application/json \r\nX-Other: z\r\nX-Empty:\r\n\r\nbody");
    assert_int_equal(o->req.method, METHOD_POST);
    assert_int_equal(o->req.http_minor, 1);
    assert_slice_str(o->req.target, "/e/put/1?x=1&y");
    assert_slice_str(o->req.path, "/e/put/1");
    assert_slice_str(o->req.query, "x=1&y");
    assert_slice_str(o->req.header[HEADER_HOST], "a:80");
    assert_slice_str(o->req.header[HEADER_CONTENT_TYPE], "application/json");
    assert_int_equal(o->req.body_declared, 12);
    assert_true(o->info.keep_alive);
    assert_false(o->info.chunked);
    outcome_free(o);
}

TEST(http1_parse__knows_every_method_and_says_501_to_others)
{
    for (unsigned m = 0; m < METHODS; m++) {
        char text[128];
        snprintf(text, sizeof text, "%s / HTTP/1.1\r\n" HOST "\r\n", method_name((enum method)m));
        struct outcome *o = parse_ok(text);
        assert_int_equal(o->req.method, m);
        outcome_free(o);
    }
    check_refused("get / HTTP/1.1\r\n" HOST "\r\n", ERR_UNKNOWN_METHOD);
    check_refused("BREW / HTTP/1.1\r\n" HOST "\r\n", ERR_UNKNOWN_METHOD);
    check_broken(SLICE("G(T / HTTP/1.1\r\n" HOST "\r\n"), ERR_BAD_REQUEST);
}

TEST(http1_scan__gives_the_same_byte_by_byte_as_at_once)
{
    static const char *const cases[] = {
        "GET /ping HTTP/1.1\r\n" HOST "\r\n",
        "\r\nGET /ping HTTP/1.1\r\n" HOST "Accept: a\r\nAccept: b\r\n\r\nGET /next",
        "\r\n\r\nPUT /x?y HTTP/1.0\r\nContent-Length: 3\r\nConnection: Keep-Alive\r\n\r\nabc",
        "GET / HTTP/1.1\nHost: a\n\n",
        "GET / HTTP/1.1\r\nHost: a\r\rX: y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n",
        "\r\n\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n",
        "GET  / HTTP/1.1\r\n" HOST "\r\n",
        "GET / HTTP/1.1\r\n" HOST " folded\r\n\r\n",
        ("GET / HTTP/1.1\r\n" HOST),
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct outcome *whole = parse(cases[i]);
        for (size_t step = 1; step < 20; step++) {
            struct outcome *o = feed(slice_str(cases[i]), step);
            assert_int_equal(o->found, whole->found);
            assert_int_equal(o->parsed, whole->parsed);
            assert_int_equal(o->err.code, whole->err.code);
            assert_string_equal(o->err.message, whole->err.message);
            assert_int_equal(o->head_bytes, whole->head_bytes);
            assert_true(slice_eq(o->req.path, whole->req.path));
            for (int h = 0; h < HEADERS; h++)
                assert_true(slice_eq(o->req.header[h], whole->req.header[h]));
            outcome_free(o);
        }
        outcome_free(whole);
    }
}

TEST(http1_scan__refuses_a_bare_lf_at_once_without_waiting_for_the_end)
{
    struct err err;
    struct http1_scan scan = {0};
    assert_int_equal(http1_scan(&scan, &limits, SLICE("GET / HTTP/1.1\n"), &err), HTTP1_BAD);
}

TEST(http1_scan__refuses_every_control_character_but_tab_anywhere)
{
    for (int c = 0; c < 0x80; c++) {
        if ((c >= 0x20 && c != 0x7f) || c == '\t')
            continue;
        for (int at = 0; at < 40; at++) {
            char text[] = "GET /0123456789abcdef HTTP/1.1\r\nX-Long: 0123456789abcdef\r\n\r\n";
            char *line = at < 15 ? text + 5 + at : text + 40 + (at - 15);
            if (line >= text + sizeof text - 6)
                continue;
            *line = (char)c;
            check_broken(slice_of(text, sizeof text - 1), ERR_BAD_REQUEST);
        }
    }
}

TEST(http1_parse__refuses_broken_request_lines)
{
    static const char *const lines[] = {
        "GET /ping",
        "GET",
        "GET /ping ",
        "GET  /ping HTTP/1.1",
        "GET /ping  HTTP/1.1",
        "GET /ping HTTP/1.1 ",
        " GET /ping HTTP/1.1",
        "GET /a b HTTP/1.1",
        "GET\t/ping HTTP/1.1",
        "GET /a\tb HTTP/1.1",
        "GET /ping?\t HTTP/1.1",
        "GET http://h/\t HTTP/1.1",
        "GET \t/ping HTTP/1.1",
        "GET /ping HTTP/1.1\t",
        "GET /ping http/1.1",
        "GET /ping HTTP/11",
        "GET /ping HTTP/1.1x",
        "GET /ping HTTP/4294967297.1",
        "GET /ping HTTP/1.",
        "GET ping HTTP/1.1",
        "GET * HTTP/1.1",
        "GET /a#b HTTP/1.1",
        "GET /\xc3\xbc HTTP/1.1",
        "GET http:// HTTP/1.1",
        "GET http:///x HTTP/1.1",
        "GET http://u@h/x HTTP/1.1",
        "GET ftp://h/x HTTP/1.1",
        "CONNECT a:80 HTTP/1.1",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        char text[256];
        int n = snprintf(text, sizeof text, "%s\r\n" HOST "\r\n", lines[i]);
        check_broken(slice_of(text, (size_t)n), ERR_BAD_REQUEST);
    }
}

TEST(http1_parse__speaks_1_0_and_1_1_only)
{
    static const char *const versions[] = {"2.0", "1.2", "0.9", "3.0", "1.9", "0.0"};
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        char text[256];
        int n = snprintf(text, sizeof text, "GET / HTTP/%s\r\n" HOST "\r\n", versions[i]);
        check_broken(slice_of(text, (size_t)n), ERR_HTTP_VERSION);
    }
}

TEST(http1_parse__refuses_broken_fields)
{
    static const char *const lines[] = {
        ": x",        "Name : v",           "Name\t: v", " folded",
        "\tfold",     "no colon",           "Na me: v",  "N\xc3\xa4me: v",
        "N(a): v",    "Content-Length : 0", "Host : b",  "Transfer-Encoding : chunked",
        "Host: b",    "Host: a b",          "Host: a/b", "Host: a:x",
        "Host: [::1", "Host: a@b",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        char text[256];
        bool has_host = !strncmp(lines[i], "Host: ", 6) && strcmp(lines[i], "Host: b") != 0;
        int n = snprintf(text, sizeof text, "GET / HTTP/1.1\r\n%s%s\r\n\r\n", has_host ? "" : HOST, lines[i]);
        check_broken(slice_of(text, (size_t)n), ERR_BAD_REQUEST);
    }
}

TEST(http1_parse__wants_a_host_of_1_1_alone)
{
    check_broken(SLICE("GET / HTTP/1.1\r\n\r\n"), ERR_BAD_REQUEST);
    outcome_free(parse_ok("GET / HTTP/1.0\r\n\r\n"));
    outcome_free(parse_ok("GET / HTTP/1.1\r\nHost:\r\n\r\n"));
    outcome_free(parse_ok("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n"));
}

TEST(http1_parse__takes_an_absolute_target_and_its_host)
{
    struct outcome *o = parse_ok("GET HTTP://h:81/a?b=/c HTTP/1.1\r\nHost: other\r\n\r\n");
    assert_slice_str(o->req.path, "/a");
    assert_slice_str(o->req.query, "b=/c");
    assert_slice_str(o->req.header[HEADER_HOST], "h:81");
    outcome_free(o);
    o = parse_ok("GET http://h?q HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_slice_str(o->req.path, "/");
    assert_slice_str(o->req.query, "q");
    outcome_free(o);
    o = parse_ok("OPTIONS http://h HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_slice_str(o->req.path, "*");
    outcome_free(o);
    o = parse_ok("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_slice_str(o->req.path, "*");
    outcome_free(o);
}

TEST(http1_parse__refuses_a_length_that_is_not_one_number)
{
    static const char *const values[] = {"+1",  "-1", "1 2", "1,1", "4, 4",
                                         "0x4", "",   "4.0", "1e2", "\xd9\xa3"};
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        char text[256];
        int n =
            snprintf(text, sizeof text, "PUT / HTTP/1.1\r\n" HOST "Content-Length: %s\r\n\r\n", values[i]);
        check_broken(slice_of(text, (size_t)n), ERR_BAD_REQUEST);
    }
    check_broken(SLICE("PUT / HTTP/1.1\r\n" HOST "Content-Length: 47\r\nContent-Length: 0\r\n\r\n"),
                 ERR_BAD_REQUEST);
    check_broken(SLICE("PUT / HTTP/1.1\r\n" HOST "Content-Length: 4\r\nContent-Length: 4\r\n\r\n"),
                 ERR_BAD_REQUEST);
    check_broken(SLICE("PUT / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\n"),
                 ERR_BODY_TOO_LARGE);
    struct outcome *o = parse_ok("PUT / HTTP/1.1\r\n" HOST "Content-Length: 0007\r\n\r\n");
    assert_int_equal(o->req.body_declared, 7);
    outcome_free(o);
}

TEST(http1_parse__takes_chunked_and_no_other_coding)
{
    struct outcome *o = parse_ok("PUT / HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n\r\n");
    assert_true(o->info.chunked);
    assert_true(o->req.body_declared == UINT64_MAX);
    outcome_free(o);
    static const char *const values[] = {"gzip, chunked", "xchunked", "chunked, chunked",
                                         "identity",      "",         "chunked;a"};
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        char text[256];
        int n =
            snprintf(text, sizeof text, "PUT / HTTP/1.1\r\n" HOST "Transfer-Encoding: %s\r\n\r\n", values[i]);
        check_broken(slice_of(text, (size_t)n), ERR_UNKNOWN_TRANSFER_CODING);
    }
    check_broken(
        SLICE("PUT / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
        ERR_BAD_REQUEST);
    check_broken(SLICE("PUT / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"),
                 ERR_BAD_REQUEST);
    check_broken(SLICE("PUT / HTTP/1.1\r\n" HOST "Content-Length: 4\r\nTransfer-Encoding: xchunked\r\n\r\n"),
                 ERR_BAD_REQUEST);
    check_broken(SLICE("PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), ERR_BAD_REQUEST);
}

TEST(http1_parse__refuses_a_body_with_head)
{
    check_broken(SLICE("HEAD / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n"), ERR_BAD_REQUEST);
    check_broken(SLICE("HEAD / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"), ERR_BAD_REQUEST);
    outcome_free(parse_ok("HEAD / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"));
}

TEST(http1_parse__keeps_alive_as_version_and_tokens_say)
{
    static const struct {
        const char *version, *connection;
        bool keep_alive;
    } cases[] = {
        {"1.1", "", true},
        {"1.0", "", false},
        {"1.1", "Connection: close\r\n", false},
        {"1.1", "Connection: x, CLOSE ,y\r\n", false},
        {"1.1", "Connection: x\r\nConnection: close\r\n", false},
        {"1.1", "Connection: closed, x-close\r\n", true},
        {"1.0", "Connection: Keep-Alive\r\n", true},
        {"1.0", "Connection: x,keep-alive\r\n", true},
        {"1.0", "Connection: keep-alive, close\r\n", false},
        {"1.1", "Connection: ,,\r\n", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[256];
        snprintf(text, sizeof text, "GET / HTTP/%s\r\n" HOST "%s\r\n", cases[i].version, cases[i].connection);
        struct outcome *o = parse_ok(text);
        assert_int_equal(o->info.keep_alive, cases[i].keep_alive);
        outcome_free(o);
    }
}

TEST(http1_parse__joins_lists_and_refuses_other_fields_that_come_twice)
{
    struct outcome *o = parse_ok("GET / HTTP/1.1\r\n" HOST "Accept: a/b\r\nIf-Match: \"1\"\r\nAccept:\r\n"
                                 "If-Match: \"2\", \"3\"\r\nAccept: c/d;q=0\r\n\r\n");
    assert_slice_str(o->req.header[HEADER_ACCEPT], "a/b, , c/d;q=0");
    assert_slice_str(o->req.header[HEADER_IF_MATCH], "\"1\", \"2\", \"3\"");
    outcome_free(o);
    check_refused("GET / HTTP/1.1\r\n" HOST "Content-Type: a\r\nContent-Type: a\r\n\r\n", ERR_BAD_REQUEST);
}

TEST(http1_parse__joins_as_many_as_a_head_can_hold)
{
    char text[8192];
    size_t n = (size_t)snprintf(text, sizeof text, "GET / HTTP/1.1\r\n" HOST);
    for (int i = 0; i < 99; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "Accept:%d\r\n", i);
    snprintf(text + n, sizeof text - n, "\r\n");
    struct outcome *o = parse_ok(text);
    assert_int_equal(o->req.header[HEADER_ACCEPT].len, 10 + 89 * 2 + 98 * 2);
    outcome_free(o);
}

TEST(http1_parse__knows_100_continue_and_no_other_expectation)
{
    struct outcome *o =
        parse_ok("PUT / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\nContent-Length: 2\r\n\r\n");
    assert_true(o->info.expect_continue);
    outcome_free(o);
    o = parse_ok("PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_false(o->info.expect_continue);
    outcome_free(o);
    check_refused("PUT / HTTP/1.1\r\n" HOST "Expect: teapot\r\n\r\n", ERR_EXPECTATION_FAILED);
}

TEST(http1_scan__bounds_the_head_and_the_number_of_fields)
{
    char *text = malloc(2 * LIMIT_HEAD_MAX);
    for (int over = 0; over < 2; over++) {
        size_t n = (size_t)snprintf(text, LIMIT_HEAD_MAX, "GET / HTTP/1.1\r\n" HOST "X: ");
        size_t want = LIMIT_HEAD_MAX + (size_t)over;
        memset(text + n, 'x', want - n - 4);
        memcpy(text + want - 4, "\r\n\r\n", 4);
        struct outcome *o = feed(slice_of(text, want), SIZE_MAX / 2);
        assert_int_equal(o->found, over ? HTTP1_BAD : HTTP1_HEAD);
        outcome_free(o);
    }
    check_broken(slice_of(text, LIMIT_HEAD_MAX), ERR_HEAD_TOO_LARGE); /* without its end */

    for (int fields = LIMIT_HEADERS_MAX; fields <= LIMIT_HEADERS_MAX + 1; fields++) {
        size_t n = (size_t)snprintf(text, LIMIT_HEAD_MAX, "GET / HTTP/1.1\r\n" HOST);
        for (int i = 1; i < fields; i++)
            n += (size_t)snprintf(text + n, LIMIT_HEAD_MAX - n, "X: y\r\n");
        n += (size_t)snprintf(text + n, LIMIT_HEAD_MAX - n, "\r\n");
        struct outcome *o = feed(slice_of(text, n), SIZE_MAX / 2);
        assert_int_equal(o->found, fields > LIMIT_HEADERS_MAX ? HTTP1_BAD : HTTP1_HEAD);
        outcome_free(o);
    }
    free(text);
}

TEST(http1_parse__refuses_a_long_target_but_knows_its_frame)
{
    char *text = malloc(LIMIT_HEAD_MAX);
    size_t n = (size_t)snprintf(text, LIMIT_HEAD_MAX, "GET /");
    memset(text + n, 'x', LIMIT_TARGET_MAX);
    n += LIMIT_TARGET_MAX;
    snprintf(text + n, LIMIT_HEAD_MAX - n, " HTTP/1.1\r\n" HOST "\r\n");
    check_refused(text, ERR_TARGET_TOO_LONG);
    free(text);
}

TEST_MAIN()
