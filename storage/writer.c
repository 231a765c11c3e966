/* storage/writer.c - groups without a timer: whatever waits when the last group is done is the next group. */
#include "storage/writer.h"

#include <assert.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "storage/store.h"

enum { UPKEEP_MS = 1000, ASYNC_SYNC_MS = 100 };
/* Groups are small where a big one might not fit what is kept free. */
enum { TIGHT_GROUP_OPS = 64 };

/* ---- take ---- */

static void fetch(struct writer *w)
{
    struct store_write *first = write_stack_take(&w->store->queue.stack);
    if (!first)
        return;
    if (w->pending)
        w->pending_last->next = first;
    else
        w->pending = first;
    while (first->next)
        first = first->next;
    w->pending_last = first;
}

static bool is_tight(const struct store *s)
{
    uint64_t used = atomic_load_explicit(&s->used, memory_order_relaxed);
    uint64_t max = atomic_load_explicit(&s->max, memory_order_relaxed);
    uint64_t group = (uint64_t)LIMIT_GROUP_PAGES_MAX * ENGINE_PAGE;
    return used + group + engine_reserve_bytes(max) > max;
}

/* A share of what is laid down, then all that waits. */
static size_t take(struct writer *w)
{
    size_t n = 0, ops_max = is_tight(w->store) ? TIGHT_GROUP_OPS : LIMIT_GROUP_OPS_MAX;
    uint64_t bytes = 0;
    fetch(w);
    w->laying = (w->group[0] = lay_take(&w->lay, &w->decider)) != NULL;
    n += w->laying;
    while (w->pending && n < ops_max && (bytes == 0 || bytes + w->pending->bytes <= LIMIT_GROUP_BYTES_MAX)) {
        struct store_write *write = w->pending;
        w->pending = write->next;
        if (lay_keeps(&w->lay, write))
            continue;
        bytes += write->bytes;
        w->group[n++] = write;
    }
    return n;
}

/* ---- complete ---- */

/* Each worker gets its writes in one push, in their order, and one ring if it had none. After its push a
 * write is its owner's again. */
static void complete(struct store_write *const *writes, size_t n)
{
    struct store_worker *touched = NULL;
    for (size_t i = 0; i < n; i++) {
        struct store_write *w = writes[i];
        struct store_worker *worker = w->worker;
        if (!worker) /* a step of the purge or the lay */
            continue;
        if (!worker->group_first) {
            worker->group_last = w;
            worker->group_next = touched;
            touched = worker;
        }
        w->next = worker->group_first;
        worker->group_first = w;
    }
    while (touched) {
        struct store_worker *worker = touched;
        struct store_write *first = worker->group_first, *last = worker->group_last;
        touched = worker->group_next;
        worker->group_first = worker->group_last = NULL;
        if (write_stack_push(&worker->finished, first, last)) {
            uint64_t one = 1;
            ssize_t wrote = write(worker->fd, &one, sizeof one); /* fails only when it is readable anyway */
            (void)wrote;
        }
    }
}

static void say_how_full(const struct store *s, struct err *err)
{
    struct store_space space;
    store_space(s, &space);
    err->used_bytes = space.used;
    err->max_bytes = space.max;
}

static void fail(struct store_write **writes, size_t n, const struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        writes[i]->rc = RC_ERR;
        writes[i]->err = *err;
        writes[i]->revision = writes[i]->count = 0;
        writes[i]->created = false;
    }
    complete(writes, n);
}

/* ---- decide and apply ---- */

static enum rc apply(struct writer *w, struct store_write *const *writes, size_t n, struct err *err)
{
    struct store *s = w->store;
    struct decider *d = &w->decider;
    w->commit_ns = 0;
    if (d->nmutations == 0)
        return RC_OK;
    int64_t start = clock_mono_ns();
    if (s->ops->reserve(s->engine, d->grow_bytes, err) != RC_OK ||
        s->ops->apply(s->engine, d->mutations, d->nmutations, err) != RC_OK)
        return RC_ERR;
    w->commit_ns = (uint64_t)(clock_mono_ns() - start);
    stats_applied(&w->stats, writes, n, w->commit_ns);
    decide_applied(d);
    purge_note(&w->purge, d);
    store_note_space(s);
    atomic_fetch_add_explicit(&s->published, 1, memory_order_release);
    if (s->durability == DURABLE_ASYNC)
        w->sync_due_ms = clock_mono_ms() + ASYNC_SYNC_MS;
    return RC_OK;
}

static void note_failure(struct store *s, const struct err *err)
{
    if (err->code == ERR_STORE_BROKEN)
        atomic_store_explicit(&s->broken, true, memory_order_release);
}

static enum rc decide_and_apply(struct writer *w, struct store_write **writes, size_t n, size_t *taken,
                                struct err *err)
{
    struct decider *d = &w->decider;
    *taken = n;
    if (store_broken(w->store))
        return err_set(err, ERR_STORE_BROKEN, "A flush has failed: no more writes until a restart.");
    if (w->store->ops->snap_renew(d->snap, err) != RC_OK)
        return RC_ERR;
    enum rc rc = decide_group(d, writes, n, taken, err);
    if (rc == RC_OK)
        rc = apply(w, writes, *taken, err);
    w->store->ops->snap_reset(d->snap);
    return rc;
}

