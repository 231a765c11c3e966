/* storage/stage.c - reading through the overlay, and staging a put or a delete with its head, counts and
 * expiry. */
#include "storage/stage.h"

#include <assert.h>

#include "base/crc32c.h"
#include "base/hash.h"
#include "storage/counts.h"
#include "storage/head.h"

bool stage_live(const struct decider *d, const struct store_key *key)
{
    if (key->space != SPACE_RECORD)
        return true;
    bool given = key->type != 0 && (key->type < d->next.next_type || d->next.next_type == 0);
    return given && !dead_has(d->dead, key->type);
}

/* The entry of an engine key, read from the snapshot when the group meets the key for the first time. */
static enum rc entry_of(struct decider *d, struct slice key, struct staged **out, struct err *err)
{
    uint64_t hash = hash_bytes(key);
    struct staged *s = overlay_find(&d->overlay, key, hash);
    if (!s) {
        struct slice value;
        enum rc rc = d->ops->get(d->snap, key, &value, err);
        if (rc == RC_ERR)
            return rc;
        s = overlay_add(&d->overlay, key, hash, rc == RC_OK ? &value : NULL);
        if (!s)
            return err_oom(err);
    }
    *out = s;
    return RC_OK;
}

static enum rc damaged(const struct store_key *key, struct err *err)
{
    return err_set(err, ERR_IO, "A stored record of type number %u has a damaged head.", (unsigned)key->type);
}

/* Memory of the group to put a body together in; NULL: there is none, and why. */
static uint8_t *join_memory(struct decider *d, uint64_t bytes, struct err *err)
{
    if (d->joined_bytes + bytes > LIMIT_GROUP_JOINED_MAX) {
        d->joined_full = true;
        err_set(err, ERR_RECORD_TOO_LARGE, "A write reads records of at most %d bytes together.",
                LIMIT_GROUP_JOINED_MAX);
        return NULL;
    }
    uint8_t *p = arena_alloc(&d->overlay.arena, bytes + 1);
    if (!p)
        err_oom(err);
    else
        d->joined_bytes += bytes;
    return p;
}

static enum rc join_parts(struct decider *d, const struct slice *part, unsigned n, struct slice *out,
                          struct err *err)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < n; i++)
        bytes += part[i].len;
    for (unsigned i = 0; i < n; i++)
        if (part[i].len == bytes && part[i].ptr) {
            *out = part[i];
            return RC_OK;
        }
    uint8_t *whole = join_memory(d, bytes, err);
    if (!whole)
        return RC_ERR;
    size_t at = 0;
    for (unsigned i = 0; i < n; i++) {
        if (part[i].len)
            memcpy(whole + at, part[i].ptr, part[i].len);
        at += part[i].len;
    }
    *out = slice_of(whole, bytes);
    return RC_OK;
}

/* The parts of a value of which `skip` bytes of part[0] are no body, in one piece. */
static enum rc join(struct decider *d, const struct staged_value *v, size_t skip, struct slice *out,
                    struct err *err)
{
    struct slice piece[4];
    memcpy(piece, v->part, sizeof piece);
    piece[0] = slice_of(piece[0].ptr + (piece[0].ptr ? skip : 0), piece[0].len - skip);
    return join_parts(d, piece, 4, out, err);
}

/* A body in chunks, from the snapshot. */
static enum rc join_chunks(struct decider *d, const struct record *rec, struct slice *out, struct err *err)
{
    uint8_t key[KEY_CHUNK_BYTES], *whole = join_memory(d, rec->body_bytes, err);
    if (!whole)
        return RC_ERR;
    uint64_t at = 0;
    for (uint32_t i = 0; at < rec->body_bytes; i++) {
        uint64_t rest = rec->body_bytes - at;
        struct slice chunk;
        key_chunk(key, rec->blob, i);
        enum rc rc = d->ops->get(d->snap, slice_of(key, sizeof key), &chunk, err);
        if (rc == RC_ERR)
            return rc;
        if (rc != RC_OK || chunk.len != (rest < LIMIT_CHUNK_BYTES ? rest : LIMIT_CHUNK_BYTES))
            return err_set(err, ERR_IO, "A stored body lacks its chunk number %u.", (unsigned)i);
        memcpy(whole + at, chunk.ptr, chunk.len);
        at += chunk.len;
    }
    *out = slice_of(whole, rec->body_bytes);
    return RC_OK;
}

