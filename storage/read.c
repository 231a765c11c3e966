/* storage/read.c - the read path: a snapshot no older than the last answered write, one lookup, no lock. */
#include <assert.h>

#include "base/clock.h"
#include "storage/counts.h"
#include "storage/head.h"
#include "storage/keys.h"
#include "storage/store.h"

enum rc worker_snapshot(struct store_worker *w, struct err *err)
{
    assert(!w->in_row);
    /* The number first, then the snapshot: it may only be newer than it says. */
    uint64_t published = atomic_load_explicit(&w->store->published, memory_order_acquire);
    if (likely(w->snap_live && (w->snap_published == published || w->in_batch)))
        return RC_OK;
    w->snap_live = false;
    atomic_store(&w->snap_since_ms, clock_coarse_ms()); /* before the snapshot is: see blob_readers_none */
    if (w->store->ops->snap_renew(w->snap, err) != RC_OK) {
        atomic_store_explicit(&w->snap_since_ms, 0, memory_order_relaxed);
        return RC_ERR;
    }
    w->snap_live = true;
    w->snap_published = published;
    return RC_OK;
}

static enum rc decode(const struct store_key *key, struct slice value, struct record *rec, struct err *err)
{
    if (key->space != SPACE_RECORD) {
        *rec = (struct record){.body = value, .body_bytes = value.len};
        return RC_OK;
    }
    if (unlikely(!head_decode(value, rec)))
        return err_set(err, ERR_IO, "A stored record of type number %u has a damaged head.",
                       (unsigned)key->type);
    if (unlikely(rec->expires_ms && rec->expires_ms <= clock_wall_ms()))
        return RC_NOTFOUND;
    record_show_packed(rec);
    return RC_OK;
}

static enum rc get(struct store_worker *w, struct store_get *g)
{
    struct store *s = w->store;
    struct slice value;
    struct key k;
    if (unlikely(key_check(&g->key, &g->err) != RC_OK))
        return RC_ERR;
    if (unlikely(worker_snapshot(w, &g->err) != RC_OK))
        return RC_ERR;
    if (g->key.space == SPACE_RECORD && unlikely(dead_has(&s->dead, g->key.type)))
        return RC_NOTFOUND;
    key_of(&k, &g->key);
    enum rc rc = s->ops->get(w->snap, key_slice(&k), &value, &g->err);
    rc = rc == RC_OK ? decode(&g->key, value, &g->rec, &g->err) : rc;
    if (rc == RC_OK && unlikely(g->rec.blob != 0))
        blob_readers_note(&w->blob_readers, s->writer.decider.blob_keep_ms);
    return rc;
}

void store_get(struct store_worker *w, struct store_get *g)
{
    g->rc = get(w, g);
    g->done(g);
}

/* ---- many at a time ---- */

void store_get_soon(struct store_worker *w, struct store_get *g)
{
    if (!w->gets_first)
        w->gets_link = &w->gets_first;
    g->next = NULL;
    *w->gets_link = g;
    w->gets_link = &g->next;
    w->ngets++;
}

unsigned store_gets_waiting(const struct store_worker *w)
{
    return w->ngets;
}

static void get_all(struct store_worker *w, struct store_get *first)
{
    struct err err;
    bool readable = worker_snapshot(w, &err) == RC_OK;
    w->in_batch = readable;
    for (struct store_get *g = first; g; g = g->next) {
        g->rc = readable ? get(w, g) : RC_ERR;
        if (unlikely(!readable))
            g->err = err;
    }
}

void store_gets_run(struct store_worker *w)
{
    struct store_get *g = w->gets_first, *next;
    assert(!w->in_batch);
    if (!g)
        return;
    w->gets_first = NULL;
    w->ngets = 0;
    get_all(w, g);
    for (; g; g = next) {
        next = g->next; /* done may queue it again */
        g->done(g);
    }
    w->in_batch = false;
}

/* ---- chunks, counts ---- */

/* The chunks of a blob are neighbours: one search, then from each to the next. *val: the chunk under this key. */
static enum rc chunk_find(struct store_worker *w, struct slice want, bool first, struct slice *val,
                          struct err *err)
{
    const struct engine_ops *ops = w->store->ops;
    struct slice key;
    enum rc rc = first ? ops->seek(w->snap, want, &key, val, err) : ops->next(w->snap, &key, val, err);
    if (rc != RC_OK)
        return rc;
    return slice_eq(key, slice_of(want.ptr + 1, want.len - 1)) ? RC_OK : RC_NOTFOUND;
}

enum rc store_chunks(struct store_worker *w, const struct record *rec, uint32_t first, struct slice *out,
                     unsigned *n, struct err *err)
{
    uint8_t key[KEY_CHUNK_BYTES];
    unsigned most = *n;
    uint64_t bytes = unlikely(rec->packed_bytes) ? rec->packed_bytes : rec->body_bytes;
    assert(rec->blob != 0);
    *n = 0;
    if (worker_snapshot(w, err) != RC_OK)
        return RC_ERR;
    blob_readers_seen(&w->blob_readers);
    for (uint64_t at = (uint64_t)first * LIMIT_CHUNK_BYTES; *n < most && at < bytes;
         at += LIMIT_CHUNK_BYTES) {
        uint64_t rest = bytes - at;
        key_chunk(key, rec->blob, first + *n);
        enum rc rc = chunk_find(w, slice_of(key, sizeof key), *n == 0, &out[*n], err);
        if (rc != RC_OK) /* a blob goes from its first chunk on, so one that is gone was all gone */
            return rc;
        if (out[*n].len != (rest < LIMIT_CHUNK_BYTES ? rest : LIMIT_CHUNK_BYTES))
            return err_set(err, ERR_IO, "A stored body has a damaged chunk.");
        ++*n;
    }
    return RC_OK;
}

void store_chunks_end(struct store_worker *w)
{
    blob_readers_ended(&w->blob_readers);
}

enum rc store_count(struct store_worker *w, uint32_t type, struct store_count *out, struct err *err)
{
    struct key k;
    struct slice value;
    *out = (struct store_count){0};
    if (worker_snapshot(w, err) != RC_OK)
        return RC_ERR;
    if (dead_has(&w->store->dead, type))
        return RC_OK;
    key_counts(&k, type);
    enum rc rc = w->store->ops->get(w->snap, key_slice(&k), &value, err);
    if (rc == RC_NOTFOUND)
        return RC_OK;
    if (rc == RC_OK && !counts_decode(value, out))
        return err_set(err, ERR_IO, "The counts of type number %u are damaged.", (unsigned)type);
    return rc;
}
