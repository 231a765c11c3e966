/* storage/decide.h - from writes to mutations: conditions, edits, revisions, times, counts, expiry, above
 * every engine. Reads a snapshot and what the group has done so far; touches nothing else, so a group may be
 * decided again. One thread. */
#ifndef STORAGE_DECIDE_H
#define STORAGE_DECIDE_H

#include "storage/dead.h"
#include "storage/meta.h"
#include "storage/overlay.h"
#include "storage/type_limits.h"

/* A put whose body is on its way into the store (lay.h), as of the last apply. */
struct laid {
    const struct store_write *write; /* NULL: there is none */
    uint64_t blob;                   /* 0: it has none yet */
    uint32_t chunks;                 /* of its body that are there, from the first on */
    bool hopeless;                   /* it would have failed anyway: to be decided as it is */
};

struct decider {
    const struct engine_ops *ops;
    struct snap *snap; /* as of the last apply, while a group is decided and applied */
    struct dead_set *dead;
    int64_t clock_base_ms; /* of trash_clock_ms */
    int64_t blob_keep_ms;  /* how long a dead blob stays */
    bool keep_expired;     /* as store_opts ... */
    enum rc (*unpack)(struct slice packed, uint8_t *out, uint64_t bytes, struct err *); /* ... this too */
    uint32_t record_max;       /* bytes of a record's body */
    bool hurry;                /* a dead blob need not stay: room is short, and nobody reads one */
    struct type_limits limits; /* of types */
    struct meta_state state;   /* as of the last apply; decide_applied moves it on */
    struct laid laid;          /* the purge leaves its blob alone */

    /* Of the group at hand. */
    struct meta_state next; /* the state that it leads to */
    int64_t now_ms;
    struct overlay overlay;
    struct mutation *mutations; /* sorted, unique; dead at the next decide_group */
    size_t nmutations, mutations_cap;
    uint64_t grow_bytes;   /* for engine_ops.reserve */
    uint64_t ahead_bytes;  /* of those, for chunks that come in groups behind it */
    uint32_t dropped;      /* the type number that dies with this group; 0: none */
    bool trashed;          /* rows of the trash were staged */
    bool crowded;          /* a type has more than its limit, or got one */
    struct staged *counts; /* the row of the type that was counted last; NULL: none */
    uint32_t counts_type;
    int64_t expires_ms;    /* the earliest time of a record that was staged; 0: none */
    int64_t trash_now_ms;  /* trash_clock_ms, as of the group's start */
    uint64_t joined_bytes; /* memory of the group that bodies were put together in: LIMIT_GROUP_JOINED_MAX */
    bool joined_full;      /* the write at hand wanted more */
};

/* A clock that is never set back while the store is open, close to the wall's when it was opened: what dies
 * and how long it has been dead go by it. */
int64_t trash_clock_ms(const struct decider *);

void decider_release(struct decider *);

/* Decide writes in order: sets their rc, err, revision, count and created, and the mutations that make them
 * so. How many were decided (at least 1, fewer than n where a group must end) is in *taken. RC_ERR: memory is
 * out, nothing was decided. */
MUST_USE enum rc decide_group(struct decider *, struct store_write **, size_t n, size_t *taken, struct err *);
/* Whether a write of one key, decided now, would not fail at once: of its type or condition. */
bool decide_has_hope(struct decider *, const struct store_write *);
/* The mutations were applied. */
void decide_applied(struct decider *);

#endif
