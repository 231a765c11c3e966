/* bench/plan.h - what the load generator sends: one request as text, made once, with places for a number.
 *
 * `{id}` in the target and in the body stands for a number from 1 to ids_max, the same one in the whole request;
 * `{key}` for that number's key (ids.h). */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLAN_SLOTS_MAX = 8, PLAN_DIGITS_MAX = 20, PLAN_HEADERS_MAX = 16 };

struct plan_opts {
    const char *method, *host, *target; /* host: HOST:PORT as the Host field shows it */
    const char *headers[PLAN_HEADERS_MAX];
    unsigned nheaders;
    const char *body; /* NULL: none */
    size_t body_bytes;
    uint64_t ids_max;
    bool sequential; /* 1, 2, 3 ... and over again, instead of random */
    uint64_t seed;
    unsigned depth; /* requests in a batch */
};

/* Where the number stands, or its key. */
struct plan_slot {
    size_t at;
    bool key;
};

/* The request for numbers of one width. */
struct plan_text {
    char *bytes;
    size_t len;
    struct plan_slot slots[PLAN_SLOTS_MAX];
};

struct plan {
    struct plan_text texts[PLAN_DIGITS_MAX + 1]; /* by digits; [1] alone where there is no slot */
    unsigned nslots, depth;
    uint64_t ids_max, next, random;
    bool sequential;
    char *batch; /* depth requests */
};

/* Dies on a wrong template and when memory is out. The texts of opts are borrowed for the call. */
void plan_init(struct plan *, const struct plan_opts *opts);
void plan_release(struct plan *);

/* The bytes of `count` (at most depth) requests, borrowed until the next call. */
const char *plan_next(struct plan *, unsigned count, size_t *bytes);

#endif