/* What does not fit as a whole may fit in part: a group that failed for lack of room is tried again by
 * halves, down to the one write that fails; behind it they grow again. */
static bool worth_halving(const struct err *err)
{
    return err->code == ERR_NO_SPACE || err->code == ERR_NO_MEMORY;
}

static void run_group(struct writer *w, size_t n)
{
    size_t at = 0, step = n;
    while (at < n) {
        struct err err;
        size_t ask = step < n - at ? step : n - at, taken;
        if (decide_and_apply(w, w->group + at, ask, &taken, &err) == RC_OK) {
            stats_done(&w->stats, w->group + at, taken, w->commit_ns);
            lay_note(&w->lay, &w->decider, w->group + at, taken, true);
            complete(w->group + at, taken);
            at += taken;
            step = step < n ? step * 2 : step;
            continue;
        }
        note_failure(w->store, &err);
        if (worth_halving(&err) && taken > 1) {
            step = (taken + 1) / 2;
            continue;
        }
        stats_failed(&w->stats, w->group + at, taken, err.code);
        stats_done(&w->stats, w->group + at, taken, 0);
        if (err.code == ERR_NO_SPACE) {
            say_how_full(w->store, &err);
            purge_press(&w->purge, &w->decider);
        }
        lay_note(&w->lay, &w->decider, w->group + at, taken, false);
        fail(w->group + at, taken, &err);
        at += taken;
    }
}

/* ---- long bodies ---- */

/* What waited behind one is older than all that was not taken yet. */
static void put_back(struct writer *w, struct store_write *first, struct store_write *last)
{
    if (!w->pending)
        w->pending_last = last;
    last->next = w->pending;
    w->pending = first;
}

static void settle_laid(struct writer *w)
{
    struct lay_outcome out;
    const struct err *err = &w->lay.op.err;
    lay_stepped(&w->lay, &w->decider, &out);
    if (out.failed) {
        stats_failed(&w->stats, &out.failed, 1, err->code);
        stats_done(&w->stats, &out.failed, 1, 0);
        fail(&out.failed, 1, err);
    }
    if (out.garbage)
        purge_wake(&w->purge);
    if (out.first)
        put_back(w, out.first, out.last);
}

/* ---- the loop ---- */

/* All that waits, and behind it a step of the purge if one is due: it costs no commit of its own while there
 * are writes, and goes on by itself while there are none. While room is short it makes some first. */
static bool run_next(struct writer *w, bool closing)
{
    int64_t now = clock_mono_ms();
    bool purging = !closing && !store_broken(w->store) && now >= w->purge.due_ms;
    bool pressed = purging && purge_is_pressed(&w->purge, now);
    w->purged_ahead = pressed && !w->purged_ahead; /* each second step is one by itself, before it writes */
    w->laying = false;
    size_t n = w->purged_ahead ? 0 : take(w);
    if (purging) {
        w->purge.due_ms = INT64_MAX;
        w->group[n++] = &w->purge.op;
        w->decider.hurry = pressed && blob_readers_none(w->store);
    }
    if (n)
        run_group(w, n);
    if (w->laying)
        settle_laid(w);
    if (purging) {
        if (w->purge.op.rc == RC_OK)
            stats_purged(&w->stats, w->purge.op.count, w->purge.evicted);
        purge_stepped(&w->purge, &w->decider);
        atomic_store_explicit(&w->store->set_aside, w->purge.set_aside, memory_order_relaxed);
    }
    return n > 0 || !lay_idle(&w->lay) || w->pending;
}

static void sync_if_due(struct writer *w, int64_t now)
{
    struct err err;
    if (!w->sync_due_ms || now < w->sync_due_ms || store_broken(w->store))
        return;
    w->sync_due_ms = 0;
    int64_t start = clock_mono_ns();
    if (w->store->ops->sync(w->store->engine, &err) != RC_OK)
        note_failure(w->store, &err);
    else
        histogram_add(&w->stats.sync_ns, (uint64_t)(clock_mono_ns() - start), 1, HISTOGRAM_NS);
}

static void upkeep_if_due(struct writer *w, int64_t now)
{
    if (now < w->upkeep_due_ms)
        return;
    w->upkeep_due_ms = now + UPKEEP_MS;
    w->store->ops->upkeep(w->store->engine);
}

static void idle(struct writer *w)
{
    int64_t now = clock_mono_ms();
    int64_t due = w->sync_due_ms && w->sync_due_ms < w->upkeep_due_ms ? w->sync_due_ms : w->upkeep_due_ms;
    if (w->purge.due_ms < due && !store_broken(w->store))
        due = w->purge.due_ms;
    if (due > now)
        write_queue_wait(&w->store->queue, (unsigned)(due - now));
}

void *writer_main(void *arg)
{
    struct writer *w = arg;
    thread_name("avrod-writer");
    thread_go_first(); /* all writes wait for it: what else is done on its core has time while it flushes */
    w->upkeep_due_ms = clock_mono_ms() + UPKEEP_MS;
    for (;;) {
        bool closing = atomic_load_explicit(&w->store->closing, memory_order_acquire);
        if (!run_next(w, closing)) {
            if (closing)
                return NULL;
            idle(w);
        }
        int64_t now = clock_mono_ms();
        sync_if_due(w, now);
        upkeep_if_due(w, now);
    }
}
