/* base/sha256.h - SHA-256 (FIPS 180-4) of bytes at hand. Any thread. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include "base/compiler.h"
#include "base/slice.h"

enum { SHA256_BYTES = 32 };

/* False: the library has failed (memory is out). */
bool sha256(struct slice, uint8_t out[SHA256_BYTES]) MUST_USE;

#endif
