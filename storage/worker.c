/* storage/worker.c - a worker's side of writing: handing writes over and getting them back. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "storage/stage.h"
#include "storage/store.h"

enum { WRITE_BYTES_FIXED = 256 }; /* what a write costs beside its key and body */

static enum rc worker_make(struct store_worker **out, struct store *s, struct err *err)
{
    struct store_worker *w = calloc(1, sizeof *w);
    if (!w)
        return err_oom(err);
    w->store = s;
    w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->fd < 0) {
        free(w);
        return err_set(err, ERR_IO, "eventfd: %s.", strerror(errno));
    }
    if (s->ops->snap_new(s->engine, &w->snap, err) != RC_OK) {
        close(w->fd);
        free(w);
        return RC_ERR;
    }
    *out = w;
    return RC_OK;
}

enum rc store_worker_new(struct store_worker **out, struct store *s, void *loop, struct err *err)
{
    (void)loop;
    pthread_mutex_lock(&s->workers_lock);
    assert(s->nworkers < s->workers_max);
    enum rc rc = worker_make(out, s, err);
    if (rc == RC_OK)
        s->workers[s->nworkers++] = *out;
    pthread_mutex_unlock(&s->workers_lock);
    return rc;
}

void store_worker_free(struct store_worker *w)
{
    if (!w)
        return;
    assert(w->waiting_ops == w->waiting_touches);
    w->store->ops->snap_free(w->snap);
    w->snap = NULL;
    w->snap_live = false;
    atomic_store_explicit(&w->snap_since_ms, 0, memory_order_relaxed);
}

void workers_release(struct store *s)
{
    for (unsigned i = 0; i < s->nworkers; i++) {
        struct store_worker *w = s->workers[i];
        if (w->snap)
            s->ops->snap_free(w->snap);
        close(w->fd);
        free(w->touches);
        free(w);
    }
    free(s->workers);
}

int store_worker_fd(const struct store_worker *w)
{
    return w->fd;
}

void store_worker_run(struct store_worker *w)
{
    struct store_write *next;
    for (struct store_write *write = write_stack_take(&w->finished); write; write = next) {
        next = write->next;
        w->waiting_ops--;
        w->waiting_bytes -= write->bytes;
        write->done(write);
    }
}

void store_turn_end(struct store_worker *w)
{
    if (!w->snap_live)
        return;
    w->store->ops->snap_reset(w->snap);
    w->snap_live = false;
    atomic_store_explicit(&w->snap_since_ms, 0, memory_order_relaxed);
}

bool store_busy(const struct store_worker *w)
{
    const struct store *s = w->store;
    return w->waiting_ops >= s->busy_writes || w->waiting_bytes >= s->busy_bytes;
}

/* A worker's share bounds what it may have waiting, so nobody has to count for all. Whoever has nothing
 * waiting may always queue one. */
static bool queue_full(const struct store_worker *w, uint32_t bytes)
{
    const struct store *s = w->store;
    return w->waiting_ops > 0 &&
           (w->waiting_ops >= s->share_writes || w->waiting_bytes + bytes > s->share_bytes);
}

static uint64_t body_bytes(const struct store_write *w)
{
    return (uint64_t)w->part[0].len + w->part[1].len + w->part[2].len;
}

static enum rc check_write(const struct store *s, const struct store_write *w, struct err *err)
{
    if (w->kind == WRITE_CALL || w->kind == WRITE_RANGE_DELETE) /* whose ends may be no id's */
        return RC_OK;
    if (key_check(&w->key, err) != RC_OK)
        return RC_ERR;
    if (w->kind != WRITE_PUT)
        return RC_OK;
    return stage_check_size(&w->key, w->plain_bytes ? w->plain_bytes : body_bytes(w), w->content_type,
                            s->writer.decider.record_max, err);
}

static uint32_t bytes_of(const struct store_write *w)
{
    uint64_t bytes = WRITE_BYTES_FIXED;
    if (w->kind != WRITE_CALL) /* whose key nobody sets */
        bytes += w->key.id.len;
    if (w->kind == WRITE_PUT || w->kind == WRITE_CALL)
        bytes += body_bytes(w);
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

enum rc store_write(struct store_worker *worker, struct store_write *w, struct err *err)
{
    struct store *s = worker->store;
    if (atomic_load_explicit(&s->closing, memory_order_acquire))
        return err_set(err, ERR_DRAINING, "The server is shutting down.");
    if (store_broken(s))
        return err_set(err, ERR_STORE_BROKEN, "A flush has failed: no more writes until a restart.");
    if (check_write(s, w, err) != RC_OK)
        return RC_ERR;
    w->worker = worker;
    w->bytes = bytes_of(w);
    if (queue_full(worker, w->bytes))
        return err_set(err, ERR_QUEUE_FULL, "Too many writes are waiting; try again.");
    if (w->kind == WRITE_PUT && w->key.space == SPACE_RECORD) {
        w->body_crc = 0; /* here, so that the one writer need not read bodies */
        for (unsigned i = 0; i < 3; i++)
            if (w->part[i].len)
                w->body_crc = crc32c(w->body_crc, w->part[i]);
    }
    worker->waiting_ops++;
    worker->waiting_bytes += w->bytes;
    counter_add(&worker->queued, 1);
    write_queue_push(&s->queue, w);
    return RC_PENDING;
}
