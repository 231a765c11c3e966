/* server/handlers/records/record_raw.c - the content of a raw type ("bytes", "string") as it was put: whole or a range of it. */
#include <stdio.h>

#include "base/limits.h"
#include "server/handlers/records/record.h"
#include "server/handlers/reply.h"
#include "server/range.h"

/* ---- where it stands ---- */

/* That many chunks are sent with the head: they are not worth a call of the kernel's of their own. */
enum { PIECES_MAX = 2 };

/* The content and what is before it, in the store's own memory: whole, or of one in more chunks the first. */
struct pieces {
    struct slice piece[PIECES_MAX];
    bool whole;
};

static enum rc find_pieces(struct request *req, const struct record *rec, struct pieces *p, struct err *err)
{
    *p = (struct pieces){.piece = {rec->body}, .whole = true};
    if (likely(rec->body.ptr) || !rec->body_bytes)
        return RC_OK;
    p->whole = rec->body_bytes <= PIECES_MAX * LIMIT_CHUNK_BYTES;
    unsigned n = p->whole ? PIECES_MAX : 1;
    enum rc rc = store_chunks(req->worker->store, rec, 0, p->piece, &n, err);
    if (p->whole)
        store_chunks_end(req->worker->store);
    return rc;
}

/* Those bytes of a whole content. */
static void send_pieces(struct request *req, const struct pieces *p, uint64_t first, uint64_t bytes)
{
    struct response *r = &req->response;
    size_t at = (size_t)first, left = (size_t)bytes, here = p->piece[0].len;
    if (at <= here) {
        size_t len = left < here - at ? left : here - at;
        r->body = slice_of(p->piece[0].ptr + at, len);
        r->body_rest = slice_of(p->piece[1].ptr, left - len);
    } else {
        r->body = slice_of(p->piece[1].ptr + (at - here), left);
    }
    r->body_lent = true;
    answer(req);
}

/* ---- which part ---- */

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
        tag =
            tag_print(s->rec->revision, s->reading->reader->number, (struct slice){0}, CODING_identity, text);
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

static enum rc prepare(struct request *req, const struct shown *s, struct pieces *p, size_t *prefix,
                       struct range *r, struct err *err)
{
    enum rc rc = find_pieces(req, s->rec, p, err);
    rc = rc == RC_OK ? codec_raw_prefix(p->piece[0], s->rec->body_bytes, prefix, err) : rc;
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

void record_show_raw(struct request *req, const struct shown *s, const char *content_type)
{
    struct pieces p;
    size_t prefix;
    struct range r;
    struct err err;
    if (unlikely(s->reading->resolver != NULL || s->rec->packed_bytes)) {
        record_show_raw_resolved(req, s, content_type);
        return;
    }
    req->response.content_type = content_type;
    enum rc rc = prepare(req, s, &p, &prefix, &r, &err);
    if (rc != RC_OK)
        answer_fault(req, rc, &err);
    else if (p.whole)
        send_pieces(req, &p, prefix + r.first, r.bytes);
    else
        record_send_chunks(req, s->rec, (struct slice){0}, prefix + r.first, r.bytes);
}
