/* schema/encode/encode_spelled.h - scalars that are spelled readably, in the encoder's walk. */
#ifndef SCHEMA_ENCODE_SPELLED_H
#define SCHEMA_ENCODE_SPELLED_H

#include "schema/encode/encode.h"

/* As the functions of encode_scalar.h. */
const uint8_t *encode_spelled(struct encode *e, const struct op *, const uint8_t *p);

/* Would the instruction take the content of a string, or a number? Paid for. False also with e->result set. */
bool encode_spelled_fits(struct encode *e, const struct op *, struct slice text, bool is_quoted);

/* The first branch of the union that takes a number which no int, long, float or double is there for: a decimal.
 * PROGRAM_NONE: there is none. */
uint32_t encode_spelled_number(struct encode *e, const struct op *union_op, struct slice number);

#endif