enum rc stage_look(struct decider *d, const struct store_key *key, struct view *v, struct err *err)
{
    struct key k;
    key_of(&k, key);
    v->key = key;
    v->visible = false;
    if (entry_of(d, key_slice(&k), &v->entry, err) != RC_OK)
        return RC_ERR;
    const struct staged_value *value = v->entry->value;
    if (!value)
        return RC_OK;
    uint64_t bytes = parts_bytes(value->part);
    if (key->space != SPACE_RECORD) {
        v->visible = true;
        v->rec = (struct record){.body_bytes = bytes};
        return RC_OK;
    }
    struct slice first = value->part[0];
    if (!head_decode(first, &v->rec))
        return damaged(key, err);
    v->rec.body_bytes += bytes - first.len;
    v->visible = !v->rec.expires_ms || v->rec.expires_ms > d->now_ms;
    return RC_OK;
}

/* As it is stored. */
static enum rc stored_body(struct decider *d, const struct view *v, struct slice *out, struct err *err)
{
    const struct staged_value *value = v->entry->value;
    if (value->blob)
        return join_parts(d, value->blob->chunks.part, 3, out, err);
    if (v->rec.blob)
        return join_chunks(d, &v->rec, out, err);
    size_t skip = v->key->space == SPACE_RECORD ? value->part[0].len - v->rec.body.len : 0;
    return join(d, value, skip, out, err);
}

static COLD enum rc unpack(struct decider *d, struct slice packed, uint64_t bytes, struct slice *out,
                           struct err *err)
{
    if (!d->unpack)
        return err_set(err, ERR_IO, "A stored record is compressed, and nothing here can undo that.");
    uint8_t *whole = join_memory(d, bytes, err);
    if (!whole || d->unpack(packed, whole, bytes, err) != RC_OK)
        return RC_ERR;
    *out = slice_of(whole, bytes);
    return RC_OK;
}

enum rc stage_body(struct decider *d, const struct view *v, struct record *out, struct err *err)
{
    *out = v->rec;
    if (stored_body(d, v, &out->body, err) != RC_OK)
        return RC_ERR;
    if (unlikely(out->packed_bytes) && unpack(d, out->body, out->packed_bytes, &out->body, err) != RC_OK)
        return RC_ERR;
    out->body_bytes = out->body.len;
    out->blob = out->packed_bytes = 0; /* it is whole */
    return RC_OK;
}

enum rc stage_check_size(const struct store_key *key, uint64_t body, struct slice content_type,
                         uint32_t record_max, struct err *err)
{
    if (key->space != SPACE_RECORD) {
        if (body > LIMIT_RECORD_MAX)
            return err_set(err, ERR_RECORD_TOO_LARGE,
                           "A row of the catalog has at most %d bytes; this one has %llu.", LIMIT_RECORD_MAX,
                           (unsigned long long)body);
        return RC_OK;
    }
    if (content_type.len > HEAD_CONTENT_TYPE_MAX)
        return err_set(err, ERR_BAD_REQUEST, "A kept content type has at most %d bytes.",
                       HEAD_CONTENT_TYPE_MAX);
    if (body > record_max)
        return err_set(err, ERR_RECORD_TOO_LARGE, "A record has at most %u bytes of Avro; this one has %llu.",
                       record_max, (unsigned long long)body);
    return RC_OK;
}

enum rc stage_row(struct decider *d, struct slice key, struct slice value, struct err *err)
{
    struct staged *s = NULL;
    if (entry_of(d, key, &s, err) != RC_OK)
        return RC_ERR;
    struct slice parts[4] = {value};
    return overlay_set(&d->overlay, s, value.ptr ? parts : NULL) ? RC_OK : err_oom(err);
}

