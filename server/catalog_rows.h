/* server/catalog_rows.h - a lineage's row in the store to and from bytes. SPACE_TYPE, key: the name of the type;
 * SPACE_SUBJECT, key: the name of a subject that cannot be a type's. Pure.
 *
 *   0 format u8 = 1     1 missing u8   2 unknown u8   3 compatibility u8
 *   4 type number u32   8 revision u64
 *  16 head length u16 (more than is known here is skipped)   18 bytes of a version u16 (0: 8)   20 versions u32
 *  24 ttl seconds u64, 0: none
 *  32 form u8   33 u8 = 1: it goes by the registry's level for all   34 compression u8   35 five of zero; if the head is so long
 *  40 most bytes of a record u32   44 most items u32   48 most levels u32, 0: none   52 four of zero; if the head is so long
 *  56 most bytes of all records u64, 0: any number; if the head is so long
 * then for each version, oldest first: number u32, schema id u32, state u8, zero
 *
 * The other rows: SPACE_SCHEMA, key schema id u32 big-endian, the text as first registered;
 * SPACE_SCHEMA_HASH, key SHA-256 of the normal form, the schema id u32 little-endian. */
#ifndef SERVER_CATALOG_ROWS_H
#define SERVER_CATALOG_ROWS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"
#include "schema/schema.h"

/* How bodies of records are stored that are put from now on. The values are on disk. */
enum compression { COMPRESSION_NONE, COMPRESSION_ZSTD };

/* The values of missing and unknown are those of struct codec_opts, that of compatibility is an enum
 * compat_mode, those of form are of enum json_form; all are on disk. */
struct type_options {
    uint8_t missing, unknown, compatibility;
    uint8_t form;        /* JSON_LOGICAL, JSON_BASE64 and JSON_INT64, added */
    uint8_t compression; /* enum compression */
    uint32_t ttl_s;      /* how long a record lives after its last write; 0: until it is removed */
    /* No compatibility was ever given: the type goes by the level that is set for all in the registry; then
     * `compatibility` is backward, for who does not know this. */
    bool follows_level;
    struct codec_limits limits;
    uint64_t
        max_size; /* bytes of all records' bodies; what was least recently used goes above it; 0: any number */
};

/* A version never leaves its row: a record may bear its schema id. The values are on disk. */
enum version_state {
    VERSION_LIVE,
    VERSION_DELETED, /* in the registry, where it can still be seen by who asks for deleted ones */
    VERSION_GONE     /* for good, as far as the registry is concerned */
};

struct row_version {
    uint32_t number, schema_id;
    uint8_t state; /* enum version_state */
};

struct type_row {
    uint32_t number; /* of the type; 0: of a lineage that is none's */
    uint64_t revision;
    struct type_options options;
    uint32_t nversions;
    uint16_t version_bytes;
    struct slice versions; /* as they are in the row; borrowed from it */
};

/* Fails with STORE_FORMAT: not a row that this version can read. *out borrows from `bytes`. */
MUST_USE enum rc type_row_decode(struct slice bytes, struct type_row *out, struct err *err);
struct row_version type_row_version(const struct type_row *, uint32_t i);
/* The newest that is live. False: none is. */
bool type_row_latest(const struct type_row *, struct row_version *out);
/* The row's bytes with one more version (NULL: none), in the arena. Fails with NO_MEMORY. */
MUST_USE enum rc type_row_encode(const struct type_row *, const struct row_version *more, struct arena *,
                                 struct slice *out, struct err *err);
/* Change the state of version i in bytes that type_row_encode made. */
void type_row_set_state(struct slice encoded, uint32_t i, enum version_state);

enum { SCHEMA_KEY_BYTES = 4, SCHEMA_ID_BYTES = 4 };
/* The key of a schema's text: SCHEMA_KEY_BYTES at `key`. */
struct slice schema_key(uint32_t schema_id, uint8_t *key);

#endif
