/* server/handlers/records/record_edit_help.c - an edit that would hold up the writer: the record is read, a helper applies the
 * edit to a copy, and what comes of it is put if the record is still what it was. If it is not, once more; after some
 * losses the writer does it, so that an edit of a record that is hot and large ends. */
#include <stddef.h>

#include "base/limits.h"
#include "server/counts.h"
#include "server/handlers/idem/idem.h"
#include "server/handlers/records/record_edit_way.h"
#include "server/handlers/records/record_pack.h"
#include "server/handlers/reply.h"
#include "server/timing.h"

enum { LOSSES_MAX = 3 };

/* In the request's arena. */
struct edit_help {
    struct job job;
    struct request *req;
    bool exists;
    bool gone;         /* its chunks went meanwhile: it was replaced */
    struct record old; /* a copy; its body only if it is not in chunks */
    struct buf out;
    struct arena scratch;
    enum rc rc;
    struct stored_body body; /* what is to be put: `out`, or it packed */
    struct err err;          /* its problems are in the scratch */
};

static void release(struct edit_help *h)
{
    buf_release(&h->out);
    arena_release(&h->scratch);
}

static enum rc apply(struct edit_help *h, struct buf *joined, struct buf *resolved, struct codec *codec)
{
    struct record_edit *e = h->req->state;
    const struct edit_tools tools = {
        .codec = codec, .resolved = resolved, .out = &h->out, .arena = &h->scratch};
    if (h->exists && !h->old.body.ptr && h->old.body_bytes) {
        enum rc rc = record_join(h->job.store, &h->old, joined, &h->err);
        h->gone = rc == RC_NOTFOUND;
        if (rc != RC_OK)
            return rc;
    }
    struct record old = h->old;
    if (joined->len)
        old.body = buf_slice(joined);
    return record_edit_apply(h->req, e, &tools, h->exists ? &old : NULL, &h->err);
}

/* ---- on a helper ---- */

static void help_run(struct job *job)
{
    struct edit_help *h = CONTAINER_OF(job, struct edit_help, job);
    struct buf joined = {0}, resolved = {0};
    struct codec *codec = codec_new();
    h->rc = codec ? apply(h, &joined, &resolved, codec) : err_oom(&h->err);
    h->body = (struct stored_body){.part = {buf_slice(&h->out)}};
    if (h->rc == RC_OK && record_packs(h->req->type, h->out.len))
        record_pack_here(&h->body, &h->scratch);
    codec_free(codec);
    buf_release(&joined);
    buf_release(&resolved);
}

/* ---- refusing; on the worker ---- */

static void refuse(struct request *req, enum rc rc)
{
    const struct record_edit *e = req->state;
    struct edit_help *h = e->help, made = {0};
    if (h) { /* the request may be over behind the answer */
        made.out = h->out;
        made.scratch = h->scratch;
        h->out = (struct buf){0};
        h->scratch = (struct arena){0};
    }
    record_edit_refuse(req, rc, h ? &h->err : NULL);
    release(&made);
}

/* ---- what it made is put; on the worker ---- */

/* The record was changed while the edit was applied to what it had been. */
static void lose(struct request *req)
{
    struct record_edit *e = req->state;
    if (++e->losses < LOSSES_MAX || e->input.dry_run) {
        record_edit_read(req);
        return;
    }
    e->unbounded = true;
    e->in_hand = false;
    record_edit_submit(req);
}

static void put_done(struct store_write *w)
{
    struct request *req = CONTAINER_OF(w, struct request, write);
    struct record_edit *e = req->state;
    struct err err = w->err;
    release(e->help);
    timing_lap_write(req, w);
    switch (w->rc) {
    case RC_OK: record_edit_answer(req, w, w->revision); break;
    case RC_CONFLICT: lose(req); break;
    default: record_edit_refuse(req, w->rc, &err); break;
    }
}

/* It changes nothing, which is to be remembered under its key. */
static enum rc keep(struct store_write *w, const struct record *old, struct record *fresh, struct err *err)
{
    (void)old, (void)fresh, (void)err;
    w->unchanged = true;
    return RC_OK;
}

