/* server/http/stream.c - see stream.h. A piece is made when all before it has left for the kernel, so a slow client
 * holds one piece in the output and its place in the stream, and nothing else; of what is lent, its place alone. */
#include "server/http/stream.h"

#include <assert.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "server/counts.h"
#include "server/http/coded.h"
#include "server/http/conn.h"
#include "server/http/exchange.h"
#include "server/http/respond.h"

enum {
    PIECE_BYTES = 65536,
    PIECE_SMALL_BYTES = 4096, /* when too much waits for slow clients */
    CONN_PIECES = 4,          /* a turn: 256 KiB, about a millisecond of printing */
    WORKER_PIECES = 8,
    FRAME_BYTES = 10, /* before a chunk: eight digits and the line's end */
    FRAME_ROOM = 32,  /* that, and what ends a chunk and the last one */
};
_Static_assert(OUTPUT_KEEP_BYTES > PIECE_BYTES + FRAME_ROOM,
               "an output with a piece in it goes back to the pool");

/* ---- the budget ---- */

bool answer_memory_take(struct worker *worker, uint64_t bytes)
{
    const struct edge_worker *w = edge_worker_of(worker);
    uint64_t budget = w->limits.answers_budget;
    _Atomic uint64_t *spent = &w->edge->answer_bytes;
    uint64_t before = atomic_load_explicit(spent, memory_order_relaxed);
    do
        if (before > budget / 2 && (before > budget || bytes > budget - before))
            return false;
    while (!atomic_compare_exchange_weak_explicit(spent, &before, before + bytes, memory_order_relaxed,
                                                  memory_order_relaxed));
    return true;
}

void answer_memory_take_always(struct worker *worker, uint64_t bytes)
{
    atomic_fetch_add_explicit(&edge_worker_of(worker)->edge->answer_bytes, bytes, memory_order_relaxed);
}

void answer_memory_give(struct worker *worker, uint64_t bytes)
{
    struct edge *e = edge_worker_of(worker)->edge;
    atomic_fetch_sub_explicit(&e->answer_bytes, bytes, memory_order_relaxed);
    edge_note_freed(e);
}

/* ---- life ---- */

bool stream_ends_with_connection(const struct request *req)
{
    return req->response.stream_bytes == STREAM_BYTES_UNKNOWN && !req->http_minor && respond_sends_body(req);
}

void stream_begin(struct request *req)
{
    if (!respond_sends_body(req)) {
        stream_end(req);
        return;
    }
    req->edge.flags |= REQ_STREAMS;
    count(req->worker->counts, COUNT_streams_begun, 1);
}

/* All of it is in the output. */
static void count_whole(struct request *req)
{
    req->edge.flags &= (uint8_t)~REQ_STREAMS;
    histogram_add(&req->worker->counts->streams_ns, (uint64_t)(clock_mono_ns() - req->begun_ns), 1,
                  HISTOGRAM_NS);
}

void stream_end(struct request *req)
{
    const struct stream *s = req->response.stream;
    req->response.stream = NULL;
    if (unlikely(req->edge.coded != NULL))
        coded_end(req);
    if (req->edge.flags & REQ_STREAMS)
        count(req->worker->counts, COUNT_streams_broken, 1);
    req->edge.flags &= (uint8_t)~REQ_STREAMS;
    if (s->end)
        s->end(req);
}

void stream_resume(struct request *req)
{
    struct conn *c = req->conn;
    req->edge.flags &= (uint8_t)~REQ_WAITS;
    if (!c->turning)
        worker_enqueue(c->worker, c);
}

/* The client must not take what it has for the whole. Where only the end of the connection tells it the end of the
 * body, that end must be no clean one. */
static void cut(struct conn *c, const struct request *req)
{
    const struct linger at_once = {.l_onoff = 1};
    if (stream_ends_with_connection(req))
        (void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    c->broken = true;
}

/* ---- pieces ---- */

static void put_frame(uint8_t *at, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 7; i >= 0; i--, bytes >>= 4)
        at[i] = (uint8_t)digits[bytes & 15];
    assert(!bytes);
    memcpy(at + 8, "\r\n", 2);
}

