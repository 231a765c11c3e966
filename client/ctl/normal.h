/* client/ctl/normal.h - schemas laid out alike, so that they can be compared line by line. */
#ifndef CLIENT_CTL_NORMAL_H
#define CLIENT_CTL_NORMAL_H

#include "base/buf.h"
#include "base/compiler.h"

/* Append a schema's text: names in full, as policies.md's normal form has them, members in a fixed order, one a line, primitives in
 * short form. NULL: done; else a sentence of what is wrong with the text. It need be no valid schema, only JSON; what is no schema
 * is laid out as it is. */
MUST_USE const char *normal_print(struct slice text, struct buf *out);

#endif
