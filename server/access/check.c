/* server/access/check.c - may the caller do this? The names of types alone are looked at, and not whether there are such types: so
 * a refusal says nothing of what is stored. */
#include "server/access/access.h"

#include <assert.h>

#include "server/catalog.h"
#include "server/counts.h"
#include "server/handlers/idem/idem.h"
#include "server/registry/subject_name.h"
#include "server/router.h"
#include "server/server.h"
#include "server/words.h"

/* What who lacks the role is told. */
static const char *const may_not[ROLES] = {
    [ROLE_HEALTH] = "see the health of",     [ROLE_SEE] = "see any type of",
    [ROLE_READ] = "read the records of",     [ROLE_WRITE] = "change the records of",
    [ROLE_SCHEMA] = "change the schemas of", [ROLE_ADMIN] = "administer",
};

bool access_allows(const struct request *req, enum role role, struct slice type)
{
    if (likely(!req->worker->server->access))
        return true;
    assert(req->principal); /* it was asked who sends the request */
    return principal_may(req->principal, role, type);
}

bool access_sees(const struct request *req, struct slice type)
{
    return access_allows(req, ROLE_SEE, type);
}

bool access_sees_all(const struct request *req)
{
    return !req->worker->server->access || principal_sees_all(req->principal);
}

/* ---- refusing ---- */

static COLD enum rc ask_for_name(struct request *req, struct err *err)
{
    count(req->worker->counts, COUNT_access_unauthorized, 1);
    if (!access_challenge(req))
        return err_oom(err);
    return err_set(err, ERR_UNAUTHORIZED, "Anonymous may not do this; say who you are.");
}

/* What makes the type that it names need not say that there is none. */
static bool is_secret(const struct request *req, struct slice type)
{
    bool makes = req->route && req->route->flags & ROUTE_MAKES;
    return type.len && !makes && !principal_sees(req->principal, type);
}

static COLD enum rc refuse(struct request *req, enum role role, struct slice type, struct err *err)
{
    struct words words;
    req->look = LOOK_NEVER; /* whoever once might do it may not hear of it now */
    if (principal_is_anonymous(req->principal) && rights_ask_for_name(principal_rights(req->principal)))
        return ask_for_name(req, err);
    count(req->worker->counts, COUNT_access_forbidden, 1);
    if (is_secret(req, type))
        return req->is_registry ? subject_unknown(type, err) : catalog_no_type(type, err);
    if (!type.len)
        return err_set(err, ERR_FORBIDDEN, "You may not %s this store.", may_not[role]);
    return err_set(err, ERR_FORBIDDEN, "You may not %s '%s'.", may_not[role], words_of(type, &words));
}

enum rc access_check(struct request *req, enum role role, struct slice type, struct err *err)
{
    return access_allows(req, role, type) ? RC_OK : refuse(req, role, type, err);
}
