/* server/access/quotas.h - the buckets of all whom the file of --access limits: one for each user that it names and for anonymous, one for
 * each group, which its members share, and tables of addresses and of users that it does not name. */
#ifndef SERVER_ACCESS_QUOTAS_H
#define SERVER_ACCESS_QUOTAS_H

#include "base/err.h"
#include "base/slice.h"
#include "server/access/quota.h"

struct quotas;

/* *out NULL: the file limits nobody. Whoever had the same limits in `old` (may be NULL), by the same name, goes on with what they had left
 * there, and so do addresses and users without a name if their limits are the same. NO_MEMORY. */
MUST_USE enum rc quotas_new(struct quotas **out, const struct rights *, const struct quotas *old,
                            struct err *);
/* Once nobody asks any more. NULL is allowed. */
void quotas_free(struct quotas *);

/* Why a request is refused. */
struct quota_refusal {
    enum quota_whose { QUOTA_ADDRESS, QUOTA_OWN, QUOTA_GROUP, QUOTA_ANONYMOUS } whose;
    bool is_for_bytes;
    uint64_t per_second, wait_ticks;
};

/* One more request from this address, whoever sends it; one more of this principal, who calls himself so. False: it is one too many, and
 * is not counted. Times in ticks (quota.h). Any thread. */
MUST_USE bool quotas_admit_address(struct quotas *, uint64_t address, uint64_t now, struct quota_refusal *);
MUST_USE bool quotas_admit(struct quotas *, const struct principal *, struct slice user, uint64_t now,
                           struct quota_refusal *);
/* Are there any who may move only so many bytes? */
bool quotas_count_bytes(const struct quotas *);
/* So many bytes were moved for them. principal NULL: it is not known who it was. */
void quotas_charge(struct quotas *, const struct principal *, struct slice user, uint64_t bytes,
                   uint64_t now);
void quotas_charge_address(struct quotas *, uint64_t address, uint64_t bytes, uint64_t now);

#endif
