/* tests/fuzz/plain_tree.h - a datum once more, as the tree of its JSON encoding: where its values are, what becomes of
 * them, which of its fields are asked for. What values (schema/value/value.h) and projections do is compared with it. */
#ifndef TESTS_FUZZ_PLAIN_TREE_H
#define TESTS_FUZZ_PLAIN_TREE_H

#include <jansson.h>

#include "base/buf.h"
#include "schema/program/program.h"

/* A place in a tree that holds a value: a member, an item, or the tree itself (in NULL). All of it is in the
 * specification's JSON, so a union's branch that is not null is the only member of an object. */
struct plain_place {
    json_t *in;
    json_t **root;
    struct slice name; /* of an object's member */
    size_t index;      /* of an array's item */
};

json_t *plain_at(const struct plain_place *);
/* Put something else there; takes the reference. */
void plain_set(const struct plain_place *, json_t *value);

/* The place of the n-th part of what is there, of a record, array or map; of a union its branch. */
struct plain_place plain_part(const struct program *, uint32_t op, const struct plain_place *, size_t n);

/* What is left of the value if only these fields are shown: paths (of n) with dots between their names. A new reference. */
json_t *plain_project(const struct program *, uint32_t op, json_t *value, const struct slice *paths,
                      size_t n);

#endif
