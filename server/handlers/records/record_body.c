/* server/handlers/records/record_body.c - the body of a put: its form, and its Avro binary, made by the worker or,
 * where that would take it more than about a millisecond, by a helper. */
#include <stddef.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "server/handlers/records/record.h"
#include "server/handlers/reply.h"
#include "server/json_form.h"
#include "server/negotiate.h"
#include "server/server.h"
#include "server/timing.h"

enum { LENGTH_BYTES_MAX = 10 };

enum rc record_negotiate(const struct request *req, const struct schema *schema, const struct encoding **out,
                         struct err *err)
{
    struct slice type = req->header[HEADER_CONTENT_TYPE], coding = req->header[HEADER_CONTENT_ENCODING];
    enum schema_raw raw = schema_raw(schema);
    if (negotiate_whole_body(req->header[HEADER_CONTENT_RANGE], err) != RC_OK)
        return RC_ERR;
    if (likely(raw == SCHEMA_RAW_NONE))
        return negotiate_record_body(type, coding, FORMS_ALL, out, err);
    return negotiate_raw_body(type, coding, raw == SCHEMA_RAW_STRING, out, err);
}

static enum rc fault_utf8(struct request *req, size_t at, struct err *err)
{
    *err = (struct err){0};
    struct problem *p = err_problem(err, &req->arena, PROBLEM_ENCODING, SLICE(""));
    const char *got = arena_printf(&req->arena, "the byte 0x%02x at offset %zu", req->body.ptr[at], at);
    const char *detail =
        arena_printf(&req->arena, "The body is not UTF-8: byte %zu begins no character.", at);
    if (!p || !got || !detail)
        return err_oom(err);
    p->expected = SLICE("UTF-8");
    p->got = slice_str(got);
    p->detail = slice_str(detail);
    return err_sum_up(err, ERR_BAD_RECORD);
}

static enum rc encode_raw(struct request *req, enum schema_raw raw, struct buf *out, struct err *err)
{
    uint8_t length[LENGTH_BYTES_MAX];
    if (codec_check_bytes(&req->type->codec, codec_put_length(req->body.len, length) + req->body.len, err) !=
        RC_OK)
        return RC_ERR;
    size_t valid = raw == SCHEMA_RAW_STRING ? utf8_valid_len(req->body) : req->body.len;
    if (valid != req->body.len)
        return fault_utf8(req, valid, err);
    if (!buf_reserve(out, LENGTH_BYTES_MAX))
        return err_oom(err);
    out->len = codec_put_length(req->body.len, out->ptr);
    return RC_OK;
}

static enum rc encode_json(struct request *req, struct codec *codec, const struct record_input *in,
                           bool brief, struct buf *out, struct err *err)
{
    const struct schema *schema = type_schema(in->version);
    struct codec_opts opts = req->type->codec;
    opts.form = json_form_of(req, in->encoding->json);
    opts.brief = brief;
    if (in->field >= 0)
        return codec_field_from_json(codec, schema, in->field, &opts, req->body, out, &req->arena, err);
    return codec_from_json(codec, schema, &opts, req->body, out, &req->arena, err);
}

/* What is written by another version must be such that the latest reads it, as that is what is read by
 * default. A worker does not look at what becomes too long: RECORD_TOO_LARGE. */
static enum rc check_reading(struct request *req, const struct record_input *in, bool brief,
                             struct slice avro, struct err *err)
{
    struct buf whole = {0}, read = {0};
    enum rc rc = RC_OK;
    if (unlikely(!in->encoding)) {
        if (!buf_append(&whole, avro) || !buf_append(&whole, req->body))
            rc = err_oom(err);
        avro = buf_slice(&whole);
    }
    if (rc == RC_OK)
        rc = reading_resolve(&in->reading, brief ? LIMIT_PRINT_INLINE_MAX : SIZE_MAX, avro, &read,
                             &req->arena, err);
    buf_release(&whole);
    buf_release(&read);
    return rc;
}

