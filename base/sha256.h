/* base/sha256.h - SHA-256 (FIPS 180-4) of bytes at hand, or as they come, and HMAC with it (RFC 2104). Any thread. Nothing of bytes at
 * hand stays on the stack. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include "base/slice.h"

enum { SHA256_BYTES = 32 };

void sha256(struct slice, uint8_t out[SHA256_BYTES]);
/* Of the parts one behind the other, with a key that only this process has or that both sides know. Where a part ends is not
 * told apart: parts of any length want their length in front. */
void hmac_sha256(const uint8_t key[SHA256_BYTES], const struct slice *parts, size_t n,
                 uint8_t out[SHA256_BYTES]);

/* Of what comes piece by piece: begin, add ..., end. Owns nothing. */
struct sha256 {
    uint64_t own[16];
};
void sha256_begin(struct sha256 *);
void sha256_add(struct sha256 *, struct slice);
void sha256_end(struct sha256 *, uint8_t out[SHA256_BYTES]);

#endif
