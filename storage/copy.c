/* storage/copy.c - a snapshot's rows, one database after the other, into a new file. The one row that is changed on the way says
 * that the store was closed: a snapshot is what some group has left, whole. */
#include "storage/copy.h"

#include <stdlib.h>

#include "storage/keys.h"
#include "storage/meta.h"
#include "storage/store.h"

struct store_copy {
    const struct engine_ops *ops;
    struct snap *snap;
    struct store_worker *worker;
    struct engine_copy *sink;
    struct store_copy_state state;
    uint8_t db;     /* that is being copied; ENGINE_DBS: all are */
    bool is_in;     /* the snapshot stands at a row of it, which is in the file */
    struct key key; /* of the row at hand */
    uint8_t open[META_OPEN_BYTES];
};

/* ---- life ---- */

static enum rc read_state(struct store_copy *c, struct err *err)
{
    struct meta_state state;
    struct slice row;
    struct key k;
    key_meta(&k, SLICE("state"));
    enum rc rc = c->ops->get(c->snap, key_slice(&k), &row, err);
    if (rc == RC_ERR)
        return rc;
    if (rc != RC_OK || !meta_state_decode(row, &state))
        return err_set(err, ERR_STORE_FORMAT, "The store is damaged: its state row is.");
    c->state.revision = state.revision;
    return RC_OK;
}

enum rc copy_new(struct store_copy **out, const struct engine_ops *ops, struct snap *snap,
                 uint64_t used_bytes, int fd, struct store_worker *worker, struct err *err)
{
    struct store_copy *c = calloc(1, sizeof *c);
    if (!c)
        return err_oom(err);
    c->ops = ops;
    c->snap = snap;
    c->worker = worker;
    c->db = DB_META;
    c->state.bytes_total = used_bytes;
    if (read_state(c, err) != RC_OK || ops->file->copy_new(&c->sink, fd, used_bytes, err) != RC_OK) {
        c->worker = NULL; /* its snapshot is the caller's to give up */
        store_copy_free(c);
        return RC_ERR;
    }
    *out = c;
    return RC_OK;
}

bool store_has_files(const struct store *s)
{
    return s->ops->file != NULL;
}

enum rc store_copy_new(struct store_copy **out, struct store_worker *w, int fd, struct err *err)
{
    struct store *s = w->store;
    struct store_space space;
    if (!s->ops->file)
        return err_set(err, ERR_NOT_SUPPORTED, "The engine %s keeps no files that could be copied.",
                       s->ops->name);
    store_space(s, &space);
    if (worker_snapshot(w, err) != RC_OK)
        return RC_ERR;
    if (copy_new(out, s->ops, w->snap, space.used, fd, w, err) == RC_OK)
        return RC_OK;
    store_turn_end(w);
    return RC_ERR;
}

void store_copy_free(struct store_copy *c)
{
    if (!c)
        return;
    if (c->sink)
        c->ops->file->copy_free(c->sink);
    if (c->worker)
        store_turn_end(c->worker);
    free(c);
}

void store_copy_state(const struct store_copy *c, struct store_copy_state *out)
{
    *out = c->state;
}

/* ---- steps ---- */

/* The next row, whichever database it is in. RC_NOTFOUND: there is none. */
static enum rc next_row(struct store_copy *c, struct slice *key, struct slice *value, struct err *err)
{
    enum rc rc = RC_NOTFOUND;
    if (c->is_in)
        rc = c->ops->next(c->snap, key, value, err);
    while (rc == RC_NOTFOUND && (c->is_in ? ++c->db : c->db) < ENGINE_DBS) {
        rc = c->ops->seek(c->snap, slice_of(&c->db, 1), key, value, err);
        c->is_in = true;
    }
    return rc;
}

/* Closed, whatever it was: by whom, and on which boot of the machine, stays. */
static enum rc close_row(struct store_copy *c, struct slice *value, struct err *err)
{
    struct meta_open open;
    if (!meta_open_decode(*value, &open))
        return err_set(err, ERR_STORE_FORMAT, "The store is damaged: its open row is.");
    open.clean = true;
    meta_open_encode(&open, c->open);
    *value = slice_of(c->open, sizeof c->open);
    return RC_OK;
}

static enum rc copy_row(struct store_copy *c, struct slice key, struct slice value, struct err *err)
{
    if (key.len >= KEY_MAX)
        return err_set(err, ERR_STORE_FORMAT, "The store is damaged: a key has %zu bytes.", key.len);
    if (c->db == DB_META && slice_eq(key, SLICE("open")) && close_row(c, &value, err) != RC_OK)
        return RC_ERR;
    c->key.bytes[0] = c->db;
    memcpy(c->key.bytes + 1, key.ptr, key.len);
    c->key.len = (uint16_t)(key.len + 1);
    c->state.rows++;
    c->state.bytes += key.len + value.len;
    return c->ops->file->copy_row(c->sink, key_slice(&c->key), value, err);
}

enum rc store_copy_step(struct store_copy *c, uint64_t bytes, struct err *err)
{
    struct slice key, value;
    uint64_t upto = c->state.bytes + bytes;
    enum rc rc = RC_OK;
    while (rc == RC_OK && c->state.bytes < upto) {
        rc = next_row(c, &key, &value, err);
        if (rc == RC_OK)
            rc = copy_row(c, key, value, err);
    }
    if (rc == RC_NOTFOUND)
        return c->ops->file->copy_end(c->sink, err);
    return rc == RC_OK ? RC_PENDING : rc;
}
