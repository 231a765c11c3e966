/* server/catalog_pairs.c - see catalog_pairs.h. Most are asked for the latest version: those stand in an array by
 * writer; the rest in a list. */
#include "server/catalog_pairs.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/limits.h"

/* A resolver, and how many pairs of a type and of its successors have it: counted under the catalog's lock, once it
 * has been offered. */
struct shared {
    uint32_t refs;
    struct resolver *resolver;
};

struct other {
    struct other *next;
    uint32_t writer, reader;
    struct shared *shared;
};

struct pairs {
    uint32_t nversions, latest;
    _Atomic(struct other *) others;
    _Atomic unsigned nothers;
    _Atomic(struct shared *) to_latest[]; /* by writer */
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

static void shared_unref(struct shared *s)
{
    if (!s || --s->refs)
        return;
    schema_resolver_free(s->resolver);
    free(s);
}

void pairs_free(struct pairs *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->nversions; i++)
        shared_unref(atomic_load_explicit(&p->to_latest[i], memory_order_acquire));
    struct other *next;
    for (struct other *o = atomic_load_explicit(&p->others, memory_order_acquire); o; o = next) {
        next = o->next;
        shared_unref(o->shared);
        free(o);
    }
    free(p);
}

static bool is_to_latest(const struct pairs *p, uint32_t writer, uint32_t reader)
{
    assert(writer < p->nversions && reader < p->nversions);
    return reader == p->latest;
}

static const struct shared *find(const struct pairs *p, uint32_t writer, uint32_t reader)
{
    if (likely(is_to_latest(p, writer, reader)))
        return atomic_load_explicit(&p->to_latest[writer], memory_order_acquire);
    const struct other *o = atomic_load_explicit(&p->others, memory_order_acquire);
    while (o && (o->writer != writer || o->reader != reader))
        o = o->next;
    return o ? o->shared : NULL;
}

const struct resolver *pairs_find(const struct pairs *p, uint32_t writer, uint32_t reader)
{
    const struct shared *s = find(p, writer, reader);
    return s ? s->resolver : NULL;
}

/* ---- adding. False: it is not taken, and the reference stays the caller's ---- */

static bool add_to_latest(struct pairs *p, uint32_t writer, struct shared *s)
{
    struct shared *none = NULL;
    return atomic_compare_exchange_strong_explicit(&p->to_latest[writer], &none, s, memory_order_acq_rel,
                                                   memory_order_acquire);
}

static bool add_other(struct pairs *p, uint32_t writer, uint32_t reader, struct shared *s)
{
    bool has_room = atomic_fetch_add_explicit(&p->nothers, 1, memory_order_relaxed) < LIMIT_PAIRS_MAX;
    struct other *o = has_room ? malloc(sizeof *o) : NULL;
    if (!o) {
        atomic_fetch_sub_explicit(&p->nothers, 1, memory_order_relaxed);
        return false;
    }
    /* Two may make the same pair at the same time: then it stands there twice. */
    *o = (struct other){.writer = writer, .reader = reader, .shared = s};
    o->next = atomic_load_explicit(&p->others, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&p->others, &o->next, o, memory_order_acq_rel,
                                                  memory_order_relaxed))
        ;
    return true;
}

static bool add(struct pairs *p, uint32_t writer, uint32_t reader, struct shared *s)
{
    return is_to_latest(p, writer, reader) ? add_to_latest(p, writer, s) : add_other(p, writer, reader, s);
}

bool pairs_offer(struct pairs *p, uint32_t writer, uint32_t reader, struct resolver *resolver)
{
    struct shared *s = NULL;
    if (!pairs_find(p, writer, reader)) {
        s = malloc(sizeof *s);
        if (!s)
            return false;
        *s = (struct shared){.refs = 1, .resolver = resolver};
        if (add(p, writer, reader, s))
            return true;
        free(s);
    }
    if (!pairs_find(p, writer, reader))
        return false;
    schema_resolver_free(resolver); /* somebody was faster */
    return true;
}

/* ---- taking over ---- */

static void inherit(struct pairs *to, uint32_t writer, uint32_t reader, struct shared *s)
{
    if (find(to, writer, reader))
        return;
    s->refs++;
    if (!add(to, writer, reader, s))
        s->refs--;
}

void pairs_inherit(struct pairs *to, const struct pairs *from, const uint32_t *index)
{
    struct other *o = atomic_load_explicit(&from->others, memory_order_acquire);
    for (; o; o = o->next)
        inherit(to, index[o->writer], index[o->reader], o->shared);
    if (index[from->latest] != to->latest)
        return;
    for (uint32_t i = 0; i < from->nversions; i++) {
        struct shared *s = atomic_load_explicit(&from->to_latest[i], memory_order_acquire);
        if (s)
            inherit(to, index[i], to->latest, s);
    }
}
