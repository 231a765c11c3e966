/* tests/unit/storage/wrap.h - an engine around another: it can hold a group back, count and fail applies. One
 * at a time. */
#ifndef TESTS_UNIT_STORAGE_WRAP_H
#define TESTS_UNIT_STORAGE_WRAP_H

#include <pthread.h>

#include "tests/unit/storage/fixture.h"

static struct {
    const struct engine_ops *inner;
    struct engine_ops ops;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool hold;         /* applies wait until released */
    unsigned held;     /* applies that have come so far to wait */
    unsigned applies;  /* that the inner engine has done */
    size_t puts[1024]; /* mutations of each */
    struct slice watched;
    unsigned watched_puts; /* mutations of that key */
    /* What an apply answers instead of being done; RC_OK: do it. Called with the lock held. */
    enum rc (*on_apply)(const struct mutation *, size_t n, struct err *);
    enum rc (*on_sync)(struct err *);
} wrap = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static enum rc wrap_apply(struct engine *e, const struct mutation *m, size_t n, struct err *err)
{
    pthread_mutex_lock(&wrap.lock);
    if (wrap.hold) {
        wrap.held++;
        pthread_cond_broadcast(&wrap.changed);
        while (wrap.hold)
            pthread_cond_wait(&wrap.changed, &wrap.lock);
    }
    enum rc rc = wrap.on_apply ? wrap.on_apply(m, n, err) : RC_OK;
    if (rc == RC_OK)
        rc = wrap.inner->apply(e, m, n, err);
    if (rc == RC_OK) {
        wrap.puts[wrap.applies++ % ARRAY_LEN(wrap.puts)] = n;
        for (size_t i = 0; i < n; i++)
            wrap.watched_puts += slice_eq(m[i].key, wrap.watched);
    }
    pthread_mutex_unlock(&wrap.lock);
    return rc;
}

static enum rc wrap_sync(struct engine *e, struct err *err)
{
    pthread_mutex_lock(&wrap.lock);
    enum rc rc = wrap.on_sync ? wrap.on_sync(err) : RC_OK;
    pthread_mutex_unlock(&wrap.lock);
    return rc == RC_OK ? wrap.inner->sync(e, err) : rc;
}

static inline const struct engine_ops *wrap_engine(const struct engine_ops *inner)
{
    wrap.inner = inner;
    wrap.ops = *inner;
    wrap.ops.apply = wrap_apply;
    wrap.ops.sync = wrap_sync;
    wrap.hold = false;
    wrap.held = wrap.applies = wrap.watched_puts = 0;
    wrap.watched = (struct slice){NULL, 0};
    wrap.on_apply = NULL;
    wrap.on_sync = NULL;
    return &wrap.ops;
}

static inline void wrap_set_on_apply(enum rc (*on_apply)(const struct mutation *, size_t, struct err *))
{
    pthread_mutex_lock(&wrap.lock);
    wrap.on_apply = on_apply;
    pthread_mutex_unlock(&wrap.lock);
}

/* Hold the writer back: queue `first` and wait until its group is about to be applied. */
static inline void wrap_hold(struct fixture *f, struct store_write *first)
{
    pthread_mutex_lock(&wrap.lock);
    wrap.hold = true;
    unsigned held = wrap.held;
    pthread_mutex_unlock(&wrap.lock);
    fixture_queue_on(f->worker, first);
    pthread_mutex_lock(&wrap.lock);
    while (wrap.held == held)
        pthread_cond_wait(&wrap.changed, &wrap.lock);
    pthread_mutex_unlock(&wrap.lock);
}

static inline void wrap_release(void)
{
    pthread_mutex_lock(&wrap.lock);
    wrap.hold = false;
    pthread_cond_broadcast(&wrap.changed);
    pthread_mutex_unlock(&wrap.lock);
}

#endif
