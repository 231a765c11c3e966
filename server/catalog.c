/* server/catalog.c - publishing tables and holding them. Changes and references go under one lock; a worker
 * takes a reference of a table once, counts its requests on it in a plain integer, and gives it back when the
 * table is old and the count is 0. So a request costs one atomic load. */
#include "server/catalog.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/catalog_table.h"
#include "server/catalog_type.h"
#include "server/reading.h"
#include "server/server.h"
#include "server/subject_settings.h"
#include "server/words.h"

/* One worker's share of one table. */
struct catalog_hold {
    struct table *table;
    uint32_t in_flight;
    struct reader *reader;
};

/* One worker's. Made on its first request; worker->catalog. */
struct reader {
    struct reader *next;
    struct catalog *catalog;
    struct catalog_hold *now;
};

struct catalog {
    _Atomic(struct table *) current;
    _Atomic uint8_t level; /* enum compat_mode */
    pthread_mutex_t lock;  /* all below, and every count of references */
    uint64_t level_revision;
    struct slots slots;
    struct reader *readers;
    struct catalog_change *oldest, *newest; /* in flight */
    size_t nchanges;
    uint32_t *
        drops; /* numbers of types dropped since the oldest began: what such a change brings of them is old */
    size_t ndrops, drops_cap;
    uint64_t drops_forgotten; /* before these */
};

/* ---- life ---- */

static enum rc load(struct catalog *, struct store_worker *, struct err *);

enum rc catalog_open(struct catalog **out, struct store_worker *worker, struct err *err)
{
    struct catalog *c = calloc(1, sizeof *c);
    if (!c)
        return err_oom(err);
    pthread_mutex_init(&c->lock, NULL);
    if (load(c, worker, err) != RC_OK) {
        catalog_free(c);
        return RC_ERR;
    }
    *out = c;
    return RC_OK;
}

void catalog_free(struct catalog *c)
{
    if (!c)
        return;
    while (c->readers) {
        struct reader *r = c->readers;
        c->readers = r->next;
        if (!r->now->in_flight) { /* else a request that was given up still points there */
            table_unref(&c->slots, r->now->table);
            free(r->now);
        }
        free(r);
    }
    struct table *t = atomic_load_explicit(&c->current, memory_order_relaxed);
    if (t)
        table_unref(&c->slots, t);
    slots_release(&c->slots);
    free(c->drops);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* ---- reading the store's rows at the start ---- */

struct loading {
    struct store_scan scan;
    struct catalog *catalog;
    struct type **types;
    size_t n, cap;
};

static enum rc load_row(struct store_scan *scan, struct slice name, const struct record *rec)
{
    struct loading *l = CONTAINER_OF(scan, struct loading, scan);
    struct type_row row;
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        struct type **types = realloc(l->types, cap * sizeof *types);
        if (!types)
            return err_oom(&scan->err);
        l->types = types;
        l->cap = cap;
    }
    if (type_row_decode(rec->body, &row, &scan->err) != RC_OK)
        return RC_ERR;
    if (!row.number)
        return err_set(&scan->err, ERR_STORE_FORMAT, "A type's row is damaged: it has no number.");
    if (type_new(&l->types[l->n], &l->catalog->slots, name, &row, &scan->err) != RC_OK)
        return RC_ERR;
    l->n++;
    return RC_OK;
}

static void load_page_done(struct store_scan *scan)
{
    (void)scan; /* load() looks at scan->rc */
}

struct level_get {
    struct store_get get;
    struct subject_settings settings;
};

static void level_read(struct store_get *get)
{
    struct level_get *l = CONTAINER_OF(get, struct level_get, get);
    if (get->rc == RC_OK)
        get->rc = settings_decode(get->rec.body, &l->settings, &get->err);
}

static enum rc load_level(struct catalog *c, struct store_worker *worker, struct err *err)
{
    uint8_t key[LIMIT_ID_MAX];
    struct level_get l = {.get = {.key = {.space = SPACE_SUBJECT, .id = settings_key((struct slice){0}, key)},
                                  .done = level_read}};
    store_get(worker, &l.get);
    if (l.get.rc == RC_ERR) {
        *err = l.get.err;
        return RC_ERR;
    }
    const struct settings_pair for_all = {.global = l.settings};
    atomic_store_explicit(&c->level, (uint8_t)settings_level(&for_all), memory_order_relaxed);
    return RC_OK;
}

