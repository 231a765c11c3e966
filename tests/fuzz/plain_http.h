/* tests/fuzz/plain_http.h - how a request is framed, once more, as RFC 9112 says it: from whole lines. */
#ifndef TESTS_FUZZ_PLAIN_HTTP_H
#define TESTS_FUZZ_PLAIN_HTTP_H

#include "base/buf.h"

enum plain_framing {
    PLAIN_LENGTH, /* with so many bytes of body */
    PLAIN_CHUNKED,
    PLAIN_BROKEN,  /* the connection cannot go on */
    PLAIN_UNKNOWN, /* an authority that is not plain */
};

/* Of the head, its blank line included. */
enum plain_framing plain_head(struct slice head, uint64_t *bytes);

/* The chunked body that begins at `in`, if it is whole and keeps the rules: what stands behind it, and its
 * bytes appended. Else NULL. */
const uint8_t *plain_chunked(struct slice in, struct buf *body);

#endif
