/* server/http/conn_output.c - a connection's output: one buffer, one write a turn; behind it
 * what a stream lends. */
#include <assert.h>
#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>

#include "server/counts.h"
#include "server/http/conn.h"
#include "server/http/conn_tls.h"
#include "server/http/socket.h"

void conn_output_ready(struct conn *c)
{
    struct edge_worker *w = c->worker;
    if (!c->out.ptr && w->noutputs)
        c->out = w->outputs[--w->noutputs];
}

void conn_output_release(struct conn *c)
{
    struct edge_worker *w = c->worker;
    c->out.len = c->out_at = 0;
    if (c->out.cap > OUTPUT_KEEP_BYTES)
        edge_note_freed(w->edge);
    if (c->out.ptr && c->out.cap <= OUTPUT_KEEP_BYTES && w->noutputs < OUTPUT_POOL_MAX)
        w->outputs[w->noutputs++] = c->out;
    else
        buf_release(&c->out);
    c->out = (struct buf){0};
}

/* What is written again and again in front must not pile up, nor be moved more than once a byte. */
static void close_gap(struct conn *c)
{
    if (c->out_at < conn_unsent(c))
        return;
    memmove(c->out.ptr, c->out.ptr + c->out_at, conn_unsent(c));
    c->out.len -= c->out_at;
    c->out_at = 0;
}

/* Only answers that wait for the client count against the budget. */
static void recharge(struct conn *c, uint64_t bytes)
{
    if (bytes == c->out_charged)
        return;
    atomic_fetch_add_explicit(&c->worker->edge->answer_bytes, bytes - c->out_charged, memory_order_relaxed);
    c->out_charged = bytes;
}

/* Bytes in the kernel that the client has not acknowledged. */
static int in_kernel(const struct conn *c)
{
    int bytes = 0;
    return ioctl(c->fd, SIOCOUTQ, &bytes) ? 0 : bytes;
}

bool conn_output_moves(struct conn *c)
{
    int before = c->kernel_bytes;
    c->kernel_bytes = in_kernel(c);
    return c->kernel_bytes < before;
}

/* What a call of the kernel's says. Returns how many bytes it took. */
static size_t sent(struct conn *c, ssize_t n)
{
    if (n > 0) {
        c->progress = true;
        count(c->worker->worker.counts, COUNT_sent_bytes, (uint64_t)n);
        return (size_t)n;
    }
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        c->blocked = true;
        c->kernel_bytes = in_kernel(c);
    } else if (n < 0 && errno != EINTR) {
        c->broken = true;
    }
    return 0;
}

static void settle(struct conn *c)
{
    if (conn_unsent(c))
        close_gap(c);
    else
        c->out.len = c->out_at = 0;
    recharge(c, c->broken ? 0 : conn_unsent(c));
}

/* The transport's half of writing. */
static ssize_t send_some(struct conn *c, const uint8_t *from, size_t bytes)
{
    return unlikely(c->secure) ? conn_tls_send(c, from, bytes) : socket_send(c->fd, from, bytes);
}

void conn_flush(struct conn *c)
{
    while (!c->broken && !c->blocked && conn_unsent(c))
        c->out_at += sent(c, send_some(c, c->out.ptr + c->out_at, conn_unsent(c)));
    settle(c);
}

/* Behind the output, in records of their own: what is in one that has to wait stays the same until it has left. */
static size_t send_lent_secure(struct conn *c, const struct slice *parts, unsigned n)
{
    size_t bytes = 0, taken = 0;
    for (unsigned i = 0; i < n; i++)
        bytes += parts[i].len;
    conn_flush(c);
    while (!c->broken && !c->blocked && taken < bytes)
        taken += sent(c, conn_tls_send_pieces(c, parts, n, taken));
    return taken;
}

size_t conn_send_lent(struct conn *c, const struct slice *parts, unsigned n)
{
    struct iovec pieces[1 + CONN_LENT_MAX];
    size_t unsent = conn_unsent(c), npieces = 0;
    assert(n <= CONN_LENT_MAX);
    if (unlikely(c->secure))
        return send_lent_secure(c, parts, n);
    if (unsent)
        pieces[npieces++] = (struct iovec){c->out.ptr + c->out_at, unsent};
    for (unsigned i = 0; i < n; i++)
        pieces[npieces++] = (struct iovec){(void *)(uintptr_t)parts[i].ptr, parts[i].len};
    size_t bytes = sent(c, socket_send_pieces(c->fd, pieces, npieces));
    size_t ours = bytes < unsent ? bytes : unsent;
    c->out_at += ours;
    settle(c);
    return bytes - ours;
}
