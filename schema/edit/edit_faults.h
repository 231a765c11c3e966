/* schema/edit/edit_faults.h - all that is wrong with what an edit puts into a record, in one list. Inside schema/ only. */
#ifndef SCHEMA_EDIT_FAULTS_H
#define SCHEMA_EDIT_FAULTS_H

#include "schema/json_members.h"
#include "schema/value/value.h"

/* Zero-initialised is ready to use. */
struct faults {
    struct err err; /* its problems, in the datum's arena */
    size_t pointer_bytes;
};

/* One more value did not fit. RC_OK: go on, there may be more to tell. RC_ERR: faults.err is what is to be told: the list
 * is full, or this was no misfit. */
MUST_USE enum rc faults_add(struct faults *, const struct err *);
/* The edit is over: RC_OK, or all that was wrong, as BAD_RECORD. */
MUST_USE enum rc faults_tell(struct faults *, struct err *);

/* BAD_RECORD with one problem at the value, or at its member `name` if that is not empty. expected, got: static, or in the
 * arena; empty: not said. */
enum rc fault_at(struct datum *, const struct value *, struct slice name, enum problem_code,
                 struct slice expected, struct slice got, struct err *, const char *format, ...)
    PRINTF_LIKE(8, 9);

/* "null", "boolean" ... */
struct slice fault_kind(enum json_kind);

/* A member's name in a message: printable, cut, with an end. */
enum { FAULT_NAME_BYTES = 64 };
const char *fault_name(struct slice name, char out[FAULT_NAME_BYTES]);

#endif
