/* server/http/tls_tickets.h - the keys of session tickets (RFC 5077; RFC 8446, 4.6.1): a client that comes again shows a ticket, and
 * is spared the long handshake by whichever worker has it. The keys outlive a reload; a new one is drawn each hour, and those
 * before it still open what they have closed, as long as a session lives. Any thread. */
#ifndef SERVER_HTTP_TLS_TICKETS_H
#define SERVER_HTTP_TLS_TICKETS_H

#include <openssl/types.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"

enum { TICKET_NAME_BYTES = 16, TICKET_KEYS = LIMIT_TLS_SESSION_SECONDS / LIMIT_TLS_TICKET_KEY_SECONDS + 1 };

struct ticket_key {
    uint8_t name[TICKET_NAME_BYTES]; /* stands in the ticket, in the clear */
    uint8_t cipher[32], mac[32];     /* AES-256-CBC, HMAC-SHA-256 */
    int64_t drawn_ms;                /* clock_mono_ms */
};

struct tls_tickets {
    pthread_mutex_t lock;
    struct ticket_key key[TICKET_KEYS]; /* the newest first */
    unsigned n;
};

/* IO: the kernel gives no random bytes. */
MUST_USE enum rc tls_tickets_init(struct tls_tickets *, int64_t now_ms, struct err *);
/* Forgets the keys. */
void tls_tickets_release(struct tls_tickets *);

/* The key for a new ticket. */
void tls_tickets_newest(struct tls_tickets *, int64_t now_ms, struct ticket_key *out);
/* That of a ticket that a client shows: false: none of ours, or too old. *is_newest: else a new ticket is due. */
bool tls_tickets_find(struct tls_tickets *, const uint8_t name[TICKET_NAME_BYTES], int64_t now_ms,
                      struct ticket_key *out, bool *is_newest);

/* Have the context close and open its tickets with these keys. */
void tls_tickets_use(struct tls_tickets *, SSL_CTX *);

#endif
