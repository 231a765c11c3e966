/* server/http/exchange.c - begins, handles, answers and ends the requests of a connection. */
#include "server/http/exchange.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "server/access/access.h"
#include "server/access/admission.h"
#include "server/counts.h"
#include "server/http/coded.h"
#include "server/http/conn.h"
#include "server/http/head_cache.h"
#include "server/http/http1.h"
#include "server/http/request_id.h"
#include "server/http/respond.h"
#include "server/http/stream.h"
#include "server/http/tls_conn.h"
#include "server/http/web.h"
#include "server/http/worker.h"
#include "server/router.h"
#include "server/server.h"
#include "server/timing.h"

/* ---- requests, pooled ---- */

_Static_assert(offsetof(struct request, arena) > offsetof(struct request, header),
               "the arena is kept from request to request");

static void request_clear(struct request *req)
{
    for (uint32_t left = req->headers; left; left &= left - 1)
        req->header[__builtin_ctz(left)] = (struct slice){0};
    memset(req, 0, offsetof(struct request, header));
}

/* At the end of the queue. NULL: memory is out. */
static struct request *request_new(struct conn *c)
{
    struct edge_worker *w = c->worker;
    struct request *req = w->requests;
    if (req) {
        w->requests = req->next;
        w->nrequests--;
        request_clear(req);
    } else if (!(req = calloc(1, sizeof *req))) {
        return NULL;
    }
    req->edge.number = w->next_number++;
    req->edge.head_ns = c->turn_ns;
    req->conn = c;
    req->worker = &w->worker;
    req->begun_ns = c->turn_ns;
    c->turn_requests++;
    if (c->last)
        c->last->next = req;
    else
        c->first = req;
    c->last = req;
    c->nrequests++;
    return req;
}

static void name_tls(const struct tls_conn *t, struct access_entry *entry)
{
    entry->tls_version = tls_conn_version(t);
    entry->tls_cipher = tls_conn_cipher(t);
}

/* While head and answer are there. */
static COLD void log_access(const struct conn *c, const struct request *req)
{
    uint8_t made[REQUEST_ID_MADE_BYTES];
    bool answered = req->edge.flags & REQ_ANSWERED;
    struct access_entry entry = {
        .wall_ms = clock_wall_ms(),
        .duration_us = (clock_mono_ns() - req->edge.head_ns) / 1000,
        .bytes = answered ? respond_body_bytes(req) : 0,
        .status = answered ? req->response.status : 0,
        .http_minor = req->http_minor,
        .remote = slice_str(c->remote),
        .method = req->method_sent,
        .target = req->target,
        .request_id = request_id(req, made),
        .user_agent = req->header[HEADER_USER_AGENT],
        .referer = req->header[HEADER_REFERER],
        .user = req->user,
    };
    if (c->tls)
        name_tls(c->tls, &entry);
    access_lines_add(&c->worker->access, &entry);
}

/* Of its body and its answer. */
static uint64_t moved_bytes(const struct request *req)
{
    return req->body.len + (req->edge.flags & REQ_SENT ? respond_body_bytes(req) : 0);
}

/* It has been taken out of the queue. */
static void request_end(struct conn *c, struct request *req)
{
    struct edge_worker *w = c->worker;
    c->nrequests--;
    if (unlikely(req->response.stream))
        stream_end(req);
    if (unlikely(w->access.log))
        log_access(c, req);
    if (req->edge.flags & REQ_BEGUN)
        router_end(req);
    if (unlikely(req->access)) {
        admission_charge(req, c->address, moved_bytes(req));
        access_end(req);
    }
    body_release(w, req);
    if (req->edge.head)
        input_drop(&w->inputs, req->edge.head);
    if (w->nrequests == REQUEST_POOL_MAX) {
        arena_release(&req->arena);
        free(req);
        edge_note_freed(w->edge);
        return;
    }
    arena_reset(&req->arena);
    req->next = w->requests;
    w->requests = req;
    w->nrequests++;
}

/* ---- answers ---- */

