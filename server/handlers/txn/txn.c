/* server/handlers/txn/txn.c - POST /_txn: the way of a transaction, from its body to its answer. The writer runs it; what would
 * hold up the others there a helper runs, and the writer stores what comes of it if every record is what the helper read. */
#include "server/handlers/txn/txn.h"

#include <stddef.h>

#include "base/limits.h"
#include "server/handlers/handlers.h"
#include "server/handlers/idem/idem.h"
#include "server/handlers/records/record.h"
#include "server/handlers/reply.h"
#include "server/negotiate.h"
#include "server/params.h"
#include "server/schema_load.h"
#include "server/server.h"
#include "server/timing.h"

/* INLINE_OPS_MAX: prepared on the worker. GENEROUS_EVERY: so many losses of a helper's, and the writer does it, as far as it
 * can; LOSSES_MAX: nobody can. */
enum { INLINE_OPS_MAX = 16, GENEROUS_EVERY = 3, LOSSES_MAX = 9, ROUNDS_SPARE = 16 };

static void take_types(struct request *);
static void submit(struct request *);

/* ---- before the body ---- */

static enum rc begin(struct request *req, struct txn *t, struct err *err)
{
    if (negotiate_whole_body(req->header[HEADER_CONTENT_RANGE], err) != RC_OK ||
        negotiate_json_body(req->header[HEADER_CONTENT_TYPE], req->header[HEADER_CONTENT_ENCODING], err) !=
            RC_OK ||
        params_flag(req, PARAM_dry_run, &t->dry_run, err) != RC_OK)
        return RC_ERR;
    if (req->header[HEADER_IF_MATCH].ptr || req->header[HEADER_IF_NONE_MATCH].ptr)
        return err_set(
            err, ERR_BAD_REQUEST,
            "The conditions of a transaction are its operations': if_match, if_none_match, check.");
    return RC_OK;
}

bool txn_begin(struct request *req)
{
    struct err err;
    struct txn *t = arena_calloc(&req->arena, 1, sizeof *t);
    if (!t) {
        reply_no_memory(req);
        return false;
    }
    t->req = req;
    req->state = t;
    if (begin(req, t, &err) == RC_OK)
        return true;
    answer_err(req, &err);
    return false;
}

/* ---- the end ---- */

/* What it names besides the operation is in the run's arena. */
static COLD void fail(struct txn *t, const struct err *err)
{
    struct request *req = t->req;
    struct arena made = t->arena, scratch = t->scratch; /* the request may be over behind the answer */
    const struct txn_op *op = err->operation ? &t->ops[err->operation - 1] : NULL;
    unsigned status = err_status(err->code);
    if (op && t->is_damaged) {
        req->type = op->type;
        req->id = op->id;
        record_damaged(req, err->message);
    } else {
        if (op && op->type && (status == 400 || status == 422))
            failures_add(&req->worker->server->failures, op->type);
        answer_err(req, err);
    }
    arena_release(&made);
    arena_release(&scratch);
}

static COLD void failed(struct request *req, const struct err *err)
{
    fail(req->state, err);
}

static COLD void fail_busy(struct txn *t)
{
    struct err err;
    err_set(&err, ERR_HELPERS_BUSY,
            "The records of this transaction change faster than it can be done; try again.");
    fail(t, &err);
}

/* ---- work that may be a helper's ---- */

static void offload(struct txn *t, bool is_bulk, void (*run)(struct job *), void (*done)(struct job *))
{
    t->job = (struct job){.is_bulk = is_bulk, .run = run, .done = done};
    if (worker_offload(t->req->worker, &t->job, &t->err) == RC_ERR)
        fail(t, &t->err);
}

static struct txn *txn_of(struct job *job)
{
    return CONTAINER_OF(job, struct txn, job);
}

/* ---- reading and preparing ---- */

static void prepared(struct job *job)
{
    struct txn *t = txn_of(job);
    timing_lap(t->req, STAGE_validate);
    if (t->rc != RC_OK)
        fail(t, &t->err);
    else if (!txn_answer_reserve(t))
        fail(t, (err_oom(&t->err), &t->err));
    else
        submit(t->req);
}

static void prepare_run(struct job *job)
{
    struct txn *t = txn_of(job);
    struct codec *codec = codec_new();
    t->rc = codec ? txn_prepare(t, codec, false, &t->err) : err_oom(&t->err);
    codec_free(codec);
}

