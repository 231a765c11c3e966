/* schema/encode/explain_walk.h - what the second pass's files share: explain.c (the walk), explain_union.c (which
 * branch was meant), explain_words.c (how a problem is told). Inside the second pass only. */
#ifndef SCHEMA_EXPLAIN_WALK_H
#define SCHEMA_EXPLAIN_WALK_H

#include "schema/encode/explain.h"

enum explain_kind { EXPLAIN_RECORD, EXPLAIN_ARRAY, EXPLAIN_MAP, EXPLAIN_TAG };
enum explain_stop { EXPLAIN_GO_ON, EXPLAIN_NO_MEMORY, EXPLAIN_TOO_DEEP, EXPLAIN_TOO_MUCH_WORK };

/* A value to look at. */
struct explain_value {
    uint32_t op;
    const uint8_t *at;   /* its first byte */
    struct slice branch; /* the innermost union's branch that it is in; empty: none */
};

struct explain_member {
    const uint8_t *name, *quote; /* the name's content */
    const uint8_t *value;
    int field; /* of the record, or -1 */
};

struct explain_frame {
    enum explain_kind kind;
    uint32_t op;
    const uint8_t *at; /* array, map: behind what was visited last */
    struct slice branch;
    size_t pointer_len;
    uint32_t index;          /* record: the next field; array: the next item */
    uint32_t unknown;        /* record: the next member to ask whether it is a field */
    uint32_t members, slots; /* where the frame's parts of the stacks begin */
};

struct explain {
    struct encode e; /* for encode_fits and skip_value; the text */
    const struct program *program;
    enum union_mode mode;
    struct encode_rules rules;
    struct arena *arena;
    struct err *err;
    struct stack frames, members, slots; /* struct explain_frame, struct explain_member, uint32_t */
    struct buf pointer;                  /* to the value being looked at */
    struct buf name;                     /* an unescaped name, until the next */
    struct buf fits;                     /* bool: which branches of a union fit */
    struct buf spelled;                  /* what a text would be as Avro; not kept */
    size_t pointer_bytes;                /* of all problems so far */
    uint32_t depth;
    /* A value that some branch misses for its depth alone: so may all that is inside of it. NULL: none yet. */
    const uint8_t *deep_begin, *deep_end;
    struct explain_value next;
    bool has_next;
    enum explain_stop stop;
    struct slice stop_branch; /* EXPLAIN_TOO_DEEP: as in explain_value, of the value that x->pointer is at */
};

/* Stop the walk; the first reason stays. Always false. */
bool explain_stop(struct explain *, enum explain_stop);

/* Stop: the value at x->pointer is too deep. Always false. */
bool explain_stop_deep(struct explain *, struct slice branch);

/* Read the member whose name begins at p; what stands behind its value (no space). */
const uint8_t *explain_read_member(struct explain *, const uint8_t *p, struct explain_member *);
/* Its name, unescaped; borrowed until the next call. */
MUST_USE bool explain_name(struct explain *, const struct explain_member *, struct slice *out);

/* explain_union.c: which branch the union's value was meant for. False: nothing is left to say (it fits, or
 * the problem is noted). */
struct explain_choice {
    uint32_t op;
    struct slice branch;
    bool is_tagged;
};
MUST_USE bool explain_union(struct explain *, const struct explain_value *, struct explain_choice *);

/* explain_spelled.c: if there is one: a string or number that would be spelled readably. */
void explain_spelled(struct explain *, const struct explain_value *);
/* What the words below share: the kind of value that the instruction is for, ended by a NUL; the value's token, cut;
 * a copy in the arena; a problem at x->pointer, NULL: it will not be listed; a sentence for it (p may be NULL). */
struct slice explain_kind_name(struct explain *, uint32_t op);
struct slice explain_token(struct explain *, const uint8_t *at);
struct slice explain_keep(struct explain *, struct slice);
struct problem *explain_note(struct explain *, enum problem_code, struct slice expected, struct slice got,
                             struct slice branch);
void explain_tell(struct explain *, struct problem *p, const char *format, ...) PRINTF_LIKE(3, 4);
void explain_fraction(struct explain *, const struct explain_value *); /* a number that is not whole */
void explain_range(struct explain *, const struct explain_value *);
void explain_size(struct explain *, const struct explain_value *, size_t bytes); /* of a fixed */

/* explain_words.c: note a problem at x->pointer. */
void explain_type(struct explain *, const struct explain_value *); /* a value of another JSON type */
void explain_scalar(struct explain *,
                    const struct explain_value *); /* if there is one: types without parts */
void explain_missing(struct explain *, const struct op_field *, struct slice branch);
void explain_unknown(struct explain *, uint32_t record, struct slice name, const uint8_t *value,
                     struct slice branch);
void explain_no_branch(struct explain *, const struct explain_value *);
/* fits: whether the branch does, for each of the union. */
void explain_ambiguous(struct explain *, const struct explain_value *, const bool *fits);

#endif
