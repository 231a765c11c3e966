/* server/registry/take.c - registering a schema under a subject, and asking whether it could be: both are a
 * registration (server/register.h), the second one that stores nothing. */
#include <stddef.h>

#include "base/json_quote.h"
#include "server/handlers/idem/idem.h"
#include "server/handlers/reply.h"
#include "server/register.h"
#include "server/registry/handlers.h"
#include "server/registry/schema_ask.h"
#include "server/words.h"

struct taking {
    struct registration r; /* first: req->state points to it */
    struct call *call;
    struct schema_ask ask;
    struct links links;
    uint32_t against; /* compatibility: the version to compare with; 0: as the subject's level says */
};

/* ---- references, as of the transaction ---- */

static enum rc confirm_one(struct taking *t, struct store_txn *txn, const struct reference *ref,
                           struct err *err)
{
    const struct store_key key = {.space = lineage_space(ref->subject), .id = ref->subject};
    struct record rec;
    struct type_row row;
    struct row_version v;
    struct words words;
    (void)t;
    enum rc rc = txn_get(txn, &key, &rec, err);
    if (rc == RC_OK)
        rc = type_row_decode(rec.body, &row, err);
    if (rc == RC_ERR)
        return rc;
    if (rc == RC_OK && lineage_find(&row, ref->version, WHICH_LIVE, &v) && v.schema_id == ref->schema_id)
        return RC_OK;
    return err_set(err, ERR_BAD_SCHEMA, "Version %u of '%s', to which the schema refers, has been deleted.",
                   ref->version, words_of(ref->subject, &words));
}

static enum rc confirm(struct registration *r, struct store_txn *txn, struct err *err)
{
    struct taking *t = CONTAINER_OF(r, struct taking, r);
    for (size_t i = 0; i < t->ask.refs.n; i++)
        if (confirm_one(t, txn, &t->ask.refs.at[i], err) != RC_OK)
            return RC_ERR;
    return links_txn_add(txn, &t->links, err);
}

/* ---- what both have in common ---- */

static struct taking *taking_of(struct call *c)
{
    return c->state;
}

static void begin(struct call *c)
{
    c->req->state = &taking_of(c)->r;
    register_schema(c->req, &taking_of(c)->r);
}

static enum rc prepare(struct call *c, bool (*done)(struct request *, struct registration *), struct err *err)
{
    struct taking *t = arena_calloc(call_arena(c), 1, sizeof *t);
    if (!t)
        return err_oom(err);
    c->state = t;
    c->then = begin;
    if (schema_ask_read(c, &t->ask, err) != RC_OK)
        return RC_ERR;
    t->call = c;
    t->r = (struct registration){.space = c->space,
                                 .name = c->subject,
                                 .text = t->ask.refs.text,
                                 .any_version = true,
                                 .by_registry = true,
                                 .normalize = call_flag(c, PARAM_normalize) && !t->ask.refs.n,
                                 .known = t->ask.known,
                                 .nknown = t->ask.nknown,
                                 .references = t->ask.list,
                                 .done = done};
    if (!t->ask.refs.n)
        return RC_OK;
    t->r.confirm = confirm;
    return references_encode(&t->ask.refs, call_arena(c), &t->r.references_row) ? RC_OK : err_oom(err);
}

/* The request is the call's again. */
static void go_back(struct request *req, struct call *c)
{
    req->state = c;
    if (req->hold)
        catalog_leave(req);
}

/* A reason as a sentence, in the arena. NULL: memory is out. */
static const char *reason_text(struct call *c, const struct compat_reason *r)
{
    return arena_printf(call_arena(c), "%.*s (version %u, %s, reader \"%.*s\", writer \"%.*s\")",
                        (int)r->words.len, (const char *)r->words.ptr, r->version,
                        r->is_backward ? "backward" : "forward", (int)r->reader.len,
                        (const char *)r->reader.ptr, (int)r->writer.len, (const char *)r->writer.ptr);
}

/* The reasons as problems of the error, whose sentence leaves them to those: they have their places with them. */
static void tell_reasons(struct call *c, const struct registration *r, struct err *err)
{
    struct words words;
    err_set(err, ERR_INCOMPATIBLE,
            "This schema cannot follow the versions of '%s', whose compatibility is %s.",
            words_of(c->subject, &words), compat_mode_name(r->mode));
    for (const struct compat_reason *reason = r->compat.first; reason; reason = reason->next) {
        const char *text = reason_text(c, reason);
        struct problem *p = err_problem(err, call_arena(c), reason->code, (struct slice){0});
        if (!p || !text) {
            err_oom(err);
            return;
        }
        p->detail = slice_str(text);
    }
    err->truncated |= r->compat.truncated;
}

/* ---- POST /subjects/{subject}/versions ---- */

/* What is odd in a schema that is taken is told in the head: the body has the registry's members alone. */
static bool print_registered(struct call *c, const struct registration *r)
{
    const struct slice headers = c->req->response.headers;
    c->out.text.len = 0;
    if (buf_printf(&c->out.text, "{\"id\":%u}", r->schema_id) && reply_warnings(c->req, r->schema))
        return true;
    c->req->response.headers = headers;
    return false;
}

