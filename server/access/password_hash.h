/* server/access/password_hash.h - passwords that are hashed as crypt(5) has it: bcrypt, sha256crypt, sha512crypt, yescrypt. The home of
 * libcrypt (libxcrypt). Any thread. */
#ifndef SERVER_ACCESS_PASSWORD_HASH_H
#define SERVER_ACCESS_PASSWORD_HASH_H

#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

/* May it be used: is it a whole hash of one of those kinds, which costs no more than LIMIT_BCRYPT_COST_MAX, LIMIT_SHACRYPT_ROUNDS_MAX,
 * LIMIT_YESCRYPT_MEMORY_MAX allow? NULL: yes. Else why not, as a sentence (static). */
const char *password_hash_fault(struct slice hash);
/* Of such a one: what two have in common that take equally long. */
struct slice password_hash_kind(struct slice hash);

enum { PASSWORD_MAX = 511 }; /* bytes that libcrypt takes */

/* Takes as long as it was made to take: not on a worker. Both strings end in NUL. RC_OK: it is the password; RC_NOTFOUND: it is not;
 * NO_MEMORY. */
MUST_USE enum rc password_hash_verify(const char *hash, const char *password, struct err *);

#endif
