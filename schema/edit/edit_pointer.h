/* schema/edit/edit_pointer.h - JSON Pointers (RFC 6901) into a record as GET shows it in the plain form: fields, indexes and `-`,
 * keys, and the tags of unions. Inside schema/ only. */
#ifndef SCHEMA_EDIT_POINTER_H
#define SCHEMA_EDIT_POINTER_H

#include "schema/value/value.h"

/* Is the text a pointer? */
bool pointer_is_valid(struct slice text);
/* Does it lead to something inside of what `outer` leads to? */
bool pointer_is_inside(struct slice pointer, struct slice outer);

/* A place in a datum. */
struct spot {
    struct value *
        holder; /* open: record, array, map, or a union, whose tag is the last step; NULL: the place is the root */
    struct value *value; /* what is there; NULL: nothing yet, or it is to be put before index */
    uint32_t index;      /* array */
    struct slice key;    /* map; borrowed from the pointer or from `name` */
};

enum pointer_use {
    POINTER_LOOKS, /* there must be something */
    POINTER_ADDS, /* as `add` of RFC 6902: a map need not have the key, an array's index is where the new item will be */
};

/* name: scratch, overwritten. many: more pointers will follow, so that hashing a map's keys is worth it. Fails with
 * NOT_APPLICABLE, and as value_open. */
MUST_USE enum rc pointer_find(struct datum *, struct slice pointer, enum pointer_use, bool many,
                              struct buf *name, struct spot *, struct err *);

/* *v becomes what is in it, if it is a union that is printed without a tag and is not null. As value_open. */
MUST_USE enum rc pointer_enter(struct datum *, struct value **v, struct err *);

#endif
