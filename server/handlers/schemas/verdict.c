/* server/handlers/schemas/verdict.c - see verdict.h. */
#include "server/handlers/schemas/verdict.h"

#include "base/json_quote.h"
#include "server/handlers/records/scan_lines.h"
#include "server/stored_check.h"

static bool put(struct buf *out, const char *label, struct slice text)
{
    return buf_append(out, slice_str(label)) && json_quote_any(text, out);
}

static bool print_reason(const struct compat_reason *r, struct buf *out)
{
    return buf_printf(out, "{\"direction\":\"%s\",\"version\":%u,\"code\":\"%s\"",
                      r->is_backward ? "backward" : "forward", r->version, problem_slug(r->code)) &&
           put(out, ",\"reader\":", r->reader) && put(out, ",\"writer\":", r->writer) &&
           put(out, ",\"detail\":", r->words) && buf_append_byte(out, '}');
}

static bool print_reasons(const struct compat *c, struct buf *out)
{
    bool ok = buf_append(out, SLICE(",\"reasons\":["));
    for (const struct compat_reason *r = c->first; ok && r; r = r->next)
        ok = print_reason(r, out) && (!r->next || buf_append_byte(out, ','));
    return ok && buf_append_byte(out, ']') &&
           (!c->truncated || buf_append(out, SLICE(",\"truncated\":true")));
}

static bool print_warnings(const struct schema *schema, struct buf *out)
{
    bool ok = buf_append(out, SLICE(",\"warnings\":["));
    for (size_t i = 0; ok && i < schema_warnings(schema); i++)
        ok = put(out, i ? "," : "", schema_warning(schema, i));
    return ok && buf_append_byte(out, ']');
}

static bool print_id(uint32_t id, struct buf *out)
{
    return id ? buf_printf(out, ",\"schema_id\":%u", id) : buf_append(out, SLICE(",\"schema_id\":null"));
}

static bool print_fault(const struct stored_fault *f, struct buf *out)
{
    bool ok = buf_append_byte(out, '{') && scan_id_print(f->id, out);
    if (ok && f->version)
        ok = buf_printf(out, ",\"version\":%u", f->version);
    return ok && put(out, ",\"code\":", slice_str(err_slug(f->code))) &&
           put(out, ",\"pointer\":", f->pointer) && put(out, ",\"detail\":", f->words) &&
           buf_append_byte(out, '}');
}

static bool print_stored(const struct stored_check *c, struct buf *out)
{
    bool ok = buf_printf(out, ",\"stored\":{\"checked\":%llu,\"unreadable\":%llu,\"complete\":%s,\"first\":[",
                         (unsigned long long)c->checked, (unsigned long long)c->unreadable,
                         c->is_complete ? "true" : "false");
    for (unsigned i = 0; ok && i < c->nfirst; i++)
        ok = (!i || buf_append_byte(out, ',')) && print_fault(&c->first[i], out);
    return ok && buf_append(out, SLICE("]}"));
}

bool verdict_print(const struct registration *r, struct buf *out)
{
    return buf_printf(out, "\"compatible\":%s,\"compatibility\":\"%s\",\"version\":%u,\"is_new\":%s",
                      r->compat.n ? "false" : "true", compat_mode_name(r->mode), r->version,
                      r->is_new ? "true" : "false") &&
           print_id(r->schema_id, out) && print_reasons(&r->compat, out) && print_warnings(r->schema, out) &&
           (!r->stored || print_stored(r->stored, out));
}
