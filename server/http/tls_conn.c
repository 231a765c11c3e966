/* server/http/tls_conn.c - see tls_conn.h. OpenSSL reads and writes through a BIO of ours, which costs as many calls of the kernel
 * as without TLS: one for all records that are there, and one for each that leaves. */
#include "server/http/tls_conn.h"

#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "server/http/socket.h"
#include "server/http/tls_context.h"

/* ---- the socket, as OpenSSL sees it ---- */

static int on_read(BIO *bio, char *to, int room)
{
    struct tls_conn *t = BIO_get_data(bio);
    uint64_t left = t->may_take - t->taken;
    size_t most = (uint64_t)room < left ? (size_t)room : (size_t)left;
    ssize_t n = -1;
    BIO_clear_retry_flags(bio);
    errno = EAGAIN;
    if (most)
        n = socket_recv(t->fd, to, most);
    t->starved = n <= 0;
    if (n > 0) {
        t->short_read = (size_t)n < most;
        t->taken += (uint64_t)n;
    } else if (n == 0) {
        t->ended = true;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
        t->empty = most && errno != EINTR;
        BIO_set_retry_read(bio);
    }
    return (int)n;
}

static int on_write(BIO *bio, const char *from, int bytes)
{
    struct tls_conn *t = BIO_get_data(bio);
    ssize_t n;
    BIO_clear_retry_flags(bio);
    do
        n = socket_send(t->fd, from, (size_t)bytes);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        BIO_set_retry_write(bio);
    return (int)n;
}

/* Asked whether the end has come it says no: that is for `ended` to tell, and no fault. */
static long on_control(BIO *bio, int command, long number, void *arg)
{
    (void)bio, (void)number, (void)arg;
    return command == BIO_CTRL_FLUSH;
}

/* One a process. */
static BIO_METHOD *socket_method(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static BIO_METHOD *method;
    pthread_mutex_lock(&lock);
    if (!method && (method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "connection"))) {
        BIO_meth_set_read(method, on_read);
        BIO_meth_set_write(method, on_write);
        BIO_meth_set_ctrl(method, on_control);
    }
    BIO_METHOD *made = method;
    pthread_mutex_unlock(&lock);
    return made;
}

/* ---- life ---- */

struct tls_conn *tls_conn_new(struct tls_context *context, int fd)
{
    struct tls_conn *t = calloc(1, sizeof *t);
    BIO_METHOD *method = socket_method();
    if (!t)
        return NULL;
    t->fd = fd;
    t->context = context;
    t->may_take = UINT64_MAX;
    t->ssl = tls_context_ssl(context);
    BIO *bio = t->ssl && method ? BIO_new(method) : NULL;
    if (!bio) {
        ERR_clear_error();
        tls_conn_free(t);
        return NULL;
    }
    BIO_set_data(bio, t);
    BIO_set_init(bio, 1);
    SSL_set_bio(t->ssl, bio, bio);
    return t;
}

void tls_conn_free(struct tls_conn *t)
{
    SSL_free(t->ssl);
    free((void *)(uintptr_t)t->user.ptr);
    free(t);
}

/* ---- calls ---- */

/* An error that stays in OpenSSL's queue would be taken for one of the next call, which may be another connection's. */
static void begin(struct tls_conn *t)
{
    ERR_clear_error();
    t->starved = t->empty = t->short_read = false;
}

static enum tls_did outcome(struct tls_conn *t, int rc)
{
    switch (SSL_get_error(t->ssl, rc)) {
    case SSL_ERROR_NONE: return TLS_DONE;
    case SSL_ERROR_WANT_READ: return t->empty ? TLS_WANTS_BYTES : TLS_AGAIN;
    case SSL_ERROR_WANT_WRITE: return TLS_WANTS_ROOM;
    case SSL_ERROR_ZERO_RETURN: return TLS_ENDED;
    case SSL_ERROR_SYSCALL:
        if (t->ended)
            return TLS_ENDED;
        break;
    default: break;
    }
    t->failed = true;
    ERR_clear_error();
    return TLS_FAILED;
}

static bool is_over(const X509 *certificate)
{
    return X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0;
}

/* A session that is resumed brings the certificate that it began with, and which may have expired since. */
static enum tls_did identify(struct tls_conn *t)
{
    const X509 *certificate = SSL_get0_peer_certificate(t->ssl);
    struct buf name = {0};
    bool ok = !certificate ||
              (!is_over(certificate) && tls_user_name(certificate, tls_context_user_from(t->context), &name));
    t->user = buf_slice(&name);
    t->ready = ok;
    t->failed = !ok;
    return ok ? TLS_DONE : TLS_FAILED;
}

enum tls_did tls_conn_handshake(struct tls_conn *t)
{
    assert(!t->ready && !t->failed);
    begin(t);
    enum tls_did did = outcome(t, SSL_do_handshake(t->ssl));
    return did == TLS_DONE ? identify(t) : did;
}

/* A key update asks for work and perhaps for an answer, and no quota counts it; nor is it a request, for which the idle
 * deadline waits. Nobody needs many in a row. */
static enum tls_did note_no_data(struct tls_conn *t)
{
    if (t->empty_records++ < LIMIT_TLS_EMPTY_RECORDS_MAX)
        return TLS_AGAIN;
    t->failed = true;
    return TLS_FAILED;
}

enum tls_did tls_conn_read(struct tls_conn *t, uint8_t *to, size_t room, size_t *received)
{
    assert(t->ready && !t->failed);
    *received = 0;
    begin(t);
    enum tls_did did = outcome(t, SSL_read_ex(t->ssl, to, room, received));
    if (likely(did == TLS_DONE))
        t->empty_records = 0;
    else if (did == TLS_AGAIN && !t->starved) /* it has had a record, or answered it, and wants another */
        return note_no_data(t);
    return did;
}

enum tls_did tls_conn_write(struct tls_conn *t, const uint8_t *from, size_t bytes, size_t *sent)
{
    assert(t->ready && !t->failed && bytes >= t->held);
    size_t most = t->held ? t->held : bytes < TLS_RECORD_BYTES ? bytes : TLS_RECORD_BYTES;
    *sent = 0;
    begin(t);
    enum tls_did did = outcome(t, SSL_write_ex(t->ssl, from, most, sent));
    t->held = did == TLS_DONE ? 0 : most;
    return did;
}

enum tls_did tls_conn_end(struct tls_conn *t)
{
    if (!t->ready || t->failed || t->told)
        return TLS_DONE;
    begin(t);
    int rc = SSL_shutdown(t->ssl);
    t->told = rc >= 0;
    return t->told ? TLS_DONE : outcome(t, rc);
}

bool tls_conn_holds(const struct tls_conn *t)
{
    return SSL_has_pending(t->ssl);
}

bool tls_conn_is_resumed(const struct tls_conn *t)
{
    return SSL_session_reused(t->ssl);
}

const char *tls_conn_version(const struct tls_conn *t)
{
    return SSL_get_version(t->ssl);
}

const char *tls_conn_cipher(const struct tls_conn *t)
{
    return SSL_get_cipher_name(t->ssl);
}
