/* tests/unit/server/test_range.c - Range and If-Range. */
#include "server/range.h"

#include "tests/lib/test.h"

struct range_case {
    const char *text;
    uint64_t bytes; /* of the content */
    enum range_kind kind;
    struct range want;
};

static void check(const struct range_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct range got = {0};
        enum range_kind kind = range_parse(slice_str(cases[i].text), cases[i].bytes, &got);
        if (kind != cases[i].kind || (kind == RANGE_PART && memcmp(&got, &cases[i].want, sizeof got) != 0))
            fail_msg("'%s' of %llu: %d, %llu bytes from %llu", cases[i].text,
                     (unsigned long long)cases[i].bytes, kind, (unsigned long long)got.bytes,
                     (unsigned long long)got.first);
    }
}

TEST(range_parse__finds_the_part_that_is_asked_for)
{
    static const struct range_case cases[] = {
        {"bytes=0-0", 10, RANGE_PART, {0, 1}},
        {"bytes=0-9", 10, RANGE_PART, {0, 10}},
        {"bytes=3-5", 10, RANGE_PART, {3, 3}},
        {"bytes=3-", 10, RANGE_PART, {3, 7}},
        {"bytes=0-", 10, RANGE_PART, {0, 10}},
        {"bytes=9-9", 10, RANGE_PART, {9, 1}},
        {"bytes=9-10", 10, RANGE_PART, {9, 1}},
        {"bytes=5-99999999999999999999999999", 10, RANGE_PART, {5, 5}},
        {"bytes=-1", 10, RANGE_PART, {9, 1}},
        {"bytes=-10", 10, RANGE_PART, {0, 10}},
        {"bytes=-11", 10, RANGE_PART, {0, 10}},
        {"bytes=-18446744073709551616", 10, RANGE_PART, {0, 10}},
        {"BYTES=003-005", 10, RANGE_PART, {3, 3}},
        {"bytes= 3-5\t", 10, RANGE_PART, {3, 3}},
        {"bytes=,3-5, ,", 10, RANGE_PART, {3, 3}},
        {"bytes=0-18446744073709551614", UINT64_MAX, RANGE_PART, {0, UINT64_MAX}},
    };
    check(cases, ARRAY_LEN(cases));
}

TEST(range_parse__tells_a_range_behind_the_end)
{
    static const struct range_case cases[] = {
        {"bytes=10-", 10, RANGE_OUTSIDE, {0}},
        {"bytes=10-20", 10, RANGE_OUTSIDE, {0}},
        {"bytes=18446744073709551616-", 10, RANGE_OUTSIDE, {0}},
        {"bytes=-0", 10, RANGE_OUTSIDE, {0}},
        {"bytes=0-", 0, RANGE_OUTSIDE, {0}},
        {"bytes=0-0", 0, RANGE_OUTSIDE, {0}},
    };
    check(cases, ARRAY_LEN(cases));
}

TEST(range_parse__leaves_the_rest_whole)
{
    static const struct range_case cases[] = {
        {"", 10, RANGE_WHOLE, {0}},
        {"bytes", 10, RANGE_WHOLE, {0}},
        {"bytes=", 10, RANGE_WHOLE, {0}},
        {"bytes=-", 10, RANGE_WHOLE, {0}},
        {"bytes=5", 10, RANGE_WHOLE, {0}},
        {"bytes=5-3", 10, RANGE_WHOLE, {0}},
        {"bytes=50-30", 10, RANGE_WHOLE, {0}},
        {"bytes=+1-2", 10, RANGE_WHOLE, {0}},
        {"bytes=1-2x", 10, RANGE_WHOLE, {0}},
        {"bytes=1 -2", 10, RANGE_WHOLE, {0}},
        {"bytes=0x1-2", 10, RANGE_WHOLE, {0}},
        {"bytes=--1", 10, RANGE_WHOLE, {0}},
        {"bytes=1-2,4-5", 10, RANGE_WHOLE, {0}},
        {"bytes=20-,30-", 10, RANGE_WHOLE, {0}},
        {"bytes =1-2", 10, RANGE_WHOLE, {0}},
        {"items=1-2", 10, RANGE_WHOLE, {0}},
        {"bytes=-5", 0, RANGE_WHOLE, {0}},
    };
    check(cases, ARRAY_LEN(cases));
}

TEST(range_applies__only_to_the_very_tag)
{
    struct slice tag = SLICE("\"7-1\"");
    assert_true(range_applies(SLICE(""), tag));
    assert_true(range_applies(SLICE("\"7-1\""), tag));
    assert_false(range_applies(SLICE("W/\"7-1\""), tag));
    assert_false(range_applies(SLICE("\"8-1\""), tag));
    assert_false(range_applies(SLICE("\"7-1\", \"8-1\""), tag));
    assert_false(range_applies(SLICE("*"), tag));
    assert_false(range_applies(SLICE("Thu, 01 Jan 2026 00:00:00 GMT"), tag));
    assert_false(range_applies(SLICE("\"7-1\""), (struct slice){0}));
}

TEST_MAIN()
