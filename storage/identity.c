/* storage/identity.c - the rows of `meta` when a store is opened and closed. */
#include "storage/identity.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/log.h"
#include "storage/boot.h"
#include "storage/counts.h"
#include "storage/keys.h"
#include "storage/meta.h"

/* Rows to apply before the writer runs; their memory is here. */
struct meta_rows {
    struct key key[4];
    uint8_t format[META_FORMAT_BYTES], store[META_STORE_BYTES], state[META_STATE_BYTES],
        open[META_OPEN_BYTES];
    struct mutation mutation[4];
    size_t n;
};

static void add_row(struct meta_rows *rows, struct slice name, struct slice value)
{
    assert(rows->n < ARRAY_LEN(rows->mutation));
    struct key *k = &rows->key[rows->n];
    key_meta(k, name);
    rows->mutation[rows->n++] = (struct mutation){.key = key_slice(k), .part = {value}};
}

static void add_open_row(struct meta_rows *rows, const struct store *s, bool clean)
{
    struct meta_open open = {.clean = clean, .durability = s->durability};
    boot_id_read(open.boot_id);
    meta_open_encode(&open, rows->open);
    add_row(rows, SLICE("open"), slice_of(rows->open, sizeof rows->open));
}

static enum rc read_meta(struct store *s, struct slice name, struct slice *value, struct err *err)
{
    struct key k;
    key_meta(&k, name);
    return s->ops->get(s->writer.decider.snap, key_slice(&k), value, err);
}

static enum rc not_a_store(struct err *err, const char *what)
{
    return err_set(err, ERR_STORE_FORMAT, "The data directory holds no store that this version can open: %s.",
                   what);
}

enum rc identity_check_format(struct slice row, uint32_t *version, struct err *err)
{
    if (!meta_format_decode(row, version) || *version == 0)
        return not_a_store(err, "its format row is damaged");
    if (*version > META_FORMAT)
        return err_set(err, ERR_STORE_FORMAT,
                       "The store has format %u, from a newer version; this version knows formats up to %d.",
                       (unsigned)*version, META_FORMAT);
    return RC_OK;
}

/* A store of mode `none` that was not closed is whole as long as the kernel that had its pages still runs. */
bool identity_is_whole(const struct meta_open *open)
{
    uint8_t boot_id[BOOT_ID_BYTES];
    if (open->clean || open->durability != DURABLE_NONE)
        return true;
    return boot_id_read(boot_id) && memcmp(boot_id, open->boot_id, sizeof boot_id) == 0;
}

static enum rc check_clean(struct store *s, bool accept_dirty, struct err *err)
{
    struct slice row;
    struct meta_open open;
    enum rc rc = read_meta(s, SLICE("open"), &row, err);
    if (rc != RC_OK)
        return rc == RC_NOTFOUND ? not_a_store(err, "its open row is missing") : rc;
    if (!meta_open_decode(row, &open))
        return not_a_store(err, "its open row is damaged");
    if (accept_dirty || identity_is_whole(&open))
        return RC_OK;
    return err_set(err, ERR_STORE_DIRTY,
                   "The store was open in durability `none` when the machine stopped, and may be "
                   "damaged.");
}

/* Databases that came with format 2. An engine has those that are missing made when it first applies something. */
static enum rc check_databases(struct store *s, struct err *err)
{
    static const uint8_t db = DB_USED;
    struct slice key, value;
    enum rc rc = s->ops->seek(s->writer.decider.snap, slice_of(&db, 1), &key, &value, err);
    return rc == RC_ERR ? rc : RC_OK;
}

static enum rc check_existing(struct store *s, struct slice format, bool accept_dirty, uint32_t *version,
                              struct err *err)
{
    struct slice row;
    if (identity_check_format(format, version, err) != RC_OK ||
        (*version == META_FORMAT && check_databases(s, err) != RC_OK))
        return RC_ERR;
    enum rc rc = read_meta(s, SLICE("state"), &row, err);
    if (rc == RC_ERR)
        return rc;
    if (rc == RC_NOTFOUND || !meta_state_decode(row, &s->writer.decider.state))
        return not_a_store(err, "its state row is missing or damaged");
    return check_clean(s, accept_dirty, err);
}

/* Nothing but an empty store may lack a format row. */
static enum rc check_empty(struct store *s, bool holds_store, struct err *err)
{
    if (holds_store)
        return not_a_store(err, "a store was here, but its data file has been removed or emptied");
    for (uint8_t db = DB_META; db < ENGINE_DBS; db++) {
        struct slice key, value;
        enum rc rc = s->ops->seek(s->writer.decider.snap, slice_of(&db, 1), &key, &value, err);
        if (rc != RC_NOTFOUND)
            return rc == RC_OK ? not_a_store(err, "its format row is missing") : rc;
    }
    return RC_OK;
}

