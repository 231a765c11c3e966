/* server/subject_settings.h - what the registry's API sets for a subject, and for all: its level of compatibility
 * and its mode. Rows of SPACE_SUBJECT whose key is 00, 's', the subject's name (none: for all); 4 bytes: format u8
 * = 1, level u8 (0: not set, else 1 + enum compat_mode), mode u8, zero. A type's level is the option in its own row:
 * what stands here is for all, for a lineage that is not there yet, or for one that no type has. */
#ifndef SERVER_SUBJECT_SETTINGS_H
#define SERVER_SUBJECT_SETTINGS_H

#include "base/err.h"
#include "base/limits.h"
#include "base/slice.h"
#include "schema/schema.h"
#include "storage/storage.h"

/* Rows of SPACE_SUBJECT that are no lineages have keys that begin with 00, as no subject does. */
enum subject_row_kind { SUBJECT_ROW_SETTINGS = 's', SUBJECT_ROW_REFERENCES = 'r', SUBJECT_ROW_LINKS = 'l' };
enum { SUBJECT_ROW_PREFIX = 2 };

/* The values are on disk. */
enum subject_mode {
    SUBJECT_MODE_UNSET,
#define SUBJECT_MODE(name, read_only, overrides) SUBJECT_MODE_##name,
#include "server/subject_modes.def"
#undef SUBJECT_MODE
    SUBJECT_MODES
};

struct subject_settings {
    uint8_t level; /* 0, or 1 + enum compat_mode */
    uint8_t mode;  /* enum subject_mode */
};

enum { SETTINGS_BYTES = 4 };
/* The row's key, made at `key`, which has room for LIMIT_ID_MAX bytes; the name has at most
 * LIMIT_SUBJECT_NAME_MAX. */
struct slice settings_key(struct slice subject, uint8_t *key);
struct slice settings_encode(const struct subject_settings *, uint8_t *bytes);
/* Fails with STORE_FORMAT. */
MUST_USE enum rc settings_decode(struct slice bytes, struct subject_settings *out, struct err *err);

/* Both inside a transaction: a subject's, and those for all. What is not there is not set. */
struct settings_pair {
    struct subject_settings own, global;
};
MUST_USE enum rc settings_txn_get(struct store_txn *, struct slice subject, struct subject_settings *out,
                                  struct err *err);

/* The level that holds for a lineage of the registry's own: its own, else that for all, else backward. */
enum compat_mode settings_level(const struct settings_pair *);
enum subject_mode settings_mode(const struct settings_pair *);
/* May its schemas not change? READ_ONLY. */
MUST_USE enum rc settings_writable(const struct settings_pair *, struct slice subject, struct err *err);

const char *subject_mode_name(enum subject_mode);
/* In any case of letters. False: none is called so. */
bool subject_mode_parse(struct slice name, enum subject_mode *out);

#endif
