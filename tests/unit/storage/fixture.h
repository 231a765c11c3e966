/* tests/unit/storage/fixture.h - a store for one test: a temporary directory, a worker, and each operation as
 * a call that returns when it is done. */
#ifndef TESTS_UNIT_STORAGE_FIXTURE_H
#define TESTS_UNIT_STORAGE_FIXTURE_H

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/lib/test.h"

#include "base/bytes.h"
#include "storage/store.h"

enum { FIXTURE_WORKERS = 8, FIXTURE_TYPES = 4 };

struct fixture {
    const struct engine_ops *ops;
    struct store_opts opts;
    char dir[64];
    struct store *store;
    struct store_worker *worker;
};

/* How many writes of this thread have come back since it last waited. */
static _Thread_local unsigned fixture_finished;

static inline void fixture_write_done(struct store_write *w)
{
    (void)w;
    fixture_finished++;
}

/* Run a worker's loop until so many writes are done. */
static inline void fixture_await(struct store_worker *worker, unsigned writes)
{
    while (fixture_finished < writes) {
        struct pollfd p = {.fd = store_worker_fd(worker), .events = POLLIN};
        uint64_t rings;
        poll(&p, 1, -1);
        if (read(p.fd, &rings, sizeof rings) <
            0) /* poll is level-triggered; then run, or a ring would be lost */
            assert_int_equal(errno, EAGAIN);
        store_worker_run(worker);
    }
    assert_int_equal(fixture_finished, writes);
    fixture_finished = 0;
}

static inline void fixture_queue_on(struct store_worker *worker, struct store_write *w)
{
    struct err err = {0};
    w->done = fixture_write_done;
    store_turn_end(worker); /* a snapshot that is kept would pin every page since */
    if (store_write(worker, w, &err) != RC_PENDING)
        fail_msg("store_write: %s", err.message);
}

static inline enum rc fixture_write_on(struct store_worker *worker, struct store_write *w)
{
    fixture_queue_on(worker, w);
    fixture_await(worker, 1);
    return w->rc;
}

static inline enum rc fixture_write(struct fixture *f, struct store_write *w)
{
    return fixture_write_on(f->worker, w);
}

static inline struct store_key fixture_key(uint32_t type, const char *id)
{
    return (struct store_key){.space = SPACE_RECORD, .type = type, .id = slice_str(id)};
}

static inline enum rc fixture_put(struct fixture *f, uint32_t type, const char *id, const char *body)
{
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(type, id), .schema_id = 1, .part = {slice_str(body)}};
    return fixture_write(f, &w);
}

static inline enum rc fixture_delete(struct fixture *f, uint32_t type, const char *id)
{
    struct store_write w = {.kind = WRITE_DELETE, .key = fixture_key(type, id)};
    return fixture_write(f, &w);
}

static inline void fixture_get_done(struct store_get *g)
{
    (void)g;
}

/* The record stays borrowed until the worker's next call. */
static inline enum rc fixture_get(struct fixture *f, uint32_t type, const char *id, struct record *rec)
{
    struct store_get g = {.key = fixture_key(type, id), .done = fixture_get_done};
    store_get(f->worker, &g);
    if (g.rc == RC_ERR)
        fail_msg("store_get: %s", g.err.message);
    *rec = g.rec;
    return g.rc;
}

/* A whole body, whichever way it is kept; the caller's, by free. */
static inline uint8_t *fixture_whole(struct fixture *f, const struct record *rec)
{
    uint8_t *whole = malloc(rec->body_bytes + 1);
    struct slice chunk[7];
    struct err err = {0};
    uint64_t at = 0;
    assert_non_null(whole);
    if (!rec->blob)
        memcpy(whole, rec->body.ptr, at = rec->body.len);
    for (uint32_t i = 0; at < rec->body_bytes;) {
        unsigned n = ARRAY_LEN(chunk);
        if (store_chunks(f->worker, rec, i, chunk, &n, &err) != RC_OK)
            fail_msg("store_chunks: %s", err.message);
        for (unsigned c = 0; c < n; at += chunk[c++].len)
            memcpy(whole + at, chunk[c].ptr, chunk[c].len);
        i += n;
    }
    assert_int_equal(at, rec->body_bytes);
    return whole;
}

static inline void fixture_assert_body(struct fixture *f, uint32_t type, const char *id, const char *body)
{
    struct record rec;
    assert_int_equal(fixture_get(f, type, id, &rec), RC_OK);
    uint8_t *whole = fixture_whole(f, &rec);
    assert_slice_str(slice_of(whole, rec.body_bytes), body);
    free(whole);
}