static enum connection_says says(struct conn *c, const struct request *req)
{
    /* While draining, what was read is still answered; the last of it says so. */
    if (c->worker->draining && req == c->last && !conn_has_more(c) && c->body.framing == FRAMING_NONE)
        c->closing = true;
    if (unlikely(req->response.stream) && stream_ends_with_connection(req))
        c->closing = true;
    if (c->closing && req == c->last)
        return SAYS_CLOSE;
    return req->edge.flags & REQ_KEEP_ALIVE ? SAYS_KEEP_ALIVE : SAYS_NOTHING;
}

static void send_answer(struct conn *c, struct request *req)
{
    assert(req == c->first);
    req->edge.flags |= REQ_SENT;
    conn_output_ready(c);
    if (unlikely(c->worker->edge->cors.n))
        cors_answer(&c->worker->edge->cors, req);
    if (!respond_render(&c->out, req, &c->worker->date, says(c, req)))
        c->broken = true;
    unsigned method = likely(req->edge.flags & REQ_BEGUN) ? req->method : METHODS;
    counts_answered(req->worker->counts, req->route ? req->route->row : 0, method, req->response.status,
                    req->begun_ns);
    if (unlikely(req->response.stream))
        stream_begin(req);
}

static bool stands_in(struct slice s, const struct buf *b)
{
    return s.len && b->ptr && s.ptr >= b->ptr && s.ptr < b->ptr + b->cap;
}

static void keep_lent(struct request *req)
{
    struct response *r = &req->response;
    uint8_t *kept = arena_alloc(&req->arena, r->body.len + r->body_rest.len + 1);
    if (!kept) {
        respond_no_memory(req);
        return;
    }
    memcpy(kept, r->body.ptr, r->body.len);
    if (r->body_rest.len)
        memcpy(kept + r->body.len, r->body_rest.ptr, r->body_rest.len);
    r->body = slice_of(kept, r->body.len + r->body_rest.len);
    r->body_rest = (struct slice){0};
    r->body_lent = false;
}

/* Its turn has not come: keep what would not live until then. */
static void keep_answer(struct request *req)
{
    struct slice *body = &req->response.body;
    if (req->response.body_lent) {
        keep_lent(req);
        return;
    }
    const struct edge_worker *w = edge_worker_of(req->worker);
    if (!stands_in(*body, &req->worker->scratch) && !stands_in(*body, &w->problem) &&
        !stands_in(*body, &w->coded.body))
        return;
    if (!arena_copy(&req->arena, *body, body))
        respond_no_memory(req);
}

void answer(struct request *req)
{
    struct conn *c = req->conn;
    assert(!(req->edge.flags & REQ_ANSWERED)); /* a handler answers once */
    req->edge.flags |= REQ_ANSWERED;
    timing_show(req);
    if (unlikely(req->response.body.len > LIMIT_ANSWER_SMALL) && req->method == METHOD_GET &&
        answers_are_many(c->worker))
        respond_no_memory(req);
    if (!c->dead) {
        if (unlikely(req->coding))
            coded_begin(req);
        if (c->first == req && !c->beginning)
            send_answer(c, req);
        else
            keep_answer(req);
    }
    if (!c->turning)
        worker_enqueue(c->worker, c);
}

/* With those of other connections, if the client has sent nothing behind it: what is pipelined leaves with one write,
 * and is read as it comes. */
void request_get(struct request *req)
{
    struct conn *c = req->conn;
    if (c->turn_requests > 1 || c->at < c->end) {
        store_get(req->worker->store, &req->get);
        return;
    }
    store_get_soon(req->worker->store, &req->get);
    c->awaits_get = c->turning;
}

/* Answers leave in order; a request ends when its own has. */
static void reap(struct conn *c)
{
    struct request *req;
    while ((req = c->first) && req->edge.flags & REQ_ANSWERED) {
        if (!(req->edge.flags & REQ_SENT))
            send_answer(c, req);
        if (unlikely(req->response.stream) && !stream_pump(c, req))
            return;
        c->first = req->next;
        if (!c->first)
            c->last = NULL;
        request_end(c, req);
    }
}

void exchange_abandon(struct conn *c)
{
    struct request *req = c->first;
    c->first = c->last = NULL;
    while (req) {
        struct request *next = req->next;
        req->next = NULL;
        if ((req->edge.flags & (REQ_HANDLED | REQ_ANSWERED)) == REQ_HANDLED || req->edge.flags & REQ_WAITS) {
            if (c->last)
                c->last->next = req;
            else
                c->first = req;
            c->last = req;
        } else {
            request_end(c, req);
        }
        req = next;
    }
}

