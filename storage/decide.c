/* storage/decide.c - one write after the other, each whole or not at all. */
#include "storage/decide.h"

#include <assert.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/crc32c.h"
#include "storage/idem.h"
#include "storage/lay.h"
#include "storage/purge.h"
#include "storage/range.h"
#include "storage/stage.h"
#include "storage/txn.h"

static const int64_t time_ms_max = ((int64_t)1 << 48) - 1;

void decider_release(struct decider *d)
{
    overlay_release(&d->overlay);
    type_limits_release(&d->limits);
    free(d->mutations);
    d->mutations = NULL;
}

static bool revision_listed(const struct store_write *w, uint64_t revision)
{
    for (unsigned i = 0; i < w->nrevisions; i++)
        if (w->revisions[i] == revision)
            return true;
    return false;
}

static bool condition_holds(const struct store_write *w, const struct view *v)
{
    switch (w->cond) {
    case COND_NONE: return true;
    case COND_ABSENT: return !v->visible;
    case COND_PRESENT: return v->visible;
    case COND_REVISION_IN: return v->visible && revision_listed(w, v->rec.revision);
    case COND_REVISION_NOT_IN: return !v->visible || !revision_listed(w, v->rec.revision);
    }
    assert(!"a condition that is none");
    return false;
}

/* The start of all writes of one key: the key as it is, and the condition. */
static enum rc look(struct decider *d, struct store_write *w, struct view *v)
{
    if (!stage_live(d, &w->key))
        return RC_NOTFOUND;
    if (stage_look(d, &w->key, v, &w->err) != RC_OK)
        return RC_ERR;
    if (condition_holds(w, v))
        return RC_OK;
    w->revision = v->visible ? v->rec.revision : 0;
    return RC_CONFLICT;
}

bool decide_has_hope(struct decider *d, const struct store_write *w)
{
    struct store_write probe = {.kind = w->kind,
                                .cond = w->cond,
                                .revisions = w->revisions,
                                .nrevisions = w->nrevisions,
                                .key = w->key};
    struct view v;
    uint64_t bytes = (uint64_t)w->part[0].len + w->part[1].len + w->part[2].len;
    int64_t used_ms;
    return !(w->idem && idem_is_known(d, w)) && look(d, &probe, &v) == RC_OK &&
           type_limits_admit(d, &v, bytes, &used_ms, &probe.err) == RC_OK;
}

static void wrote(struct decider *d, struct store_write *w, uint64_t count)
{
    w->revision = d->next.revision;
    w->count = count;
}

static enum rc decide_put(struct decider *d, struct store_write *w)
{
    struct view v;
    enum rc rc = look(d, w, &v);
    if (rc != RC_OK)
        return rc;
    bool is_laid = d->laid.write == w;
    const struct fresh f = {.schema_id = w->schema_id,
                            .expires_ms = w->expires_ms,
                            .content_type = w->content_type,
                            .part = {w->part[0], w->part[1], w->part[2]},
                            .body_crc = w->body_crc,
                            .plain_bytes = w->plain_bytes,
                            .blob = is_laid ? d->laid.blob : 0,
                            .laid = is_laid ? d->laid.chunks : 0};
    if (stage_put(d, &v, &f, ++d->next.revision, &w->err) != RC_OK)
        return RC_ERR;
    w->created = !v.visible;
    wrote(d, w, 1);
    return RC_OK;
}

static enum rc decide_delete(struct decider *d, struct store_write *w)
{
    struct view v;
    enum rc rc = look(d, w, &v);
    if (rc != RC_OK)
        return rc;
    if (!v.visible)
        return RC_NOTFOUND;
    if (stage_delete(d, &v, &w->err) != RC_OK)
        return RC_ERR;
    d->next.revision++;
    wrote(d, w, 1);
    return RC_OK;
}

/* Neither a revision nor the time of the last write moves. What was written or touched a moment ago stays as it is. */
static enum rc decide_touch(struct decider *d, struct store_write *w)
{
    struct view v;
    enum rc rc = look(d, w, &v);
    if (rc != RC_OK)
        return rc;
    if (!v.visible)
        return RC_NOTFOUND;
    if (v.entry->dirty || !store_touch_due(&v.rec, d->now_ms))
        return RC_OK;
    w->count = 1;
    return stage_touch(d, &v, d->now_ms, &w->err);
}

