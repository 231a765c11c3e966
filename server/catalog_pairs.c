/* server/catalog_pairs.c - see catalog_pairs.h. Most are asked for the latest version: those stand in an array by
 * writer; the rest in a list. */
#include "server/catalog_pairs.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/limits.h"

struct other {
    struct other *next;
    uint32_t writer, reader;
    struct resolver *resolver;
};

struct pairs {
    uint32_t nversions, latest;
    _Atomic(struct other *) others;
    _Atomic unsigned nothers;
    _Atomic(struct resolver *) to_latest[]; /* by writer */
};

struct pairs *pairs_new(uint32_t nversions, uint32_t latest)
{
    struct pairs *p = calloc(1, sizeof *p + nversions * sizeof p->to_latest[0]);
    if (p) {
        p->nversions = nversions;
        p->latest = latest;
    }
    return p;
}

void pairs_free(struct pairs *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->nversions; i++)
        schema_resolver_free(atomic_load_explicit(&p->to_latest[i], memory_order_acquire));
    struct other *next;
    for (struct other *o = atomic_load_explicit(&p->others, memory_order_acquire); o; o = next) {
        next = o->next;
        schema_resolver_free(o->resolver);
        free(o);
    }
    free(p);
}

static bool is_to_latest(const struct pairs *p, uint32_t writer, uint32_t reader)
{
    assert(writer < p->nversions && reader < p->nversions);
    return reader == p->latest;
}

const struct resolver *pairs_find(const struct pairs *p, uint32_t writer, uint32_t reader)
{
    if (likely(is_to_latest(p, writer, reader)))
        return atomic_load_explicit(&p->to_latest[writer], memory_order_acquire);
    const struct other *o = atomic_load_explicit(&p->others, memory_order_acquire);
    while (o && (o->writer != writer || o->reader != reader))
        o = o->next;
    return o ? o->resolver : NULL;
}

static bool offer_to_latest(struct pairs *p, uint32_t writer, struct resolver *resolver)
{
    struct resolver *none = NULL;
    if (!atomic_compare_exchange_strong_explicit(&p->to_latest[writer], &none, resolver, memory_order_acq_rel,
                                                 memory_order_acquire))
        schema_resolver_free(resolver);
    return true;
}

bool pairs_offer(struct pairs *p, uint32_t writer, uint32_t reader, struct resolver *resolver)
{
    if (is_to_latest(p, writer, reader))
        return offer_to_latest(p, writer, resolver);
    if (pairs_find(p, writer, reader)) {
        schema_resolver_free(resolver);
        return true;
    }
    if (atomic_fetch_add_explicit(&p->nothers, 1, memory_order_relaxed) >= LIMIT_PAIRS_MAX) {
        atomic_fetch_sub_explicit(&p->nothers, 1, memory_order_relaxed);
        return false;
    }
    struct other *o = malloc(sizeof *o);
    if (!o) {
        atomic_fetch_sub_explicit(&p->nothers, 1, memory_order_relaxed);
        return false;
    }
    /* Two may make the same pair at the same time: then it stands there twice. */
    *o = (struct other){.writer = writer, .reader = reader, .resolver = resolver};
    o->next = atomic_load_explicit(&p->others, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&p->others, &o->next, o, memory_order_acq_rel,
                                                  memory_order_relaxed))
        ;
    return true;
}
