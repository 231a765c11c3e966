/* tests/unit/base/test_sha256.c - the examples of FIPS 180-4 (NIST, "SHA-256" example values). */
#include "tests/lib/test.h"

#include <stdio.h>

#include "base/sha256.h"

#include "base/secret.h"

static void is_digest(struct slice text, const char *want)
{
    uint8_t digest[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    sha256(text, digest);
    for (size_t i = 0; i < SHA256_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(hex, want);
}

TEST(sha256__agrees_with_the_standard)
{
    is_digest(SLICE(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    is_digest(SLICE("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    is_digest(SLICE("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    is_digest((struct slice){0}, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void is_hmac(struct slice key, struct slice text, const char *want)
{
    uint8_t whole[SHA256_BYTES] = {0}, digest[SHA256_BYTES]; /* a short key has zeros behind it */
    char hex[2 * SHA256_BYTES + 1];
    memcpy(whole, key.ptr, key.len);
    for (size_t cut = 0; cut <= text.len; cut++) {
        struct slice parts[] = {slice_of(text.ptr, cut), slice_of(text.ptr + cut, text.len - cut)};
        hmac_sha256(whole, parts, 2, digest);
        for (size_t i = 0; i < SHA256_BYTES; i++)
            snprintf(hex + 2 * i, 3, "%02x", digest[i]);
        assert_string_equal(hex, want);
    }
}

/* RFC 4231, 4.2 and 4.3. */
TEST(hmac_sha256__agrees_with_the_standard)
{
    is_hmac(SLICE("\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b"),
            SLICE("Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    is_hmac(SLICE("Jefe"), SLICE("what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(secret_eq__is_memcmp)
{
    uint8_t a[40], b[40];
    for (size_t n = 0; n <= sizeof a; n++) {
        memset(a, 7, sizeof a);
        memset(b, 7, sizeof b);
        assert_true(secret_eq(a, b, n));
        for (size_t i = 0; i < sizeof a; i++) {
            b[i] ^= 0x80;
            assert_int_equal(secret_eq(a, b, n), i >= n);
            b[i] ^= 0x80;
        }
        secret_wipe(a, n);
        for (size_t i = 0; i < sizeof a; i++)
            assert_int_equal(a[i], i < n ? 0 : 7);
    }
}

TEST_MAIN()
