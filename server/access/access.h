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

/* Read --passwords, --tokens and --access. *out NULL: none of them is given. CONFIG: unreadable or wrong, with file and line. */
MUST_USE enum rc access_open(struct access_control **out, const struct options *, struct err *);
void access_free(struct access_control *);
/* Read them again. On failure all stays as it was. Main thread. */
MUST_USE enum rc access_reload(struct access_control *, struct err *);

/* Who sends this request? Sets req->principal and req->user. `certificate_user` is what a verified client certificate says,
 * borrowed until the connection ends, or empty. RC_PENDING: a helper looks at the password; then `next` is called on the
 * request's worker, with NULL or with why not (borrowed until it returns). RC_ERR: UNAUTHORIZED, with WWW-Authenticate in the
 * response; HELPERS_BUSY, NO_MEMORY. */
MUST_USE enum rc access_identify(struct request *, struct slice certificate_user,
                                 void (*next)(struct request *, const struct err *), struct err *);
/* The request is over: give back what it holds. */
void access_end(struct request *);

/* May the caller do this to the type (empty: to the store as a whole)? RC_ERR: UNAUTHORIZED for who has not said who they are
 * and might be allowed if they did; NO_TYPE for who may not know whether there is such a type; else FORBIDDEN. */
MUST_USE enum rc access_check(struct request *, enum role, struct slice type, struct err *);
/* Without words, for lists: may the caller know that there is this type? */
bool access_sees(const struct request *, struct slice type);

#endif
