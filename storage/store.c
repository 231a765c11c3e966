/* storage/store.c - the life of a store: who may open it, what it must be, how it is closed. */
#include "storage/store.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "storage/boot.h"
#include "storage/dir.h"
#include "storage/keys.h"

/* ---- the rows of meta ---- */

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

static enum rc check_format(struct slice row, struct err *err)
{
    uint32_t version;
    if (!meta_format_decode(row, &version) || version == 0)
        return not_a_store(err, "its format row is damaged");
    if (version > META_FORMAT)
        return err_set(err, ERR_STORE_FORMAT,
                       "The store has format %u, from a newer version; this version knows formats up to %d.",
                       (unsigned)version, META_FORMAT);
    return RC_OK;
}

/* A store of mode `none` that was not closed is whole as long as the kernel that had its pages still runs. */
static enum rc check_clean(struct store *s, bool accept_dirty, struct err *err)
{
    struct slice row;
    struct meta_open open;
    uint8_t boot_id[BOOT_ID_BYTES];
    enum rc rc = read_meta(s, SLICE("open"), &row, err);
    if (rc != RC_OK)
        return rc == RC_NOTFOUND ? not_a_store(err, "its open row is missing") : rc;
    if (!meta_open_decode(row, &open))
        return not_a_store(err, "its open row is damaged");
    if (open.clean || open.durability != DURABLE_NONE || accept_dirty)
        return RC_OK;
    if (boot_id_read(boot_id) && memcmp(boot_id, open.boot_id, sizeof boot_id) == 0)
        return RC_OK;
    return err_set(err, ERR_STORE_DIRTY,
                   "The store was open in durability `none` when the machine stopped, and may be "
                   "damaged.");
}

static enum rc check_existing(struct store *s, struct slice format, bool accept_dirty, struct err *err)
{
    struct slice row;
    if (check_format(format, err) != RC_OK)
        return RC_ERR;
    enum rc rc = read_meta(s, SLICE("state"), &row, err);
    if (rc == RC_ERR)
        return rc;
    if (rc == RC_NOTFOUND || !meta_state_decode(row, &s->writer.decider.state))
        return not_a_store(err, "its state row is missing or damaged");
    return check_clean(s, accept_dirty, err);
}

