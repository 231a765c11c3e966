/* schema/edit/edit_unset.h - a field that a patch takes away. Inside schema/ only. */
#ifndef SCHEMA_EDIT_UNSET_H
#define SCHEMA_EDIT_UNSET_H

#include "schema/value/value.h"

/* A record has all of its fields, so one that goes (null in a merge patch, `remove` in a JSON Patch) becomes null where its
 * type has null, else its default; without either it is BAD_RECORD (that null is not of the type). v: a part of an open
 * record. RECORD_TOO_LARGE: the default is. TOO_MUCH_WORK, NO_MEMORY. */
MUST_USE enum rc edit_unset_field(struct datum *, struct value *v, struct err *);

#endif
