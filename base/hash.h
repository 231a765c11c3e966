/* base/hash.h - a seeded hash for tables whose keys strangers choose (SipHash-1-3: Aumasson and Bernstein,
 * "SipHash: a fast short-input PRF", 2012, with 1 and 3 rounds). */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/slice.h"

/* Any thread. The seed is drawn from the kernel once a process, so two runs differ. */
uint64_t hash_bytes(struct slice);

/* Uniform random bytes from the kernel (getrandom). False: it failed. */
bool random_bytes(void *out, size_t bytes);

#endif