/* Nothing but an empty store may lack a format row. */
static enum rc check_empty(struct store *s, struct err *err)
{
    for (uint8_t db = DB_META; db < ENGINE_DBS; db++) {
        struct slice key, value;
        enum rc rc = s->ops->seek(s->writer.decider.snap, slice_of(&db, 1), &key, &value, err);
        if (rc != RC_NOTFOUND)
            return rc == RC_OK ? not_a_store(err, "its format row is missing") : rc;
    }
    return RC_OK;
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

/* Check what is there, or make it, and mark it open before anybody changes it. */
static enum rc open_meta(struct store *s, bool accept_dirty, struct err *err)
{
    struct meta_rows rows = {.n = 0};
    struct slice format;
    enum rc rc = read_meta(s, SLICE("format"), &format, err);
    if (rc == RC_ERR)
        return rc;
    bool fresh = rc == RC_NOTFOUND;
    if (fresh)
        rc = check_empty(s, err) == RC_OK ? add_first_rows(s, &rows, err) : RC_ERR;
    else
        rc = check_existing(s, format, accept_dirty, err);
    if (rc != RC_OK)
        return rc;
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

static enum rc load_dead(struct store *s, struct err *err)
{
    struct key k;
    struct slice key, value;
    key_trash(&k, TRASH_TYPE, 0);
    enum rc rc = s->ops->seek(s->writer.decider.snap, key_slice(&k), &key, &value, err);
    for (; rc == RC_OK; rc = s->ops->next(s->writer.decider.snap, &key, &value, err)) {
        if (key.len != 1 + 8 || key.ptr[0] != TRASH_TYPE)
            break;
        uint64_t number = get_be64(key.ptr + 1);
        if (number > UINT32_MAX)
            return not_a_store(err, "a trash row is damaged");
        if (!dead_reserve(&s->dead, (uint32_t)number))
            return err_oom(err);
        dead_mark(&s->dead, (uint32_t)number);
    }
    return rc == RC_ERR ? rc : RC_OK;
}

/* ---- opening ---- */

static enum rc open_engine(struct store *s, const struct store_opts *opts, struct err *err)
{
    bool durable = s->ops->caps & CAP_DURABLE;
    struct snap **snap = &s->writer.decider.snap;
    if (durable && dir_lock(opts->dir, &s->lock_fd, err) != RC_OK)
        return RC_ERR;
    if (s->ops->open(&s->engine, opts, err) != RC_OK)
        return RC_ERR;
    if (durable && dir_sync(opts->dir, err) != RC_OK)
        return RC_ERR;
    if (s->ops->snap_new(s->engine, snap, err) != RC_OK || s->ops->snap_renew(*snap, err) != RC_OK)
        return RC_ERR;
    if (open_meta(s, opts->accept_dirty, err) != RC_OK || load_dead(s, err) != RC_OK)
        return RC_ERR;
    s->ops->snap_reset(*snap);
    store_note_space(s);
    return RC_OK;
}

static void release(struct store *s)
{
    workers_release(s);
    if (s->writer.decider.snap)
        s->ops->snap_free(s->writer.decider.snap);
    if (s->engine)
        s->ops->close(s->engine);
    decider_release(&s->writer.decider);
    dead_release(&s->dead);
    pthread_mutex_destroy(&s->workers_lock);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    free(s);
}

static struct store *store_make(const struct engine_ops *ops, const struct store_opts *opts)
{
    struct store *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->ops = ops;
    s->durability = opts->durability;
    s->lock_fd = -1;
    s->workers_max = opts->workers;
    s->writer.store = s;
    s->writer.decider.ops = ops;
    s->writer.decider.dead = &s->dead;
    pthread_mutex_init(&s->workers_lock, NULL);
    s->workers = calloc(opts->workers ? opts->workers : 1, sizeof *s->workers);
    if (!s->workers || !dead_init(&s->dead)) {
        release(s);
        return NULL;
    }
    return s;
}

enum rc store_open_engine(struct store **out, const struct engine_ops *ops, const struct store_opts *opts,
                          struct err *err)
{
    struct store *s = store_make(ops, opts);
    if (!s)
        return err_oom(err);
    if (open_engine(s, opts, err) != RC_OK) {
        release(s);
        return RC_ERR;
    }
    int failed = pthread_create(&s->thread, NULL, writer_main, &s->writer);
    if (failed) {
        release(s);
        return err_set(err, ERR_NO_MEMORY, "Cannot start the writer thread: %s.", strerror(failed));
    }
    *out = s;
    return RC_OK;
}

enum rc store_open(struct store **out, const struct store_opts *opts, struct err *err)
{
    const struct engine_ops *ops = engine_find(opts->engine);
    if (!ops)
        return err_set(err, ERR_CONFIG, "There is no storage engine \"%.100s\".", opts->engine);
    return store_open_engine(out, ops, opts, err);
}

/* ---- closing ---- */

/* Data first, then the word that it is all there. Whatever fails here leaves the store marked open, which is
 * true. */
static void mark_clean(struct store *s)
{
    struct meta_rows rows = {.n = 0};
    struct err err;
    if (store_broken(s) || s->ops->sync(s->engine, &err) != RC_OK)
        return;
    add_open_row(&rows, s, true);
    if (s->ops->apply(s->engine, rows.mutation, rows.n, &err) == RC_OK)
        (void)!s->ops->sync(s->engine, &err);
}

void store_close(struct store *s)
{
    if (!s)
        return;
    atomic_store_explicit(&s->closing, true, memory_order_release);
    write_queue_ring(&s->queue);
    pthread_join(s->thread, NULL);
    mark_clean(s);
    release(s);
}

/* ---- asked by any thread ---- */

bool store_broken(const struct store *s)
{
    return atomic_load_explicit(&s->broken, memory_order_acquire);
}

void store_note_space(struct store *s)
{
    struct store_space space;
    s->ops->space(s->engine, &space);
    atomic_store_explicit(&s->used, space.used, memory_order_relaxed);
    atomic_store_explicit(&s->max, space.max, memory_order_relaxed);
    atomic_store_explicit(&s->file, space.file, memory_order_relaxed);
}

void store_space(const struct store *s, struct store_space *out)
{
    out->used = atomic_load_explicit(&s->used, memory_order_relaxed);
    out->max = atomic_load_explicit(&s->max, memory_order_relaxed);
    out->file = atomic_load_explicit(&s->file, memory_order_relaxed);
}
