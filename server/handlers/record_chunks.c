/* server/handlers/record_chunks.c - the bytes of a record as they are stored, sent from the chunks that they are kept in, as
 * the client takes them. */
#include <assert.h>

#include "base/limits.h"
#include "server/handlers/record.h"
#include "server/handlers/reply.h"

enum { CHUNKS_AT_ONCE = 16 };

/* What is kept of a record while it is sent, in the request's arena. */
struct sending {
    struct record rec; /* blob and body_bytes */
    uint64_t at, end;  /* what is left of its Avro binary */
    struct slice before;
    uint8_t frame[FRAME_BYTES_MAX];
};

static enum rc more(struct request *req, struct buf *out, size_t room)
{
    struct sending *s = req->state;
    struct slice chunk[CHUNKS_AT_ONCE];
    unsigned n =
        room / LIMIT_CHUNK_BYTES < CHUNKS_AT_ONCE ? (unsigned)(room / LIMIT_CHUNK_BYTES) : CHUNKS_AT_ONCE;
    struct err err;
    n = n ? n : 1;
    if (!buf_append(out, s->before))
        return RC_ERR;
    s->before.len = 0;
    /* Replaced so long ago that its chunks are gone, or damaged: what has left cannot be taken back. */
    if (store_chunks(req->worker->store, &s->rec, (uint32_t)(s->at / LIMIT_CHUNK_BYTES), chunk, &n, &err) !=
            RC_OK ||
        !n)
        return RC_ERR;
    for (unsigned i = 0; i < n && s->at < s->end; i++) {
        uint64_t skip = s->at % LIMIT_CHUNK_BYTES, left = s->end - s->at, have = chunk[i].len - skip;
        struct slice part = slice_of(chunk[i].ptr + skip, (size_t)(have < left ? have : left));
        if (!buf_append(out, part))
            return RC_ERR;
        s->at += part.len;
    }
    return s->at == s->end ? RC_OK : RC_PENDING;
}

void record_send_chunks(struct request *req, const struct record *rec, struct slice frame, uint64_t first,
                        uint64_t bytes)
{
    static const struct stream stream = {.more = more};
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
