/* tests/unit/base/test_hash.c - hash_bytes is SipHash-1-3 under a seed of its own. The file is included, so
 * that the seed can be set. */
#include "base/hash.c"

#include <stdlib.h>

#include "tests/lib/test.h"

/* SipHash-c-d as the paper tells it (section 2), with any numbers of rounds. */
static uint64_t siphash(int c, int d, const uint64_t key[2], const uint8_t *p, size_t len)
{
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
                     key[1] ^ 0x7465646279746573};
    size_t words = len / 8 + 1;
    for (size_t w = 0; w < words; w++) {
        uint64_t m = w == words - 1 ? (uint64_t)(len & 0xff) << 56 : 0;
        for (size_t i = 0; i < 8 && w * 8 + i < len; i++)
            m |= (uint64_t)p[w * 8 + i] << 8 * i;
        v[3] ^= m;
        for (int r = 0; r < c; r++)
            sip_round(v);
        v[0] ^= m;
    }
    v[2] ^= 0xff;
    for (int r = 0; r < d; r++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static const uint64_t paper_key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

/* Bytes 0, 1, 2 … on the heap, exactly as many. */
static uint8_t *counted(size_t len)
{
    uint8_t *p = malloc(len ? len : 1);
    assert_non_null(p);
    for (size_t i = 0; i < len; i++)
        p[i] = (uint8_t)i;
    return p;
}

TEST(sip_round__gives_the_papers_example_with_two_and_four_rounds)
{
    uint8_t *message = counted(15); /* appendix A */
    assert_true(siphash(2, 4, paper_key, message, 15) == 0xa129ca6149be45e5);
    free(message);
}

TEST(hash_bytes__is_siphash_with_one_and_three_rounds)
{
    hash_bytes(SLICE("")); /* draws the seed, which is then replaced */
    memcpy(seed, paper_key, sizeof seed);
    for (size_t len = 0; len < 300; len++) {
        uint8_t *message = counted(len);
        assert_true(hash_bytes(slice_of(message, len)) == siphash(1, 3, paper_key, message, len));
        free(message);
    }
}

TEST(hash_bytes__depends_on_every_bit_and_on_the_seed)
{
    uint8_t text[24] = {0};
    uint64_t before = hash_bytes(slice_of(text, sizeof text));
    for (size_t bit = 0; bit < sizeof text * 8; bit++) {
        text[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_true(hash_bytes(slice_of(text, sizeof text)) != before);
        text[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    seed[1] ^= 1;
    assert_true(hash_bytes(slice_of(text, sizeof text)) != before);
}

TEST(random_bytes__fills_all_and_differs)
{
    uint8_t a[64] = {0}, b[64] = {0};
    assert_true(random_bytes(a, sizeof a));
    assert_true(random_bytes(b, sizeof b));
    assert_memory_not_equal(a, b, sizeof a);
    assert_memory_not_equal(a + 48, (uint8_t[16]){0}, 16);
}

TEST_MAIN()
