/* client/ctl/reply_check.h - an HTTP answer that is compared with what it should be while it comes; nothing of its body is kept. */
#ifndef CLIENT_CTL_REPLY_CHECK_H
#define CLIENT_CTL_REPLY_CHECK_H

#include <stdbool.h>

#include "base/slice.h"

enum { REPLY_HEAD_MAX = 16384 };

/* What is expected. `number`, if not empty, stands at the body's beginning in place of what is there. */
struct reply_want {
    unsigned status, or_status; /* or_status 0: only the first */
    struct slice body, number;
};

/* Zero-initialised is ready for an answer. */
struct reply {
    unsigned status;
    uint64_t body_bytes, body_at;
    bool in_body, closes, differs;
    size_t head_bytes;
    char head[REPLY_HEAD_MAX];
};

enum reply_state { REPLY_MORE, REPLY_WHOLE, REPLY_BROKEN };

/* Take what came: *taken bytes of it belong to this answer. REPLY_BROKEN: no HTTP/1.1 with a Content-Length. */
enum reply_state reply_take(struct reply *, const struct reply_want *, struct slice bytes, size_t *taken);

/* Of a whole one: is it what was wanted? */
bool reply_is_right(const struct reply *, const struct reply_want *);

#endif
