/* server/access/credentials.h - the header field Authorization. Pure.
 * Sources: RFC 9110, 11.4; RFC 7617 (Basic); RFC 6750, 2.1 (Bearer). */
#ifndef SERVER_ACCESS_CREDENTIALS_H
#define SERVER_ACCESS_CREDENTIALS_H

#include "base/err.h"
#include "base/limits.h"
#include "base/slice.h"
#include "server/access/password_hash.h"

enum credentials_kind { CREDENTIALS_BASIC, CREDENTIALS_BEARER };
/* Name, colon, password, a NUL, and what decoding base64 may write behind them. */
enum { CREDENTIALS_BYTES = LIMIT_USER_NAME_MAX + 1 + PASSWORD_MAX, CREDENTIALS_ROOM = CREDENTIALS_BYTES + 3 };

/* The caller's; to be wiped (credentials_wipe) whatever credentials_parse said. */
struct credentials {
    enum credentials_kind kind;
    struct slice user, password; /* of Basic: in `text`, a NUL behind the password */
    struct slice token;          /* of Bearer: borrowed from the field */
    uint8_t text[CREDENTIALS_ROOM];
};

/* UNAUTHORIZED: another scheme, or malformed: base64 and UTF-8 are taken strictly, control characters are not allowed. The sentence tells
 * nothing of what was sent. */
MUST_USE enum rc credentials_parse(struct slice field, struct credentials *, struct err *);
void credentials_wipe(struct credentials *);

#endif
