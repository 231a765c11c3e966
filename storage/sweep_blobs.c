/* storage/sweep_blobs.c - the chunks of bodies that no record refers to, once nobody can be reading them. */
#include "storage/sweep.h"

/* From the first chunk on. RC_PENDING: some are left. */
static enum rc delete_blob(struct sweep *s, uint64_t number)
{
    struct slice key, value;
    struct key k = {.len = KEY_CHUNK_BYTES};
    key_chunk(k.bytes, number, 0);
    struct slice prefix = slice_of(k.bytes + 1, 8);
    uint8_t whole[KEY_CHUNK_BYTES] = {DB_CHUNKS};
    enum rc rc = s->d->ops->seek(s->d->snap, key_slice(&k), &key, &value, s->err);
    for (; rc == RC_OK; rc = s->d->ops->next(s->d->snap, &key, &value, s->err)) {
        if (key.len != KEY_CHUNK_BYTES - 1 || !slice_starts(key, prefix))
            break;
        if (sweep_full(s))
            return RC_PENDING;
        memcpy(whole + 1, key.ptr, key.len);
        if (sweep_delete(s, slice_of(whole, sizeof whole), value.len) != RC_OK)
            return RC_ERR;
    }
    return rc == RC_ERR ? rc : sweep_delete_dead(s, TRASH_BLOB, number);
}

/* When a blob may go. Died later than now: before the store was opened, by a clock that went ahead. */
static int64_t ripens_ms(const struct decider *d, const struct sweep_dead *blob)
{
    return d->hurry || blob->died_ms > d->trash_now_ms ? 0 : blob->died_ms + d->blob_keep_ms;
}

enum rc sweep_blobs(struct sweep *s)
{
    struct sweep_dead blob;
    enum rc rc = RC_OK;
    for (; (rc = sweep_next_dead(s, TRASH_BLOB, &blob)) == RC_OK; s->state->at = blob.number + 1) {
        if (sweep_full(s))
            return RC_PENDING;
        s->looks++;
        if (blob.number == s->d->laid.blob) /* its record is yet to come */
            continue;
        int64_t ripens = ripens_ms(s->d, &blob);
        if (ripens > s->d->trash_now_ms) {
            s->state->next_ms = ripens < s->state->next_ms ? ripens : s->state->next_ms;
            continue;
        }
        struct sweep_mark mark = sweep_mark(s);
        rc = sweep_settle(s, &mark, delete_blob(s, blob.number));
        if (rc != RC_OK)
            return rc;
    }
    return rc == RC_NOTFOUND ? RC_OK : rc;
}
