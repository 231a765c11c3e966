/* schema/path/path_types.h - which types of the schema a path can lead to: sets of instructions, step by step. Names that no
 * record there has are found so, before any record is read. */
#ifndef SCHEMA_PATH_TYPES_H
#define SCHEMA_PATH_TYPES_H

#include "schema/path/path.h"

/* A set of instructions, in the order in which they came. */
struct path_types {
    struct path_types *free; /* path_checker's own */
    uint64_t *bits;
    uint32_t *op;
    uint32_t n;
};

struct path_checker {
    const struct program *program;
    struct arena *arena; /* for the sets, which are used again */
    struct path_types *free;
    int64_t work; /* left of LIMIT_PATH_WORK_MAX */
    struct err *err;
};

/* An empty set; NULL: memory is out (*err is filled). */
struct path_types *path_types_take(struct path_checker *);
void path_types_give(struct path_checker *, struct path_types *);
MUST_USE enum rc path_types_add(struct path_checker *, struct path_types *, uint32_t op);
MUST_USE enum rc path_types_add_all(struct path_checker *, struct path_types *,
                                    const struct path_types *more);

/* *types becomes what the step, which is no STEP_EITHER, leads to. For STEP_WHERE: to what its predicate looks at. BAD_PATH: no
 * type there has such a field, or is a map; TOO_MUCH_WORK, NO_MEMORY. */
MUST_USE enum rc path_types_step(struct path_checker *, const struct path_step *, struct path_types **types);

/* May one of them, or what is in a union of them, be such? */
bool path_types_have(const struct path_checker *, const struct path_types *, enum opcode);

#endif
