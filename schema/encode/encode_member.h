/* schema/encode/encode_member.h - names of an object's members, read in full. */
#ifndef SCHEMA_ENCODE_MEMBER_H
#define SCHEMA_ENCODE_MEMBER_H

#include "schema/encode/encode.h"

/* A member's name at p, read. */
struct member {
    int field;            /* or -1 */
    struct slice name;    /* unescaped; in the text or in codec.name_text */
    const uint8_t *value; /* behind the colon */
};

/* The member whose name begins at p. op: the record whose field it may be, or NULL. False: e->result says
 * why. */
bool member_read(struct encode *e, const struct op *op, const uint8_t *p, struct member *m);

/* Keep the name, which may already stand behind name_text's end, and see whether the object had it before. */
bool member_add_name(struct encode *e, struct frame *f, struct slice name);

#endif
