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

/* What the last head was: a server answers the same one again and again, and a head that is equal byte by byte need
 * not be looked at. Of a new one, where Content-Length stood in the last. Zero-initialised is ready. */
enum { ANSWER_HINT_MAX = 1024 };
struct answer_hint {
    size_t at;
    size_t head_bytes; /* 0: none */
    struct answer answer;
    char head[ANSWER_HINT_MAX];
};

/* Bytes of the head with its blank line; 0: not whole yet; -1: not HTTP/1.x, or a body whose length the head
 * does not say (chunked, until close). `no_body`: the answer to HEAD; the same in all calls with one hint. */
long answer_head(const char *in, size_t have, bool no_body, struct answer_hint *, struct answer *out);

#endif
