/* server/access/failed_logins.c - see failed_logins.h. Small sets, chosen by a seeded hash; in a full one the address whose failure is
 * longest ago gives way. */
#include "server/access/failed_logins.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"

enum { WAYS = 8, SETS = LIMIT_FAILED_ADDRESSES_MAX / WAYS };
_Static_assert((SETS & (SETS - 1)) == 0 && SETS * WAYS == LIMIT_FAILED_ADDRESSES_MAX,
               "sets are chosen by bits");

struct failure {
    uint64_t address;
    int64_t failed_ms; /* when it did last */
    int64_t until_ms;  /* no try before */
    uint32_t times;    /* 0: empty */
};

struct failed_logins {
    struct failure failure[SETS][WAYS];
};

enum rc failed_logins_new(struct failed_logins **out, struct err *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? RC_OK : err_oom(err);
}

void failed_logins_free(struct failed_logins *f)
{
    free(f);
}

static struct failure *set_of(struct failed_logins *f, uint64_t address)
{
    return f->failure[hash_bytes(slice_of(&address, sizeof address)) & (SETS - 1)];
}

/* NULL: it has not failed for long. */
static struct failure *find(struct failed_logins *f, uint64_t address)
{
    struct failure *set = set_of(f, address);
    for (unsigned i = 0; i < WAYS; i++)
        if (set[i].times && set[i].address == address)
            return &set[i];
    return NULL;
}

static int64_t delay_ms(uint32_t times)
{
    int64_t ms = LIMIT_LOGIN_DELAY_MS;
    while (--times && ms < LIMIT_LOGIN_DELAY_MAX_MS)
        ms *= 2;
    return ms < LIMIT_LOGIN_DELAY_MAX_MS ? ms : LIMIT_LOGIN_DELAY_MAX_MS;
}

uint64_t failed_logins_wait_ms(struct failed_logins *f, uint64_t address, int64_t now_ms)
{
    struct failure *at = find(f, address);
    if (at && now_ms - at->failed_ms >= LIMIT_LOGIN_FORGET_MS)
        *at = (struct failure){0};
    return at && at->until_ms > now_ms ? (uint64_t)(at->until_ms - now_ms) : 0;
}

void failed_logins_try(struct failed_logins *f, uint64_t address, int64_t now_ms)
{
    struct failure *at = find(f, address);
    if (at)
        at->until_ms = now_ms + delay_ms(at->times + 1);
}

void failed_logins_wrong(struct failed_logins *f, uint64_t address, int64_t now_ms)
{
    struct failure *set = set_of(f, address), *at = find(f, address);
    if (!at) {
        at = set;
        for (unsigned i = 1; i < WAYS; i++)
            if (!set[i].times || (at->times && set[i].failed_ms < at->failed_ms))
                at = &set[i];
        *at = (struct failure){.address = address};
    }
    if (at->times < UINT32_MAX)
        at->times++;
    at->failed_ms = now_ms;
    at->until_ms = now_ms + delay_ms(at->times);
}

void failed_logins_right(struct failed_logins *f, uint64_t address)
{
    struct failure *at = find(f, address);
    if (at)
        at->until_ms = 0;
}
