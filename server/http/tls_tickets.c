/* server/http/tls_tickets.c - see tls_tickets.h. */
#include "server/http/tls_tickets.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"

enum {
    KEY_LIVES_MS = LIMIT_TLS_TICKET_KEY_SECONDS * 1000,
    SESSION_LIVES_MS = LIMIT_TLS_SESSION_SECONDS * 1000
};

/* ---- the keys ---- */

static bool draw(struct ticket_key *key, int64_t now_ms)
{
    key->drawn_ms = now_ms;
    return random_bytes(key->name, sizeof key->name) && random_bytes(key->cipher, sizeof key->cipher) &&
           random_bytes(key->mac, sizeof key->mac);
}

enum rc tls_tickets_init(struct tls_tickets *t, int64_t now_ms, struct err *err)
{
    *t = (struct tls_tickets){.n = 1};
    pthread_mutex_init(&t->lock, NULL);
    return draw(&t->key[0], now_ms) ? RC_OK : err_set(err, ERR_IO, "The kernel gives no random bytes.");
}

void tls_tickets_release(struct tls_tickets *t)
{
    OPENSSL_cleanse(t->key, sizeof t->key);
    pthread_mutex_destroy(&t->lock);
}

/* If there is no randomness the old one goes on for now. */
static void rotate(struct tls_tickets *t, int64_t now_ms)
{
    struct ticket_key fresh;
    if (!draw(&fresh, now_ms))
        return;
    memmove(&t->key[1], &t->key[0], (TICKET_KEYS - 1) * sizeof t->key[0]);
    t->key[0] = fresh;
    t->n += t->n < TICKET_KEYS;
    OPENSSL_cleanse(&fresh, sizeof fresh);
}

void tls_tickets_newest(struct tls_tickets *t, int64_t now_ms, struct ticket_key *out)
{
    pthread_mutex_lock(&t->lock);
    if (now_ms - t->key[0].drawn_ms >= KEY_LIVES_MS)
        rotate(t, now_ms);
    *out = t->key[0];
    pthread_mutex_unlock(&t->lock);
}

/* What it has closed last is as old as its successor, or nobody has come since. */
static bool is_too_old(const struct ticket_key *key, int64_t now_ms)
{
    return now_ms - key->drawn_ms >= KEY_LIVES_MS + SESSION_LIVES_MS;
}

bool tls_tickets_find(struct tls_tickets *t, const uint8_t name[TICKET_NAME_BYTES], int64_t now_ms,
                      struct ticket_key *out, bool *is_newest)
{
    bool found = false;
    pthread_mutex_lock(&t->lock);
    for (unsigned i = 0; i < t->n && !found; i++) {
        found = !memcmp(t->key[i].name, name, TICKET_NAME_BYTES) && !is_too_old(&t->key[i], now_ms);
        if (found) {
            *out = t->key[i];
            *is_newest = i == 0 && now_ms - out->drawn_ms < KEY_LIVES_MS;
        }
    }
    pthread_mutex_unlock(&t->lock);
    return found;
}

/* ---- what OpenSSL asks (SSL_CTX_set_tlsext_ticket_key_evp_cb) ---- */

enum { TICKET_FAILED = -1, TICKET_UNKNOWN = 0, TICKET_USED = 1, TICKET_RENEW = 2 };

static bool set_mac(EVP_MAC_CTX *mac, struct ticket_key *key)
{
    char digest[] = "SHA256";
    OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key->mac, sizeof key->mac),
                           OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                           OSSL_PARAM_construct_end()};
    return EVP_MAC_CTX_set_params(mac, params) == 1;
}

static int close_ticket(struct tls_tickets *t, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
                        EVP_MAC_CTX *mac)
{
    struct ticket_key key;
    tls_tickets_newest(t, clock_mono_ms(), &key);
    memcpy(name, key.name, sizeof key.name);
    bool ok = random_bytes(iv, (size_t)EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) &&
              EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, key.cipher, iv) == 1 && set_mac(mac, &key);
    OPENSSL_cleanse(&key, sizeof key);
    return ok ? TICKET_USED : TICKET_FAILED;
}

static int open_ticket(struct tls_tickets *t, const unsigned char *name, const unsigned char *iv,
                       EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac)
{
    struct ticket_key key;
    bool is_newest;
    if (!tls_tickets_find(t, name, clock_mono_ms(), &key, &is_newest))
        return TICKET_UNKNOWN;
    bool ok = set_mac(mac, &key) && EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, key.cipher, iv) == 1;
    OPENSSL_cleanse(&key, sizeof key);
    return !ok ? TICKET_FAILED : is_newest ? TICKET_USED : TICKET_RENEW;
}

static int on_ticket(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
                     EVP_MAC_CTX *mac, int closes)
{
    struct tls_tickets *t = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    return closes ? close_ticket(t, name, iv, cipher, mac) : open_ticket(t, name, iv, cipher, mac);
}

void tls_tickets_use(struct tls_tickets *t, SSL_CTX *ctx)
{
    SSL_CTX_set_app_data(ctx, t);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, on_ticket);
    SSL_CTX_set_timeout(ctx, LIMIT_TLS_SESSION_SECONDS);
}
