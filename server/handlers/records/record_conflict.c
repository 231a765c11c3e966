/* server/handlers/records/record_conflict.c - 412 with the record as it is now. */
#include <stddef.h>

#include "server/handlers/idem/idem.h"
#include "server/handlers/records/record.h"
#include "server/handlers/records/record_print.h"
#include "server/handlers/reply.h"
#include "server/json_form.h"
#include "server/timing.h"

static void condition_failed(const struct request *req, struct err *err)
{
    err_set(err, ERR_CONDITION_FAILED, "The condition failed; `current` is the record as it is now.");
    err->operation = req->operation;
}

static void answer_failed(struct request *req, struct slice current)
{
    struct err err;
    condition_failed(req, &err);
    answer_err_with(req, &err, current);
}

/* It was replaced while it was read. */
static void answer_changed(struct request *req)
{
    struct err err;
    err_set(&err, ERR_CONDITION_FAILED, "The condition failed; the record has changed again since.");
    err.operation = req->operation;
    answer_err(req, &err);
}

/* Without the record the verdict stands; for want of memory it is better asked again. */
static void answer_without(struct request *req, const struct err *why)
{
    struct err err;
    if (err_status(why->code) == 503) {
        answer_err(req, why);
        return;
    }
    err_set(&err, ERR_CONDITION_FAILED, "The condition failed; the record as it is now cannot be shown: %s",
            why->message);
    err.operation = req->operation;
    answer_err(req, &err);
}

static bool open_current(struct buf *out, uint64_t revision)
{
    return buf_printf(out, "\"current\":{\"revision\":%llu,\"record\":", (unsigned long long)revision);
}

/* ---- a long record ---- */

static void helped(struct record_text *text)
{
    struct request *req = text->req;
    timing_lap(req, STAGE_encode);
    if (text->rc == RC_OK) {
        req->response.status = 412;
        req->response.content_type = "application/problem+json";
        record_text_answer(text);
        return;
    }
    record_text_release(text);
    if (text->rc == RC_NOTFOUND)
        answer_changed(req);
    else
        answer_without(req, &text->err);
}

static enum rc get_help(struct request *req, const struct record_form *form, const struct record *rec,
                        struct err *err)
{
    struct err failed;
    struct record_text *t = arena_calloc(&req->arena, 1, sizeof *t);
    if (!t)
        return err_oom(err);
    *t = (struct record_text){
        .req = req, .form = *form, .rec = *rec, .behind = SLICE("}}"), .arena = &req->arena, .done = helped};
    if (!record_body_keep(&req->arena, &t->rec))
        return err_oom(err);
    condition_failed(req, &failed);
    if (!err_print_open(&t->text.text, &failed) || !buf_append_byte(&t->text.text, ',') ||
        !open_current(&t->text.text, rec->revision)) {
        buf_release(&t->text.text);
        return err_oom(err);
    }
    req->state = t;
    enum rc rc = record_print(t, err);
    if (rc == RC_ERR)
        record_text_release(t);
    return rc;
}

/* ---- a short one ---- */

/* `"current":{"revision":7,"record":...}` in the scratch. RC_PENDING: a helper prints it. */
static enum rc current_print(struct request *req, const struct record_form *form, const struct record *rec,
                             struct err *err)
{
    struct buf *text = &req->worker->scratch;
    text->len = 0;
    if (!open_current(text, rec->revision))
        return err_oom(err);
    enum rc rc = record_print_here(req->worker, form, rec, text, &req->arena, err);
    if (rc == RC_AGAIN)
        return get_help(req, form, rec, err);
    if (rc == RC_OK && !buf_append_byte(text, '}'))
        return err_oom(err);
    return rc;
}

static void answer_current(struct request *req, const struct reading *reading, const struct record *rec)
{
    const struct record_form form = {.schema = type_schema(reading->reader),
                                     .reading = *reading,
                                     .field = -1,
                                     .json = json_form_of(req, JSON_PLAIN)};
    struct err err;
    if (!req->operation) /* else the record is not what the request is about */
        record_tag(req, rec->revision, reading->reader);
    enum rc rc = current_print(req, &form, rec, &err);
    timing_lap(req, STAGE_encode);
    switch (rc) {
    case RC_OK: answer_failed(req, buf_slice(&req->worker->scratch)); break;
    case RC_PENDING: break;
    case RC_NOTFOUND: answer_changed(req); break;
    default: answer_without(req, &err); break;
    }
    reply_scratch_done(req->worker);
}

static void current_read(struct store_get *get)
{
    struct request *req = CONTAINER_OF(get, struct request, get);
    timing_lap(req, STAGE_store);
    if (get->rc == RC_NOTFOUND) {
        answer_failed(req, SLICE("\"current\":null"));
        return;
    }
    if (get->rc != RC_OK) {
        answer_without(req, &get->err);
        return;
    }
    struct reading reading;
    if (record_reading(req, &get->rec, record_conflict, &reading) == RC_OK)
        answer_current(req, &reading, &get->rec);
}

void record_conflict(struct request *req)
{
    if (unlikely(req->look) && idem_look_first(req, record_conflict))
        return;
    req->get.key = (struct store_key){.space = SPACE_RECORD, .type = req->type->number, .id = req->id};
    req->get.done = current_read;
    store_get(req->worker->store, &req->get);
}
