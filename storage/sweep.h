/* storage/sweep.h - what the sweeps of the purge share: the bounds of a step, deleting a row, and setting
 * aside what is damaged, so that it does not keep the rest. One thread, the writer's. */
#ifndef STORAGE_SWEEP_H
#define STORAGE_SWEEP_H

#include "storage/purge.h"

enum {
    SWEEP_SPARE_ROWS = 8,  /* that one decision deletes at most: a record's, or the last of a type */
    SWEEP_SPARE_PAGES = 16 /* and pages that it changes */
};

/* A step of the purge, as one of its sweeps sees it. */
struct sweep {
    struct decider *d;
    struct sweep_state *state; /* moved on by the sweep */
    struct err *err;
    char *why; /* purge_pass.why */
    unsigned rows, looks;
    unsigned expired,
        evicted; /* records past their time, and those of types above their limit, that this sweep has removed */
    uint64_t pages;
    uint64_t pages_before; /* evict: of the overlay */
};

/* Dead types with their records; dead blobs; expired records; records that have no row in `used` though their type
 * has a limit; what types have above it. RC_OK: at the end; RC_PENDING: there is more to
 * do, from state on; RC_ERR: nothing of this step counts. */
MUST_USE enum rc sweep_types(struct sweep *);
MUST_USE enum rc sweep_blobs(struct sweep *);
MUST_USE enum rc sweep_expired(struct sweep *);
MUST_USE enum rc sweep_index(struct sweep *);
MUST_USE enum rc sweep_evict(struct sweep *);

/* The step has deleted enough, or looked at enough. */
bool sweep_full(const struct sweep *);
/* Delete a row whose value has so many bytes. */
MUST_USE enum rc sweep_delete(struct sweep *, struct slice key, uint64_t value_bytes);

/* ---- what is damaged ---- */

struct sweep_mark {
    struct overlay_mark overlay;
    struct meta_state next;
};

/* Count something that is left where it is, and why. */
void sweep_set_aside(struct sweep *, const char *why);
struct sweep_mark sweep_mark(const struct sweep *);
/* The outcome of removing one thing since the mark. What cannot be read is left as it was, counted, and the
 * sweep goes on: RC_OK. All else as it was. */
MUST_USE enum rc sweep_settle(struct sweep *, const struct sweep_mark *, enum rc);

/* ---- the trash ---- */

struct sweep_dead {
    uint64_t number;
    int64_t died_ms;
};

/* The first dead thing of a kind from state->at on; RC_NOTFOUND. */
MUST_USE enum rc sweep_next_dead(struct sweep *, enum trash_kind, struct sweep_dead *out);
MUST_USE enum rc sweep_delete_dead(struct sweep *, enum trash_kind, uint64_t number);

#endif
