/* server/access/tables.c - see tables.h. */
#include "server/access/tables.h"

#include <stdlib.h>

#include "server/options.h"

/* A user's principal is looked up here once, and not for each request. */
static void find_principals(struct tables *t)
{
    size_t n;
    struct user *user = passwords_users(t->passwords, &n);
    for (size_t i = 0; i < n; i++)
        user[i].principal = rights_principal(t->rights, user[i].name);
    struct token *token = tokens_all(t->tokens, &n);
    for (size_t i = 0; i < n; i++)
        token[i].principal = rights_principal(t->rights, token[i].name);
    t->anonymous = rights_principal(t->rights, (struct slice){0});
}

enum rc tables_load(struct tables **out, const struct options *o, uint64_t generation,
                    const struct tables *old, struct err *err)
{
    struct tables *t = calloc(1, sizeof *t);
    if (!t)
        return err_oom(err);
    t->generation = generation;
    t->refs = 1;
    if (passwords_load(o->passwords, &t->passwords, err) != RC_OK ||
        tokens_load(o->tokens, &t->tokens, err) != RC_OK ||
        rights_load(o->access, &t->rights, err) != RC_OK ||
        quotas_new(&t->quotas, t->rights, old ? old->quotas : NULL, err) != RC_OK) {
        tables_free(t);
        return RC_ERR;
    }
    find_principals(t);
    *out = t;
    return RC_OK;
}

void tables_free(struct tables *t)
{
    if (!t)
        return;
    passwords_free(t->passwords);
    tokens_free(t->tokens);
    quotas_free(t->quotas);
    if (t->rights)
        rights_free(t->rights);
    free(t);
}
