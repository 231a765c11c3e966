/* server/registry/rows.c - the store's rows as a helper reads them. The engines call back before they return; on a
 * helper nothing else would do. */
#include <assert.h>
#include <stddef.h>

#include "server/registry/registry.h"

struct reading {
    struct store_get get;
    struct arena *arena;
    struct slice bytes;
};

static void read_done(struct store_get *get)
{
    struct reading *r = CONTAINER_OF(get, struct reading, get);
    if (get->rc == RC_OK && !arena_copy(r->arena, get->rec.body, &r->bytes))
        get->rc = err_oom(&get->err);
}

enum rc rows_get(struct call *c, enum space space, struct slice key, struct slice *out, struct err *err)
{
    struct reading r = {.get = {.key = {.space = space, .id = key}, .done = read_done, .rc = RC_PENDING},
                        .arena = call_arena(c)};
    store_get(c->store, &r.get);
    assert(r.get.rc != RC_PENDING);
    *out = r.bytes;
    if (r.get.rc == RC_ERR)
        *err = r.get.err;
    return r.get.rc;
}

struct walk {
    struct store_scan scan;
    struct call *call;
    enum rc (*row)(struct call *, void *, struct slice, struct slice, struct err *);
    void *arg;
    bool is_over;
};

static enum rc walk_row(struct store_scan *scan, struct slice key, const struct record *rec)
{
    struct walk *w = CONTAINER_OF(scan, struct walk, scan);
    enum rc rc = w->row(w->call, w->arg, key, rec->body, &scan->err);
    w->is_over = rc == RC_PENDING;
    return rc;
}

static void walk_done(struct store_scan *scan)
{
    (void)scan; /* rows_each looks at scan->rc */
}

enum rc rows_each(struct call *c, enum space space, struct slice from, struct slice upto,
                  enum rc (*row)(struct call *, void *, struct slice, struct slice, struct err *), void *arg,
                  struct err *err)
{
    struct walk w = {.scan = {.space = space, .from = from, .upto = upto, .row = walk_row, .done = walk_done},
                     .call = c,
                     .row = row,
                     .arg = arg};
    do
        store_scan(c->store, &w.scan);
    while (w.scan.rc == RC_PENDING && !w.is_over);
    if (w.scan.rc == RC_ERR) {
        *err = w.scan.err;
        return RC_ERR;
    }
    return RC_OK;
}

static enum rc first_row(struct store_scan *scan, struct slice key, const struct record *rec)
{
    struct walk *w = CONTAINER_OF(scan, struct walk, scan);
    (void)key, (void)rec;
    w->is_over = true;
    return RC_PENDING;
}

enum rc rows_from(struct call *c, enum space space, struct slice key, bool *out, struct err *err)
{
    struct walk w = {
        .scan = {.space = space, .from = key, .keys_only = true, .row = first_row, .done = walk_done}};
    store_scan(c->store, &w.scan);
    *out = w.is_over;
    if (w.scan.rc == RC_ERR)
        *err = w.scan.err;
    return w.scan.rc == RC_ERR ? RC_ERR : RC_OK;
}

static enum rc settings_of(struct call *c, struct slice subject, struct subject_settings *out,
                           struct err *err)
{
    uint8_t key[LIMIT_ID_MAX];
    struct slice bytes;
    *out = (struct subject_settings){0};
    enum rc rc = rows_get(c, SPACE_SUBJECT, settings_key(subject, key), &bytes, err);
    if (rc == RC_OK)
        return settings_decode(bytes, out, err);
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

enum rc rows_settings(struct call *c, struct slice subject, struct settings_pair *out, struct err *err)
{
    *out = (struct settings_pair){0};
    if (subject.len && settings_of(c, subject, &out->own, err) != RC_OK)
        return RC_ERR;
    return settings_of(c, (struct slice){0}, &out->global, err);
}