bool request_is_abandoned(const struct request *req)
{
    const struct conn *c = req->conn;
    return c->dead || c->broken || c->peer_shut;
}

/* ---- refusing ---- */

/* Take no more from this client, who may still be sending. */
static void hang_up(struct conn *c)
{
    c->closing = c->lingers = true;
    c->body = (struct body){0};
    c->at = c->end;
}

void exchange_give_up(struct conn *c, const struct err *err)
{
    bool head = c->body.framing == FRAMING_NONE, answered = c->body.discard;
    hang_up(c);
    if (answered)
        return;
    struct request *req = head ? request_new(c) : c->last;
    if (req)
        answer_err(req, err);
    else
        c->broken = true;
}

/* Before the router has seen it. */
static COLD void refuse_early(struct request *req, const struct err *err)
{
    req->is_registry = router_is_registry(req);
    answer_err(req, err);
}

/* ---- beginning ---- */

static struct web_listener listener_of(const struct conn *c)
{
    return (struct web_listener){.loopback = c->loopback, .secure = c->secure};
}

static bool method_changes(enum method m)
{
    return m != METHOD_GET && m != METHOD_HEAD && m != METHOD_OPTIONS && m != METHOD_TRACE;
}

static enum rc check_budget(const struct conn *c, struct err *err)
{
    if (likely(!c->blocked) || !answers_are_many(c->worker))
        return RC_OK;
    return err_set(err, ERR_NO_MEMORY, "Too many answers wait for slow clients; try again.");
}

/* What is checked once the route is known. */
static enum rc check_routed(struct conn *c, struct request *req, struct err *err)
{
    /* A GET that changes something is a row of the router's table. */
    if (!method_changes(req->method) && req->route && route_changes(req->route) &&
        web_check(req, &c->worker->edge->cors, listener_of(c), true, err) != RC_OK)
        return RC_ERR;
    return body_keep(c, err);
}

/* What the rules of web.h say depends on the listener, on the fields and on whether the request changes anything: a
 * known head that has passed has passed. */
static enum rc check_web(const struct conn *c, const struct request *req, struct known_head *known,
                         struct err *err)
{
    bool changes = method_changes(req->method);
    uint8_t bit = (uint8_t)(1u << (4 * c->secure + 2 * c->loopback + changes));
    if (known && known->web_passed & bit)
        return RC_OK;
    enum rc rc = web_check(req, &c->worker->edge->cors, listener_of(c), changes, err);
    if (known && rc == RC_OK)
        known->web_passed |= bit;
    return rc;
}

/* It may come in, if it is not one too many. Afterwards the request has been answered, or its body is awaited. */
static inline void admit_known(struct conn *c, struct request *req, const struct http1_info *info)
{
    struct err err;
    if (unlikely(req->access) && admission_of_caller(req, &err) != RC_OK) {
        refuse_early(req, &err);
        return;
    }
    req->edge.flags |= REQ_BEGUN;
    body_begin(c, info);
    if (router_begin(req) && check_routed(c, req, &err) != RC_OK)
        answer_err(req, &err);
}

/* It was answered before its body came. A client that waits for 100 will not send it, or perhaps it will:
 * only the end of the connection is clear to both. */
static void refuse_body(struct conn *c)
{
    if (c->body.framing != FRAMING_NONE && (c->body.continue_due || c->closing || !body_discard(c)))
        hang_up(c);
}

/* admit is through, or answer_err in its place. */
static void admitted(struct conn *c, const struct request *req, const struct http1_info *info)
{
    if (!(req->edge.flags & REQ_ANSWERED))
        return;
    if (!(req->edge.flags & REQ_BEGUN))
        body_begin(c, info);
    refuse_body(c);
}

/* ---- who is asking ---- */

/* While a helper looked at the password all that had been read may have been given back; a body begins in a block. */
static bool find_block(struct conn *c, const struct request *req)
{
    if (c->in || !req->body_declared)
        return true;
    c->at = c->end = 0;
    return (c->in = input_take(&c->worker->inputs));
}