static enum rc note(struct request *req, const struct registration *r, struct store_idem *idem,
                    struct err *err)
{
    struct buf lines = {0}, text = {0};
    bool ok = buf_append(&lines, req->response.headers) && buf_printf(&text, "{\"id\":%u}", r->schema_id);
    ok = ok && idem_warnings(r->parsed, &lines);
    const struct idem_whole whole = {.lines = buf_slice(&lines), .body = buf_slice(&text)};
    enum rc rc = ok ? idem_note_whole(req, idem, &whole, err) : err_oom(err);
    buf_release(&lines);
    buf_release(&text);
    return rc;
}

static bool registered(struct request *req, struct registration *r)
{
    struct call *c = CONTAINER_OF(r, struct taking, r)->call;
    if (r->rc == RC_OK && !print_registered(c, r))
        return false;
    go_back(req, c);
    if (r->rc == RC_OK) {
        call_answer(c);
        return true;
    }
    struct err err = r->err;
    schema_ask_fault(&err);
    if (err.code == ERR_INCOMPATIBLE)
        tell_reasons(c, r, &err);
    call_fail(c, &err);
    return true;
}

static enum rc prepare_register(struct call *c, struct err *err)
{
    if (prepare(c, registered, err) != RC_OK)
        return RC_ERR;
    struct taking *t = taking_of(c);
    t->r.note = note;
    t->r.wanted_version = t->ask.version > 0 ? (uint32_t)t->ask.version : 0;
    t->r.has_wanted_id = t->ask.id >= 0;
    t->r.wanted_id = t->ask.id >= 0 ? (uint32_t)t->ask.id : 0;
    return RC_OK;
}

void registry_register_handle(struct request *req)
{
    call_run(req, prepare_register);
}

/* ---- POST /compatibility/... ---- */

static bool print_reasons(struct call *c, const struct registration *r)
{
    struct buf *out = &c->out.text;
    const struct compat_reason *reason = r->compat.first;
    bool ok = true;
    for (size_t i = 0; ok && reason; i++, reason = reason->next) {
        const char *text = reason_text(c, reason);
        ok = text && print_comma(c, i) && json_quote_any(slice_str(text), out);
    }
    return ok;
}

static bool print_verdict(struct call *c, const struct registration *r)
{
    struct buf *out = &c->out.text;
    bool ok = buf_printf(out, "{\"is_compatible\":%s", r->rc == RC_OK ? "true" : "false");
    if (call_flag(c, PARAM_verbose)) {
        ok = ok && buf_append(out, SLICE(",\"messages\":["));
        if (r->compat.n)
            ok = ok && print_reasons(c, r);
        else if (r->rc != RC_OK)
            ok = ok && json_quote_any(slice_str(r->err.message), out);
        ok = ok && buf_append_byte(out, ']');
    }
    return ok && buf_append_byte(out, '}');
}

/* A schema that is none is an error, unless all is to be told. */
static bool is_verdict(const struct call *c, const struct registration *r)
{
    if (r->rc == RC_OK || r->err.code == ERR_INCOMPATIBLE)
        return true;
    return r->err.code == ERR_BAD_SCHEMA && call_flag(c, PARAM_verbose);
}

static bool compared(struct request *req, struct registration *r)
{
    struct call *c = CONTAINER_OF(r, struct taking, r)->call;
    c->out.text.len = 0;
    if (r->rc == RC_ERR)
        schema_ask_fault(&r->err);
    bool is_told = is_verdict(c, r);
    if (is_told && !print_verdict(c, r))
        return false;
    go_back(req, c);
    if (is_told)
        call_answer(c);
    else
        call_fail(c, &r->err);
    return true;
}

/* The version of the path. False with RC_OK: the latest is asked for, and there is none: all fits. */
static enum rc find_version(struct call *c, uint32_t *against, bool *found, struct err *err)
{
    struct type_row row;
    struct row_version v;
    uint32_t number;
    *against = 0;
    *found = false;
    if (version_parse(c->req->arg, &number, err) != RC_OK)
        return RC_ERR;
    enum rc rc = lineage_read(c, c->subject, &row, err);
    if (rc == RC_ERR)
        return rc;
    *found = rc == RC_OK &&
             (number ? lineage_find(&row, number, WHICH_LIVE, &v) : lineage_latest(&row, WHICH_LIVE, &v));
    if (*found)
        *against = v.number;
    return *found || !number ? RC_OK : no_version(number, err);
}

static enum rc prepare_compatibility(struct call *c, struct err *err)
{
    uint32_t against = 0;
    bool found;
    if (c->req->arg.len && find_version(c, &against, &found, err) != RC_OK)
        return RC_ERR;
    if (prepare(c, compared, err) != RC_OK)
        return RC_ERR;
    taking_of(c)->r.dry_run = true;
    taking_of(c)->r.against = against;
    return RC_OK;
}

void registry_compatibility_handle(struct request *req)
{
    call_run(req, prepare_compatibility);
}
