/* server/handlers/records/record_edit.c - the way of an edit: prepared on the worker or a helper, applied on the writer inside its
 * transaction. What takes longer there comes back, and goes by way of record_edit_help.c. */
#include "server/handlers/records/record_edit.h"

#include <assert.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/num.h"
#include "server/handlers/idem/idem.h"
#include "server/handlers/records/record_edit_way.h"
#include "server/handlers/records/record_life.h"
#include "server/handlers/reply.h"
#include "server/json_form.h"
#include "server/negotiate.h"
#include "server/schema_load.h"
#include "server/server.h"
#include "server/timing.h"
#include "server/words.h"

enum { CHANGED_LINE_MAX = 9 + NUM_U64_MAX_CHARS + 2 };

/* ---- before the body ---- */

static enum rc begin(struct request *req, struct record_edit *e, struct err *err)
{
    if (negotiate_whole_body(req->header[HEADER_CONTENT_RANGE], err) != RC_OK ||
        record_dry_asked(req, &e->input, err) != RC_OK)
        return RC_ERR;
    return condition_of_write(req->header[HEADER_IF_MATCH], req->header[HEADER_IF_NONE_MATCH], &req->arena,
                              &e->input.condition, err);
}

bool record_edit_begin(struct request *req, struct record_edit *e)
{
    struct err err;
    if (begin(req, e, &err) == RC_OK)
        return true;
    answer_err(req, &err);
    return false;
}

/* ---- preparing ---- */

/* The fault is the body's, not ours, nor the record's. */
static COLD void refuse_body(struct request *req, const struct err *err)
{
    unsigned status = err_status(err->code);
    if (status == 400 || status == 422)
        failures_add(&req->worker->server->failures, req->type);
    answer_err(req, err);
}

static enum rc prepare(struct request *req, bool brief, struct err *err)
{
    struct record_edit *e = req->state;
    e->opts = req->type->codec;
    e->opts.form = json_form_of(req, e->input.encoding ? e->input.encoding->json : JSON_PLAIN);
    e->opts.brief = brief;
    return e->prepare(req, type_schema(req->type->latest), &e->opts, &req->arena, &e->edit, err);
}

/* In the request's arena. */
struct preparing {
    struct job job;
    struct request *req;
    enum rc rc;
    struct err err;
};

static void prepare_run(struct job *job)
{
    struct preparing *p = CONTAINER_OF(job, struct preparing, job);
    p->rc = prepare(p->req, false, &p->err);
}

static void prepared(struct job *job)
{
    struct preparing *p = CONTAINER_OF(job, struct preparing, job);
    timing_lap(p->req, STAGE_validate);
    if (p->rc == RC_OK)
        record_edit_go(p->req);
    else
        refuse_body(p->req, &p->err);
}

static COLD void prepare_elsewhere(struct request *req)
{
    struct err err;
    struct preparing *p = arena_alloc(&req->arena, sizeof *p);
    if (!p) {
        reply_no_memory(req);
        return;
    }
    *p = (struct preparing){.job = {.run = prepare_run, .done = prepared}, .req = req};
    req->is_away = true;
    if (worker_offload(req->worker, &p->job, &err) == RC_ERR)
        answer_err(req, &err);
}

static void ready(struct request *req)
{
    struct err err;
    if (req->body.len > LIMIT_BODY_INLINE_MAX) {
        prepare_elsewhere(req);
        return;
    }
    enum rc rc = prepare(req, true, &err);
    timing_lap(req, STAGE_validate);
    if (rc == RC_OK)
        record_edit_go(req);
    else if (err.code == ERR_TOO_MUCH_WORK)
        prepare_elsewhere(req);
    else
        refuse_body(req, &err);
}

/* It is of what the latest version shows, and so is what it makes. */
static COLD void refuse_version(struct request *req, const struct type_version *asked)
{
    struct err err;
    struct words type;
    err_set(&err, ERR_OTHER_VERSION,
            "Schema-Version says %u; a record of '%s' is changed as one of the latest version, which is %u.",
            asked->number, words_of(req->type_name, &type), req->type->latest->number);
    answer_err(req, &err);
}

static void version_found(struct request *req)
{
    const struct record_edit *e = req->state;
    if (e->input.version == req->type->latest)
        ready(req);
    else
        refuse_version(req, e->input.version);
}

static void loaded(struct request *req)
{
    struct record_edit *e = req->state;
    record_find_writer(req, &e->input, version_found);
}

void record_edit_handle(struct request *req)
{
    schema_load(req, req->type->latest, loaded);
}

/* ---- applying it; writer thread ---- */

void record_edit_note(const struct record_edit *e, struct store_write *w)
{
    if (unlikely(w->idem))
        idem_note_changed(w->idem, e->changed);
}

/* `fresh` in the request's arena. */
static enum rc edit_record(struct request *req, const struct edit_tools *t, const struct record *old,
                           struct record *fresh, struct err *err)
{
    struct record_edit *e = req->state;
    enum rc rc = record_edit_apply(req, e, t, old, err);
    if (rc != RC_OK)
        return rc;
    req->write.unchanged = !e->changed;
    if (e->changed && !arena_copy(&req->arena, buf_slice(t->out), &fresh->body))
        return err_oom(err);
    fresh->schema_id = req->type->latest->schema_id;
    fresh->expires_ms = e->expires_ms;
    record_edit_note(e, &req->write);
    return RC_OK;
}

