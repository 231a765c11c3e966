/* tests/fuzz/http.c - a connection's bytes: heads, bodies by length, chunked bodies, pipelined. Whatever
 * pieces they come in, the same is read; requests are framed as a plain reading of the rules
 * (plain_http.h) does it; and a head that the cache takes for known is what parsing it makes of it. The input: a byte that chooses the pieces, then the stream. */
#include "base/buf.h"
#include "base/limits.h"
#include "server/handler.h"
#include "server/http/chunked.h"
#include "server/http/head_cache.h"
#include "server/http/http1.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/plain_http.h"

static const struct http1_limits limits = {
    .head_max = LIMIT_HEAD_MAX, .target_max = LIMIT_TARGET_MAX, .headers_max = LIMIT_HEADERS_MAX};

/* A connection that is read, and what was seen on it, as text. */
struct reading {
    struct slice stream;
    size_t at, have; /* parsed so far; arrived so far */
    uint64_t pieces; /* draws the lengths of pieces; 0: all comes at once */
    bool in_place;   /* chunked bodies */
    bool is_over;
    struct head_cache heads;
    struct head_guess guess;
    struct buf log;
};

#define LOG(r, ...) CHECK(buf_printf(&(r)->log, __VA_ARGS__), "memory is out")

static void log_bytes(struct reading *r, const char *what, struct slice s)
{
    LOG(r, "%s %zu: ", what, s.len);
    CHECK(buf_append(&r->log, s) && buf_append_byte(&r->log, '\n'), "memory is out");
}

static void end(struct reading *r, const char *why)
{
    LOG(r, "%s\n", why);
    r->is_over = true;
}

/* More of the stream. False: there is no more. */
static bool receive(struct reading *r)
{
    size_t left = r->stream.len - r->have, n = left;
    if (left == 0)
        return false;
    if (r->pieces) {
        r->pieces = r->pieces * 6364136223846793005u + 1442695040888963407u;
        uint64_t draw = r->pieces >> 40;
        n = draw & 3 ? 1 + (draw >> 2) % 8 : 1 + (draw >> 2) % 700;
    }
    r->have += n < left ? n : left;
    return true;
}

static struct slice arrived(const struct reading *r)
{
    return slice_of(r->stream.ptr + r->at, r->have - r->at);
}

/* What holds for a head that is not broken. */
static void check_head(const struct request *req, const struct http1_info *info)
{
    CHECK(req->path.len && (req->path.ptr[0] == '/' || slice_eq(req->path, SLICE("*"))), "path %.*s",
          SHOW(req->path));
    CHECK(req->http_minor <= 1, "minor %u", req->http_minor);
    CHECK(info->chunked == (req->body_declared == UINT64_MAX), "chunked without its mark");
    CHECK(!(info->chunked && req->header[HEADER_CONTENT_LENGTH].len), "two frames");
    CHECK(!(req->method == METHOD_HEAD && req->body_declared), "HEAD with a body");
    for (int i = 0; i < HEADERS; i++)
        for (size_t k = 0; k < req->header[i].len; k++) {
            uint8_t c = req->header[i].ptr[k];
            CHECK(c == '\t' || (c >= 0x20 && c != 0x7f), "a control character in field %d", i);
        }
}

static void read_length(struct reading *r, uint64_t bytes)
{
    while (r->have - r->at < bytes)
        if (!receive(r)) {
            end(r, "body cut off");
            return;
        }
    log_bytes(r, "body", slice_of(r->stream.ptr + r->at, (size_t)bytes));
    r->at += (size_t)bytes;
}

