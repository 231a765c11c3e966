/* server/access/passwords.h - the file of --passwords, as htpasswd(1) writes it: lines of NAME:HASH. Read once, immutable, any thread. */
#ifndef SERVER_ACCESS_PASSWORDS_H
#define SERVER_ACCESS_PASSWORDS_H

#include "base/err.h"
#include "base/slice.h"

struct passwords;
struct principal;

struct user {
    struct slice name;
    struct slice hash; /* a NUL is behind it */
    const struct principal *principal;
    uint32_t line;
};

/* path NULL: nobody has one. CONFIG: unreadable or wrong, with file and line. Until passwords_free. */
MUST_USE enum rc passwords_load(const char *path, struct passwords **out, struct err *);
/* The same of a text at hand; `path` is for messages. */
MUST_USE enum rc passwords_parse(const char *path, struct slice text, struct passwords **out, struct err *);
/* NULL is allowed. */
void passwords_free(struct passwords *);

/* All of them, in the order of the file. */
struct user *passwords_users(struct passwords *, size_t *n);
/* NULL: there is no such user. How long it takes tells nothing of who there is: names are found by a seeded hash. */
const struct user *passwords_find(const struct passwords *, struct slice name);
/* What a password is verified against whose user there is not: a hash of the kind and cost that most have, which nobody has, whatever it
 * says. NULL: there are no users. */
const struct user *passwords_nobody(const struct passwords *);

#endif
