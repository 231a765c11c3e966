/* schema/path/path_atom.h - what predicates compute with: scalars of the datum and of the path, their conversions, comparisons and
 * arithmetic. Texts that are made live in the run's memory. */
#ifndef SCHEMA_PATH_ATOM_H
#define SCHEMA_PATH_ATOM_H

#include "schema/path/path_run.h"

/* What a value is; a union is what is in it. A float is the number that is printed for it; bytes and fixed are texts, one
 * character a byte; an enum is its symbol. */
MUST_USE enum rc atom_of_value(struct path_run *, struct value *, struct atom *);

/* True: not null, not 0 or NaN, not the empty text. */
bool atom_is_true(const struct atom *);
/* As a number (ATOM_INTEGER or ATOM_DOUBLE): null is 0, true 1; a text that is a JSON number is it, else NaN, as is what has parts. */
MUST_USE enum rc atom_to_number(struct path_run *, const struct atom *, struct atom *number);
/* As a text. *has: false for null and for what has parts. */
MUST_USE enum rc atom_to_text(struct path_run *, const struct atom *, struct slice *text, bool *has);

/* By an operator of precedence 3 or 4. */
MUST_USE enum rc atom_compare(struct path_run *, enum path_op, const struct atom *, const struct atom *,
                              bool *holds);
/* By an operator of precedence 5 or 6. */
MUST_USE enum rc atom_compute(struct path_run *, enum path_op, const struct atom *, const struct atom *,
                              struct atom *out);

#endif
