/* tests/fuzz/plain_resolve.h - reading data of one schema with another, once more, as the rules of docs/
 * say it and as slowly as they allow: by recursion, every question asked again. What the resolver does in
 * one pass is compared with it. */
#ifndef TESTS_FUZZ_PLAIN_RESOLVE_H
#define TESTS_FUZZ_PLAIN_RESOLVE_H

#include "base/buf.h"
#include "schema/model/model.h"
#include "schema/program/program.h"
#include "tests/fuzz/plain_codec.h"

/* Can every datum of the writer's be read by the reader (FITS) or not (MISFIT)? */
enum plain_result plain_reads_all(const struct program *writer, const struct program *reader);

/* Might some datum be read? */
enum plain_result plain_reads_any(const struct program *writer, const struct program *reader);

/* Append what the datum, which plain_check has passed, is under the reader's schema. */
enum plain_result plain_resolve(const struct program *writer, const struct program *reader, struct slice avro,
                                struct buf *out);

#endif
