/* server/access/access.h - who is asking, and may they? (docs/access.md, decision 16.)
 *
 *   head parsed      access_identify   credentials -> principal; a password goes to a helper first (RC_PENDING)
 *   route known      access_check      the route's role on the path's type: 401, 403, or 404 where even the name is a secret
 *   lists            access_sees       what does not see a type does not list it
 *
 * All tables (passwords, tokens, rights) are one immutable `struct access`, replaced as a whole by access_reload; a request
 * keeps the one it began with until router_end. server->access NULL: nobody is asked, everybody may do everything. */
#ifndef SERVER_ACCESS_ACCESS_H
#define SERVER_ACCESS_ACCESS_H

#include "server/access/rights.h"
#include "server/handler.h"

struct access_control;
struct options;

/* Read --passwords, --tokens and --access. *out NULL: none of them is given, nor --tls-client-ca. options->threads is how many workers there will be. CONFIG:
 * unreadable or wrong, with file and line. */
MUST_USE enum rc access_open(struct access_control **out, const struct options *, struct err *);
/* After the edge has ended. NULL is allowed. */
void access_free(struct access_control *);
/* Would access_open be content with these files? */
MUST_USE enum rc access_check_config(const struct options *, struct err *);
/* Read them again. On failure all stays as it was. Main thread. */
MUST_USE enum rc access_reload(struct access_control *, struct err *);

/* What an Authorization came to, for who keeps it with the same bytes. Zero-initialised: nothing. */
struct identity {
    uint64_t generation; /* of the tables that it is from: it holds as long as they do */
    const struct principal *principal;
    struct slice user;
};

/* From where a request comes. */
struct caller {
    struct slice
        certificate_user; /* what a verified client certificate says, borrowed until the connection ends, or empty */
    uint64_t address; /* address_group of server/http/address.h */
    struct identity *
        known; /* of the same bytes of Authorization, or NULL; looked at and set before access_identify returns */
};

/* Who sends this request? Sets req->principal and req->user. Authorization goes before the certificate; OPTIONS is anonymous, since
 * browsers ask so before they have credentials. RC_PENDING: a helper looks at the password; then `next` is called on the request's worker,
 * with NULL or with why not (borrowed until it returns). RC_ERR: UNAUTHORIZED, with WWW-Authenticate in the response; LOGINS_SLOWED, and
 * TOO_MANY_REQUESTS where its address has used up its quota (admission.h), with Retry-After; HELPERS_BUSY, NO_MEMORY. */
MUST_USE enum rc access_identify(struct request *, const struct caller *,
                                 void (*next)(struct request *, const struct err *), struct err *);
/* The request is over: give back what it holds. Only if req->access is set. */
void access_end(struct request *);
/* Add WWW-Authenticate to the response, which will be 401. False: memory is out. */
MUST_USE bool access_challenge(struct request *);
/* How many connections an address may have open; 0: as many as it likes. Any thread. */
uint32_t access_address_connections(struct access_control *);
/* How many passwords are being verified, or wait for it. */
uint64_t access_verifying(struct access_control *);

/* May the caller do this to the type (empty: to the store as a whole)? RC_ERR: UNAUTHORIZED for who has not said who they are
 * and might be allowed if they did; NO_TYPE (NO_SUBJECT) for who may not know whether there is such a type, unless the route would make
 * it; else FORBIDDEN. Whether the type is there is not looked at. What is refused is not told of what was done with its idempotency
 * key, either. */
MUST_USE enum rc access_check(struct request *, enum role, struct slice type, struct err *);
/* The same without words. Any thread that has the request. */
bool access_allows(const struct request *, enum role, struct slice type);
/* For lists: may the caller know that there is this type? */
bool access_sees(const struct request *, struct slice type);
/* ... whichever it is: a list need not ask. */
bool access_sees_all(const struct request *);

#endif
