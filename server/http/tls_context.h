/* server/http/tls_context.h - what TLS connections share: the certificate and its key, whose certificates clients may show, the
 * rules of the protocol, the keys of tickets. All of it but those keys is read as one, and immutable; SIGHUP replaces it as a
 * whole or not at all, and a connection goes on with what it began with. */
#ifndef SERVER_HTTP_TLS_CONTEXT_H
#define SERVER_HTTP_TLS_CONTEXT_H

#include <openssl/types.h>

#include "server/http/tls_user.h"
#include "server/options.h"

struct tls_context;

/* Read --tls-cert and what belongs to it. *out NULL: TLS is not asked for. CONFIG: a file that cannot be read, a key that is not the
 * certificate's, options that do not fit together. Logs what is suspicious. */
MUST_USE enum rc tls_context_open(struct tls_context **out, const struct options *, struct err *);
/* Read the files again, for new connections. On failure all stays as it was. Main thread. */
MUST_USE enum rc tls_context_reload(struct tls_context *, struct err *);
/* NULL is fine. Connections may outlive it. */
void tls_context_free(struct tls_context *);

/* A server's end of a connection, by the files as they were read last; owned. NULL: memory is out. Any thread. */
MUST_USE SSL *tls_context_ssl(struct tls_context *);
/* Where a client's name stands in its certificate. */
enum tls_user_from tls_context_user_from(const struct tls_context *);
/* When the certificate ends, in seconds of Unix time; 0: TLS is off. Any thread. */
int64_t tls_context_not_after(struct tls_context *);

#endif
