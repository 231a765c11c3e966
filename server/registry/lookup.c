/* server/registry/lookup.c - which version of a subject has this schema. */
#include "base/bytes.h"
#include "server/register.h"
#include "server/registry/handlers.h"
#include "server/registry/schema_ask.h"
#include "server/registry/schema_text.h"

/* ---- the same schema ---- */

/* 0: the store does not know it. */
static enum rc id_of(struct call *c, const struct schema *schema, struct slice list, uint32_t *id,
                     struct err *err)
{
    uint8_t digest[SHA256_BYTES];
    struct slice row;
    *id = 0;
    if (!register_digest(schema, list, digest))
        return err_oom(err);
    enum rc rc = rows_get(c, SPACE_SCHEMA_HASH, slice_of(digest, sizeof digest), &row, err);
    if (rc == RC_OK && row.len != SCHEMA_ID_BYTES)
        return err_set(err, ERR_INTERNAL, "A row of schema ids is damaged.");
    if (rc == RC_OK)
        *id = get_le32(row.ptr);
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

static bool find_id(const struct type_row *row, uint32_t id, enum which which, struct row_version *out)
{
    for (uint32_t i = row->nversions; id && i-- > 0;) {
        *out = type_row_version(row, i);
        if (out->schema_id == id && which_has(which, out))
            return true;
    }
    return false;
}

/* ---- the same canonical form ---- */

static enum rc has_form(struct call *c, uint32_t schema_id, struct slice wanted, bool *out, struct err *err)
{
    struct schema_shown shown;
    enum rc rc = schema_show(c, schema_id, SLICE("canonical"), &shown, err);
    *out = rc == RC_OK && slice_eq(shown.text, wanted);
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

/* The newest that has it. RC_NOTFOUND. */
static enum rc find_form(struct call *c, const struct type_row *row, const struct schema *schema,
                         enum which which, struct row_version *out, struct err *err)
{
    struct buf form = {0};
    bool found = false;
    enum rc rc = schema_canonical(schema, &form) ? RC_OK : err_oom(err);
    for (uint32_t i = row->nversions; rc == RC_OK && !found && i-- > 0;) {
        *out = type_row_version(row, i);
        if (which_has(which, out))
            rc = has_form(c, out->schema_id, buf_slice(&form), &found, err);
    }
    buf_release(&form);
    return rc == RC_OK && !found ? RC_NOTFOUND : rc;
}

/* ---- the call ---- */

static enum rc find(struct call *c, const struct schema_ask *a, const struct schema *schema, enum which which,
                    struct row_version *out, struct err *err)
{
    struct type_row row;
    uint32_t id;
    if (lineage_need(c, c->subject, which, &row, err) != RC_OK)
        return RC_ERR;
    if (slice_eq(call_text(c, PARAM_format), SLICE("canonical")))
        return find_form(c, &row, schema, which, out, err);
    if (id_of(c, schema, a->list, &id, err) != RC_OK)
        return RC_ERR;
    return find_id(&row, id, which, out) ? RC_OK : RC_NOTFOUND;
}

static enum rc lookup(struct call *c, struct err *err)
{
    struct schema_ask a;
    struct schema *schema;
    struct row_version v;
    enum which which = call_flag(c, PARAM_deleted) ? WHICH_ALL : WHICH_LIVE;
    struct type_row row;
    if (lineage_need(c, c->subject, which, &row, err) != RC_OK || schema_ask_read(c, &a, err) != RC_OK ||
        schema_ask_parse(c, &a, &schema, err) != RC_OK)
        return RC_ERR;
    enum rc rc = find(c, &a, schema, which, &v, err);
    schema_free(schema);
    if (rc == RC_NOTFOUND)
        return err_set(err, ERR_NO_SCHEMA, "Schema not found");
    return rc == RC_OK ? schema_print_version(c, c->subject, &v, call_text(c, PARAM_format), err) : rc;
}

void registry_lookup_handle(struct request *req)
{
    call_run(req, lookup);
}
