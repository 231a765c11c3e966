/* schema/program.h - the flat, printable program that drives both directions of the codec. Inside schema/ only.
 * compile.c makes it; encode.c (JSON to Avro), decode.c (Avro to JSON, spans) and explain.c (the second pass) run it.
 * The instruction set is ops.def; its documentation stands there. */
#ifndef SCHEMA_PROGRAM_H
#define SCHEMA_PROGRAM_H

#include "base/buf.h"
#include "base/err.h"
#include "schema/model.h"

struct program;

/* Compile the model; encode and check every default; find the initial value and the smallest size.
 * Faults (a wrong default, a record that can never be finite, a value beyond the record limit) become problems
 * with pointers into the schema text: BAD_SCHEMA. The program borrows from the model until program_free. */
MUST_USE enum rc program_compile(struct program **out, struct model *, struct arena *problems, struct err *err);
void program_free(struct program *);

#endif
