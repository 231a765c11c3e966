/* schema/model/parse.h - what the files that make a model from a schema text share: the state of one parse, its
 * faults, and the steps that each file takes. Inside the parser only (parse*.c, logical.c, normal.c). */
#ifndef SCHEMA_PARSE_H
#define SCHEMA_PARSE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "schema/model/model.h"
#include "schema/model/names.h"
#include "schema/model/tree.h"

/* What the parser knows of a type besides the model. */
struct type_info {
    struct type *type;
    json_t *source; /* the JSON value that defines it; a shared primitive has none */
    uint32_t stamp; /* the last union that had it as a branch */
    bool is_faulty; /* something is wrong with it, or (parse_remains) with what is inside of it */
    bool written;   /* by the writer of normal.c: its definition stands already */
};

struct parser {
    struct model *model;
    json_t *tree;
    json_t **known; /* trees of known types */
    size_t nknown;
    struct arena *problems;  /* the caller's: pointers and texts of faults */
    struct err *err;         /* faults so far */
    struct arena scratch;    /* dies with the parse; the trees are in it */
    struct buf joined;       /* a full name that is being looked up */
    size_t alias_bytes;      /* of all aliases as full names */
    struct name_table names; /* full name to struct type */
    struct type_info *types; /* by number */
    uint32_t ntypes, types_cap;
    uint32_t unions;                          /* stamps given out */
    struct type *primitives[TYPE_STRING + 1]; /* those without attributes are one node each */
    struct frame *top; /* parse_types.c: the innermost type whose parts are being read */
    struct unresolved *unresolved, **unresolved_end;
    enum { STOP_NOT, STOP_NO_MEMORY, STOP_TOO_DEEP } stop;
};

/* A type's place in the text and what surrounds it. */
struct where {
    json_t *json;
    struct place at;
    struct slice namespace;
    uint32_t depth; /* records, arrays and maps around it */
    bool in_union;
};

/* ---- parse_fault.c ---- */

/* Places beside a kept one, for a call. */
#define PLACE_AT(up, step)           (&(struct place){(up), (step), PLACE_NO_INDEX})
#define PLACE_AT_INDEX(up, step, at) (&(struct place){(up), (step), (uint32_t)(at)})

/* A copy that lives as long as the model. NULL: memory is out, and the parse is stopped. */
const struct place *parse_keep_place(struct parser *, struct place);

/* One fault, beyond the first ERR_PROBLEMS_MAX only counted. `expected` is a literal or NULL; `got` the value
 * found or NULL; the format makes a sentence that says how to mend it. Memory out stops the parse. */
void parse_fault(struct parser *, enum problem_code, const struct place *, const char *expected,
                 const json_t *got, const char *format, ...) PRINTF_LIKE(6, 7);
/* The same for a value of the wrong JSON type: "`what` must be `expected`, not a number". */
void parse_fault_kind(struct parser *, const struct place *, const char *what, const char *expected,
                      const json_t *got);
/* The name of a type that is not defined (yet); what was meant is told at the end,
 * when all names are known. */
void parse_fault_unresolved(struct parser *, const struct place *, struct slice name, struct slice fullname);
void parse_explain_unresolved(struct parser *);

/* A name as a JSON string, cut if it is long, for a message. */
const char *parse_quote(struct parser *, struct slice);
/* A place as a JSON Pointer, for a message. */
const char *parse_pointer(struct parser *, const struct place *);
/* Remember that memory is out if `ok` is false; gives `ok` back. */
bool parse_ok(struct parser *, bool ok);
void parse_warn(struct parser *, const char *format, ...) PRINTF_LIKE(2, 3);

/* ---- parse_attributes.c: what stands beside "type" ---- */

/* The name and namespace of a record, enum or fixed; adds it to the table. */
void parse_name(struct parser *, struct type *, const struct where *, const struct place *at);
void parse_type_aliases(struct parser *, struct type *, json_t *source);
void parse_doc(struct parser *, json_t *source, const struct place *, struct slice *doc, bool *has_doc);
void parse_enum(struct parser *, struct type *, json_t *source);
void parse_fixed_size(struct parser *, struct type *, json_t *source);
/* All of a field but its type; `names` are those of the record's fields. */
void parse_field(struct parser *, struct field *, json_t *source, struct name_table *names);
/* Aliases that are another field's (or type's) name or alias. */
void parse_field_alias_clashes(struct parser *, struct type *record, struct name_table *names);
void parse_type_alias_clashes(struct parser *);

/* ---- logical.c ---- */

/* Sets the type's logical type if `source` names one that is valid for it; warns of any other. */
void logical_read(struct parser *, struct type *, json_t *source, const struct place *);

/* ---- parse_types.c ---- */

/* Read a tree of known types, whose names may be used from then on; `at` is where faults in it are told. */
void parse_known_types(struct parser *, json_t *tree, struct place at);
/* Read the whole tree into the model; every fault is noted. */
void parse_types(struct parser *);

/* ---- parse_remains.c ---- */

/* After faults: the model's root becomes a record that no text defines, with a field for each type that is sound
 * and for each default of a sound type in a record that is not. False: there is nothing to check, or memory is out. */
MUST_USE bool parse_remains(struct parser *);

/* ---- normal.c ---- */

/* The normal form (docs/policies.md, "The same schema"): full names, members sorted, no white space. */
MUST_USE enum rc normal_form(struct parser *, struct type *root, json_t *source, struct buf *out);
/* A text that defines `root` and all it uses, members as they were written. A fault where none can be
 * written. */
MUST_USE enum rc normal_standalone(struct parser *, struct type *root, json_t *source, struct buf *out);

#endif
