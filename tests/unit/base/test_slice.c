/* tests/unit/base/test_slice.c - comparing borrowed bytes. */
#include "base/slice.h"

#include "tests/lib/test.h"

TEST(slice_eq__compares_all_bytes_and_takes_null_for_empty)
{
    assert_true(slice_eq(SLICE("a\0b"), SLICE("a\0b")));
    assert_false(slice_eq(SLICE("a\0b"), SLICE("a\0c")));
    assert_false(slice_eq(SLICE("a"), SLICE("ab")));
    assert_true(slice_eq(slice_of(NULL, 0), SLICE("")));
    assert_false(slice_eq(slice_of(NULL, 0), SLICE("a")));
}

TEST(slice_cmp__orders_by_unsigned_bytes_and_then_by_length)
{
    static const struct slice sorted[] = {
        {(const uint8_t *)"", 0},     {(const uint8_t *)"\0", 1},       {(const uint8_t *)"\0\0", 2},
        {(const uint8_t *)"a", 1},    {(const uint8_t *)"a\0", 2},      {(const uint8_t *)"ab", 2},
        {(const uint8_t *)"b", 1},    {(const uint8_t *)"\x7f", 1},     {(const uint8_t *)"\x80", 1},
        {(const uint8_t *)"\xff", 1}, {(const uint8_t *)"\xff\xff", 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(sorted); i++)
        for (size_t j = 0; j < ARRAY_LEN(sorted); j++) {
            int c = slice_cmp(sorted[i], sorted[j]);
            assert_int_equal((c > 0) - (c < 0), (i > j) - (i < j));
        }
    assert_int_equal(slice_cmp(slice_of(NULL, 0), SLICE("")), 0);
}

/* Of every length, with the difference at every place: words, the overlap of the last two, single bytes. */
TEST(slice_cmp__orders_as_memcmp_does_wherever_the_difference_is)
{
    uint8_t a[40], b[40];
    for (size_t n = 0; n <= sizeof a; n++)
        for (size_t at = 0; at < n; at++)
            for (unsigned bit = 0; bit < 8; bit++) {
                for (size_t i = 0; i < n; i++)
                    a[i] = b[i] = (uint8_t)(i * 37);
                b[at] ^= (uint8_t)(1u << bit);
                for (size_t i = at + 1; i < n; i++)
                    b[i] = (uint8_t)(b[at] > a[at] ? 0 : 0xff); /* what comes behind must not matter */
                int c = slice_cmp(slice_of(a, n), slice_of(b, n)), want = memcmp(a, b, n);
                assert_int_equal((c > 0) - (c < 0), (want > 0) - (want < 0));
                assert_int_equal(slice_cmp(slice_of(a, n), slice_of(a, n)), 0);
            }
}

TEST(slice_starts__looks_at_the_beginning_only)
{
    assert_true(slice_starts(SLICE("abc"), SLICE("ab")));
    assert_true(slice_starts(SLICE("abc"), slice_of(NULL, 0)));
    assert_true(slice_starts(slice_of(NULL, 0), SLICE("")));
    assert_false(slice_starts(SLICE("ab"), SLICE("abc")));
    assert_false(slice_starts(SLICE("xab"), SLICE("ab")));
}

TEST(slice_eq_nocase__folds_the_letters_of_ascii_and_nothing_else)
{
    assert_true(slice_eq_nocase(SLICE("Content-LENGTH"), SLICE("content-length")));
    assert_false(slice_eq_nocase(SLICE("ab"), SLICE("abc")));
    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++) {
            uint8_t x = (uint8_t)a, y = (uint8_t)b;
            bool letters = (x | 0x20) >= 'a' && (x | 0x20) <= 'z' && (x ^ y) == 0x20;
            assert_int_equal(slice_eq_nocase(slice_of(&x, 1), slice_of(&y, 1)), x == y || letters);
        }
}

TEST_MAIN()
