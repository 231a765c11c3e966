/* storage/check_rows.c - counts, the trash, expiry and idempotency keys: rows that must agree with others. */
#include "base/bytes.h"
#include "storage/check.h"
#include "storage/counts.h"
#include "storage/head.h"
#include "storage/idem.h"

/* ---- counts ---- */

/* Has it a record at all? Those of which it has were added up already. */
static enum rc has_records(struct checker *k, uint32_t type, bool *out)
{
    struct key prefix;
    struct slice key, value;
    key_record_prefix(&prefix, type);
    enum rc rc = k->ops->seek(k->look, key_slice(&prefix), &key, &value, k->err);
    *out = rc == RC_OK && slice_starts(key, slice_of(prefix.bytes + 1, prefix.len - 1U));
    return rc == RC_ERR ? rc : RC_OK;
}

static enum rc on_counts(struct checker *k, struct slice key, struct slice value)
{
    struct store_count c;
    bool dying, has;
    if (key.len != 4 || !counts_decode(value, &c)) {
        store_check_fault(k->c, FAULT_COUNTS, key.len == 4 ? get_be32(key.ptr) : 0, key,
                          "The row is damaged.");
        return RC_OK;
    }
    uint32_t type = get_be32(key.ptr);
    if (check_is_dying(k, type, &dying) != RC_OK || has_records(k, type, &has) != RC_OK)
        return RC_ERR;
    if (!check_lives(k, type) && !dying)
        store_check_fault(k->c, FAULT_ORPHAN, type, (struct slice){0},
                          "Type number %u is counted, and is not there.", type);
    else if (!dying && !has && (c.records || c.bytes))
        store_check_fault(k->c, FAULT_COUNTS, type, (struct slice){0},
                          "The type counts %llu records of %llu bytes, and has none.",
                          (unsigned long long)c.records, (unsigned long long)c.bytes);
    if (check_lives(k, type) && c.bytes_max != k->c->type_limit(k->c, type))
        store_check_fault(k->c, FAULT_COUNTS, type, (struct slice){0},
                          "The limit beside its counts is %llu, and its own %llu.",
                          (unsigned long long)c.bytes_max, (unsigned long long)k->c->type_limit(k->c, type));
    return RC_OK;
}

enum rc check_counts(struct checker *k)
{
    return check_walk(k, DB_COUNTS, on_counts);
}

/* ---- trash ---- */

struct walk_trash {
    struct checker k;
    uint64_t after; /* numbers of dead types in ranges begin above this */
};

static bool was_given(uint64_t number, uint64_t next)
{
    return number && (!next || number < next);
}

static void on_dead_type(struct checker *k, uint64_t number, struct slice key)
{
    if (number > UINT32_MAX || !was_given(number, k->state.next_type))
        store_check_fault(k->c, FAULT_NUMBER, 0, key,
                          "Type number %llu is being removed, and was not given yet.",
                          (unsigned long long)number);
    else if (check_lives(k, (uint32_t)number))
        store_check_fault(k->c, FAULT_TRASH, (uint32_t)number, (struct slice){0},
                          "The type is there, and is being removed.");
}

static enum rc on_dead_blob(struct checker *k, uint64_t number, struct slice key)
{
    uint8_t first[KEY_CHUNK_BYTES];
    struct slice chunk, value;
    if (!was_given(number, k->state.next_blob)) {
        store_check_fault(k->c, FAULT_NUMBER, 0, key, "Blob %llu is to be removed, and was not given yet.",
                          (unsigned long long)number);
        return RC_OK;
    }
    check_mark_blob(k, number, 0, key);
    key_chunk(first, number, 0);
    enum rc rc = k->ops->seek(k->look, slice_of(first, sizeof first), &chunk, &value, k->err);
    if (rc != RC_ERR && (rc != RC_OK || chunk.len < 8 || get_be64(chunk.ptr) != number))
        store_check_fault(k->c, FAULT_TRASH, 0, key, "Blob %llu is to be removed, and is not there.",
                          (unsigned long long)number);
    return rc == RC_ERR ? rc : RC_OK;
}

