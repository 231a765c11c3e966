/* server/registry/versions.c - one version of a subject: all of it, its schema alone, and who refers to it. */
#include <stdlib.h>

#include "server/registry/handlers.h"
#include "server/registry/schema_text.h"

static enum which deleted_too(const struct call *c)
{
    return call_flag(c, PARAM_deleted) ? WHICH_ALL : WHICH_LIVE;
}

static enum rc version(struct call *c, struct err *err)
{
    struct row_version v;
    if (version_of_path(c, deleted_too(c), &v, err) != RC_OK)
        return RC_ERR;
    return schema_print_version(c, c->subject, &v, call_text(c, PARAM_format), err);
}

void registry_version_handle(struct request *req)
{
    call_run(req, version);
}

static enum rc version_schema(struct call *c, struct err *err)
{
    struct row_version v;
    struct schema_shown shown;
    if (version_of_path(c, deleted_too(c), &v, err) != RC_OK)
        return RC_ERR;
    enum rc rc = schema_show(c, v.schema_id, call_text(c, PARAM_format), &shown, err);
    if (rc == RC_NOTFOUND)
        return err_set(err, ERR_INTERNAL, "The text of schema %u is missing in the store.", v.schema_id);
    if (rc == RC_OK && !buf_append(&c->out.text, shown.text))
        return err_oom(err);
    return rc;
}

void registry_version_schema_handle(struct request *req)
{
    call_run(req, version_schema);
}

static enum rc referenced_by(struct call *c, struct err *err)
{
    struct row_version v;
    struct referrers found;
    if (version_of_path(c, WHICH_ALL, &v, err) != RC_OK ||
        referrers_find(c, c->subject, v.number, WHICH_LIVE, (struct slice){0}, &found, err) != RC_OK)
        return RC_ERR;
    bool ok = buf_append_byte(&c->out.text, '[');
    for (size_t i = 0; ok && i < found.n; i++)
        ok = print_comma(c, i) && buf_printf(&c->out.text, "%u", found.id[i]);
    free(found.id);
    return ok && buf_append_byte(&c->out.text, ']') ? RC_OK : err_oom(err);
}

void registry_referenced_by_handle(struct request *req)
{
    call_of(req)->takes_long = true;
    call_run(req, referenced_by);
}