enum rc stage_trash(struct decider *d, enum trash_kind kind, uint64_t number, int64_t died_ms,
                    struct err *err)
{
    struct key k;
    uint8_t *died = arena_alloc(&d->overlay.arena, TRASH_BYTES);
    if (!died)
        return err_oom(err);
    put_le64(died, (uint64_t)died_ms);
    key_trash(&k, kind, number);
    d->trashed = true;
    return stage_row(d, key_slice(&k), slice_of(died, TRASH_BYTES), err);
}

/* Died at the beginning of time: nobody can be reading what was never referred to. */
enum rc stage_chunks(struct decider *d, const struct chunks *c, struct err *err)
{
    static const uint8_t died[TRASH_BYTES] = {0};
    const struct slice row[4] = {slice_of(died, sizeof died)};
    struct staged *s = NULL;
    struct key k;
    key_trash(&k, TRASH_BLOB, c->blob);
    if (entry_of(d, key_slice(&k), &s, err) != RC_OK)
        return RC_ERR;
    return overlay_set_chunked(&d->overlay, s, row, c) ? RC_OK : err_oom(err);
}

/* What a record's body was kept in is no one's any more. A blob of this very group was never stored. */
static enum rc drop_blob(struct decider *d, const struct record *old, struct err *err)
{
    if (old->blob == 0 || old->blob >= d->state.next_blob)
        return RC_OK;
    return stage_trash(d, TRASH_BLOB, old->blob, d->trash_now_ms, err);
}

enum rc stage_read_row(struct decider *d, struct slice key, struct slice *value, struct err *err)
{
    struct staged *s = NULL;
    if (entry_of(d, key, &s, err) != RC_OK)
        return RC_ERR;
    return s->value ? join(d, s->value, 0, value, err) : RC_NOTFOUND;
}

/* The row of a type's counts, looked up once for all of a group's writes that follow each other in a type. */
static enum rc counts_of(struct decider *d, uint32_t type, struct staged **out, struct err *err)
{
    struct key k;
    if (!d->counts || d->counts_type != type) {
        d->counts = NULL;
        key_counts(&k, type);
        if (entry_of(d, key_slice(&k), &d->counts, err) != RC_OK)
            return RC_ERR;
        d->counts_type = type;
    }
    *out = d->counts;
    return RC_OK;
}

static enum rc counts_read(struct decider *d, uint32_t type, struct staged **s, struct store_count *c,
                           struct err *err)
{
    *c = (struct store_count){0};
    if (counts_of(d, type, s, err) != RC_OK)
        return RC_ERR;
    if ((*s)->value && !counts_decode((*s)->value->part[0], c)) /* never staged in more than one part */
        return err_set(err, ERR_IO, "The counts of type number %u are damaged.", (unsigned)type);
    return RC_OK;
}

static enum rc counts_write(struct decider *d, struct staged *s, const struct store_count *c, struct err *err)
{
    uint8_t *value = arena_alloc(&d->overlay.arena, COUNTS_LIMITED_BYTES);
    if (!value)
        return err_oom(err);
    const struct slice parts[4] = {slice_of(value, counts_encode(c, value))};
    d->crowded |= c->bytes_max && c->bytes > c->bytes_max;
    return overlay_set(&d->overlay, s, parts) ? RC_OK : err_oom(err);
}

/* Move a type's counts. */
static enum rc count(struct decider *d, uint32_t type, int64_t records, int64_t bytes, int64_t used,
                     struct err *err)
{
    struct staged *s = NULL;
    struct store_count c;
    if (!records && !bytes && !used)
        return RC_OK;
    if (counts_read(d, type, &s, &c, err) != RC_OK)
        return RC_ERR;
    c.records += (uint64_t)records;
    c.bytes += (uint64_t)bytes;
    c.used += (uint64_t)used;
    return counts_write(d, s, &c, err);
}

