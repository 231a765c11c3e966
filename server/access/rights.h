/* server/access/rights.h - the file of --access: what users, groups, all who are known, and anonymous may do to which types, and
 * how much of it. Read once, immutable, any thread. The file is documented in docs/access.md. */
#ifndef SERVER_ACCESS_RIGHTS_H
#define SERVER_ACCESS_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/slice.h"

/* What a route asks for. A writer is a reader too (a failed condition shows the record); an admin is everything. */
enum role {
    ROLE_ANYONE, /* asks for nothing */
    ROLE_HEALTH, /* metrics, TRACE; of the store as a whole */
    ROLE_SEE, /* that the type is there, and its schemas: whoever has any of the next four; of the store: on anything */
    ROLE_READ, /* records */
    ROLE_WRITE,
    ROLE_SCHEMA, /* registers and deletes versions, sets options; sees no records */
    ROLE_ADMIN,  /* drops types, settings for all, backups */
    ROLES
};

/* 0: no limit. A burst of 0 is one second's worth. */
struct quota_limits {
    uint64_t requests_per_second, requests_burst;
    uint64_t bytes_per_second, bytes_burst;
};

struct rights;
/* One user, or all that the file does not name, or anonymous; lives as long as its rights. */
struct principal;

/* path NULL: there is no file: who is known may do everything, anonymous nothing. CONFIG: with file and line. NO_MEMORY. */
MUST_USE enum rc rights_load(const char *path, struct rights **out, struct err *);
/* The same of what is open already; `path` is for the words. */
MUST_USE enum rc rights_load_stream(FILE *, const char *path, struct rights **out, struct err *);
void rights_free(struct rights *);

/* user empty: anonymous. Never NULL. */
const struct principal *rights_principal(const struct rights *, struct slice user);
/* type empty: the store as a whole, which takes a grant for all types (*), but for ROLE_SEE, which takes any. A name of a
 * subject of the registry's does for a type. */
bool principal_may(const struct principal *, enum role, struct slice type);
/* Any of reader, writer, schema, admin on it. */
bool principal_sees(const struct principal *, struct slice type);
/* ... on all types there are: lists need not ask. */
bool principal_sees_all(const struct principal *);
bool principal_is_anonymous(const struct principal *);
/* Might somebody be allowed this whom anonymous is not? Then 401 is the better answer. */
bool rights_ask_for_name(const struct rights *);
const struct rights *principal_rights(const struct principal *);

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
/* Whose it is: "anonymous", "user NAME", "group NAME", by which the same is found after a reload. */
struct slice rights_quota_name(const struct rights *, uint32_t id);
const struct quota_limits *rights_quota_limits(const struct rights *, uint32_t id);
/* What each user has whom the file does not name; NULL: no limit. */
const struct quota_limits *rights_each_quota(const struct rights *);
/* What every address has, whoever asks from there; NULL: no limit. */
const struct quota_limits *rights_address_quota(const struct rights *);
/* Open connections of one address; 0: no limit. */
uint32_t rights_address_connections(const struct rights *);

#endif
