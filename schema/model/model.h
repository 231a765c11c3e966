/* schema/model/model.h - a schema as a graph of types, made by parse.c, read by compile.c. Inside schema/ only.
 *
 * parse.c   text -> struct model: names resolved, every rule of the specification checked but for defaults
 * compile.c model -> struct program; encodes every default with the codec and checks it that way
 *
 * A named type stands once; references to it are the same node, so the graph may have circles. All in the
 * model's arena. */
#ifndef SCHEMA_MODEL_H
#define SCHEMA_MODEL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

enum type_kind {
    TYPE_NULL,
    TYPE_BOOLEAN,
    TYPE_INT,
    TYPE_LONG,
    TYPE_FLOAT,
    TYPE_DOUBLE,
    TYPE_BYTES,
    TYPE_STRING,
    TYPE_RECORD,
    TYPE_ENUM,
    TYPE_FIXED,
    TYPE_ARRAY,
    TYPE_MAP,
    TYPE_UNION,
    TYPE_KINDS
};

const char *type_kind_name(enum type_kind); /* "null", "boolean", ... "union" */

enum logical_kind {
    LOGICAL_NONE,
    LOGICAL_DECIMAL,
    LOGICAL_BIG_DECIMAL,
    LOGICAL_UUID,
    LOGICAL_DATE,
    LOGICAL_TIME_MILLIS,
    LOGICAL_TIME_MICROS,
    LOGICAL_TIMESTAMP_MILLIS,
    LOGICAL_TIMESTAMP_MICROS,
    LOGICAL_TIMESTAMP_NANOS,
    LOGICAL_LOCAL_TIMESTAMP_MILLIS,
    LOGICAL_LOCAL_TIMESTAMP_MICROS,
    LOGICAL_LOCAL_TIMESTAMP_NANOS,
    LOGICAL_DURATION,
};

/* Where something stands in the schema text. A chain towards the root and not a text: thousands of types may
 * share the beginning of a long pointer. */
struct place {
    const struct place *up; /* NULL: the root */
    const char *step;       /* the member ("fields"), or NULL: an element of an array */
    uint32_t index;         /* the element, also of the member's array; PLACE_NO_INDEX: none */
};

enum { PLACE_NO_INDEX = UINT32_MAX };

/* Append the place as a JSON Pointer (RFC 6901), "" for the root. False: memory is out. */
MUST_USE bool place_print(const struct place *, struct buf *out);

struct type;

struct field {
    struct slice name;
    struct slice *aliases;
    size_t naliases;
    struct slice doc;
    bool has_doc;
    enum { ORDER_ASCENDING, ORDER_DESCENDING, ORDER_IGNORE } order;
    struct type *type;
    bool has_default;
    struct slice default_json; /* the default as JSON text (compact, exact numbers) */
    const struct place *place; /* of the field's object in the schema text */
};

struct type {
    enum type_kind kind;
    uint32_t number;       /* dense, by first appearance, the root is 0: index into model.types */
    struct slice fullname; /* named types */
    struct slice *aliases; /* full names */
    size_t naliases;
    struct slice doc;
    bool has_doc;
    const struct place *place; /* where it is defined (first appears) in the schema text */
    enum logical_kind logical; /* valid ones only; an invalid one is a warning */
    uint32_t precision, scale; /* decimal */
    union {
        struct {
            struct field *fields;
            size_t nfields;
        } record;
        struct {
            struct slice *symbols;
            size_t nsymbols;
            int default_index; /* -1: none */
        } enumeration;
        uint64_t fixed_size;
        struct type *items;  /* array */
        struct type *values; /* map */
        struct {
            struct type **branches;
            size_t nbranches;
        } branches; /* union */
    };
};

struct model {
    struct arena arena;
    struct type *root;
    struct type **types; /* every node once */
    size_t ntypes;
    struct slice text; /* to store: as parsed, or the picked entry with the types it uses */
    struct slice normal_form;
    struct slice *warnings;
    size_t nwarnings, warnings_cap;
};

/* What is to be parsed; all borrowed for the call. */
struct model_source {
    struct slice text;
    struct slice fullname;     /* empty, or which entry of a top-level union is meant */
    const struct slice *known; /* texts whose types may be used; schema_parse_known */
    size_t nknown;
};

/* As schema_parse, but defaults are only kept, not checked. *out is the caller's: model_free. A wrong default
 * is found by compile.c. `problems` collects; RC_ERR with BAD_SCHEMA once all are found: then *out is what is
 * left, for program_check_defaults. NULL after other errors, and where nothing is left. */
MUST_USE enum rc model_parse(struct model **out, const struct model_source *, struct arena *problems,
                             struct err *err);
void model_free(struct model *);
/* Add a warning: copied, cut at MODEL_WARNING_MAX bytes, made fit for a header. Beyond the
 * MODEL_WARNINGS_MAX-th only a last one is added that says so. False: memory is out. */
enum { MODEL_WARNING_MAX = 400, MODEL_WARNINGS_MAX = 20 };
MUST_USE bool model_warn(struct model *, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
