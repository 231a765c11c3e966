/* tests/unit/base/test_utf8.c - which byte sequences are UTF-8, and up to where. */
#include "base/utf8.h"

#include <stdlib.h>

#include "tests/lib/test.h"

/* A slow second opinion: decode the bits, then look at the value (RFC 3629, section 3). */
static size_t reference_char_len(const uint8_t *p, size_t n)
{
    static const struct {
        uint8_t mask, head;
        size_t len;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
    for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
        if ((p[0] & forms[f].mask) != forms[f].head)
            continue;
        if (n < forms[f].len)
            return 0;
        uint32_t value = p[0] & (uint8_t)~forms[f].mask;
        for (size_t i = 1; i < forms[f].len; i++) {
            if ((p[i] & 0xc0) != 0x80)
                return 0;
            value = value << 6 | (p[i] & 0x3f);
        }
        bool fits = value >= forms[f].least && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
        return fits ? forms[f].len : 0;
    }
    return 0;
}

static size_t reference_valid_len(const uint8_t *p, size_t len)
{
    size_t at = 0;
    while (at < len) {
        size_t n = reference_char_len(p + at, len - at);
        if (n == 0)
            break;
        at += n;
    }
    return at;
}

TEST(utf8__takes_all_sequences_of_three_bytes_as_the_reference_does)
{
    for (uint32_t i = 0; i < 1 << 24; i++) {
        uint8_t p[3] = {(uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};
        if (utf8_valid_len(slice_of(p, 3)) != reference_valid_len(p, 3))
            fail_msg("%06x", i);
    }
}

TEST(utf8__takes_sequences_of_four_bytes_as_the_reference_does)
{
    static const uint8_t tails[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0xbf, 0xc0, 0xff};
    for (unsigned a = 0xe0; a < 0x100; a++)
        for (unsigned b = 0; b < 0x100; b++)
            for (size_t c = 0; c < 64; c++) {
                uint8_t p[4] = {(uint8_t)a, (uint8_t)b, tails[c / 8], tails[c % 8]};
                assert_int_equal(utf8_valid_len(slice_of(p, 4)), reference_valid_len(p, 4));
            }
}

TEST(utf8__finds_a_bad_byte_wherever_it_stands)
{
    for (size_t len = 1; len < 70; len++)
        for (size_t bad = 0; bad < len; bad++) {
            uint8_t *p = malloc(len); /* exactly, so that a read beyond the end is seen */
            assert_non_null(p);
            memset(p, 'a', len);
            assert_int_equal(utf8_valid_len(slice_of(p, len)), len);
            p[bad] = 0xff;
            assert_int_equal(utf8_valid_len(slice_of(p, len)), bad);
            free(p);
        }
}

TEST(utf8__stops_before_a_character_that_is_cut)
{
    assert_int_equal(utf8_valid_len(SLICE("ab\xe2\x82")), 2);
    assert_int_equal(utf8_valid_len(SLICE("ab\xf0\x9f\x98")), 2);
    assert_int_equal(utf8_valid_len(SLICE("0123456789abcde\xc3")), 15);
}

TEST(utf8__refuses_overlong_surrogate_and_beyond)
{
    assert_false(utf8_valid(SLICE("\xc0\x80")));
    assert_false(utf8_valid(SLICE("\xc1\xbf")));
    assert_false(utf8_valid(SLICE("\xe0\x9f\xbf")));
    assert_false(utf8_valid(SLICE("\xf0\x8f\xbf\xbf")));
    assert_false(utf8_valid(SLICE("\xed\xa0\x80")));
    assert_false(utf8_valid(SLICE("\xed\xbf\xbf")));
    assert_false(utf8_valid(SLICE("\xf4\x90\x80\x80")));
    assert_false(utf8_valid(SLICE("\xc3\x28")));
}

TEST(utf8__takes_empty_nul_and_mixed_texts)
{
    assert_true(utf8_valid(slice_of(NULL, 0)));
    assert_true(utf8_valid(SLICE("a\0b")));
    assert_true(utf8_valid(SLICE("Gr\xc3\xbc\xc3\x9f"
                                 "e aus K\xc3\xb6ln, \xe6\x9d\xb1\xe4\xba\xac und \xf0\x9f\x98\x80 dazu")));
}

TEST(utf8_cut__ends_with_a_character)
{
    struct slice s = SLICE("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    static const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
    for (size_t bytes = 0; bytes < ARRAY_LEN(want); bytes++) {
        assert_int_equal(utf8_cut(s, bytes).len, want[bytes]);
        struct slice part = slice_of(s.ptr, bytes < s.len ? bytes : s.len);
        assert_int_equal(utf8_cut(part, SIZE_MAX).len, want[bytes]);
    }
    assert_int_equal(utf8_cut(SLICE("\x80\x80\x80\x80\x80"), 5).len, 5); /* no UTF-8: not looked for */
}

TEST(utf8_put__writes_what_the_check_takes)
{
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        if (c >= 0xd800 && c <= 0xdfff)
            continue;
        uint8_t p[4];
        size_t n = utf8_put(c, p);
        size_t want = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        if (n != want || reference_valid_len(p, n) != n)
            fail_msg("U+%04X", c);
    }
}

TEST_MAIN()
