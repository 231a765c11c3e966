/* storage/store.c - the life of a store: opening, closing, and what any thread may ask of it. */
#include "storage/store.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "storage/dir.h"
#include "storage/identity.h"

/* Whoever reads a body has made progress within the deadline, or is given up; the margin is for a connection
 * that is looked at late. */
enum { BLOB_KEEP_MS = LIMIT_WRITE_DEADLINE_MS + 10000 };

/* ---- opening ---- */

static enum rc open_engine(struct store *s, const struct store_opts *opts, struct err *err)
{
    bool durable = s->ops->caps & CAP_DURABLE;
    struct snap **snap = &s->writer.decider.snap;
    bool holds_store = false;
    if (durable && (dir_lock(opts->dir, &s->lock_fd, err) != RC_OK ||
                    dir_holds_store(s->lock_fd, &holds_store, err) != RC_OK))
        return RC_ERR;
    if (s->ops->open(&s->engine, opts, err) != RC_OK)
        return RC_ERR;
    if (durable && dir_sync(opts->dir, err) != RC_OK)
        return RC_ERR;
    if (s->ops->snap_new(s->engine, snap, err) != RC_OK || s->ops->snap_renew(*snap, err) != RC_OK)
        return RC_ERR;
    if (identity_open(s, holds_store, opts->accept_dirty, err) != RC_OK ||
        identity_load_dead(s, err) != RC_OK || identity_load_limits(s, err) != RC_OK)
        return RC_ERR;
    if (durable && !holds_store && dir_mark_store(s->lock_fd, err) != RC_OK)
        return RC_ERR;
    s->ops->snap_reset(*snap);
    store_note_space(s);
    return RC_OK;
}

static void release(struct store *s)
{
    workers_release(s);
    if (s->writer.decider.snap)
        s->ops->snap_free(s->writer.decider.snap);
    if (s->engine)
        s->ops->close(s->engine);
    decider_release(&s->writer.decider);
    dead_release(&s->dead);
    pthread_mutex_destroy(&s->workers_lock);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    free(s);
}

static void set_limits(struct store *s, const struct store_opts *opts)
{
    uint32_t writes = opts->queue_writes_max ? opts->queue_writes_max : LIMIT_QUEUE_OPS_MAX;
    uint64_t bytes = opts->queue_bytes_max ? opts->queue_bytes_max : LIMIT_QUEUE_BYTES_MAX;
    uint32_t record = opts->record_bytes_max;
    unsigned n = opts->workers ? opts->workers : 1;
    s->workers_max = opts->workers + opts->readers;
    s->share_writes = writes / n ? writes / n : 1;
    s->share_bytes = bytes / n ? bytes / n : 1;
    s->busy_writes = s->share_writes - s->share_writes / 4;
    s->busy_bytes = s->share_bytes - s->share_bytes / 4;
    s->writer.decider.record_max = record && record < LIMIT_RECORD_MAX ? record : LIMIT_RECORD_MAX;
}

static struct store *store_make(const struct engine_ops *ops, const struct store_opts *opts)
{
    struct store *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->ops = ops;
    s->durability = opts->durability;
    s->lock_fd = -1;
    set_limits(s, opts);
    s->writer.store = s;
    s->writer.decider.ops = ops;
    s->writer.decider.dead = &s->dead;
    s->writer.decider.clock_base_ms = clock_wall_ms() - clock_mono_ms();
    s->writer.decider.blob_keep_ms = opts->blob_keep_ms ? opts->blob_keep_ms : BLOB_KEEP_MS;
    s->writer.decider.keep_expired = opts->keep_expired;
    s->writer.decider.unpack = opts->unpack;
    lay_init(&s->writer.lay);
    purge_init(&s->writer.purge);
    pthread_mutex_init(&s->workers_lock, NULL);
    s->workers = calloc(s->workers_max ? s->workers_max : 1, sizeof *s->workers);
    if (!s->workers || !dead_init(&s->dead)) {
        release(s);
        return NULL;
    }
    return s;
}

enum rc store_open_engine(struct store **out, const struct engine_ops *ops, const struct store_opts *opts,
                          struct err *err)
{
    struct store *s = store_make(ops, opts);
    if (!s)
        return err_oom(err);
    if (open_engine(s, opts, err) != RC_OK) {
        release(s);
        return RC_ERR;
    }
    int failed = pthread_create(&s->thread, NULL, writer_main, &s->writer);
    if (failed) {
        release(s);
        return err_set(err, ERR_NO_MEMORY, "Cannot start the writer thread: %s.", strerror(failed));
    }
    *out = s;
    return RC_OK;
}

enum rc store_engine_check(const char *name, struct err *err)
{
    if (!engine_find(name))
        return err_set(err, ERR_CONFIG, "There is no storage engine \"%.100s\"; there are:%s.", name,
                       engine_names);
    return RC_OK;
}

enum rc store_open(struct store **out, const struct store_opts *opts, struct err *err)
{
    if (store_engine_check(opts->engine, err) != RC_OK)
        return RC_ERR;
    return store_open_engine(out, engine_find(opts->engine), opts, err);
}

/* ---- closing ---- */

void store_close(struct store *s)
{
    if (!s)
        return;
    atomic_store_explicit(&s->closing, true, memory_order_release);
    write_queue_ring(&s->queue);
    pthread_join(s->thread, NULL);
    identity_mark_clean(s);
    release(s);
}

/* ---- asked by any thread ---- */

bool store_broken(const struct store *s)
{
    return atomic_load_explicit(&s->broken, memory_order_acquire);
}

unsigned store_set_aside(const struct store *s)
{
    return atomic_load_explicit(&s->set_aside, memory_order_relaxed);
}

void store_note_space(struct store *s)
{
    struct store_space space;
    s->ops->space(s->engine, &space);
    atomic_store_explicit(&s->used, space.used, memory_order_relaxed);
    atomic_store_explicit(&s->max, space.max, memory_order_relaxed);
    atomic_store_explicit(&s->file, space.file, memory_order_relaxed);
}

void store_space(const struct store *s, struct store_space *out)
{
    out->used = atomic_load_explicit(&s->used, memory_order_relaxed);
    out->max = atomic_load_explicit(&s->max, memory_order_relaxed);
    out->file = atomic_load_explicit(&s->file, memory_order_relaxed);
}
