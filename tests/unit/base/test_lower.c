/* tests/unit/base/test_lower.c - lower case beyond ASCII, and texts that are the same but for case. */
#include "base/lower.h"

#include "base/utf8.h"
#include "tests/lib/test.h"

static void lowers(const char *text, const char *want)
{
    uint8_t out[64];
    struct slice s = slice_str(text);
    assert_true(lower_bytes_max(s.len) <= sizeof out);
    assert_slice_str(slice_of(out, lower_text(s, out)), want);
}

TEST(lower_text__knows_alphabets)
{
    lowers("", "");
    lowers("ABC xyz 09 @[", "abc xyz 09 @[");
    lowers("\xc3\x84\xc3\x96\xc3\x9f", "\xc3\xa4\xc3\xb6\xc3\x9f");                 /* ÄÖß */
    lowers("\xce\x91\xce\xa9\xd0\x96\xd0\x96", "\xce\xb1\xcf\x89\xd0\xb6\xd0\xb6"); /* ΑΩЖЖ */
    lowers("\xc4\x80\xc4\x81\xc4\x82", "\xc4\x81\xc4\x81\xc4\x83"); /* ĀāĂ: every second one */
    lowers("\xe2\x84\xaa", "k");                                    /* the Kelvin sign is shorter */
    lowers("\xc8\xba\xc8\xba", "\xe2\xb1\xa5\xe2\xb1\xa5");         /* Ⱥ is longer */
    lowers("\xf0\x90\x90\x80", "\xf0\x90\x90\xa8");                 /* Deseret */
    lowers("\xe5\x88\xb9\xe9\x82\xa3", "\xe5\x88\xb9\xe9\x82\xa3"); /* no case at all */
}

TEST(lower_text__never_takes_more_than_it_says)
{
    for (uint32_t c = 0; c < 0x110000; c++) {
        uint8_t in[4], out[8];
        if (c >= 0xd800 && c < 0xe000)
            continue;
        size_t n = utf8_put(c, in), m = utf8_put(lower_of(c), out);
        assert_true(m <= lower_bytes_max(n));
        assert_int_equal(lower_of(lower_of(c)), lower_of(c));
    }
}

static bool same(const char *a, const char *b)
{
    return lower_equal(slice_str(a), slice_str(b));
}

TEST(lower_equal__looks_at_all_of_both)
{
    assert_true(same("", ""));
    assert_true(same("Clean Code", "cLEAN cODE"));
    assert_true(same("\xc3\x84", "\xc3\xa4"));
    assert_true(same("\xe2\x84\xaa", "K"));
    assert_false(same("ab", "a"));
    assert_false(same("a", "ab"));
    assert_false(same("", "a"));
    assert_false(same("a", "b"));
    assert_false(same("[", "{"));
}

TEST_MAIN()
