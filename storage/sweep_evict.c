/* storage/sweep_evict.c - what was least recently used goes from types that have more than their limit. A row of `used` counts only
 * if the record's head names the same time; else it is a leftover, and goes alone. */
#include "storage/sweep.h"

#include "base/bytes.h"
#include "storage/stage.h"

enum { AT_TIME = 4, AT_ID = 10 };

static enum rc evict_one(struct sweep *s, struct store_count *c, struct slice used)
{
    const struct store_key key = {.space = SPACE_RECORD,
                                  .type = get_be32(used.ptr),
                                  .id = slice_of(used.ptr + AT_ID, used.len - AT_ID)};
    int64_t used_ms = (int64_t)get_be48(used.ptr + AT_TIME);
    struct view v;
    struct key k;
    if (stage_look(s->d, &key, &v, s->err) != RC_OK)
        return RC_ERR;
    if (!v.entry->value || v.rec.used_ms != used_ms) {
        key_used(&k, key.type, used_ms, key.id);
        return stage_row(s->d, key_slice(&k), (struct slice){NULL, 0}, s->err);
    }
    s->d->next.revision++;
    if (stage_delete(s->d, &v, s->err) != RC_OK)
        return RC_ERR;
    c->bytes -= v.rec.body_bytes;
    s->evicted++;
    return RC_OK;
}

static bool is_well_formed(struct slice key)
{
    return key.len > AT_ID && key.len - AT_ID <= LIMIT_ID_MAX;
}

/* Pages that a step may take here: few, unless puts are about to be refused. */
static uint64_t pages_max(const struct type_limit *l, const struct store_count *c)
{
    bool pressed = c->bytes > l->ceiling - LIMIT_EVICT_OVERSHOOT / 2;
    return pressed ? LIMIT_EVICT_PRESSED_PAGES_MAX : LIMIT_EVICT_PAGES_MAX;
}

/* A share of its own: what puts bring in must go as fast, whatever else is dead. */
static enum rc evict(struct sweep *s, struct type_limit *l, struct store_count *c)
{
    const uint64_t upto = s->pages_before + pages_max(l, c);
    struct key k;
    struct slice key, value;
    key_used_prefix(&k, l->type);
    const struct slice prefix = slice_of(k.bytes + 1, k.len - 1U);
    enum rc rc = s->d->ops->seek(s->d->snap, key_slice(&k), &key, &value, s->err);
    for (; rc == RC_OK && c->bytes > c->bytes_max; rc = s->d->ops->next(s->d->snap, &key, &value, s->err)) {
        if (!slice_starts(key, prefix))
            return RC_OK;
        if (s->d->overlay.pages > upto)
            return RC_PENDING;
        if (!is_well_formed(key)) {
            sweep_set_aside(s, "A row of used is damaged.");
            continue;
        }
        struct sweep_mark mark = sweep_mark(s);
        if (sweep_settle(s, &mark, evict_one(s, c, key)) != RC_OK)
            return RC_ERR;
    }
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

static enum rc keep_within(struct sweep *s, struct type_limit *l)
{
    const struct store_key any = {.space = SPACE_RECORD, .type = l->type};
    struct store_count c;
    if (!stage_live(s->d, &any))
        return RC_OK;
    enum rc rc = stage_count(s->d, l->type, &c, s->err);
    if (rc != RC_OK || !c.bytes_max || type_limit_needs_index(l, &c))
        return rc;
    if (c.bytes > c.bytes_max)
        rc = evict(s, l, &c);
    if (rc == RC_OK && c.bytes <= c.bytes_max)
        type_limit_reached(l, c.bytes_max);
    return rc;
}

/* Types that have more to lose than one step's share take turns. */
enum rc sweep_evict(struct sweep *s)
{
    struct type_limit *l;
    s->pages_before = s->d->overlay.pages;
    while ((l = type_limits_from(&s->d->limits, s->state->at))) {
        if (s->looks++ >= LIMIT_PURGE_KEYS_MAX)
            return RC_PENDING;
        struct sweep_mark mark = sweep_mark(s);
        s->state->at = (uint64_t)l->type + 1;
        enum rc rc = sweep_settle(s, &mark, keep_within(s, l));
        s->state->found |= rc == RC_PENDING;
        if (rc != RC_OK)
            return rc;
    }
    if (!s->state->found)
        return RC_OK;
    s->state->found = false;
    s->state->at = 0;
    return RC_PENDING;
}
