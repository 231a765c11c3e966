/* server/access/logins.h - is this the user's password? What was right once is known at once; all else is verified by a helper, each login
 * once, however many requests come with it meanwhile. Any worker. */
#ifndef SERVER_ACCESS_LOGINS_H
#define SERVER_ACCESS_LOGINS_H

#include "server/access/passwords.h"
#include "server/handler.h"

struct logins;
struct verification; /* its own */

/* What a request waits with, in its arena; req->job is taken until `then` is called. */
struct login {
    struct request *req;
    const struct user *user;     /* against whom; held until `then` */
    bool is_nobody;              /* it is wrong whatever comes out */
    struct slice name, password; /* as sent, a NUL behind the password; borrowed for the call */
    uint64_t address;
    void (*then)(struct login *, const struct err *); /* on the request's worker; NULL: it is right */
    unsigned retry_after_s;                           /* with LOGINS_SLOWED */
    struct logins *logins;                            /* their own, from here on */
    struct verification *verification;                /* of a leader, until it is over */
    struct login *next;
    enum rc rc;
    struct err err;
};

MUST_USE enum rc logins_new(struct logins **, struct err *);
/* NULL is allowed. After the helpers have ended. */
void logins_free(struct logins *);

/* RC_OK: it is right. RC_PENDING: `then` is called. RC_ERR: UNAUTHORIZED; LOGINS_SLOWED: from this address too much has failed, or too much
 * waits; HELPERS_BUSY. */
MUST_USE enum rc logins_check(struct logins *, struct login *, struct err *);
/* Another kind of credentials was wrong, which takes no time to find out. RC_ERR: UNAUTHORIZED in these words; LOGINS_SLOWED. */
enum rc logins_wrong(struct logins *, struct login *, const char *sentence, struct err *);
/* How many are being verified, or wait for it. */
unsigned logins_verifying(struct logins *);

#endif
