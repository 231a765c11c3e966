/* server/http/respond.c - the short forms of an answer, errors as HTTP, and the bytes of a response. */
#include "server/http/respond.h"

#include <assert.h>

#include "base/log.h"
#include "base/num.h"
#include "server/handlers/idem/idem.h"
#include "server/http/date.h"
#include "server/http/problem.h"
#include "server/http/request_id.h"
#include "server/http/worker.h"
#include "server/registry/fault.h"
#include "server/registry/media.h"

/* ---- rendering ---- */

static const struct slice status_lines[] = {
#define STATUS(code, reason)                                                                                 \
    [(code)-200] = {(const uint8_t *)"HTTP/1.1 " #code " " reason "\r\n",                                    \
                    sizeof("HTTP/1.1 " #code " " reason "\r\n") - 1},
#include "server/http/status.def"
#undef STATUS
};

/* An error with a status that has no row does not compile. */
enum {
#define STATUS(code, reason) STATUS_##code,
#include "server/http/status.def"
#undef STATUS
};
#define ERROR(name, status, slug, title) _Static_assert(STATUS_##status >= 0, "status.def has no " #status);
#include "base/errors.def"
#undef ERROR

static struct slice status_line(unsigned status)
{
    assert(status >= 200 && status - 200 < ARRAY_LEN(status_lines)); /* a row of status.def is missing */
    struct slice line = status_lines[status - 200];
    assert(line.len);
    return line;
}

static inline uint8_t *put(uint8_t *at, struct slice s)
{
    memcpy(at, s.ptr, s.len);
    return at + s.len;
}

static uint8_t *put_etag(uint8_t *at, const struct response *r)
{
    at = put(at, SLICE("ETag: \""));
    at += num_print_u64(r->etag_revision, at);
    *at++ = '-';
    at += num_print_u64(r->etag_version, at);
    if (unlikely(r->etag_suffix.len))
        at = put(at, r->etag_suffix);
    if (unlikely(r->coding) && (r->status == 200 || r->status == 304))
        at = put(at, coding_suffix(r->coding));
    return put(at, SLICE("\"\r\n"));
}

/* RFC 9110, 8.6: no Content-Length in a 204, and none that could be wrong in a 304. */
bool respond_status_has_body(unsigned status)
{
    return status != 204 && status != 304;
}

uint64_t respond_body_bytes(const struct request *req)
{
    const struct response *r = &req->response;
    return respond_sends_body(req) ? r->body.len + r->body_rest.len + req->edge.stream_made : 0;
}

/* How the client is to find the end of the body (RFC 9112, 6.3). Of a stream whose length is not known it does by
 * chunks, in 1.0 by the end of the connection; the answer to HEAD says nothing of it. */
static uint8_t *put_framing(uint8_t *at, const struct request *req)
{
    const struct response *r = &req->response;
    if (unlikely(r->coding) && req->method == METHOD_HEAD)
        return at; /* it has not been compressed, so nobody knows */
    if (likely(!r->stream) || r->stream_bytes != STREAM_BYTES_UNKNOWN) {
        at = put(at, SLICE("Content-Length: "));
        at += num_print_u64(r->stream ? r->stream_bytes : r->body.len + r->body_rest.len, at);
        return put(at, SLICE("\r\n"));
    }
    return respond_is_chunked(req) ? put(at, SLICE("Transfer-Encoding: chunked\r\n")) : at;
}

bool respond_is_chunked(const struct request *req)
{
    const struct response *r = &req->response;
    return r->stream && r->stream_bytes == STREAM_BYTES_UNKNOWN && req->http_minor && respond_sends_body(req);
}

bool respond_sends_body(const struct request *req)
{
    return respond_status_has_body(req->response.status) && req->method != METHOD_HEAD;
}

/* What a head takes at most beside the parts of any length. */
enum { HEAD_FIXED_BYTES = 512 };

bool respond_render(struct buf *out, const struct request *req, const struct date *date,
                    enum connection_says says)
{
    const struct response *r = &req->response;
    struct slice type = r->content_type ? slice_str(r->content_type) : (struct slice){0};
    bool has_body = respond_status_has_body(r->status);
    bool sends_body = has_body && req->method != METHOD_HEAD && !r->stream;
    size_t room =
        HEAD_FIXED_BYTES + type.len + r->headers.len + (sends_body ? r->body.len + r->body_rest.len : 0);
    uint8_t made[REQUEST_ID_MADE_BYTES];
    if (!buf_reserve(out, room))
        return false;

    uint8_t *at = put(out->ptr + out->len, status_line(r->status));
    at = put(at, slice_of(date->line, DATE_LINE_BYTES));
    if (type.len)
        at = put(put(put(at, SLICE("Content-Type: ")), type), SLICE("\r\n"));
    if (has_body)
        at = put_framing(at, req);
    if (unlikely(r->coding) && has_body)
        at = put(put(put(at, SLICE("Content-Encoding: ")), coding_name(r->coding)), SLICE("\r\n"));
    if (r->etag_revision)
        at = put_etag(at, r);
    if (r->headers.len)
        at = put(at, r->headers);
    at = put(put(put(at, SLICE("X-Request-Id: ")), request_id(req, made)), SLICE("\r\n"));
    if (says == SAYS_KEEP_ALIVE)
        at = put(at, SLICE("Connection: keep-alive\r\n"));
    else if (says == SAYS_CLOSE)
        at = put(at, SLICE("Connection: close\r\n"));
    at = put(at, SLICE("\r\n"));
    if (sends_body && r->body.len)
        at = put(at, r->body);
    if (sends_body && unlikely(r->body_rest.len))
        at = put(at, r->body_rest);
    assert((size_t)(at - out->ptr) <= out->len + room);
    out->len = (size_t)(at - out->ptr);
    return true;
}

/* ---- short forms ---- */

void answer_text(struct request *req, unsigned status, struct slice body)
{
    req->response.status = (uint16_t)status;
    req->response.content_type = "text/plain; charset=utf-8";
    req->response.body = body;
    answer(req);
}

void answer_json(struct request *req, struct slice body)
{
    req->response.status = 200;
    req->response.content_type = "application/json";
    req->response.body = body;
    answer(req);
}

/* Memory is out: the one problem whose text is there already, and so is all of its head. */
#define NO_MEMORY_BODY                                                                                       \
    "{\"status\":503,\"title\":\"Out of memory\",\"detail\":\"Memory is out; try again.\","                  \
    "\"code\":\"no_memory\"}"

static void set_static_headers(struct request *req, struct slice lines)
{
    req->response.headers = lines;
    req->edge.headers_room = 0;
}

/* The media type of an error's answer. */
static const char *error_type(const struct request *req)
{
    if (likely(!req->is_registry))
        return "application/problem+json";
    const char *type = media_answer(req->header[HEADER_ACCEPT]);
    return type ? type : "application/json";
}

void respond_no_memory(struct request *req)
{
    req->response.status = 503;
    req->response.content_type = error_type(req);
    req->response.body = req->is_registry ? SLICE(FAULT_NO_MEMORY) : SLICE(NO_MEMORY_BODY);
    req->response.body_rest = (struct slice){0};
    req->response.body_lent = false;
    req->response.etag_revision = 0;
    req->response.stream = NULL;
    req->response.coding = CODING_identity;
    set_static_headers(req, SLICE("Retry-After: 1\r\n"));
}

/* The registry's errors have the media type that Accept prefers, also those that are made before its handlers run,
 * which say so first. */
static COLD void tell_vary(struct request *req)
{
    const struct slice line = SLICE("Vary: Accept, Accept-Encoding\r\n");
    if (slice_starts(req->response.headers, line))
        return;
    if (!response_header(req, "Vary", SLICE("Accept, Accept-Encoding")))
        set_static_headers(req, line);
}

static void respond_err(struct request *req, const struct err *err, struct slice body)
{
    struct response *r = &req->response;
    r->status = (uint16_t)(req->is_registry ? fault_status(err) : err_status(err->code));
    r->content_type = error_type(req);
    r->body = body;
    if (r->status >= 500)
        r->etag_revision = 0; /* of a record that is not shown */
    if (unlikely(req->is_registry))
        tell_vary(req);
    /* RFC 9110, 15.5.16: which codings of a body are taken. */
    if (unlikely(err->code == ERR_UNSUPPORTED_CODING) &&
        !response_header(req, "Accept-Encoding", SLICE("identity")))
        set_static_headers(req, SLICE("Accept-Encoding: identity\r\n"));
    /* A broken store stays so until a restart: no use in coming again. */
    if (r->status == 503 && err->code != ERR_STORE_BROKEN && !response_header(req, "Retry-After", SLICE("1")))
        set_static_headers(req, SLICE("Retry-After: 1\r\n"));
}

/* Of the path as much as leaves room for the rest of the line. */
static COLD void log_fault(const struct request *req, const struct err *err)
{
    uint8_t made[REQUEST_ID_MADE_BYTES];
    struct slice id = request_id(req, made);
    log_error("%s %.*s: %s (request %.*s)", method_name(req->method),
              (int)(req->path.len < 512 ? req->path.len : 512), (const char *)req->path.ptr, err->message,
              (int)id.len, (const char *)id.ptr);
}

void answer_err_with(struct request *req, const struct err *err, struct slice member)
{
    struct buf *text = &edge_worker_of(req->worker)->problem;
    assert(err->code != ERR_NONE);
    if (err_status(err->code) == 500)
        log_fault(req, err);
    text->len = 0;
    if (req->is_registry ? fault_print(text, err) : problem_print(text, err, member))
        respond_err(req, err, buf_slice(text));
    else
        respond_no_memory(req);
    if (likely(!req->look) || !idem_keep(req, err))
        answer(req);
    buf_reset(text, 65536);
}

bool err_print_open(struct buf *out, const struct err *err)
{
    if (!problem_print(out, err, (struct slice){0}))
        return false;
    out->len--;
    return true;
}

void answer_err(struct request *req, const struct err *err)
{
    answer_err_with(req, err, (struct slice){0});
}

bool respond_unasked(struct buf *out, const struct err *err, uint64_t number, const struct date *date)
{
    struct buf text = {0};
    struct request req = {.edge = {.number = number},
                          .response = {.status = (uint16_t)err_status(err->code),
                                       .content_type = "application/problem+json",
                                       .headers = SLICE("Retry-After: 1\r\n")}};
    bool ok = problem_print(&text, err, (struct slice){0});
    req.response.body = buf_slice(&text);
    ok = ok && respond_render(out, &req, date, SAYS_CLOSE);
    buf_release(&text);
    return ok;
}

/* ---- further lines of the head ---- */

void response_reset(struct request *req)
{
    req->response = (struct response){0};
    req->edge.headers_room = 0;
}

/* Room for `more` bytes behind response.headers; doubles, so that many lines cost no more than
 * their length. */
static uint8_t *headers_room(struct request *req, size_t more)
{
    struct slice *lines = &req->response.headers;
    size_t need = lines->len + more;
    size_t room = lines->ptr == req->edge.headers_made ? req->edge.headers_room : 0;
    if (need > UINT32_MAX / 2)
        return NULL;
    if (need > room) {
        room = need < 128 ? 256 : need * 2;
        uint8_t *fresh = arena_alloc(&req->arena, room);
        if (!fresh)
            return NULL;
        if (lines->len)
            memcpy(fresh, lines->ptr, lines->len);
        lines->ptr = req->edge.headers_made = fresh;
        req->edge.headers_room = (uint32_t)room;
    }
    return (uint8_t *)(uintptr_t)lines->ptr + lines->len; /* the arena's, see above */
}

bool response_reserve(struct request *req, size_t bytes)
{
    return headers_room(req, bytes) != NULL;
}

bool response_header(struct request *req, const char *name, struct slice value)
{
    struct slice label = slice_str(name);
    size_t bytes = label.len + 2 + value.len + 2;
    for (size_t i = 0; i < value.len; i++)
        assert(value.ptr[i] >= 0x20 && value.ptr[i] != 0x7f);
    uint8_t *at = headers_room(req, bytes);
    if (!at)
        return false;
    at = put(put(at, label), SLICE(": "));
    if (value.len)
        at = put(at, value);
    put(at, SLICE("\r\n"));
    req->response.headers.len += bytes;
    return true;
}
