/* server/http/body.c - bodies by length and in chunks. A body that fits into the block where its head stands
 * stays there; a longer one gets a block of its own that grows as bytes arrive, never by what the client
 * merely declares. */
#include "server/http/body.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "server/http/conn.h"

enum { OWN_BLOCK_BYTES = 65536, PROGRESS_BYTES = 65536 };

static COLD enum rc too_large(const struct request *req, struct err *err)
{
    return err_set(err, ERR_BODY_TOO_LARGE, "The body is longer than the limit here, %llu bytes.",
                   (unsigned long long)req->body_max);
}

/* ---- blocks of their own, charged to the budget of all bodies ---- */

/* One body alone is never too much: its block may be longer than what has come, and --body-max bounds it. */
static bool charge(const struct edge_worker *w, size_t bytes, size_t own)
{
    struct edge *e = w->edge;
    uint64_t before = atomic_fetch_add_explicit(&e->body_bytes, bytes, memory_order_relaxed);
    if (before + bytes <= w->limits.bodies_budget || before == own)
        return true;
    atomic_fetch_sub_explicit(&e->body_bytes, bytes, memory_order_relaxed);
    return false;
}

static struct input *own_block(const struct edge_worker *w, struct input *old, size_t bytes)
{
    size_t own = old ? old->bytes : 0, more = bytes - own;
    if (!charge(w, more, own))
        return NULL;
    struct input *in = old ? input_grow(old, bytes) : input_new(bytes);
    if (!in)
        atomic_fetch_sub_explicit(&w->edge->body_bytes, more, memory_order_relaxed);
    return in;
}

void body_release(struct edge_worker *w, struct request *req)
{
    if (!req->edge.body)
        return;
    atomic_fetch_sub_explicit(&w->edge->body_bytes, req->edge.body->bytes, memory_order_relaxed);
    free(req->edge.body);
    req->edge.body = NULL;
    edge_note_freed(w->edge);
}

/* Room for `more` bytes behind the first `have`, growing by half at least and never beyond what can still
 * come. */
static bool own_room(struct conn *c, size_t more)
{
    struct request *req = c->last;
    size_t need = c->body.have + more, bytes = req->edge.body ? req->edge.body->bytes : 0;
    if (need <= bytes)
        return true;
    size_t want = bytes + bytes / 2;
    want = want < OWN_BLOCK_BYTES ? OWN_BLOCK_BYTES : want;
    if (c->body.framing == FRAMING_LENGTH && want > c->body.length)
        want = (size_t)c->body.length;
    struct input *in = own_block(c->worker, req->edge.body, want < need ? need : want);
    if (!in)
        return false;
    req->edge.body = in;
    return true;
}

/* ---- beginning ---- */

void body_begin(struct conn *c, const struct http1_info *info)
{
    if (!info->chunked && !c->last->body_declared)
        return;
    c->body = (struct body){
        .framing = info->chunked ? FRAMING_CHUNKED : FRAMING_LENGTH,
        .length = c->last->body_declared,
        .continue_due = info->expect_continue,
        .start = c->at,
    };
}

enum rc body_keep(struct conn *c, struct err *err)
{
    struct body *b = &c->body;
    if (b->framing != FRAMING_LENGTH || b->length <= c->in->bytes - c->at)
        return RC_OK;
    size_t there = c->end - c->at;
    if (!own_room(c, there + 1))
        return err_oom(err);
    memcpy(c->last->edge.body->data, c->in->data + c->at, there);
    b->have = there;
    c->at = c->end;
    return RC_OK;
}

/* ---- going on ---- */

static enum rc finish(struct conn *c, const uint8_t *body, size_t bytes)
{
    if (!c->body.discard)
        c->last->body = slice_of(body, bytes);
    c->body = (struct body){0};
    return RC_OK;
}

static enum rc advance_length(struct conn *c)
{
    size_t length = (size_t)c->body.length;
    struct input *own = c->last->edge.body;
    if (own)
        return c->body.have == length ? finish(c, own->data, length) : RC_PENDING;
    if (c->end - c->at < length)
        return RC_PENDING;
    c->at += length;
    return finish(c, c->in->data + c->at - length, length);
}