static void on_dead_range(struct checker *k, uint64_t first, uint64_t last, struct slice key)
{
    struct walk_trash *w = CONTAINER_OF(k, struct walk_trash, k);
    if (!first || first > last || last > UINT32_MAX || !was_given(last, k->state.next_type)) {
        store_check_fault(k->c, FAULT_TRASH, 0, key,
                          "The numbers of removed types from %llu to %llu are none.",
                          (unsigned long long)first, (unsigned long long)last);
        return;
    }
    if (w->after && first <= w->after + 1)
        store_check_fault(k->c, FAULT_TRASH, 0, key, "Two ranges of removed types meet at %llu.",
                          (unsigned long long)first);
    w->after = last;
    uint32_t type = k->c->next_type(k->c, (uint32_t)first);
    if (type && type <= last)
        store_check_fault(k->c, FAULT_TRASH, type, (struct slice){0},
                          "The type is there, and its number is of one removed.");
}

static enum rc on_trash(struct checker *k, struct slice key, struct slice value)
{
    if (key.len != 1 + 8 || value.len < TRASH_BYTES || key.ptr[0] < TRASH_TYPE || key.ptr[0] > TRASH_PURGED) {
        store_check_fault(k->c, FAULT_TRASH, 0, key, "The row is damaged.");
        return RC_OK;
    }
    uint64_t number = get_be64(key.ptr + 1);
    if (key.ptr[0] == TRASH_BLOB)
        return on_dead_blob(k, number, key);
    if (key.ptr[0] == TRASH_TYPE)
        on_dead_type(k, number, key);
    else
        on_dead_range(k, get_le64(value.ptr), number, key);
    return RC_OK;
}

enum rc check_trash(struct checker *k)
{
    struct walk_trash w = {.k = *k};
    enum rc rc = check_walk(&w.k, DB_TRASH, on_trash);
    *k = w.k;
    return rc;
}

static enum rc mark_trash(struct checker *k, struct slice key, struct slice value)
{
    (void)value;
    if (key.len == 1 + 8 && key.ptr[0] == TRASH_BLOB)
        check_mark_blob(k, get_be64(key.ptr + 1), 0, key);
    return RC_OK;
}

enum rc check_mark_trash(struct checker *k)
{
    uint64_t rows = k->c->rows;
    enum rc rc = check_walk(k, DB_TRASH, mark_trash);
    k->c->rows = rows;
    return rc;
}

/* ---- expiry, idem ---- */

enum { AT_KIND = 8, AT_TYPE = 9, AT_ID = 13 };

static enum rc record_ends(struct checker *k, const struct store_key *key, uint64_t time_ms)
{
    struct key row;
    struct slice value;
    struct record rec;
    key_of(&row, key);
    enum rc rc = check_get(k, &row, &value);
    if (rc == RC_OK && !head_decode(value, &rec))
        return RC_OK; /* told before */
    if (rc != RC_ERR && (rc != RC_OK || (uint64_t)rec.expires_ms != time_ms))
        store_check_fault(k->c, FAULT_EXPIRY, key->type, key->id,
                          "A row of expiry says that it ends at %llu ms: %s.", (unsigned long long)time_ms,
                          rc == RC_OK ? "it does not" : "it is not there");
    return rc == RC_ERR ? rc : RC_OK;
}

static enum rc idem_ends(struct checker *k, struct slice id, uint64_t time_ms)
{
    struct key row;
    struct slice value;
    int64_t expires_ms = 0;
    if (id.len != STORE_IDEM_KEY_BYTES) {
        store_check_fault(k->c, FAULT_EXPIRY, 0, id, "The row of an idempotency key is damaged.");
        return RC_OK;
    }
    key_idem(&row, id);
    enum rc rc = check_get(k, &row, &value);
    if (rc == RC_OK && !idem_row_expires(value, &expires_ms))
        return RC_OK; /* told by check_idem */
    if (rc != RC_ERR && (rc != RC_OK || (uint64_t)expires_ms != time_ms))
        store_check_fault(k->c, FAULT_EXPIRY, 0, id,
                          "A row of expiry says that an idempotency key ends at %llu ms: %s.",
                          (unsigned long long)time_ms, rc == RC_OK ? "it does not" : "it is not there");
    return rc == RC_ERR ? rc : RC_OK;
}

