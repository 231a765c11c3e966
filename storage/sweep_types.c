/* storage/sweep_types.c - the records of dropped types with all that hangs on them; at last the type itself,
 * of which only its number stays, in a range of dead ones. */
#include "storage/sweep.h"

#include "base/bytes.h"
#include "storage/head.h"
#include "storage/stage.h"

/* A record of a dead type, and what hangs on it. Its blob died with the type. */
static enum rc delete_record(struct sweep *s, const struct sweep_dead *type, struct slice key,
                             struct slice value)
{
    struct key k;
    struct record rec;
    key_record_prefix(&k, (uint32_t)type->number);
    struct slice id = slice_of(key.ptr + k.len - 1, key.len - (k.len - 1U));
    if (head_decode(value, &rec)) { /* a damaged one refers to nothing that could be found */
        if (rec.blob && stage_trash(s->d, TRASH_BLOB, rec.blob, type->died_ms, s->err) != RC_OK)
            return RC_ERR;
        s->rows += rec.blob != 0;
        if (rec.expires_ms) {
            key_expiry(&k, rec.expires_ms, EXPIRY_RECORD, (uint32_t)type->number, id);
            if (sweep_delete(s, key_slice(&k), 0) != RC_OK)
                return RC_ERR;
        }
        if (rec.used_ms) {
            key_used(&k, (uint32_t)type->number, rec.used_ms, id);
            if (sweep_delete(s, key_slice(&k), 0) != RC_OK)
                return RC_ERR;
        }
    }
    const struct store_key record = {.space = SPACE_RECORD, .type = (uint32_t)type->number, .id = id};
    key_of(&k, &record);
    return sweep_delete(s, key_slice(&k), value.len);
}

/* RC_PENDING: some are left. */
static enum rc delete_records(struct sweep *s, const struct sweep_dead *type)
{
    struct key k;
    struct slice key, value;
    key_record_prefix(&k, (uint32_t)type->number);
    struct slice prefix = slice_of(k.bytes + 1, k.len - 1U);
    enum rc rc = s->d->ops->seek(s->d->snap, key_slice(&k), &key, &value, s->err);
    for (; rc == RC_OK; rc = s->d->ops->next(s->d->snap, &key, &value, s->err)) {
        if (!slice_starts(key, prefix))
            return RC_OK;
        if (sweep_full(s))
            return RC_PENDING;
        if (delete_record(s, type, key, value) != RC_OK)
            return RC_ERR;
    }
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

/* The range of dead numbers that a row of the trash stands for, whose last number is at least `from`. */
static enum rc range_from(struct sweep *s, uint64_t from, uint64_t *first, uint64_t *last)
{
    struct key k;
    struct slice key, value;
    key_trash(&k, TRASH_PURGED, from);
    enum rc rc = s->d->ops->seek(s->d->snap, key_slice(&k), &key, &value, s->err);
    if (rc != RC_OK)
        return rc;
    if (key.len != k.len - 1U || key.ptr[0] != TRASH_PURGED || value.len < TRASH_BYTES)
        return RC_NOTFOUND;
    *first = get_le64(value.ptr);
    *last = get_be64(key.ptr + 1);
    return RC_OK;
}

/* Numbers never return, so it stays written that this one is dead: in a range with its neighbours, so that
 * there are never more ranges than types that live. Types are taken in order of their numbers: what this step
 * has done so far is all below. */
static enum rc note_purged(struct sweep *s, uint32_t number)
{
    struct key k;
    struct slice value;
    uint64_t first = number, last = number, after, to;
    key_trash(&k, TRASH_PURGED, number - 1);
    enum rc rc = stage_read_row(s->d, key_slice(&k), &value, s->err);
    if (rc == RC_OK && value.len >= TRASH_BYTES) {
        first = get_le64(value.ptr);
        rc = sweep_delete_dead(s, TRASH_PURGED, number - 1);
    }
    if (rc == RC_ERR)
        return rc;
    rc = range_from(s, (uint64_t)number + 1, &after, &to);
    if (rc == RC_ERR)
        return rc;
    if (rc == RC_OK && after == (uint64_t)number + 1)
        last = to;
    uint8_t *row = arena_alloc(&s->d->overlay.arena, TRASH_BYTES);
    if (!row)
        return err_oom(s->err);
    put_le64(row, first);
    key_trash(&k, TRASH_PURGED, last);
    s->rows++;
    return stage_row(s->d, key_slice(&k), slice_of(row, TRASH_BYTES), s->err);
}

/* The last rows of a type without records. */
static enum rc finish_type(struct sweep *s, uint32_t number)
{
    struct key k;
    key_counts(&k, number);
    if (sweep_delete(s, key_slice(&k), 0) != RC_OK || sweep_delete_dead(s, TRASH_TYPE, number) != RC_OK)
        return RC_ERR;
    return note_purged(s, number);
}

static enum rc delete_type(struct sweep *s, const struct sweep_dead *type)
{
    enum rc rc = delete_records(s, type);
    if (rc != RC_OK)
        return rc;
    return sweep_full(s) ? RC_PENDING : finish_type(s, (uint32_t)type->number);
}

enum rc sweep_types(struct sweep *s)
{
    struct sweep_dead type;
    enum rc rc = RC_OK;
    for (; (rc = sweep_next_dead(s, TRASH_TYPE, &type)) == RC_OK; s->state->at = type.number + 1) {
        if (sweep_full(s))
            return RC_PENDING;
        struct sweep_mark mark = sweep_mark(s);
        rc = sweep_settle(s, &mark, delete_type(s, &type));
        if (rc != RC_OK)
            return rc;
    }
    return rc == RC_NOTFOUND ? RC_OK : rc;
}
