/* tests/unit/server/test_head_cache.c - which heads are known once one has been kept, and that of a known head the same is
 * made as of one that is parsed. */
#include "server/http/head_cache.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "tests/lib/test.h"

static const struct http1_limits limits = {
    .head_max = LIMIT_HEAD_MAX, .target_max = 64, .headers_max = LIMIT_HEADERS_MAX};

/* A connection's cache. */
struct fixture {
    struct head_cache cache;
    struct head_guess guess;
};

static enum http1_parsed parse(struct slice bytes, struct request *req, struct http1_info *info,
                               size_t *head_bytes)
{
    struct http1_scan scan = {0};
    struct err err;
    assert_int_equal(http1_scan(&scan, &limits, bytes, &err), HTTP1_HEAD);
    *head_bytes = scan.at;
    return http1_parse(slice_of(bytes.ptr + scan.start, scan.at - scan.start), &limits, req, info, &err);
}

static struct known_head *keep(struct fixture *f, const char *text)
{
    struct request req = {0};
    struct http1_info info;
    size_t bytes;
    assert_int_equal(parse(slice_str(text), &req, &info, &bytes), HTTP1_OK);
    struct known_head *known = head_cache_keep(&f->cache, &f->guess, slice_of(text, bytes), &req, &info);
    arena_release(&req.arena);
    return known;
}

static bool matches(struct fixture *f, const char *text, struct head_match *m)
{
    return head_cache_match(&f->cache, &f->guess, &limits, slice_str(text), m);
}

static void check_same(const struct head_match *m, const char *text)
{
    struct request parsed = {0}, known = {0};
    struct http1_info parsed_info, known_info;
    size_t bytes;
    assert_int_equal(parse(slice_str(text), &parsed, &parsed_info, &bytes), HTTP1_OK);
    head_match_take(m, &known, &known_info);
    assert_int_equal(m->bytes, bytes);
    assert_int_equal(known.method, parsed.method);
    assert_int_equal(known.http_minor, parsed.http_minor);
    assert_true(slice_eq(known.method_sent, parsed.method_sent));
    assert_true(slice_eq(known.target, parsed.target));
    assert_true(slice_eq(known.path, parsed.path));
    assert_true(slice_eq(known.query, parsed.query));
    assert_int_equal(known.query.ptr != NULL, parsed.query.ptr != NULL);
    assert_int_equal(known.body_declared, parsed.body_declared);
    assert_int_equal(known_info.keep_alive, parsed_info.keep_alive);
    assert_int_equal(known_info.chunked, parsed_info.chunked);
    assert_int_equal(known_info.expect_continue, parsed_info.expect_continue);
    for (int i = 0; i < HEADERS; i++) {
        assert_ptr_equal(known.header[i].ptr, parsed.header[i].ptr);
        assert_int_equal(known.header[i].len, parsed.header[i].len);
    }
}

struct pair {
    const char *first, *then;
};

static void check_pair(const struct pair *p, bool is_known)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct head_match m;
    assert_non_null(f);
    keep(f, p->first);
    if (matches(f, p->then, &m) != is_known)
        fail_msg("known %d, not %d: %s", !is_known, is_known, p->then);
    if (is_known)
        check_same(&m, p->then);
    free(f);
}

#define FIELDS    "Host: a:80\r\nX-Other: 1\r\nAccept: */*\r\nContent-Type:\r\n\r\n"
#define LENGTH(n) " HTTP/1.1\r\nHost: a\r\nContent-Length: " n " \r\nAccept: x\r\n\r\n"