static inline void fixture_assert_absent(struct fixture *f, uint32_t type, const char *id)
{
    struct record rec;
    assert_int_equal(fixture_get(f, type, id, &rec), RC_NOTFOUND);
}

static inline struct store_count fixture_count(struct fixture *f, uint32_t type)
{
    struct store_count c;
    struct err err = {0};
    if (store_count(f->worker, type, &c, &err) != RC_OK)
        fail_msg("store_count: %s", err.message);
    return c;
}

/* How many rows the engine holds in a database, as of the last group. */
static inline unsigned fixture_rows(struct fixture *f, uint8_t db)
{
    struct snap *s;
    struct slice k, v;
    struct err err;
    unsigned n = 0;
    assert_int_equal(f->ops->snap_new(f->store->engine, &s, &err), RC_OK);
    assert_int_equal(f->ops->snap_renew(s, &err), RC_OK);
    enum rc rc = f->ops->seek(s, slice_of(&db, 1), &k, &v, &err);
    for (; rc == RC_OK; rc = f->ops->next(s, &k, &v, &err))
        n++;
    f->ops->snap_free(s);
    return n;
}

/* Wait until a database has just so many rows: the purge is at work meanwhile. */
static inline void fixture_await_rows(struct fixture *f, uint8_t db, unsigned rows)
{
    while (fixture_rows(f, db) != rows)
        poll(NULL, 0, 1);
}

static inline enum rc fixture_make_types(struct store_write *w, struct store_txn *txn, struct err *err)
{
    (void)w;
    for (uint32_t i = 1; i <= FIXTURE_TYPES; i++) {
        static const char *const names[] = {"", "t1", "t2", "t3", "t4"};
        struct store_key key = {.space = SPACE_TYPE, .id = slice_str(names[i])};
        struct record row = {.body = SLICE("a type's row")};
        if (txn_number(txn, SPACE_TYPE) != i || txn_put(txn, &key, &row, err) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

static inline enum rc fixture_try_open(struct fixture *f, struct err *err)
{
    *err = (struct err){0};
    if (store_open_engine(&f->store, f->ops, &f->opts, err) != RC_OK)
        return RC_ERR;
    if (store_worker_new(&f->worker, f->store, NULL, err) != RC_OK)
        fail_msg("store_worker_new: %s", err->message);
    return RC_OK;
}

static inline void fixture_reopen(struct fixture *f)
{
    struct err err;
    if (fixture_try_open(f, &err) != RC_OK)
        fail_msg("store_open: %s", err.message);
}

static inline void fixture_prepare(struct fixture *f, const struct engine_ops *ops)
{
    *f = (struct fixture){.ops = ops};
    snprintf(f->dir, sizeof f->dir, "/tmp/avrod-store-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->opts = (struct store_opts){.engine = ops->name, .dir = f->dir, .workers = FIXTURE_WORKERS};
}

/* Open with types 1 to FIXTURE_TYPES, named t1 and so on. */
static inline void fixture_open_prepared(struct fixture *f)
{
    fixture_reopen(f);
    struct store_write w = {.kind = WRITE_CALL, .call = fixture_make_types};
    assert_int_equal(fixture_write(f, &w), RC_OK);
}

static inline void fixture_open(struct fixture *f, const struct engine_ops *ops)
{
    fixture_prepare(f, ops);
    fixture_open_prepared(f);
}

static inline void fixture_close(struct fixture *f)
{
    store_turn_end(f->worker);
    store_worker_free(f->worker);
    store_close(f->store);
    f->worker = NULL;
    f->store = NULL;
}

static inline void fixture_remove(struct fixture *f)
{
    char path[512];
    DIR *d = opendir(f->dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", f->dir, e->d_name);
        unlink(path);
    }
    closedir(d);
    rmdir(f->dir);
}

static inline void fixture_end(struct fixture *f)
{
    fixture_close(f);
    fixture_remove(f);
}

static const struct engine_ops *const fixture_engines[] = {
#define ENGINE(name) &engine_##name,
#include "storage/engines.def"
#undef ENGINE
};

/* A test that runs on each engine with a fresh store. */
#define STORE_TEST(name)                                                                                     \
    static void name##_on(struct fixture *);                                                                 \
    TEST(name)                                                                                               \
    {                                                                                                        \
        for (size_t i = 0; i < ARRAY_LEN(fixture_engines); i++) {                                            \
            struct fixture f;                                                                                \
            fixture_open(&f, fixture_engines[i]);                                                            \
            name##_on(&f);                                                                                   \
            fixture_end(&f);                                                                                 \
        }                                                                                                    \
    }                                                                                                        \
    static void name##_on(struct fixture *f)

#endif
