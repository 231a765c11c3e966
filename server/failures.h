/* server/failures.h - how many bodies each type has refused: of a bounded number of types by name, of all others
 * together. Only failures come here, which cost far more than the lock. */
#ifndef SERVER_FAILURES_H
#define SERVER_FAILURES_H

#include <pthread.h>

#include "base/limits.h"
#include "base/slice.h"
#include "server/catalog.h"

struct failures {
    pthread_mutex_t lock;
    unsigned n;
    struct failures_of_type {
        uint64_t count;
        uint32_t number; /* of the type */
        uint8_t name_len;
        uint8_t name[LIMIT_TYPE_NAME_MAX];
    } type[LIMIT_METRIC_TYPES_MAX]; /* in order of the first failure */
    uint64_t others;
};

void failures_init(struct failures *);
void failures_release(struct failures *);
/* One more. Any thread. */
void failures_add(struct failures *, const struct type *);
/* Forget the types that are no more; those that are left are copied out, without the lock. Any thread. */
void failures_read(struct failures *, const struct catalog_hold *, struct failures *out);

#endif
