/* server/registry/schema_ask.c - see schema_ask.h. */
#include "server/registry/schema_ask.h"

enum rc schema_ask_read(struct call *c, struct schema_ask *a, struct err *err)
{
    struct ask_schema body;
    *a = (struct schema_ask){0};
    if (ask_schema_read(c->req->body, call_arena(c), &body, err) != RC_OK)
        return RC_ERR;
    a->refs = (struct references){.text = body.schema, .at = body.references, .n = body.nreferences};
    a->version = body.version;
    a->id = body.id;
    if (!a->refs.n)
        return RC_OK;
    if (references_texts(c, &a->refs, &a->known, &a->nknown, err) != RC_OK)
        return RC_ERR;
    return references_list(&a->refs, call_arena(c), &a->list) ? RC_OK : err_oom(err);
}

enum rc schema_ask_parse(struct call *c, const struct schema_ask *a, struct schema **out, struct err *err)
{
    enum rc rc = schema_parse_known(out, a->refs.text, a->known, a->nknown, call_arena(c), err);
    if (rc != RC_OK)
        schema_ask_fault(err);
    return rc;
}

void schema_ask_fault(struct err *err)
{
    if (err->code == ERR_BAD_JSON)
        err->code = ERR_BAD_SCHEMA;
}