/* The edit's result, in place of what `v` shows. */
static enum rc edit_put(struct decider *d, struct store_write *w, const struct view *v,
                        const struct record *out)
{
    struct fresh f = {.schema_id = out->schema_id,
                      .expires_ms = out->expires_ms,
                      .content_type = out->content_type,
                      .part = {out->body},
                      .body_crc = crc32c(0, out->body)};
    if (stage_check_size(&w->key, out->body.len, out->content_type, d->record_max, &w->err) != RC_OK ||
        stage_put(d, v, &f, ++d->next.revision, &w->err) != RC_OK)
        return RC_ERR;
    w->created = !v->visible;
    wrote(d, w, 1);
    return RC_OK;
}

static enum rc decide_edit(struct decider *d, struct store_write *w)
{
    struct view v;
    enum rc rc = look(d, w, &v);
    if (rc != RC_OK)
        return rc;
    struct record old,
        out = {.schema_id = w->schema_id, .expires_ms = w->expires_ms, .content_type = w->content_type};
    w->unchanged = false;
    if (v.visible) {
        if (w->edit_bytes_max && stage_body_bytes(&v) > w->edit_bytes_max)
            return RC_AGAIN;
        if (stage_body(d, &v, &old, &w->err) != RC_OK)
            return RC_ERR;
        out = (struct record){
            .schema_id = old.schema_id, .expires_ms = old.expires_ms, .content_type = old.content_type};
    }
    rc = w->edit(w, v.visible ? &old : NULL, &out, &w->err);
    if (rc == RC_OK && w->unchanged)
        w->revision = v.visible ? v.rec.revision : 0;
    return rc != RC_OK || w->unchanged ? rc : edit_put(d, w, &v, &out);
}

static enum rc decide_call(struct decider *d, struct store_write *w)
{
    struct store_txn txn = {.decider = d, .may_drop = w->opens_group, .revision = d->next.revision + 1};
    enum rc rc = w->call(w, &txn, &w->err);
    if (rc == RC_OK && txn.failed) {
        w->err = txn.err;
        return RC_ERR;
    }
    if (rc != RC_OK || !txn.written)
        return rc;
    d->next.revision = txn.revision;
    wrote(d, w, txn.written);
    return RC_OK;
}

static enum rc decide_type_drop(struct decider *d, struct store_write *w)
{
    const struct store_key any = {.space = SPACE_RECORD, .type = w->key.type};
    struct view v;
    struct store_count c;
    if (!stage_live(d, &any))
        return RC_NOTFOUND;
    enum rc rc = look(d, w, &v);
    if (rc != RC_OK)
        return rc;
    if (!v.visible)
        return RC_NOTFOUND;
    if (stage_count(d, w->key.type, &c, &w->err) != RC_OK ||
        stage_type_drop(d, &v, w->key.type, &w->err) != RC_OK)
        return RC_ERR;
    d->next.revision++;
    wrote(d, w, c.records);
    return RC_OK;
}

static enum rc decide_kind(struct decider *d, struct store_write *w)
{
    switch (w->kind) {
    case WRITE_PUT: return decide_put(d, w);
    case WRITE_DELETE: return decide_delete(d, w);
    case WRITE_EDIT: return decide_edit(d, w);
    case WRITE_CALL: return decide_call(d, w);
    case WRITE_TYPE_DROP: return decide_type_drop(d, w);
    case WRITE_TOUCH: return decide_touch(d, w);
    case WRITE_LAY: return lay_decide(d, CONTAINER_OF(w, struct lay, op));
    case WRITE_PURGE: return purge_decide(d, CONTAINER_OF(w, struct purge, op));
    case WRITE_RANGE_DELETE: return range_decide(d, w);
    }
    assert(!"a kind of write that is none");
    return RC_ERR;
}

/* With an idempotency key. */
static enum rc decide_once(struct decider *d, struct store_write *w)
{
    enum rc rc = idem_find(d, w);
    if (rc != RC_NOTFOUND)
        return rc;
    rc = decide_kind(d, w);
    return rc == RC_OK ? idem_remember(d, w) : rc;
}

