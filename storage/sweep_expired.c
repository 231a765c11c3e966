/* storage/sweep_expired.c - records past their time, which readers hide already, and idempotency keys past theirs. A row of `expiry` counts
 * only if the record's head names the same time; else it is a leftover, and goes alone. */
#include "storage/sweep.h"

#include <assert.h>

#include "base/bytes.h"
#include "storage/idem.h"
#include "storage/stage.h"

enum { AT_KIND = 8, AT_TYPE = 9, AT_ID = 13, RECORD_ROWS = 4 }; /* record, expiry, counts, trash */

struct expiry {
    uint64_t time_ms;
    uint8_t kind;
    struct store_key record;
};

/* A row's key as the engine gives it: docs/format.md. */
static bool expiry_of(struct slice key, struct expiry *out)
{
    if (key.len <= AT_ID || key.len - AT_ID > LIMIT_ID_MAX)
        return false;
    *out = (struct expiry){.time_ms = get_be64(key.ptr),
                           .kind = key.ptr[AT_KIND],
                           .record = {.space = SPACE_RECORD,
                                      .type = get_be32(key.ptr + AT_TYPE),
                                      .id = slice_of(key.ptr + AT_ID, key.len - AT_ID)}};
    return true;
}

static enum rc delete_leftover(struct sweep *s, const struct expiry *e)
{
    struct key k;
    key_expiry(&k, (int64_t)e->time_ms, EXPIRY_RECORD, e->record.type, e->record.id);
    return sweep_delete(s, key_slice(&k), 0);
}

/* The records of a dropped type, too, are not this sweep's. */
static enum rc expire_record(struct sweep *s, const struct expiry *e)
{
    struct view v;
    if (!stage_live(s->d, &e->record))
        return delete_leftover(s, e);
    if (stage_look(s->d, &e->record, &v, s->err) != RC_OK)
        return RC_ERR;
    if (!v.entry->value || v.visible || (uint64_t)v.rec.expires_ms != e->time_ms)
        return delete_leftover(s, e);
    s->rows += RECORD_ROWS;
    s->pages += RECORD_ROWS;
    s->d->next.revision++;
    enum rc rc = stage_delete(s->d, &v, s->err);
    s->expired += rc == RC_OK;
    return rc;
}

static bool is_over(const struct sweep *s, uint64_t time_ms)
{
    return time_ms <= (uint64_t)s->d->now_ms;
}

static enum rc look_at(struct sweep *s, const struct expiry *e)
{
    struct sweep_mark mark = sweep_mark(s);
    s->looks++;
    switch (e->kind) {
    case EXPIRY_RECORD: return sweep_settle(s, &mark, expire_record(s, e));
    case EXPIRY_IDEM: return sweep_settle(s, &mark, idem_sweep(s, e->time_ms, e->record.id));
    default: return RC_OK; /* a later version's */
    }
}

static void remember(struct sweep *s, struct slice key)
{
    struct key *at = &s->state->row;
    assert(key.len < sizeof at->bytes);
    at->bytes[0] = DB_EXPIRY;
    memcpy(at->bytes + 1, key.ptr, key.len);
    at->len = (uint16_t)(key.len + 1);
}

enum rc sweep_expired(struct sweep *s)
{
    static const uint8_t all[] = {DB_EXPIRY};
    const struct key *at = &s->state->row;
    struct slice from = at->len ? key_slice(at) : slice_of(all, sizeof all), key, value;
    enum rc rc = s->d->keep_expired ? RC_NOTFOUND : s->d->ops->seek(s->d->snap, from, &key, &value, s->err);
    for (; rc == RC_OK; rc = s->d->ops->next(s->d->snap, &key, &value, s->err)) {
        struct expiry e;
        if (sweep_full(s)) {
            remember(s, key);
            return RC_PENDING;
        }
        if (!expiry_of(key, &e)) {
            sweep_set_aside(s, "A row of expiry is damaged.");
            continue;
        }
        if (!is_over(s, e.time_ms)) {
            s->state->next_ms = e.time_ms < INT64_MAX ? (int64_t)e.time_ms : INT64_MAX;
            return RC_OK;
        }
        if (look_at(s, &e) != RC_OK)
            return RC_ERR;
    }
    return rc == RC_NOTFOUND ? RC_OK : rc;
}
