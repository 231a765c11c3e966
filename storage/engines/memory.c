/* storage/engines/memory.c - a store that lives in memory and dies with the process; the model that other
 * engines are tested against. */
#include <pthread.h>
#include <stdlib.h>

#include "storage/engine.h"
#include "storage/engines/tree.h"

static const uint64_t bytes_max_default = (uint64_t)1 << 40;
enum { ITEM_BYTES = 128 }; /* what a key costs beside its bytes: node, item, malloc's own */

/* What a version has left behind: freed when no snapshot is older than that version. */
struct garbage {
    struct garbage *next;
    uint64_t version;
    struct tree_list list;
};

struct engine {
    pthread_mutex_t lock; /* of root, version and snaps: for an instant at each renew and apply */
    struct tree_node *root;
    uint64_t version;
    struct snap *snaps;
    /* The writer's own: */
    struct garbage *garbage, *garbage_last; /* oldest first */
    uint64_t used, max;
};

struct snap {
    struct engine *engine;
    struct snap *next, **link;
    const struct tree_node *root;
    uint64_t version;
    bool live;
    uint8_t db; /* that the cursor is in */
    struct tree_cursor cursor;
};

static enum rc memory_open(struct engine **out, const struct store_opts *opts, struct err *err)
{
    struct engine *e = calloc(1, sizeof *e);
    if (!e)
        return err_oom(err);
    pthread_mutex_init(&e->lock, NULL);
    e->max = opts->bytes_max ? opts->bytes_max : bytes_max_default;
    *out = e;
    return RC_OK;
}

/* ---- snapshots ---- */

static enum rc memory_snap_new(struct engine *e, struct snap **out, struct err *err)
{
    struct snap *s = calloc(1, sizeof *s);
    if (!s)
        return err_oom(err);
    s->engine = e;
    pthread_mutex_lock(&e->lock);
    s->next = e->snaps;
    s->link = &e->snaps;
    if (e->snaps)
        e->snaps->link = &s->next;
    e->snaps = s;
    pthread_mutex_unlock(&e->lock);
    *out = s;
    return RC_OK;
}

static void memory_snap_free(struct snap *s)
{
    pthread_mutex_lock(&s->engine->lock);
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    pthread_mutex_unlock(&s->engine->lock);
    free(s);
}

static enum rc memory_snap_renew(struct snap *s, struct err *err)
{
    (void)err;
    pthread_mutex_lock(&s->engine->lock);
    s->root = s->engine->root;
    s->version = s->engine->version;
    s->live = true;
    pthread_mutex_unlock(&s->engine->lock);
    s->cursor.depth = 0;
    return RC_OK;
}

static void memory_snap_reset(struct snap *s)
{
    pthread_mutex_lock(&s->engine->lock);
    s->live = false;
    pthread_mutex_unlock(&s->engine->lock);
    s->root = NULL;
    s->cursor.depth = 0;
}

static enum rc memory_get(struct snap *s, struct slice key, struct slice *out, struct err *err)
{
    (void)err;
    const struct tree_item *i = tree_find(s->root, key);
    if (!i)
        return RC_NOTFOUND;
    *out = tree_val(i);
    return RC_OK;
}

/* Hand out the cursor's next item, if it is still in its database. */
static enum rc step(struct snap *s, struct slice *key, struct slice *val)
{
    const struct tree_item *i = tree_next(&s->cursor);
    if (!i || i->bytes[0] != s->db) {
        s->cursor.depth = 0;
        return RC_NOTFOUND;
    }
    *key = slice_of(i->bytes + 1, i->key_len - 1);
    *val = tree_val(i);
    return RC_OK;
}

static enum rc memory_seek(struct snap *s, struct slice from, struct slice *key, struct slice *val,
                           struct err *err)
{
    (void)err;
    tree_seek(&s->cursor, s->root, from);
    s->db = from.ptr[0];
    return step(s, key, val);
}

static enum rc memory_next(struct snap *s, struct slice *key, struct slice *val, struct err *err)
{
    (void)err;
    return step(s, key, val);
}

/* ---- applying ---- */