/* What http1_parse said of the frame. */
static struct http1_info info_of(const struct request *req)
{
    return (struct http1_info){.chunked = req->body_declared == UINT64_MAX,
                               .expect_continue = req->http_minor && req->header[HEADER_EXPECT].len};
}

/* While a helper looks at a password the request counts as being handled: nothing behind it is begun, and if the connection dies it
 * stays until the helper is done. Of its body nothing is taken. */
static COLD void identified(struct request *req, const struct err *why_not)
{
    struct conn *c = req->conn;
    const struct http1_info info = info_of(req);
    struct err err;
    req->edge.flags &= (uint8_t)~REQ_HANDLED;
    worker_enqueue(c->worker, c);
    if (c->dead)
        return;                    /* its turn ends both */
    bool is_lost = c->last != req; /* we have hung up meanwhile, and its body is gone */
    if (!why_not && (is_lost || !find_block(c, req))) {
        err_oom(&err);
        why_not = &err;
    }
    c->beginning = true;
    if (why_not)
        refuse_early(req, why_not);
    else
        admit_known(c, req, &info);
    if (!is_lost)
        admitted(c, req, &info);
    c->beginning = false;
}

/* RC_PENDING: `identified` goes on. */
static COLD enum rc identify(struct conn *c, struct request *req, struct known_head *known, struct err *err)
{
    const struct caller caller = {.address = c->address,
                                  .certificate_user = tls_user(c->tls),
                                  .known = known ? &known->identity : NULL};
    enum rc rc = access_identify(req, &caller, identified, err);
    if (rc == RC_PENDING)
        req->edge.flags |= REQ_HANDLED;
    return rc;
}

/* Afterwards the request has been answered, or its body is awaited, or it waits for `identified`. */
static void admit(struct conn *c, struct request *req, const struct http1_info *info,
                  struct known_head *known)
{
    struct err err;
    req->body_max = c->worker->edge->server->options->body_max;
    if (check_web(c, req, known, &err) != RC_OK || check_budget(c, &err) != RC_OK ||
        (unlikely(req->headers >> HEADER_ACCEPT_ENCODING & 1) && coded_ask(req, &err) != RC_OK)) {
        refuse_early(req, &err);
        return;
    }
    if (req->path.ptr[0] == '*') {
        router_options(req);
        return;
    }
    if (unlikely(c->worker->edge->server->access)) {
        enum rc rc = identify(c, req, known, &err);
        if (rc == RC_ERR)
            refuse_early(req, &err);
        if (rc != RC_OK)
            return;
    }
    admit_known(c, req, info);
}

/* For a head of so many bytes. NULL: memory is out, and the connection is broken. */
static struct request *request_of_head(struct conn *c, size_t bytes)
{
    struct request *req = request_new(c);
    if (!req) {
        c->broken = true;
        return NULL;
    }
    req->edge.head = input_hold(c->in);
    c->at += bytes;
    c->progress = true;
    return req;
}

/* The head is parsed, and the request to be taken; *refusal: why it is not, or NULL. */
static void begin_parsed(struct conn *c, struct request *req, const struct http1_info *info,
                         struct known_head *known, const struct err *refusal)
{
    if (!info->keep_alive || c->final)
        c->closing = true;
    else if (!req->http_minor)
        req->edge.flags |= REQ_KEEP_ALIVE;
    c->beginning = true;
    if (likely(!refusal))
        admit(c, req, info, known);
    else
        refuse_early(req, refusal);
    admitted(c, req, info);
    c->beginning = false;
}

static void begin(struct conn *c, struct slice head)
{
    struct edge_worker *w = c->worker;
    struct request *req = request_of_head(c, c->scan.at);
    struct http1_info info;
    struct err err;
    c->scan = (struct http1_scan){0};
    if (!req)
        return;
    switch (http1_parse(head, &w->limits.http1, req, &info, &err)) {
    case HTTP1_OK:
        begin_parsed(c, req, &info, head_cache_keep(&w->heads, &c->guess, head, req, &info), NULL);
        break;
    case HTTP1_REFUSED: begin_parsed(c, req, &info, NULL, &err); break;
    case HTTP1_BROKEN:
        hang_up(c);
        refuse_early(req, &err);
        break;
    }
}

