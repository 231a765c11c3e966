/* client/ctl/latency.c - see latency.h. */
#include "client/ctl/latency.h"

enum { ROW = 1 << LATENCY_SUB_BITS };

/* Below 2^5 each value has a bucket; each power of two above has 2^5. */
static unsigned bucket_of(uint64_t ns)
{
    if (ns < ROW)
        return (unsigned)ns;
    unsigned shift = 63u - (unsigned)__builtin_clzll(ns) - LATENCY_SUB_BITS;
    return ((shift + 1) << LATENCY_SUB_BITS) + (unsigned)(ns >> shift) - ROW;
}

static uint64_t least_of(unsigned bucket)
{
    unsigned row = bucket >> LATENCY_SUB_BITS;
    return row ? (uint64_t)(bucket % ROW + ROW) << (row - 1) : bucket;
}

void latency_add(struct latency *l, uint64_t ns)
{
    l->count++;
    l->buckets[bucket_of(ns)]++;
    l->max_ns = ns > l->max_ns ? ns : l->max_ns;
}

uint64_t latency_at(const struct latency *l, double share)
{
    uint64_t seen = 0;
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
        seen += l->buckets[i];
        if (seen && (double)seen >= share * (double)l->count)
            return least_of(i);
    }
    return 0;
}
