/* server/http/conn_tls.c - see conn_tls.h. */
#include "server/http/conn_tls.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "server/counts.h"
#include "server/http/exchange.h"
#include "server/http/tls_conn.h"

/* What is decrypted in a turn, about. */
enum { TURN_BYTES = 4 * TLS_RECORD_BYTES };

/* ---- the beginning ---- */

/* A handshake begins with a byte that is no letter (RFC 8446, 5.1). */
static bool is_plain_http(uint8_t first)
{
    return (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
}

static void refuse_plain(struct conn *c)
{
    struct err err;
    c->secure = false;
    c->turn_ns = clock_mono_ns();
    err_set(&err, ERR_BAD_REQUEST, "This port speaks TLS: ask by https, not by http.");
    exchange_give_up(c, &err);
}

/* Memory for TLS is taken when the client has sent its first byte. */
static void begin(struct conn *c)
{
    uint8_t first;
    ssize_t n = recv(c->fd, &first, 1, MSG_PEEK);
    if (n > 0 && is_plain_http(first)) {
        refuse_plain(c);
    } else if (n > 0) {
        c->tls = tls_conn_new(c->worker->edge->tls, c->fd);
        c->broken = !c->tls;
    } else if (n == 0) {
        c->eof = true;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        c->readable = false;
        c->to_drain = 0;
    } else {
        c->broken = errno != EINTR;
    }
}

/* An alert may be on its way, which a reset would overtake: it is closed in two steps. */
static void handshake_failed(struct conn *c)
{
    count(c->worker->worker.counts, COUNT_tls_handshakes_failed, 1);
    c->closing = c->lingers = true;
}

static void handshake_done(struct conn *c)
{
    struct counts *counts = c->worker->worker.counts;
    c->progress = true; /* the head has its own time */
    count(counts, COUNT_tls_handshakes, 1);
    if (tls_conn_is_resumed(c->tls))
        count(counts, COUNT_tls_handshakes_resumed, 1);
}

/* ---- receiving ---- */

/* While the worker drains, what had come is received, and no more, but for the rest of a body. */
static uint64_t may_take(const struct conn *c)
{
    return c->worker->draining && !c->final && c->body.framing == FRAMING_NONE ? c->to_drain : UINT64_MAX;
}

/* What a call has found out. */
static void note(struct conn *c, enum tls_did did)
{
    struct tls_conn *t = c->tls;
    c->inside = !t->starved && tls_conn_holds(t);
    c->to_drain -= t->taken < c->to_drain ? (size_t)t->taken : c->to_drain;
    t->may_take -= t->may_take == UINT64_MAX ? 0 : t->taken;
    t->taken = 0;
    if (t->empty || (t->short_read && !c->inside && !c->peer_shut)) {
        c->readable = false;
        c->to_drain = 0;
    }
    switch (did) {
    case TLS_DONE:
    case TLS_AGAIN:
    case TLS_WANTS_BYTES: break;
    case TLS_WANTS_ROOM: /* the edge that says that there is some stands for one that says that bytes are there */
        c->blocked = c->reads_by_write = true;
        c->readable = false;
        break;
    case TLS_ENDED:
        c->eof = true;
        c->readable = c->inside = false;
        c->to_drain = 0;
        break;
    case TLS_FAILED: c->broken = t->ready; break;
    }
}

/* True: it is over. */
static bool shake_hands(struct conn *c)
{
    enum tls_did did = tls_conn_handshake(c->tls);
    note(c, did);
    if (did == TLS_DONE)
        handshake_done(c);
    else if (did == TLS_FAILED || did == TLS_ENDED)
        handshake_failed(c);
    return did == TLS_DONE;
}

size_t conn_tls_receive(struct conn *c, uint8_t *to, size_t room)
{
    enum tls_did did = TLS_DONE;
    size_t received = 0;
    if (unlikely(!c->tls))
        begin(c);
    if (unlikely(!c->tls))
        return 0;
    c->tls->may_take = may_take(c);
    if (unlikely(!c->tls->ready) && (!shake_hands(c) || !c->readable))
        return 0;
    room = room < TURN_BYTES ? room : TURN_BYTES;
    while (did == TLS_DONE && received < room) {
        size_t n;
        did = tls_conn_read(c->tls, to + received, room - received, &n);
        note(c, did);
        received += n;
        if (!c->readable)
            break;
    }
    return received;
}

/* ---- sending ---- */

ssize_t conn_tls_send(struct conn *c, const uint8_t *from, size_t bytes)
{
    size_t sent = 0;
    errno = EPIPE;
    if (conn_tls_is_mute(c))
        return -1;
    switch (tls_conn_write(c->tls, from, bytes, &sent)) {
    case TLS_DONE: return (ssize_t)sent;
    case TLS_WANTS_ROOM: errno = EAGAIN; return -1;
    case TLS_WANTS_BYTES: /* not in the versions that we speak, without renegotiation */
    case TLS_AGAIN:
    case TLS_ENDED:
    case TLS_FAILED: break;
    }
    errno = EPIPE;
    return -1;
}

ssize_t conn_tls_send_pieces(struct conn *c, const struct slice *parts, unsigned n, size_t skip)
{
    uint8_t *record = c->worker->record;
    size_t bytes = 0;
    for (unsigned i = 0; i < n && bytes < TLS_RECORD_BYTES; i++) {
        size_t skipped = skip < parts[i].len ? skip : parts[i].len;
        size_t len = parts[i].len - skipped, room = TLS_RECORD_BYTES - bytes;
        len = len < room ? len : room;
        if (len)
            memcpy(record + bytes, parts[i].ptr + skipped, len);
        bytes += len;
        skip -= skipped;
    }
    return conn_tls_send(c, record, bytes);
}

/* ---- the end ---- */

bool conn_tls_in_middle(const struct conn *c)
{
    return !c->tls || !c->tls->ready || tls_conn_holds(c->tls);
}

bool conn_tls_is_mute(const struct conn *c)
{
    return !c->tls || !c->tls->ready || c->tls->failed;
}

bool conn_tls_end(struct conn *c)
{
    c->ends = !conn_tls_is_mute(c) && tls_conn_end(c->tls) == TLS_WANTS_ROOM;
    c->blocked |= c->ends;
    return !c->ends;
}

void conn_tls_free(struct conn *c)
{
    if (c->tls->ready)
        count(c->worker->worker.counts, COUNT_tls_closed, 1);
    tls_conn_free(c->tls);
    c->tls = NULL;
}
