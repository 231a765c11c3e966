/* storage/keys.h - the keys of docs/format.md, each behind the byte of its database. Pure. */
#ifndef STORAGE_KEYS_H
#define STORAGE_KEYS_H

#include "base/limits.h"
#include "storage/engine.h"

enum { KEY_MAX = 512 };

/* Caller's memory; not zeroed, only the first len bytes mean something. */
struct key {
    uint16_t len;
    uint8_t bytes[KEY_MAX];
};

/* What an expiry or trash row is about. */
enum expiry_kind { EXPIRY_RECORD = 1, EXPIRY_IDEM };
enum trash_kind { TRASH_TYPE = 1, TRASH_BLOB, TRASH_PURGED };

enum { KEY_CHUNK_BYTES = 1 + 8 + 4, TRASH_BYTES = 8 };

static inline struct slice key_slice(const struct key *k)
{
    return slice_of(k->bytes, k->len);
}

/* RC_OK, or RC_ERR with ID_TOO_LONG or BAD_TARGET (empty). All other functions take only keys that pass. */
MUST_USE enum rc key_check(const struct store_key *, struct err *);

enum engine_db key_db(enum space);
void key_of(struct key *, const struct store_key *);
/* How many bytes of a key of this space stand before the id. */
size_t key_prefix_len(enum space);
/* The first key of a scan: the smallest whose id is >= from. from may be longer than any id. */
void key_from(struct key *, enum space, uint32_t type, struct slice from);
/* The smallest key above that of `id`. */
void key_after(struct key *, enum space, uint32_t type, struct slice id);

void key_meta(struct key *, struct slice name);
void key_counts(struct key *, uint32_t type);
void key_record_prefix(struct key *, uint32_t type); /* what all keys of a type's records begin with */
void key_chunk(uint8_t out[KEY_CHUNK_BYTES], uint64_t blob, uint32_t index);
void key_expiry(struct key *, int64_t time_ms, enum expiry_kind, uint32_t type, struct slice id);
/* One in `used`; prefix: what all of a type begin with. */
void key_used(struct key *, uint32_t type, int64_t time_ms, struct slice id);
void key_used_prefix(struct key *, uint32_t type);
void key_idem(struct key *, struct slice key); /* STORE_IDEM_KEY_BYTES */
void key_trash(struct key *, enum trash_kind, uint64_t number);

#endif
