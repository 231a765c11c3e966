/* tests/fuzz/plain_patch.h - what patches mean, said once more: on trees of JSON that Jansson holds, by recursion, whatever it
 * costs. A tree stands for the record as GET shows it in the plain form; the types say what a field is, and what a
 * tag. */
#ifndef TESTS_FUZZ_PLAIN_PATCH_H
#define TESTS_FUZZ_PLAIN_PATCH_H

#include <jansson.h>

#include "schema/program/program.h"
#include "tests/fuzz/plain_codec.h"

struct plain_patch {
    const struct program *program;
    const struct codec_opts *opts;
    /* The record that put would make of the tree, as GET shows it, a new reference; NULL: it refuses it. */
    json_t *(*put)(const struct plain_patch *, json_t *tree, const struct codec_opts *);
    /* A field's default as GET shows it, a new reference. */
    json_t *(*default_of)(const struct plain_patch *, const struct op_field *);
    const struct schema *schema; /* for both */
    bool gives_up;               /* it is not certain what is meant */
};

/* RFC 7396. What put is to take for the record; a new reference. */
json_t *plain_merge(struct plain_patch *, uint32_t op, json_t *target, json_t *patch);

/* One operation of RFC 6902, or an increment. The record that it makes, as GET shows it, a new reference; NULL: it fails. */
json_t *plain_operation(struct plain_patch *, json_t *record, json_t *operation);

#endif
