/* server/handlers/field_put.c - replacing one top-level field of a stored record: an edit inside the writer's
 * transaction, so that two fields of a record can be put at the same time. */
#include <assert.h>
#include <stddef.h>

#include "server/handlers/handlers.h"
#include "server/handlers/record.h"
#include "server/handlers/record_life.h"
#include "server/handlers/reply.h"
#include "server/negotiate.h"
#include "server/schema_load.h"
#include "server/server.h"
#include "server/timing.h"
#include "server/words.h"

struct field_put {
    struct record_input input;
    struct slice value; /* its Avro binary, in the arena */
    int64_t expires_ms; /* of the record, as the last run of the edit leaves it */
    bool absent;        /* the last run of the edit found no record */
    bool damaged;       /* ... or one that is not Avro of its schema */
    uint32_t other_id;  /* ... or one of another schema, which must be at hand to read it; else 0 */
};

static enum rc begin(struct request *req, struct field_put *f, struct err *err)
{
    if (negotiate_whole_body(req->header[HEADER_CONTENT_RANGE], err) != RC_OK ||
        negotiate_record_body(req->header[HEADER_CONTENT_TYPE], req->header[HEADER_CONTENT_ENCODING],
                              FORMS_TEXT, &f->input.encoding, err) != RC_OK ||
        record_dry_asked(req, &f->input, err) != RC_OK)
        return RC_ERR;
    return condition_of_write(req->header[HEADER_IF_MATCH], req->header[HEADER_IF_NONE_MATCH], &req->arena,
                              &f->input.condition, err);
}

bool field_put_begin(struct request *req)
{
    struct err err;
    struct field_put *f = arena_calloc(&req->arena, 1, sizeof *f);
    if (!f) {
        reply_no_memory(req);
        return false;
    }
    req->state = f;
    if (begin(req, f, &err) == RC_OK)
        return true;
    answer_err(req, &err);
    return false;
}

/* ---- the edit; writer thread ---- */

/* `avro` with the field's bytes exchanged, in the request's arena. */
static enum rc replace(struct request *req, struct slice avro, struct slice *out, struct err *err)
{
    struct field_put *f = req->state;
    const struct schema *schema = type_schema(req->type->latest);
    struct slice span;
    f->damaged = codec_field_span(schema, f->input.field, avro, &span, err) != RC_OK;
    if (f->damaged)
        return RC_ERR;
    size_t before = (size_t)(span.ptr - avro.ptr), behind = avro.len - before - span.len;
    uint8_t *p = arena_alloc(&req->arena, before + f->value.len + behind);
    if (!p)
        return err_oom(err);
    if (before)
        memcpy(p, avro.ptr, before);
    if (f->value.len)
        memcpy(p + before, f->value.ptr, f->value.len);
    if (behind)
        memcpy(p + before + f->value.len, span.ptr + span.len, behind);
    *out = slice_of(p, before + f->value.len + behind);
    if (codec_check_items(schema, *out, err) == RC_OK)
        return RC_OK;
    f->damaged = err->code == ERR_BAD_AVRO;
    return RC_ERR;
}

/* What the record is in the latest version, in the request's arena. RC_AGAIN: what leads there must be made first. */
static enum rc read_as_latest(struct request *req, const struct record *old, struct slice *out,
                              struct err *err)
{
    struct field_put *f = req->state;
    struct reading reading;
    struct buf resolved = {0};
    *out = old->body;
    if (likely(old->schema_id == req->type->latest->schema_id))
        return RC_OK;
    if (reading_find(req, old->schema_id, req->type->latest, &reading) != RC_OK) {
        f->other_id = old->schema_id;
        return RC_AGAIN;
    }
    if (!reading.resolver)
        return RC_OK;
    enum rc rc = reading_resolve(&reading, SIZE_MAX, old->body, &resolved, &req->arena, err);
    if (rc == RC_OK && !arena_copy(&req->arena, buf_slice(&resolved), out))
        rc = err_oom(err);
    buf_release(&resolved);
    f->damaged = rc == RC_ERR && record_is_damage(err);
    return rc;
}

