/* tests/fuzz/resolve_avro_c.h - data of one schema read with another by Avro C, where it is right about
 * that. */
#ifndef TESTS_FUZZ_RESOLVE_AVRO_C_H
#define TESTS_FUZZ_RESOLVE_AVRO_C_H

#include "base/buf.h"
#include "schema/schema.h"

/* Append what it reads as JSON (tagged). False: it is not asked: it knows no aliases, no defaults and no
 * unqualified names, takes another branch of unions, and has ideas of its own about enums and the NUL. */
MUST_USE bool resolve_avro_c(const struct schema *writer, const struct schema *reader, struct slice avro,
                             struct buf *json);

#endif
