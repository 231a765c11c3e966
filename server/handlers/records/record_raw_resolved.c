/* server/handlers/records/record_raw_resolved.c - the content of a raw type ("bytes", "string") that was written under another
 * version and is not the same bytes in this one, or may not be, or that is packed: a helper reads it through, and it
 * leaves from memory. */
#include <stddef.h>

#include "server/handlers/records/long_text.h"
#include "server/handlers/records/record.h"
#include "server/handlers/reply.h"
#include "server/timing.h"

/* In the request's arena; req->state. */
struct resolved {
    struct shown shown;
    struct reading reading;
    struct record rec; /* its body in the arena, or in chunks */
    const char *content_type;
    struct long_text text;
    size_t prefix; /* bytes of the text before the content */
    enum rc rc;
    struct err err;
};

/* ---- on a helper ---- */

static enum rc resolve(struct request *req, struct resolved *r, struct slice avro)
{
    struct buf *out = &r->text.text;
    if (r->reading.resolver &&
        reading_resolve(&r->reading, SIZE_MAX, avro, out, &req->arena, &r->err) != RC_OK)
        return RC_ERR;
    if (codec_raw_prefix(buf_slice(out), out->len, &r->prefix, &r->err) != RC_OK)
        return RC_ERR;
    return long_text_count(&r->text, req->worker, &r->err);
}

static void help(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct resolved *r = req->state;
    struct buf joined = {0};
    struct slice avro = r->rec.body;
    r->rc = RC_OK;
    if (!avro.ptr && r->rec.body_bytes) { /* where nothing is to be resolved it is the text at once */
        struct buf *to = r->reading.resolver ? &joined : &r->text.text;
        r->rc = record_join(job->store, &r->rec, to, &r->err);
        avro = buf_slice(to);
    }
    if (r->rc == RC_OK)
        r->rc = resolve(req, r, avro);
    buf_release(&joined);
}

/* ---- on the worker ---- */

static enum rc more(struct request *req, struct buf *out, size_t room)
{
    struct resolved *r = req->state;
    return long_text_more(&r->text, out, room);
}

static void end(struct request *req)
{
    struct resolved *r = req->state;
    long_text_release(&r->text, req->worker);
}

static void send_part(struct request *req, struct resolved *r, const struct range *part)
{
    static const struct stream stream = {.more = more, .end = end};
    r->text.sent = r->prefix + (size_t)part->first;
    r->text.text.len = r->text.sent + (size_t)part->bytes;
    req->response.content_type = r->content_type;
    req->response.stream = &stream;
    req->response.stream_bytes = part->bytes;
    answer(req);
}

static void helped(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct resolved *r = req->state;
    struct range part;
    timing_lap(req, STAGE_encode);
    if (r->rc == RC_OK)
        r->rc = record_raw_part(req, &r->shown, r->text.text.len - r->prefix, &part, &r->err);
    if (r->rc == RC_OK) {
        send_part(req, r, &part);
        return;
    }
    long_text_release(&r->text, req->worker);
    if (r->rc == RC_NOTFOUND) { /* replaced, and its chunks purged, while it waited */
        response_reset(req);
        r->shown.again(req);
    } else if (record_is_damage(&r->err)) {
        record_damaged(req, r->err.message);
    } else {
        answer_err(req, &r->err);
    }
}

void record_show_raw_resolved(struct request *req, const struct shown *s, const char *content_type)
{
    const struct resolved *before = req->state;
    struct resolved *r = arena_calloc(&req->arena, 1, sizeof *r);
    struct err err;
    if (r)
        r->rec = *s->rec;
    if (!r || !record_body_keep(&req->arena, &r->rec)) {
        reply_no_memory(req);
        return;
    }
    r->reading = *s->reading;
    r->shown = (struct shown){.reading = &r->reading, .rec = &r->rec, .again = s->again};
    r->content_type = content_type;
    if (before && before->rec.revision == s->rec->revision) {
        record_damaged(req, "chunks of its body are missing");
        return;
    }
    req->state = r;
    req->job = (struct job){.is_bulk = true, .run = help, .done = helped};
    if (worker_offload(req->worker, &req->job, &err) == RC_ERR)
        answer_err(req, &err);
}
