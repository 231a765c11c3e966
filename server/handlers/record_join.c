/* server/handlers/record_join.c - a record's body in one piece, for those who print it. */
#include "server/handlers/record.h"

enum { CHUNKS_AT_ONCE = 64 };

static enum rc join(struct request *req, const struct record *rec, struct buf *joined, struct err *err)
{
    struct slice chunk[CHUNKS_AT_ONCE];
    if (!buf_reserve(joined, rec->body_bytes))
        return err_oom(err);
    for (uint32_t next = 0; joined->len < rec->body_bytes;) {
        unsigned n = CHUNKS_AT_ONCE;
        enum rc rc = store_chunks(req->worker->store, rec, next, chunk, &n, err);
        if (rc != RC_OK)
            return rc;
        if (!n)
            return RC_NOTFOUND;
        for (unsigned i = 0; i < n; i++)
            if (!buf_append(joined, chunk[i]))
                return err_oom(err);
        next += n;
    }
    return RC_OK;
}

static enum rc make_whole(struct request *req, struct record *rec, struct buf *joined, struct err *err)
{
    if (!arena_copy(&req->arena, rec->content_type, &rec->content_type))
        return err_oom(err);
    enum rc rc = join(req, rec, joined, err);
    rec->body = buf_slice(joined);
    return rc;
}

bool record_join(struct request *req, struct record *rec, struct buf *joined)
{
    struct err err;
    if (likely(rec->body.ptr || !rec->body_bytes))
        return true;
    switch (make_whole(req, rec, joined, &err)) {
    case RC_OK: return true;
    case RC_ERR: answer_err(req, &err); return false;
    default: record_damaged(req, "chunks of its body are missing"); return false;
    }
}
