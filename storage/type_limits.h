/* storage/type_limits.h - types that may have so many bytes of bodies and no more. That number is in the type's row of `counts`; here is
 * which types have one, so that all others cost nothing. One thread, the writer's. */
#ifndef STORAGE_TYPE_LIMITS_H
#define STORAGE_TYPE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct decider;
struct store_count;
struct view;

struct type_limit {
    uint32_t type;
    bool
        indexed; /* records without a row in `used` have been looked for, and those that are left are damaged */
    uint64_t ceiling; /* bytes that no put may bring it above: removal could not keep up */
};

/* Zero-initialised is empty. A type stays in it that lost its limit, or its life, while the store is open. */
struct type_limits {
    struct type_limit *list; /* by type */
    size_t n, cap;
};

void type_limits_release(struct type_limits *);
/* The first of a type from this one on; NULL: none. */
struct type_limit *type_limits_from(const struct type_limits *, uint64_t type);
/* That of a type, made if there is none. `bytes` and bytes_max as the type has them. False: memory is out. */
bool type_limits_add(struct type_limits *, uint32_t type, uint64_t bytes, uint64_t bytes_max) MUST_USE;

/* Some records of the type have no row in `used` and should have one. */
bool type_limit_needs_index(const struct type_limit *, const struct store_count *);
/* The type has no more than it may. */
void type_limit_reached(struct type_limit *, uint64_t bytes_max);

/* May a put bring a body of so many bytes in place of what `v` shows? RECORD_TOO_LARGE: it alone is more than the type may have;
 * QUEUE_FULL: the type is too far above its limit. *used_ms: what the record's head is to say; 0: nothing. */
MUST_USE enum rc type_limits_admit_other(struct decider *, const struct view *, uint64_t bytes,
                                         int64_t *used_ms, struct err *);

#endif