TEST(head_cache__knows_the_same_fields_behind_any_target)
{
    static const struct pair pairs[] = {
        {"GET /ping HTTP/1.1\r\n" FIELDS, "GET /ping HTTP/1.1\r\n" FIELDS},
        {"GET /ping HTTP/1.1\r\n" FIELDS, "GET /ping HTTP/1.1\r\n" FIELDS "GET /next"},
        {"GET /ping HTTP/1.1\r\n" FIELDS, "GET /a/longer/one/than/sixteen?and=one&more HTTP/1.1\r\n" FIELDS},
        {"GET /ping HTTP/1.1\r\n" FIELDS, "HEAD /?a?b HTTP/1.1\r\n" FIELDS},
        {"GET /ping HTTP/1.1\r\n" FIELDS, "DELETE /x? HTTP/1.1\r\n" FIELDS},
        {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
         "GET /b HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"},
        {"GET / HTTP/1.0\r\n\r\n", "GET /b HTTP/1.0\r\n\r\n"},
        {"GET / HTTP/1.1\r\nConnection: close\r\nHost: a\r\n\r\n",
         "GET / HTTP/1.1\r\nConnection: close\r\nHost: a\r\n\r\n"},
        {"POST /e HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
         "PUT /e/put/1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        check_pair(&pairs[i], true);
}

TEST(head_cache__knows_heads_that_differ_in_their_length_alone)
{
    static const struct pair pairs[] = {
        {"POST /a" LENGTH("12"), "PUT /b" LENGTH("12")},
        {"POST /a" LENGTH("12"), "POST /a" LENGTH("0")},
        {"POST /a" LENGTH("12"), "POST /a" LENGTH("123456789012345678")},
        {"POST /a" LENGTH("9999"), "POST /a" LENGTH("007")},
    };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        check_pair(&pairs[i], true);
}

TEST(head_cache__knows_credentials_by_each_byte)
{
    static const char head[] =
        "PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n";
    static const size_t at = sizeof head - 1 - 4 - 16; /* the token */
    struct fixture *f = calloc(1, sizeof *f);
    struct head_match m;
    char other[sizeof head];
    assert_non_null(f);
    struct known_head *known = keep(f, head);
    assert_true(known->is_secret && !known->identity.generation);
    known->identity.generation = 1;
    assert_true(matches(f, head, &m) && m.known == known);
    check_same(&m, head);
    for (size_t i = at; i < at + 16; i++) {
        memcpy(other, head, sizeof head);
        other[i] ^= 1;
        assert_false(matches(f, other, &m));
    }
    known = keep(f, head);
    assert_int_equal(known->identity.generation, 0); /* whose they are is found out anew */
    assert_false(keep(f, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n")->is_secret);
    free(f);
}

TEST(head_cache__does_not_know_what_differs_in_a_byte)
{
    static const struct pair pairs[] = {
        {"GET /ping HTTP/1.1\r\n" FIELDS, "GET /ping HTTP/1.0\r\n" FIELDS},
        {"GET /ping HTTP/1.1\r\n" FIELDS, "GET /ping HTTP/1.1\r\nX: 1\r\n" FIELDS},
        {"GET /ping HTTP/1.1\r\nHost: a\r\n\r\n", "GET /ping HTTP/1.1\r\nHost: b\r\n\r\n"},
        {"GET /ping HTTP/1.1\r\nHost: a\r\n\r\n", "GET /ping HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n"},
        {"GET /ping HTTP/1.1\r\nHost: a\r\n\r\n", "GET /ping HTTP/1.1\r\nHost: a\r\n"},
        {"GET /ping HTTP/1.1\r\nHost: a\r\n\r\n", "GET /ping HTTP/1.1\r\nHost: a\r\n\r"},
        {"POST /a" LENGTH("12"), "POST /a" LENGTH("1234567890123456789")},
        {"POST /a" LENGTH("12"), "POST /a" LENGTH("")},
        {"POST /a" LENGTH("12"), "POST /a" LENGTH("1 2")},
        {"POST /a" LENGTH("12"), "POST /a" LENGTH("+2")},
        {"POST /a" LENGTH("12"), "POST /a" LENGTH("1x")},
        {"PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n",
         "PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        check_pair(&pairs[i], false);
}

TEST(head_cache__leaves_request_lines_out_of_the_ordinary_to_the_parser)
{
    static const char *const lines[] = {
        "GET ping HTTP/1.1\r\n",
        "GET http://b/ HTTP/1.1\r\n",
        "OPTIONS * HTTP/1.1\r\n",
        "BREW / HTTP/1.1\r\n",
        "get / HTTP/1.1\r\n",
        "GET  / HTTP/1.1\r\n",
        "GET /  HTTP/1.1\r\n",
        "GET /\tx HTTP/1.1\r\n",
        "GET /a#b HTTP/1.1\r\n",
        "GET /\xc3\xa4 HTTP/1.1\r\n",
        "GET /\x7f HTTP/1.1\r\n",
        "GET /\r\nX HTTP/1.1\r\n",
        "\r\nGET / HTTP/1.1\r\n",
        " GET / HTTP/1.1\r\n",
        "GET / HTTP/1.1 \r\n",
        "GET /a b HTTP/1.1\r\n",
        "METHODOFALL / HTTP/1.1\r\n",
        "GET /0123456789012345678901234567890123456789012345678901234567890123 HTTP/1.1\r\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        char text[256];
        snprintf(text, sizeof text, "%s" FIELDS, lines[i]);
        check_pair(&(struct pair){"GET /ping HTTP/1.1\r\n" FIELDS, text}, false);
    }
}

TEST(head_cache__leaves_a_body_with_head_to_the_parser)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct head_match m;
    assert_non_null(f);
    assert_non_null(keep(f, "GET /a" LENGTH("12")));
    assert_false(matches(f, "HEAD /a" LENGTH("12"), &m));
    assert_true(matches(f, "HEAD /a" LENGTH("0"), &m));
    assert_non_null(keep(f, "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"));
    assert_false(matches(f, "HEAD / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", &m));
    free(f);
}

TEST(head_cache__does_not_keep_what_was_put_together)
{
    struct fixture *f = calloc(1, sizeof *f);
    char text[KNOWN_HEAD_BYTES_MAX + 128];
    struct head_match m;
    assert_non_null(f);
    assert_null(keep(f, "GET / HTTP/1.1\r\nHost: a\r\nAccept: a\r\nAccept: b\r\n\r\n"));
    assert_null(keep(f, "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n"));
    assert_false(matches(f, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", &m));
    snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: a\r\nX: %0*d\r\n\r\n", KNOWN_HEAD_BYTES_MAX, 1);
    assert_null(keep(f, text));
    free(f);
}

TEST(head_cache__knows_those_with_a_body_and_those_without_side_by_side)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct head_match m;
    assert_non_null(f);
    assert_non_null(keep(f, "GET / HTTP/1.1\r\nHost: a\r\nAccept: x\r\n\r\n"));
    assert_non_null(keep(f, "POST /a" LENGTH("12")));
    assert_true(matches(f, "GET / HTTP/1.1\r\nHost: a\r\nAccept: x\r\n\r\n", &m));
    assert_true(matches(f, "POST /a" LENGTH("7"), &m));
    f->guess = head_cache_guess(&f->cache); /* another connection */
    assert_true(matches(f, "POST /a" LENGTH("12"), &m));
    free(f);
}

TEST(head_cache__stops_where_heads_differ_each_time)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct head_match m;
    char text[128];
    assert_non_null(f);
    for (int i = 0; i < HEAD_MISSES_MAX; i++) {
        snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: %d\r\n\r\n", i);
        assert_false(matches(f, text, &m));
        assert_non_null(keep(f, text));
    }
    assert_null(keep(f, text));
    assert_false(matches(f, text, &m));
    free(f);
}

TEST_MAIN()
