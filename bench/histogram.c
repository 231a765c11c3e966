/* bench/histogram.c - reading a histogram. */
#include "bench/histogram.h"

static uint64_t bucket_floor(unsigned bucket)
{
    unsigned row = bucket >> HISTOGRAM_SUB_BITS;
    if (row == 0)
        return bucket;
    uint64_t in_row = bucket & ((1u << HISTOGRAM_SUB_BITS) - 1);
    return (in_row + (1u << HISTOGRAM_SUB_BITS)) << (row - 1);
}

uint64_t histogram_at(const struct histogram *h, double share)
{
    uint64_t seen = 0;
    double wanted = share * (double)h->count;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += h->buckets[i];
        if (seen && (double)seen >= wanted)
            return bucket_floor(i);
    }
    return 0;
}
