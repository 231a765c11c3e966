/* server/handlers/records/record_chunks.c - the bytes of a record as they are stored, sent straight from the chunks
 * that they are kept in, as the client takes them: nothing copies them here. */
#include <assert.h>

#include "base/limits.h"
#include "server/handlers/records/record.h"
#include "server/handlers/reply.h"

/* What is kept of a record while it is sent, in the request's arena. */
struct sending {
    struct record rec; /* blob and body_bytes */
    uint64_t at, end;  /* what is left of its Avro binary */
    struct slice before;
    uint8_t frame[FRAME_BYTES_MAX];
};

/* Cut what is not asked for off both ends. */
static void trim(struct slice *part, unsigned n, uint64_t before, uint64_t behind)
{
    part[0].ptr += before;
    part[0].len -= before;
    part[n - 1].len -= behind;
}

/* Replaced so long ago that its chunks are gone, or damaged: what has left cannot be taken back. */
static enum rc lend_chunks(struct request *req, const struct sending *s, struct slice *part, unsigned *n)
{
    uint64_t first = s->at / LIMIT_CHUNK_BYTES, upto = (s->end + LIMIT_CHUNK_BYTES - 1) / LIMIT_CHUNK_BYTES;
    struct err err;
    *n = upto - first < *n ? (unsigned)(upto - first) : *n;
    if (store_chunks(req->worker->store, &s->rec, (uint32_t)first, part, n, &err) != RC_OK || !*n)
        return RC_ERR;
    uint64_t last = (first + *n) * LIMIT_CHUNK_BYTES;
    last = last < s->rec.body_bytes ? last : s->rec.body_bytes;
    trim(part, *n, s->at % LIMIT_CHUNK_BYTES, last > s->end ? last - s->end : 0);
    return last >= s->end ? RC_OK : RC_PENDING;
}

static enum rc lend(struct request *req, struct slice *part, unsigned *n)
{
    struct sending *s = req->state;
    unsigned framed = s->before.len != 0;
    part[0] = s->before;
    *n -= framed;
    enum rc rc = lend_chunks(req, s, part + framed, n);
    *n += framed;
    return rc;
}

static void took(struct request *req, size_t bytes)
{
    struct sending *s = req->state;
    size_t of_frame = bytes < s->before.len ? bytes : s->before.len;
    s->before = slice_of(s->before.ptr + of_frame, s->before.len - of_frame);
    s->at += bytes - of_frame;
}

static void end(struct request *req)
{
    store_chunks_end(req->worker->store);
}

void record_send_chunks(struct request *req, const struct record *rec, struct slice frame, uint64_t first,
                        uint64_t bytes)
{
    static const struct stream stream = {.lend = lend, .took = took, .end = end};
    struct sending *s = arena_alloc(&req->arena, sizeof *s);
    if (!s) {
        reply_no_memory(req);
        return;
    }
    assert(frame.len <= sizeof s->frame);
    if (frame.len)
        memcpy(s->frame, frame.ptr, frame.len);
    s->before = slice_of(s->frame, frame.len);
    s->rec = (struct record){.blob = rec->blob, .body_bytes = rec->body_bytes};
    s->at = first;
    s->end = first + bytes;
    req->state = s;
    req->response.stream = &stream;
    req->response.stream_bytes = frame.len + bytes;
    answer(req);
}
