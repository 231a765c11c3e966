/* server/access/password_hash.c - see password_hash.h. What a hash looks like: crypt(5). */
#include "server/access/password_hash.h"

#include <crypt.h>
#include <errno.h>

#include "base/limits.h"
#include "base/num.h"
#include "base/secret.h"

_Static_assert(PASSWORD_MAX == CRYPT_MAX_PASSPHRASE_SIZE - 1, "libcrypt takes no longer one");

/* ---- the alphabet ---- */

static int digit64(uint8_t c)
{
    static const char digits[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static bool are_digits64(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (digit64(s.ptr[i]) < 0)
            return false;
    return true;
}

/* What is before the next `$`, taken from *rest with it. False: there is none. */
static bool take_part(struct slice *rest, struct slice *part)
{
    const uint8_t *end = rest->len ? memchr(rest->ptr, '$', rest->len) : NULL;
    if (!end)
        return false;
    *part = slice_of(rest->ptr, (size_t)(end - rest->ptr));
    *rest = slice_of(end + 1, rest->len - part->len - 1);
    return true;
}

/* ---- the kinds ---- */

static const char broken[] = "The hash is not whole, or has other characters than one of its kind.";

/* $2y$COST$ and 22 characters of salt, 31 of the hash. */
static const char *bcrypt_fault(struct slice rest)
{
    enum { COST_CHARS = 2, TEXT_CHARS = 53 };
    struct slice cost_text;
    uint64_t cost;
    if (!take_part(&rest, &cost_text) || cost_text.len != COST_CHARS || rest.len != TEXT_CHARS ||
        !are_digits64(rest))
        return broken;
    uint64_t tens = (uint64_t)(cost_text.ptr[0] - '0'), ones = (uint64_t)(cost_text.ptr[1] - '0');
    if (tens > 9 || ones > 9 || (cost = 10 * tens + ones) < 4)
        return broken;
    return cost > LIMIT_BCRYPT_COST_MAX
               ? "The bcrypt cost is above 14: looking at a password would take seconds."
               : NULL;
}

/* $5$[rounds=N$]SALT$ and the hash. */
static const char *shacrypt_fault(struct slice rest, size_t chars)
{
    enum { SALT_MAX = 16, ROUNDS_MIN = 1000 };
    struct slice part, key = SLICE("rounds=");
    uint64_t rounds;
    if (!take_part(&rest, &part))
        return broken;
    if (slice_starts(part, key)) {
        if (!num_parse_decimal(slice_of(part.ptr + key.len, part.len - key.len), UINT64_MAX, &rounds) ||
            rounds < ROUNDS_MIN)
            return broken;
        if (rounds > LIMIT_SHACRYPT_ROUNDS_MAX)
            return "The hash has more than 2000000 rounds: looking at a password would take seconds.";
        if (!take_part(&rest, &part))
            return broken;
    }
    return part.len > SALT_MAX || !are_digits64(part) || rest.len != chars || !are_digits64(rest) ? broken
                                                                                                  : NULL;
}

static const char *sha256crypt_fault(struct slice rest)
{
    return shacrypt_fault(rest, 43);
}

static const char *sha512crypt_fault(struct slice rest)
{
    return shacrypt_fault(rest, 86);
}

/* $y$jNR$SALT$ and the hash: flavor j, the base 2 logarithm of N less 1, r less 1; no more. It takes 128 * N * r bytes. */
static const char *yescrypt_fault(struct slice rest)
{
    enum { HASH_CHARS = 43, SALT_MAX = 86, LONG_NUMBER = 48 };
    struct slice params, salt;
    if (!take_part(&rest, &params) || !take_part(&rest, &salt) || params.len < 3 || !are_digits64(params) ||
        salt.len > SALT_MAX || !are_digits64(salt) || rest.len != HASH_CHARS || !are_digits64(rest))
        return broken;
    int log2n = digit64(params.ptr[1]) + 1, r = digit64(params.ptr[2]) + 1;
    if (params.len > 3 || params.ptr[0] != 'j' || r > LONG_NUMBER)
        return "The hash is of yescrypt, but not as crypt_gensalt makes it ($y$jNR$).";
    if (log2n > 30 || (UINT64_C(128) * (unsigned)r << log2n) > LIMIT_YESCRYPT_MEMORY_MAX)
        return "The hash of yescrypt takes more than 64 MiB of memory.";
    return NULL;
}

static const struct kind {
    struct slice prefix;
    const char *(*fault)(struct slice rest);
} kinds[] = {
#define KIND(text, fault_)                                                                                   \
    {                                                                                                        \
        .prefix = {(const uint8_t *)(text), sizeof(text) - 1}, .fault = fault_                               \
    }
    KIND("$2y$", bcrypt_fault),     KIND("$2b$", bcrypt_fault),     KIND("$2a$", bcrypt_fault),
    KIND("$5$", sha256crypt_fault), KIND("$6$", sha512crypt_fault), KIND("$y$", yescrypt_fault),
};

const char *password_hash_fault(struct slice hash)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct slice prefix = kinds[i].prefix;
        if (slice_starts(hash, prefix))
            return kinds[i].fault(slice_of(hash.ptr + prefix.len, hash.len - prefix.len));
    }
    return "What is behind the name is no hash of bcrypt ($2y$, htpasswd -B), sha256crypt ($5$), sha512crypt "
           "($6$) or yescrypt ($y$).";
}

/* The salt and what is behind it are the last two parts, of bcrypt the last one. */
struct slice password_hash_kind(struct slice hash)
{
    unsigned parts = slice_starts(hash, SLICE("$2")) ? 1 : 2;
    size_t n = hash.len;
    while (n && parts) {
        n--;
        parts -= hash.ptr[n] == '$';
    }
    return slice_of(hash.ptr, n);
}

/* ---- verifying ---- */

enum rc password_hash_verify(const char *hash, const char *password, struct err *err)
{
    struct crypt_data data;
    memset(&data, 0, sizeof data);
    errno = 0;
    const char *made = crypt_rn(password, hash, &data, sizeof data);
    bool no_memory = !made && errno == ENOMEM;
    bool right = made && strlen(made) == strlen(hash) && secret_eq(made, hash, strlen(hash));
    secret_wipe(&data, sizeof data);
    if (no_memory)
        return err_oom(err);
    return right ? RC_OK : RC_NOTFOUND;
}
