/* bench/histogram.h - latencies in buckets no wider than 1/32 of their value. One thread. */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_SUB_BITS = 5, HISTOGRAM_BUCKETS = (64 - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS };

/* Zero-initialised is empty. */
struct histogram {
    uint64_t count, max;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

static inline unsigned histogram_bucket(uint64_t v)
{
    if (v < 1u << HISTOGRAM_SUB_BITS)
        return (unsigned)v;
    unsigned shift = 63u - (unsigned)__builtin_clzll(v) - HISTOGRAM_SUB_BITS;
    return ((shift + 1) << HISTOGRAM_SUB_BITS) + (unsigned)(v >> shift) - (1u << HISTOGRAM_SUB_BITS);
}

static inline void histogram_add(struct histogram *h, uint64_t v, uint64_t times)
{
    h->count += times;
    h->buckets[histogram_bucket(v)] += times;
    if (v > h->max)
        h->max = v;
}

/* The smallest value of the bucket in which the share (0 to 1) is reached; 0 if nothing was added. */
uint64_t histogram_at(const struct histogram *h, double share);

#endif
