/* server/handlers/schemas/putschema.c - registering a schema as a version of a type: what is asked, and the answer. */
#include <stddef.h>

#include "base/num.h"
#include "server/handlers/handlers.h"
#include "server/handlers/idem/idem.h"
#include "server/handlers/reply.h"
#include "server/handlers/schemas/verdict.h"
#include "server/negotiate.h"
#include "server/params.h"
#include "server/register.h"
#include "server/router.h"
#include "server/stored_check.h"
#include "server/words.h"

struct putschema {
    struct registration registration; /* first: register.c finds it in req->state */
};

/* ---- before the body ---- */

/* check=stored, and how many records are to be looked at. */
static enum rc ask_stored(struct request *req, struct registration *r, struct err *err)
{
    const struct slice *check = params_find(req, PARAM_check), *limit = params_find(req, PARAM_limit);
    struct words words;
    if (check && !slice_eq(*check, SLICE("stored")))
        return err_set(err, ERR_BAD_PARAMETER, "check is stored, not '%s'.", words_of(*check, &words));
    if ((check && !r->dry_run) || (limit && !check))
        return err_set(err, ERR_BAD_PARAMETER,
                       "check=stored goes with dry_run=1, and limit with check=stored.");
    if (!check)
        return RC_OK;
    r->stored = arena_calloc(&req->arena, 1, sizeof *r->stored);
    if (!r->stored)
        return err_oom(err);
    r->stored->limit = STORED_LIMIT_DEFAULT;
    if (!limit || (num_parse_decimal(*limit, UINT64_MAX, &r->stored->limit) && r->stored->limit))
        return RC_OK;
    return err_set(err, ERR_BAD_PARAMETER, "limit is an integer from 1, not '%s'.", words_of(*limit, &words));
}

static enum rc begin(struct request *req, struct putschema *p, struct err *err)
{
    const char *fault = router_type_name_fault(req->type_name);
    if (fault) {
        struct words words;
        return err_set(err, ERR_BAD_TYPE_NAME, "'%s' cannot name a type. %s",
                       words_of(req->type_name, &words), fault);
    }
    const struct slice *fullname = params_find(req, PARAM_fullname);
    if (fullname) {
        if (!fullname->len)
            return err_set(err, ERR_BAD_PARAMETER,
                           "fullname is empty; it is the full name of a type in the union.");
        p->registration.fullname = *fullname;
    }
    if (params_flag(req, PARAM_dry_run, &p->registration.dry_run, err) != RC_OK ||
        ask_stored(req, &p->registration, err) != RC_OK ||
        type_options_parse(req, &p->registration.given, err) != RC_OK ||
        negotiate_whole_body(req->header[HEADER_CONTENT_RANGE], err) != RC_OK ||
        negotiate_json_body(req->header[HEADER_CONTENT_TYPE], req->header[HEADER_CONTENT_ENCODING], err) !=
            RC_OK)
        return RC_ERR;
    return condition_of_write(req->header[HEADER_IF_MATCH], req->header[HEADER_IF_NONE_MATCH], &req->arena,
                              &p->registration.condition, err);
}

bool putschema_begin(struct request *req)
{
    struct err err;
    struct putschema *p = arena_calloc(&req->arena, 1, sizeof *p);
    if (!p) {
        reply_no_memory(req);
        return false;
    }
    req->state = p;
    if (begin(req, p, &err) == RC_OK)
        return true;
    answer_err(req, &err);
    return false;
}

/* ---- answers ---- */

static bool headers_add(struct request *req, const struct registration *r)
{
    return (!r->dry_run || response_header(req, "Dry-Run", SLICE("1"))) &&
           reply_header_u64(req, "Schema-Version", r->version) &&
           (!r->schema_id || reply_header_u64(req, "Schema-Id", r->schema_id)) &&
           reply_warnings(req, r->schema);
}

/* The same lines, and what set_tag says. */
static enum rc note(struct request *req, const struct registration *r, struct store_idem *idem,
                    struct err *err)
{
    struct buf lines = {0};
    bool ok = buf_printf(&lines, "Schema-Version: %u\r\nSchema-Id: %u\r\n", r->version, r->schema_id);
    ok = ok && idem_warnings(r->parsed, &lines);
    const struct idem_whole whole = {
        .revision = r->revision, .version = r->version, .lines = buf_slice(&lines), .body = SLICE("OK")};
    enum rc rc = ok ? idem_note_whole(req, idem, &whole, err) : err_oom(err);
    buf_release(&lines);
    return rc;
}

static void set_tag(struct request *req, const struct registration *r)
{
    req->response.etag_revision = r->revision;
    req->response.etag_version = r->version;
}

static bool answer_registered(struct request *req, const struct registration *r)
{
    if (!headers_add(req, r)) {
        response_reset(req);
        return false;
    }
    set_tag(req, r);
    reply_ok(req);
    return true;
}

/* Of a dry run. */
static bool answer_verdict(struct request *req, const struct registration *r)
{
    struct buf *text = &req->worker->scratch;
    text->len = 0;
    bool ok = headers_add(req, r) && buf_append_byte(text, '{') && verdict_print(r, text) &&
              buf_append(text, SLICE("}\n"));
    if (ok)
        answer_json(req, buf_slice(text));
    else
        response_reset(req);
    reply_scratch_done(req->worker);
    return ok;
}

static void answer_conflict(struct request *req, const struct registration *r)
{
    struct err err;
    struct words words;
    words_of(req->type_name, &words);
    set_tag(req, r);
    if (!r->revision)
        err_set(&err, ERR_CONDITION_FAILED, "The condition failed: there is no type '%s'.", words.text);
    else
        err_set(&err, ERR_CONDITION_FAILED, "The condition failed: the type '%s' is there, in another state.",
                words.text);
    answer_err(req, &err);
}

/* The reasons go with it. */
static void answer_incompatible(struct request *req, const struct registration *r)
{
    struct buf *text = &req->worker->scratch;
    text->len = 0;
    if (verdict_print(r, text))
        answer_err_with(req, &r->err, buf_slice(text));
    else
        reply_no_memory(req);
    reply_scratch_done(req->worker);
}

static bool registered(struct request *req, struct registration *r)
{
    if (r->stored && r->stored->rc == RC_ERR)
        answer_err(req, &r->stored->err);
    else if (r->rc == RC_OK)
        return r->dry_run ? answer_verdict(req, r) : answer_registered(req, r);
    else if (r->rc == RC_CONFLICT)
        answer_conflict(req, r);
    else if (r->err.code == ERR_INCOMPATIBLE)
        answer_incompatible(req, r);
    else
        answer_err(req, &r->err);
    return true;
}

/* ---- the body ---- */

void putschema_handle(struct request *req)
{
    struct putschema *p = req->state;
    struct registration *r = &p->registration;
    if (!req->body.len) {
        err_set(&r->err, ERR_BAD_JSON, "The body is empty; it is the text of an Avro schema.");
        r->err.line = r->err.column = 1;
        answer_err(req, &r->err);
        return;
    }
    r->space = SPACE_TYPE;
    r->name = req->type_name;
    r->text = req->body;
    r->done = registered;
    r->note = note;
    register_schema(req, r);
}
