/* storage/decide.h - from writes to mutations: conditions, edits, revisions, times, counts, expiry, above
 * every engine. Reads a snapshot and what the group has done so far; touches nothing else, so a group may be
 * decided again. One thread. */
#ifndef STORAGE_DECIDE_H
#define STORAGE_DECIDE_H

#include "storage/dead.h"
#include "storage/meta.h"
#include "storage/overlay.h"

struct decider {
    const struct engine_ops *ops;
    struct snap *snap; /* as of the last apply, while a group is decided and applied */
    struct dead_set *dead;
    struct meta_state state; /* as of the last apply; decide_applied moves it on */

    /* Of the group at hand. */
    struct meta_state next; /* the state that it leads to */
    int64_t now_ms;
    struct overlay overlay;
    struct mutation *mutations; /* sorted, unique; dead at the next decide_group */
    size_t nmutations, mutations_cap;
    uint64_t grow_bytes; /* for engine_ops.reserve */
    uint32_t dropped;    /* the type number that dies with this group; 0: none */
};

void decider_release(struct decider *);

/* Decide writes in order: sets their rc, err, revision, count and created, and the mutations that make them
 * so. How many were decided (at least 1, fewer than n where a group must end) is in *taken. RC_ERR: memory is
 * out, nothing was decided. */
MUST_USE enum rc decide_group(struct decider *, struct store_write **, size_t n, size_t *taken, struct err *);
/* The mutations were applied. */
void decide_applied(struct decider *);

#endif
