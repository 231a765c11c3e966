/* storage/purge.h - removing what is dead: the rows of dropped types, the chunks of bodies that no record
 * refers to. A little at a time, as the last operation of a group, or of one of its own when nothing waits;
 * it goes on where it was after a restart. One thread, the writer's. */
#ifndef STORAGE_PURGE_H
#define STORAGE_PURGE_H

#include "storage/decide.h"

/* How far a look through the dead blobs has come. */
struct purge_pass {
    uint64_t blob_at;  /* the next to look at */
    int64_t ripens_ms; /* the earliest time at which one that was met may go; INT64_MAX: none */
    bool ended;        /* all that is dead has been looked at, and all that may go is gone */
};

struct purge {
    struct store_write op;        /* kind WRITE_PURGE, no worker */
    struct purge_pass pass, next; /* next: what the step that was decided last leads to */
    int64_t due_ms;               /* clock_mono_ms of the next step; INT64_MAX: none */
    bool blobs_first;             /* types and blobs take turns */
};

void purge_init(struct purge *);
/* Decide one step: at most LIMIT_PURGE_KEYS_MAX rows. May be decided again. */
MUST_USE enum rc purge_decide(struct decider *, struct purge *);
/* A step that was due has been tried; op.rc says how it went. */
void purge_stepped(struct purge *, const struct decider *);
/* A group has been applied: perhaps it left something dead. */
void purge_note(struct purge *, const struct decider *);

#endif