static enum rc load(struct catalog *c, struct store_worker *worker, struct err *err)
{
    struct loading l = {
        .scan = {.space = SPACE_TYPE, .row = load_row, .done = load_page_done, .rc = RC_PENDING},
        .catalog = c};
    while (l.scan.rc == RC_PENDING)
        store_scan(worker, &l.scan);
    if (l.scan.rc == RC_OK && load_level(c, worker, &l.scan.err) != RC_OK)
        l.scan.rc = RC_ERR;
    store_turn_end(worker);
    struct table *t = NULL;
    if (l.scan.rc == RC_OK) {
        t = table_of(l.types, l.n);
        if (!t)
            err_oom(&l.scan.err);
    }
    if (!t)
        *err = l.scan.err;
    for (size_t i = 0; i < l.n; i++) /* the table has its own references, or is not there */
        type_unref(&c->slots, l.types[i]);
    free(l.types);
    atomic_store_explicit(&c->current, t, memory_order_release);
    return t ? RC_OK : RC_ERR;
}

/* ---- holding ---- */

static struct catalog_hold *hold_new(struct reader *r)
{
    struct catalog *c = r->catalog;
    struct catalog_hold *h = malloc(sizeof *h);
    if (!h)
        return NULL;
    pthread_mutex_lock(&c->lock);
    struct table *t = atomic_load_explicit(&c->current, memory_order_relaxed);
    t->refs++;
    pthread_mutex_unlock(&c->lock);
    *h = (struct catalog_hold){.table = t, .reader = r};
    return h;
}

static void hold_free(struct catalog_hold *h)
{
    struct catalog *c = h->reader->catalog;
    pthread_mutex_lock(&c->lock);
    table_unref(&c->slots, h->table);
    pthread_mutex_unlock(&c->lock);
    free(h);
}

static struct reader *reader_new(struct catalog *c)
{
    struct reader *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->catalog = c;
    r->now = hold_new(r);
    if (!r->now) {
        free(r);
        return NULL;
    }
    pthread_mutex_lock(&c->lock);
    r->next = c->readers;
    c->readers = r;
    pthread_mutex_unlock(&c->lock);
    return r;
}

static NOINLINE bool reader_renew(struct worker *worker)
{
    struct reader *r = worker->catalog;
    if (!r) {
        worker->catalog = reader_new(worker->server->catalog);
        return worker->catalog;
    }
    struct catalog_hold *fresh = hold_new(r);
    if (!fresh)
        return false;
    struct catalog_hold *old = r->now;
    r->now = fresh;
    if (!old->in_flight)
        hold_free(old);
    return true;
}

bool catalog_enter(struct request *req)
{
    struct worker *worker = req->worker;
    struct reader *r = worker->catalog;
    /* A table that r holds is not freed, so an equal pointer is the same table. */
    if (unlikely(!r || r->now->table != atomic_load_explicit(&r->catalog->current, memory_order_acquire))) {
        if (!reader_renew(worker))
            return false;
        r = worker->catalog;
    }
    req->hold = r->now;
    req->hold->in_flight++;
    return true;
}

void catalog_leave(struct request *req)
{
    struct catalog_hold *h = req->hold;
    assert(h->in_flight);
    req->hold = NULL;
    req->type = NULL;
    if (!--h->in_flight && h != h->reader->now)
        hold_free(h);
}

enum rc catalog_renew(struct request *req, struct err *err)
{
    struct catalog_hold *old = req->hold;
    if (!catalog_enter(req)) {
        req->hold = old;
        return err_oom(err);
    }
    const struct type *type = catalog_find(req->hold, req->type_name);
    bool same = type && type->number == req->type->number;
    if (same) { /* what leads to schemas of the type that is given up */
        reading_release(req);
        if (req->reader)
            req->reader = type_version_find(type, req->reader->number);
    }
    struct catalog_hold *fresh = req->hold;
    req->hold = same ? old : fresh; /* the one to leave */
    const struct type *kept = same ? type : req->type;
    catalog_leave(req);
    req->hold = same ? fresh : old;
    req->type = kept;
    return same ? RC_OK : RC_NOTFOUND;
}

enum rc catalog_no_type(struct slice name, struct err *err)
{
    struct words words;
    return err_set(err, ERR_NO_TYPE, "There is no type '%s'.", words_of(name, &words));
}

const struct type *catalog_find(const struct catalog_hold *h, struct slice name)
{
    return table_find(h->table, name);
}

size_t catalog_count(const struct catalog_hold *h)
{
    return h->table->ntypes;
}

const struct type *catalog_after(const struct catalog_hold *h, struct slice name)
{
    return table_after(h->table, name);
}

enum compat_mode catalog_level(const struct catalog *c)
{
    return (enum compat_mode)atomic_load_explicit(&c->level, memory_order_acquire);
}

/* ---- changing ---- */

