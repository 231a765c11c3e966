/* server/handlers/records/record_print.c - a record in the form in which it leaves: made by the worker if it is short, else by a
 * helper, which reads the body itself, so that the worker is not held up; and sent piece by piece. */
#include "server/handlers/records/record_print.h"

#include <assert.h>
#include <stddef.h>

#include "base/limits.h"
#include "schema/edit.h"
#include "server/handlers/records/record.h"

/* ---- forms ---- */

size_t record_frame(const struct record_form *f, uint8_t out[FRAME_BYTES_MAX])
{
    const struct writer_id writer = {.fingerprint = schema_fingerprint(f->schema),
                                     .schema_id = f->reading.reader->schema_id};
    f->framing->write(&writer, out);
    return f->framing->bytes;
}

/* What the path finds. Who has not much room has not much time either. */
static COLD enum rc put_found(const struct record_form *f, size_t bytes_max, struct slice avro,
                              struct buf *out, struct err *err)
{
    struct arena scratch = {0};
    bool brief = bytes_max <= LIMIT_PRINT_INLINE_MAX;
    enum rc rc = path_select(f->path, f->json, brief, bytes_max, avro, out, &scratch, err);
    arena_release(&scratch);
    return rc;
}

/* Append the datum of the reader's in its form. */
static enum rc put_form(const struct record_form *f, size_t bytes_max, struct slice avro, struct buf *out,
                        struct err *err)
{
    if (unlikely(f->projection != NULL))
        return projection_print(f->projection, f->json, bytes_max, avro, out, err);
    if (unlikely(f->path != NULL))
        return put_found(f, bytes_max, avro, out, err);
    if (likely(!f->framing))
        return codec_to_json_within(f->schema, f->field, f->json, bytes_max, avro, out, err);
    if (!buf_reserve(out, FRAME_BYTES_MAX + avro.len))
        return err_oom(err);
    out->len += record_frame(f, out->ptr + out->len);
    return buf_append(out, avro) ? RC_OK : err_oom(err);
}

/* ---- on the worker ---- */

static bool is_in_chunks(const struct record *rec)
{
    return !rec->body.ptr && rec->body_bytes;
}

/* *avro: what it is in the version in which it is shown, in memory of the worker's. */
static enum rc resolve_here(struct worker *w, const struct record_form *f, struct slice *avro,
                            struct arena *arena, struct err *err)
{
    struct buf *out = &w->resolved;
    out->len = 0;
    enum rc rc = reading_resolve(&f->reading, LIMIT_PRINT_INLINE_MAX, *avro, out, arena, err);
    *avro = buf_slice(out);
    return rc;
}

static bool takes_long(const struct record_form *f, enum rc rc, const struct err *err)
{
    return rc == RC_ERR && (err->code == ERR_JSON_TOO_LARGE || err->code == ERR_RECORD_TOO_LARGE ||
                            (f->path && err->code == ERR_TOO_MUCH_WORK));
}

enum rc record_print_here(struct worker *w, const struct record_form *f, const struct record *rec,
                          struct buf *out, struct arena *arena, struct err *err)
{
    struct buf joined = {0};
    struct slice avro = rec->body;
    enum rc rc = RC_OK;
    if (rec->body_bytes > LIMIT_PRINT_INLINE_MAX)
        return RC_AGAIN;
    if (is_in_chunks(rec)) {
        rc = record_join(w->store, rec, &joined, err);
        avro = buf_slice(&joined);
    }
    if (rc == RC_OK && unlikely(f->reading.resolver != NULL))
        rc = resolve_here(w, f, &avro, arena, err);
    if (rc == RC_OK)
        rc = put_form(f, LIMIT_PRINT_INLINE_MAX, avro, out, err);
    buf_release(&joined);
    return takes_long(f, rc, err) ? RC_AGAIN : rc;
}

/* ---- on a helper ---- */

static enum rc print(struct record_text *t, struct slice avro)
{
    const struct record_form *f = &t->form;
    struct buf resolved = {0};
    enum rc rc = RC_OK;
    if (f->reading.resolver) {
        rc = reading_resolve(&f->reading, LIMIT_RECORD_MAX, avro, &resolved, t->arena, &t->err);
        avro = buf_slice(&resolved);
    }
    if (rc == RC_OK)
        rc = put_form(f, LIMIT_JSON_MAX, avro, &t->text.text, &t->err);
    buf_release(&resolved);
    if (rc == RC_OK && !buf_append(&t->text.text, t->behind))
        return err_oom(&t->err);
    return rc;
}

static enum rc join_and_print(struct record_text *t)
{
    struct buf joined = {0};
    enum rc rc = record_join(t->job.store, &t->rec, &joined, &t->err);
    if (rc == RC_OK)
        rc = print(t, buf_slice(&joined));
    buf_release(&joined);
    return rc;
}

/* What it takes meanwhile is counted by the length of the record, what stays by its own. */
static enum rc print_counted(struct record_text *t)
{
    struct worker *w = t->job.worker;
    uint64_t bytes = t->form.reading.resolver ? t->rec.body_bytes * 2 : t->rec.body_bytes;
    if (!answer_memory_take(w, bytes))
        return err_set(&t->err, ERR_NO_MEMORY, "Too many answers wait for slow clients; try again.");
    enum rc rc = is_in_chunks(&t->rec) ? join_and_print(t) : print(t, t->rec.body);
    answer_memory_give(w, bytes);
    return rc == RC_OK ? long_text_count(&t->text, w, &t->err) : rc;
}

static void help(struct job *job)
{
    struct record_text *t = CONTAINER_OF(job, struct record_text, job);
    t->rc = print_counted(t);
}

static void helped(struct job *job)
{
    struct record_text *t = CONTAINER_OF(job, struct record_text, job);
    t->done(t);
}

static void prepare(struct record_text *t)
{
    t->job = (struct job){.is_bulk = true, .run = help, .done = helped};
}

enum rc record_print(struct record_text *t, struct err *err)
{
    prepare(t);
    return worker_offload(t->req->worker, &t->job, err);
}

void record_print_always(struct record_text *t)
{
    prepare(t);
    worker_offload_always(t->req->worker, &t->job);
}

/* ---- the text, going out ---- */

void record_text_release(struct record_text *t)
{
    if (t->req) /* else nothing was ever printed */
        long_text_release(&t->text, t->req->worker);
}

enum rc record_text_more(struct record_text *t, struct buf *out, size_t room)
{
    return long_text_more(&t->text, out, room);
}

static enum rc more(struct request *req, struct buf *out, size_t room)
{
    return record_text_more(req->state, out, room);
}

static void end(struct request *req)
{
    record_text_release(req->state);
}

void record_text_answer(struct record_text *t)
{
    static const struct stream stream = {.more = more, .end = end};
    assert(t->rc == RC_OK && t->req->state == t);
    t->req->response.stream = &stream;
    t->req->response.stream_bytes = t->text.text.len;
    answer(t->req);
}
