/* server/access/quotas.c - see quotas.h. Buckets are shared by the quotas before and after a reload, so that what is taken from them
 * meanwhile, by requests that have begun before, is not lost. */
#include "server/access/quotas.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "server/access/name_map.h"
#include "server/access/quota_table.h"

/* What one user has, or a group has together. */
struct allowance {
    _Atomic unsigned refs;
    struct quota_limits limits;
    struct quota_rates rates;
    struct quota_buckets buckets;
    enum quota_whose whose;
    size_t name_bytes;
    uint8_t name[];
};

struct quotas {
    bool counts_bytes;
    struct quota_table *each, *addresses; /* NULL: they are not limited */
    uint32_t n;
    struct allowance *of[]; /* by the ids of rights.h */
};

/* ---- life ---- */

static void allowance_unref(struct allowance *a)
{
    if (a && atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) == 1)
        free(a);
}

static enum quota_whose whose_of(struct slice name)
{
    if (slice_starts(name, SLICE("user ")))
        return QUOTA_OWN;
    return slice_starts(name, SLICE("group ")) ? QUOTA_GROUP : QUOTA_ANONYMOUS;
}

static struct allowance *allowance_new(struct slice name, const struct quota_limits *limits)
{
    struct allowance *a = calloc(1, sizeof *a + name.len);
    if (!a)
        return NULL;
    atomic_init(&a->refs, 1);
    a->limits = *limits;
    a->rates = quota_rates_of(limits);
    a->whose = whose_of(name);
    a->name_bytes = name.len;
    memcpy(a->name, name.ptr, name.len);
    return a;
}

/* By their names. */
static enum rc list_old(const struct quotas *old, struct name_map *names, struct arena *arena,
                        struct err *err)
{
    for (uint32_t i = 0; old && i < old->n; i++) {
        void **at = name_map_at(names, slice_of(old->of[i]->name, old->of[i]->name_bytes), arena);
        if (!at)
            return err_oom(err);
        *at = old->of[i];
    }
    return RC_OK;
}

static struct allowance *allowance_of(const struct rights *r, uint32_t id, const struct name_map *old)
{
    struct slice name = rights_quota_name(r, id);
    const struct quota_limits *limits = rights_quota_limits(r, id);
    struct allowance *was = name_map_find(old, name);
    if (!was || !quota_limits_equal(&was->limits, limits))
        return allowance_new(name, limits);
    atomic_fetch_add_explicit(&was->refs, 1, memory_order_relaxed);
    return was;
}

/* False: memory is out. */
static bool set_table(struct quota_table **out, const struct quota_limits *limits, struct quota_table *old)
{
    if (!limits)
        return true;
    bool is_same = old && quota_limits_equal(limits, quota_table_limits(old));
    *out = is_same ? quota_table_ref(old) : quota_table_new(limits, LIMIT_QUOTA_PLACES);
    return *out;
}

static enum rc fill(struct quotas *q, const struct rights *r, const struct quotas *old, struct err *err)
{
    struct name_map names = {0};
    struct arena arena = {0};
    const struct quota_limits *each = rights_each_quota(r), *address = rights_address_quota(r);
    enum rc rc = list_old(old, &names, &arena, err);
    for (; rc == RC_OK && q->n < rights_quotas(r); q->n++) {
        struct allowance *a = allowance_of(r, q->n, &names);
        if (!a) {
            rc = err_oom(err);
            break;
        }
        q->of[q->n] = a;
        q->counts_bytes |= a->limits.bytes_per_second > 0;
    }
    if (rc == RC_OK && (!set_table(&q->each, each, old ? old->each : NULL) ||
                        !set_table(&q->addresses, address, old ? old->addresses : NULL)))
        rc = err_oom(err);
    q->counts_bytes |= (each && each->bytes_per_second) || (address && address->bytes_per_second);
    arena_release(&arena);
    return rc;
}

