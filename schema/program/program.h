/* schema/program/program.h - the flat, printable program that drives both directions of the codec. Inside schema/
 * only. compile.c makes it; encode.c (JSON to Avro), decode.c (Avro to JSON, spans) and explain.c (the second
 * pass) run it. Immutable once compiled; any number of threads. What each instruction means stands in
 * ops.def. */
#ifndef SCHEMA_PROGRAM_H
#define SCHEMA_PROGRAM_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/err.h"
#include "schema/codec.h"
#include "schema/model/model.h"

/* First those of enum type_kind, in its order. */
enum opcode {
#define OP(name, text) OP_##name,
#include "schema/program/ops.def"
#undef OP
    OPCODES
};

enum {
    OP_FLAG_NULLABLE = 1, /* union: one of its branches is null */
    OP_FLAG_SINGLE = 2,   /* union: exactly one branch is not null, at op.single_branch: it is printed bare */
    OP_FLAG_FLAT = 4,     /* record: no record in Avro, so it counts as no level of nesting */
    OP_FLAG_QUOTED = 8,   /* moment: one that has no text is printed as digits in a string */
};

enum { PROGRAM_NONE = UINT32_MAX };
enum { SPELL_ANY_SIZE = UINT32_MAX };

struct op {
    uint8_t code, flags;
    uint8_t single_branch; /* union with SINGLE: that branch; there are at most two, so it is 0 or 1 */
    uint32_t a, b;
    uint32_t size_min; /* bytes: the least that a datum of this type takes in binary, capped at UINT32_MAX */
    uint32_t table;    /* record, enum, union: where its name table starts in program.table; mask below */
    uint32_t mask;     /* entries of the name table - 1 */
    uint32_t info;     /* union: its row in program.unions; decimal: its scale */
    uint32_t
        depth_empty; /* record whose data take no bytes (size_min 0): how many records are inside of each other in
                             it, itself counted; else 0 */
};

/* The first 8 bytes of a text that is looked for in JSON, so that most comparisons are one of words. */
struct op_head {
    uint64_t word, mask; /* little-endian; mask: 0xff for each byte that the text has */
};

/* What stands for a field that the text lacks. */
struct op_filling {
    struct slice avro;    /* ptr NULL: not built, since it exceeds LIMIT_RECORD_MAX; len tells the size */
    uint32_t depth;       /* how many of its records, arrays and maps are inside of each other */
    uint32_t empty_items; /* items of its arrays that take no bytes; capped */
    uint32_t most_items;  /* of one array or map in it */
};

struct op_field {
    struct slice name;
    struct slice key;    /* `"name":` as JSON prints it, escaped */
    struct op_head head; /* of key */
    uint32_t op;         /* the value's instruction */
    bool has_default;
    struct op_filling filling; /* the default, if has_default; else the zero of the type */
};

struct op_symbol {
    struct slice name;
    struct slice text;   /* `"name"` as JSON prints it */
    struct op_head head; /* of text */
};

struct op_branch {
    uint32_t op;
    struct slice tag;       /* the full name, or the type's name for those without */
    struct slice short_tag; /* the name without namespace, where only one branch bears it; else empty */
    struct slice open;      /* `{"tag":` as JSON prints it */
};

/* What the encoder asks of a union whose value stands bare. */
struct op_union {
    uint32_t first[TYPE_KINDS]; /* the first branch of each kind, however it is spelled, or PROGRAM_NONE */
    uint32_t nobjects;          /* branches that take a JSON object: records and the map */
    uint32_t nvalues;           /* branches that are not null */
};

struct program {
    struct arena arena;
    struct op *ops; /* ops[model type number]; uint32 stands behind them */
    uint32_t nops, root;
    bool has_empty_items; /* an array's items may take no bytes */
    struct op_field *fields;
    struct op_symbol *symbols;
    struct op_branch *branches;
    struct op_union *unions;
    uint32_t nfields, nsymbols, nbranches, nunions;
    uint32_t *table; /* name tables: open addressing, entry = index within the type + 1, 0 = free */
    uint32_t ntable;
    struct slice initial;      /* Avro binary of the initial record */
    const struct model *model; /* borrowed: names for printing and messages */
};

/* Compile the model; encode and check every default; find the initial value and the smallest size.
 * Faults (a wrong default, a record that can never be finite, a value beyond the record limit) become
 * problems with pointers into the schema text: BAD_SCHEMA. May add warnings to the model, which must outlive
 * the program. */
MUST_USE enum rc program_compile(struct program **out, struct model *, struct arena *problems,
                                 struct err *err);
void program_free(struct program *);

/* After model_parse has refused a schema: add to its faults in *err what is wrong with the defaults of those
 * types that are left, if that can be found out. */
void program_check_defaults(struct model *left, struct arena *problems, struct err *err);

/* By name: the index within the record, enum or union (by full or short tag), or -1. */
int program_field(const struct program *, const struct op *record, struct slice name);
int program_symbol(const struct program *, const struct op *enumeration, struct slice name);
/* The same for who asks of many with hash_bytes(name) at hand. */
int program_field_hashed(const struct program *, const struct op *record, struct slice name, uint64_t hash);
int program_symbol_hashed(const struct program *, const struct op *enumeration, struct slice name,
                          uint64_t hash);
int program_branch(const struct program *, const struct op *union_op, struct slice tag);

/* tables.c: how long a name table is, and putting its names in. */
uint32_t program_table_entries(uint32_t names);
void program_table_fill(struct program *, const struct op *);

/* spell.c: the same program but for the instructions of those values that `form` (JSON_LOGICAL, JSON_BASE64 and
 * JSON_INT64, added) spells otherwise; *out is `base` if there are none. Borrows from `base`, which must outlive it.
 * False: memory is out. */
MUST_USE bool program_spell(const struct program *base, unsigned form, struct program **out);

/* The full name of the instruction's type; empty: it has none. */
static inline struct slice program_name(const struct program *p, uint32_t op)
{
    return op < p->model->ntypes ? p->model->types[op]->fullname : (struct slice){NULL, 0};
}

MUST_USE bool program_print(const struct program *, struct buf *out);

/* The programs of a schema by enum json_form, with which a struct schema begins (schema.c). Those that spell are made when
 * they are first asked for, and may be the plain one too. */
struct schema_programs {
    _Atomic(struct program *) of_form[JSON_FORMS];
};

/* schema.c: make it. NULL: memory is out. */
COLD const struct program *schema_spell(const struct schema *, unsigned form);

/* The program for Avro binary, and JSON as it is by default. */
static inline const struct program *schema_program(const struct schema *s)
{
    const struct schema_programs *programs = (const struct schema_programs *)s;
    return atomic_load_explicit(&programs->of_form[JSON_PLAIN], memory_order_relaxed);
}

/* The program for a form of JSON. NULL: memory is out. */
static inline const struct program *schema_program_of(const struct schema *s, unsigned form)
{
    const struct schema_programs *programs = (const struct schema_programs *)s;
    const struct program *p = atomic_load_explicit(&programs->of_form[form], memory_order_acquire);
    return likely(p) ? p : schema_spell(s, form);
}

#endif
