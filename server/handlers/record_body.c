/* server/handlers/record_body.c - the body of a put: its form, and its Avro binary. */
#include "base/utf8.h"
#include "server/handlers/record.h"
#include "server/negotiate.h"

enum { LENGTH_BYTES_MAX = 10 };

enum rc record_negotiate(const struct request *req, const struct schema *schema, struct err *err)
{
    struct slice type = req->header[HEADER_CONTENT_TYPE], coding = req->header[HEADER_CONTENT_ENCODING];
    enum schema_raw raw = schema_raw(schema);
    if (likely(raw == SCHEMA_RAW_NONE))
        return negotiate_json_body(type, coding, err);
    return negotiate_raw_body(type, coding, raw == SCHEMA_RAW_STRING, err);
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

static enum rc encode_raw(struct request *req, enum schema_raw raw, struct err *err)
{
    struct buf *out = &req->worker->scratch;
    size_t valid = raw == SCHEMA_RAW_STRING ? utf8_valid_len(req->body) : req->body.len;
    if (valid != req->body.len)
        return fault_utf8(req, valid, err);
    if (!buf_reserve(out, LENGTH_BYTES_MAX))
        return err_oom(err);
    out->len = codec_put_length(req->body.len, out->ptr);
    return RC_OK;
}

enum rc record_encode(struct request *req, const struct schema *schema, struct err *err)
{
    struct worker *w = req->worker;
    w->scratch.len = 0;
    if (unlikely(schema_raw(schema) != SCHEMA_RAW_NONE))
        return encode_raw(req, schema_raw(schema), err);
    return codec_from_json(w->codec, schema, &req->type->codec, req->body, &w->scratch, &req->arena, err);
}