static enum rc edit_record(struct request *req, const struct record *old, struct record *fresh,
                           struct err *err)
{
    struct field_put *f = req->state;
    const struct type_version *latest = req->type->latest;
    struct slice avro = schema_initial(type_schema(latest));
    f->absent = !old;
    f->damaged = false;
    f->other_id = 0;
    if (!old && !req->worker->server->options->astore)
        return RC_NOTFOUND;
    enum rc rc = old ? read_as_latest(req, old, &avro, err) : RC_OK;
    fresh->schema_id = latest->schema_id;
    fresh->expires_ms = f->expires_ms = record_life_of_edit(req, old);
    return rc == RC_OK ? replace(req, avro, &fresh->body, err) : rc;
}

static enum rc edit(struct store_write *w, const struct record *old, struct record *fresh, struct err *err)
{
    return edit_record(CONTAINER_OF(w, struct request, write), old, fresh, err);
}

/* ---- on the worker ---- */

/* The edit has met a record of another version. */
static void prepare(struct request *req)
{
    const struct field_put *f = req->state;
    struct reading reading;
    struct err err;
    enum rc rc = reading_find(req, f->other_id, req->type->latest, &reading);
    if (rc == RC_NOTFOUND) { /* of one that was registered since: the field is to be one of it */
        rc = catalog_renew(req, &err);
        if (rc == RC_OK && !type_version_of_schema(req->type, f->other_id))
            rc = RC_CONFLICT;
    }
    switch (rc) {
    case RC_OK: field_put_handle(req); break;
    case RC_AGAIN: reading_load(req, &reading, field_put_handle); break;
    case RC_NOTFOUND: reply_no_type(req); break; /* dropped meanwhile */
    case RC_CONFLICT: record_damaged(req, "no version of its type has its schema"); break;
    default: answer_err(req, &err);
    }
}

/* rc is no OK. */
static COLD void answer_refusal(struct request *req, enum rc rc, const struct err *err)
{
    const struct field_put *f = req->state;
    if (rc == RC_AGAIN)
        prepare(req);
    else if (rc == RC_CONFLICT)
        record_conflict(req);
    else if (rc == RC_ERR && f->damaged)
        record_damaged(req, err->message);
    else if (rc == RC_ERR)
        answer_err(req, err);
    else if (f->absent)
        record_absent(req);
    else
        reply_no_type(req); /* dropped meanwhile */
}

static void edit_done(struct store_write *w)
{
    struct request *req = CONTAINER_OF(w, struct request, write);
    const struct field_put *f = req->state;
    timing_lap_write(req, w);
    if (w->rc != RC_OK) {
        answer_refusal(req, w->rc, &w->err);
        return;
    }
    req->response.etag_revision = w->revision;
    req->response.etag_version = req->type->latest->number;
    bool told = record_life_tell(req, f->expires_ms);
    assert(told); /* it was reserved */
    reply_ok(req);
}

/* ---- ?dry_run=1 ---- */

/* An edit of a record in chunks, which a helper reads. In the request's arena. */
struct dry {
    struct job job;
    struct request *req;
    struct record old;
    bool gone; /* its chunks went meanwhile: it was replaced */
    enum rc rc;
    struct err err;
};

static void dry_answer(struct request *req, enum rc rc, const struct record *fresh, struct err *err)
{
    const struct field_put *f = req->state;
    if (rc == RC_OK)
        rc = record_check_size(req, fresh->body.len, err);
    if (rc == RC_OK && !record_life_tell(req, f->expires_ms))
        rc = err_oom(err);
    if (rc == RC_OK)
        record_dry_answer(req, 200);
    else
        answer_refusal(req, rc, err);
}