/* *avro: what record_encode tells; it may be in `out`. */
static enum rc encode(struct request *req, struct codec *codec, const struct record_input *in, bool brief,
                      struct buf *out, struct slice *avro, struct err *err)
{
    const struct schema *schema = type_schema(in->version);
    enum rc rc;
    if (unlikely(!in->encoding)) {
        rc = encode_raw(req, schema_raw(schema), out, err);
        *avro = buf_slice(out);
    } else if (in->encoding->framing) {
        struct slice body = slice_not_null(req->body);
        struct codec_opts opts = req->type->codec;
        opts.brief = brief;
        rc = codec_check(codec, schema, &opts, body, in->frame_bytes, &req->arena, err);
        *avro = slice_of(body.ptr + in->frame_bytes, body.len - in->frame_bytes);
    } else {
        rc = encode_json(req, codec, in, brief, out, err);
        *avro = buf_slice(out);
    }
    if (rc == RC_OK && unlikely(in->reading.resolver != NULL))
        rc = check_reading(req, in, brief, *avro, err);
    return rc;
}

/* The fault is the body's, not ours. */
static COLD void refuse(struct request *req, const struct err *err)
{
    if (err_status(err->code) < 500)
        failures_add(&req->worker->server->failures, req->type);
    answer_err(req, err);
}

/* ---- on a helper ---- */

/* In the request's arena; req->state while it lasts. */
struct helped {
    void *state; /* the handler's, put back at the end */
    const struct record_input *in;
    void (*then)(struct request *, struct slice avro);
    struct buf out;
    struct slice avro;
    enum rc rc;
    struct err err;
};

static void help(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct helped *h = req->state;
    struct codec *codec = codec_new();
    h->rc = codec ? encode(req, codec, h->in, false, &h->out, &h->avro, &h->err) : err_oom(&h->err);
    codec_free(codec);
}

static void help_done(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct helped *h = req->state;
    struct buf out = h->out; /* the request may be over behind `then` */
    req->state = h->state;
    req->is_away = false;
    timing_lap(req, STAGE_validate);
    if (h->rc == RC_OK)
        h->then(req, h->avro);
    else
        refuse(req, &h->err);
    buf_release(&out);
}

static COLD void get_help(struct request *req, const struct record_input *in,
                          void (*then)(struct request *, struct slice avro))
{
    struct helped *h = arena_alloc(&req->arena, sizeof *h);
    if (!h) {
        reply_no_memory(req);
        return;
    }
    *h = (struct helped){.state = req->state, .in = in, .then = then};
    req->state = h;
    req->is_away = true;
    req->job = (struct job){.run = help, .done = help_done};
    if (worker_offload(req->worker, &req->job, &h->err) == RC_ERR) {
        h->rc = RC_ERR;
        help_done(&req->job);
    }
}

/* ---- on the worker ---- */

/* What a "bytes" type keeps is not looked at, however much it is, unless the latest version is another. */
static bool takes_long(const struct request *req, const struct record_input *in)
{
    return req->body.len > LIMIT_BODY_INLINE_MAX &&
           (in->encoding || in->reading.resolver || schema_raw(type_schema(in->version)) != SCHEMA_RAW_BYTES);
}

/* A worker has given up, and a helper may get on. */
static bool is_for_a_helper(const struct record_input *in, const struct err *err)
{
    return err->code == ERR_TOO_MUCH_WORK || (in->reading.resolver && err->code == ERR_RECORD_TOO_LARGE);
}

void record_encode(struct request *req, const struct record_input *in,
                   void (*then)(struct request *, struct slice avro))
{
    struct worker *w = req->worker;
    struct slice avro;
    struct err err;
    if (unlikely(takes_long(req, in))) {
        get_help(req, in, then);
        return;
    }
    w->scratch.len = 0;
    enum rc rc = encode(req, w->codec, in, true, &w->scratch, &avro, &err);
    timing_lap(req, STAGE_validate);
    if (likely(rc == RC_OK))
        then(req, avro);
    else if (is_for_a_helper(in, &err))
        get_help(req, in, then);
    else
        refuse(req, &err);
    reply_scratch_done(w);
}

uint64_t record_bytes(const struct request *req, struct slice avro)
{
    const struct record_input *in = req->state;
    return avro.len + (in->encoding ? 0 : req->body.len);
}
