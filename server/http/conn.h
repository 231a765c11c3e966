/* server/http/conn.h - a connection: its socket, its input, the queue of its requests, its output. One
 * worker. */
#ifndef SERVER_HTTP_CONN_H
#define SERVER_HTTP_CONN_H

#include <event2/event_struct.h>

#include "base/buf.h"
#include "server/handler.h"
#include "server/http/address.h"
#include "server/http/body.h"
#include "server/http/http1.h"
#include "server/http/input.h"
#include "server/http/worker.h"

struct tls_conn;

struct conn {
    struct event event; /* the one of its life: both ways, edge-triggered */
    struct edge_worker *worker;
    struct conn *prev, *next; /* in its phase's list */
    struct conn *ready_next;  /* in the worker's list of those to be turned */
    struct conn *paused_next; /* in its list of those that wait for the store */
    int64_t deadline_ms;
    int fd;
    enum phase phase;
    bool loopback;   /* it came in on a loopback address */
    bool secure;     /* it speaks TLS: conn_tls.h */
    bool ready;      /* in that list */
    bool paused;     /* in the other list */
    bool awaits_get; /* its turn has come to a get that is read with others, and goes on behind it */
    bool turning;    /* conn_turn is at work, and will see what an answer changes */
    bool stalled;    /* requests wait until more of the output has been sent, or the store is less busy */
    bool beginning;  /* router_begin is at work: its answer waits until we know what becomes of the body */

    bool readable;       /* an edge said so, and no short read has said otherwise */
    bool inside;         /* of what has been received TLS may still have whole records */
    bool reads_by_write; /* TLS waits for room in the socket before it reads on */
    bool peer_shut;      /* the client has sent its last byte: a short read does not mean that all is read */
    bool eof;            /* it has been read */
    bool blocked;        /* the socket took less than we had; an edge will say when to go on */
    bool progress;       /* since the deadline was set, something happened that sets it anew */
    bool closing;        /* no request after those in the queue */
    bool final;   /* while draining: all that had come is answered, and only the request may follow whose head
                       is half there */
    bool lingers; /* the client may still be sending: close in two steps, or it would not see our answer */
    bool lingering; /* the first of them is done */
    bool ends;      /* all is said but that this was all, and the socket takes no more */
    bool broken;    /* an error of the socket or of memory: nothing more can be sent */
    bool dead;      /* closed; remains for the requests in flight */
    struct head_guess guess;

    struct tls_conn *tls; /* NULL: plain, or nothing has come yet */

    /* The block that is being filled, or NULL; [at, end) is what no request has taken yet. */
    struct input *in;
    size_t at, end;
    struct http1_scan scan;

    int64_t turn_ns;        /* clock_mono_ns, when this turn's bytes had been read */
    unsigned turn_requests; /* begun in this turn */

    struct request *first, *last; /* the queue, in order of arrival */
    unsigned nrequests;
    struct body body; /* of the last one, while there is more of it to come */

    bool streaming;  /* the first is a stream whose head has left */
    unsigned pieces; /* of it, made in this turn */

    struct buf out; /* [out_at, len) is to be written */
    size_t out_at;
    uint64_t out_charged;            /* to edge->answer_bytes */
    int kernel_bytes;                /* sent and not acknowledged, as of when the socket would take no more */
    size_t to_drain;                 /* while draining: bytes that had come before and are not read yet */
    char remote[ADDRESS_HOST_BYTES]; /* only if the access log is on */
    uint64_t address;  /* address_group of its other end; ADDRESS_NONE if access control is off */
    uint64_t lingered; /* bytes read off since the first step of closing */
};

/* Take over an accepted socket; it is closed if that fails. */
void conn_open(struct edge_worker *, int fd, const struct listener *, uint64_t address);
/* Go on: write what waits, read once, handle what is there, write once. May free the connection. */
void conn_turn(struct conn *);
/* The worker drains: answer what has come, then close. */
void conn_drain(struct conn *);
/* Its deadline has passed. May free the connection. */
void conn_expire(struct conn *);
/* Close at once, answers or not. May free the connection. */
void conn_kill(struct conn *);

/* Does more wait for the client to take what it has? What a stream lends waits in no output. */
static inline bool conn_waits_for_client(const struct conn *c)
{
    return c->out.len > c->out_at || ((c->streaming || c->ends) && c->blocked);
}

static inline size_t conn_unsent(const struct conn *c)
{
    return c->out.len - c->out_at;
}

/* Is there, of what has come, anything that no request has taken yet: bytes, a record, a part of one? */
bool conn_has_more(const struct conn *);

/* Of conn_output.c: the output buffer, borrowed from the worker's pool while there is something to send. */
void conn_output_ready(struct conn *);
void conn_flush(struct conn *);
void conn_output_release(struct conn *);
/* The output and, behind it, slices that are only borrowed, with one call of the kernel's. Returns how many bytes of
 * the slices it took; fewer than all: try again, or the socket has blocked or broken. */
enum { CONN_LENT_MAX = 20 };
size_t conn_send_lent(struct conn *, const struct slice *parts, unsigned n);
/* Has the client taken anything since the socket blocked, or since the last call? The kernel says that there
 * is room only when a good part of a large buffer is free, which takes a slow client longer than a
 * deadline. */
bool conn_output_moves(struct conn *);

#endif
