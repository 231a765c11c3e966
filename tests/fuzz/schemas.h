/* tests/fuzz/schemas.h - the schema that an input is about: one of a table that has every instruction and
 * every kind of union, or one that the input brings along. */
#ifndef TESTS_FUZZ_SCHEMAS_H
#define TESTS_FUZZ_SCHEMAS_H

#include "base/arena.h"
#include "schema/schema.h"
#include "tests/fuzz/fuzz.h"

struct fuzz_schema {
    const struct schema *schema; /* NULL: what the input brings is none */
    int row;                     /* of the table, or -1 */
    struct schema *owned;
    struct arena arena;
};

/* Takes a byte off the input: a row of the table, from 'A' on (whatever the byte, there is one); or '$', then
 * the schema's text stands behind it, to the first NUL. */
void fuzz_schema_take(struct fuzz_schema *, struct slice *in);
void fuzz_schema_release(struct fuzz_schema *);

/* Avro C's verdict on a datum of a row of the table that we took. Reads it, and gives its JSON (tagged),
 * appended to `json`. False: Avro C is not asked, because it is wrong about the schema, or cannot print the
 * datum. */
struct buf;
MUST_USE bool fuzz_avro_c(int row, struct slice avro, struct buf *json);
/* The datum as it reads and writes it, appended to `out`. False: Avro C is not asked. */
MUST_USE bool fuzz_avro_c_binary(int row, struct slice avro, struct buf *out);

#endif
