/* tests/unit/server/test_access_line.c - lines of the access log, whatever strangers send. */
#include "server/http/access_line.h"

#include "tests/lib/test.h"

static const struct access_entry usual = {
    .wall_ms = 784111777042,
    .duration_us = 1234,
    .bytes = 4,
    .status = 200,
    .http_minor = 1,
    .remote = {(const uint8_t *)"127.0.0.1", 9},
    .method = {(const uint8_t *)"GET", 3},
    .target = {(const uint8_t *)"/ping", 5},
    .request_id = {(const uint8_t *)"abc", 3},
};

static void check(enum access_format format, const struct access_entry *e, const char *want)
{
    struct buf out = {0};
    assert_true(buf_append(&out, SLICE("before\n")));
    assert_true(access_line_print(&out, format, e));
    assert_slice_str(slice_of(out.ptr + 7, out.len - 7), want);
    buf_release(&out);
}

TEST(access_line_print__json)
{
    check(ACCESS_JSON, &usual,
          "{\"time\":\"1994-11-06T08:49:37.042Z\",\"remote\":\"127.0.0.1\",\"user\":\"\",\"method\":\"GET\","
          "\"target\":\"/"
          "ping\","
          "\"version\":\"HTTP/1.1\",\"status\":200,\"bytes\":4,\"duration_us\":1234,\"request_id\":\"abc\","
          "\"user_agent\":\"\",\"referer\":\"\",\"tls\":\"\"}\n");
}

TEST(access_line_print__combined)
{
    struct access_entry e = usual;
    check(ACCESS_COMBINED, &e,
          "127.0.0.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /ping HTTP/1.1\" 200 4 \"-\" \"-\"\n");
    e.user_agent = SLICE("curl/8");
    e.referer = SLICE("http://a/");
    e.http_minor = 0;
    e.bytes = UINT64_MAX;
    check(ACCESS_COMBINED, &e,
          "127.0.0.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /ping HTTP/1.0\" 200 18446744073709551615 "
          "\"http://a/\" \"curl/8\"\n");
}

TEST(access_line_print__who_has_asked)
{
    struct access_entry e = usual;
    e.user = SLICE("al b\"x");
    check(
        ACCESS_COMBINED, &e,
        "127.0.0.1 - al\\x20b\\x22x [06/Nov/1994:08:49:37 +0000] \"GET /ping HTTP/1.1\" 200 4 \"-\" \"-\"\n");
    check(ACCESS_JSON, &e,
          "{\"time\":\"1994-11-06T08:49:37.042Z\",\"remote\":\"127.0.0.1\",\"user\":\"al "
          "b\\u0022x\",\"method\":\"GET\","
          "\"target\":\"/ping\",\"version\":\"HTTP/1.1\",\"status\":200,\"bytes\":4,\"duration_us\":1234,"
          "\"request_id\":\"abc\",\"user_agent\":\"\",\"referer\":\"\",\"tls\":\"\"}\n");
}

TEST(access_line_print__of_a_head_that_could_not_be_read)
{
    struct access_entry e = usual;
    e.method = e.target = (struct slice){0};
    e.status = 0;
    check(ACCESS_COMBINED, &e, "127.0.0.1 - - [06/Nov/1994:08:49:37 +0000] \"-\" 000 4 \"-\" \"-\"\n");
    check(ACCESS_JSON, &e,
          "{\"time\":\"1994-11-06T08:49:37.042Z\",\"remote\":\"127.0.0.1\",\"user\":\"\",\"method\":\"-\","
          "\"target\":\"-\","
          "\"version\":\"-\",\"status\":0,\"bytes\":4,\"duration_us\":1234,\"request_id\":\"abc\",\"user_"
          "agent\":\"\","
          "\"referer\":\"\",\"tls\":\"\"}\n");
}

/* Every byte in every field that a stranger fills: one line, printable ASCII, as many quotes as ever. */
TEST(access_line_print__no_byte_of_a_stranger_forges_anything)
{
    static const size_t fields[] = {
        offsetof(struct access_entry, method),     offsetof(struct access_entry, target),
        offsetof(struct access_entry, request_id), offsetof(struct access_entry, user_agent),
        offsetof(struct access_entry, referer),    offsetof(struct access_entry, user),
    };
    for (size_t f = 0; f < ARRAY_LEN(fields); f++) {
        for (unsigned c = 0; c < 256; c++) {
            for (int format = ACCESS_JSON; format <= ACCESS_COMBINED; format++) {
                uint8_t bytes[3] = {(uint8_t)c, (uint8_t)c, (uint8_t)c};
                struct access_entry e = usual;
                *(struct slice *)(void *)((char *)&e + fields[f]) = slice_of(bytes, 3);
                struct buf out = {0};
                assert_true(access_line_print(&out, (enum access_format)format, &e));
                unsigned quotes = 0;
                for (size_t i = 0; i + 1 < out.len; i++) {
                    assert_true(out.ptr[i] >= 0x20 && out.ptr[i] < 0x7f);
                    quotes += out.ptr[i] == '"';
                }
                assert_int_equal(out.ptr[out.len - 1], '\n');
                assert_int_equal(quotes, format == ACCESS_JSON ? 46 : 6);
                buf_release(&out);
            }
        }
    }
}

TEST(access_line_print__escapes)
{
    struct access_entry e = usual;
    e.target = SLICE("/a\"\\");
    e.user_agent = SLICE("\n\x7f\xc3\xbc");
    check(ACCESS_COMBINED, &e,
          "127.0.0.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a\\x22\\x5c HTTP/1.1\" 200 4 \"-\" "
          "\"\\x0a\\x7f\\xc3\\xbc\"\n");
    check(ACCESS_JSON, &e,
          "{\"time\":\"1994-11-06T08:49:37.042Z\",\"remote\":\"127.0.0.1\",\"user\":\"\",\"method\":\"GET\","
          "\"target\":\"/a\\u0022\\u005c\",\"version\":\"HTTP/"
          "1.1\",\"status\":200,\"bytes\":4,\"duration_us\":1234,"
          "\"request_id\":\"abc\",\"user_agent\":\"\\u000a\\u007f\\u00c3\\u00bc\",\"referer\":\"\",\"tls\":"
          "\"\"}\n");
}

TEST_MAIN()
