/* schema/edit/edit_merge.h - what the files of the merge share: edit_merge.c (the walk), edit_merge_union.c (which branch an
 * object is for), edit_merge_new.c (values that are not there yet). Inside them only. */
#ifndef SCHEMA_EDIT_MERGE_H
#define SCHEMA_EDIT_MERGE_H

#include "schema/edit/edit_faults.h"
#include "schema/json_members.h"
#include "schema/scratch.h"
#include "schema/value/value.h"

/* One patch on its way into one record. */
struct merge {
    struct datum *d;
    struct stack frames; /* edit_merge.c's */
    struct stack news;   /* edit_merge_new.c's */
    struct buf name;     /* an unescaped name, until the next */
    struct buf text;     /* of a new value */
    struct faults faults;
    uint64_t changed;
};

static inline const struct op *merge_op(const struct merge *m, uint32_t op)
{
    return &m->d->program->ops[op];
}

/* Records and maps: what an object merges into. */
static inline bool merge_takes_objects(const struct op *op)
{
    return op->code == OP_RECORD || op->code == OP_MAP;
}

/* How an object is meant that stands where a union is expected. */
struct merge_meaning {
    enum {
        MEANS_WHOLE, /* whatever put takes it for */
        MEANS_BARE,  /* a value of the branch */
        MEANS_TAG,   /* the branch's name, and a value of it */
    } how;
    uint32_t branch;
};

/* walk: at the object. current: the union's branch as it is, PROGRAM_NONE: there is no such value yet. Looks ahead, and
 * leaves the walk where it is. TOO_MUCH_WORK, NO_MEMORY. */
MUST_USE enum rc merge_union(struct merge *, uint32_t op, uint32_t current, const struct json_walk *walk,
                             struct merge_meaning *, struct err *);

/* Pass over the object that the walk is at: its text as put takes it for a new value of `op`, without members that are null
 * where that means that they are not there. Borrowed from m->text until the next call. current: as above. */
MUST_USE enum rc merge_new_text(struct merge *, uint32_t op, uint32_t current, struct json_walk *,
                                struct slice *out, struct err *);

#endif
