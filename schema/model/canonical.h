/* schema/model/canonical.h - the Parsing Canonical Form: what of a schema matters to who reads its data. Inside
 * schema/ only. Source: Avro 1.12 specification, "Transforming into Parsing Canonical Form". */
#ifndef SCHEMA_CANONICAL_H
#define SCHEMA_CANONICAL_H

#include "schema/model/model.h"

/* Append the form. Linear in the schema. False: memory is out. */
MUST_USE bool canonical_print(const struct model *, struct buf *out);
/* Its CRC-64-AVRO. False: memory is out. */
MUST_USE bool canonical_fingerprint(const struct model *, uint64_t *out);

#endif
