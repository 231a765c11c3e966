/* server/http/coded.c - see coded.h. The quickest level, and pieces of a sixth of a millisecond: a worker does it itself
 * (docs/decisions/0017-answers-are-compressed-as-they-leave.md). */
#include "server/http/coded.h"

#include <assert.h>

#include "base/limits.h"
#include "server/counts.h"
#include "server/http/deflater.h"
#include "server/http/respond.h"
#include "server/http/worker.h"
#include "server/server.h"

enum {
    PIECE_BYTES = 16384,
    PIECE_LENT = PIECE_BYTES / LIMIT_CHUNK_BYTES, /* slices of what a stream lends */
    KEEP_BYTES = 131072
};

/* Of an answer that is coded as it leaves; in the request's arena. */
struct coded {
    struct deflater *deflater;
    uint64_t said, taken; /* how long it is, perhaps STREAM_BYTES_UNKNOWN, and what has gone in */
    struct slice rest;    /* of a body that was no stream; its memory is counted as ... */
    uint64_t counted;
};

static struct coded_pool *pool_of(const struct request *req)
{
    return &edge_worker_of(req->worker)->coded;
}

/* ---- deflaters ---- */

static struct deflater *deflater_take(struct coded_pool *pool, enum coding coding)
{
    return pool->nidle[coding] ? pool->idle[coding][--pool->nidle[coding]] : deflater_new(coding);
}

static void deflater_give(struct coded_pool *pool, enum coding coding, struct deflater *d)
{
    if (pool->nidle[coding] == CODED_IDLE_MAX) {
        deflater_free(d);
        return;
    }
    deflater_reset(d);
    pool->idle[coding][pool->nidle[coding]++] = d;
}

void coded_pool_release(struct coded_pool *pool)
{
    for (unsigned c = 0; c < CODINGS; c++)
        while (pool->nidle[c])
            deflater_free(pool->idle[c][--pool->nidle[c]]);
    buf_release(&pool->plain);
    buf_release(&pool->body);
}

/* ---- what is asked for ---- */

static struct coding_wish wish_of(struct coded_pool *pool, struct slice text)
{
    if (likely(slice_eq(text, slice_of(pool->wish_text, pool->wish_bytes)) && text.len))
        return pool->wish;
    struct coding_wish wish = coding_wish(text);
    if (text.len && text.len <= CODED_WISH_BYTES) {
        memcpy(pool->wish_text, text.ptr, text.len);
        pool->wish_bytes = (uint8_t)text.len;
        pool->wish = wish;
    }
    return wish;
}

enum rc coded_ask(struct request *req, struct err *err)
{
    if (!req->worker->server->options->compress_answers)
        return RC_OK;
    struct coding_wish wish = wish_of(pool_of(req), req->header[HEADER_ACCEPT_ENCODING]);
    if (unlikely(wish.identity_refused && !wish.coding)) {
        req->response.headers = SLICE("Vary: Accept-Encoding\r\n");
        return err_set(
            err, ERR_NOT_ACCEPTABLE,
            "The Accept-Encoding of this request leaves nothing; offered are gzip, deflate, identity.");
    }
    req->coding = wish.coding;
    req->identity_refused = wish.identity_refused;
    return RC_OK;
}

/* ---- whether ---- */

/* A part of a body (206) is one of the body as it is. */
static bool is_to_be_coded(const struct request *req)
{
    const struct response *r = &req->response;
    uint64_t bytes = r->stream ? r->stream_bytes : r->body.len + r->body_rest.len;
    if (!bytes || !respond_status_has_body(r->status) || r->status == 206)
        return false;
    return req->identity_refused || (bytes >= req->worker->server->options->compress_answers &&
                                     r->content_type && coding_pays(slice_str(r->content_type)));
}

/* Caches are told, unless the answer says so anyway. */
static bool tell_vary(struct request *req)
{
    static const char said[] = "Accept-Encoding\r\n";
    struct slice lines = req->response.headers;
    return (lines.len && memmem(lines.ptr, lines.len, said, sizeof said - 1)) ||
           response_header(req, "Vary", SLICE("Accept-Encoding"));
}

/* ---- a short body ---- */

static bool body_code(struct response *r, struct deflater *d, struct buf *out)
{
    out->len = 0;
    return deflater_put(d, r->body, r->body_rest.len ? DEFLATER_GOES_ON : DEFLATER_END, out) &&
           (!r->body_rest.len || deflater_put(d, r->body_rest, DEFLATER_END, out));
}

static bool code_at_once(struct request *req, enum coding coding)
{
    struct response *r = &req->response;
    struct coded_pool *pool = pool_of(req);
    struct deflater *d = deflater_take(pool, coding);
    uint64_t bytes = r->body.len + r->body_rest.len;
    bool ok = d && body_code(r, d, &pool->body);
    if (d)
        deflater_give(pool, coding, d);
    if (!ok)
        return false;
    r->body = buf_slice(&pool->body);
    r->body_rest = (struct slice){0};
    r->body_lent = false;
    count(req->worker->counts, COUNT_compressed_plain_bytes, bytes);
    count(req->worker->counts, COUNT_compressed_bytes, r->body.len);
    return true;
}

/* ---- a long body, lent to its own stream ---- */

static enum rc body_lend(struct request *req, struct slice *parts, unsigned *n)
{
    struct slice rest = req->edge.coded->rest;
    bool all = rest.len <= PIECE_BYTES;
    parts[0] = all ? rest : slice_of(rest.ptr, PIECE_BYTES);
    *n = 1;
    return all ? RC_OK : RC_PENDING;
}

