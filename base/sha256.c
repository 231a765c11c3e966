/* base/sha256.c - SHA-256 by OpenSSL's libcrypto, by the functions that it calls deprecated: those that it
 * prefers fetch an implementation by name at each call, which allocates, so they can fail. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <assert.h>
#include <openssl/sha.h>

#include "base/secret.h"

_Static_assert(SHA256_DIGEST_LENGTH == SHA256_BYTES, "FIPS 180-4");
_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct sha256), "its place is here");
_Static_assert(_Alignof(SHA256_CTX) <= _Alignof(struct sha256), "its place is here");

static void digest(const struct slice *parts, size_t n, uint8_t out[SHA256_BYTES])
{
    SHA256_CTX c;
    SHA256_Init(&c);
    for (size_t i = 0; i < n; i++)
        SHA256_Update(&c, parts[i].ptr, parts[i].len);
    SHA256_Final(out, &c);
    secret_wipe(&c, sizeof c);
}

void sha256(struct slice s, uint8_t out[SHA256_BYTES])
{
    digest(&s, 1, out);
}

/* H(K ^ opad, H(K ^ ipad, text)). */
void hmac_sha256(const uint8_t key[SHA256_BYTES], const struct slice *parts, size_t n,
                 uint8_t out[SHA256_BYTES])
{
    enum { PARTS_MAX = 8 };
    uint8_t inner[SHA256_CBLOCK], outer[SHA256_CBLOCK], middle[SHA256_BYTES];
    struct slice all[1 + PARTS_MAX] = {slice_of(inner, sizeof inner)};
    memset(inner, 0x36, sizeof inner);
    memset(outer, 0x5c, sizeof outer);
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        inner[i] ^= key[i];
        outer[i] ^= key[i];
    }
    assert(n <= PARTS_MAX);
    for (size_t i = 0; i < n; i++)
        all[1 + i] = parts[i];
    digest(all, 1 + n, middle);
    digest((struct slice[]){slice_of(outer, sizeof outer), slice_of(middle, sizeof middle)}, 2, out);
    secret_wipe(inner, sizeof inner);
    secret_wipe(outer, sizeof outer);
}

static SHA256_CTX *ctx_of(struct sha256 *s)
{
    return (SHA256_CTX *)(void *)s->own;
}

void sha256_begin(struct sha256 *s)
{
    SHA256_Init(ctx_of(s));
}

void sha256_add(struct sha256 *s, struct slice bytes)
{
    SHA256_Update(ctx_of(s), bytes.ptr, bytes.len);
}

void sha256_end(struct sha256 *s, uint8_t out[SHA256_BYTES])
{
    SHA256_Final(out, ctx_of(s));
}
