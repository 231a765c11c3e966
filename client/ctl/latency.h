/* client/ctl/latency.h - durations in buckets no wider than 1/32 of their value. */
#ifndef CLIENT_CTL_LATENCY_H
#define CLIENT_CTL_LATENCY_H

#include <stdint.h>

enum { LATENCY_SUB_BITS = 5, LATENCY_BUCKETS = (64 - LATENCY_SUB_BITS + 1) << LATENCY_SUB_BITS };

/* Zero-initialised is empty. */
struct latency {
    uint64_t count, max_ns;
    uint64_t buckets[LATENCY_BUCKETS];
};

void latency_add(struct latency *, uint64_t ns);

/* The least duration of the bucket in which the share (0 to 1) is reached; 0 if nothing was added. */
uint64_t latency_at(const struct latency *, double share);

#endif