static enum rc edit(struct store_write *w, const struct record *old, struct record *fresh, struct err *err)
{
    struct request *req = CONTAINER_OF(w, struct request, write);
    struct server *server = req->worker->server;
    const struct record_edit *e = req->state;
    if (!server->writer.codec && !(server->writer.codec = codec_new()))
        return err_oom(err);
    const struct edit_tools tools = {.codec = server->writer.codec,
                                     .resolved = &server->writer.resolved,
                                     .out = &server->writer.out,
                                     .arena = &req->arena,
                                     .brief = !e->unbounded};
    enum rc rc = edit_record(req, &tools, old, fresh, err);
    buf_reset(tools.resolved, SCRATCH_KEEP_BYTES);
    buf_reset(tools.out, SCRATCH_KEEP_BYTES);
    return rc;
}

/* ---- back on the worker ---- */

void record_edit_answer(struct request *req, const struct store_write *w, uint64_t revision)
{
    struct record_edit *e = req->state;
    if (unlikely(w && w->replayed)) { /* it was done before */
        idem_answer(req, w);
        return;
    }
    bool told = reply_header_u64(req, "Changed", e->changed) && record_life_tell(req, e->expires_ms);
    assert(told); /* it was reserved */
    record_tag(req, revision, req->type->latest);
    if (e->input.dry_run)
        record_dry_answer(req, 200);
    else
        reply_ok(req);
}

/* The type has got a version that this request knows nothing of: the edit is to be one of it. */
static COLD void begin_anew(struct request *req)
{
    struct record_edit *e = req->state;
    struct err err;
    enum rc rc = catalog_renew(req, &err);
    if (rc == RC_NOTFOUND)
        reply_no_type(req); /* dropped meanwhile */
    else if (rc != RC_OK)
        answer_err(req, &err);
    else if (!type_version_of_schema(req->type, e->other_id))
        record_damaged(req, "no version of its type has its schema");
    else
        (e->again ? e->again : record_edit_handle)(req);
}

static void retry(struct request *req)
{
    const struct record_edit *e = req->state;
    if (e->in_hand)
        record_edit_read(req);
    else
        record_edit_submit(req);
}

/* The edit has met a record of another version. */
static COLD void get_reading(struct request *req)
{
    const struct record_edit *e = req->state;
    struct reading reading;
    switch (reading_find(req, e->other_id, req->type->latest, &reading)) {
    case RC_OK: retry(req); break;
    case RC_AGAIN: reading_load(req, &reading, retry); break;
    default: begin_anew(req);
    }
}

COLD void record_edit_refuse(struct request *req, enum rc rc, const struct err *err)
{
    const struct record_edit *e = req->state;
    if (rc == RC_AGAIN && e->other_id)
        get_reading(req);
    else if (rc == RC_AGAIN)
        record_edit_read(req);
    else if (rc == RC_CONFLICT)
        record_conflict(req);
    else if (rc == RC_ERR && e->damaged)
        record_damaged(req, err->message);
    else if (rc == RC_ERR)
        refuse_body(req, err);
    else if (e->absent)
        record_absent(req);
    else
        reply_no_type(req); /* dropped meanwhile */
}

static void edit_done(struct store_write *w)
{
    struct request *req = CONTAINER_OF(w, struct request, write);
    timing_lap_write(req, w);
    if (likely(w->rc == RC_OK)) {
        record_edit_answer(req, w, w->revision);
        return;
    }
    struct err err = w->err; /* what comes now uses the request's operation */
    record_edit_refuse(req, w->rc, &err);
}

/* What stands behind it on its connection waits, as it may come back from the writer, and must not be overtaken. */
void record_edit_submit(struct request *req)
{
    struct record_edit *e = req->state;
    struct store_write *w = &req->write;
    struct err err;
    e->absent = e->damaged = false;
    e->other_id = 0;
    req->is_away = true;
    reply_write_init(w, WRITE_EDIT, edit_done);
    w->key = (struct store_key){.space = SPACE_RECORD, .type = req->type->number, .id = req->id};
    w->schema_id = req->type->latest->schema_id;
    w->edit = edit;
    w->edit_bytes_max = e->unbounded ? 0 : LIMIT_EDIT_INLINE_MAX;
    condition_attach(&e->input.condition, w);
    if (idem_attach(req, w, IDEM_TELLS_CHANGED, &err) != RC_OK ||
        store_write(req->worker->store, w, &err) == RC_ERR)
        answer_err(req, &err);
}

void record_edit_go(struct request *req)
{
    struct record_edit *e = req->state;
    e->in_hand = e->input.dry_run;
    if (response_reserve(req, CHANGED_LINE_MAX + RECORD_LIFE_LINE_MAX))
        retry(req);
    else
        reply_no_memory(req);
}
