/* server/handlers/records/record_show.c - a record as an answer: conditions, form, tag. */
#include "server/handlers/records/record.h"

#include "base/base64.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/sha256.h"
#include "server/handlers/records/record_fields.h"
#include "server/handlers/records/record_life.h"
#include "server/handlers/records/record_print.h"
#include "server/handlers/reply.h"
#include "server/json_form.h"
#include "server/negotiate.h"
#include "server/schema_load.h"
#include "server/timing.h"
#include "server/words.h"

enum { PATH_HASH_BYTES = 15 }; /* what TAG_MAX leaves room for as base64 */

/* A form that a record can be had in, besides how its tag ends. */
struct form {
    bool raw;                            /* the content of a "bytes" or "string" as it is */
    enum json_form json;                 /* else, and ... */
    const struct framing *framing;       /* ... NULL; or it is Avro binary behind this */
    const struct projection *projection; /* as JSON, these fields; NULL: all */
    const char *content_type;
    struct slice tag_suffix;
    enum read_verdict verdict; /* of the request's condition, if the record can be shown in this form */
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

/* ---- form ---- */

static struct slice raw_content_type(const struct schema *schema, const struct shown *s)
{
    if (s->rec->content_type.len)
        return s->rec->content_type;
    return schema_raw(schema) == SCHEMA_RAW_STRING ? SLICE("text/plain; charset=utf-8")
                                                   : SLICE("application/octet-stream");
}

/* How the tag ends of what is not the whole record in the very form of the encoding. */
static COLD struct slice suffix_of(const struct request *req, const struct encoding *encoding,
                                   enum json_form json)
{
    bool is_field = req->field.len;
    if (encoding->framing || encoding->json != JSON_PLAIN)
        return is_field ? SLICE("-json-field") : encoding->tag_suffix;
    return json_form_suffix(json, is_field);
}

static inline void form_set(const struct request *req, const struct encoding *encoding, struct form *out)
{
    out->raw = false;
    out->json = json_form_of(req, encoding->json);
    out->framing = encoding->framing;
    out->projection = NULL;
    out->content_type = (const char *)encoding->media_type.ptr;
    out->tag_suffix = encoding->tag_suffix;
    out->verdict = READ_GO;
    if (unlikely(out->json != encoding->json || req->field.len))
        out->tag_suffix = suffix_of(req, encoding, out->json);
}

static enum rc raw_form(struct request *req, const struct schema *schema, const struct shown *s,
                        struct form *out, struct err *err)
{
    struct slice kept, own = raw_content_type(schema, s);
    const struct encoding *encoding;
    if (negotiate_raw_answer(req->header[HEADER_ACCEPT], own, &encoding, err) != RC_OK)
        return RC_ERR;
    if (encoding) {
        form_set(req, encoding, out);
        return RC_OK;
    }
    if (!arena_copy(&req->arena, own, &kept))
        return err_oom(err);
    *out = (struct form){.raw = true, .content_type = (const char *)kept.ptr};
    return RC_OK;
}

static enum rc field_form(struct request *req, struct form *out, struct err *err)
{
    const struct encoding *encoding;
    if (negotiate_record_answer(req->header[HEADER_ACCEPT], FORMS_TEXT, &encoding, err) != RC_OK)
        return RC_ERR;
    form_set(req, encoding, out);
    return RC_OK;
}

/* As of one field; and which fields they are. */
static COLD enum rc fields_form(struct request *req, const struct schema *schema, struct form *out,
                                struct err *err)
{
    const struct projection *projection;
    if (record_fields_find(req, schema, &projection, err) != RC_OK || field_form(req, out, err) != RC_OK)
        return RC_ERR;
    out->projection = projection;
    return record_fields_suffix(req, out->json, &out->tag_suffix, err);
}

/* As of one field, but that each path has a tag of its own. */
static COLD enum rc path_form(struct request *req, const struct shown *s, struct form *out, struct err *err)
{
    uint8_t hash[SHA256_BYTES];
    if (field_form(req, out, err) != RC_OK)
        return RC_ERR;
    char *asked = arena_printf(&req->arena, "path %u %.*s", (unsigned)out->json, (int)s->path_text.len,
                               (const char *)s->path_text.ptr);
    uint8_t *suffix = arena_alloc(&req->arena, 1 + base64_chars(PATH_HASH_BYTES));
    if (!asked || !suffix)
        return err_oom(err);
    sha256(slice_str(asked), hash);
    suffix[0] = '-';
    const uint8_t *end = base64_put(slice_of(hash, PATH_HASH_BYTES), suffix + 1);
    out->tag_suffix = slice_of(suffix, (size_t)(end - suffix));
    return RC_OK;
}

static enum rc choose_form(struct request *req, const struct schema *schema, const struct shown *s,
                           struct form *out, struct err *err)
{
    const struct encoding *encoding;
    if (req->field.len)
        return field_form(req, out, err);
    if (unlikely(record_fields_asked(req)))
        return fields_form(req, schema, out, err);
    if (unlikely(s->path != NULL))
        return path_form(req, s, out, err);
    if (unlikely(schema_raw(schema) != SCHEMA_RAW_NONE))
        return raw_form(req, schema, s, out, err);
    if (negotiate_record_answer(req->header[HEADER_ACCEPT], FORMS_ALL, &encoding, err) != RC_OK)
        return RC_ERR;
    form_set(req, encoding, out);
    return RC_OK;
}

/* ---- tag and condition ---- */

static enum rc check_condition(struct request *req, const struct shown *s, struct form *form, struct err *err)
{
    form->verdict = READ_GO;
    if (likely(!req->header[HEADER_IF_MATCH].len && !req->header[HEADER_IF_NONE_MATCH].len) ||
        !s->rec->revision)
        return RC_OK;
    enum rc rc = reply_condition(req, s->rec->revision, s->reading->reader->number, form->tag_suffix,
                                 &form->verdict, err);
    if (unlikely(s->path && form->verdict == READ_NOT_MODIFIED)) /* 304 is for GET and HEAD */
        form->verdict = READ_FAILED;
    return rc;
}

/* Its tag, and how long it lives. */
static enum rc tell(struct request *req, const struct shown *s, const struct form *form, struct err *err)
{
    req->response.etag_revision = s->rec->revision;
    req->response.etag_version = s->reading->reader->number;
    req->response.etag_suffix = form->tag_suffix;
    return likely(record_life_tell(req, s->rec->expires_ms)) ? RC_OK : err_oom(err);
}

/* ---- the body ---- */

/* What of it is to be printed. NO_FIELD. */
static enum rc part_of(struct request *req, const struct shown *s, const struct form *form,
                       struct record_form *out, struct err *err)
{
    *out = (struct record_form){.schema = type_schema(s->reading->reader),
                                .reading = *s->reading,
                                .field = -1,
                                .projection = form->projection,
                                .path = s->path,
                                .json = form->json,
                                .framing = form->framing};
    if (!req->field.len)
        return RC_OK;
    out->field = schema_field(out->schema, req->field);
    struct words name, type;
    if (out->field < 0)
        return err_set(err, ERR_NO_FIELD, "Version %u of '%s' has no field '%s'.", s->reading->reader->number,
                       words_of(req->type_name, &type), words_of(req->field, &name));
    return RC_OK;
}

/* What no put lets pass cannot have been put. */
bool record_is_damage(const struct err *err)
{
    return err->code == ERR_BAD_AVRO || err->code == ERR_TOO_DEEP || err->code == ERR_TOO_MUCH_WORK;
}

/* path: as in struct shown: what is too much work is its fault. */
static void answer_fault(struct request *req, const struct path *path, const struct err *err)
{
    bool is_paths = path && err->code == ERR_TOO_MUCH_WORK;
    if (record_is_damage(err) && !is_paths)
        record_damaged(req, err->message);
    else
        answer_err(req, err);
}

static void set_ok(struct request *req, const char *content_type)
{
    req->response.status = 200;
    req->response.content_type = content_type;
}

/* What is answered in place of a record that can be shown. */
static COLD void answer_verdict(struct request *req, const struct form *form)
{
    if (form->verdict == READ_FAILED) {
        record_conflict(req);
        return;
    }
    req->response.status = 304;
    answer(req);
}

/* One that a helper prints. */
struct helped {
    struct record_text text; /* first: record_print.c finds it in req->state */
    uint64_t revision;
    struct form form;
    void (*again)(struct request *);
};

/* Replaced, and its chunks purged, while it waited for a helper. */
static void read_again(struct request *req, struct helped *h)
{
    response_reset(req);
    h->again(req);
}

static void helped(struct record_text *text)
{
    struct helped *h = CONTAINER_OF(text, struct helped, text);
    struct request *req = text->req;
    timing_lap(req, STAGE_encode);
    if (text->rc == RC_OK && likely(h->form.verdict == READ_GO)) {
        set_ok(req, h->form.content_type);
        record_text_answer(text);
        return;
    }
    record_text_release(text);
    if (text->rc == RC_OK)
        answer_verdict(req, &h->form);
    else if (text->rc == RC_NOTFOUND)
        read_again(req, h);
    else
        answer_fault(req, text->form.path, &text->err);
}

static enum rc get_help(struct request *req, const struct shown *s, const struct form *form,
                        const struct record_form *part, struct err *err)
{
    const struct helped *before = req->state;
    struct helped *h = arena_calloc(&req->arena, 1, sizeof *h);
    if (!h)
        return err_oom(err);
    h->text =
        (struct record_text){.req = req, .form = *part, .rec = *s->rec, .arena = &req->arena, .done = helped};
    if (!s->lasts && !record_body_keep(&req->arena, &h->text.rec))
        return err_oom(err);
    if (before && before->revision == s->rec->revision)
        return RC_NOTFOUND;
    h->revision = s->rec->revision;
    h->form = *form;
    h->again = s->again;
    req->state = h;
    return record_print(&h->text, err);
}

static enum rc print(struct request *req, const struct shown *s, const struct form *form, struct err *err)
{
    struct record_form part;
    struct buf *out = &req->worker->scratch;
    out->len = 0;
    if (part_of(req, s, form, &part, err) != RC_OK)
        return RC_ERR;
    enum rc rc = record_print_here(req->worker, &part, s->rec, out, &req->arena, err);
    return likely(rc != RC_AGAIN) ? rc : get_help(req, s, form, &part, err);
}

static inline void show_printed(struct request *req, const struct shown *s, const struct form *form)
{
    struct err err;
    enum rc rc = print(req, s, form, &err);
    timing_lap(req, STAGE_encode);
    switch (rc) {
    case RC_OK:
        if (unlikely(form->verdict != READ_GO)) {
            answer_verdict(req, form);
            break;
        }
        set_ok(req, form->content_type);
        req->response.body = buf_slice(&req->worker->scratch);
        answer(req);
        break;
    case RC_PENDING: break;
    case RC_NOTFOUND: record_damaged(req, "chunks of its body are missing"); break;
    default: answer_fault(req, s->path, &err); break;
    }
    reply_scratch_done(req->worker);
}

/* Is it long, and its bytes are what is asked for? */
static bool is_sent_as_stored(const struct shown *s, const struct form *form)
{
    return form->framing && !s->reading->resolver && s->rec->blob && !s->rec->packed_bytes &&
           s->rec->body_bytes > LIMIT_PRINT_INLINE_MAX;
}

static void show_stored(struct request *req, const struct shown *s, const struct form *form)
{
    struct record_form part;
    struct err err;
    uint8_t frame[FRAME_BYTES_MAX];
    if (part_of(req, s, form, &part, &err) != RC_OK) {
        answer_err(req, &err);
        return;
    }
    size_t n = record_frame(&part, frame);
    set_ok(req, form->content_type);
    record_send_chunks(req, s->rec, slice_of(frame, n), 0, s->rec->body_bytes);
}

/* A condition counts only where the answer without it would be 200 (RFC 9110, section 13.2.1): a field may not be
 * there, and a record of another version is read before it is known that it can be. */
static COLD void show_verdict(struct request *req, const struct shown *s, const struct form *form)
{
    struct form printed = *form;
    struct record_form part;
    struct err err;
    if (form->raw) /* whose JSON may be too long where the content is not */
        printed.framing = &framing_none;
    if (s->reading->resolver)
        show_printed(req, s, &printed);
    else if (part_of(req, s, form, &part, &err) == RC_OK)
        answer_verdict(req, form);
    else
        answer_err(req, &err);
}

/* ---- all of it ---- */

void record_show(struct request *req, const struct shown *s)
{
    const struct schema *schema = type_schema(s->reading->reader);
    struct form form;
    struct err err;
    req->response.headers = slice_of(s->reading->reader->headers, s->reading->reader->headers_len);
    /* The tag of a 412 is that of the whole record, which goes with it. */
    if (choose_form(req, schema, s, &form, &err) != RC_OK || check_condition(req, s, &form, &err) != RC_OK ||
        (likely(form.verdict != READ_FAILED) && tell(req, s, &form, &err) != RC_OK))
        answer_err(req, &err);
    else if (unlikely(form.verdict != READ_GO))
        show_verdict(req, s, &form);
    else if (form.raw)
        record_show_raw(req, s, form.content_type);
    else if (unlikely(is_sent_as_stored(s, &form)))
        show_stored(req, s, &form);
    else
        show_printed(req, s, &form);
}

void record_show_initial(struct request *req)
{
    const struct type_version *v = reading_reader(req);
    const struct reading reading = {.writer = v, .reader = v};
    struct slice avro = schema_initial(type_schema(v));
    const struct record rec = {.body = slice_not_null(avro), .body_bytes = avro.len};
    record_show(req, &(struct shown){.reading = &reading, .rec = &rec, .lasts = true});
}

void record_initial(struct request *req)
{
    schema_load(req, reading_reader(req), record_show_initial);
}
