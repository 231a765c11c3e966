/* server/handlers/records/record_edit_apply.c - what an edit makes of a record: a pure function of both, on the writer or a
 * helper. */
#include "base/limits.h"
#include "server/handlers/records/record_edit_way.h"
#include "server/handlers/records/record_life.h"

/* What the record is in the latest version; it may stand in tools->resolved. */
static enum rc read_as_latest(const struct request *req, struct record_edit *e, const struct edit_tools *t,
                              const struct record *old, struct slice *out, struct err *err)
{
    struct reading reading;
    *out = slice_not_null(old->body);
    if (likely(old->schema_id == req->type->latest->schema_id))
        return RC_OK;
    if (reading_find(req, old->schema_id, req->type->latest, &reading) != RC_OK) {
        e->other_id = old->schema_id;
        return RC_AGAIN;
    }
    if (!reading.resolver)
        return RC_OK;
    enum rc rc = reading_resolve(&reading, t->brief ? LIMIT_EDIT_INLINE_MAX : SIZE_MAX, old->body,
                                 t->resolved, t->arena, err);
    *out = buf_slice(t->resolved);
    if (rc == RC_ERR && t->brief && err->code == ERR_RECORD_TOO_LARGE)
        return RC_AGAIN;
    e->damaged = rc == RC_ERR && record_is_damage(err);
    return rc;
}

static enum rc find_base(const struct request *req, struct record_edit *e, const struct edit_tools *t,
                         const struct record *old, struct slice *out, struct err *err)
{
    e->absent = !old;
    e->damaged = false;
    e->other_id = 0;
    if (old)
        return read_as_latest(req, e, t, old, out, err);
    *out = schema_initial(type_schema(req->type->latest));
    return e->creates ? RC_OK : RC_NOTFOUND;
}

enum rc record_edit_apply(const struct request *req, struct record_edit *e, const struct edit_tools *t,
                          const struct record *old, struct err *err)
{
    struct slice base;
    enum rc rc = find_base(req, e, t, old, &base, err);
    if (rc != RC_OK)
        return rc;
    if (t->brief && base.len + edit_bytes(e->edit) > LIMIT_EDIT_INLINE_MAX)
        return RC_AGAIN;
    rc = edit_apply(e->edit, t->codec, t->brief, base, t->out, &e->changed, t->arena, err);
    if (rc == RC_OK) {
        e->expires_ms = e->changed ? record_life_of_edit(req, old) : old ? old->expires_ms : 0;
        return record_check_size(req, req->type, t->out->len, err);
    }
    if (rc == RC_ERR && t->brief && err->code == ERR_TOO_MUCH_WORK)
        return RC_AGAIN;
    e->damaged = rc == RC_ERR && err->code == ERR_BAD_AVRO;
    return rc;
}
