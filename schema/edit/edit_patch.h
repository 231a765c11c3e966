/* schema/edit/edit_patch.h - what the files of JSON Patch share: edit_patch_parse.c (the document), edit_patch.c (what the
 * operations do), edit_increment.c. Inside them only. */
#ifndef SCHEMA_EDIT_PATCH_H
#define SCHEMA_EDIT_PATCH_H

#include "schema/edit/edit_kinds.h"
#include "schema/value/value.h"

/* The operations of a patch on their way into one record. */
struct patch {
    struct datum *d;
    bool many;       /* operations, so that it is worth to hash a map's keys */
    struct buf name; /* scratch of pointer_find */
    struct buf json; /* what is copied or moved */
    uint64_t changed;
};

struct patch_operation;

/* What an operation's object must have beside `op` and `path`. */
enum patch_needs { PATCH_NEEDS_NOTHING, PATCH_NEEDS_VALUE, PATCH_NEEDS_FROM, PATCH_NEEDS_BY };

struct patch_kind {
    struct slice name;
    enum patch_needs needs;
    bool takes_out; /* what `from` leads to */
    enum rc (*apply)(struct patch *, const struct patch_operation *, struct err *);
};

struct patch_operation {
    const struct patch_kind *kind;
    struct slice path, from; /* JSON Pointers; arena, or borrowed from the text */
    struct slice value;      /* or `by`: JSON, borrowed from the text */
};

struct edit_patch {
    struct edit base;
    uint32_t n;
    struct patch_operation *operation;
};

/* edit_patch.c: NULL: there is none of that name. i: from 0, for who lists them; NULL behind the last. */
const struct patch_kind *patch_kind_of(struct slice name);
const struct patch_kind *patch_kind_at(unsigned i);

/* edit_patch_parse.c. json: checked. BAD_PATCH with err.operation, NO_MEMORY. */
MUST_USE enum rc patch_parse(struct edit_patch *, struct slice json, struct arena *, struct err *);

/* edit_increment.c: a value that is a number becomes greater by another, JSON. NOT_APPLICABLE, BAD_RECORD (range). */
MUST_USE enum rc patch_increment(struct datum *, struct value *, struct slice by, struct err *);

#endif