static enum chunked_rc read_piece(struct reading *r, struct chunked *c, struct buf *body, struct err *err)
{
    struct slice in = fuzz_copy(arrived(r));
    struct chunked dropping = *c;
    struct err other;
    size_t used, made, used_too, made_too;
    CHECK(buf_reserve(body, in.len + 1), "memory is out");
    uint8_t *to = r->in_place ? (uint8_t *)(uintptr_t)in.ptr : body->ptr + body->len;
    enum chunked_rc dropped = chunked_read(&dropping, in, NULL, &used_too, &made_too, &other);
    enum chunked_rc rc = chunked_read(c, in, to, &used, &made, err);
    CHECK(rc == dropped && used == used_too && made == made_too, "dropped data are read otherwise");
    CHECK(made <= used && used <= in.len, "%zu of %zu bytes make %zu", used, in.len, made);
    CHECK(rc != CHUNKED_MORE || used == in.len, "more, but %zu bytes are left", in.len - used);
    if (r->in_place && made)
        memcpy(body->ptr + body->len, in.ptr, made);
    body->len += made;
    r->at += used;
    fuzz_free(in);
    return rc;
}

/* Of a stream that is too short for the limit of extensions and trailers. */
static void check_chunked(const struct reading *r, size_t began, struct slice got, bool is_done)
{
    struct buf body = {0};
    struct slice in = slice_of(r->stream.ptr + began, r->stream.len - began);
    if (r->stream.len < LIMIT_CHUNK_EXTRAS_MAX) {
        const uint8_t *behind = plain_chunked(in, &body);
        CHECK(is_done == (behind != NULL), "done %d: %.*s", is_done, SHOW(in));
        CHECK(!behind || behind == r->stream.ptr + r->at, "%.*s", SHOW(in));
        CHECK(!behind || slice_eq(got, buf_slice(&body)), "%.*s: %.*s", SHOW(in), SHOW(got));
    }
    buf_release(&body);
}

static void read_chunked(struct reading *r)
{
    size_t began = r->at;
    struct chunked c = {0};
    struct buf body = {0};
    struct err err = {0};
    enum chunked_rc rc;
    while ((rc = read_piece(r, &c, &body, &err)) == CHUNKED_MORE && receive(r))
        ;
    check_chunked(r, began, buf_slice(&body), rc == CHUNKED_DONE);
    log_bytes(r, rc == CHUNKED_DONE ? "body" : "part of a body", buf_slice(&body));
    if (rc == CHUNKED_BAD)
        end(r, err.message);
    else if (rc == CHUNKED_MORE)
        end(r, "body cut off");
    buf_release(&body);
}

static void log_head(struct reading *r, const struct request *req, const struct http1_info *info)
{
    LOG(r, "%s 1.%u keep %d chunked %d continue %d declared %llu\n", method_name(req->method),
        req->http_minor, info->keep_alive, info->chunked, info->expect_continue,
        (unsigned long long)req->body_declared);
    log_bytes(r, "target", req->target);
    log_bytes(r, "path", req->path);
    log_bytes(r, "query", req->query);
    for (int i = 0; i < HEADERS; i++)
        log_bytes(r, "field", req->header[i]);
}

static void check_frame(struct slice head, enum http1_parsed parsed, const struct http1_info *info,
                        uint64_t declared)
{
    uint64_t bytes;
    switch (plain_head(head, &bytes)) {
    case PLAIN_LENGTH: CHECK(parsed != HTTP1_BROKEN && declared == bytes, "%.*s", SHOW(head)); break;
    case PLAIN_CHUNKED: CHECK(parsed != HTTP1_BROKEN && info->chunked, "%.*s", SHOW(head)); break;
    case PLAIN_BROKEN: CHECK(parsed == HTTP1_BROKEN, "%.*s", SHOW(head)); break;
    case PLAIN_UNKNOWN: break;
    }
}

/* ---- heads that came before ---- */

static void check_known(const struct head_match *m, const struct request *req, const struct http1_info *info)
{
    struct request known = {0};
    struct http1_info known_info;
    head_match_take(m, &known, &known_info);
    CHECK(known.method == req->method && known.http_minor == req->http_minor, "another request line");
    CHECK(slice_eq(known.method_sent, req->method_sent) && slice_eq(known.target, req->target) &&
              slice_eq(known.path, req->path) && slice_eq(known.query, req->query),
          "another target: %.*s", SHOW(req->target));
    CHECK(known.body_declared == req->body_declared && known_info.chunked == info->chunked &&
              known_info.keep_alive == info->keep_alive &&
              known_info.expect_continue == info->expect_continue,
          "another frame");
    for (int i = 0; i < HEADERS; i++)
        CHECK(known.header[i].ptr == req->header[i].ptr && known.header[i].len == req->header[i].len,
              "field %d: %.*s", i, SHOW(req->header[i]));
}

