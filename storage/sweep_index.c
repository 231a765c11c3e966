/* storage/sweep_index.c - types that got a limit when they had records: when each of these was last used gets written down, as of
 * its last write. */
#include "storage/sweep.h"

#include <assert.h>

#include "storage/counts.h"
#include "storage/stage.h"

enum { TOUCH_ROWS = 4 }; /* record, used, counts, a blob's */

static void remember(struct sweep *s, enum engine_db db, struct slice key)
{
    struct key *at = &s->state->row;
    assert(key.len < sizeof at->bytes);
    at->bytes[0] = (uint8_t)db;
    memcpy(at->bytes + 1, key.ptr, key.len);
    at->len = (uint16_t)(key.len + 1);
}

static enum rc index_one(struct sweep *s, uint32_t type, struct slice id)
{
    const struct store_key key = {.space = SPACE_RECORD, .type = type, .id = id};
    struct view v;
    s->looks++;
    if (stage_look(s->d, &key, &v, s->err) != RC_OK)
        return RC_ERR;
    if (!v.entry->value || v.entry->dirty || v.rec.used_ms)
        return RC_OK;
    s->rows += TOUCH_ROWS;
    s->pages += TOUCH_ROWS + engine_value_pages(v.rec.blob ? 0 : v.rec.body_bytes);
    s->state->found = true;
    return stage_touch(s->d, &v, v.rec.updated_ms ? v.rec.updated_ms : 1, s->err);
}

static enum rc index_from(struct sweep *s, uint32_t type)
{
    struct key k;
    struct slice key, value;
    key_record_prefix(&k, type);
    const struct slice prefix = slice_of(k.bytes + 1, k.len - 1U);
    struct slice from = s->state->row.len ? key_slice(&s->state->row) : key_slice(&k);
    enum rc rc = s->d->ops->seek(s->d->snap, from, &key, &value, s->err);
    for (; rc == RC_OK; rc = s->d->ops->next(s->d->snap, &key, &value, s->err)) {
        if (!slice_starts(key, prefix))
            return RC_OK;
        if (sweep_full(s)) {
            remember(s, DB_RECORDS, key);
            return RC_PENDING;
        }
        struct sweep_mark mark = sweep_mark(s);
        struct slice id = slice_of(key.ptr + prefix.len, key.len - prefix.len);
        if (sweep_settle(s, &mark, index_one(s, type, id)) != RC_OK)
            return RC_ERR;
    }
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

/* Since when the snapshot is of: only then has every record that the group wrote, which is not in it, a row. */
static enum rc limit_is_older(struct sweep *s, uint32_t type, bool *is)
{
    struct key k;
    struct slice value;
    struct store_count c = {0};
    key_counts(&k, type);
    enum rc rc = s->d->ops->get(s->d->snap, key_slice(&k), &value, s->err);
    *is = rc == RC_OK && counts_decode(value, &c) && c.bytes_max;
    return rc == RC_ERR ? rc : RC_OK;
}

/* Look through the records of a type until nothing is left to do but what is damaged. RC_PENDING: there is more to do here, or
 * for who removes what is above the limit. */
static enum rc index_type(struct sweep *s, struct type_limit *l)
{
    const struct store_key any = {.space = SPACE_RECORD, .type = l->type};
    struct store_count c;
    bool older;
    if (!stage_live(s->d, &any))
        return RC_OK;
    enum rc rc = stage_count(s->d, l->type, &c, s->err);
    if (rc != RC_OK || !type_limit_needs_index(l, &c))
        return rc;
    if (limit_is_older(s, l->type, &older) != RC_OK)
        return RC_ERR;
    if (older && (rc = index_from(s, l->type)) == RC_OK) {
        l->indexed = !s->state->found;
        s->state->found = false;
        s->state->row.len = 0;
    }
    return rc == RC_ERR ? rc : RC_PENDING;
}

enum rc sweep_index(struct sweep *s)
{
    struct type_limit *l;
    while ((l = type_limits_from(&s->d->limits, s->state->at))) {
        if (sweep_full(s))
            return RC_PENDING;
        struct sweep_mark mark = sweep_mark(s);
        uint32_t type = l->type;
        s->looks++;
        enum rc rc = sweep_settle(s, &mark, index_type(s, l));
        if (rc != RC_OK)
            return rc;
        s->state->at = (uint64_t)type + 1;
        s->state->row.len = 0;
        s->state->found = false;
    }
    return RC_OK;
}
