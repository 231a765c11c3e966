/* tests/unit/base/test_json_quote.c - texts as JSON strings. */
#include "base/json_quote.h"

#include "tests/lib/test.h"

TEST(json_quote__escapes_only_what_must_be)
{
    struct buf out = {0};
    assert_true(json_quote(SLICE("a\"\\/\b\f\n\r\t\0\x1f\x7f\xc3\xa9"), &out));
    assert_slice_str(buf_slice(&out), "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\xc3\xa9\"");
    out.len = 0;
    assert_true(json_quote((struct slice){0}, &out));
    assert_slice_str(buf_slice(&out), "\"\"");
    buf_release(&out);
}

TEST(json_quote_any__puts_a_sign_in_place_of_what_is_not_utf_8)
{
    static const struct {
        struct slice bytes;
        const char *json;
    } cases[] = {
        {{(const uint8_t *)"", 0}, "\"\""},
        {{(const uint8_t *)"a\xff\"", 3}, "\"a\xef\xbf\xbd\\\"\""},
        {{(const uint8_t *)"\xc3", 1}, "\"\xef\xbf\xbd\""},
        {{(const uint8_t *)"\xe2\x82x", 3}, "\"\xef\xbf\xbd\xef\xbf\xbdx\""},
        {{(const uint8_t *)"\xc3\xa9\0", 3}, "\"\xc3\xa9\\u0000\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = {0};
        assert_true(json_quote_any(cases[i].bytes, &out));
        assert_slice_str(buf_slice(&out), cases[i].json);
        buf_release(&out);
    }
}

TEST_MAIN()
