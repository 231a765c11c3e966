/* server/access/quota_table.c - see quota_table.h. A set-associative table: the key's hash leads to a set of eight places and one that is
 * shared. */
#include "server/access/quota_table.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"

enum { PLACES = 8, LOCKS = 64 };

struct place {
    uint64_t key; /* 0: free */
    struct quota_buckets buckets;
};

struct set {
    struct place place[PLACES];
    struct quota_buckets shared;
};

struct quota_table {
    struct quota_limits limits;
    struct quota_rates rates;
    _Atomic unsigned refs;
    unsigned mask;               /* of sets, which are a power of 2 */
    pthread_mutex_t lock[LOCKS]; /* set i has that at i % LOCKS */
    struct set *sets;
};

struct quota_table *quota_table_new(const struct quota_limits *limits, unsigned places)
{
    struct quota_table *t = calloc(1, sizeof *t);
    unsigned sets = LOCKS;
    while (sets * PLACES < places)
        sets *= 2;
    if (!t || !(t->sets = calloc(sets, sizeof *t->sets))) {
        free(t);
        return NULL;
    }
    t->limits = *limits;
    t->rates = quota_rates_of(limits);
    t->mask = sets - 1;
    atomic_init(&t->refs, 1);
    for (unsigned i = 0; i < LOCKS; i++)
        pthread_mutex_init(&t->lock[i], NULL);
    return t;
}

struct quota_table *quota_table_ref(struct quota_table *t)
{
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

void quota_table_unref(struct quota_table *t)
{
    if (!t || atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) > 1)
        return;
    for (unsigned i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&t->lock[i]);
    free(t->sets);
    free(t);
}

const struct quota_limits *quota_table_limits(const struct quota_table *t)
{
    return &t->limits;
}

static struct quota_buckets *find(struct set *set, uint64_t key, uint64_t now)
{
    struct place *idle = NULL;
    for (struct place *p = set->place; p < set->place + PLACES; p++) {
        if (p->key == key)
            return &p->buckets;
        if (!idle && quota_buckets_are_idle(&p->buckets, now))
            idle = p;
    }
    if (!idle)
        return &set->shared;
    idle->key = key;
    atomic_init(&idle->buckets.requests, 0);
    atomic_init(&idle->buckets.bytes, 0);
    return &idle->buckets;
}

/* The key's buckets, and the lock under which they are looked at. */
static struct quota_buckets *enter(struct quota_table *t, uint64_t key, uint64_t now, pthread_mutex_t **lock)
{
    unsigned i = (unsigned)hash_bytes(slice_of(&key, sizeof key)) & t->mask;
    *lock = &t->lock[i % LOCKS];
    pthread_mutex_lock(*lock);
    return find(&t->sets[i], key ? key : 1, now);
}

uint64_t quota_table_take(struct quota_table *t, uint64_t key, uint64_t now, bool *is_for_bytes)
{
    pthread_mutex_t *lock;
    uint64_t wait = quota_buckets_take(enter(t, key, now, &lock), &t->rates, now, is_for_bytes);
    pthread_mutex_unlock(lock);
    return wait;
}

void quota_table_charge(struct quota_table *t, uint64_t key, uint64_t bytes, uint64_t now)
{
    pthread_mutex_t *lock;
    quota_buckets_charge(enter(t, key, now, &lock), &t->rates, bytes, now);
    pthread_mutex_unlock(lock);
}