static enum rc put(struct request *req, struct edit_help *h, struct err *err)
{
    struct record_edit *e = req->state;
    struct store_write *w = &req->write;
    e->absent = false; /* RC_NOTFOUND: the type */
    reply_write_init(w, e->changed ? WRITE_PUT : WRITE_EDIT, put_done);
    w->edit = keep;
    w->key = (struct store_key){.space = SPACE_RECORD, .type = req->type->number, .id = req->id};
    w->schema_id = req->type->latest->schema_id;
    w->expires_ms = e->expires_ms;
    w->content_type = h->old.content_type;
    w->part[0] = h->body.part[0];
    w->plain_bytes = h->body.plain_bytes;
    w->cond = h->exists ? COND_REVISION_IN : COND_ABSENT;
    w->revisions = &h->old.revision;
    w->nrevisions = 1;
    if (idem_attach(req, w, IDEM_TELLS_CHANGED, err) != RC_OK)
        return RC_ERR;
    record_edit_note(e, w);
    return store_write(req->worker->store, w, err);
}

static void applied(struct request *req, struct edit_help *h)
{
    const struct record_edit *e = req->state;
    struct err err;
    if (e->input.dry_run || (!e->changed && !idem_asked(req))) {
        release(h);
        record_edit_answer(req, NULL, e->input.dry_run ? 0 : h->old.revision);
    } else if (record_pack_count(req->worker->counts, &h->body), put(req, h, &err) == RC_ERR) {
        release(h);
        answer_err(req, &err);
    }
}

static void help_done(struct job *job)
{
    struct edit_help *h = CONTAINER_OF(job, struct edit_help, job);
    struct request *req = h->req;
    timing_lap(req, STAGE_validate);
    if (h->gone) {
        release(h);
        lose(req);
    } else if (h->rc == RC_OK) {
        applied(req, h);
    } else {
        refuse(req, h->rc);
    }
}

static bool copy_record(struct edit_help *h, const struct record *old, struct arena *arena)
{
    h->exists = old;
    if (!old)
        return true;
    h->old = *old;
    return record_body_keep(arena, &h->old) &&
           (!old->content_type.len || arena_copy(arena, old->content_type, &h->old.content_type));
}

static enum rc get_help(struct request *req, const struct record *old, struct err *err)
{
    struct record_edit *e = req->state;
    struct edit_help *h = arena_calloc(&req->arena, 1, sizeof *h);
    if (!h || !copy_record(h, old, &req->arena))
        return err_oom(err);
    h->job = (struct job){
        .is_bulk = old && old->body_bytes > LIMIT_EDIT_INLINE_MAX, .run = help_run, .done = help_done};
    h->req = req;
    e->help = h;
    count(req->worker->counts, COUNT_edits_helped, 1);
    return worker_offload(req->worker, &h->job, err);
}

/* Is what reads it at hand? Before it is put together. */
static bool is_readable(const struct request *req, struct record_edit *e, const struct record *old)
{
    struct reading reading;
    e->other_id = 0;
    if (old && reading_find(req, old->schema_id, req->type->latest, &reading) != RC_OK)
        e->other_id = old->schema_id;
    return !e->other_id;
}

static void record_read(struct store_get *get)
{
    struct request *req = CONTAINER_OF(get, struct request, get);
    struct record_edit *e = req->state;
    const struct record *old = get->rc == RC_OK ? &get->rec : NULL;
    struct err err;
    timing_lap(req, STAGE_store);
    e->absent = !old;
    if (get->rc == RC_ERR) {
        err = get->err;
        answer_err(req, &err);
    } else if (!condition_holds(&e->input.condition, old ? old->revision : 0)) {
        refuse(req, RC_CONFLICT);
    } else if (!old && !e->creates) {
        refuse(req, RC_NOTFOUND);
    } else if (!is_readable(req, e, old)) {
        refuse(req, RC_AGAIN);
    } else if (get_help(req, old, &err) == RC_ERR) {
        answer_err(req, &err);
    }
}

void record_edit_read(struct request *req)
{
    struct record_edit *e = req->state;
    e->in_hand = true;
    req->is_away = true;
    req->get.key = (struct store_key){.space = SPACE_RECORD, .type = req->type->number, .id = req->id};
    req->get.done = record_read;
    store_get(req->worker->store, &req->get);
}
