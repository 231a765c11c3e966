/* schema/edit/edit_kinds.h - what an edit is made of, for those who add a kind: a file edit_<kind>.c with its edit_of_...,
 * whose edit begins with a struct edit. The frame around all of them is edit.c. Inside schema/ only. */
#ifndef SCHEMA_EDIT_KINDS_H
#define SCHEMA_EDIT_KINDS_H

#include "schema/edit.h"
#include "schema/value/value.h"

struct edit_kind {
    /* Change what is to be changed in d->root, which is closed yet, and count the values that were changed up from 0.
     * What the record has become is written and checked as a whole (datum_finish) by who calls. Many threads may apply
     * one edit at a time, each with a datum of its own. As edit_apply. */
    enum rc (*apply)(struct datum *d, const struct edit *, uint64_t *changed, struct err *);
};

/* Immutable once it is made. */
struct edit {
    const struct edit_kind *kind;
    const struct schema *schema;
    const struct codec_opts
        *opts;    /* of JSON that is put in, and the limits of what comes out; NULL: the defaults */
    size_t bytes; /* of what the client has sent: for each some work is allowed */
};

#endif
