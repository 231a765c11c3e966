/* storage/check_records.c - every record: its head and checksum, its chunks, its row of expiry; and what each type counts. */
#include <assert.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "storage/check.h"
#include "storage/counts.h"
#include "storage/head.h"
#include "storage/overlay.h"

enum { AT_ID = 4 };

/* What is added up while a type's records pass. */
struct tally {
    uint32_t type; /* 0: none yet */
    bool lives, dying;
    struct store_count count;
};

struct walk_records {
    struct checker k; /* first: a row's function gets this */
    struct tally tally;
};

/* ---- a type ---- */

static enum rc type_begin(struct checker *k, struct tally *t, uint32_t type)
{
    *t = (struct tally){.type = type, .lives = check_lives(k, type)};
    return check_is_dying(k, type, &t->dying);
}

static enum rc type_end(struct checker *k, const struct tally *t)
{
    struct store_count said = {0};
    struct key key;
    struct slice row;
    if (!t->type)
        return RC_OK;
    if (!t->lives && !t->dying)
        store_check_fault(k->c, FAULT_ORPHAN, t->type, (struct slice){0},
                          "%llu records belong to type number %u, which is not there.",
                          (unsigned long long)t->count.records, t->type);
    if (!t->lives)
        return RC_OK;
    key_counts(&key, t->type);
    enum rc rc = check_get(k, &key, &row);
    if (rc == RC_ERR)
        return rc;
    if (rc == RC_OK && !counts_decode(row, &said))
        return RC_OK; /* told by check_counts */
    if (said.records != t->count.records || said.bytes != t->count.bytes)
        store_check_fault(k->c, FAULT_COUNTS, t->type, (struct slice){0},
                          "The type counts %llu records of %llu bytes, and has %llu of %llu.",
                          (unsigned long long)said.records, (unsigned long long)said.bytes,
                          (unsigned long long)t->count.records, (unsigned long long)t->count.bytes);
    if (said.used != t->count.used)
        store_check_fault(k->c, FAULT_COUNTS, t->type, (struct slice){0},
                          "The type counts %llu records that were used, and has %llu.",
                          (unsigned long long)said.used, (unsigned long long)t->count.used);
    return RC_OK;
}

/* ---- a body in chunks ---- */

/* The chunk under this key, on from the one before it. */
static enum rc chunk_next(struct checker *k, uint64_t blob, uint32_t index, struct slice *chunk)
{
    uint8_t want[KEY_CHUNK_BYTES];
    struct slice key;
    key_chunk(want, blob, index);
    enum rc rc = index ? k->ops->next(k->look, &key, chunk, k->err)
                       : k->ops->seek(k->look, slice_of(want, sizeof want), &key, chunk, k->err);
    if (rc != RC_OK)
        return rc;
    return slice_eq(key, slice_of(want + 1, sizeof want - 1)) ? RC_OK : RC_NOTFOUND;
}

/* RC_NOTFOUND: it is not whole, which was told. */
static enum rc join(struct checker *k, const struct store_key *key, struct record *rec)
{
    uint32_t n = chunks_of(rec->body_bytes);
    struct slice chunk;
    enum rc rc = RC_OK;
    k->body.len = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t rest = rec->body_bytes - (uint64_t)i * LIMIT_CHUNK_BYTES;
        if ((rc = chunk_next(k, rec->blob, i, &chunk)) == RC_ERR)
            return rc;
        if (rc != RC_OK || chunk.len != (rest < LIMIT_CHUNK_BYTES ? rest : LIMIT_CHUNK_BYTES)) {
            store_check_fault(
                k->c, FAULT_CHUNKS, key->type, key->id, "Chunk %u of %u of its body (blob %llu) %s.", i, n,
                (unsigned long long)rec->blob, rc == RC_OK ? "has the wrong length" : "is missing");
            return RC_NOTFOUND;
        }
        if (!buf_append(&k->body, chunk))
            return err_oom(k->err);
    }
    if ((rc = chunk_next(k, rec->blob, n, &chunk)) == RC_OK)
        store_check_fault(k->c, FAULT_CHUNKS, key->type, key->id,
                          "Its body (blob %llu) has more chunks than its %u.", (unsigned long long)rec->blob,
                          n);
    rec->body = buf_slice(&k->body);
    return rc == RC_ERR ? rc : RC_OK;
}

/* ---- a record ---- */

