/* storage/stage.h - the steps that deciding is made of: read a key as the group sees it, put and delete it
 * with all that hangs on it (head, counts, expiry). One thread. */
#ifndef STORAGE_STAGE_H
#define STORAGE_STAGE_H

#include "storage/decide.h"
#include "storage/keys.h"

/* A key as the group sees it so far. */
struct view {
    struct staged *entry;
    const struct store_key *key;
    bool visible;      /* there, and not past its time */
    struct record rec; /* set if entry->value: as it is stored, see head.h. Its body: see stage_body */
};

/* What a put stores. */
struct fresh {
    uint32_t schema_id;
    int64_t expires_ms;
    struct slice content_type, part[3];
    uint32_t body_crc;    /* of the parts; records only */
    uint64_t plain_bytes; /* they are packed, and that was its length; 0: they are not */
    uint64_t blob;        /* whose first chunks are there already, with a row in the trash; 0: none ... */
    uint32_t laid;        /* ... and how many */
};

/* Whether a write to this key can be anything but RC_NOTFOUND. */
bool stage_live(const struct decider *, const struct store_key *);
/* Look a key up. The key is borrowed as long as the view. */
MUST_USE enum rc stage_look(struct decider *, const struct store_key *, struct view *, struct err *);
/* The record with its whole body, in one piece and as it was put (in the group's memory, if it is in chunks or packed; see
 * decider.joined_bytes). */
MUST_USE enum rc stage_body(struct decider *, const struct view *, struct record *out, struct err *);
/* How long that is. */
static inline uint64_t stage_body_bytes(const struct view *v)
{
    return v->rec.packed_bytes ? v->rec.packed_bytes : v->rec.body_bytes;
}
/* RECORD_TOO_LARGE and BAD_REQUEST are found here. */
MUST_USE enum rc stage_check_size(const struct store_key *, uint64_t body_bytes, struct slice content_type,
                                  uint32_t record_max, struct err *);
MUST_USE enum rc stage_put(struct decider *, const struct view *, const struct fresh *, uint64_t revision,
                           struct err *);
/* Say in the head of a record that the group has not changed that it was used then: that alone, and its row in `used`. */
MUST_USE enum rc stage_touch(struct decider *, const struct view *, int64_t used_ms, struct err *);
MUST_USE enum rc stage_delete(struct decider *, const struct view *, struct err *);
/* Records and bytes of a type as the group sees them; zeros: it has none. IO: the row is damaged. */
MUST_USE enum rc stage_count(struct decider *, uint32_t type, struct store_count *, struct err *);
/* Set a type's limit; 0: it has none. */
MUST_USE enum rc stage_limit(struct decider *, uint32_t type, uint64_t bytes_max, struct err *);
/* A type's row, which is there, goes, and a row of the trash comes: its records stay where no one sees them. Only in a
 * group that has written no record of it. */
MUST_USE enum rc stage_type_drop(struct decider *, const struct view *row, uint32_t type, struct err *);
/* A row that is no record: its key is whole already. value.ptr NULL: delete. */
MUST_USE enum rc stage_row(struct decider *, struct slice key, struct slice value, struct err *);
/* A row of the trash; died_ms: by trash_clock_ms. */
MUST_USE enum rc stage_trash(struct decider *, enum trash_kind, uint64_t number, int64_t died_ms,
                             struct err *);
/* Chunks of a body that no record refers to, with the row of the trash that says so. */
MUST_USE enum rc stage_chunks(struct decider *, const struct chunks *, struct err *);
/* A row of the engine as the group sees it, in one piece; RC_NOTFOUND. */
MUST_USE enum rc stage_read_row(struct decider *, struct slice key, struct slice *value, struct err *);

/* See type_limits.h. */
MUST_USE static inline enum rc type_limits_admit(struct decider *d, const struct view *v, uint64_t bytes,
                                                 int64_t *used_ms, struct err *err)
{
    *used_ms = 0;
    return likely(d->limits.n == 0) ? RC_OK : type_limits_admit_other(d, v, bytes, used_ms, err);
}

#endif
