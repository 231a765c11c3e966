/* server/access/identify.c - from a request's credentials to who sends it. */
#include "server/access/access.h"

#include <assert.h>

#include "base/num.h"
#include "server/access/admission.h"
#include "server/access/control.h"
#include "server/access/credentials.h"
#include "server/access/user_name.h"

/* What a request waits with while a helper looks at its password; in its arena. */
struct waiting {
    struct login login; /* first: `then` gets it */
    void (*next)(struct request *, const struct err *);
};

static inline const struct tables *tables_of(const struct request *req)
{
    return hold_of(req)->tables;
}

static void is_user(struct request *req, const struct principal *principal, struct slice name)
{
    req->principal = principal;
    req->user = name;
}

/* ---- refusing ---- */

/* A scheme that nobody could log in with is not offered, but for one: there must be a challenge (RFC 9110, 15.5.2). */
static bool add_challenge(struct request *req, struct slice bearer)
{
    const struct tables *t = tables_of(req);
    size_t users, tokens;
    passwords_users(t->passwords, &users);
    tokens_all(t->tokens, &tokens);
    return (!users ||
            response_header(req, "WWW-Authenticate", SLICE("Basic realm=\"avrod\", charset=\"UTF-8\""))) &&
           ((users && !tokens) || response_header(req, "WWW-Authenticate", bearer));
}

bool access_challenge(struct request *req)
{
    return add_challenge(req, SLICE("Bearer realm=\"avrod\""));
}

/* Say in the head what *err means for the next try. */
static enum rc refused(struct request *req, struct slice bearer, unsigned retry_after_s, struct err *err)
{
    uint8_t digits[NUM_U64_MAX_CHARS];
    bool ok = true;
    if (err->code == ERR_UNAUTHORIZED)
        ok = add_challenge(req, bearer);
    else if (err->code == ERR_LOGINS_SLOWED)
        ok = response_header(req, "Retry-After", slice_of(digits, num_print_u64(retry_after_s, digits)));
    return ok ? RC_ERR : err_oom(err);
}

static const struct slice plain_bearer = {(const uint8_t *)"Bearer realm=\"avrod\"", 20};

/* RFC 6750, 3.1. */
static const struct slice bad_bearer = {(const uint8_t *)"Bearer realm=\"avrod\", error=\"invalid_token\"",
                                        43};

/* ---- the schemes ---- */

static enum rc identify_bearer(struct request *req, const struct credentials *c, const struct caller *caller,
                               struct err *err)
{
    const struct token *token = tokens_find(tables_of(req)->tokens, c->token);
    if (likely(token)) {
        is_user(req, token->principal, token->name);
        return RC_OK;
    }
    struct login login = {.req = req, .address = caller->address};
    logins_wrong(access_logins(req), &login, "The token is nobody's.", err);
    return refused(req, bad_bearer, login.retry_after_s, err);
}

static void verified(struct login *login, const struct err *why_not)
{
    struct waiting *w = CONTAINER_OF(login, struct waiting, login);
    struct request *req = login->req;
    struct err err;
    if (!why_not) {
        is_user(req, login->user->principal, login->user->name);
        w->next(req, NULL);
        return;
    }
    err = *why_not;
    enum rc rc = refused(req, plain_bearer, login->retry_after_s, &err);
    assert(rc == RC_ERR);
    (void)rc;
    w->next(req, &err);
}

static enum rc identify_basic(struct request *req, const struct credentials *c, const struct caller *caller,
                              void (*next)(struct request *, const struct err *), struct err *err)
{
    const struct passwords *all = tables_of(req)->passwords;
    const struct user *user = passwords_find(all, c->user), *nobody = passwords_nobody(all);
    if (!nobody) {
        err_set(err, ERR_UNAUTHORIZED, "Nobody has a password here.");
        return refused(req, plain_bearer, 0, err);
    }
    struct waiting *w = arena_calloc(&req->arena, 1, sizeof *w);
    if (!w)
        return err_oom(err);
    w->next = next;
    w->login = (struct login){.req = req,
                              .user = user ? user : nobody,
                              .is_nobody = !user,
                              .name = c->user,
                              .password = c->password,
                              .address = caller->address,
                              .then = verified};
    enum rc rc = logins_check(access_logins(req), &w->login, err);
    if (rc == RC_OK)
        is_user(req, user->principal, user->name);
    return rc == RC_ERR ? refused(req, plain_bearer, w->login.retry_after_s, err) : rc;
}

/* ---- all together ---- */

static enum rc identify_field(struct request *req, const struct caller *caller,
                              void (*next)(struct request *, const struct err *), struct err *err)
{
    struct credentials c;
    enum rc rc = credentials_parse(req->header[HEADER_AUTHORIZATION], &c, err);
    if (rc == RC_ERR)
        rc = refused(req, plain_bearer, 0, err);
    else if (c.kind == CREDENTIALS_BEARER)
        rc = identify_bearer(req, &c, caller, err);
    else
        rc = identify_basic(req, &c, caller, next, err);
    credentials_wipe(&c);
    return rc;
}

static enum rc identify_certificate(struct request *req, struct slice user, struct err *err)
{
    const char *fault = user_name_fault(user);
    if (!fault) {
        is_user(req, rights_principal(tables_of(req)->rights, user), user);
        return RC_OK;
    }
    err_set(err, ERR_UNAUTHORIZED, "The client certificate names no user: %s", fault);
    return refused(req, plain_bearer, 0, err);
}

static void keep(const struct request *req, struct identity *known)
{
    *known = (struct identity){
        .generation = tables_of(req)->generation, .principal = req->principal, .user = req->user};
}

enum rc access_identify(struct request *req, const struct caller *caller,
                        void (*next)(struct request *, const struct err *), struct err *err)
{
    bool has_field = req->headers >> HEADER_AUTHORIZATION & 1;
    struct identity *known = caller->known;
    if (unlikely(!access_begin(req)))
        return err_oom(err);
    if (admission_of_address(req, caller->address, err) != RC_OK)
        return RC_ERR;
    if (req->method == METHOD_OPTIONS || (!has_field && !caller->certificate_user.len)) {
        is_user(req, tables_of(req)->anonymous, (struct slice){0});
        return RC_OK;
    }
    if (!has_field)
        return identify_certificate(req, caller->certificate_user, err);
    if (known && known->generation == tables_of(req)->generation) {
        is_user(req, known->principal, known->user);
        return RC_OK;
    }
    enum rc rc = identify_field(req, caller, next, err);
    if (known && rc == RC_OK)
        keep(req, known);
    return rc;
}
