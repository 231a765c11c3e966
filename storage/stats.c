/* storage/stats.c - the writer's counters, and all that a store counts, read by any thread. */
#include "storage/stats.h"

#include "base/clock.h"
#include "storage/store.h"

/* ---- the writer ---- */

static size_t writes_of(struct store_write *const *writes, size_t n)
{
    size_t own = 0;
    for (size_t i = 0; i < n; i++)
        own += writes[i]->worker != NULL; /* else it is a step of the purge or the lay */
    return own;
}

void stats_applied(struct writer_stats *s, struct store_write *const *writes, size_t n, uint64_t ns)
{
    counter_add(&s->groups, 1);
    histogram_add(&s->group_writes, writes_of(writes, n), 1, HISTOGRAM_COUNT);
    histogram_add(&s->apply_ns, ns, 1, HISTOGRAM_NS);
}

void stats_failed(struct writer_stats *s, struct store_write *const *writes, size_t n, enum err_code code)
{
    counter_add(code == ERR_NO_SPACE ? &s->no_space : &s->failures, writes_of(writes, n));
}

void stats_done(struct writer_stats *s, struct store_write *const *writes, size_t n, uint64_t commit_ns)
{
    for (size_t i = 0; i < n; i++)
        writes[i]->commit_ns = commit_ns;
    counter_add(&s->writes, writes_of(writes, n));
}

void stats_purged(struct writer_stats *s, uint64_t expired, uint64_t evicted)
{
    counter_add(&s->expired, expired);
    counter_add(&s->evicted, evicted);
}

/* ---- any thread ---- */

/* The lock keeps the list of workers; what they count is read as they go on. */
static void read_workers(struct store *s, struct store_stats *out)
{
    int64_t now = clock_coarse_ms(), oldest = now;
    pthread_mutex_lock(&s->workers_lock);
    for (unsigned i = 0; i < s->nworkers; i++) {
        const struct store_worker *w = s->workers[i];
        int64_t since = atomic_load_explicit(&w->snap_since_ms, memory_order_relaxed);
        if (since && since < oldest)
            oldest = since;
        out->queue_writes += counter_get(&w->queued);
        out->touched += counter_get(&w->touched);
    }
    pthread_mutex_unlock(&s->workers_lock);
    out->oldest_snapshot_ms = (uint64_t)(now - oldest);
}

void store_stats(struct store *s, struct store_stats *out)
{
    const struct writer_stats *w = &s->writer.stats;
    *out = (struct store_stats){.broken = store_broken(s), .damaged_rows = store_set_aside(s)};
    store_space(s, &out->space);
    out->writes = counter_get(&w->writes); /* first, so that no more are done than were queued */
    atomic_thread_fence(memory_order_acquire);
    read_workers(s, out);
    out->queue_writes = out->queue_writes > out->writes ? out->queue_writes - out->writes : 0;
    out->groups = counter_get(&w->groups);
    out->expired = counter_get(&w->expired);
    out->evicted = counter_get(&w->evicted);
    out->failures = counter_get(&w->failures);
    out->no_space = counter_get(&w->no_space);
    histogram_get(&w->group_writes, &out->group_writes);
    histogram_get(&w->apply_ns, &out->apply_ns);
    histogram_get(&w->sync_ns, &out->sync_ns);
}
