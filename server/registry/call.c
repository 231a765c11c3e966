/* server/registry/call.c - the way of a call: checked, run by a helper, perhaps decided by the writer and made visible,
 * answered. */
#include "server/registry/registry.h"

#include <stddef.h>

#include "base/limits.h"
#include "server/handlers/idem/idem.h"
#include "server/handlers/reply.h"
#include "server/registry/handlers.h"
#include "server/registry/media.h"
#include "server/registry/subject_name.h"
#include "server/server.h"
#include "server/timing.h"

/* ---- before the body ---- */

static enum rc begin(struct request *req, struct call *c, struct err *err)
{
    c->req = req;
    c->arena = &req->arena;
    c->media = media_answer(req->header[HEADER_ACCEPT]);
    if (!c->media)
        return err_set(err, ERR_NOT_ACCEPTABLE,
                       "The Accept of this request leaves nothing; offered are " MEDIA_OFFERED ".");
    bool has_body = req->method == METHOD_POST || req->method == METHOD_PUT;
    if (has_body && media_check_body(req->header[HEADER_CONTENT_TYPE], req->header[HEADER_CONTENT_ENCODING],
                                     err) != RC_OK)
        return RC_ERR;
    if (!req->type_name.len)
        return RC_OK;
    if (subject_name_check(req->type_name, &c->subject, err) != RC_OK)
        return RC_ERR;
    c->space = lineage_space(c->subject);
    return RC_OK;
}

bool registry_begin(struct request *req)
{
    struct err err;
    struct call *c = arena_calloc(&req->arena, 1, sizeof *c);
    req->state = c;
    req->response.headers = SLICE("Vary: Accept, Accept-Encoding\r\n"); /* errors too */
    if (!c)
        err_oom(&err);
    else if (begin(req, c, &err) == RC_OK)
        return true;
    answer_err(req, &err);
    return false;
}

bool call_flag(const struct call *c, enum param_id id)
{
    const struct slice *value = params_find(c->req, id);
    return value && slice_eq_nocase(*value, SLICE("true"));
}

struct slice call_text(const struct call *c, enum param_id id)
{
    const struct slice *value = params_find(c->req, id);
    return value ? *value : (struct slice){0};
}

/* ---- the answer ---- */

void call_fail(struct call *c, const struct err *err)
{
    long_text_release(&c->out, c->req->worker);
    answer_err(c->req, err);
}

enum rc call_count(struct call *c, struct err *err)
{
    return long_text_count_growth(&c->out, c->req->worker, err);
}

void call_answer(struct call *c)
{
    struct err err;
    struct request *req = c->req;
    if (c->out.text.len > LIMIT_ANSWER_SMALL || c->out.counted) {
        if (long_text_count(&c->out, req->worker, &err) == RC_OK)
            long_text_answer(req, &c->out, c->media);
        else
            call_fail(c, &err);
        return;
    }
    struct buf text = c->out.text; /* behind answer() the request may be over */
    req->response.status = 200;
    req->response.content_type = c->media;
    req->response.body = buf_slice(&text);
    answer(req);
    buf_release(&text);
}

/* ---- the writer ---- */

static void run_begin(struct call *);

static void committed(struct call *);

static void committed_again(struct job *job)
{
    committed(call_of(CONTAINER_OF(job, struct request, job)));
}

static enum rc publish(struct call *c, struct err *err)
{
    struct catalog *catalog = c->req->worker->server->catalog;
    struct type_row row;
    if (c->sets_level)
        catalog_level_put(catalog, c->revision, c->level);
    if (c->dropped)
        return catalog_drop(catalog, c->subject, c->dropped, err);
    if (!c->row.len)
        return RC_OK;
    return type_row_decode(c->row, &row, err) == RC_OK ? catalog_put(catalog, c->subject, &row, err) : RC_ERR;
}

/* It is in the store, and refused no more. */
static void committed(struct call *c)
{
    enum rc rc = publish(c, &c->err);
    if (rc == RC_ERR && c->err.code == ERR_NO_MEMORY) {
        reply_later(c->req, committed_again);
        return;
    }
    catalog_change_end(c->req->worker->server->catalog, &c->change);
    if (rc == RC_OK)
        call_answer(c);
    else
        call_fail(c, &c->err);
}

static void written(struct store_write *write)
{
    struct request *req = CONTAINER_OF(write, struct request, write);
    struct call *c = req->state;
    timing_lap_write(req, write);
    if (write->rc == RC_OK && write->replayed) {
        catalog_change_end(req->worker->server->catalog, &c->change);
        long_text_release(&c->out, req->worker);
        idem_answer_once_visible(req, write);
        return;
    }
    if (write->rc == RC_OK) {
        c->revision = write->revision; /* the write's memory may be the job's next */
        committed(c);
        return;
    }
    catalog_change_end(req->worker->server->catalog, &c->change);
    if (write->rc == RC_AGAIN) {
        run_begin(c);
        return;
    }
    if (write->rc == RC_ERR)
        c->err = write->err;
    else
        err_set(&c->err, ERR_INTERNAL, "The store answered a change of a subject in a way of its own.");
    call_fail(c, &c->err);
}

static enum rc decide(struct store_write *write, struct store_txn *txn, struct err *err)
{
    struct call *c = call_of(CONTAINER_OF(write, struct request, write));
    c->out.text.len = 0;
    c->row = (struct slice){0};
    c->dropped = 0;
    c->sets_level = false;
    enum rc rc = c->decide(c, txn, err);
    const struct idem_whole whole = {.lines = c->req->response.headers, .body = buf_slice(&c->out.text)};
    return rc == RC_OK && write->idem ? idem_note_whole(c->req, write->idem, &whole, err) : rc;
}

static void submit(struct call *c)
{
    struct request *req = c->req;
    struct catalog *catalog = req->worker->server->catalog;
    if (!catalog_change_begin(catalog, &c->change)) {
        err_oom(&c->err);
        call_fail(c, &c->err);
        return;
    }
    reply_write_init(&req->write, WRITE_CALL, written);
    req->write.key = (struct store_key){.space = SPACE_SUBJECT, .id = c->subject};
    req->write.call = decide;
    req->write.opens_group = c->opens_group;
    if (idem_attach(req, &req->write, IDEM_TELLS_TAG, &c->err) != RC_OK ||
        store_write(req->worker->store, &req->write, &c->err) != RC_PENDING) {
        catalog_change_end(catalog, &c->change);
        call_fail(c, &c->err);
    }
}

/* ---- the helper ---- */

static void run(struct job *job)
{
    struct call *c = call_of(CONTAINER_OF(job, struct request, job));
    c->store = job->store;
    c->out.text.len = 0;
    c->rc = c->run(c, &c->err);
    store_turn_end(job->store);
}

static void ran(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct call *c = req->state;
    timing_lap(req, STAGE_store);
    switch (c->rc) {
    case RC_OK:
        if (c->then)
            c->then(c);
        else
            call_answer(c);
        break;
    case RC_PENDING: submit(c); break;
    default: call_fail(c, &c->err);
    }
}

static void run_begin(struct call *c)
{
    c->req->job = (struct job){.run = run, .done = ran, .is_bulk = c->takes_long};
    if (worker_offload(c->req->worker, &c->req->job, &c->err) != RC_PENDING)
        call_fail(c, &c->err);
}

void call_run(struct request *req, enum rc (*how)(struct call *, struct err *))
{
    struct call *c = req->state;
    c->run = how;
    run_begin(c);
}
