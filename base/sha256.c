/* base/sha256.c - SHA-256 by OpenSSL's libcrypto. */
#include "base/sha256.h"

#include <openssl/sha.h>

bool sha256(struct slice s, uint8_t out[SHA256_BYTES])
{
    _Static_assert(SHA256_DIGEST_LENGTH == SHA256_BYTES, "FIPS 180-4");
    return SHA256(s.ptr, s.len, out) != NULL;
}
