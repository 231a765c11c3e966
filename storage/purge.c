/* storage/purge.c - one step through the trash: find what is dead, delete some of it. */
#include "storage/purge.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "storage/head.h"
#include "storage/keys.h"
#include "storage/stage.h"

enum {
    RETRY_MS = 1000,    /* after a step that failed */
    STEP_SPARE = 8,     /* rows that one decision deletes at most: a record's, or the last of a type */
    STEP_PAGES = 16,    /* and pages that it changes */
    LOOK_SHARE = 32,    /* between two looks passes this part of the time that a dead blob stays */
    KEY_NUMBER_AT = 1,  /* of a trash key, as the engine gives it: kind, number */
    KEY_TRASH_BYTES = 9 /* of it */
};

struct step {
    struct decider *d;
    struct err *err;
    unsigned rows, looks;
    uint64_t pages;
};

static bool step_full(const struct step *s)
{
    return s->rows + STEP_SPARE > LIMIT_PURGE_KEYS_MAX || s->pages + STEP_PAGES > LIMIT_PURGE_PAGES_MAX;
}

/* The first row from a key on that begins with `prefix` (which includes the database); RC_NOTFOUND. */
static enum rc first_row(struct step *s, const struct key *from, struct slice prefix, struct slice *key,
                         struct slice *value)
{
    enum rc rc = s->d->ops->seek(s->d->snap, key_slice(from), key, value, s->err);
    if (rc == RC_OK && !slice_starts(*key, slice_of(prefix.ptr + 1, prefix.len - 1)))
        return RC_NOTFOUND;
    return rc;
}

/* Delete a row; value is what it holds. */
static enum rc delete_row(struct step *s, struct slice key, struct slice value)
{
    s->rows++;
    s->pages += 1 + engine_value_pages(value.len);
    return stage_row(s->d, key, (struct slice){NULL, 0}, s->err);
}

/* ---- the trash ---- */

struct dead {
    uint64_t number;
    int64_t died_ms;
};

/* The first dead thing of a kind whose number is at least `from`; RC_NOTFOUND. */
static enum rc first_dead(struct step *s, enum trash_kind kind, uint64_t from, struct dead *out)
{
    struct key k;
    struct slice key, value;
    key_trash(&k, kind, from);
    enum rc rc = first_row(s, &k, slice_of(k.bytes, 2), &key, &value);
    if (rc != RC_OK)
        return rc;
    if (key.len != KEY_TRASH_BYTES || value.len < TRASH_BYTES)
        return err_set(s->err, ERR_IO, "A row of the trash is damaged.");
    *out = (struct dead){get_be64(key.ptr + KEY_NUMBER_AT), (int64_t)get_le64(value.ptr)};
    return RC_OK;
}

static enum rc delete_dead(struct step *s, enum trash_kind kind, uint64_t number)
{
    struct key k;
    key_trash(&k, kind, number);
    return delete_row(s, key_slice(&k), SLICE(""));
}

/* ---- types ---- */

/* A record of a dead type, and what hangs on it. Its blob died with the type. */
static enum rc delete_record(struct step *s, const struct dead *type, struct slice key, struct slice value)
{
    struct key k;
    struct record rec;
    key_record_prefix(&k, (uint32_t)type->number);
    struct slice id = slice_of(key.ptr + k.len - 1, key.len - (k.len - 1U));
    if (head_decode(value, &rec)) { /* a damaged one refers to nothing that could be found */
        if (rec.blob && stage_trash(s->d, TRASH_BLOB, rec.blob, type->died_ms, s->err) != RC_OK)
            return RC_ERR;
        s->rows += rec.blob != 0;
        if (rec.expires_ms) {
            key_expiry(&k, rec.expires_ms, EXPIRY_RECORD, (uint32_t)type->number, id);
            if (delete_row(s, key_slice(&k), SLICE("")) != RC_OK)
                return RC_ERR;
        }
    }
    const struct store_key record = {.space = SPACE_RECORD, .type = (uint32_t)type->number, .id = id};
    key_of(&k, &record);
    return delete_row(s, key_slice(&k), value);
}