static enum rc on_expiry(struct checker *k, struct slice key, struct slice value)
{
    (void)value;
    if (key.len <= AT_ID || key.len - AT_ID > LIMIT_ID_MAX || get_be64(key.ptr) > INT64_MAX ||
        (key.ptr[AT_KIND] != EXPIRY_RECORD && key.ptr[AT_KIND] != EXPIRY_IDEM)) {
        store_check_fault(k->c, FAULT_EXPIRY, 0, key, "The row is damaged.");
        return RC_OK;
    }
    uint64_t time_ms = get_be64(key.ptr);
    const struct store_key of = {.space = SPACE_RECORD,
                                 .type = get_be32(key.ptr + AT_TYPE),
                                 .id = slice_of(key.ptr + AT_ID, key.len - AT_ID)};
    return key.ptr[AT_KIND] == EXPIRY_RECORD ? record_ends(k, &of, time_ms) : idem_ends(k, of.id, time_ms);
}

enum rc check_expiry(struct checker *k)
{
    return check_walk(k, DB_EXPIRY, on_expiry);
}

/* ---- used ---- */

enum { USED_AT_TIME = 4, USED_AT_ID = 10 };

static enum rc on_used(struct checker *k, struct slice key, struct slice value)
{
    struct record rec;
    struct key row;
    if (key.len <= USED_AT_ID || key.len - USED_AT_ID > LIMIT_ID_MAX) {
        store_check_fault(k->c, FAULT_USED, 0, key, "The row is damaged.");
        return RC_OK;
    }
    const struct store_key of = {.space = SPACE_RECORD,
                                 .type = get_be32(key.ptr),
                                 .id = slice_of(key.ptr + USED_AT_ID, key.len - USED_AT_ID)};
    key_of(&row, &of);
    enum rc rc = check_get(k, &row, &value);
    if (rc == RC_OK && !head_decode(value, &rec))
        return RC_OK; /* told before */
    uint64_t time_ms = get_be48(key.ptr + USED_AT_TIME);
    if (rc != RC_ERR && (rc != RC_OK || (uint64_t)rec.used_ms != time_ms))
        store_check_fault(k->c, FAULT_USED, of.type, of.id,
                          "A row says that it was last used at %llu ms: %s.", (unsigned long long)time_ms,
                          rc == RC_OK ? "it was not" : "it is not there");
    return rc == RC_ERR ? rc : RC_OK;
}

enum rc check_used(struct checker *k)
{
    return check_walk(k, DB_USED, on_used);
}

static enum rc on_idem(struct checker *k, struct slice key, struct slice value)
{
    int64_t expires_ms;
    struct key row;
    struct slice empty;
    if (key.len != STORE_IDEM_KEY_BYTES || !idem_row_expires(value, &expires_ms)) {
        store_check_fault(k->c, FAULT_IDEM, 0, key, "The row is damaged.");
        return RC_OK;
    }
    key_expiry(&row, expires_ms, EXPIRY_IDEM, 0, key);
    enum rc rc = check_get(k, &row, &empty);
    if (rc == RC_NOTFOUND)
        store_check_fault(
            k->c, FAULT_IDEM, 0, key,
            "An idempotency key ends at %lld ms, and has no row of expiry: it would never be removed.",
            (long long)expires_ms);
    return rc == RC_ERR ? rc : RC_OK;
}

enum rc check_idem(struct checker *k)
{
    return check_walk(k, DB_IDEM, on_idem);
}