static void dry_help(struct job *job)
{
    struct dry *d = CONTAINER_OF(job, struct dry, job);
    struct buf joined = {0};
    struct record fresh = {0};
    d->rc = record_join(job->store, &d->old, &joined, &d->err);
    d->gone = d->rc == RC_NOTFOUND;
    if (d->rc == RC_OK) {
        d->old.body = buf_slice(&joined);
        d->rc = edit_record(d->req, &d->old, &fresh, &d->err);
    }
    if (d->rc == RC_OK)
        d->rc = record_check_size(d->req, fresh.body.len, &d->err);
    buf_release(&joined);
}

static void dry_found(struct request *, const struct record *);

static void dry_helped(struct job *job)
{
    struct dry *d = CONTAINER_OF(job, struct dry, job);
    if (d->gone)
        record_dry_read(d->req, dry_found);
    else
        dry_answer(d->req, d->rc, &(struct record){0}, &d->err);
}

static enum rc dry_get_help(struct request *req, const struct record *old, struct err *err)
{
    struct dry *d = arena_alloc(&req->arena, sizeof *d);
    if (!d)
        return err_oom(err);
    *d = (struct dry){.job = {.is_bulk = true, .run = dry_help, .done = dry_helped},
                      .req = req,
                      .old = {.schema_id = old->schema_id,
                              .expires_ms = old->expires_ms,
                              .blob = old->blob,
                              .body_bytes = old->body_bytes}};
    return worker_offload(req->worker, &d->job, err);
}

static void dry_found(struct request *req, const struct record *old)
{
    struct record fresh = {0};
    struct err err;
    enum rc rc;
    if (old && !old->body.ptr && old->body_bytes)
        rc = dry_get_help(req, old, &err);
    else
        rc = edit_record(req, old, &fresh, &err);
    if (rc != RC_PENDING)
        dry_answer(req, rc, &fresh, &err);
}

/* ---- what is put ---- */

static enum rc submit(struct request *req, struct slice avro, struct err *err)
{
    struct field_put *f = req->state;
    struct store_write *w = &req->write;
    if (!arena_copy(&req->arena, avro, &f->value) || !response_reserve(req, RECORD_LIFE_LINE_MAX))
        return err_oom(err);
    if (unlikely(f->input.dry_run)) {
        record_dry_read(req, dry_found);
        return RC_PENDING;
    }
    reply_write_init(w, WRITE_EDIT, edit_done);
    w->key = (struct store_key){.space = SPACE_RECORD, .type = req->type->number, .id = req->id};
    w->schema_id = req->type->latest->schema_id;
    w->edit = edit;
    condition_attach(&f->input.condition, w);
    return store_write(req->worker->store, w, err);
}

static void encoded(struct request *req, struct slice avro)
{
    struct err err;
    if (submit(req, avro, &err) == RC_ERR)
        answer_err(req, &err);
}

/* A field becomes one of a record of the latest version. */
static enum rc find_field(struct request *req, struct record_input *in, struct err *err)
{
    const struct type_version *latest = req->type->latest;
    struct words name, type;
    words_of(req->type_name, &type);
    if (in->version != latest)
        return err_set(err, ERR_OTHER_VERSION,
                       "Schema-Version says %u; a field is put in the latest version of '%s', which is %u.",
                       in->version->number, type.text, latest->number);
    in->field = schema_field(type_schema(latest), req->field);
    if (in->field < 0)
        return err_set(err, ERR_NO_FIELD, "Version %u of '%s' has no field '%s'.", latest->number, type.text,
                       words_of(req->field, &name));
    return RC_OK;
}

static void writer_found(struct request *req)
{
    struct field_put *f = req->state;
    struct err err;
    if (find_field(req, &f->input, &err) == RC_OK)
        record_encode(req, &f->input, encoded);
    else
        answer_err(req, &err);
}

static void ready(struct request *req)
{
    struct field_put *f = req->state;
    record_find_writer(req, &f->input, writer_found);
}

void field_put_handle(struct request *req)
{
    schema_load(req, req->type->latest, ready);
}