/* Must see all that was before, applied. */
static bool opens_group(const struct store_write *w)
{
    return w->kind == WRITE_TYPE_DROP || w->kind == WRITE_RANGE_DELETE ||
           (w->kind == WRITE_CALL && w->opens_group);
}

/* Decide one write; what it staged is taken back unless it succeeded. False: it belongs to the next group. */
static bool decide_one(struct decider *d, struct store_write *w, bool first)
{
    struct overlay_mark mark = overlay_mark(&d->overlay);
    struct meta_state state = d->next;
    uint32_t dropped = d->dropped;
    w->revision = w->count = 0;
    w->created = w->replayed = false;
    d->joined_full = false;
    w->rc = likely(!w->idem) ? decide_kind(d, w) : decide_once(d, w);
    bool fits = d->overlay.pages <= LIMIT_GROUP_PAGES_MAX;
    if (w->rc == RC_OK && fits)
        return true;
    overlay_rollback(&d->overlay, mark);
    d->next = state;
    d->dropped = dropped;
    d->ahead_bytes = w->kind == WRITE_LAY ? 0 : d->ahead_bytes;
    if ((w->rc == RC_OK || d->joined_full) && !first)
        return false;
    if (w->rc == RC_OK)
        w->rc = err_set(&w->err, ERR_RECORD_TOO_LARGE, "A write changes at most %d pages of the store.",
                        LIMIT_GROUP_PAGES_MAX);
    if (w->rc == RC_ERR) {
        w->revision = w->count = 0;
        w->created = false;
    }
    return true;
}

static bool same_state(const struct meta_state *a, const struct meta_state *b)
{
    return a->revision == b->revision && a->next_type == b->next_type && a->next_schema == b->next_schema &&
           a->next_blob == b->next_blob && a->log_sequence == b->log_sequence;
}

/* The row `state` is written with whatever moved it, so numbers never return, even after a crash. */
static enum rc stage_state(struct decider *d, struct err *err)
{
    if (same_state(&d->state, &d->next))
        return RC_OK;
    uint8_t *value = arena_alloc(&d->overlay.arena, META_STATE_BYTES);
    struct key k;
    if (!value)
        return err_oom(err);
    meta_state_encode(&d->next, value);
    key_meta(&k, SLICE("state"));
    return stage_row(d, key_slice(&k), slice_of(value, META_STATE_BYTES), err);
}

static enum rc collect(struct decider *d, struct err *err)
{
    size_t most = overlay_mutations_max(&d->overlay);
    if (most > d->mutations_cap) {
        struct mutation *p = realloc(d->mutations, most * sizeof *p);
        if (!p)
            return err_oom(err);
        d->mutations = p;
        d->mutations_cap = most;
    }
    d->nmutations = overlay_mutations(&d->overlay, d->mutations, &d->grow_bytes);
    d->grow_bytes += d->ahead_bytes;
    return RC_OK;
}

static int64_t now_ms(void)
{
    int64_t t = clock_wall_ms();
    return t < 0 ? 0 : t > time_ms_max ? time_ms_max : t;
}

int64_t trash_clock_ms(const struct decider *d)
{
    return d->clock_base_ms + clock_mono_ms();
}

enum rc decide_group(struct decider *d, struct store_write **writes, size_t n, size_t *taken, struct err *err)
{
    assert(n > 0);
    overlay_reset(&d->overlay);
    d->next = d->state;
    d->now_ms = now_ms();
    d->trash_now_ms = trash_clock_ms(d);
    d->dropped = 0;
    d->trashed = false;
    d->crowded = false;
    d->counts = NULL;
    d->expires_ms = 0;
    d->joined_bytes = 0;
    d->ahead_bytes = 0;
    d->nmutations = 0;
    size_t i = 0;
    while (i < n) {
        if (i > 0 && (opens_group(writes[i]) || d->dropped))
            break;
        if (!decide_one(d, writes[i], i == 0))
            break;
        i++;
    }
    *taken = i;
    if (stage_state(d, err) != RC_OK)
        return RC_ERR;
    return collect(d, err);
}

void decide_applied(struct decider *d)
{
    d->state = d->next;
    if (d->dropped)
        dead_mark(d->dead, d->dropped);
}