static void prepare(struct txn *t)
{
    struct worker *w = t->req->worker;
    bool is_long = t->req->body.len > LIMIT_BODY_INLINE_MAX || t->nops > INLINE_OPS_MAX;
    if (!is_long)
        t->rc = txn_prepare(t, w->codec, true, &t->err);
    if (is_long || (t->rc == RC_ERR && t->err.code == ERR_TOO_MUCH_WORK))
        offload(t, false, prepare_run, prepared);
    else
        prepared(&t->job);
}

static void load_schemas(struct request *req)
{
    struct txn *t = req->state;
    for (unsigned i = 0; i < t->nops; i++)
        if (!type_schema(t->ops[i].type->latest)) {
            req->type = t->ops[i].type;
            schema_load_or(req, req->type->latest, load_schemas, failed);
            return;
        }
    prepare(t);
}

/* The newest table of types; those of the last one are given up. */
static void take_types(struct request *req)
{
    struct txn *t = req->state;
    t->is_helped = false; /* what a helper has found was of the last one */
    reading_release(req);
    if (req->hold)
        catalog_leave(req);
    if (!catalog_enter(req))
        t->rc = err_oom(&t->err);
    else
        t->rc = txn_find_types(t, &t->err);
    if (t->rc == RC_OK)
        load_schemas(req);
    else
        fail(t, &t->err);
}

static void asked(struct job *job)
{
    struct txn *t = txn_of(job);
    timing_lap(t->req, STAGE_validate);
    if (t->rc == RC_OK)
        t->rc = txn_authorize(t, &t->err);
    if (t->rc == RC_OK)
        take_types(t->req);
    else
        fail(t, &t->err);
}

static void ask_run(struct job *job)
{
    struct txn *t = txn_of(job);
    t->rc = txn_ask(t, &t->err);
}

void txn_handle(struct request *req)
{
    struct txn *t = req->state;
    if (req->body.len > LIMIT_BODY_INLINE_MAX) {
        offload(t, false, ask_run, asked);
        return;
    }
    ask_run(&t->job);
    asked(&t->job);
}

/* ---- on a helper ---- */

static void helped(struct job *job)
{
    struct txn *t = txn_of(job);
    timing_lap(t->req, STAGE_validate);
    t->is_helped = true;
    if (t->rc != RC_ERR) /* else its problems are there */
        arena_release(&t->scratch);
    submit(t->req); /* also what failed: it stands if nothing has changed */
}

static void help_run(struct job *job)
{
    struct txn *t = txn_of(job);
    struct txn_reader r;
    struct buf out = {0};
    txn_reader_init(&r, t, job->store);
    r.view.codec = codec_new();
    r.view.out = &out;
    t->rc = r.view.codec ? txn_run(t, &r.view, &t->err) : err_oom(&t->err);
    codec_free(r.view.codec);
    buf_release(&out);
}

static void help(struct txn *t)
{
    t->is_helped = false;
    offload(t, true, help_run, helped);
}

/* ---- on the writer ---- */

static enum rc run(struct txn *t, struct store_txn *store, struct err *err)
{
    struct server *server = t->req->worker->server;
    struct txn_writer w;
    if (!server->writer.codec && !(server->writer.codec = codec_new()))
        return err_oom(err);
    txn_writer_init(&w, t, store);
    w.view.codec = server->writer.codec;
    w.view.out = &server->writer.out;
    enum rc rc = txn_run(t, &w.view, err);
    buf_reset(w.view.out, SCRATCH_KEEP_BYTES);
    return rc;
}

/* What a helper has found, if it is still so. */
static enum rc confirm(struct txn *t, struct store_txn *store, struct err *err)
{
    enum rc rc = t->rc == RC_AGAIN ? RC_AGAIN : txn_check_unchanged(t, store, err);
    if (rc != RC_OK)
        return rc;
    *err = t->err;
    return t->rc;
}

static enum rc call(struct store_write *w, struct store_txn *store, struct err *err)
{
    struct request *req = CONTAINER_OF(w, struct request, write);
    struct txn *t = req->state;
    if (txn_check_types(t, store, err) != RC_OK)
        return RC_ERR;
    enum rc rc = t->is_helped ? confirm(t, store, err) : run(t, store, err);
    if (rc != RC_OK || t->dry_run)
        return rc;
    if (unlikely(w->idem != NULL))
        txn_note(t, w->idem, txn_writes(t) ? txn_revision(store) : 0);
    return txn_store(t, store, err);
}

