/* storage/scan.c - a range of ids in pages, each in a snapshot of its own, so a slow reader pins nothing. */
#include <assert.h>

#include "base/clock.h"
#include "storage/head.h"
#include "storage/keys.h"
#include "storage/store.h"

enum { PAGE_ROWS = 256, PAGE_BYTES = 64 * 1024 };

static void start_key(const struct store_scan *s, struct key *k)
{
    if (s->last_len)
        key_after(k, s->space, s->type, slice_of(s->last, s->last_len));
    else
        key_from(k, s->space, s->type, s->from);
}

/* The id behind an engine's key; false: the key is past the range. */
static bool id_in_range(const struct store_scan *s, struct slice prefix, struct slice key, struct slice *id)
{
    if (!slice_starts(key, prefix))
        return false;
    *id = slice_of(key.ptr + prefix.len, key.len - prefix.len);
    return s->upto.len == 0 || slice_cmp(*id, s->upto) < 0;
}

/* RC_NOTFOUND: not to be shown. */
static enum rc decode(struct store_scan *s, struct slice value, int64_t now_ms, struct record *rec)
{
    *rec = (struct record){.body = value, .body_bytes = value.len};
    if (s->space == SPACE_RECORD) {
        if (!head_decode(value, rec))
            return err_set(&s->err, ERR_IO, "A stored record of type number %u has a damaged head.",
                           (unsigned)s->type);
        if (rec->expires_ms && rec->expires_ms <= now_ms)
            return RC_NOTFOUND;
        record_show_packed(rec);
    }
    if (s->keys_only)
        rec->body = rec->packed = (struct slice){NULL, 0};
    return RC_OK;
}

static enum rc show(struct store_worker *w, struct store_scan *s, struct slice id, struct slice value,
                    int64_t now_ms)
{
    struct record rec;
    enum rc rc = decode(s, value, now_ms, &rec);
    w->in_row = true;
    if (rc == RC_OK && rec.blob && !s->keys_only)
        blob_readers_note(&w->blob_readers, w->store->writer.decider.blob_keep_ms);
    if (rc == RC_NOTFOUND)
        rc = RC_OK;
    else
        rc = s->row(s, id, rc == RC_OK ? &rec : NULL);
    if (rc == RC_OK || rc == RC_PENDING) {
        assert(id.len <= sizeof s->last);
        memcpy(s->last, id.ptr, id.len);
        s->last_len = (uint16_t)id.len;
    }
    w->in_row = false;
    return rc;
}

static enum rc page(struct store_worker *w, struct store_scan *s)
{
    const struct engine_ops *ops = w->store->ops;
    struct slice key, value, id;
    struct key k;
    if (worker_snapshot(w, &s->err) != RC_OK)
        return RC_ERR;
    if (s->space == SPACE_RECORD && dead_has(&w->store->dead, s->type))
        return RC_OK;
    start_key(s, &k);
    struct slice prefix =
        slice_of(k.bytes + 1, key_prefix_len(s->space) - 1); /* engines leave the first byte out */
    int64_t now_ms = clock_wall_ms();
    size_t bytes = 0;
    enum rc rc = ops->seek(w->snap, key_slice(&k), &key, &value, &s->err);
    for (unsigned rows = 0; rc == RC_OK; rc = ops->next(w->snap, &key, &value, &s->err)) {
        if (!id_in_range(s, prefix, key, &id))
            return RC_OK;
        if (rows == PAGE_ROWS || bytes >= PAGE_BYTES)
            return RC_PENDING;
        rows++;
        bytes += key.len + (s->keys_only ? 0 : value.len);
        rc = show(w, s, id, value, now_ms);
        if (rc != RC_OK)
            return rc;
    }
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

void store_scan(struct store_worker *w, struct store_scan *s)
{
    s->rc = page(w, s);
    s->done(s);
}
