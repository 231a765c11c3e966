/* server/access/tables.h - all tables of who is who and who may what, as of one reading of their files. Immutable; workers hold them, so
 * that nothing is shared from request to request. */
#ifndef SERVER_ACCESS_TABLES_H
#define SERVER_ACCESS_TABLES_H

#include "base/err.h"
#include "server/access/passwords.h"
#include "server/access/quotas.h"
#include "server/access/rights.h"
#include "server/access/tokens.h"

struct options;

struct tables {
    struct passwords *passwords;
    struct tokens *tokens;
    struct rights *rights;
    struct quotas *quotas; /* NULL: nobody is limited */
    const struct principal *anonymous;
    uint64_t generation; /* from 1; no other has it */
    unsigned refs;       /* under the lock of access.c */
};

/* Read the files that the options name. One reference, the caller's. `old`: those before, for what is left of quotas; or NULL. CONFIG,
 * NO_MEMORY. */
MUST_USE enum rc tables_load(struct tables **out, const struct options *, uint64_t generation,
                             const struct tables *old, struct err *);
/* NULL is allowed. */
void tables_free(struct tables *);

#endif
