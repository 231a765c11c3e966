/* storage/purge.h - removing what is dead: the rows of dropped types, the chunks of bodies that no record
 * refers to, records past their time. A little at a time, as the last operation of a group, or of one of its
 * own when nothing waits; it goes on where it was after a restart. One thread, the writer's. */
#ifndef STORAGE_PURGE_H
#define STORAGE_PURGE_H

#include "storage/decide.h"
#include "storage/keys.h"

/* What the purge is made of: a look through one kind of dead things, from the first to the last. */
enum sweep_kind { SWEEP_TYPES, SWEEP_BLOBS, SWEEP_EXPIRED, SWEEP_INDEX, SWEEP_EVICT, SWEEP_KINDS };

/* How far a sweep has come. */
struct sweep_state {
    uint64_t at;    /* types, blobs, index, evict: the number of the next to look at */
    struct key row; /* expired, index: the next to look at; length 0: the first */
    bool
        found; /* index: since the first row, one to be indexed; evict: since the first type, one with more to lose */
    int64_t next_ms;    /* the earliest time, by the sweep's own clock, at which one that was met may go;
                           INT64_MAX: none */
    unsigned set_aside; /* that are damaged and were left where they are */
};

enum { PURGE_WHY_MAX = 256 };

/* All sweeps from their begin on. */
struct purge_pass {
    struct sweep_state sweep[SWEEP_KINDS];
    bool ended;              /* all that is dead has been looked at, and all that may go is gone */
    char why[PURGE_WHY_MAX]; /* could the last of them not go */
};

struct purge {
    struct store_write op; /* kind WRITE_PURGE, no worker; count: records of the step that had expired */
    unsigned evicted;      /* records of the step that went for their type's limit */
    struct purge_pass pass, next; /* next: what the step that was decided last leads to */
    int64_t due_ms;               /* clock_mono_ms of the next step; INT64_MAX: none */
    int64_t noted_ms;             /* the same for what died since the pass began */
    unsigned first;               /* the sweep that is first in the next step: they take turns */
    unsigned set_aside;           /* in the last pass */
    bool failing;                 /* the last step failed */
    int64_t pressed_ms;           /* until then (clock_mono_ms) room is short: blobs go as soon as may be */
};

void purge_init(struct purge *);
/* Decide one step: at most LIMIT_PURGE_KEYS_MAX rows. May be decided again. */
MUST_USE enum rc purge_decide(struct decider *, struct purge *);
/* A step that was due has been tried; op.rc says how it went. */
void purge_stepped(struct purge *, const struct decider *);
/* There was no room for a write. */
void purge_press(struct purge *, const struct decider *);
bool purge_is_pressed(const struct purge *, int64_t now_mono_ms);
/* Something died that need not stay. */
void purge_wake(struct purge *);
/* A group has been applied: perhaps it left something that dies, now or later. */
void purge_note(struct purge *, const struct decider *);

#endif
