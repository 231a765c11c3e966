/* storage/keys.c - keys to bytes: a database's byte, big-endian numbers, then the id. */
#include "storage/keys.h"

#include <assert.h>

#include "base/bytes.h"

_Static_assert(1 + 8 + 1 + 4 + LIMIT_ID_MAX + 1 <= KEY_MAX, "the longest key, an expiry's, must fit");

static const uint8_t db_of_space[] = {
    [SPACE_RECORD] = DB_RECORDS,          [SPACE_TYPE] = DB_TYPES,
    [SPACE_SUBJECT] = DB_SUBJECTS,        [SPACE_SCHEMA] = DB_SCHEMAS,
    [SPACE_SCHEMA_HASH] = DB_SCHEMA_HASH,
};

static void start(struct key *k, enum engine_db db)
{
    k->bytes[0] = (uint8_t)db;
    k->len = 1;
}

static void add_u8(struct key *k, uint8_t v)
{
    k->bytes[k->len++] = v;
}

static void add_u32(struct key *k, uint32_t v)
{
    put_be32(k->bytes + k->len, v);
    k->len += 4;
}

static void add_u48(struct key *k, uint64_t v)
{
    put_be48(k->bytes + k->len, v);
    k->len += 6;
}

static void add_u64(struct key *k, uint64_t v)
{
    put_be64(k->bytes + k->len, v);
    k->len += 8;
}

static void add_bytes(struct key *k, struct slice s)
{
    assert(s.len <= (size_t)(KEY_MAX - k->len));
    if (s.len)
        memcpy(k->bytes + k->len, s.ptr, s.len);
    k->len = (uint16_t)(k->len + s.len);
}

enum rc key_check(const struct store_key *key, struct err *err)
{
    if (key->id.len > LIMIT_ID_MAX)
        return err_set(err, ERR_ID_TOO_LONG, "An id has at most %d bytes; this one has %zu.", LIMIT_ID_MAX,
                       key->id.len);
    if (key->id.len == 0)
        return err_set(err, ERR_BAD_TARGET, "An id has at least one byte.");
    return RC_OK;
}

enum engine_db key_db(enum space space)
{
    assert(space >= SPACE_RECORD && space <= SPACE_SCHEMA_HASH);
    return (enum engine_db)db_of_space[space];
}

static void start_space(struct key *k, enum space space, uint32_t type)
{
    start(k, key_db(space));
    if (space == SPACE_RECORD)
        add_u32(k, type);
    else
        assert(type == 0 || space == SPACE_TYPE); /* a type drop bears the number beside the name */
}

size_t key_prefix_len(enum space space)
{
    return space == SPACE_RECORD ? 5 : 1;
}

void key_of(struct key *k, const struct store_key *key)
{
    assert(key->id.len >= 1 && key->id.len <= LIMIT_ID_MAX);
    start_space(k, key->space, key->type);
    add_bytes(k, key->id);
}

void key_from(struct key *k, enum space space, uint32_t type, struct slice from)
{
    if (from.len > LIMIT_ID_MAX) { /* no id is that long: those above it are those above its cut */
        key_after(k, space, type, slice_of(from.ptr, LIMIT_ID_MAX));
        return;
    }
    start_space(k, space, type);
    add_bytes(k, from);
}

void key_after(struct key *k, enum space space, uint32_t type, struct slice id)
{
    start_space(k, space, type);
    add_bytes(k, id);
    add_u8(k, 0);
}

void key_meta(struct key *k, struct slice name)
{
    start(k, DB_META);
    add_bytes(k, name);
}

void key_counts(struct key *k, uint32_t type)
{
    start(k, DB_COUNTS);
    add_u32(k, type);
}

void key_record_prefix(struct key *k, uint32_t type)
{
    start_space(k, SPACE_RECORD, type);
}

void key_chunk(uint8_t out[KEY_CHUNK_BYTES], uint64_t blob, uint32_t index)
{
    out[0] = DB_CHUNKS;
    put_be64(out + 1, blob);
    put_be32(out + 9, index);
}

void key_expiry(struct key *k, int64_t time_ms, enum expiry_kind kind, uint32_t type, struct slice id)
{
    assert(time_ms >= 0);
    start(k, DB_EXPIRY);
    add_u64(k, (uint64_t)time_ms);
    add_u8(k, (uint8_t)kind);
    add_u32(k, type);
    add_bytes(k, id);
}

void key_used_prefix(struct key *k, uint32_t type)
{
    start(k, DB_USED);
    add_u32(k, type);
}

void key_used(struct key *k, uint32_t type, int64_t time_ms, struct slice id)
{
    assert(time_ms >= 0 && time_ms < (int64_t)1 << 48);
    key_used_prefix(k, type);
    add_u48(k, (uint64_t)time_ms);
    add_bytes(k, id);
}

void key_idem(struct key *k, struct slice key)
{
    assert(key.len == STORE_IDEM_KEY_BYTES);
    start(k, DB_IDEM);
    add_bytes(k, key);
}

void key_trash(struct key *k, enum trash_kind kind, uint64_t number)
{
    start(k, DB_TRASH);
    add_u8(k, (uint8_t)kind);
    add_u64(k, number);
}
