/* server/access/quota.h - a token bucket in one number: the time at which it will be full again (the generic cell rate algorithm of ITU-T
 * I.371). Any thread may take from it at any time, without a lock, and nothing has to fill it up. Pure: the time is the caller's. */
#ifndef SERVER_ACCESS_QUOTA_H
#define SERVER_ACCESS_QUOTA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/access/rights.h"

/* Times, and whiles, are in ticks: 64ths of a nanosecond, so that rates come out even. 2^64 of them are nine years. */
enum { QUOTA_TICKS_PER_NS = 64 };
static inline uint64_t quota_ticks(int64_t mono_ns)
{
    return (uint64_t)mono_ns * QUOTA_TICKS_PER_NS;
}

/* So many a second, and at most so many at once. */
struct quota_rate {
    uint64_t per_second; /* 0: as many as you like */
    uint64_t one_ticks;  /* until one has come, rounded up */
    uint64_t burst_ticks;
};

/* burst 0: as many as come in a second. */
struct quota_rate quota_rate_of(uint64_t per_second, uint64_t burst);

/* Take one out. 0: done; else how long until there is one, and nothing is taken. */
uint64_t quota_take(_Atomic uint64_t *full_at, const struct quota_rate *, uint64_t now);
/* Put one back that was taken. */
void quota_give_back(_Atomic uint64_t *full_at, const struct quota_rate *);
/* 0: there is something in it; else how long until there is. */
uint64_t quota_wait(_Atomic uint64_t *full_at, const struct quota_rate *, uint64_t now);
/* Take `n` out, also of what is not there yet: a debt, which time pays. */
void quota_charge(_Atomic uint64_t *full_at, const struct quota_rate *, uint64_t n, uint64_t now);

/* What somebody may ask for: requests, and the bytes of their bodies and answers. */
struct quota_rates {
    struct quota_rate requests, bytes;
};
struct quota_buckets {
    _Atomic uint64_t requests, bytes; /* 0: full */
};

struct quota_rates quota_rates_of(const struct quota_limits *);
bool quota_limits_equal(const struct quota_limits *, const struct quota_limits *);
/* One request. 0: it may come in; else how long until it may, and whether that is for its bytes. */
uint64_t quota_buckets_take(struct quota_buckets *, const struct quota_rates *, uint64_t now,
                            bool *is_for_bytes);
void quota_buckets_give_back(struct quota_buckets *, const struct quota_rates *);
void quota_buckets_charge(struct quota_buckets *, const struct quota_rates *, uint64_t bytes, uint64_t now);
/* Full, so that a new one is as good. */
bool quota_buckets_are_idle(const struct quota_buckets *, uint64_t now);

#endif
