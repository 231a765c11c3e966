/* server/http/problem.c - prints an error and its list of problems as JSON. */
#include "server/http/problem.h"

#include "base/json_quote.h"
#include "base/num.h"

/* Sticky: after the first failed append the rest is skipped, and `ok` says so once at the end. */
struct out {
    struct buf *buf;
    bool ok;
};

static void put(struct out *o, struct slice s)
{
    o->ok = o->ok && buf_append(o->buf, s);
}

static void put_number(struct out *o, uint64_t n)
{
    uint8_t digits[NUM_U64_MAX_CHARS];
    put(o, slice_of(digits, num_print_u64(n, digits)));
}

static void put_string(struct out *o, struct slice s)
{
    o->ok = o->ok && json_quote_any(s, o->buf);
}

/* `name` comes with its comma, quotes and colon. */
static void put_member(struct out *o, struct slice name, struct slice value)
{
    put(o, name);
    put_string(o, value);
}

static void put_problem(struct out *o, const struct problem *p)
{
    put_member(o, SLICE("{\"pointer\":"), p->pointer);
    put_member(o, SLICE(",\"code\":"), slice_str(problem_slug(p->code)));
    if (p->expected.len)
        put_member(o, SLICE(",\"expected\":"), p->expected);
    if (p->got.len)
        put_member(o, SLICE(",\"got\":"), p->got);
    if (p->branch.len)
        put_member(o, SLICE(",\"branch\":"), p->branch);
    if (p->detail.len)
        put_member(o, SLICE(",\"detail\":"), p->detail);
    put(o, SLICE("}"));
}

static void put_problems(struct out *o, const struct err *err)
{
    put(o, SLICE(",\"errors\":["));
    for (const struct problem *p = err->first; p; p = p->next) {
        put_problem(o, p);
        if (p->next)
            put(o, SLICE(","));
    }
    put(o, SLICE("]"));
    if (err->truncated)
        put(o, SLICE(",\"truncated\":true"));
}

bool problem_print(struct buf *out, const struct err *err, struct slice member)
{
    struct out o = {out, true};
    put(&o, SLICE("{\"status\":"));
    put_number(&o, err_status(err->code));
    put_member(&o, SLICE(",\"title\":"), slice_str(err_title(err->code)));
    put_member(&o, SLICE(",\"detail\":"), slice_str(err->message));
    put_member(&o, SLICE(",\"code\":"), slice_str(err_slug(err->code)));
    if (err->operation) {
        put(&o, SLICE(",\"operation\":"));
        put_number(&o, err->operation - 1);
    }
    if (err->line) {
        put(&o, SLICE(",\"line\":"));
        put_number(&o, err->line);
        put(&o, SLICE(",\"column\":"));
        put_number(&o, err->column);
    }
    if (err->max_bytes) {
        put(&o, SLICE(",\"used_bytes\":"));
        put_number(&o, err->used_bytes);
        put(&o, SLICE(",\"max_bytes\":"));
        put_number(&o, err->max_bytes);
    }
    if (err->first)
        put_problems(&o, err);
    if (member.len) {
        put(&o, SLICE(","));
        put(&o, member);
    }
    put(&o, SLICE("}"));
    return o.ok;
}
