/* server/handlers/record_raw.c - the content of a raw type ("bytes", "string") as it was put: whole or a range of it. */
#include <stdio.h>

#include "base/limits.h"
#include "server/handlers/record.h"
#include "server/handlers/reply.h"
#include "server/range.h"

/* ---- what is short ---- */

/* Its chunks are not worth a call of the kernel's of their own. */
enum { COPIED_MAX = 2 * LIMIT_CHUNK_BYTES };

/* Into the scratch: the store's own bytes may be dead before the answer leaves. One that is longer stays where it is. */
static enum rc copy_short(struct request *req, const struct record *rec, struct record *copied,
                          struct err *err)
{
    struct buf *out = &req->worker->scratch;
    out->len = 0;
    *copied = *rec;
    if (!rec->body.ptr && rec->body_bytes) {
        if (rec->body_bytes > COPIED_MAX)
            return RC_OK;
        enum rc rc = record_join(req->worker->store, rec, out, err);
        if (rc != RC_OK)
            return rc;
    } else if (!buf_append(out, rec->body)) {
        return err_oom(err);
    }
    copied->body = buf_slice(out);
    return RC_OK;
}

static void send_copy(struct request *req, struct slice content)
{
    req->response.body = content;
    answer(req);
}

/* ---- which part ---- */

static enum rc prefix_bytes(struct request *req, const struct record *rec, size_t *out, struct err *err)
{
    struct slice begin = rec->body;
    unsigned n = 1;
    if (!rec->body.ptr && rec->body_bytes) {
        enum rc rc = store_chunks(req->worker->store, rec, 0, &begin, &n, err);
        if (rc != RC_OK)
            return rc;
    }
    return codec_raw_prefix(begin, rec->body_bytes, out, err);
}

static bool add_content_range(struct request *req, enum range_kind kind, const struct range *r,
                              uint64_t bytes)
{
    char text[80];
    if (kind == RANGE_OUTSIDE)
        snprintf(text, sizeof text, "bytes */%llu", (unsigned long long)bytes);
    else
        snprintf(text, sizeof text, "bytes %llu-%llu/%llu", (unsigned long long)r->first,
                 (unsigned long long)(r->first + r->bytes - 1), (unsigned long long)bytes);
    return response_header(req, "Content-Range", slice_str(text));
}

static enum range_kind range_asked(const struct request *req, const struct shown *s, uint64_t bytes,
                                   struct range *r)
{
    uint8_t text[TAG_MAX];
    struct slice tag = {0};
    struct range all = {0, bytes};
    *r = all;
    if (likely(!req->header[HEADER_RANGE].len) || req->method != METHOD_GET)
        return RANGE_WHOLE;
    if (s->rec->revision)
        tag = tag_print(s->rec->revision, s->reading->reader->number, (struct slice){0}, text);
    if (!range_applies(req->header[HEADER_IF_RANGE], tag))
        return RANGE_WHOLE;
    enum range_kind kind = range_parse(req->header[HEADER_RANGE], bytes, r);
    if (kind != RANGE_PART)
        *r = all;
    return kind;
}

enum rc record_raw_part(struct request *req, const struct shown *s, uint64_t bytes, struct range *r,
                        struct err *err)
{
    enum range_kind kind = range_asked(req, s, bytes, r);
    if (!response_header(req, "Accept-Ranges", SLICE("bytes")) ||
        (kind != RANGE_WHOLE && !add_content_range(req, kind, r, bytes)))
        return err_oom(err);
    req->response.status = kind == RANGE_PART ? 206 : 200;
    if (kind == RANGE_OUTSIDE)
        return err_set(err, ERR_BAD_RANGE, "The range begins behind the end: the record has %llu bytes.",
                       (unsigned long long)bytes);
    return RC_OK;
}

static enum rc prepare(struct request *req, const struct shown *s, size_t *prefix, struct range *r,
                       struct err *err)
{
    enum rc rc = prefix_bytes(req, s->rec, prefix, err);
    return rc == RC_OK ? record_raw_part(req, s, s->rec->body_bytes - *prefix, r, err) : rc;
}

static void answer_fault(struct request *req, enum rc rc, const struct err *err)
{
    if (rc == RC_NOTFOUND)
        record_damaged(req, "chunks of its body are missing");
    else if (err->code == ERR_BAD_AVRO)
        record_damaged(req, err->message);
    else
        answer_err(req, err);
}

static void show(struct request *req, const struct shown *s)
{
    size_t prefix;
    struct range r;
    struct err err;
    enum rc rc = prepare(req, s, &prefix, &r, &err);
    if (rc != RC_OK)
        answer_fault(req, rc, &err);
    else if (s->rec->body.ptr)
        send_copy(req, slice_of(s->rec->body.ptr + prefix + r.first, (size_t)r.bytes));
    else
        record_send_chunks(req, s->rec, (struct slice){0}, prefix + r.first, r.bytes);
}

void record_show_raw(struct request *req, const struct shown *s, const char *content_type)
{
    struct record copied;
    struct shown shown = *s;
    struct err err;
    if (unlikely(s->reading->resolver != NULL)) {
        record_show_raw_resolved(req, s, content_type);
        return;
    }
    req->response.content_type = content_type;
    enum rc rc = copy_short(req, s->rec, &copied, &err);
    shown.rec = &copied;
    if (rc == RC_OK)
        show(req, &shown);
    else
        answer_fault(req, rc, &err);
    reply_scratch_done(req->worker);
}
