/* server/http/tls_context.c - see tls_context.h. Rules: RFC 9325 (recommendations for TLS), RFC 9112, RFC 7301 (ALPN). */
#include "server/http/tls_context.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sha256.h"
#include "server/http/tls_tickets.h"
#include "server/words.h"

/* Ciphers of TLS 1.2: with forward secrecy, and authenticated (RFC 9325, 4.2). Groups: those that take a worker less than a
 * millisecond a handshake, which ffdhe, P-384 and P-521 do not. */
static const char ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";
static const char groups[] = "X25519:P-256:X448";
/* A signature with a longer key of RSA takes some milliseconds; those of elliptic curves take a tenth of one. */
enum { SECURITY_LEVEL = 2, RSA_BITS_QUICK = 2048, EXPIRY_SOON_SECONDS = 14 * 86400 };

struct tls_context {
    const char *cert, *key, *client_ca; /* files */
    int verify;                         /* SSL_VERIFY_... */
    enum tls_user_from user_from;
    struct tls_tickets tickets;
    pthread_mutex_t lock; /* of: */
    SSL_CTX *now;
};

/* ---- faults ---- */

/* What OpenSSL says, and forgets. */
static enum rc fault(const char *option, const char *path, struct err *err)
{
    struct words words;
    const char *reason = ERR_reason_error_string(ERR_peek_error());
    bool oom = ERR_GET_REASON(ERR_peek_last_error()) == ERR_R_MALLOC_FAILURE ||
               ERR_GET_REASON(ERR_peek_error()) == ERR_R_MALLOC_FAILURE;
    ERR_clear_error();
    return oom ? err_oom(err)
               : err_set(err, ERR_CONFIG, "%s %s: %s.", option, words_of(slice_str(path), &words),
                         reason ? reason : "OpenSSL does not say why");
}

static enum rc check_file(const char *option, const char *path, struct stat *st, struct err *err)
{
    struct words words;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int error = fd < 0 || fstat(fd, st) ? errno
                : S_ISREG(st->st_mode)  ? 0
                : S_ISDIR(st->st_mode)  ? EISDIR
                                        : EINVAL;
    if (fd >= 0)
        close(fd);
    return error ? err_set(err, ERR_CONFIG, "%s %s: %s.", option, words_of(slice_str(path), &words),
                           strerror(error))
                 : RC_OK;
}

/* ---- the certificate and its key ---- */

/* Nobody is there to type it. */
static int no_passphrase(char *out, int bytes, int writes, void *arg)
{
    (void)out, (void)bytes, (void)writes, (void)arg;
    return -1;
}

static int64_t seconds_of(const ASN1_TIME *t)
{
    struct tm tm;
    return ASN1_TIME_to_tm(t, &tm) ? (int64_t)timegm(&tm) : 0;
}

static void warn_of_expiry(const char *path, const X509 *certificate)
{
    int64_t left = seconds_of(X509_get0_notAfter(certificate)) - clock_wall_ms() / 1000;
    if (left <= 0)
        log_warn("the certificate %s has expired: clients will refuse it", path);
    else if (left < EXPIRY_SOON_SECONDS)
        log_warn("the certificate %s expires in %lld hours", path, (long long)left / 3600);
}

static void warn_of_key(const char *path, const struct stat *st, const EVP_PKEY *key)
{
    if (st->st_mode & S_IRWXO)
        log_warn("the private key %s is open to everybody on this machine: chmod o-rwx", path);
    if (EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA && EVP_PKEY_get_bits(key) > RSA_BITS_QUICK)
        log_warn("the private key %s has %d bits of RSA: each handshake holds up a worker for milliseconds; "
                 "a key on P-256 is as safe and much faster",
                 path, EVP_PKEY_get_bits(key));
}

