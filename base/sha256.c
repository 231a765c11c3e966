/* base/sha256.c - SHA-256 by OpenSSL's libcrypto, by the functions that it calls deprecated: those that it
 * prefers fetch an implementation by name at each call, which allocates, so they can fail. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <openssl/sha.h>

void sha256(struct slice s, uint8_t out[SHA256_BYTES])
{
    _Static_assert(SHA256_DIGEST_LENGTH == SHA256_BYTES, "FIPS 180-4");
    SHA256_CTX c;
    SHA256_Init(&c);
    SHA256_Update(&c, s.ptr, s.len);
    SHA256_Final(out, &c);
}
