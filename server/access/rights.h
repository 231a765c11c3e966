/* server/access/rights.h - the file of --access: what users, groups, all who are known, and anonymous may do to which types, and
 * how much of it. Read once, immutable, any thread. The file is documented in docs/access.md. */
#ifndef SERVER_ACCESS_RIGHTS_H
#define SERVER_ACCESS_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/slice.h"

/* What a route asks for. A writer is a reader too (a failed condition shows the record); an admin is everything. */
enum role {
    ROLE_ANYONE, /* asks for nothing */
    ROLE_HEALTH, /* metrics, TRACE; of the store as a whole */
    ROLE_READ,   /* records, and the type's schemas */
    ROLE_WRITE,
    ROLE_SCHEMA, /* registers and deletes versions, sets options; sees schemas, not records */
    ROLE_ADMIN   /* drops types, settings for all, backups */
};

/* 0: no limit. A burst of 0 is one second's worth. */
struct quota_limits {
    uint64_t requests_per_second, requests_burst;
    uint64_t bytes_per_second, bytes_burst;
};

struct rights;
struct
    principal; /* one user, or all that the file does not name, or anonymous; lives as long as its rights */

/* path NULL: there is no file: who is known may do everything, anonymous nothing. CONFIG: with file and line. */
MUST_USE enum rc rights_load(const char *path, struct rights **out, struct err *);
void rights_free(struct rights *);

/* user empty: anonymous. Never NULL. */
const struct principal *rights_principal(const struct rights *, struct slice user);
/* type empty: the store as a whole, which takes a grant for all types (*). */
bool principal_may(const struct principal *, enum role, struct slice type);
/* Any of reader, writer, schema, admin on it. */
bool principal_sees(const struct principal *, struct slice type);
/* Might somebody be allowed this whom anonymous is not? Then 401 is the better answer. */
bool rights_ask_for_name(const struct rights *);

/* The quota of a principal's own, and those of its groups, which all members of one share. `id` is the place of its bucket:
 * from 0, below rights_quotas(). */
struct quota_of {
    const struct quota_limits *limits;
    uint32_t id;
};
/* Up to `max`; how many there are. For a user that the file does not name `*each` is what every such user has for themselves. */
unsigned principal_quotas(const struct principal *, struct quota_of *out, unsigned max,
                          const struct quota_limits **each);
uint32_t rights_quotas(const struct rights *);
/* What every address has, whoever asks from there; NULL: no limit. */
const struct quota_limits *rights_address_quota(const struct rights *);
/* Open connections of one address; 0: no limit. */
uint32_t rights_address_connections(const struct rights *);

#endif