static bool append(struct buf *out, struct slice s)
{
    return buf_append(out, s);
}

/* Around what was made behind out[begin]: an empty chunk would be the last one. */
static bool close_chunk(struct buf *out, size_t begin, bool last)
{
    size_t made = out->len - begin - FRAME_BYTES;
    if (made)
        put_frame(out->ptr + begin, made);
    else
        out->len = begin;
    return (!made || append(out, SLICE("\r\n"))) && (!last || append(out, SLICE("0\r\n\r\n")));
}

/* It makes as much as it has said, or we would send what is no HTTP. */
static void check_length(const struct request *req, enum rc rc)
{
    uint64_t made = req->edge.stream_made, said = req->response.stream_bytes;
    assert(made <= said && (rc != RC_OK || made == said || said == STREAM_BYTES_UNKNOWN));
}

static enum rc make_piece(struct conn *c, struct request *req)
{
    struct buf *out = &c->out;
    size_t room = answers_are_many(c->worker) ? PIECE_SMALL_BYTES : PIECE_BYTES;
    bool is_chunked = respond_is_chunked(req);
    room -= conn_unsent(c) < room / 2 ? conn_unsent(c) : room / 2;
    conn_output_ready(c);
    if (!buf_reserve(out, room + FRAME_ROOM))
        return RC_ERR;
    size_t begin = out->len;
    if (is_chunked)
        out->len += FRAME_BYTES;
    size_t before = out->len;
    req->edge.flags |= REQ_WAITS;
    enum rc rc = req->edge.coded ? coded_more(req, out, room) : req->response.stream->more(req, out, room);
    if (rc != RC_AGAIN)
        req->edge.flags &= (uint8_t)~REQ_WAITS;
    assert(out->len >= before);
    req->edge.stream_made += out->len - before;
    check_length(req, rc);
    if (is_chunked && !close_chunk(out, begin, rc == RC_OK))
        c->broken = true;
    return rc;
}

/* What stands in memory leaves from where it stands. */
static enum rc send_lent(struct conn *c, struct request *req)
{
    const struct stream *stream = req->response.stream;
    struct slice part[CONN_LENT_MAX];
    unsigned n = CONN_LENT_MAX;
    size_t bytes = 0;
    enum rc rc = stream->lend(req, part, &n);
    if (rc == RC_ERR)
        return rc;
    for (unsigned i = 0; i < n; i++)
        bytes += part[i].len;
    size_t taken = conn_send_lent(c, part, n);
    stream->took(req, taken);
    req->edge.stream_made += taken;
    if (taken < bytes)
        return RC_PENDING;
    check_length(req, rc);
    return rc;
}

/* False: it cannot take more now. */
static bool socket_takes_more(struct conn *c)
{
    if (conn_unsent(c) >= PIECE_SMALL_BYTES / 2) /* a head waits for the first piece of its body */
        conn_flush(c);
    return !c->broken && !c->blocked;
}

bool stream_share_is_spent(const struct edge_worker *w)
{
    return w->pieces >= WORKER_PIECES;
}

static bool turn_is_over(struct conn *c)
{
    if (c->pieces < CONN_PIECES && !stream_share_is_spent(c->worker)) {
        c->pieces++;
        c->worker->pieces++;
        return false;
    }
    worker_enqueue(c->worker, c);
    return true;
}

bool stream_pump(struct conn *c, struct request *req)
{
    c->streaming = true;
    while (!(req->edge.flags & REQ_WAITS) && socket_takes_more(c) && !turn_is_over(c)) {
        switch (req->response.stream->lend && !req->edge.coded ? send_lent(c, req) : make_piece(c, req)) {
        case RC_OK:
            c->streaming = false;
            count_whole(req);
            stream_end(req);
            return true;
        case RC_ERR: cut(c, req); return false;
        default: break; /* if it has nothing now, its flag says so */
        }
    }
    return false;
}
