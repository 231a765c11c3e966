/* server/access/quota.c - see quota.h. What is full at a time in the past is full; what is full a burst from now is empty, and what is full
 * later than that is in debt. */
#include "server/access/quota.h"

enum { NS_PER_SECOND = 1000000000 };

/* Two years: what is further away comes to the same, and sums stay far from the end of the numbers. */
#define FAR_TICKS (UINT64_C(1) << 62)

static uint64_t ticks_of(uint64_t n, uint64_t per_second)
{
    const unsigned __int128 second = (unsigned __int128)NS_PER_SECOND * QUOTA_TICKS_PER_NS;
    unsigned __int128 ticks = (n * second + per_second - 1) / per_second;
    return ticks < FAR_TICKS ? (uint64_t)ticks : FAR_TICKS;
}

struct quota_rate quota_rate_of(uint64_t per_second, uint64_t burst)
{
    struct quota_rate r = {.per_second = per_second};
    if (!per_second)
        return r;
    r.one_ticks = ticks_of(1, per_second);
    if (__builtin_mul_overflow(burst ? burst : per_second, r.one_ticks, &r.burst_ticks) ||
        r.burst_ticks > FAR_TICKS)
        r.burst_ticks = FAR_TICKS;
    return r;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t quota_take(_Atomic uint64_t *full_at, const struct quota_rate *r, uint64_t now)
{
    uint64_t was = atomic_load_explicit(full_at, memory_order_relaxed), then;
    do {
        then = later(was, now) + r->one_ticks;
        if (then > now + r->burst_ticks)
            return then - now - r->burst_ticks;
    } while (!atomic_compare_exchange_weak_explicit(full_at, &was, then, memory_order_relaxed,
                                                    memory_order_relaxed));
    return 0;
}

/* In the past it may stand a little too early, which is the same. */
void quota_give_back(_Atomic uint64_t *full_at, const struct quota_rate *r)
{
    atomic_fetch_sub_explicit(full_at, r->one_ticks, memory_order_relaxed);
}

uint64_t quota_wait(_Atomic uint64_t *full_at, const struct quota_rate *r, uint64_t now)
{
    uint64_t at = atomic_load_explicit(full_at, memory_order_relaxed), empty_at = now + r->burst_ticks;
    return at < empty_at ? 0 : at - empty_at + 1;
}

void quota_charge(_Atomic uint64_t *full_at, const struct quota_rate *r, uint64_t n, uint64_t now)
{
    uint64_t ticks = ticks_of(n, r->per_second), was = atomic_load_explicit(full_at, memory_order_relaxed);
    uint64_t then;
    do {
        then = later(was, now) + ticks;
        if (then > now + 2 * FAR_TICKS)
            then = now + 2 * FAR_TICKS;
    } while (!atomic_compare_exchange_weak_explicit(full_at, &was, then, memory_order_relaxed,
                                                    memory_order_relaxed));
}

/* ---- requests and bytes ---- */

struct quota_rates quota_rates_of(const struct quota_limits *l)
{
    return (struct quota_rates){quota_rate_of(l->requests_per_second, l->requests_burst),
                                quota_rate_of(l->bytes_per_second, l->bytes_burst)};
}

bool quota_limits_equal(const struct quota_limits *a, const struct quota_limits *b)
{
    return a->requests_per_second == b->requests_per_second && a->requests_burst == b->requests_burst &&
           a->bytes_per_second == b->bytes_per_second && a->bytes_burst == b->bytes_burst;
}

uint64_t quota_buckets_take(struct quota_buckets *b, const struct quota_rates *r, uint64_t now,
                            bool *is_for_bytes)
{
    uint64_t wait = r->bytes.per_second ? quota_wait(&b->bytes, &r->bytes, now) : 0;
    *is_for_bytes = wait > 0;
    if (wait)
        return wait;
    return r->requests.per_second ? quota_take(&b->requests, &r->requests, now) : 0;
}

void quota_buckets_give_back(struct quota_buckets *b, const struct quota_rates *r)
{
    if (r->requests.per_second)
        quota_give_back(&b->requests, &r->requests);
}

void quota_buckets_charge(struct quota_buckets *b, const struct quota_rates *r, uint64_t bytes, uint64_t now)
{
    if (r->bytes.per_second && bytes)
        quota_charge(&b->bytes, &r->bytes, bytes, now);
}

bool quota_buckets_are_idle(const struct quota_buckets *b, uint64_t now)
{
    return atomic_load_explicit(&b->requests, memory_order_relaxed) <= now &&
           atomic_load_explicit(&b->bytes, memory_order_relaxed) <= now;
}
