/* storage/meta.h - the four rows of the database `meta`, as docs/format.md, "Meta", draws them. Pure. */
#ifndef STORAGE_META_H
#define STORAGE_META_H

#include "storage/storage.h"

enum {
    META_FORMAT = 2, /* the version of the format on disk that this program writes */
    META_FORMAT_BYTES = 4,
    META_STORE_BYTES = 16,
    META_STATE_BYTES = 32,
    META_OPEN_BYTES = 18,
    BOOT_ID_BYTES = 16,
};

/* Row `state`. */
struct meta_state {
    uint64_t revision;                /* the newest that was given */
    uint32_t next_type, next_schema;  /* the numbers to give next; 0: all have been given */
    uint64_t next_blob, log_sequence; /* log_sequence: up to where a log has been applied */
};

/* Row `open`. */
struct meta_open {
    bool clean;
    enum durability durability; /* of whoever opened it last */
    uint8_t boot_id[BOOT_ID_BYTES];
};

void meta_format_encode(uint8_t out[META_FORMAT_BYTES]);
bool meta_format_decode(struct slice, uint32_t *version) MUST_USE;
void meta_state_encode(const struct meta_state *, uint8_t out[META_STATE_BYTES]);
bool meta_state_decode(struct slice, struct meta_state *) MUST_USE;
void meta_open_encode(const struct meta_open *, uint8_t out[META_OPEN_BYTES]);
bool meta_open_decode(struct slice, struct meta_open *) MUST_USE;

#endif
