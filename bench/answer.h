/* bench/answer.h - the head of an HTTP answer, as far as a load generator must know it. Pure. */
#ifndef BENCH_ANSWER_H
#define BENCH_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer {
    unsigned status;
    uint64_t body_bytes;
    bool closes; /* "Connection: close" */
};

/* Where Content-Length stood in the last head: a server puts it at the same place again. Zero-initialised is
 * ready. */
struct answer_hint {
    size_t at;
};

/* Bytes of the head with its blank line; 0: not whole yet; -1: not HTTP/1.x, or a body whose length the head
 * does not say (chunked, until close). `no_body`: the answer to HEAD. */
long answer_head(const char *in, size_t have, bool no_body, struct answer_hint *, struct answer *out);

#endif
