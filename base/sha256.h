/* base/sha256.h - SHA-256 (FIPS 180-4) of bytes at hand. Any thread. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include "base/slice.h"

enum { SHA256_BYTES = 32 };

void sha256(struct slice, uint8_t out[SHA256_BYTES]);

#endif
