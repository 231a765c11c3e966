/* server/handlers/records/record_reading.c - how a record that was read from the store is to be shown: in the version that the
 * client asks for, whichever wrote it. */
#include "server/handlers/records/record.h"
#include "server/handlers/reply.h"

/* It was written under a version that was registered after this request had begun. */
static enum rc renew(struct request *req)
{
    struct err err;
    switch (catalog_renew(req, &err)) {
    case RC_OK: return RC_OK;
    case RC_NOTFOUND: reply_no_type(req); return RC_ERR; /* dropped meanwhile */
    default: answer_err(req, &err); return RC_ERR;
    }
}

enum rc record_reading_other(struct request *req, const struct record *rec, void (*again)(struct request *),
                             struct reading *out)
{
    enum rc rc = reading_find(req, rec->schema_id, reading_reader(req), out);
    if (rc == RC_NOTFOUND) {
        if (renew(req) != RC_OK)
            return RC_ERR;
        rc = reading_find(req, rec->schema_id, reading_reader(req), out);
    }
    if (rc == RC_AGAIN) {
        reading_load(req, out, again);
        return RC_PENDING;
    }
    if (rc == RC_NOTFOUND)
        record_damaged(req, "no version of its type has its schema");
    return rc == RC_OK ? RC_OK : RC_ERR;
}