/* ---- back on the worker ---- */

static COLD void lose(struct txn *t)
{
    t->losses++;
    t->is_generous = t->losses % GENEROUS_EVERY == 0;
    t->is_helped = false;
    if (t->losses >= LOSSES_MAX)
        fail_busy(t);
    else if (t->is_generous)
        submit(t->req);
    else
        help(t);
}

/* A version that this request knows nothing of: all is prepared anew. */
static COLD void take_types_anew(struct txn *t, uint32_t schema_id, const struct txn_op *op)
{
    struct request *req = t->req;
    const struct type *type;
    struct slice name = op->type_name;
    reading_release(req);
    catalog_leave(req);
    if (!catalog_enter(req)) {
        err_oom(&t->err);
        fail(t, &t->err);
        return;
    }
    type = catalog_find(req->hold, name);
    if (type && !type_version_of_schema(type, schema_id)) {
        err_set(&t->err, ERR_INTERNAL, "no version of its type has its schema");
        txn_fault(&t->err, (unsigned)(op - t->ops));
        t->ops[t->err.operation - 1].type = type;
        t->is_damaged = true;
        fail(t, &t->err);
        return;
    }
    take_types(req);
}

static COLD void get_readings(struct request *req)
{
    struct txn *t = req->state;
    struct reading reading;
    for (unsigned i = 0; i < t->nops; i++) {
        struct txn_op *op = &t->ops[i];
        if (!op->other_id)
            continue;
        enum rc rc = reading_find_in(op->type, req->own_reading, op->other_id, op->type->latest, &reading);
        if (rc == RC_AGAIN) {
            req->type = op->type;
            reading_load_or(req, &reading, get_readings, failed);
            return;
        }
        if (rc == RC_NOTFOUND) {
            take_types_anew(t, op->other_id, op);
            return;
        }
    }
    if (t->is_helped)
        help(t);
    else
        submit(req);
}

static bool meets_other_versions(const struct txn *t)
{
    for (unsigned i = 0; i < t->nops; i++)
        if (t->ops[i].other_id)
            return true;
    return false;
}

static COLD void again(struct txn *t)
{
    if (++t->rounds > t->nops + LOSSES_MAX + ROUNDS_SPARE)
        fail_busy(t);
    else if (t->is_lost)
        lose(t);
    else if (meets_other_versions(t))
        get_readings(t->req);
    else
        help(t);
}

static COLD void answer_conflict(struct txn *t)
{
    struct request *req = t->req;
    const struct txn_op *op = &t->ops[t->at];
    txn_run_release(t);
    req->operation = t->at + 1;
    req->type = op->type;
    req->type_name = op->type_name;
    req->id = op->id;
    record_conflict(req);
}

static void answer_done(struct txn *t, const struct store_write *w)
{
    if (unlikely(w->replayed))
        txn_answer_first(t, w);
    else
        txn_answer(t, w->revision);
}

static void done(struct store_write *w)
{
    struct request *req = CONTAINER_OF(w, struct request, write);
    struct txn *t = req->state;
    timing_lap_write(req, w);
    t->err = w->err; /* what comes now may use the request's operation */
    switch (w->rc) {
    case RC_OK: answer_done(t, w); break;
    case RC_CONFLICT: answer_conflict(t); break;
    case RC_AGAIN: again(t); break;
    case RC_NOTFOUND:
        err_set(&t->err, ERR_INTERNAL, "The store has lost a record of a transaction."); /* fall through */
    default: fail(t, &t->err); break;
    }
}

static void submit(struct request *req)
{
    struct txn *t = req->state;
    struct store_write *w = &req->write;
    struct err err;
    reply_write_init(w, WRITE_CALL, done);
    w->call = call;
    w->part[0] = slice_of(NULL, req->body.len); /* what waits in the queue */
    if ((!t->dry_run && idem_attach(req, w, IDEM_TELLS_TAG, &err) != RC_OK) ||
        store_write(req->worker->store, w, &err) == RC_ERR)
        fail(t, &err);
}