static enum rc load_certificate(const struct tls_context *t, SSL_CTX *ctx, struct err *err)
{
    struct stat st;
    if (check_file("--tls-cert", t->cert, &st, err) != RC_OK ||
        check_file("--tls-key", t->key, &st, err) != RC_OK)
        return RC_ERR;
    SSL_CTX_set_default_passwd_cb(ctx, no_passphrase);
    if (SSL_CTX_use_certificate_chain_file(ctx, t->cert) != 1)
        return fault("--tls-cert", t->cert, err);
    if (SSL_CTX_use_PrivateKey_file(ctx, t->key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(ctx) != 1)
        return fault("--tls-key", t->key, err);
    warn_of_expiry(t->cert, SSL_CTX_get0_certificate(ctx));
    warn_of_key(t->key, &st, SSL_CTX_get0_privatekey(ctx));
    return RC_OK;
}

/* ---- clients ---- */

/* A session that is resumed is not verified anew. So that it is over when other authorities are to be trusted, or clients
 * to be asked in another way, it belongs to these. */
static bool set_session_context(const struct tls_context *t, SSL_CTX *ctx)
{
    uint8_t state[SHA256_BYTES + SHA256_BYTES] = {(uint8_t)t->verify};
    STACK_OF(X509_OBJECT) *all = X509_STORE_get0_objects(SSL_CTX_get_cert_store(ctx));
    _Static_assert((int)SHA256_BYTES <= SSL_MAX_SID_CTX_LENGTH, "it fits");
    for (int i = 0; i < sk_X509_OBJECT_num(all); i++) {
        const X509 *one = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(all, i));
        if (one && X509_digest(one, EVP_sha256(), state + SHA256_BYTES, NULL) != 1)
            return false;
        sha256(slice_of(state, sizeof state), state);
    }
    return SSL_CTX_set_session_id_context(ctx, state, SHA256_BYTES) == 1;
}

static enum rc load_clients(const struct tls_context *t, SSL_CTX *ctx, struct err *err)
{
    struct stat st;
    if (!t->client_ca)
        return RC_OK;
    if (check_file("--tls-client-ca", t->client_ca, &st, err) != RC_OK)
        return RC_ERR;
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(t->client_ca);
    if (!names)
        return fault("--tls-client-ca", t->client_ca, err);
    SSL_CTX_set_client_CA_list(ctx, names);
    if (SSL_CTX_load_verify_file(ctx, t->client_ca) != 1)
        return fault("--tls-client-ca", t->client_ca, err);
    SSL_CTX_set_verify(ctx, t->verify, NULL);
    return RC_OK;
}

/* ---- the rules ---- */

/* No HTTP/2 here: a client that takes nothing else learns it at once. */
static int on_alpn(SSL *ssl, const unsigned char **out, unsigned char *bytes, const unsigned char *in,
                   unsigned in_bytes, void *arg)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *chosen;
    (void)ssl, (void)arg;
    if (SSL_select_next_proto(&chosen, bytes, ours, sizeof ours - 1, in, in_bytes) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* What a connection may do is bounded a turn: SSL_read comes back behind each record, whatever it was. Reading ahead, a call of
 * the kernel's takes many records. */
static bool set_rules(struct tls_context *t, SSL_CTX *ctx)
{
    SSL_CTX_set_security_level(ctx, SECURITY_LEVEL);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF); /* tickets: clients keep their sessions */
    SSL_CTX_set_alpn_select_cb(ctx, on_alpn, NULL);
    tls_tickets_use(&t->tickets, ctx);
    return SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_cipher_list(ctx, ciphers) == 1 && SSL_CTX_set1_groups_list(ctx, groups) == 1;
}

static enum rc load(struct tls_context *t, SSL_CTX **out, struct err *err)
{
    ERR_clear_error();
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    if (!ctx || !set_rules(t, ctx)) {
        ERR_clear_error();
        SSL_CTX_free(ctx);
        return err_oom(err);
    }
    enum rc rc = load_certificate(t, ctx, err);
    rc = rc == RC_OK ? load_clients(t, ctx, err) : rc;
    if (rc == RC_OK && !set_session_context(t, ctx))
        rc = err_oom(err);
    if (rc == RC_OK)
        *out = ctx;
    else
        SSL_CTX_free(ctx);
    return rc;
}

/* ---- life ---- */

