/* server/registry/fault.c - see fault.h. */
#include "server/registry/fault.h"

#include "base/json_quote.h"

static const unsigned codes[ERR_CODES] = {
#define CODE(error, number) [ERR_##error] = number,
#include "server/registry/codes.def"
#undef CODE
};

static unsigned code_of(const struct err *err)
{
    return codes[err->code] ? codes[err->code] : err_status(err->code);
}

unsigned fault_status(const struct err *err)
{
    unsigned code = code_of(err);
    return code > 999 ? code / 100 : code;
}

static bool problem_print(struct buf *out, const struct problem *p)
{
    bool ok = buf_append(out, SLICE(" - "));
    if (p->pointer.len)
        ok = ok && buf_append(out, p->pointer) && buf_append(out, SLICE(": "));
    return ok && buf_append(out, p->detail.len ? p->detail : slice_str(problem_slug(p->code)));
}

/* One problem alone is told in the sentence; only that of a schema that may not follow others has its reasons
 * behind it, always. */
static bool are_listed(const struct err *err)
{
    return err->problems > 1 || err->code == ERR_INCOMPATIBLE;
}

bool fault_print(struct buf *out, const struct err *err)
{
    struct buf message = {0};
    bool ok = buf_append(&message, slice_str(err->message));
    for (const struct problem *p = are_listed(err) ? err->first : NULL; ok && p; p = p->next)
        ok = problem_print(&message, p);
    if (ok && err->truncated)
        ok = buf_append(&message, SLICE(" - There are more."));
    ok = ok && buf_printf(out, "{\"error_code\":%u,\"message\":", code_of(err)) &&
         json_quote_any(buf_slice(&message), out) && buf_append_byte(out, '}');
    buf_release(&message);
    return ok;
}