enum rc quotas_new(struct quotas **out, const struct rights *r, const struct quotas *old, struct err *err)
{
    *out = NULL;
    if (!rights_quotas(r) && !rights_each_quota(r) && !rights_address_quota(r))
        return RC_OK;
    struct quotas *q = calloc(1, sizeof *q + rights_quotas(r) * sizeof *q->of);
    if (!q)
        return err_oom(err);
    if (fill(q, r, old, err) != RC_OK) {
        quotas_free(q);
        return RC_ERR;
    }
    *out = q;
    return RC_OK;
}

void quotas_free(struct quotas *q)
{
    if (!q)
        return;
    for (uint32_t i = 0; i < q->n; i++)
        allowance_unref(q->of[i]);
    quota_table_unref(q->each);
    quota_table_unref(q->addresses);
    free(q);
}

/* ---- who asks ---- */

/* All that holds for a principal. */
struct holding {
    unsigned n;
    struct allowance *of[1 + LIMIT_RIGHTS_GROUPS_MAX];
    struct quota_table *each;
};

static void find(struct quotas *q, const struct principal *p, struct holding *out)
{
    struct quota_of of[ARRAY_LEN(out->of)];
    const struct quota_limits *each;
    out->n = principal_quotas(p, of, ARRAY_LEN(of), &each);
    out->each = each ? q->each : NULL;
    for (unsigned i = 0; i < out->n; i++) {
        assert(of[i].id < q->n);
        out->of[i] = q->of[of[i].id];
    }
}

static bool refuse(struct quota_refusal *r, enum quota_whose whose, const struct quota_limits *limits,
                   bool is_for_bytes, uint64_t wait)
{
    *r = (struct quota_refusal){.whose = whose,
                                .is_for_bytes = is_for_bytes,
                                .per_second =
                                    is_for_bytes ? limits->bytes_per_second : limits->requests_per_second,
                                .wait_ticks = wait};
    return false;
}

static bool admit_to_table(struct quota_table *t, uint64_t key, enum quota_whose whose, uint64_t now,
                           struct quota_refusal *r)
{
    bool is_for_bytes;
    uint64_t wait = quota_table_take(t, key, now, &is_for_bytes);
    return wait == 0 || refuse(r, whose, quota_table_limits(t), is_for_bytes, wait);
}

bool quotas_admit_address(struct quotas *q, uint64_t address, uint64_t now, struct quota_refusal *r)
{
    return !q->addresses || admit_to_table(q->addresses, address, QUOTA_ADDRESS, now, r);
}

bool quotas_admit(struct quotas *q, const struct principal *p, struct slice user, uint64_t now,
                  struct quota_refusal *r)
{
    struct holding h;
    find(q, p, &h);
    for (unsigned i = 0; i < h.n; i++) {
        struct allowance *a = h.of[i];
        bool is_for_bytes;
        uint64_t wait = quota_buckets_take(&a->buckets, &a->rates, now, &is_for_bytes);
        if (wait == 0)
            continue;
        while (i-- > 0)
            quota_buckets_give_back(&h.of[i]->buckets, &h.of[i]->rates);
        return refuse(r, a->whose, &a->limits, is_for_bytes, wait);
    }
    return !h.each || admit_to_table(h.each, hash_bytes(user), QUOTA_OWN, now, r);
}

bool quotas_count_bytes(const struct quotas *q)
{
    return q->counts_bytes;
}

void quotas_charge(struct quotas *q, const struct principal *p, struct slice user, uint64_t bytes,
                   uint64_t now)
{
    struct holding h;
    find(q, p, &h);
    for (unsigned i = 0; i < h.n; i++)
        quota_buckets_charge(&h.of[i]->buckets, &h.of[i]->rates, bytes, now);
    if (h.each)
        quota_table_charge(h.each, hash_bytes(user), bytes, now);
}

void quotas_charge_address(struct quotas *q, uint64_t address, uint64_t bytes, uint64_t now)
{
    if (q->addresses)
        quota_table_charge(q->addresses, address, bytes, now);
}
