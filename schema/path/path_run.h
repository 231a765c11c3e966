/* schema/path/path_run.h - a path over a datum: what it finds, and the predicates in it. The datum is opened where the path looks;
 * all work is paid for out of its budget. */
#ifndef SCHEMA_PATH_RUN_H
#define SCHEMA_PATH_RUN_H

#include "schema/path/path.h"
#include "schema/value/value.h"

/* Pointers to values, in the datum's arena. */
struct path_stack {
    struct value **at;
    uint32_t n, cap;
};

struct path_run {
    struct datum *d;
    struct err *err;
    struct path_stack found;     /* lists, one behind the other: who made the last one takes it off */
    struct path_stack todo;      /* values that are still to be walked over */
    struct regex_scratch *regex; /* once one is needed */
    struct arena texts;          /* made for predicates, until the outermost one is decided */
    uint32_t wheres;             /* predicates around the one that is being decided */
};

/* What a path has found: found.at[begin] and all behind it, in document order, each once. */
struct path_found {
    uint32_t begin;
    bool are_items; /* an array among them is an item that was picked, and not to be looked through */
};

void path_run_init(struct path_run *, struct datum *, struct err *);
/* Not the values: they live in the datum's arena. */
void path_run_release(struct path_run *);

/* TOO_MUCH_WORK, BAD_AVRO, NO_MEMORY. */
MUST_USE enum rc path_run_way(struct path_run *, const struct path_way *, struct value *context,
                              struct path_found *);
/* Of what was found arrays become their elements. */
MUST_USE enum rc path_run_flatten(struct path_run *, struct path_found *);

/* path_where.c: does the predicate hold of the item? */
MUST_USE enum rc path_where(struct path_run *, const struct path_expr *, struct value *item, bool *holds);
/* path_order.c: what was found below `base` in document order, each once. */
MUST_USE enum rc path_order(struct path_run *, const struct path_found *, struct value *base);

/* Between the files. */
enum {
    COST_VISIT = 4,
    COST_COMPARE = 16,
    COST_TEXT_BYTE = 2,
    COST_TEXT_MADE = 6 /* a byte of one that takes memory */
};
MUST_USE enum rc path_push(struct path_run *, struct path_stack *, struct value *);
/* The parts of an open value, the last first: so that they are taken off in order. */
MUST_USE enum rc path_push_parts(struct path_run *, struct path_stack *, const struct value *);

static inline enum opcode path_code(const struct path_run *r, const struct value *v)
{
    return (enum opcode)r->d->program->ops[v->op].code;
}

#endif
