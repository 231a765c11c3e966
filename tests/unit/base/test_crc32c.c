/* tests/unit/base/test_crc32c.c - the vectors of RFC 3720, and both ways to the same sum. The file is
 * included, so that both can be called. */
#include "base/crc32c.c"

#include <stdlib.h>

#include "tests/lib/test.h"

static uint32_t portable(uint32_t crc, struct slice s)
{
    return ~crc_portable(~crc, s);
}

static void both_give(struct slice s, uint32_t want)
{
    assert_int_equal(crc32c(0, s), want);
    assert_int_equal(portable(0, s), want);
}

TEST(crc32c__gives_the_sums_of_rfc_3720)
{
    uint8_t block[32]; /* appendix B.4 */
    both_give(SLICE("123456789"), 0xe3069283);
    memset(block, 0, sizeof block);
    both_give(slice_of(block, sizeof block), 0x8a9136aa);
    memset(block, 0xff, sizeof block);
    both_give(slice_of(block, sizeof block), 0x62a8ab43);
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (uint8_t)i;
    both_give(slice_of(block, sizeof block), 0x46dd794e);
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (uint8_t)(31 - i);
    both_give(slice_of(block, sizeof block), 0x113fdb5c);
    both_give(slice_of(NULL, 0), 0);
}

TEST(crc32c__is_the_same_by_instruction_and_by_table_at_every_length_and_place)
{
    for (size_t len = 0; len < 100; len++)
        for (size_t shift = 0; shift < 8; shift++) {
            uint8_t *p = malloc(len + shift + 1);
            assert_non_null(p);
            for (size_t i = 0; i < len + shift; i++)
                p[i] = (uint8_t)(i * 151 + len);
            struct slice s = slice_of(p + shift, len);
            assert_int_equal(crc32c(0x12345678, s), portable(0x12345678, s));
            free(p);
        }
}

TEST(crc32c__is_the_same_around_every_number_of_lanes)
{
    enum { MOST = 9 * 1024 + 100 };
    uint8_t *p = malloc(MOST);
    assert_non_null(p);
    for (size_t i = 0; i < MOST; i++)
        p[i] = (uint8_t)(i * 2654435761U >> 13);
    for (size_t lanes = 3072; lanes <= 9216; lanes += 3072)
        for (size_t len = lanes - 9; len < lanes + 20; len++)
            for (size_t from = 0; from < 3; from++) {
                struct slice s = slice_of(p + from, len);
                assert_int_equal(crc32c(0x12345678, s), portable(0x12345678, s));
            }
    free(p);
}

TEST(crc32c__goes_on_from_an_earlier_sum)
{
    struct slice all = SLICE("the quick brown fox jumps over the lazy dog");
    for (size_t cut = 0; cut <= all.len; cut++) {
        uint32_t first = crc32c(0, slice_of(all.ptr, cut));
        assert_int_equal(crc32c(first, slice_of(all.ptr + cut, all.len - cut)), crc32c(0, all));
    }
}

TEST_MAIN()
