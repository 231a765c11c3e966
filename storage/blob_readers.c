/* storage/blob_readers.c - see blob_readers.h. */
#include "storage/blob_readers.h"

#include "base/clock.h"
#include "storage/store.h"

void blob_readers_seen(struct blob_readers *r)
{
    atomic_store_explicit(&r->seen_ms, clock_coarse_ms(), memory_order_relaxed);
}

void blob_readers_note(struct blob_readers *r, int64_t keep_ms)
{
    uint32_t open = atomic_load_explicit(&r->open, memory_order_relaxed);
    int64_t seen = atomic_load_explicit(&r->seen_ms, memory_order_relaxed);
    blob_readers_seen(r);
    if (atomic_load_explicit(&r->seen_ms, memory_order_relaxed) - seen > keep_ms)
        open = 0;
    atomic_store_explicit(&r->open, open + 1, memory_order_release);
}

void blob_readers_ended(struct blob_readers *r)
{
    uint32_t open = atomic_load_explicit(&r->open, memory_order_relaxed);
    if (open) /* a helper's reader has none: the worker has handed it out */
        atomic_store_explicit(&r->open, open - 1, memory_order_release);
}

/* A worker whose snapshot is live may be about to hand out what it found there; one that begins a snapshot
 * only now finds no head of a dead body. */
static bool worker_reads(const struct store_worker *w, int64_t now, int64_t keep_ms)
{
    if (atomic_load(&w->snap_since_ms) != 0)
        return true;
    return atomic_load_explicit(&w->blob_readers.open, memory_order_acquire) != 0 &&
           now - atomic_load_explicit(&w->blob_readers.seen_ms, memory_order_relaxed) <= keep_ms;
}

bool blob_readers_none(struct store *s)
{
    int64_t now = clock_coarse_ms();
    bool none = true;
    atomic_thread_fence(memory_order_seq_cst); /* what is published, before the look: see worker_snapshot */
    pthread_mutex_lock(&s->workers_lock);
    for (unsigned i = 0; none && i < s->nworkers; i++)
        none = !worker_reads(s->workers[i], now, s->writer.decider.blob_keep_ms);
    pthread_mutex_unlock(&s->workers_lock);
    return none;
}
