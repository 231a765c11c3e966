/* storage/check.c - the frame of a check: what is told, the walk over a database, the rows of meta, and the order of it all. */
#include "storage/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"

enum { WORDS_BYTES = 320, PROGRESS_ROWS = 4096 };

const char *store_fault_slug(enum store_fault_kind kind)
{
    static const char *const slugs[] = {
#define FAULT(name, slug, what) slug,
#include "storage/faults.def"
#undef FAULT
    };
    return slugs[kind];
}

void store_check_fault(struct store_check *c, enum store_fault_kind kind, uint32_t type, struct slice id,
                       const char *format, ...)
{
    char words[WORDS_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    const struct store_fault fault = {.kind = kind, .type = type, .id = id, .words = words};
    c->faults++;
    c->fault(c, &fault);
}

/* ---- what the walks share ---- */

enum rc check_walk(struct checker *k, enum engine_db db, check_row *row)
{
    const uint8_t all[] = {(uint8_t)db};
    struct slice key, value;
    enum rc rc = k->ops->seek(k->walk, slice_of(all, sizeof all), &key, &value, k->err);
    for (; rc == RC_OK; rc = k->ops->next(k->walk, &key, &value, k->err)) {
        k->walked += key.len + value.len;
        if (++k->c->rows % PROGRESS_ROWS == 0 && k->c->progress)
            k->c->progress(k->c, k->walked, k->total);
        if (row(k, key, value) == RC_ERR)
            return RC_ERR;
    }
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

enum rc check_get(struct checker *k, const struct key *key, struct slice *value)
{
    return k->ops->get(k->look, key_slice(key), value, k->err);
}

enum rc check_has(struct checker *k, const struct key *want, bool *out)
{
    struct slice key, value;
    enum rc rc = k->ops->seek(k->look, key_slice(want), &key, &value, k->err);
    *out = rc == RC_OK && slice_eq(key, slice_of(want->bytes + 1, want->len - 1U));
    return rc == RC_ERR ? rc : RC_OK;
}

enum rc check_is_dying(struct checker *k, uint32_t type, bool *out)
{
    struct key key;
    struct slice value;
    key_trash(&key, TRASH_TYPE, type);
    enum rc rc = check_get(k, &key, &value);
    *out = rc == RC_OK;
    return rc == RC_ERR ? rc : RC_OK;
}

enum rc store_check_get(struct store_check *c, enum space space, struct slice id, struct slice *value,
                        struct err *err)
{
    struct key key;
    const struct store_key of = {.space = space, .id = id};
    if (!id.len || id.len > LIMIT_ID_MAX)
        return RC_NOTFOUND;
    key_of(&key, &of);
    return c->own->ops->get(c->own->look, key_slice(&key), value, err);
}

/* ---- meta ---- */

static enum rc meta_get(struct checker *k, struct slice name, struct slice *row)
{
    struct key key;
    key_meta(&key, name);
    enum rc rc = check_get(k, &key, row);
    if (rc == RC_NOTFOUND)
        store_check_fault(k->c, FAULT_META, 0, name, "The row is missing.");
    return rc;
}

static enum rc check_meta(struct checker *k)
{
    struct slice row;
    struct meta_open open;
    enum rc rc = meta_get(k, SLICE("store"), &row);
    if (rc == RC_OK && row.len < META_STORE_BYTES)
        store_check_fault(k->c, FAULT_META, 0, SLICE("store"), "The row is damaged.");
    if (rc != RC_ERR)
        rc = meta_get(k, SLICE("open"), &row);
    if (rc == RC_OK && !meta_open_decode(row, &open))
        store_check_fault(k->c, FAULT_META, 0, SLICE("open"), "The row is damaged.");
    if (rc != RC_ERR)
        rc = meta_get(k, SLICE("state"), &row);
    if (rc == RC_OK && !meta_state_decode(row, &k->state))
        store_check_fault(k->c, FAULT_META, 0, SLICE("state"), "The row is damaged.");
    k->c->revision = k->state.revision;
    return rc == RC_ERR ? rc : RC_OK;
}

/* ---- rows of the caller's ---- */

static enum rc on_schema(struct checker *k, struct slice key, struct slice value)
{
    if (key.len == 4 && k->state.next_schema && get_be32(key.ptr) >= k->state.next_schema)
        store_check_fault(k->c, FAULT_NUMBER, 0, key,
                          "Schema %u has a number that was not given yet: the next is %u.", get_be32(key.ptr),
                          k->state.next_schema);
    return k->c->row(k->c, SPACE_SCHEMA, key, value, k->err);
}

static enum rc on_hash(struct checker *k, struct slice key, struct slice value)
{
    return k->c->row(k->c, SPACE_SCHEMA_HASH, key, value, k->err);
}

static enum rc on_type(struct checker *k, struct slice key, struct slice value)
{
    return k->c->row(k->c, SPACE_TYPE, key, value, k->err);
}

static enum rc on_subject(struct checker *k, struct slice key, struct slice value)
{
    return k->c->row(k->c, SPACE_SUBJECT, key, value, k->err);
}

static enum rc check_catalog(struct checker *k)
{
    if (check_walk(k, DB_SCHEMAS, on_schema) != RC_OK || check_walk(k, DB_SCHEMA_HASH, on_hash) != RC_OK ||
        check_walk(k, DB_TYPES, on_type) != RC_OK || check_walk(k, DB_SUBJECTS, on_subject) != RC_OK)
        return RC_ERR;
    uint32_t stray = k->state.next_type ? k->c->next_type(k->c, k->state.next_type) : 0;
    if (stray)
        store_check_fault(k->c, FAULT_NUMBER, stray, (struct slice){0},
                          "The type has number %u, which was not given yet: the next is %u.", stray,
                          k->state.next_type);
    return RC_OK;
}

/* ---- all of it ---- */

static enum rc walk_all(struct checker *k)
{
    if (check_meta(k) != RC_OK)
        return RC_ERR;
    if (!check_marks_begin(k, 1))
        return err_oom(k->err);
    if (check_catalog(k) != RC_OK || check_records(k) != RC_OK || check_counts(k) != RC_OK ||
        check_trash(k) != RC_OK || check_blobs(k) != RC_OK || check_expiry(k) != RC_OK ||
        check_used(k) != RC_OK)
        return RC_ERR;
    return check_idem(k);
}

enum rc store_check(struct store_file *f, struct store_check *c, struct err *err)
{
    struct store_space space;
    struct checker k = {.c = c, .ops = f->ops, .walk = f->snap, .err = err};
    f->ops->space(f->engine, &space);
    k.total = space.used;
    c->own = &k;
    if (f->ops->snap_new(f->engine, &k.look, err) != RC_OK)
        return RC_ERR;
    enum rc rc = f->ops->snap_renew(k.look, err);
    if (rc == RC_OK)
        rc = walk_all(&k);
    f->ops->snap_free(k.look);
    free(k.marks.bits);
    buf_release(&k.body);
    return rc;
}