void catalog_level_put(struct catalog *c, uint64_t revision, enum compat_mode level)
{
    pthread_mutex_lock(&c->lock);
    if (revision > c->level_revision) {
        c->level_revision = revision;
        atomic_store_explicit(&c->level, (uint8_t)level, memory_order_release);
    }
    pthread_mutex_unlock(&c->lock);
}

static bool drops_reserve(struct catalog *c)
{
    size_t need = c->ndrops + c->nchanges + 1; /* each change in flight may add one */
    if (need <= c->drops_cap)
        return true;
    size_t cap = need * 2;
    uint32_t *p = realloc(c->drops, cap * sizeof *p);
    if (!p)
        return false;
    c->drops = p;
    c->drops_cap = cap;
    return true;
}

static void drops_forget(struct catalog *c)
{
    size_t n = c->oldest ? (size_t)(c->oldest->drops - c->drops_forgotten) : c->ndrops;
    c->drops_forgotten += n;
    c->ndrops -= n;
    if (n && c->ndrops)
        memmove(c->drops, c->drops + n, c->ndrops * sizeof *c->drops);
}

bool catalog_change_begin(struct catalog *c, struct catalog_change *change)
{
    pthread_mutex_lock(&c->lock);
    bool ok = drops_reserve(c);
    if (ok) {
        *change = (struct catalog_change){.before = c->newest, .drops = c->drops_forgotten + c->ndrops};
        if (c->newest)
            c->newest->behind = change;
        else
            c->oldest = change;
        c->newest = change;
        c->nchanges++;
    }
    pthread_mutex_unlock(&c->lock);
    return ok;
}

void catalog_change_end(struct catalog *c, struct catalog_change *change)
{
    pthread_mutex_lock(&c->lock);
    assert(c->nchanges);
    c->nchanges--;
    *(change->before ? &change->before->behind : &c->oldest) = change->behind;
    *(change->behind ? &change->behind->before : &c->newest) = change->before;
    drops_forget(c);
    pthread_mutex_unlock(&c->lock);
}

size_t catalog_drops_remembered(struct catalog *c)
{
    pthread_mutex_lock(&c->lock);
    size_t n = c->ndrops;
    pthread_mutex_unlock(&c->lock);
    return n;
}

static bool is_dropped(const struct catalog *c, uint32_t number)
{
    for (size_t i = 0; i < c->ndrops; i++)
        if (c->drops[i] == number)
            return true;
    return false;
}

/* Make `t` the current table. */
static void publish(struct catalog *c, struct table *t)
{
    struct table *old = atomic_load_explicit(&c->current, memory_order_relaxed);
    atomic_store_explicit(&c->current, t, memory_order_release);
    table_unref(&c->slots, old);
}

static enum rc put_locked(struct catalog *c, struct slice name, const struct type_row *row, struct err *err)
{
    struct table *old = atomic_load_explicit(&c->current, memory_order_relaxed);
    struct type *known = table_find(old, name);
    bool late = known && (known->number > row->number ||
                          (known->number == row->number && known->revision >= row->revision));
    if (late || is_dropped(c, row->number))
        return RC_OK;
    struct type *type;
    if (type_new(&type, &c->slots, name, row, err) != RC_OK)
        return RC_ERR;
    if (known && known->number == row->number)
        type_inherit(type, known);
    struct table *t = table_put(old, type);
    if (t)
        publish(c, t);
    type_unref(&c->slots, type); /* the table has its own, or is not there */
    return t ? RC_OK : err_oom(err);
}

enum rc catalog_put(struct catalog *c, struct slice name, const struct type_row *row, struct err *err)
{
    pthread_mutex_lock(&c->lock);
    enum rc rc = put_locked(c, name, row, err);
    pthread_mutex_unlock(&c->lock);
    return rc;
}

static enum rc drop_locked(struct catalog *c, struct slice name, uint32_t number, struct err *err)
{
    if (!is_dropped(c, number)) {
        assert(c->ndrops < c->drops_cap);
        c->drops[c->ndrops++] = number;
    }
    struct table *old = atomic_load_explicit(&c->current, memory_order_relaxed);
    struct type *known = table_find(old, name);
    if (!known || known->number != number)
        return RC_OK;
    struct table *t = table_remove(old, known);
    if (!t)
        return err_oom(err);
    publish(c, t);
    return RC_OK;
}

enum rc catalog_drop(struct catalog *c, struct slice name, uint32_t number, struct err *err)
{
    pthread_mutex_lock(&c->lock);
    enum rc rc = drop_locked(c, name, number, err);
    pthread_mutex_unlock(&c->lock);
    return rc;
}
