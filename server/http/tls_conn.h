/* server/http/tls_conn.h - one connection's TLS, over a socket that does not block: a layer between recv and send and those who call
 * them, which knows nothing of HTTP. The socket is watched edge-triggered, so it also tells when the kernel has no more. One
 * worker. */
#ifndef SERVER_HTTP_TLS_CONN_H
#define SERVER_HTTP_TLS_CONN_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/compiler.h"
#include "base/slice.h"

struct tls_context;

enum { TLS_RECORD_BYTES = 16384 }; /* the most that a record takes (RFC 8446, 5.1) */

enum tls_did {
    TLS_DONE,
    TLS_WANTS_BYTES, /* the socket has no more for now */
    TLS_WANTS_ROOM,  /* the socket takes no more for now */
    TLS_AGAIN,       /* neither: call again */
    TLS_ENDED,       /* the client has said that it sends no more, or its connection has ended without */
    TLS_FAILED       /* nothing more can be sent or received, but an alert may have been sent */
};

struct tls_conn {
    SSL *ssl;
    const struct tls_context *context;
    int fd;
    bool ready;  /* the handshake is over */
    bool failed; /* see TLS_FAILED */

    /* Of the socket, in a call of those below. */
    bool empty; /* it had no more */
    bool
        short_read; /* it gave less than there was room for: it was empty then, unless its end stood behind that */
    bool starved;      /* TLS got nothing when it asked last */
    bool ended;        /* the end of the connection has been read */
    uint64_t may_take; /* the caller's: bytes that may be received from it, or UINT64_MAX, any */
    uint64_t taken;    /* bytes that were, since the caller has set it to 0 */

    unsigned empty_records; /* without data, since the last that had some */
    bool told;              /* tls_conn_end has said it */
    size_t held;            /* a record with so many bytes waits for room in the socket */
    struct slice user;      /* owned */
};

/* Take over the connection on the socket, which is borrowed. NULL: memory is out. */
MUST_USE struct tls_conn *tls_conn_new(struct tls_context *, int fd);
void tls_conn_free(struct tls_conn *);

/* Go on with the handshake. DONE: it is over. */
enum tls_did tls_conn_handshake(struct tls_conn *);
/* A record's worth, as recv(2) gives bytes. FAILED: among others, too many records one behind the other have no data. */
enum tls_did tls_conn_read(struct tls_conn *, uint8_t *to, size_t room, size_t *received);
/* Of `from` a record's worth at most; whole records alone are taken. WANTS_ROOM: none is; at least as many bytes are to be given
 * next time, and the same. */
enum tls_did tls_conn_write(struct tls_conn *, const uint8_t *from, size_t bytes, size_t *sent);
/* Say that nothing more is sent (close_notify). */
enum tls_did tls_conn_end(struct tls_conn *);
/* Have bytes been received that were not read yet, if only a part of a record? */
bool tls_conn_holds(const struct tls_conn *);

/* The user whom the client's verified certificate names, until the connection ends; empty: it has shown none. NULL is a plain
 * connection. */
static inline struct slice tls_user(const struct tls_conn *t)
{
    return t ? t->user : (struct slice){0};
}
/* The handshake, once it is over: static names, as OpenSSL has them. */
bool tls_conn_is_resumed(const struct tls_conn *);
const char *tls_conn_version(const struct tls_conn *);
const char *tls_conn_cipher(const struct tls_conn *);

#endif
