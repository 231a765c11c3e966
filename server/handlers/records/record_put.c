/* server/handlers/records/record_put.c - writing and removing whole records, on verb and resource paths. */
#include <stddef.h>

#include "base/limits.h"
#include "server/handlers/bench.h"
#include "server/handlers/handlers.h"
#include "server/handlers/idem/idem.h"
#include "server/handlers/records/record.h"
#include "server/handlers/records/record_life.h"
#include "server/handlers/records/record_pack.h"
#include "server/handlers/reply.h"
#include "server/schema_load.h"
#include "server/target.h"
#include "server/timing.h"

struct put {
    struct record_input input; /* first: record_writer.c finds it in req->state */
    uint64_t bench_n;          /* 0: no benchmark */
    bool negotiated;           /* the body's form was found good before the body came */
    bool is_resource;          /* 201 when it was created */
    uint32_t ttl_s;            /* the life that is asked for; 0: none */
    uint8_t *lines;            /* room for header lines of the answer, taken before anything is stored */
};

/* ---- what is asked ---- */

static enum rc begin(struct request *req, struct put *p, struct err *err)
{
    enum rc rc = bench_asked(req, &p->bench_n, err);
    if (rc == RC_ERR)
        return rc;
    if (rc == RC_NOTFOUND &&
        condition_of_write(req->header[HEADER_IF_MATCH], req->header[HEADER_IF_NONE_MATCH], &req->arena,
                           &p->input.condition, err) != RC_OK)
        return RC_ERR;
    if (record_dry_asked(req, &p->input, err) != RC_OK || record_life_ask(req, &p->ttl_s, err) != RC_OK)
        return RC_ERR;
    const struct schema *schema = type_schema(req->type->latest);
    if (unlikely(!schema)) /* not since the start: what the body may be is known once it is loaded */
        return RC_OK;
    p->negotiated = true;
    return record_negotiate(req, schema, &p->input.encoding, err);
}

bool record_put_begin(struct request *req)
{
    struct err err;
    struct put *p = arena_calloc(&req->arena, 1, sizeof *p);
    if (!p) {
        reply_no_memory(req);
        return false;
    }
    p->input.field = -1;
    req->state = p;
    if (likely(begin(req, p, &err) == RC_OK))
        return true;
    answer_err(req, &err);
    return false;
}

/* ---- answers ---- */

static const struct slice location_label = {(const uint8_t *)"Location: /", 11};

/* expires_ms: of the record. */
static bool lines_reserve(struct request *req, struct put *p, int64_t expires_ms)
{
    size_t bytes = p->is_resource ? location_label.len + req->type_name.len + 1 + 3 * req->id.len + 2 : 0;
    if (unlikely(expires_ms))
        bytes += RECORD_LIFE_LINE_MAX;
    p->lines = bytes ? arena_alloc(&req->arena, bytes) : NULL;
    return !bytes || p->lines;
}

static uint8_t *location_print(const struct request *req, uint8_t *at)
{
    memcpy(at, location_label.ptr, location_label.len);
    at += location_label.len;
    memcpy(at, req->type_name.ptr, req->type_name.len);
    at += req->type_name.len;
    *at++ = '/';
    at += target_encode(req->id, at);
    memcpy(at, "\r\n", 2);
    return at + 2;
}

static void lines_add(struct request *req, const struct put *p, bool created, int64_t expires_ms)
{
    uint8_t *at = p->lines;
    if (created)
        at = location_print(req, at);
    if (unlikely(expires_ms))
        at += record_life_print(expires_ms, at);
    req->response.headers = slice_of(p->lines, (size_t)(at - p->lines));
}

static void answer_written(struct request *req)
{
    const struct put *p = req->state;
    if (unlikely(req->write.replayed)) {
        idem_answer(req, &req->write);
        return;
    }
    bool created = p && p->is_resource && req->write.created;
    record_tag(req, req->write.revision, req->type->latest);
    if (created || (p && p->lines))
        lines_add(req, p, created, req->write.expires_ms);
    answer_text(req, created ? 201 : 200, SLICE("OK"));
}

static void unexpected(struct request *req)
{
    struct err err;
    err_set(&err, ERR_INTERNAL, "The store answered a write in a way of its own.");
    answer_err(req, &err);
}

static void put_done(struct store_write *w)
{
    struct request *req = CONTAINER_OF(w, struct request, write);
    timing_lap_write(req, w);
    switch (w->rc) {
    case RC_OK: answer_written(req); break;
    case RC_NOTFOUND: reply_no_type(req); break; /* dropped meanwhile */
    case RC_CONFLICT: record_conflict(req); break;
    case RC_ERR: answer_err(req, &w->err); break;
    default: unexpected(req); break;
    }
}

/* ---- put ---- */

/* Avro binary that stands in the body is lent to the store, which copies it once; so is what is kept as it is, behind its
 * length. */
static enum rc put_parts(struct request *req, const struct record_input *in, struct slice avro,
                         struct stored_body *out, struct err *err)
{
    *out = (struct stored_body){.part = {avro}};
    if (unlikely(in->encoding && in->encoding->framing))
        return RC_OK;
    if (unlikely(!in->encoding))
        out->part[1] = req->body;
    return arena_copy(&req->arena, avro, &out->part[0]) ? RC_OK : err_oom(err);
}

