/* server/access/remembered.h - logins that were right, so that the next request needs no helper. Of each 256 bits are kept, an HMAC with a
 * key that is drawn at the start and never leaves the process: no password, and nothing from which one could be tried out elsewhere.
 * Who calls keeps threads apart. */
#ifndef SERVER_ACCESS_REMEMBERED_H
#define SERVER_ACCESS_REMEMBERED_H

#include "base/err.h"
#include "base/sha256.h"
#include "base/slice.h"

struct remembered;

/* IO: there are no random bytes; NO_MEMORY. */
MUST_USE enum rc remembered_new(struct remembered **, struct err *);
/* NULL is allowed. */
void remembered_free(struct remembered *);

/* What stands for a login: of the hash that it is verified against too, so that a user whose password is changed has to say it anew.
 * Any thread, at any time. */
void remembered_digest(const struct remembered *, struct slice hash, struct slice user, struct slice password,
                       uint8_t out[SHA256_BYTES]);
bool remembered_has(struct remembered *, const uint8_t digest[SHA256_BYTES]);
/* In place of one that has not been asked for longest, if there are many. */
void remembered_add(struct remembered *, const uint8_t digest[SHA256_BYTES]);

#endif
