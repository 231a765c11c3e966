/* server/access/grants.h - what one section of the file of --access grants: roles on names and patterns of names. Built once, then
 * immutable; all of it in the arena of its rights. Pure. */
#ifndef SERVER_ACCESS_GRANTS_H
#define SERVER_ACCESS_GRANTS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"
#include "server/access/name_map.h"

/* The keys that grant, as bits. */
enum { GRANT_READER = 1, GRANT_WRITER = 2, GRANT_SCHEMA = 4, GRANT_ADMIN = 8 };

/* One entry of a list, as it was read. */
struct grant {
    struct grant *next;
    struct slice pattern;
    uint8_t roles;
    unsigned line; /* of the file */
};

struct granted {
    struct slice pattern;
    uint8_t roles;
};

struct grants {
    uint8_t all;           /* roles on `*` */
    uint8_t any;           /* roles on anything */
    struct name_map names; /* to struct granted */
    struct granted *patterns;
    unsigned npatterns;
};

/* May this stand in a list? `*` stands for any bytes, none included; all else for itself. NULL, or why not: static. */
const char *grants_pattern_fault(struct slice pattern);
bool grants_pattern_fits(struct slice pattern, struct slice name);

/* Lists that were read become tables; what stands there with several roles becomes one. CONFIG: too many patterns, or one twice with
 * a role; `*line` says where. NO_MEMORY. */
MUST_USE enum rc grants_make(struct grants *, const struct grant *list, struct arena *, unsigned *line,
                             struct err *);
/* Is one of `roles` granted on the name? */
bool grants_have(const struct grants *, uint8_t roles, struct slice name);

#endif