static enum rc check_options(const struct options *o, struct err *err)
{
    if (!o->tls_cert && (o->tls_key || o->tls_client_ca || o->tls_client_auth || o->tls_user_from))
        return err_set(err, ERR_CONFIG, "%s without --tls-cert says nothing.",
                       o->tls_key           ? "--tls-key"
                       : o->tls_client_ca   ? "--tls-client-ca"
                       : o->tls_client_auth ? "--tls-client-auth"
                                            : "--tls-user-from");
    if (!o->tls_client_ca && (o->tls_client_auth || o->tls_user_from))
        return err_set(err, ERR_CONFIG, "%s needs --tls-client-ca: who has signed the clients' certificates.",
                       o->tls_client_auth ? "--tls-client-auth" : "--tls-user-from");
    return RC_OK;
}

static enum rc parse_auth(const struct options *o, int *out, struct err *err)
{
    struct words words;
    const char *auth = o->tls_client_auth ? o->tls_client_auth : "optional";
    *out = SSL_VERIFY_PEER;
    if (!o->tls_client_ca)
        *out = SSL_VERIFY_NONE;
    else if (!strcmp(auth, "required"))
        *out |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    else if (strcmp(auth, "optional") != 0)
        return err_set(err, ERR_CONFIG, "--tls-client-auth is optional or required, not '%s'.",
                       words_of(slice_str(auth), &words));
    return RC_OK;
}

static enum rc init(struct tls_context *t, const struct options *o, struct err *err)
{
    t->cert = o->tls_cert;
    t->key = o->tls_key ? o->tls_key : o->tls_cert;
    t->client_ca = o->tls_client_ca;
    if (parse_auth(o, &t->verify, err) != RC_OK ||
        tls_user_from_parse(o->tls_user_from ? o->tls_user_from : "cn", &t->user_from, err) != RC_OK)
        return RC_ERR;
    return load(t, &t->now, err);
}

enum rc tls_context_open(struct tls_context **out, const struct options *o, struct err *err)
{
    *out = NULL;
    if (check_options(o, err) != RC_OK)
        return RC_ERR;
    if (!o->tls_cert)
        return RC_OK;
    struct tls_context *t = calloc(1, sizeof *t);
    if (!t)
        return err_oom(err);
    pthread_mutex_init(&t->lock, NULL);
    enum rc rc = tls_tickets_init(&t->tickets, clock_mono_ms(), err);
    rc = rc == RC_OK ? init(t, o, err) : rc;
    if (rc == RC_OK)
        *out = t;
    else
        tls_context_free(t);
    return rc;
}

enum rc tls_context_reload(struct tls_context *t, struct err *err)
{
    SSL_CTX *fresh, *old;
    if (load(t, &fresh, err) != RC_OK)
        return RC_ERR;
    pthread_mutex_lock(&t->lock);
    old = t->now;
    t->now = fresh;
    pthread_mutex_unlock(&t->lock);
    SSL_CTX_free(old);
    return RC_OK;
}

void tls_context_free(struct tls_context *t)
{
    if (!t)
        return;
    SSL_CTX_free(t->now);
    pthread_mutex_destroy(&t->lock);
    tls_tickets_release(&t->tickets);
    free(t);
}

/* ---- what connections ask ---- */

/* Held, so that it is not freed meanwhile. */
static SSL_CTX *current(struct tls_context *t)
{
    pthread_mutex_lock(&t->lock);
    SSL_CTX *ctx = t->now;
    SSL_CTX_up_ref(ctx);
    pthread_mutex_unlock(&t->lock);
    return ctx;
}

SSL *tls_context_ssl(struct tls_context *t)
{
    SSL_CTX *ctx = current(t);
    SSL *ssl = SSL_new(ctx);
    SSL_CTX_free(ctx);
    if (ssl)
        SSL_set_accept_state(ssl);
    else
        ERR_clear_error();
    return ssl;
}

enum tls_user_from tls_context_user_from(const struct tls_context *t)
{
    return t->user_from;
}

int64_t tls_context_not_after(struct tls_context *t)
{
    if (!t)
        return 0;
    SSL_CTX *ctx = current(t);
    int64_t seconds = seconds_of(X509_get0_notAfter(SSL_CTX_get0_certificate(ctx)));
    SSL_CTX_free(ctx);
    return seconds;
}
