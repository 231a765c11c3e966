/* server/handlers/txn/txn_views.c - where a transaction finds its records: in the writer's transaction, or in the snapshot of
 * a helper. */
#include <stddef.h>

#include "base/limits.h"
#include "server/handlers/records/record.h"
#include "server/handlers/txn/txn.h"

/* ---- the writer's ---- */

static enum rc writer_look(struct txn_view *view, const struct store_key *key, struct record *out,
                           struct err *err)
{
    return txn_look(CONTAINER_OF(view, struct txn_writer, view)->store, key, out, err);
}

static enum rc writer_read(struct txn_view *view, const struct store_key *key, struct record *out,
                           struct err *err)
{
    return txn_get(CONTAINER_OF(view, struct txn_writer, view)->store, key, out, err);
}

void txn_writer_init(struct txn_writer *w, struct txn *t, struct store_txn *store)
{
    *w = (struct txn_writer){
        .view = {.look = writer_look,
                 .read = writer_read,
                 .brief = true,
                 .bytes_max = t->is_generous ? LIMIT_TRANSACTION_BYTES_MAX : LIMIT_TRANSACTION_INLINE_MAX},
        .store = store};
}

/* ---- a helper's ---- */

struct looking {
    struct store_get get;
    struct arena *arena;
    bool no_memory;
};

/* What it has got is borrowed only here. */
static void keep(struct store_get *get)
{
    struct looking *l = CONTAINER_OF(get, struct looking, get);
    struct record *rec = &get->rec;
    if (get->rc != RC_OK)
        return;
    if (!record_body_keep(l->arena, rec) ||
        (rec->content_type.len && !arena_copy(l->arena, rec->content_type, &rec->content_type)))
        l->no_memory = true;
}

static enum rc reader_look(struct txn_view *view, const struct store_key *key, struct record *out,
                           struct err *err)
{
    struct txn_reader *r = CONTAINER_OF(view, struct txn_reader, view);
    struct looking l = {.get = {.key = *key, .done = keep}, .arena = &r->txn->arena};
    store_get(r->store, &l.get);
    if (l.no_memory)
        return err_oom(err);
    if (l.get.rc == RC_ERR)
        *err = l.get.err;
    *out = l.get.rec;
    return l.get.rc;
}

static enum rc reader_read(struct txn_view *view, const struct store_key *key, struct record *out,
                           struct err *err)
{
    struct txn_reader *r = CONTAINER_OF(view, struct txn_reader, view);
    struct buf joined = {0};
    (void)key;
    enum rc rc = record_join(r->store, out, &joined, err);
    if (rc == RC_OK && !arena_copy(&r->txn->arena, buf_slice(&joined), &out->body))
        rc = err_oom(err);
    r->txn->is_lost = rc == RC_NOTFOUND; /* its chunks went meanwhile: it was replaced */
    buf_release(&joined);
    return rc;
}

void txn_reader_init(struct txn_reader *r, struct txn *t, struct store_worker *store)
{
    *r = (struct txn_reader){
        .view = {.look = reader_look, .read = reader_read, .bytes_max = LIMIT_TRANSACTION_BYTES_MAX},
        .store = store,
        .txn = t};
}
