/* schema/resolve/resolve.h - the program that reads data of one schema with another: made once for a pair, flat,
 * printable, immutable, for any number of threads. Inside schema/ only; its front is in schema.h and
 * codec.h. What each instruction means stands in resolve_ops.def. Source: Avro 1.12 specification, "Schema
 * Resolution".
 *
 * resolve.c       the match of two schemas (match.h) -> struct resolver resolve_run.c   the writer's bytes
 * -> the reader's resolve_walk.c  where values end, in data whose fields are not met in order
 *
 * Work is linear in the bytes read and written: whatever takes no bytes on either side has no instruction. */
#ifndef SCHEMA_RESOLVE_H
#define SCHEMA_RESOLVE_H

#include "schema/codec.h"
#include "schema/program/program.h"
#include "schema/scratch.h"

enum resolve_code {
#define RESOLVE_OP(name, text) RESOLVE_##name,
#include "schema/resolve/resolve_ops.def"
#undef RESOLVE_OP
    RESOLVE_CODES
};

enum {
    RESOLVE_COUNTED = 1, /* array: the reader's items take no bytes; copy: may hold such arrays */
    RESOLVE_INDEXED = 2, /* scattered: records inside are scattered too */
};

struct resolver_op {
    uint8_t code, flags;
    uint32_t a, b, c, d, e;
};

/* What is done with a record, one after the other. */
enum resolver_step_code {
    STEP_COPY,      /* the writer's fields [first, first + n) as they stand */
    STEP_SKIP,      /* those are passed over */
    STEP_LITERAL,   /* the reader's field has its default */
    STEP_VALUE,     /* a field by instruction `op` */
    STEP_MISSING,   /* the reader's field has neither: no datum can be read */
    STEP_AMBIGUOUS, /* several fields of the writer's are meant: likewise */
};

struct resolver_step {
    uint8_t code, flags;
    uint32_t first, n;   /* index into the writer's program.fields */
    uint32_t op;         /* r */
    uint32_t find, stop; /* scattered: where it begins and ends among what was found; RESOLVE_NONE: it takes
                          * no bytes */
    uint32_t field;      /* index into the reader's program.fields; of several the first */
};

enum { RESOLVE_NONE = UINT32_MAX };

/* Of a type of the writer's: what it may hold at any depth. */
enum { HOLDS_SCATTERED = 1, HOLDS_EMPTY = 2 /* arrays whose items take no bytes */ };

struct resolver {
    const struct program *writer, *reader; /* borrowed: they outlive the resolver */
    struct resolver_op *ops;               /* 0: the root */
    struct resolver_step *steps;
    uint32_t *symbols, *branches, *finds;
    uint32_t nops, nsteps;
    uint8_t *holds; /* by type of the writer */
    bool is_full, is_possible;
    struct arena arena;
    struct stack op_stack, step_stack, symbol_stack, branch_stack, find_stack; /* which own the arrays */
};

/* TOO_MUCH_WORK, NO_MEMORY. Linear in the pairs of types that meet. */
MUST_USE enum rc resolver_compile(struct resolver **out, const struct program *writer,
                                  const struct program *reader, struct err *err);
void resolver_free(struct resolver *);

/* One instruction a line, then what belongs to it. False: memory is out. */
MUST_USE bool resolver_print(const struct resolver *, struct buf *out);

/* ---- resolve_holds.c ---- */

/* Fill resolver.holds: which instructions are scattered is known. False: memory is out. */
MUST_USE bool resolver_find_holds(struct resolver *);

/* codec_resolve (codec.h) is in resolve_run.c. */

#endif
