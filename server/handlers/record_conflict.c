/* server/handlers/record_conflict.c - 412 with the record as it is now. */
#include <stddef.h>

#include "base/num.h"
#include "server/handlers/record.h"
#include "server/handlers/reply.h"
#include "server/schema_load.h"

static void answer_failed(struct request *req, struct slice current)
{
    struct err err;
    err_set(&err, ERR_CONDITION_FAILED, "The condition failed; `current` is the record as it is now.");
    answer_err_with(req, &err, current);
}

/* `"current":{"revision":7,"record":...}` in the arena; empty if that cannot be. */
static struct slice current_print(struct request *req, const struct type_version *v, const struct record *rec)
{
    const struct schema *schema = type_schema(v);
    enum json_form form = schema_raw(schema) == SCHEMA_RAW_NONE ? JSON_PLAIN : JSON_AVRO;
    struct buf *out = &req->worker->scratch;
    struct slice copy = {0};
    struct err err;
    out->len = 0;
    bool ok =
        buf_printf(out, "\"current\":{\"revision\":%llu,\"record\":", (unsigned long long)rec->revision) &&
        codec_to_json(req->worker->codec, schema, form, rec->body, out, &err) == RC_OK &&
        buf_append_byte(out, '}') && arena_copy(&req->arena, buf_slice(out), &copy);
    reply_scratch_done(req->worker);
    return ok ? copy : (struct slice){0};
}

static void current_read(struct store_get *get)
{
    struct request *req = CONTAINER_OF(get, struct request, get);
    if (get->rc == RC_NOTFOUND) {
        answer_failed(req, SLICE("\"current\":null"));
        return;
    }
    if (get->rc != RC_OK) { /* the verdict stands without it */
        answer_failed(req, (struct slice){0});
        return;
    }
    const struct type_version *v = record_version(req, &get->rec);
    if (!v || !record_whole(req, &get->rec))
        return;
    if (!type_schema(v)) {
        schema_load(req, v, record_conflict);
        return;
    }
    req->response.etag_revision = get->rec.revision;
    req->response.etag_version = v->number;
    answer_failed(req, current_print(req, v, &get->rec));
}

void record_conflict(struct request *req)
{
    req->get.key = (struct store_key){.space = SPACE_RECORD, .type = req->type->number, .id = req->id};
    req->get.done = current_read;
    store_get(req->worker->store, &req->get);
}