/* False: the next head is not whole yet, or has to be parsed. */
static bool begin_known(struct conn *c, struct slice bytes)
{
    struct edge_worker *w = c->worker;
    struct head_match m;
    struct http1_info info;
    if (!head_cache_match(&w->heads, &c->guess, &w->limits.http1, bytes, &m))
        return false;
    struct request *req = request_of_head(c, m.bytes);
    if (req) {
        head_match_take(&m, req, &info);
        begin_parsed(c, req, &info, m.known, NULL);
    }
    return true;
}

/* The client has sent its last byte; there is no whole request any more. */
static bool at_end(struct conn *c)
{
    struct err err;
    if (c->closing)
        return false;
    if (c->at == c->end) {
        c->closing = true;
        return false;
    }
    err_set(&err, ERR_BAD_REQUEST, "The connection ended in the middle of a request.");
    exchange_give_up(c, &err);
    return true;
}

static bool begin_next(struct conn *c)
{
    struct err err;
    if (c->at == c->end)
        return c->eof && at_end(c);
    struct slice bytes = slice_of(c->in->data + c->at, c->end - c->at);
    if (!c->scan.at && begin_known(c, bytes))
        return !c->broken;
    switch (http1_scan(&c->scan, &c->worker->limits.http1, bytes, &err)) {
    case HTTP1_HEAD:
        begin(c, slice_of(bytes.ptr + c->scan.start, c->scan.at - c->scan.start));
        return !c->broken;
    case HTTP1_BAD: exchange_give_up(c, &err); return true;
    case HTTP1_MORE: break;
    }
    /* Empty lines before a request are no beginning of one. */
    c->at += c->scan.start;
    c->scan.at -= c->scan.start;
    c->scan.line -= c->scan.start;
    c->scan.start = 0;
    return c->eof && at_end(c);
}

/* ---- going on ---- */

static bool advance_body(struct conn *c)
{
    struct err err;
    enum rc rc = body_advance(c, &err);
    if (rc == RC_OK)
        return true;
    if (rc == RC_PENDING && c->eof) {
        rc = err_set(&err, ERR_BAD_REQUEST, "The connection ended in the middle of a body.");
    } else if (rc == RC_PENDING) {
        if (c->body.continue_due && c->first == c->last) {
            c->body.continue_due = false;
            conn_output_ready(c);
            if (!buf_append(&c->out, SLICE("HTTP/1.1 100 Continue\r\n\r\n")))
                c->broken = true;
        }
        return false;
    }
    if (err.code == ERR_BODY_TOO_LARGE && !c->body.discard) { /* its frame is sound */
        c->beginning = true;
        answer_err(c->last, &err);
        c->beginning = false;
        refuse_body(c);
        return true;
    }
    exchange_give_up(c, &err);
    return true;
}

/* The last of the queue has its body, and waits to be handled. */
static bool handle_last(struct conn *c)
{
    struct request *req = c->last;
    if (c->first != req && !router_is_write(req))
        return false;
    req->edge.flags |= REQ_HANDLED;
    req->begun_ns = c->turn_ns;
    router_handle(req);
    return true;
}

/* May another request be begun behind those in the queue? Only writes may be in flight together. */
static bool may_begin(struct conn *c)
{
    const struct request *last = c->last;
    if (c->closing)
        return false;
    if (last && (c->nrequests >= LIMIT_PIPELINE_WRITES_MAX ||
                 !(last->edge.flags & REQ_ANSWERED || router_is_write(last)) || last->response.stream))
        return false;
    c->stalled = conn_unsent(c) >= LIMIT_OUTPUT_HIGH || worker_must_wait(c->worker);
    return !c->stalled;
}

static bool step(struct conn *c)
{
    if (c->broken || c->lingering)
        return false;
    if (c->body.framing != FRAMING_NONE)
        return advance_body(c);
    if (c->last && !(c->last->edge.flags & (REQ_HANDLED | REQ_ANSWERED)))
        return handle_last(c);
    return may_begin(c) && begin_next(c);
}

void exchange_advance(struct conn *c)
{
    c->stalled = false;
    do
        reap(c);
    while (step(c));
}