enum rc stage_limit(struct decider *d, uint32_t type, uint64_t bytes_max, struct err *err)
{
    struct staged *s = NULL;
    struct store_count c;
    if (counts_read(d, type, &s, &c, err) != RC_OK)
        return RC_ERR;
    if (!type_limits_add(&d->limits, type, c.bytes, bytes_max))
        return err_oom(err);
    c.bytes_max = bytes_max;
    if (counts_write(d, s, &c, err) != RC_OK)
        return RC_ERR;
    d->crowded = true;
    return RC_OK;
}

/* Replace a record's expiry row. */
static enum rc expire(struct decider *d, const struct store_key *key, int64_t old_ms, int64_t fresh_ms,
                      struct err *err)
{
    struct key k;
    if (old_ms == fresh_ms)
        return RC_OK;
    if (old_ms) {
        key_expiry(&k, old_ms, EXPIRY_RECORD, key->type, key->id);
        if (stage_row(d, key_slice(&k), (struct slice){NULL, 0}, err) != RC_OK)
            return RC_ERR;
    }
    if (!fresh_ms)
        return RC_OK;
    if (!d->expires_ms || fresh_ms < d->expires_ms)
        d->expires_ms = fresh_ms;
    key_expiry(&k, fresh_ms, EXPIRY_RECORD, key->type, key->id);
    return stage_row(d, key_slice(&k), SLICE(""), err);
}

/* Replace a record's row in `used`. */
static enum rc use(struct decider *d, const struct store_key *key, int64_t old_ms, int64_t fresh_ms,
                   struct err *err)
{
    struct key k;
    if (old_ms == fresh_ms)
        return RC_OK;
    if (old_ms) {
        key_used(&k, key->type, old_ms, key->id);
        if (stage_row(d, key_slice(&k), (struct slice){NULL, 0}, err) != RC_OK)
            return RC_ERR;
    }
    if (!fresh_ms)
        return RC_OK;
    key_used(&k, key->type, fresh_ms, key->id);
    return stage_row(d, key_slice(&k), SLICE(""), err);
}

static enum rc untrash(struct decider *d, uint64_t blob, struct err *err)
{
    struct key k;
    key_trash(&k, TRASH_BLOB, blob);
    return stage_row(d, key_slice(&k), (struct slice){NULL, 0}, err);
}

/* Stage head and body, in one value if it fits a page, else the body in chunks. False: memory is out. */
static bool set_record(struct decider *d, struct staged *s, struct record *r, const struct fresh *f)
{
    bool whole = head_size(r) + r->body_bytes <= LIMIT_RECORD_INLINE_MAX;
    r->blob = whole ? 0 : f->blob ? f->blob : d->next.next_blob++;
    uint8_t *head = arena_alloc(&d->overlay.arena, head_size(r));
    if (!head)
        return false;
    struct slice parts[4] = {slice_of(head, head_encode(r, f->body_crc, head))};
    if (!whole)
        return overlay_set_chunked(&d->overlay, s, parts,
                                   &(struct chunks){.blob = r->blob,
                                                    .part = {f->part[0], f->part[1], f->part[2]},
                                                    .first = f->laid,
                                                    .n = chunks_of(r->body_bytes) - f->laid});
    memcpy(parts + 1, f->part, sizeof f->part);
    return overlay_set(&d->overlay, s, parts);
}

static enum rc put_record(struct decider *d, const struct view *v, const struct fresh *f, uint64_t revision,
                          struct err *err)
{
    struct record r = {
        .revision = revision,
        .created_ms = v->visible ? v->rec.created_ms : d->now_ms,
        .updated_ms = d->now_ms,
        .expires_ms = f->expires_ms,
        .schema_id = f->schema_id,
        .content_type = f->content_type,
        .packed_bytes = f->plain_bytes,
    };
    bool was = v->entry->value != NULL;
    r.body_bytes = (uint64_t)f->part[0].len + f->part[1].len + f->part[2].len;
    if (type_limits_admit(d, v, r.body_bytes, &r.used_ms, err) != RC_OK)
        return RC_ERR;
    if (!set_record(d, v->entry, &r, f))
        return err_oom(err);
    if (f->blob && untrash(d, f->blob, err) != RC_OK)
        return RC_ERR;
    int64_t more = (int64_t)r.body_bytes - (was ? (int64_t)v->rec.body_bytes : 0);
    int64_t was_used_ms = was ? v->rec.used_ms : 0;
    if (count(d, v->key->type, !was, more, !!r.used_ms - !!was_used_ms, err) != RC_OK ||
        (was && drop_blob(d, &v->rec, err) != RC_OK) || use(d, v->key, was_used_ms, r.used_ms, err) != RC_OK)
        return RC_ERR;
    return expire(d, v->key, was ? v->rec.expires_ms : 0, f->expires_ms, err);
}

