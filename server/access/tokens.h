/* server/access/tokens.h - the file of --tokens: lines of NAME:DIGEST, the SHA-256 of a bearer token in hexadecimal digits. A user may have
 * several. Read once, immutable, any thread. */
#ifndef SERVER_ACCESS_TOKENS_H
#define SERVER_ACCESS_TOKENS_H

#include "base/err.h"
#include "base/sha256.h"
#include "base/slice.h"

struct tokens;
struct principal;

struct token {
    uint8_t digest[SHA256_BYTES];
    struct slice name;
    const struct principal *principal;
    uint32_t line;
};

/* path NULL: there are none. CONFIG: unreadable or wrong, with file and line. Until tokens_free. */
MUST_USE enum rc tokens_load(const char *path, struct tokens **out, struct err *);
/* The same of a text at hand; `path` is for messages. */
MUST_USE enum rc tokens_parse(const char *path, struct slice text, struct tokens **out, struct err *);
/* NULL is allowed. */
void tokens_free(struct tokens *);

/* All of them, in order of their digests. */
struct token *tokens_all(struct tokens *, size_t *n);
/* NULL: it is nobody's. */
const struct token *tokens_find(const struct tokens *, struct slice token);

#endif
