/* server/handlers/records/record_join.c - a record's body in one piece, for those who print it. */
#include "server/handlers/records/record.h"

enum { CHUNKS_AT_ONCE = 64 };

enum rc record_join(struct store_worker *store, const struct record *rec, struct buf *joined, struct err *err)
{
    struct slice chunk[CHUNKS_AT_ONCE];
    if (!buf_reserve(joined, rec->body_bytes))
        return err_oom(err);
    for (uint32_t next = 0; joined->len < rec->body_bytes;) {
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
