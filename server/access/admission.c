/* server/access/admission.c - see admission.h. */
#include "server/access/admission.h"

#include "base/clock.h"
#include "base/num.h"
#include "server/access/control.h"
#include "server/access/quotas.h"
#include "server/counts.h"
#include "server/http/address.h"

static struct quotas *quotas_of(const struct request *req)
{
    return hold_of(req)->tables->quotas;
}

/* Whoever watches over the server is to hear of it however many ask, from behind the same proxy perhaps. With credentials it could be
 * used to try them out. */
static bool is_health_check(const struct request *req)
{
    return !(req->headers >> HEADER_AUTHORIZATION & 1) &&
           (slice_eq(req->path, SLICE("/healthz")) || slice_eq(req->path, SLICE("/readyz")));
}

static uint64_t ticks_now(void)
{
    return quota_ticks(clock_mono_ns());
}

static uint64_t seconds_up(uint64_t ticks)
{
    const uint64_t second = quota_ticks(1000000000);
    return (ticks + second - 1) / second;
}

static const char *const whose_words[] = {
    [QUOTA_ADDRESS] = "This address",
    [QUOTA_OWN] = "This user",
    [QUOTA_GROUP] = "A group of this user's",
    [QUOTA_ANONYMOUS] = "Those who do not say who they are",
};

static COLD enum rc refuse(struct request *req, const struct quota_refusal *r, struct err *err)
{
    uint8_t digits[NUM_U64_MAX_CHARS];
    uint64_t seconds = seconds_up(r->wait_ticks);
    count(req->worker->counts, COUNT_quota_refused, 1);
    if (!response_header(req, "Retry-After", slice_of(digits, num_print_u64(seconds, digits))))
        return err_oom(err);
    return err_set(err, ERR_TOO_MANY_REQUESTS,
                   "%s may have %llu %s a second, and none are left; Retry-After says when to try again.",
                   whose_words[r->whose], (unsigned long long)r->per_second,
                   r->is_for_bytes ? "bytes of bodies and answers" : "requests");
}

enum rc admission_of_address(struct request *req, uint64_t address, struct err *err)
{
    struct quotas *q = quotas_of(req);
    struct quota_refusal r;
    if (likely(!q) || address == ADDRESS_NONE || is_health_check(req) ||
        quotas_admit_address(q, address, ticks_now(), &r))
        return RC_OK;
    return refuse(req, &r, err);
}

enum rc admission_of_caller(struct request *req, struct err *err)
{
    struct quotas *q = quotas_of(req);
    struct quota_refusal r;
    if (likely(!q) || is_health_check(req) || quotas_admit(q, req->principal, req->user, ticks_now(), &r))
        return RC_OK;
    return refuse(req, &r, err);
}

void admission_charge(const struct request *req, uint64_t address, uint64_t bytes)
{
    struct quotas *q = quotas_of(req);
    if (likely(!q) || !bytes || !quotas_count_bytes(q) || is_health_check(req))
        return;
    uint64_t now = ticks_now();
    if (address != ADDRESS_NONE)
        quotas_charge_address(q, address, bytes, now);
    if (req->principal)
        quotas_charge(q, req->principal, req->user, bytes, now);
}
