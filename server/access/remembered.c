/* server/access/remembered.c - see remembered.h. A digest belongs to one of many small sets; in a full one the least recently used
 * gives way. Digests are as good as random, so sets fill evenly, and nobody without the key can aim at one. */
#include "server/access/remembered.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/secret.h"

enum { WAYS = 8, SETS = LIMIT_REMEMBERED_LOGINS_MAX / WAYS };
_Static_assert((SETS & (SETS - 1)) == 0 && SETS * WAYS == LIMIT_REMEMBERED_LOGINS_MAX,
               "sets are chosen by bits");

struct login_seen {
    uint8_t digest[SHA256_BYTES];
    uint64_t used; /* by `clock`; 0: empty */
};

struct remembered {
    uint8_t key[SHA256_BYTES];
    uint64_t clock; /* counts what is asked */
    struct login_seen seen[SETS][WAYS];
};

enum rc remembered_new(struct remembered **out, struct err *err)
{
    struct remembered *r = calloc(1, sizeof *r);
    if (!r)
        return err_oom(err);
    if (!random_bytes(r->key, sizeof r->key)) {
        free(r);
        return err_set(err, ERR_IO, "The kernel gives no random bytes.");
    }
    *out = r;
    return RC_OK;
}

void remembered_free(struct remembered *r)
{
    if (!r)
        return;
    secret_wipe(r, sizeof *r);
    free(r);
}

void remembered_digest(const struct remembered *r, struct slice hash, struct slice user,
                       struct slice password, uint8_t out[SHA256_BYTES])
{
    uint8_t lengths[3 * 8];
    put_le64(lengths, hash.len);
    put_le64(lengths + 8, user.len);
    put_le64(lengths + 16, password.len);
    hmac_sha256(r->key, (struct slice[]){slice_of(lengths, sizeof lengths), hash, user, password}, 4, out);
}

static struct login_seen *find(struct remembered *r, const uint8_t digest[SHA256_BYTES])
{
    struct login_seen *set = r->seen[get_le64(digest) & (SETS - 1)];
    for (unsigned i = 0; i < WAYS; i++)
        if (set[i].used && secret_eq(set[i].digest, digest, SHA256_BYTES))
            return &set[i];
    return NULL;
}

bool remembered_has(struct remembered *r, const uint8_t digest[SHA256_BYTES])
{
    struct login_seen *seen = find(r, digest);
    if (!seen)
        return false;
    seen->used = ++r->clock;
    return true;
}

void remembered_add(struct remembered *r, const uint8_t digest[SHA256_BYTES])
{
    struct login_seen *set = r->seen[get_le64(digest) & (SETS - 1)], *oldest = set;
    if (remembered_has(r, digest))
        return;
    for (unsigned i = 1; i < WAYS; i++)
        if (set[i].used < oldest->used)
            oldest = &set[i];
    memcpy(oldest->digest, digest, SHA256_BYTES);
    oldest->used = ++r->clock;
}