static enum rc put_submit(struct request *req, const struct stored_body *body, struct err *err)
{
    struct put *p = req->state;
    struct store_write *w = &req->write;
    reply_write_init(w, WRITE_PUT, put_done);
    w->part[0] = body->part[0];
    w->part[1] = body->part[1];
    w->plain_bytes = body->plain_bytes;
    if (unlikely(!p->input.encoding))
        w->content_type = req->header[HEADER_CONTENT_TYPE];
    w->expires_ms = record_life_of_put(req, p->ttl_s);
    if (!lines_reserve(req, p, w->expires_ms))
        return err_oom(err);
    w->key = (struct store_key){.space = SPACE_RECORD, .type = req->type->number, .id = req->id};
    w->schema_id = p->input.version->schema_id;
    condition_attach(&p->input.condition, w);
    if (idem_attach(req, w, p->is_resource ? IDEM_TELLS_CREATED : IDEM_TELLS_TAG, err) != RC_OK)
        return RC_ERR;
    return store_write(req->worker->store, w, err);
}

static void put_packed(struct request *req, const struct stored_body *body)
{
    struct err err;
    if (put_submit(req, body, &err) == RC_ERR)
        answer_err(req, &err);
}

/* Of a type whose records are compressed. */
static COLD enum rc put_pack(struct request *req, const struct stored_body *body, struct err *err)
{
    struct packing *p = arena_alloc(&req->arena, sizeof *p);
    if (!p)
        return err_oom(err);
    *p = (struct packing){.req = req, .body = *body, .then = put_packed, .failed = answer_err};
    record_pack(p);
    return RC_PENDING;
}

static enum rc put(struct request *req, struct slice avro, struct err *err)
{
    const struct put *p = req->state;
    struct stored_body body;
    if (put_parts(req, &p->input, avro, &body, err) != RC_OK)
        return RC_ERR;
    if (record_packs(req->type, (uint64_t)body.part[0].len + body.part[1].len))
        return put_pack(req, &body, err);
    return put_submit(req, &body, err);
}

static void put_dry(struct request *req, const struct record *old)
{
    struct put *p = req->state;
    bool creates = p->is_resource && !old;
    int64_t expires_ms = record_life_of_put(req, p->ttl_s);
    if (!lines_reserve(req, p, expires_ms)) {
        reply_no_memory(req);
        return;
    }
    if (p->lines)
        lines_add(req, p, creates, expires_ms);
    record_dry_answer(req, creates ? 201 : 200);
}

static void put_encoded(struct request *req, struct slice avro)
{
    const struct put *p = req->state;
    struct err err;
    if (unlikely(p->input.dry_run)) {
        if (record_check_size(req, req->type, record_bytes(req, avro), &err) == RC_OK)
            record_dry_read(req, put_dry);
        else
            answer_err(req, &err);
    } else if (put(req, avro, &err) == RC_ERR) {
        answer_err(req, &err);
    }
}

/* A type may have become raw, or ceased to be: what is kept as it is goes by the version that is written. */
static enum rc put_renegotiate(struct request *req, struct put *p, struct err *err)
{
    const struct record_input *in = &p->input;
    if (likely(in->version == req->type->latest))
        return RC_OK;
    return record_negotiate(req, type_schema(in->version), &p->input.encoding, err);
}

static void put_checked(struct request *req)
{
    struct put *p = req->state;
    struct err err;
    if (put_renegotiate(req, p, &err) != RC_OK)
        answer_err(req, &err);
    else if (p->bench_n)
        bench_put(req, p->bench_n);
    else
        record_encode(req, &p->input, put_encoded);
}

static void put_ready(struct request *req)
{
    struct put *p = req->state;
    struct err err;
    if (!p->negotiated &&
        record_negotiate(req, type_schema(req->type->latest), &p->input.encoding, &err) != RC_OK)
        answer_err(req, &err);
    else
        record_find_writer(req, &p->input, put_checked);
}

void record_put_handle(struct request *req)
{
    schema_load(req, req->type->latest, put_ready);
}

void resource_put_handle(struct request *req)
{
    struct put *p = req->state;
    p->is_resource = true;
    schema_load(req, req->type->latest, put_ready);
}

/* ---- delete ---- */

static void delete_done(struct store_write *w)
{
    struct request *req = CONTAINER_OF(w, struct request, write);
    if (w->rc == RC_NOTFOUND) {
        timing_lap_write(req, w);
        record_absent(req);
    } else {
        put_done(w);
    }
}

bool record_delete_begin(struct request *req)
{
    struct err err;
    struct put *p = arena_calloc(&req->arena, 1, sizeof *p);
    if (!p) {
        reply_no_memory(req);
        return false;
    }
    req->state = p;
    if (condition_of_write(req->header[HEADER_IF_MATCH], req->header[HEADER_IF_NONE_MATCH], &req->arena,
                           &p->input.condition, &err) == RC_OK)
        return true;
    answer_err(req, &err);
    return false;
}

void record_delete_handle(struct request *req)
{
    struct put *p = req->state;
    struct err err;
    reply_write_init(&req->write, WRITE_DELETE, delete_done);
    req->write.key = (struct store_key){.space = SPACE_RECORD, .type = req->type->number, .id = req->id};
    condition_attach(&p->input.condition, &req->write);
    if (!lines_reserve(req, p, 0))
        reply_no_memory(req);
    else if (idem_attach(req, &req->write, IDEM_TELLS_TAG, &err) != RC_OK)
        answer_err(req, &err);
    else if (store_write(req->worker->store, &req->write, &err) == RC_ERR)
        answer_err(req, &err);
}
