/* base/sha256.c - SHA-256 by OpenSSL's libcrypto, by the functions that it calls deprecated: those that it
 * prefers fetch an implementation by name at each call, which allocates, so they can fail. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <openssl/sha.h>

_Static_assert(SHA256_DIGEST_LENGTH == SHA256_BYTES, "FIPS 180-4");
_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct sha256), "its place is here");
_Static_assert(_Alignof(SHA256_CTX) <= _Alignof(struct sha256), "its place is here");

void sha256(struct slice s, uint8_t out[SHA256_BYTES])
{
    SHA256_CTX c;
    SHA256_Init(&c);
    SHA256_Update(&c, s.ptr, s.len);
    SHA256_Final(out, &c);
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
