/* base/histogram.h - a histogram in powers of two that one thread writes and any thread reads. */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include "base/counter.h"

/* The bucket i takes what is at most 2^(first + i); the last one all the rest. `first` is the same in all
 * calls for a histogram: HISTOGRAM_*. */
enum {
    HISTOGRAM_BUCKETS = 22,
    HISTOGRAM_NS = 13 /* 8.192 us, so the last bound is 8.59 s */,
    HISTOGRAM_COUNT = 0
};

/* Zero-initialised is empty. */
struct histogram {
    _Atomic uint64_t sum, bucket[HISTOGRAM_BUCKETS];
};

/* What was read of one or more of them. */
struct histogram_read {
    uint64_t sum, bucket[HISTOGRAM_BUCKETS];
};

static inline unsigned histogram_bucket(uint64_t value, unsigned first)
{
    uint64_t above = value ? (value - 1) >> first : 0;
    unsigned i = above ? 64 - (unsigned)__builtin_clzll(above) : 0;
    return i < HISTOGRAM_BUCKETS ? i : HISTOGRAM_BUCKETS - 1;
}

/* n times the value. */
static inline void histogram_add(struct histogram *h, uint64_t value, uint64_t n, unsigned first)
{
    counter_add(&h->sum, value * n);
    counter_add(&h->bucket[histogram_bucket(value, first)], n);
}

/* Add to what was read before. */
static inline void histogram_get(const struct histogram *h, struct histogram_read *out)
{
    out->sum += counter_get(&h->sum);
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        out->bucket[i] += counter_get(&h->bucket[i]);
}

#endif
