/* server/handlers/records/scan_lines.c - see scan_lines.h. */
#include "server/handlers/records/scan_lines.h"

#include "base/base64.h"
#include "base/json_quote.h"
#include "base/log.h"
#include "base/utf8.h"
#include "server/handlers/records/record.h"

bool scan_lines_enough(const struct scan_lines *l)
{
    return !l->left || l->out->len >= l->full;
}

bool scan_lines_end(const struct scan_lines *l)
{
    return !l->is_array || buf_append(l->out, l->any ? SLICE("]\n") : SLICE("[]\n"));
}

/* ---- a line ---- */

bool scan_id_print(struct slice id, struct buf *out)
{
    if (likely(utf8_valid(id)))
        return buf_append(out, SLICE("\"id\":")) && json_quote(id, out);
    return buf_append(out, SLICE("\"id_base64\":\"")) && base64_print(id, out) &&
           buf_append(out, SLICE("\""));
}

bool scan_line_begin(const struct scan_lines *l, struct slice id, uint64_t revision, struct buf *out)
{
    if (l->is_array && !buf_append(out, l->any ? SLICE(",\n") : SLICE("[")))
        return false;
    return buf_append_byte(out, '{') && scan_id_print(id, out) &&
           (!revision || buf_printf(out, ",\"revision\":%llu", (unsigned long long)revision));
}

struct slice scan_line_end(const struct scan_lines *l)
{
    return l->is_array ? SLICE("}") : SLICE("}\n");
}

enum rc scan_line_shown(struct scan_lines *l)
{
    l->any = true;
    if (l->left != UINT64_MAX)
        l->left--;
    return scan_lines_enough(l) ? RC_PENDING : RC_OK;
}

enum rc scan_line_finish(struct scan_lines *l, bool ok, struct err *err)
{
    return ok && buf_append(l->out, scan_line_end(l)) ? scan_line_shown(l) : err_oom(err);
}

/* ---- a record that cannot be shown ---- */

static COLD enum rc tell(struct scan_lines *l, struct slice id, uint64_t revision, const struct err *why,
                         struct err *err)
{
    struct buf *out = l->out;
    return scan_line_finish(l,
                            scan_line_begin(l, id, revision, out) && buf_append(out, SLICE(",\"error\":")) &&
                                err_print_open(out, why) && buf_append_byte(out, '}'),
                            err);
}

COLD enum rc scan_line_damage(struct scan_lines *l, struct slice id, uint64_t revision, const char *what,
                              struct err *err)
{
    struct err told;
    struct buf text = {0};
    if (!scan_id_print(id, &text))
        text.len = 0;
    log_error("record %.*s of type %u cannot be shown: %s", (int)text.len, (const char *)text.ptr, l->type,
              what);
    buf_release(&text);
    err_set(&told, ERR_INTERNAL, "The record cannot be read from the store: %s", what);
    return tell(l, id, revision, &told, err);
}

enum rc scan_line_fault(struct scan_lines *l, struct slice id, uint64_t revision, const struct err *why,
                        struct err *err)
{
    if (record_is_damage(why))
        return scan_line_damage(l, id, revision, why->message, err);
    return tell(l, id, revision, why, err);
}
