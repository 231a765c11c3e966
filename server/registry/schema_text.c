/* server/registry/schema_text.c - see schema_text.h. */
#include "server/registry/schema_text.h"

#include "base/json_quote.h"

static enum rc canonical(struct call *c, struct slice stored, struct slice *out, struct err *err)
{
    struct schema *schema;
    struct buf text = {0};
    if (schema_parse(&schema, stored, (struct slice){0}, call_arena(c), err) != RC_OK)
        return RC_ERR;
    bool ok = schema_canonical(schema, &text) && arena_copy(call_arena(c), buf_slice(&text), out);
    buf_release(&text);
    schema_free(schema);
    return ok ? RC_OK : err_oom(err);
}

enum rc schema_show(struct call *c, uint32_t schema_id, struct slice format, struct schema_shown *out,
                    struct err *err)
{
    uint8_t key[SCHEMA_KEY_BYTES];
    struct slice stored;
    *out = (struct schema_shown){0};
    enum rc rc = rows_get(c, SPACE_SCHEMA, schema_key(schema_id, key), &stored, err);
    if (rc != RC_OK)
        return rc;
    out->text = stored;
    if (slice_eq(format, SLICE("canonical")))
        return canonical(c, stored, &out->text, err);
    if (slice_eq(format, SLICE("resolved")))
        return RC_OK;
    if (references_read(c, schema_id, &out->refs, err) != RC_OK)
        return RC_ERR;
    if (out->refs.n)
        out->text = out->refs.text;
    return RC_OK;
}

enum rc schema_print_version(struct call *c, struct slice subject, const struct row_version *v,
                             struct slice format, struct err *err)
{
    struct schema_shown shown;
    struct buf *out = &c->out.text;
    enum rc rc = schema_show(c, v->schema_id, format, &shown, err);
    if (rc == RC_NOTFOUND)
        return err_set(err, ERR_INTERNAL, "The text of schema %u is missing in the store.", v->schema_id);
    if (rc != RC_OK)
        return rc;
    bool ok = buf_append(out, SLICE("{\"subject\":")) && json_quote(subject, out) &&
              buf_printf(out, ",\"version\":%u,\"id\":%u", v->number, v->schema_id) &&
              references_print(c, &shown.refs) && buf_append(out, SLICE(",\"schema\":")) &&
              json_quote(shown.text, out) && buf_append_byte(out, '}');
    return ok ? RC_OK : err_oom(err);
}
