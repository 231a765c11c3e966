/* storage/lay.h - long bodies, over several groups: their chunks are laid down a share a group, beside the
 * writes that wait, and when only a share is left the put is decided like any other. Until then a row of the
 * trash says that no record refers to them: a crash leaves what the purge removes. One thread, the writer's. */
#ifndef STORAGE_LAY_H
#define STORAGE_LAY_H

#include "storage/decide.h"

enum { LAY_LANES = 1024 };

/* The writes of one lane, or of several that hash alike, behind a long put of it. */
struct lay_lane {
    bool held;                        /* by a long put */
    struct store_write *first, *last; /* what waits for its end, in order */
};

struct lay {
    struct store_write op;            /* kind WRITE_LAY, no worker: a step */
    struct laid next;                 /* what the step that was decided last leads to */
    struct store_write *first, *last; /* the long puts, in order of arrival; the first is at hand */
    struct lay_lane *ended;           /* the put at hand is over: its lane; NULL: it is not */
    bool stepping;                    /* the group at hand has a step, not the put itself */
    bool failed;                      /* the put that is over stored nothing */
    struct lay_lane lanes[LAY_LANES];
};

void lay_init(struct lay *);
static inline bool lay_idle(const struct lay *lay)
{
    return !lay->first;
}
/* Whether a write must wait here: it has a long body, or is behind one in its lane. If so it is the lay's. */
bool lay_keeps(struct lay *, struct store_write *);

/* What the next group is to begin with: a step, or a put whose turn has come; NULL: neither. */
struct store_write *lay_take(struct lay *, struct decider *);
/* Decide a step: at most LIMIT_LAY_CHUNKS_MAX chunks. May be decided again. */
MUST_USE enum rc lay_decide(struct decider *, struct lay *);
/* Some writes of the group have been decided and applied, or have failed. Before they are completed, and
 * before others of the group are decided: those must know what was laid down. */
void lay_note(struct lay *, struct decider *, struct store_write *const *, size_t n, bool applied);

/* How a group ended for the put at hand. */
struct lay_outcome {
    struct store_write *failed; /* it could not be laid down, and has the error of the step: to be failed */
    bool garbage;               /* chunks were left that nobody will ever refer to */
    struct store_write *first, *last; /* writes that need not wait any more, in order; NULL: none */
};
/* The group that lay_take began is over. */
void lay_stepped(struct lay *, struct decider *, struct lay_outcome *);

#endif
