/* server/handlers/records/record_join.c - a record's body in one piece and as it was put, for those who print it. */
#include "base/zstd.h"
#include "server/handlers/records/record.h"

enum { CHUNKS_AT_ONCE = 64 };

/* Of a blob, as it is stored. */
static enum rc join(struct store_worker *store, const struct record *rec, uint64_t bytes, struct buf *joined,
                    struct err *err)
{
    struct slice chunk[CHUNKS_AT_ONCE];
    if (!buf_reserve(joined, bytes))
        return err_oom(err);
    for (uint32_t next = 0; joined->len < bytes;) {
        unsigned n = CHUNKS_AT_ONCE;
        enum rc rc = store_chunks(store, rec, next, chunk, &n, err);
        if (rc != RC_OK)
            return rc;
        if (!n)
            return RC_NOTFOUND;
        for (unsigned i = 0; i < n; i++)
            if (!buf_append(joined, chunk[i]))
                return err_oom(err);
        next += n;
    }
    store_chunks_end(store);
    return RC_OK;
}

/* The length is the head's, which has a limit; the frame is held to it. */
static enum rc unpack(const struct record *rec, struct slice packed, struct buf *out, struct err *err)
{
    if (!buf_reserve(out, rec->body_bytes))
        return err_oom(err);
    if (zstd_unpack(packed, out->ptr + out->len, rec->body_bytes, err) != RC_OK)
        return RC_ERR;
    out->len += rec->body_bytes;
    return RC_OK;
}

static COLD enum rc join_packed(struct store_worker *store, const struct record *rec, struct buf *joined,
                                struct err *err)
{
    struct buf packed = {0};
    if (!rec->blob)
        return unpack(rec, rec->packed, joined, err);
    enum rc rc = join(store, rec, rec->packed_bytes, &packed, err);
    if (rc == RC_OK)
        rc = unpack(rec, buf_slice(&packed), joined, err);
    buf_release(&packed);
    return rc;
}

enum rc record_join(struct store_worker *store, const struct record *rec, struct buf *joined, struct err *err)
{
    return unlikely(rec->packed_bytes) ? join_packed(store, rec, joined, err)
                                       : join(store, rec, rec->body_bytes, joined, err);
}

bool record_body_keep(struct arena *arena, struct record *rec)
{
    return (!rec->body.ptr || arena_copy(arena, rec->body, &rec->body)) &&
           (!rec->packed.ptr || arena_copy(arena, rec->packed, &rec->packed));
}