static enum rc memory_reserve(struct engine *e, uint64_t grow_bytes, struct err *err)
{
    if (grow_bytes && e->used + grow_bytes + engine_reserve_bytes(e->max) > e->max)
        return err_set(err, ERR_NO_SPACE, "The store is full: %llu of %llu bytes are used.",
                       (unsigned long long)e->used, (unsigned long long)e->max);
    return RC_OK;
}

static uint64_t item_cost(const struct tree_item *i)
{
    return i ? ITEM_BYTES + i->key_len + i->val_len : 0;
}

static struct tree_item *item_of(const struct mutation *m)
{
    size_t bytes = 0;
    for (size_t p = 0; p < ARRAY_LEN(m->part); p++)
        bytes += m->part[p].len;
    struct tree_item *i = tree_item_new(m->key, bytes);
    if (!i)
        return NULL;
    uint8_t *at = i->bytes + i->key_len;
    for (size_t p = 0; p < ARRAY_LEN(m->part); p++) {
        if (m->part[p].len)
            memcpy(at, m->part[p].ptr, m->part[p].len);
        at += m->part[p].len;
    }
    return i;
}

static bool apply_one(struct tree_edit *edit, const struct mutation *m, uint64_t *used)
{
    *used -= item_cost(tree_find(edit->root, m->key));
    if (m->del)
        return tree_delete(edit, m->key);
    struct tree_item *i = item_of(m);
    *used += item_cost(i);
    return i && tree_put(edit, i);
}

static void free_garbage(struct engine *e, uint64_t oldest)
{
    while (e->garbage && e->garbage->version <= oldest) {
        struct garbage *g = e->garbage;
        e->garbage = g->next;
        tree_list_free(&g->list);
        free(g);
    }
}

/* Make an edit the current version; returns the oldest version that is still read. */
static uint64_t publish(struct engine *e, const struct tree_edit *edit)
{
    pthread_mutex_lock(&e->lock);
    e->root = edit->root;
    e->version = edit->version;
    uint64_t oldest = e->version;
    for (const struct snap *s = e->snaps; s; s = s->next)
        if (s->live && s->version < oldest)
            oldest = s->version;
    pthread_mutex_unlock(&e->lock);
    return oldest;
}

static enum rc memory_apply(struct engine *e, const struct mutation *m, size_t n, struct err *err)
{
    struct tree_edit edit = {.version = e->version + 1, .root = e->root};
    uint64_t used = e->used;
    struct garbage *g = calloc(1, sizeof *g);
    bool done = g != NULL;
    for (size_t i = 0; i < n && done; i++)
        done = apply_one(&edit, &m[i], &used);
    if (!done) {
        tree_abandon(&edit);
        free(g);
        return err_oom(err);
    }
    tree_list_release(&edit.fresh);
    *g = (struct garbage){.version = edit.version, .list = edit.old};
    if (e->garbage)
        e->garbage_last->next = g;
    else
        e->garbage = g;
    e->garbage_last = g;
    e->used = used;
    free_garbage(e, publish(e, &edit));
    return RC_OK;
}

static enum rc memory_sync(struct engine *e, struct err *err)
{
    (void)e, (void)err;
    return RC_OK;
}

static void memory_space(struct engine *e, struct store_space *out)
{
    *out = (struct store_space){.used = e->used, .max = e->max, .file = 0};
}

static void memory_upkeep(struct engine *e)
{
    (void)e;
}

static void memory_close(struct engine *e)
{
    free_garbage(e, UINT64_MAX);
    tree_free_all(e->root);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

const struct engine_ops engine_memory = {
    .name = "memory",
    .caps = CAP_TOTAL_ORDER | CAP_CALL | CAP_SCAN,
    .open = memory_open,
    .close = memory_close,
    .snap_new = memory_snap_new,
    .snap_free = memory_snap_free,
    .snap_renew = memory_snap_renew,
    .snap_reset = memory_snap_reset,
    .get = memory_get,
    .seek = memory_seek,
    .next = memory_next,
    .reserve = memory_reserve,
    .apply = memory_apply,
    .sync = memory_sync,
    .space = memory_space,
    .upkeep = memory_upkeep,
};