static void add_format_row(struct meta_rows *rows, uint32_t version)
{
    meta_format_encode(rows->format);
    add_row(rows, SLICE("format"), slice_of(rows->format, sizeof rows->format));
    log_info("the store has format %u, and gets format %d: older versions will not open it",
             (unsigned)version, META_FORMAT);
}

static enum rc add_first_rows(struct store *s, struct meta_rows *rows, struct err *err)
{
    s->writer.decider.state = (struct meta_state){.next_type = 1, .next_schema = 1, .next_blob = 1};
    if (!random_bytes(rows->store, sizeof rows->store))
        return err_set(err, ERR_IO, "The kernel gives no random numbers.");
    meta_format_encode(rows->format);
    meta_state_encode(&s->writer.decider.state, rows->state);
    add_row(rows, SLICE("format"), slice_of(rows->format, sizeof rows->format));
    return RC_OK;
}

enum rc identity_open(struct store *s, bool holds_store, bool accept_dirty, struct err *err)
{
    struct meta_rows rows = {.n = 0};
    struct slice format;
    uint32_t version = META_FORMAT;
    enum rc rc = read_meta(s, SLICE("format"), &format, err);
    if (rc == RC_ERR)
        return rc;
    bool fresh = rc == RC_NOTFOUND;
    if (fresh)
        rc = check_empty(s, holds_store, err) == RC_OK ? add_first_rows(s, &rows, err) : RC_ERR;
    else
        rc = check_existing(s, format, accept_dirty, &version, err);
    if (rc != RC_OK)
        return rc;
    if (version < META_FORMAT) /* it becomes one of ours with what marks it open */
        add_format_row(&rows, version);
    add_open_row(&rows, s, false);
    if (fresh) { /* sorted: format, open, state, store */
        add_row(&rows, SLICE("state"), slice_of(rows.state, sizeof rows.state));
        add_row(&rows, SLICE("store"), slice_of(rows.store, sizeof rows.store));
    }
    if (s->ops->reserve(s->engine, 0, err) != RC_OK ||
        s->ops->apply(s->engine, rows.mutation, rows.n, err) != RC_OK)
        return RC_ERR;
    return s->ops->sync(s->engine, err);
}

static enum rc mark_dead(struct store *s, uint64_t first, uint64_t last, struct err *err)
{
    if (first == 0 || first > last || last > UINT32_MAX)
        return not_a_store(err, "a row of the trash is damaged");
    for (uint64_t number = first; number <= last; number++) {
        if (!dead_reserve(&s->dead, (uint32_t)number))
            return err_oom(err);
        dead_mark(&s->dead, (uint32_t)number);
    }
    return RC_OK;
}

/* The dead numbers of all rows of one kind: each a number, or a range up to it. */
static enum rc load_dead(struct store *s, enum trash_kind kind, struct err *err)
{
    struct key k;
    struct slice key, value;
    key_trash(&k, kind, 0);
    enum rc rc = s->ops->seek(s->writer.decider.snap, key_slice(&k), &key, &value, err);
    for (; rc == RC_OK; rc = s->ops->next(s->writer.decider.snap, &key, &value, err)) {
        if (key.len == 0 || key.ptr[0] != kind)
            return RC_OK;
        if (key.len != 1 + 8 || value.len < TRASH_BYTES)
            return not_a_store(err, "a row of the trash is damaged");
        uint64_t last = get_be64(key.ptr + 1), first = kind == TRASH_PURGED ? get_le64(value.ptr) : last;
        if (mark_dead(s, first, last, err) != RC_OK)
            return RC_ERR;
    }
    return rc == RC_ERR ? rc : RC_OK;
}

enum rc identity_load_dead(struct store *s, struct err *err)
{
    return load_dead(s, TRASH_TYPE, err) == RC_OK ? load_dead(s, TRASH_PURGED, err) : RC_ERR;
}

enum rc identity_load_limits(struct store *s, struct err *err)
{
    static const uint8_t all[] = {DB_COUNTS};
    struct decider *d = &s->writer.decider;
    struct slice key, value;
    enum rc rc = s->ops->seek(d->snap, slice_of(all, sizeof all), &key, &value, err);
    for (; rc == RC_OK; rc = s->ops->next(d->snap, &key, &value, err)) {
        struct store_count c;
        if (key.len != 4 || !counts_decode(value, &c)) /* found again, and said, by whoever writes there */
            continue;
        if (c.bytes_max && !type_limits_add(&d->limits, get_be32(key.ptr), c.bytes, c.bytes_max))
            return err_oom(err);
    }
    return rc == RC_ERR ? rc : RC_OK;
}

/* Data first, then the word that it is all there. Whatever fails here leaves the store marked open, which is
 * true. */
void identity_mark_clean(struct store *s)
{
    struct meta_rows rows = {.n = 0};
    struct err err;
    if (store_broken(s) || s->ops->sync(s->engine, &err) != RC_OK)
        return;
    add_open_row(&rows, s, true);
    if (s->ops->apply(s->engine, rows.mutation, rows.n, &err) == RC_OK)
        (void)!s->ops->sync(s->engine, &err);
}
