/* schema/model/tree.h - a schema text as a Jansson tree that loses nothing. Jansson cannot hold numbers beyond 64
 * bits, exact reals, or names with NUL, so it is handed a transcript: every number is a string that begins
 * with 'n' and keeps its spelling, every string begins with 's', and in names NUL and U+0001 are written as
 * U+0001 and a digit. Only the functions here undo that; names without control characters are themselves.
 * Inside schema/ only. */
#ifndef SCHEMA_TREE_H
#define SCHEMA_TREE_H

#include <jansson.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

/* `text` has passed json_check with at most LIMIT_SCHEMA_JSON_DEPTH_MAX levels: below Jansson's own limit,
 * and the bound of its recursion. The tree is in the arena, and is to be looked at only. NO_MEMORY. */
MUST_USE enum rc tree_parse(json_t **out, struct slice text, struct arena *, struct err *err);

/* Null-safe: false for NULL. */
bool tree_is_string(const json_t *);
bool tree_is_number(const json_t *);
/* The content of a string; the spelling of a number. Borrowed from the tree. */
struct slice tree_string(const json_t *);
struct slice tree_number(const json_t *);

/* "a string", "null", "an object", ... */
const char *tree_kind_name(const json_t *);

/* A member of an object; the name as the tree has it (tree_print_name undoes it). */
struct tree_member {
    const char *name;
    json_t *value;
};

enum tree_order { TREE_AS_WRITTEN, TREE_SORTED };

/* Append the members of an object to an array of struct tree_member held in `stack`; borrowed from the tree.
 * Sorted is by the bytes of the names. False: memory is out. */
MUST_USE bool tree_members(json_t *object, enum tree_order, struct buf *stack);

/* Append as a JSON string token. */
MUST_USE bool tree_print_name(const char *name, struct buf *out);
/* Append as compact JSON, numbers as they were spelled, members in this order at every level. */
MUST_USE bool tree_print(json_t *, enum tree_order, struct buf *out);

#endif
