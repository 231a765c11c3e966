/* server/handlers/records/record_writer.c - which version of its type has written the body of a put: the one that the
 * frame of its form names, or Schema-Version, or else the latest. */
#include <assert.h>

#include "base/num.h"
#include "server/handlers/records/record.h"
#include "server/handlers/reply.h"
#include "server/schema_load.h"
#include "server/server.h"
#include "server/words.h"

/* The fault is the body's: it is counted as one of its type. */
static void refuse(struct request *req, const struct err *err)
{
    failures_add(&req->worker->server->failures, req->type);
    answer_err(req, err);
}

/* How the latest reads what is written, since that is what is read by default. */
static void find_reading(struct request *req)
{
    struct record_input *in = req->state;
    enum rc rc = reading_find(req, in->version->schema_id, req->type->latest, &in->reading);
    assert(rc == RC_OK || rc == RC_AGAIN); /* the version is of this type */
    if (rc == RC_OK)
        in->then(req);
    else
        reading_load(req, &in->reading, find_reading);
}

static void found(struct request *req, const struct type_version *version)
{
    struct record_input *in = req->state;
    in->version = version;
    if (version == req->type->latest)
        in->then(req);
    else
        find_reading(req);
}

/* ---- by its frame ---- */

/* One that is none: the place in the record is all of it. */
static COLD void refuse_frame(struct request *req, const struct framing *framing, struct err *err)
{
    enum problem_code code = req->body.len < framing->bytes ? PROBLEM_SIZE : PROBLEM_ENCODING;
    struct problem *p = err_problem(err, &req->arena, code, SLICE(""));
    if (p)
        p->detail = slice_str(err->message);
    refuse(req, err);
}

static COLD void refuse_writer(struct request *req)
{
    const struct record_input *in = req->state;
    struct words type;
    struct err err;
    words_of(req->type_name, &type);
    if (in->encoding->framing->writer == WRITER_BY_FINGERPRINT)
        err_set(
            &err, ERR_UNKNOWN_WRITER,
            "No version of '%s' has the fingerprint 0x%016llx, which the body names as that of its writer.",
            type.text, (unsigned long long)in->writer.fingerprint);
    else
        err_set(&err, ERR_UNKNOWN_WRITER,
                "No version of '%s' has the schema id %u, which the body names as that of its writer.",
                type.text, in->writer.schema_id);
    refuse(req, &err);
}

static bool has_written(const struct record_input *in, const struct type_version *v)
{
    if (in->encoding->framing->writer == WRITER_BY_SCHEMA_ID)
        return v->schema_id == in->writer.schema_id;
    return schema_fingerprint(type_schema(v)) == in->writer.fingerprint;
}

/* The latest, then all from the newest, which may be another, down to the first. */
static const struct type_version *candidate(const struct type *type, uint32_t left)
{
    return left > type->nversions ? type->latest : &type->version[left - 1];
}

/* It takes the schemas to tell; once they are loaded they stay. */
static void look_for_fingerprint(struct request *req)
{
    struct record_input *in = req->state;
    for (; in->versions_left; in->versions_left--) {
        const struct type_version *v = candidate(req->type, in->versions_left);
        if (!type_schema(v)) {
            schema_load(req, v, look_for_fingerprint);
            return;
        }
        if (has_written(in, v)) {
            found(req, v);
            return;
        }
    }
    refuse_writer(req);
}

static void found_loaded(struct request *req)
{
    const struct record_input *in = req->state;
    found(req, in->version);
}

static void look_for_schema_id(struct request *req)
{
    struct record_input *in = req->state;
    in->version = type_version_of_schema(req->type, in->writer.schema_id);
    if (in->version)
        schema_load(req, in->version, found_loaded);
    else
        refuse_writer(req);
}

static void look_for_writer(struct request *req, const struct framing *framing)
{
    struct record_input *in = req->state;
    switch (framing ? framing->writer : WRITER_UNNAMED) {
    case WRITER_BY_FINGERPRINT:
        in->versions_left = req->type->nversions + 1;
        look_for_fingerprint(req);
        break;
    case WRITER_BY_SCHEMA_ID: look_for_schema_id(req); break;
    case WRITER_UNNAMED: in->then(req); break;
    }
}

/* ---- by Schema-Version ---- */

static enum rc version_asked(const struct request *req, const struct type_version **out, struct err *err)
{
    struct slice text = req->header[HEADER_SCHEMA_VERSION];
    struct words words, type;
    uint64_t number;
    if (!num_parse_decimal(text, UINT32_MAX, &number) || !number)
        return err_set(err, ERR_BAD_REQUEST, "Schema-Version is the number of a version, from 1, not '%s'.",
                       words_of(text, &words));
    *out = type_version_find(req->type, (uint32_t)number);
    if (!*out)
        return err_set(err, ERR_NO_VERSION, "There is no version %llu of '%s'; the latest is %u.",
                       (unsigned long long)number, words_of(req->type_name, &type),
                       req->type->latest->number);
    return RC_OK;
}

static COLD void refuse_header(struct request *req)
{
    const struct record_input *in = req->state;
    struct err err;
    err_set(&err, ERR_UNKNOWN_WRITER,
            "Schema-Version says that version %u has written the body, and the body names another schema.",
            in->version->number);
    refuse(req, &err);
}

/* The body may name its writer too. */
static void asked_loaded(struct request *req)
{
    struct record_input *in = req->state;
    const struct framing *framing = in->encoding ? in->encoding->framing : NULL;
    if (framing && framing->writer != WRITER_UNNAMED && !has_written(in, in->version))
        refuse_header(req);
    else
        found(req, in->version);
}

/* ---- all of it ---- */

static void find(struct request *req, const struct framing *framing)
{
    struct record_input *in = req->state;
    struct err err;
    in->frame_bytes = framing ? framing->bytes : 0;
    if (framing && framing->open(req->body, &in->writer, &err) != RC_OK) {
        refuse_frame(req, framing, &err);
    } else if (req->header[HEADER_SCHEMA_VERSION].len) {
        if (version_asked(req, &in->version, &err) == RC_OK)
            schema_load(req, in->version, asked_loaded);
        else
            answer_err(req, &err);
    } else {
        look_for_writer(req, framing);
    }
}

void record_find_writer(struct request *req, struct record_input *in, void (*then)(struct request *))
{
    const struct framing *framing = in->encoding ? in->encoding->framing : NULL;
    in->then = then;
    in->version = req->type->latest;
    in->frame_bytes = 0;
    if (likely(!framing && !req->header[HEADER_SCHEMA_VERSION].len))
        then(req);
    else
        find(req, framing);
}