static void body_took(struct request *req, size_t bytes)
{
    struct slice *rest = &req->edge.coded->rest;
    *rest = slice_of(rest->ptr + bytes, rest->len - bytes);
}

/* In the arena in any case: what answers may be lent by their handlers for the call of answer() alone. */
static bool body_keep(struct request *req, struct coded *k)
{
    static const struct stream stream = {.lend = body_lend, .took = body_took};
    struct response *r = &req->response;
    size_t bytes = r->body.len + r->body_rest.len;
    uint8_t *kept = arena_alloc(&req->arena, bytes);
    if (!kept)
        return false;
    memcpy(kept, r->body.ptr, r->body.len);
    if (r->body_rest.len)
        memcpy(kept + r->body.len, r->body_rest.ptr, r->body_rest.len);
    k->rest = slice_of(kept, bytes);
    k->counted = bytes;
    answer_memory_take_always(req->worker, bytes);
    r->body = r->body_rest = (struct slice){0};
    r->body_lent = false;
    r->stream = &stream;
    r->stream_bytes = bytes;
    return true;
}

/* ---- piece by piece ---- */

static bool begin_stream(struct request *req, enum coding coding)
{
    struct edge *e = edge_worker_of(req->worker)->edge;
    struct coded *k = arena_calloc(&req->arena, 1, sizeof *k);
    if (!k)
        return false;
    if (atomic_fetch_add_explicit(&e->coded_streams, 1, memory_order_relaxed) >=
            req->worker->server->options->compressions_max ||
        !(k->deflater = deflater_take(pool_of(req), coding)))
        goto no;
    if (!req->response.stream && !body_keep(req, k)) {
        deflater_give(pool_of(req), coding, k->deflater);
        goto no;
    }
    k->said = req->response.stream_bytes;
    req->response.stream_bytes = STREAM_BYTES_UNKNOWN;
    req->edge.coded = k;
    return true;
no:
    atomic_fetch_sub_explicit(&e->coded_streams, 1, memory_order_relaxed);
    return false;
}

/* What has gone in so far is as much as was said, or we would call whole what is not. */
static void take(struct request *req, size_t bytes, enum rc rc)
{
    struct coded *k = req->edge.coded;
    k->taken += bytes;
    assert(k->taken <= k->said && (rc != RC_OK || k->said == STREAM_BYTES_UNKNOWN || k->taken == k->said));
    count(req->worker->counts, COUNT_compressed_plain_bytes, bytes);
}

/* Of a stream of unknown length nobody knows when it goes on: what there is must not wait for more. */
static enum deflater_then then_of(const struct coded *k, enum rc rc)
{
    if (rc == RC_OK)
        return DEFLATER_END;
    return k->said == STREAM_BYTES_UNKNOWN ? DEFLATER_FLUSH : DEFLATER_GOES_ON;
}

static enum rc more_made(struct request *req, struct buf *out, size_t room)
{
    struct coded *k = req->edge.coded;
    struct buf *plain = &pool_of(req)->plain;
    plain->len = 0;
    enum rc rc = req->response.stream->more(req, plain, room);
    if (rc == RC_ERR)
        return rc;
    take(req, plain->len, rc);
    bool ok = deflater_put(k->deflater, buf_slice(plain), then_of(k, rc), out);
    buf_reset(plain, KEEP_BYTES);
    return ok || rc == RC_AGAIN ? rc : RC_ERR;
}

static enum rc more_lent(struct request *req, struct buf *out)
{
    struct coded *k = req->edge.coded;
    struct slice part[PIECE_LENT];
    unsigned n = PIECE_LENT;
    size_t bytes = 0;
    enum rc rc = req->response.stream->lend(req, part, &n);
    if (rc == RC_ERR)
        return rc;
    for (unsigned i = 0; i < n; i++) {
        bool is_last = i + 1 == n && rc == RC_OK;
        if (!deflater_put(k->deflater, part[i], is_last ? DEFLATER_END : DEFLATER_GOES_ON, out))
            return RC_ERR;
        bytes += part[i].len;
    }
    req->response.stream->took(req, bytes);
    take(req, bytes, rc);
    return rc;
}

enum rc coded_more(struct request *req, struct buf *out, size_t room)
{
    size_t before = out->len;
    enum rc rc = req->response.stream->lend ? more_lent(req, out)
                                            : more_made(req, out, room < PIECE_BYTES ? room : PIECE_BYTES);
    count(req->worker->counts, COUNT_compressed_bytes, out->len - before);
    return rc;
}

void coded_end(struct request *req)
{
    struct coded *k = req->edge.coded;
    req->edge.coded = NULL;
    deflater_give(pool_of(req), req->response.coding, k->deflater);
    atomic_fetch_sub_explicit(&edge_worker_of(req->worker)->edge->coded_streams, 1, memory_order_relaxed);
    if (k->counted)
        answer_memory_give(req->worker, k->counted);
}

/* ---- all of it ---- */

/* HEAD is answered as GET would be, as far as that is known. */
static bool code(struct request *req)
{
    const struct response *r = &req->response;
    if (req->method == METHOD_HEAD)
        return true;
    if (!r->stream && r->body.len + r->body_rest.len <= LIMIT_COMPRESS_INLINE_MAX)
        return code_at_once(req, req->coding);
    return begin_stream(req, req->coding);
}

void coded_begin(struct request *req)
{
    if (respond_status_has_body(req->response.status))
        req->response.coding = CODING_identity; /* else it is that of what the client has */
    if (!is_to_be_coded(req) || !tell_vary(req) || !code(req))
        return;
    req->response.coding = req->coding;
    count(req->worker->counts, COUNT_compressed_answers, 1);
}