static enum rc check_its_expiry(struct checker *k, const struct store_key *key, const struct record *rec)
{
    struct key row;
    struct slice value;
    if (!rec->expires_ms)
        return RC_OK;
    key_expiry(&row, rec->expires_ms, EXPIRY_RECORD, key->type, key->id);
    enum rc rc = check_get(k, &row, &value);
    if (rc == RC_NOTFOUND)
        store_check_fault(k->c, FAULT_EXPIRY, key->type, key->id,
                          "It ends at %lld ms, and has no row of expiry: it would never be removed.",
                          (long long)rec->expires_ms);
    return rc == RC_ERR ? rc : RC_OK;
}

static enum rc check_its_use(struct checker *k, struct tally *t, const struct store_key *key,
                             const struct record *rec)
{
    struct key row;
    bool has;
    if (!rec->used_ms)
        return RC_OK;
    t->count.used++;
    key_used(&row, key->type, rec->used_ms, key->id);
    if (check_has(k, &row, &has) != RC_OK)
        return RC_ERR;
    if (!has)
        store_check_fault(k->c, FAULT_USED, key->type, key->id,
                          "It was last used at %lld ms, and has no row of that.", (long long)rec->used_ms);
    return RC_OK;
}

static enum rc look_at_body(struct checker *k, const struct tally *t, const struct store_key *key,
                            struct slice value, struct record *rec)
{
    bool right = head_verify(value);
    enum rc rc = RC_OK;
    if (rec->blob) {
        check_mark_blob(k, rec->blob, key->type, key->id);
        k->c->blobs++;
        rc = join(k, key, rec);
        right = right && (rc != RC_OK || head_verify_chunks(value, crc32c(0, rec->body)));
    }
    if (!right)
        store_check_fault(k->c, FAULT_CHECKSUM, key->type, key->id,
                          "Its bytes are not those that were stored.");
    if (rc != RC_OK || !t->lives)
        return rc == RC_ERR ? rc : RC_OK;
    record_show_packed(rec);
    return k->c->record(k->c, key, rec, k->err);
}

static enum rc look_at(struct checker *k, struct tally *t, const struct store_key *key, struct slice value)
{
    struct record rec;
    if (!head_decode(value, &rec)) {
        store_check_fault(k->c, FAULT_HEAD, key->type, key->id, "Its head is damaged.");
        t->count.records++; /* it was counted, whatever it was */
        return RC_OK;
    }
    t->count.records++;
    t->count.bytes += rec.body_bytes;
    k->c->records += t->lives;
    k->c->bytes += t->lives ? rec.body_bytes : 0;
    if (rec.revision > k->state.revision)
        store_check_fault(k->c, FAULT_NUMBER, key->type, key->id,
                          "Its revision %llu was not given yet: the newest is %llu.",
                          (unsigned long long)rec.revision, (unsigned long long)k->state.revision);
    if (check_its_expiry(k, key, &rec) != RC_OK || check_its_use(k, t, key, &rec) != RC_OK)
        return RC_ERR;
    return look_at_body(k, t, key, value, &rec);
}

static bool key_of_row(struct slice key, struct store_key *out)
{
    if (key.len <= AT_ID || key.len - AT_ID > LIMIT_ID_MAX)
        return false;
    *out = (struct store_key){
        .space = SPACE_RECORD, .type = get_be32(key.ptr), .id = slice_of(key.ptr + AT_ID, key.len - AT_ID)};
    return true;
}

static enum rc on_record(struct checker *k, struct slice row, struct slice value)
{
    struct tally *t = &CONTAINER_OF(k, struct walk_records, k)->tally;
    struct store_key key;
    if (!key_of_row(row, &key)) {
        store_check_fault(k->c, FAULT_HEAD, 0, row, "It is no record's key.");
        return RC_OK;
    }
    if (key.type != t->type && (type_end(k, t) != RC_OK || type_begin(k, t, key.type) != RC_OK))
        return RC_ERR;
    return look_at(k, t, &key, value);
}

enum rc check_records(struct checker *k)
{
    struct walk_records w = {.k = *k};
    enum rc rc = check_walk(&w.k, DB_RECORDS, on_record);
    if (rc == RC_OK)
        rc = type_end(&w.k, &w.tally);
    *k = w.k;
    return rc;
}

/* ---- blobs of another window ---- */

static enum rc mark_record(struct checker *k, struct slice row, struct slice value)
{
    struct store_key key;
    struct record rec;
    if (key_of_row(row, &key) && head_decode(value, &rec) && rec.blob)
        check_mark_blob(k, rec.blob, key.type, key.id);
    return RC_OK;
}

enum rc check_mark_records(struct checker *k)
{
    uint64_t rows = k->c->rows;
    enum rc rc = check_walk(k, DB_RECORDS, mark_record);
    k->c->rows = rows;
    return rc;
}