enum rc stage_put(struct decider *d, const struct view *v, const struct fresh *f, uint64_t revision,
                  struct err *err)
{
    if (v->key->space == SPACE_RECORD)
        return put_record(d, v, f, revision, err);
    struct slice parts[4] = {f->part[0], f->part[1], f->part[2]};
    return overlay_set(&d->overlay, v->entry, parts) ? RC_OK : err_oom(err);
}

/* The longer head may leave no room for the body behind it: then that moves to chunks. False: memory is out. */
static bool set_used(struct decider *d, const struct view *v, int64_t used_ms)
{
    const struct slice value = v->entry->value->part[0], body = v->rec.blob ? (struct slice){0} : v->rec.body;
    uint8_t *head = arena_alloc(&d->overlay.arena, HEAD_MAX);
    if (!head)
        return false;
    size_t bytes = head_encode_used(value, used_ms, head);
    if (bytes + body.len > LIMIT_RECORD_INLINE_MAX) {
        struct record r = v->rec;
        r.used_ms = used_ms;
        return set_record(d, v->entry, &r, &(struct fresh){.part = {body}, .body_crc = crc32c(0, body)});
    }
    const struct slice parts[4] = {slice_of(head, bytes), body};
    return overlay_set(&d->overlay, v->entry, parts);
}

enum rc stage_touch(struct decider *d, const struct view *v, int64_t used_ms, struct err *err)
{
    assert(!v->entry->dirty && v->entry->value);
    if (!set_used(d, v, used_ms))
        return err_oom(err);
    if (!v->rec.used_ms && count(d, v->key->type, 0, 0, 1, err) != RC_OK)
        return RC_ERR;
    return use(d, v->key, v->rec.used_ms, used_ms, err);
}

enum rc stage_delete(struct decider *d, const struct view *v, struct err *err)
{
    assert(v->entry->value);
    if (!overlay_set(&d->overlay, v->entry, NULL))
        return err_oom(err);
    if (v->key->space != SPACE_RECORD)
        return RC_OK;
    if (count(d, v->key->type, -1, -(int64_t)v->rec.body_bytes, -!!v->rec.used_ms, err) != RC_OK ||
        drop_blob(d, &v->rec, err) != RC_OK || use(d, v->key, v->rec.used_ms, 0, err) != RC_OK)
        return RC_ERR;
    return expire(d, v->key, v->rec.expires_ms, 0, err);
}

/* ---- types ---- */

enum rc stage_count(struct decider *d, uint32_t type, struct store_count *out, struct err *err)
{
    struct key k;
    struct slice row;
    *out = (struct store_count){0};
    key_counts(&k, type);
    enum rc rc = stage_read_row(d, key_slice(&k), &row, err);
    if (rc == RC_OK && !counts_decode(row, out))
        return err_set(err, ERR_IO, "The counts of type number %u are damaged.", (unsigned)type);
    return rc == RC_ERR ? RC_ERR : RC_OK;
}

enum rc stage_type_drop(struct decider *d, const struct view *row, uint32_t type, struct err *err)
{
    if (!dead_reserve(d->dead, type))
        return err_oom(err);
    if (stage_delete(d, row, err) != RC_OK || stage_trash(d, TRASH_TYPE, type, d->trash_now_ms, err) != RC_OK)
        return RC_ERR;
    d->dropped = type;
    return RC_OK;
}
