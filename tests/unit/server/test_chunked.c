/* tests/unit/server/test_chunked.c - the chunked coding: in one piece, byte by byte, in place, and broken. */
#include "server/http/chunked.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "tests/lib/test.h"

/* Decode in place, `step` bytes at a time, as the edge does: what the framing took is closed up. */
static enum chunked_rc decode(struct slice in, size_t step, uint8_t *out, size_t *len, size_t *rest)
{
    struct chunked c = {0};
    struct err err = {0};
    enum chunked_rc rc = CHUNKED_MORE;
    *len = 0;
    size_t fed = 0;
    while (rc == CHUNKED_MORE && fed < in.len) {
        size_t n = in.len - fed < step ? in.len - fed : step, used, made;
        memcpy(out + *len, in.ptr + fed, n);
        rc = chunked_read(&c, slice_of(out + *len, n), out + *len, &used, &made, &err);
        assert_true(used <= n && made <= used);
        if (rc == CHUNKED_MORE)
            assert_int_equal(used, n);
        *len += made;
        fed += used;
    }
    *rest = in.len - fed;
    assert_int_equal(rc == CHUNKED_BAD, err.code == ERR_BAD_REQUEST);
    return rc;
}

static void check(const char *text, enum chunked_rc want_rc, const char *want, size_t want_rest)
{
    struct slice in = slice_str(text);
    uint8_t *out = malloc(in.len + 1);
    for (size_t step = 1; step <= in.len; step++) {
        size_t len, rest;
        enum chunked_rc rc = decode(in, step, out, &len, &rest);
        if (rc != want_rc)
            fail_msg("%d, not %d, in steps of %zu: %s", (int)rc, (int)want_rc, step, text);
        if (rc != CHUNKED_DONE)
            continue;
        assert_slice_str(slice_of(out, len), want);
        assert_int_equal(rest, want_rest);
    }
    free(out);
}

TEST(chunked_read__joins_chunks_and_stops_at_the_end)
{
    check("0\r\n\r\n", CHUNKED_DONE, "", 0);
    check("3\r\nabc\r\n0\r\n\r\nGET /", CHUNKED_DONE, "abc", 5);
    check("1\r\na\r\n2\r\nbc\r\n0a\r\n0123456789\r\n0\r\n\r\n", CHUNKED_DONE, "abc0123456789", 0);
    check("A\r\n\r\n\r\n\r\n\r\n\r\n\r\n0\r\n\r\n", CHUNKED_DONE, "\r\n\r\n\r\n\r\n\r\n", 0);
    check("000000000000003\r\nabc\r\n0\r\n\r\n", CHUNKED_DONE, "abc", 0);
}

TEST(chunked_read__drops_extensions_and_trailers)
{
    check("3;a=b;c=\"d e\"\r\nabc\r\n0;x\r\n\r\n", CHUNKED_DONE, "abc", 0);
    check("3 ;a\r\nabc\r\n0\r\nX-Sum: 1\r\nContent-Length: 99\r\n\r\n!", CHUNKED_DONE, "abc", 1);
}

TEST(chunked_read__waits_for_what_is_missing)
{
    check("3\r\nabc\r\n0\r\n\r", CHUNKED_MORE, "", 0);
    check("3\r\nab", CHUNKED_MORE, "", 0);
    check("3", CHUNKED_MORE, "", 0);
    check("3\r\nabc\r\n0\r\nX: y\r\n", CHUNKED_MORE, "", 0);
}

TEST(chunked_read__refuses_what_breaks_the_rules)
{
    static const char *const cases[] = {
        "\r\n",
        "x\r\n",
        "-1\r\n",
        "+1\r\na\r\n",
        " 1\r\na\r\n",
        "0x1\r\na\r\n",
        "1\na\r\n",
        "1\r\nab\r\n",
        "1\r\na\n",
        "1 \r\na\r\n",
        ";a\r\n",
        "1;a\nb\r\n",
        "1;\x01\r\n",
        "0\r\n: x\r\n\r\n",
        "0\r\n x\r\n\r\n",
        "0\r\nX : y\r\n\r\n",
        "0\r\nX\r\n\r\n",
        "0\r\nX: y\n\r\n",
        "0\r\n\n",
        "10000000000000000\r\n",
        "ffffffffffffffff\r\n",
        "00000000000000001\r\n",
        "1\ra\r\n",
        "0\r\nX: \x7f\r\n\r\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check(cases[i], CHUNKED_BAD, NULL, 0);
}

TEST(chunked_read__bounds_extensions_and_trailers_together)
{
    struct chunked c = {0};
    struct err err = {0};
    size_t used, made, n = 0;
    enum chunked_rc rc = CHUNKED_MORE;
    while (rc == CHUNKED_MORE) {
        n++;
        rc = chunked_read(&c, SLICE("1;0123456789\r\na\r\n"), NULL, &used, &made, &err);
    }
    assert_int_equal(rc, CHUNKED_BAD);
    assert_in_range(n, LIMIT_CHUNK_EXTRAS_MAX / 12, LIMIT_CHUNK_EXTRAS_MAX / 10 + 1);
}

TEST_MAIN()
