/* server/handlers/record_show.c - a record as an answer: conditions, form, tag. */
#include "server/handlers/record.h"

#include "base/log.h"
#include "server/handlers/reply.h"
#include "server/negotiate.h"
#include "server/timing.h"
#include "server/words.h"

/* A form that a record can be had in, besides how its tag ends. */
struct form {
    bool raw;                 /* the content of a "bytes" or "string" as it is */
    enum json_form json;      /* else */
    const char *content_type; /* NULL: application/json */
    struct slice tag_suffix;
};

void record_absent(struct request *req)
{
    struct err err;
    struct words id, type;
    err_set(&err, ERR_NO_RECORD, "There is no record '%s' of type '%s'.", words_of(req->id, &id),
            words_of(req->type_name, &type));
    answer_err(req, &err);
}

void record_damaged(struct request *req, const char *what)
{
    struct err err;
    struct words id;
    words_of(req->id, &id);
    log_error("record '%s' of type %u cannot be shown: %s", id.text, req->type->number, what);
    err_set(&err, ERR_INTERNAL, "The record cannot be read from the store: %s", what);
    answer_err(req, &err);
}

const struct type_version *record_version(struct request *req, const struct record *rec)
{
    const struct type_version *v = type_version_of_schema(req->type, rec->schema_id);
    struct err err;
    if (likely(v))
        return v;
    /* Written under a version that was registered after this request had begun. */
    enum rc rc = catalog_renew(req, &err);
    if (rc == RC_ERR) {
        answer_err(req, &err);
        return NULL;
    }
    if (rc == RC_OK)
        v = type_version_of_schema(req->type, rec->schema_id);
    if (!v)
        record_damaged(req, "no version of its type has its schema");
    return v;
}

/* ---- form ---- */

static struct slice raw_content_type(const struct schema *schema, const struct shown *s)
{
    if (s->content_type.len)
        return s->content_type;
    return schema_raw(schema) == SCHEMA_RAW_STRING ? SLICE("text/plain; charset=utf-8")
                                                   : SLICE("application/octet-stream");
}

static enum rc raw_form(struct request *req, const struct schema *schema, const struct shown *s,
                        struct form *out, struct err *err)
{
    struct slice accept = req->header[HEADER_ACCEPT], kept, own = raw_content_type(schema, s);
    unsigned as_it_is = negotiate_quality(accept, negotiate_essence(own));
    unsigned as_json = negotiate_quality(accept, SLICE("avro/json"));
    struct words words;
    if (!as_it_is && !as_json)
        return err_set(err, ERR_NOT_ACCEPTABLE,
                       "The Accept of this request leaves nothing; offered are %s, avro/json.",
                       words_of(negotiate_essence(own), &words));
    if (as_json > as_it_is) {
        *out = (struct form){.json = JSON_AVRO, .content_type = "avro/json", .tag_suffix = SLICE("-json")};
        return RC_OK;
    }
    if (!arena_copy(&req->arena, own, &kept))
        return err_oom(err);
    *out = (struct form){.raw = true, .content_type = (const char *)kept.ptr};
    return RC_OK;
}

static enum rc choose_form(struct request *req, const struct schema *schema, const struct shown *s,
                           struct form *out, struct err *err)
{
    if (schema_raw(schema) != SCHEMA_RAW_NONE && !req->field.len)
        return raw_form(req, schema, s, out, err);
    *out = (struct form){.json = JSON_PLAIN, .tag_suffix = req->field.len ? SLICE("-field") : SLICE("")};
    return negotiate_json_answer(req->header[HEADER_ACCEPT], err);
}

/* ---- tag and condition ---- */

static enum rc set_tag(struct request *req, const struct shown *s, const struct form *form, struct err *err)
{
    uint8_t tag[TAG_MAX];
    if (likely(!form->tag_suffix.len)) {
        req->response.etag_revision = s->revision;
        req->response.etag_version = s->version->number;
        return RC_OK;
    }
    if (!s->revision ||
        response_header(req, "ETag", tag_print(s->revision, s->version->number, form->tag_suffix, tag)))
        return RC_OK;
    return err_oom(err);
}

static enum rc check_condition(struct request *req, const struct shown *s, const struct form *form,
                               enum read_verdict *verdict, struct err *err)
{
    struct slice match = req->header[HEADER_IF_MATCH], none_match = req->header[HEADER_IF_NONE_MATCH];
    uint8_t tag[TAG_MAX];
    *verdict = READ_GO;
    if (likely(!match.len && !none_match.len) || !s->revision)
        return RC_OK;
    return condition_of_read(match, none_match,
                             tag_print(s->revision, s->version->number, form->tag_suffix, tag), verdict, err);
}

/* ---- body ---- */

/* Print to the scratch. */
static enum rc print(struct request *req, const struct schema *schema, const struct shown *s,
                     const struct form *form, struct slice *body, struct err *err)
{
    struct buf *out = &req->worker->scratch;
    enum rc rc;
    out->len = 0;
    if (form->raw) {
        if (codec_raw_content(s->avro, body, err) != RC_OK)
            return RC_ERR;
        if (!buf_append(out, *body)) /* the store's own bytes may be dead before the answer leaves */
            return err_oom(err);
        *body = buf_slice(out);
        return RC_OK;
    }
    if (req->field.len) {
        int field = schema_field(schema, req->field);
        struct words name, type;
        if (field < 0)
            return err_set(err, ERR_NO_FIELD, "Version %u of '%s' has no field '%s'.", s->version->number,
                           words_of(req->type_name, &type), words_of(req->field, &name));
        rc = codec_field_to_json(schema, field, form->json, s->avro, out, err);
    } else {
        rc = codec_to_json(schema, form->json, s->avro, out, err);
    }
    *body = buf_slice(out);
    return rc;
}

static void answer_body(struct request *req, const struct form *form, struct slice body)
{
    if (likely(!form->content_type)) {
        answer_json(req, body);
        return;
    }
    req->response.status = 200;
    req->response.content_type = form->content_type;
    req->response.body = body;
    answer(req);
}

/* What no put lets pass cannot have been put. */
static bool is_damage(enum err_code code)
{
    return code == ERR_BAD_AVRO || code == ERR_TOO_DEEP || code == ERR_TOO_MUCH_WORK;
}

void record_show(struct request *req, const struct shown *s)
{
    const struct schema *schema = type_schema(s->version);
    struct form form;
    struct slice body;
    enum read_verdict verdict;
    struct err err;
    req->response.headers = slice_of(s->version->headers, s->version->headers_len);
    if (choose_form(req, schema, s, &form, &err) != RC_OK ||
        check_condition(req, s, &form, &verdict, &err) != RC_OK) {
        answer_err(req, &err);
        return;
    }
    if (unlikely(verdict == READ_FAILED)) {
        record_conflict(req);
        return;
    }
    if (set_tag(req, s, &form, &err) != RC_OK) {
        answer_err(req, &err);
        return;
    }
    if (unlikely(verdict == READ_NOT_MODIFIED)) {
        req->response.status = 304;
        answer(req);
        return;
    }
    enum rc rc = print(req, schema, s, &form, &body, &err);
    timing_lap(req, STAGE_encode);
    if (rc == RC_OK)
        answer_body(req, &form, body);
    else if (is_damage(err.code))
        record_damaged(req, err.message);
    else
        answer_err(req, &err);
    reply_scratch_done(req->worker);
}

void record_show_initial(struct request *req)
{
    const struct type_version *v = req->type->latest;
    record_show(req, &(struct shown){.version = v, .avro = schema_initial(type_schema(v))});
}
