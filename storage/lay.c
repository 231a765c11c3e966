/* storage/lay.c - see lay.h. */
#include "storage/lay.h"

#include "storage/stage.h"

void lay_init(struct lay *lay)
{
    memset(lay, 0, sizeof *lay);
    lay->op.kind = WRITE_LAY;
}

/* ---- who waits ---- */

static uint64_t body_bytes(const struct store_write *w)
{
    return (uint64_t)w->part[0].len + w->part[1].len + w->part[2].len;
}

static bool has_long_body(const struct store_write *w)
{
    return w->kind == WRITE_PUT && w->key.space == SPACE_RECORD &&
           chunks_of(body_bytes(w)) > LIMIT_LAY_CHUNKS_MAX;
}

static struct lay_lane *lane_of(struct lay *lay, const struct store_write *w)
{
    uint64_t hash = (uint64_t)((uintptr_t)w->lane ^ (uintptr_t)w->worker) * UINT64_C(0x9e3779b97f4a7c15);
    return &lay->lanes[(hash >> 32) % LAY_LANES];
}

static void append(struct store_write **first, struct store_write **last, struct store_write *w)
{
    w->next = NULL;
    if (*first)
        (*last)->next = w;
    else
        *first = w;
    *last = w;
}

bool lay_keeps(struct lay *lay, struct store_write *w)
{
    bool is_long = has_long_body(w);
    if (likely(!is_long && lay_idle(lay)))
        return false;
    struct lay_lane *lane = lane_of(lay, w);
    if (lane->held) {
        append(&lane->first, &lane->last, w);
        return true;
    }
    if (!is_long)
        return false;
    lane->held = true;
    append(&lay->first, &lay->last, w);
    return true;
}

/* ---- a step ---- */

struct store_write *lay_take(struct lay *lay, struct decider *d)
{
    if (!lay->first)
        return NULL;
    if (d->laid.write != lay->first)
        d->laid = (struct laid){.write = lay->first};
    uint32_t left = chunks_of(body_bytes(lay->first)) - d->laid.chunks;
    lay->stepping = left > LIMIT_LAY_CHUNKS_MAX && !d->laid.hopeless;
    return lay->stepping ? &lay->op : lay->first;
}

enum rc lay_decide(struct decider *d, struct lay *lay)
{
    const struct store_write *w = lay->first;
    lay->next = d->laid;
    if (!lay->next.blob) {
        if (!decide_has_hope(d, w)) { /* it need not be laid down to fail */
            lay->next.hopeless = true;
            return RC_OK;
        }
        lay->next.blob = d->next.next_blob++;
    }
    struct chunks c = {.blob = lay->next.blob,
                       .part = {w->part[0], w->part[1], w->part[2]},
                       .first = d->laid.chunks,
                       .n = LIMIT_LAY_CHUNKS_MAX};
    if (stage_chunks(d, &c, &lay->op.err) != RC_OK)
        return RC_ERR;
    lay->next.chunks += c.n;
    d->ahead_bytes = engine_chunk_pages(chunks_of(body_bytes(w)) - lay->next.chunks) * ENGINE_PAGE;
    return RC_OK;
}

/* ---- the end ---- */

static void end(struct lay *lay, bool failed)
{
    struct store_write *w = lay->first;
    lay->ended = lane_of(lay, w);
    lay->failed = failed;
    lay->first = w->next;
}

void lay_note(struct lay *lay, struct decider *d, struct store_write *const *writes, size_t n, bool applied)
{
    if (n == 0)
        return;
    if (writes[0] == lay->first)
        end(lay, !applied || writes[0]->rc != RC_OK || writes[0]->replayed);
    else if (writes[0] == &lay->op && applied && lay->op.rc == RC_OK)
        d->laid = lay->next;
}

static void free_lane(struct lay_lane *lane, struct lay_outcome *out)
{
    out->first = lane->first;
    out->last = lane->last;
    *lane = (struct lay_lane){.held = false};
}

void lay_stepped(struct lay *lay, struct decider *d, struct lay_outcome *out)
{
    *out = (struct lay_outcome){.failed = NULL};
    if (lay->stepping && lay->op.rc == RC_OK)
        return;
    if (lay->stepping) {
        out->failed = lay->first;
        end(lay, true);
    }
    out->garbage = lay->failed && d->laid.blob != 0;
    d->laid = (struct laid){.write = NULL};
    free_lane(lay->ended, out);
}
