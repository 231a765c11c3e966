/* server/handlers/records/record_patch.c - PATCH: JSON Merge Patch and JSON Patch, made into edits. */
#include "schema/edit.h"
#include "server/handlers/handlers.h"
#include "server/handlers/records/record_edit.h"
#include "server/handlers/reply.h"
#include "server/negotiate.h"
#include "server/words.h"

struct record_patch {
    struct record_edit edit; /* first: record_edit.c finds it in req->state */
    enum patch_form form;
};

/* A raw type's content has no parts, and JSON is not what it is shown as. */
static COLD enum rc refuse_raw(const struct request *req, struct err *err)
{
    struct words words;
    return err_set(err, ERR_UNSUPPORTED_TYPE,
                   "The content of a record of '%s' is kept as it is and has no parts to patch; put it anew.",
                   words_of(req->type_name, &words));
}

static enum rc prepare(struct request *req, const struct schema *schema, const struct codec_opts *opts,
                       struct arena *arena, struct edit **out, struct err *err)
{
    const struct record_patch *p = req->state;
    if (schema_raw(schema) != SCHEMA_RAW_NONE)
        return refuse_raw(req, err);
    return p->form == PATCH_OPERATIONS ? edit_of_patch(out, schema, opts, req->body, arena, err)
                                       : edit_of_merge(out, schema, opts, req->body, arena, err);
}

static COLD bool refuse_type(struct request *req, struct err *err)
{
    if (!response_header(req, "Accept-Patch", SLICE(PATCH_TYPES)))
        err_oom(err);
    answer_err(req, err);
    return false;
}

bool record_patch_begin(struct request *req)
{
    struct err err;
    struct record_patch *p = arena_calloc(&req->arena, 1, sizeof *p);
    if (!p) {
        reply_no_memory(req);
        return false;
    }
    req->state = p;
    p->edit.prepare = prepare;
    if (negotiate_patch_body(req->header[HEADER_CONTENT_TYPE], req->header[HEADER_CONTENT_ENCODING], &p->form,
                             &err) != RC_OK)
        return refuse_type(req, &err);
    return record_edit_begin(req, &p->edit);
}

void record_patch_handle(struct request *req)
{
    record_edit_handle(req);
}
