/* base/zstd.h - bodies packed whole into zstd frames (RFC 8878), and back: the home of libzstd. Any thread: each keeps
 * contexts of its own, made when first needed and freed with it. */
#ifndef BASE_ZSTD_H
#define BASE_ZSTD_H

#include "base/err.h"
#include "base/slice.h"

/* Pack the parts, one behind the other, into at most `room` bytes at `out`. How many they are; 0: it takes more, or memory
 * is out, and the body is to be kept as it is. */
size_t zstd_pack(const struct slice *parts, unsigned n, uint8_t *out, size_t room);

/* The other way: exactly `bytes` bytes at `out`. Never writes beyond them, whatever `packed` is. IO: it is no frame that
 * says so many; NO_MEMORY. */
MUST_USE enum rc zstd_unpack(struct slice packed, uint8_t *out, uint64_t bytes, struct err *);

#endif