/* What was known of the head before it was parsed, if anything; and what is once it is kept. */
static void check_cache(struct reading *r, const struct head_match *before, struct slice head,
                        enum http1_parsed parsed, const struct request *req, const struct http1_info *info)
{
    struct head_match after;
    CHECK(!before || (parsed == HTTP1_OK && before->bytes == head.len), "known: %.*s", SHOW(head));
    if (before)
        check_known(before, req, info);
    if (parsed != HTTP1_OK || !head_cache_keep(&r->heads, &r->guess, head, req, info))
        return;
    struct head_guess guess = r->guess;
    guess.misses = 0;
    if (head_cache_match(&r->heads, &guess, &limits, head, &after)) {
        CHECK(after.bytes == head.len, "%zu of %zu bytes are known", after.bytes, head.len);
        check_known(&after, req, info);
    }
}

static void read_parsed(struct reading *r, struct slice head, const struct head_match *before)
{
    struct request req = {0};
    struct http1_info info;
    struct err err = {0};
    enum http1_parsed parsed = http1_parse(head, &limits, &req, &info, &err);
    CHECK(req.method < METHODS, "no method");
    check_cache(r, before, head, parsed, &req, &info);
    check_frame(head, parsed, &info, req.body_declared);
    LOG(r, "parsed %d code %d %s\n", parsed, err.code, err.message);
    if (parsed != HTTP1_BROKEN) {
        check_head(&req, &info);
        log_head(r, &req, &info);
    }
    bool is_chunked = info.chunked;
    uint64_t bytes = req.body_declared;
    arena_release(&req.arena);
    if (parsed == HTTP1_BROKEN)
        end(r, "broken");
    else if (is_chunked)
        read_chunked(r);
    else
        read_length(r, bytes);
}

static void read_request(struct reading *r)
{
    struct http1_scan scan = {0};
    struct err err = {0};
    struct head_match known;
    for (;;) {
        struct slice bytes = fuzz_copy(arrived(r));
        bool is_known = !scan.at && head_cache_match(&r->heads, &r->guess, &limits, bytes, &known);
        enum http1_found found = http1_scan(&scan, &limits, bytes, &err);
        CHECK(scan.start <= scan.at && scan.at <= bytes.len, "scanned %u of %zu", scan.at, bytes.len);
        CHECK(!is_known || found == HTTP1_HEAD, "known, but no head: %.*s", SHOW(bytes));
        if (found == HTTP1_HEAD) {
            CHECK(scan.at - scan.start <= LIMIT_HEAD_MAX, "a head of %u bytes", scan.at - scan.start);
            r->at += scan.at;
            read_parsed(r, slice_of(bytes.ptr + scan.start, scan.at - scan.start), is_known ? &known : NULL);
        } else if (found == HTTP1_BAD) {
            /* in a long stream it depends on the pieces which fault comes first */
            end(r, r->stream.len < LIMIT_HEAD_MAX ? err.message : "bad head");
        }
        fuzz_free(bytes);
        if (found != HTTP1_MORE)
            return;
        if (!receive(r)) {
            end(r, "head cut off");
            return;
        }
    }
}

static void read_stream(struct reading *r)
{
    receive(r);
    while (!r->is_over)
        read_request(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    uint8_t pieces = fuzz_byte(&in);
    struct reading whole = {.stream = in}, pieced = {.stream = in, .pieces = 1 + pieces};
    pieced.in_place = pieces & 1;
    read_stream(&whole);
    read_stream(&pieced);
    CHECK(slice_eq(buf_slice(&whole.log), buf_slice(&pieced.log)), "whole:\n%.*s\nin pieces:\n%.*s",
          (int)whole.log.len, (const char *)whole.log.ptr, (int)pieced.log.len, (const char *)pieced.log.ptr);
    buf_release(&whole.log);
    buf_release(&pieced.log);
    return 0;
}
