/* server/handlers/record_conflict.c - 412 with the record as it is now. */
#include <stddef.h>

#include "base/num.h"
#include "server/handlers/record.h"
#include "server/handlers/reply.h"
#include "server/schema_load.h"
#include "server/timing.h"

static void answer_failed(struct request *req, struct slice current)
{
    struct err err;
    err_set(&err, ERR_CONDITION_FAILED, "The condition failed; `current` is the record as it is now.");
    answer_err_with(req, &err, current);
}

/* `"current":{"revision":7,"record":...}` in the arena. */
static enum rc current_print(struct request *req, const struct type_version *v, const struct record *rec,
                             struct slice *out, struct err *err)
{
    const struct schema *schema = type_schema(v);
    enum json_form form = schema_raw(schema) == SCHEMA_RAW_NONE ? JSON_PLAIN : JSON_AVRO;
    struct buf *text = &req->worker->scratch;
    text->len = 0;
    if (!buf_printf(text, "\"current\":{\"revision\":%llu,\"record\":", (unsigned long long)rec->revision))
        return err_oom(err);
    if (codec_to_json(schema, form, rec->body, text, err) != RC_OK)
        return RC_ERR;
    if (!buf_append_byte(text, '}') || !arena_copy(&req->arena, buf_slice(text), out))
        return err_oom(err);
    return RC_OK;
}

/* Without the record the verdict stands; for want of memory it is better asked again. */
static void answer_without(struct request *req, const struct err *err)
{
    if (err->code == ERR_NO_MEMORY)
        answer_err(req, err);
    else
        answer_failed(req, (struct slice){0});
}

static void answer_current(struct request *req, const struct type_version *v, struct record *rec)
{
    struct buf joined = {0};
    struct slice current;
    struct err err;
    if (record_join(req, rec, &joined)) {
        req->response.etag_revision = rec->revision;
        req->response.etag_version = v->number;
        enum rc rc = current_print(req, v, rec, &current, &err);
        timing_lap(req, STAGE_encode);
        if (rc == RC_OK)
            answer_failed(req, current);
        else
            answer_without(req, &err);
        reply_scratch_done(req->worker);
    }
    buf_release(&joined);
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
    const struct type_version *v = record_version(req, &get->rec);
    if (!v)
        return;
    if (type_schema(v))
        answer_current(req, v, &get->rec);
    else
        schema_load(req, v, record_conflict);
}

void record_conflict(struct request *req)
{
    req->get.key = (struct store_key){.space = SPACE_RECORD, .type = req->type->number, .id = req->id};
    req->get.done = current_read;
    store_get(req->worker->store, &req->get);
}
