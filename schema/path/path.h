/* schema/path/path.h - a path as it was parsed, and the files that deal with it. Inside schema/ only; what others see is in
 * schema/edit.h, the language is told in docs/paths.md.
 *
 *   path_lex -> path_parse, path_parse_where -> struct path; path_types says which types a path can lead to
 *   path_run finds values in a datum; path_where decides predicates by path_atom, path_compare, path_compute
 *   path_select prints what is found; edit_path changes it */
#ifndef SCHEMA_PATH_H
#define SCHEMA_PATH_H

#include "schema/edit.h"
#include "schema/program/program.h"

struct regex;
struct value;

enum path_op {
#define PATH_OP(name, text, precedence) PATH_OP_##name,
#include "schema/path/path_ops.def"
#undef PATH_OP
    PATH_OPS
};

struct slice path_op_text(enum path_op);
unsigned path_op_precedence(enum path_op);

/* What predicates compute with. */
enum atom_kind { ATOM_NULL, ATOM_BOOLEAN, ATOM_INTEGER, ATOM_DOUBLE, ATOM_TEXT, ATOM_PARTS };
struct atom {
    enum atom_kind kind;
    union {
        bool boolean;
        int64_t integer;
        double number;
        struct slice text;   /* UTF-8 */
        struct value *parts; /* a record, array or map */
    };
};

enum path_expr_kind { EXPR_ATOM, EXPR_WAY, EXPR_NOT, EXPR_MINUS, EXPR_TWO };

/* Of a predicate. || and && have two operands or more. */
struct path_expr {
    struct path_expr *next; /* operand of the same operator */
    enum path_expr_kind kind;
    enum path_op op;            /* EXPR_TWO */
    uint32_t depth;             /* how deep expressions and predicates are inside of it, itself counted */
    struct path_expr *operands; /* EXPR_NOT, EXPR_MINUS, EXPR_TWO */
    struct path_expr *last;     /* of them */
    struct path_way *way;       /* EXPR_WAY */
    struct atom atom;           /* EXPR_ATOM */
};

enum path_step_kind {
    STEP_SELF,       /* . */
    STEP_FIELD,      /* .name */
    STEP_ALL,        /* .* */
    STEP_DEEP_FIELD, /* ..name */
    STEP_DEEP_ALL,   /* ..* */
    STEP_EITHER,     /* (.a|.b) */
    STEP_KEYS,       /* ("a"|~"b") */
    STEP_INDEX,      /* [0] */
    STEP_SLICE,      /* [0:1] */
    STEP_WHERE       /* {.a > 1} */
};

struct path_key {
    struct path_key *next;
    struct slice text;
    const struct regex *regex; /* NULL: the key is the text */
};

struct path_step {
    struct path_step *next;
    enum path_step_kind kind;
    uint32_t column; /* where it begins in the path, from 1 */
    union {
        struct slice name;      /* STEP_FIELD, STEP_DEEP_FIELD */
        struct path_way *ways;  /* STEP_EITHER */
        struct path_key *keys;  /* STEP_KEYS */
        struct path_expr *expr; /* STEP_WHERE */
        struct {                /* STEP_INDEX: from; STEP_SLICE */
            int64_t from, to;
            bool has_from, has_to;
        };
    };
};

/* Steps, one after the other. */
struct path_way {
    struct path_way *next; /* alternative */
    bool is_from_root;     /* ^ */
    uint32_t depth;        /* as of an expression */
    struct path_step *first, *last;
};

struct path {
    const struct schema *schema;
    struct path_way *way;
    bool may_end_in_array, may_end_in_map; /* what is found may be one, or a union of one */
};

/* Append the path in its plainest spelling, which parses to the same. */
MUST_USE bool path_print(const struct path *, struct buf *out);

/* An array or map in the union, whose null stands for none of either. */
bool path_union_has(const struct program *, uint32_t op, enum opcode code);

#endif
