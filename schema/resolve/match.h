/* schema/resolve/match.h - two schemas laid side by side: which type of the reader reads which of the writer, and
 * what becomes of it. Resolution (resolve.c) and compatibility (compat.c) both stand on this. Inside
 * schema/ only. Source: Avro 1.12 specification, "Schema Resolution" and "Aliases"; where it is silent,
 * docs/policies.md.
 *
 * A pair is a type of the writer's and one of the reader's that meet in some datum; each stands once, so
 * types that refer to themselves end. What its parts need are edges to other pairs. */
#ifndef SCHEMA_MATCH_H
#define SCHEMA_MATCH_H

#include "schema/program/program.h"
#include "schema/scratch.h"

enum match_kind {
    MATCH_NOT,          /* never: the fault says why */
    MATCH_SCALAR,       /* the same type, a fixed, or a promotion */
    MATCH_ENUM,         /* by name; symbols are matched when they are met */
    MATCH_ITEMS,        /* arrays, maps: one edge */
    MATCH_RECORD,       /* an edge for each field of the reader */
    MATCH_WRITER_UNION, /* an edge for each branch of the writer */
    MATCH_READER_UNION, /* an edge for each branch of the reader that may take it, the best first */
};

enum match_fault {
    MATCH_FAULT_TYPE,
    MATCH_FAULT_NAME,
    MATCH_FAULT_SIZE,
    MATCH_FAULT_SCALE,
    MATCH_FAULT_BRANCH, /* a reader's union has no branch that could take it; no pair's own fault */
};

enum { MATCH_NONE = UINT32_MAX };

struct match_pair {
    uint32_t writer, reader; /* types, by number */
    uint8_t kind, fault;
    bool is_full;     /* every datum can be read */
    bool is_possible; /* some datum might: false is known before any is seen */
    bool is_same; /* a datum's bytes are what the reader would write (a reader's union: behind the index) */
    uint32_t edges, n;
    uint32_t chosen; /* reader's union: the edge that is taken, MATCH_NONE: there is none */
};

/* What an edge of a record says if its field has no field of the writer's to read. */
enum match_field { MATCH_FIELD_FOUND, MATCH_FIELD_DEFAULT, MATCH_FIELD_MISSING, MATCH_FIELD_AMBIGUOUS };

struct match_edge {
    uint32_t pair;  /* MATCH_NONE: a field that has none */
    uint32_t index; /* record: the writer's field. Reader's union: the branch. Else 0 */
    uint8_t field;  /* record: enum match_field */
};

struct match {
    const struct program *writer, *reader; /* borrowed */
    struct match_pair *pairs;              /* 0: the roots */
    struct match_edge *edges;
    uint32_t npairs, nedges;
    struct stack pair_stack, edge_stack; /* which own them */
};

/* Lay them side by side. TOO_MUCH_WORK (beyond LIMIT_MATCH_MAX), NO_MEMORY; then there is nothing to release.
 * Linear in the pairs and their edges. */
MUST_USE enum rc match_make(struct match *, const struct program *writer, const struct program *reader,
                            struct err *err);
void match_release(struct match *);

static inline const struct type *match_writer_type(const struct match *m, const struct match_pair *p)
{
    return m->writer->model->types[p->writer];
}

static inline const struct type *match_reader_type(const struct match *m, const struct match_pair *p)
{
    return m->reader->model->types[p->reader];
}

/* The symbol of the reader's enum for one of the writer's: the same, or the reader's default; -1: none. */
int64_t match_symbol(const struct match *, const struct match_pair *, size_t symbol);

/* Why the one is not read as the other, in words: "written as string, to be read as int". */
MUST_USE bool match_describe(const struct type *writer, const struct type *reader, enum match_fault,
                             struct buf *out);
/* The kind of problem that it is. */
enum problem_code match_problem(enum match_fault);

#endif
