/* server/target.h - a request target taken apart: path segments and percent-encoding. Pure.
 * Source: RFC 3986, sections 2.1 and 3.3; that `.` and `..` are data is our own rule
 * (docs/http-api.md, "Paths"). */
#ifndef SERVER_TARGET_H
#define SERVER_TARGET_H

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"

enum { TARGET_SEGMENTS_MAX = 5 };

struct target {
    struct slice segment[TARGET_SEGMENTS_MAX]; /* decoded once: borrowed from the path, or in the arena */
    unsigned n;                                /* TARGET_SEGMENTS_MAX + 1: there are more */
    bool trailing_slash;                       /* one at the end, not counted as a segment */
    bool empty_segment;                        /* one of the others is empty */
};

/* Split at `/`, then decode each segment. `path` begins with a slash. Fails with BAD_TARGET, NO_MEMORY. */
MUST_USE enum rc target_split(struct slice path, struct arena *, struct target *out, struct err *);

/* Undo percent-encoding once; plus_is_space for query strings. Borrowed from `raw` where there is nothing to
 * undo. Fails with BAD_TARGET, NO_MEMORY. */
MUST_USE enum rc target_decode(struct slice raw, bool plus_is_space, struct arena *, struct slice *out,
                               struct err *);

/* Append `segment`, percent-encoded as RFC 3986 wants: all but unreserved characters.
 * At most 3 bytes a byte. */
size_t target_encode(struct slice segment, uint8_t *out);

#endif
