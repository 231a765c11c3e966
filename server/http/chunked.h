/* server/http/chunked.h - the chunked transfer coding, read a piece at a time. Pure; any thread.
 * Source: RFC 9112, section 7.1. */
#ifndef SERVER_HTTP_CHUNKED_H
#define SERVER_HTTP_CHUNKED_H

#include "base/compiler.h"
#include "base/err.h"
#include "base/slice.h"

/* Zero: at the start of a body. */
struct chunked {
    uint64_t left;   /* of the chunk that is being read, or its size so far */
    uint32_t extras; /* bytes of extensions and trailers so far */
    uint8_t state;   /* of chunked.c */
    uint8_t digits;  /* of the size so far */
};

enum chunked_rc { CHUNKED_MORE, CHUNKED_DONE, CHUNKED_BAD };

/* Read from `in` until it ends (MORE), the body ends (DONE), or it breaks a rule (BAD, *err is BAD_REQUEST).
 *   used  how many bytes of `in` were read (on MORE: all)
 *   out   takes the data, at most in.len bytes; may be the memory of `in` or lie before it; NULL: dropped
 *   made  how many bytes of data there were
 * Extensions and trailers are checked and dropped. Linear. */
MUST_USE enum chunked_rc chunked_read(struct chunked *, struct slice in, uint8_t *out, size_t *used,
                                      size_t *made, struct err *err);

#endif