/* RC_PENDING: some are left. */
static enum rc delete_records(struct step *s, const struct dead *type)
{
    struct key k;
    struct slice key, value;
    key_record_prefix(&k, (uint32_t)type->number);
    struct slice prefix = slice_of(k.bytes + 1, k.len - 1U);
    enum rc rc = s->d->ops->seek(s->d->snap, key_slice(&k), &key, &value, s->err);
    for (; rc == RC_OK; rc = s->d->ops->next(s->d->snap, &key, &value, s->err)) {
        if (!slice_starts(key, prefix))
            return RC_OK;
        if (step_full(s))
            return RC_PENDING;
        if (delete_record(s, type, key, value) != RC_OK)
            return RC_ERR;
    }
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

/* Numbers never return, so it stays written that this one is dead: in a range with its neighbours, so that
 * there are never more ranges than types that live. Types are taken in order of their numbers: what this step
 * has done so far is all below. */
static enum rc note_purged(struct step *s, uint32_t number)
{
    struct key k;
    struct slice key, value;
    uint64_t first = number, last = number;
    key_trash(&k, TRASH_PURGED, number - 1);
    enum rc rc = stage_read_row(s->d, key_slice(&k), &value, s->err);
    if (rc == RC_OK && value.len >= TRASH_BYTES) {
        first = get_le64(value.ptr);
        rc = delete_dead(s, TRASH_PURGED, number - 1);
    }
    if (rc == RC_ERR)
        return rc;
    key_trash(&k, TRASH_PURGED, (uint64_t)number + 1);
    rc = first_row(s, &k, slice_of(k.bytes, 2), &key, &value);
    if (rc == RC_ERR)
        return rc;
    if (rc == RC_OK && key.len == KEY_TRASH_BYTES && value.len >= TRASH_BYTES &&
        get_le64(value.ptr) == (uint64_t)number + 1)
        last = get_be64(key.ptr + KEY_NUMBER_AT);
    uint8_t *row = arena_alloc(&s->d->overlay.arena, TRASH_BYTES);
    if (!row)
        return err_oom(s->err);
    put_le64(row, first);
    key_trash(&k, TRASH_PURGED, last);
    s->rows++;
    return stage_row(s->d, key_slice(&k), slice_of(row, TRASH_BYTES), s->err);
}

/* The last rows of a type without records. */
static enum rc finish_type(struct step *s, uint32_t number)
{
    struct key k;
    key_counts(&k, number);
    if (delete_row(s, key_slice(&k), SLICE("")) != RC_OK || delete_dead(s, TRASH_TYPE, number) != RC_OK)
        return RC_ERR;
    return note_purged(s, number);
}

/* RC_PENDING: there is more to do. */
static enum rc purge_types(struct step *s)
{
    struct dead type;
    enum rc rc = RC_OK;
    for (uint64_t at = 0; (rc = first_dead(s, TRASH_TYPE, at, &type)) == RC_OK; at = type.number + 1) {
        if (step_full(s))
            return RC_PENDING;
        rc = delete_records(s, &type);
        if (rc == RC_OK)
            rc = step_full(s) ? RC_PENDING : finish_type(s, (uint32_t)type.number);
        if (rc != RC_OK)
            return rc;
    }
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

/* ---- blobs ---- */

/* From the first chunk on. RC_PENDING: some are left. */
static enum rc delete_blob(struct step *s, uint64_t number)
{
    struct slice key, value;
    struct key k = {.len = KEY_CHUNK_BYTES};
    key_chunk(k.bytes, number, 0);
    struct slice prefix = slice_of(k.bytes + 1, 8);
    uint8_t whole[KEY_CHUNK_BYTES] = {DB_CHUNKS};
    enum rc rc = s->d->ops->seek(s->d->snap, key_slice(&k), &key, &value, s->err);
    for (; rc == RC_OK; rc = s->d->ops->next(s->d->snap, &key, &value, s->err)) {
        if (key.len != KEY_CHUNK_BYTES - 1 || !slice_starts(key, prefix))
            break;
        if (step_full(s))
            return RC_PENDING;
        memcpy(whole + 1, key.ptr, key.len);
        if (delete_row(s, slice_of(whole, sizeof whole), value) != RC_OK)
            return RC_ERR;
    }
    return rc == RC_ERR ? rc : delete_dead(s, TRASH_BLOB, number);
}

/* When a blob may go. Died later than now: before the store was opened, by a clock that went ahead. */
static int64_t ripens_ms(const struct decider *d, const struct dead *blob)
{
    return blob->died_ms > d->trash_now_ms ? 0 : blob->died_ms + d->blob_keep_ms;
}

/* RC_PENDING: the look through the blobs has not come to its end. */
static enum rc purge_blobs(struct step *s, struct purge_pass *pass)
{
    struct dead blob;
    enum rc rc = RC_OK;
    for (; (rc = first_dead(s, TRASH_BLOB, pass->blob_at, &blob)) == RC_OK; pass->blob_at = blob.number + 1) {
        if (step_full(s) || s->looks++ == LIMIT_PURGE_KEYS_MAX)
            return RC_PENDING;
        int64_t ripens = ripens_ms(s->d, &blob);
        if (ripens > s->d->trash_now_ms) {
            pass->ripens_ms = ripens < pass->ripens_ms ? ripens : pass->ripens_ms;
            continue;
        }
        rc = delete_blob(s, blob.number);
        if (rc != RC_OK)
            return rc;
    }
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

/* ---- steps ---- */

static const struct purge_pass pass_begin = {.ripens_ms = INT64_MAX};

void purge_init(struct purge *p)
{
    *p = (struct purge){.op = {.kind = WRITE_PURGE}, .pass = pass_begin};
}

enum rc purge_decide(struct decider *d, struct purge *p)
{
    struct step s = {.d = d, .err = &p->op.err};
    p->next = p->pass;
    enum rc blobs = RC_PENDING, types = RC_PENDING;
    if (p->blobs_first)
        blobs = purge_blobs(&s, &p->next);
    if (blobs != RC_ERR)
        types = purge_types(&s);
    if (!p->blobs_first && types != RC_ERR)
        blobs = purge_blobs(&s, &p->next);
    if (blobs == RC_ERR || types == RC_ERR)
        return RC_ERR;
    p->next.ended = blobs == RC_OK && types == RC_OK;
    if (blobs == RC_OK && types != RC_OK) /* only types go on: look at the blobs anew with them */
        p->next = pass_begin;
    return RC_OK;
}

static void due_at(struct purge *p, int64_t mono_ms)
{
    if (mono_ms < p->due_ms)
        p->due_ms = mono_ms;
}

void purge_stepped(struct purge *p, const struct decider *d)
{
    int64_t now = clock_mono_ms();
    p->blobs_first = !p->blobs_first;
    if (p->op.rc != RC_OK) {
        due_at(p, now + RETRY_MS);
        return;
    }
    p->pass = p->next;
    if (!p->pass.ended) {
        due_at(p, now);
        return;
    }
    if (p->pass.ripens_ms != INT64_MAX) {
        int64_t wait = p->pass.ripens_ms - trash_clock_ms(d), least = d->blob_keep_ms / LOOK_SHARE;
        due_at(p, now + (wait > least ? wait : least));
    }
    p->pass = pass_begin;
}

void purge_note(struct purge *p, const struct decider *d)
{
    if (d->dropped)
        due_at(p, clock_mono_ms());
    else if (d->trashed)
        due_at(p, clock_mono_ms() + d->blob_keep_ms);
}
