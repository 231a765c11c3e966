/* schema/program/compile.h - what the files that make a program from a model share. Inside the compiler only:
 * compile.c (front and instructions), tables.c (names), sizes.c (smallest sizes, endless records),
 * defaults.c, zeros.c. */
#ifndef SCHEMA_COMPILE_H
#define SCHEMA_COMPILE_H

#include "schema/program/program.h"
#include "schema/scratch.h"

struct compiler {
    struct program *program;
    struct model *model;
    struct codec *codec;
    struct arena scratch;   /* dies with the compilation */
    struct arena *problems; /* the caller's */
    struct err *err;
    size_t bytes;   /* of defaults and zeros so far */
    int64_t budget; /* of work that is left for defaults */
};

/* The steps, in this order. RC_ERR: out of memory, or too much; faults are only noted (compile_fault). */
MUST_USE enum rc tables_make(struct compiler *);
MUST_USE enum rc sizes_compute(struct compiler *);
MUST_USE enum rc defaults_encode(struct compiler *);
MUST_USE enum rc zeros_make(struct compiler *);

/* Note a fault at `place`, with `member` ("default") or NULL behind it; the format makes a sentence. NULL:
 * beyond the hundredth, or memory is out (then *rc is RC_ERR). */
struct problem *compile_fault(struct compiler *, enum rc *rc, enum problem_code, const struct place *,
                              const char *member, const char *format, ...) PRINTF_LIKE(6, 7);

/* Count bytes that are kept with the program. RC_ERR: TOO_LARGE a schema. */
MUST_USE enum rc compile_keep(struct compiler *, size_t bytes);

/* Who uses a type: for each type the edges of those that contain it. */
struct use {
    uint32_t user;  /* the record or union */
    uint32_t index; /* the field or branch */
};
struct uses {
    uint32_t *first; /* of type t: [first[t], first[t + 1]) */
    struct use *at;
};
/* skip_field: leave out fields that have a default. In the compiler's scratch arena. */
MUST_USE bool uses_collect(struct compiler *, bool skip_defaults, struct uses *out);

/* How many bytes the number of a union's branch takes. */
static inline uint32_t compile_branch_bytes(uint32_t branch)
{
    uint32_t n = 1;
    for (uint64_t v = (uint64_t)branch << 1; v >= 0x80; v >>= 7)
        n++;
    return n;
}

#endif