static enum rc discard_length(struct conn *c)
{
    size_t there = c->end - c->at, n = c->body.length < there ? (size_t)c->body.length : there;
    c->at += n;
    c->body.length -= n;
    return c->body.length ? RC_PENDING : finish(c, NULL, 0);
}

static enum rc discard_chunked(struct conn *c, struct err *err)
{
    size_t used, made;
    struct slice raw = slice_of(c->in->data + c->at, c->end - c->at);
    enum chunked_rc rc = chunked_read(&c->body.chunked, raw, NULL, &used, &made, err);
    c->at += used;
    c->body.read += used;
    if (rc == CHUNKED_MORE && c->body.read > LIMIT_DISCARD_MAX)
        return too_large(&(struct request){.body_max = LIMIT_DISCARD_MAX}, err);
    return rc == CHUNKED_BAD ? RC_ERR : rc == CHUNKED_DONE ? finish(c, NULL, 0) : RC_PENDING;
}

static enum rc advance_chunked(struct conn *c, struct err *err)
{
    struct body *b = &c->body;
    struct request *req = c->last;
    struct slice raw = slice_of(c->in->data + c->at, c->end - c->at);
    if (req->edge.body && !own_room(c, raw.len))
        return err_oom(err);
    uint8_t *base = req->edge.body ? req->edge.body->data : c->in->data + b->start;
    size_t used, made;
    enum chunked_rc rc = chunked_read(&b->chunked, raw, base + b->have, &used, &made, err);
    c->at += used;
    b->have += made;
    if (rc == CHUNKED_BAD)
        return RC_ERR;
    if (b->have > req->body_max || b->chunked.left > req->body_max - b->have)
        return too_large(req, err);
    if (rc == CHUNKED_DONE)
        return finish(c, base, b->have);
    assert(c->at == c->end);
    if (!req->edge.body) /* what the framing took is free again */
        c->at = c->end = b->start + b->have;
    return RC_PENDING;
}

enum rc body_advance(struct conn *c, struct err *err)
{
    struct body *b = &c->body;
    assert(b->framing != FRAMING_NONE);
    if (!c->in && (b->discard || b->framing == FRAMING_CHUNKED))
        return RC_PENDING;
    if (b->discard)
        return b->framing == FRAMING_LENGTH ? discard_length(c) : discard_chunked(c, err);
    return b->framing == FRAMING_LENGTH ? advance_length(c) : advance_chunked(c, err);
}

bool body_discard(struct conn *c)
{
    struct body *b = &c->body;
    if (b->framing == FRAMING_NONE)
        return true;
    if (b->framing == FRAMING_LENGTH) {
        if (c->last->edge.body)
            b->length -= b->have;
        if (b->length > LIMIT_DISCARD_MAX)
            return false;
    }
    b->discard = true;
    return true;
}

/* ---- where bytes go ---- */

bool body_leave_block(struct conn *c)
{
    struct body *b = &c->body;
    if (b->framing != FRAMING_CHUNKED || b->discard || c->last->edge.body)
        return true;
    if (!own_room(c, 1))
        return false;
    memcpy(c->last->edge.body->data, c->in->data + b->start, b->have);
    return true;
}

bool body_room(struct conn *c, struct slice *room, bool *oom)
{
    struct body *b = &c->body;
    *oom = false;
    if (b->framing != FRAMING_LENGTH || b->discard || !c->last->edge.body)
        return false;
    if (!own_room(c, 1)) {
        *oom = true;
        return false;
    }
    size_t left = (size_t)b->length - b->have, bytes = c->last->edge.body->bytes - b->have;
    *room = slice_of(c->last->edge.body->data + b->have, bytes < left ? bytes : left);
    return true;
}

void body_received(struct conn *c, size_t bytes)
{
    struct body *b = &c->body;
    if (b->framing == FRAMING_NONE)
        return;
    b->marked += bytes;
    if (b->marked >= PROGRESS_BYTES) {
        b->marked = 0;
        c->progress = true;
    }
    if (b->framing == FRAMING_LENGTH && !b->discard && c->last->edge.body)
        b->have += bytes;
}
