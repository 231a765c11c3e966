/* server/handlers/records/path_change.c - update, insert, insertall, delete, clear: what a path finds in a record is changed. */
#include "schema/edit.h"
#include "server/handlers/handlers.h"
#include "server/handlers/records/path_body.h"
#include "server/handlers/records/record_edit.h"
#include "server/handlers/reply.h"
#include "server/negotiate.h"
#include "server/server.h"
#include "server/words.h"

struct path_change {
    struct record_edit edit; /* first: record_edit.c finds it in req->state */
    enum path_verb verb;
};

static COLD enum rc refuse_raw(const struct request *req, struct err *err)
{
    struct words words;
    return err_set(
        err, ERR_NOT_APPLICABLE,
        "The content of a record of '%s' is kept as it is, and has no parts to change; put it anew.",
        words_of(req->type_name, &words));
}

static COLD enum rc refuse_one_line(struct err *err)
{
    return err_set(err, ERR_BAD_REQUEST,
                   "The body is to be a path, a line break, and JSON, but there is no line break in it. "
                   "curl's --data takes "
                   "line breaks out of files: --data-binary does not.");
}

/* The JSON begins on the second line of the body. */
static enum rc move_line(struct err *err)
{
    if (err->code != ERR_BAD_PATH && err->line)
        err->line++;
    return RC_ERR;
}

static enum rc prepare(struct request *req, const struct schema *schema, const struct codec_opts *opts,
                       struct arena *arena, struct edit **out, struct err *err)
{
    const struct path_change *p = req->state;
    bool has_json = p->verb != PATH_DELETE && p->verb != PATH_CLEAR;
    struct slice path, rest;
    bool has_rest = path_body_split(req->body, &path, &rest);
    if (schema_raw(schema) != SCHEMA_RAW_NONE)
        return refuse_raw(req, err);
    if (has_json && !has_rest)
        return refuse_one_line(err);
    if (!has_json && path_body_check_rest(req, rest, err) != RC_OK)
        return RC_ERR;
    enum rc rc = edit_of_path(out, schema, opts, p->verb, path, rest, arena, err);
    return rc == RC_OK ? RC_OK : move_line(err);
}

static bool begin(struct request *req, enum path_verb verb)
{
    struct err err;
    struct path_change *p = arena_calloc(&req->arena, 1, sizeof *p);
    if (!p) {
        reply_no_memory(req);
        return false;
    }
    req->state = p;
    p->verb = verb;
    p->edit.prepare = prepare;
    p->edit.creates = req->worker->server->options->astore;
    if (negotiate_json_body(req->header[HEADER_CONTENT_TYPE], req->header[HEADER_CONTENT_ENCODING], &err) ==
        RC_OK)
        return record_edit_begin(req, &p->edit);
    answer_err(req, &err);
    return false;
}

bool path_update_begin(struct request *req)
{
    return begin(req, PATH_UPDATE);
}

bool path_insert_begin(struct request *req)
{
    return begin(req, PATH_INSERT);
}

bool path_insertall_begin(struct request *req)
{
    return begin(req, PATH_INSERTALL);
}

bool path_delete_begin(struct request *req)
{
    return begin(req, PATH_DELETE);
}

bool path_clear_begin(struct request *req)
{
    return begin(req, PATH_CLEAR);
}

void path_change_handle(struct request *req)
{
    record_edit_handle(req);
}
