/* server/catalog_rows.h - a type's row in the store (SPACE_TYPE, key: the name) to and from bytes. Pure.
 *
 *   0 format u8 = 1     1 missing u8   2 unknown u8   3 compatibility u8
 *   4 type number u32   8 revision u64
 *  16 head length u16 (more than is known here is skipped)   18 zero u16   20 versions u32   24 ttl seconds
 * u64 then for each version, oldest first: number u32, schema id u32
 *
 * The other rows: SPACE_SCHEMA, key schema id u32 big-endian, the text as first registered;
 * SPACE_SCHEMA_HASH, key SHA-256 of the normal form, the schema id u32 little-endian. */
#ifndef SERVER_CATALOG_ROWS_H
#define SERVER_CATALOG_ROWS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"

/* The values of missing and unknown are those of struct codec_opts, that of compatibility is an enum
 * compat_mode; all are on disk. */
struct type_options {
    uint8_t missing, unknown, compatibility;
};

struct row_version {
    uint32_t number, schema_id;
};

struct type_row {
    uint32_t number; /* of the type */
    uint64_t revision;
    struct type_options options;
    uint32_t nversions;
    struct slice versions; /* as they are in the row; borrowed from it */
};

/* Fails with STORE_FORMAT: not a row that this version can read. *out borrows from `bytes`. */
MUST_USE enum rc type_row_decode(struct slice bytes, struct type_row *out, struct err *err);
struct row_version type_row_version(const struct type_row *, uint32_t i);
/* The row's bytes with one more version (NULL: none), in the arena. Fails with NO_MEMORY. */
MUST_USE enum rc type_row_encode(const struct type_row *, const struct row_version *more, struct arena *,
                                 struct slice *out, struct err *err);

enum { SCHEMA_KEY_BYTES = 4, SCHEMA_ID_BYTES = 4 };
/* The key of a schema's text: SCHEMA_KEY_BYTES at `key`. */
struct slice schema_key(uint32_t schema_id, uint8_t *key);

#endif
