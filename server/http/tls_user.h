/* server/http/tls_user.h - which user a client's certificate names. Pure; any thread. */
#ifndef SERVER_HTTP_TLS_USER_H
#define SERVER_HTTP_TLS_USER_H

#include <openssl/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Rows of tls_user_from.def. */
enum tls_user_from {
#define TLS_USER_FROM(name, kind, what) TLS_USER_FROM_##name,
#include "server/http/tls_user_from.def"
#undef TLS_USER_FROM
    TLS_USERS_FROM
};

/* CONFIG: no row has this name. */
MUST_USE enum rc tls_user_from_parse(const char *text, enum tls_user_from *out, struct err *);

/* Append the name to `out`, as it stands there: any bytes, in an attribute UTF-8. Nothing: the certificate has none, or it is of a kind
 * that is no text. False: memory is out. */
MUST_USE bool tls_user_name(const X509 *, enum tls_user_from, struct buf *out);

#endif
