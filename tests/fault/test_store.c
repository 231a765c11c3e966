/* tests/fault/test_store.c - each operation of a store, on each engine, when the n-th allocation fails: it is
 * done or it is NO_MEMORY, a store is as it was before or as it is behind, and goes on. */
#include "tests/fault/fault.h"

#include "base/log.h"
#include "tests/unit/storage/fixture.h"

/* Nothing here depends on flushes, and they would take most of the time. */
int fdatasync(int fd)
{
    (void)fd;
    return 0;
}

int fsync(int fd)
{
    (void)fd;
    return 0;
}

/* ---- opening and closing ---- */

enum { MAP_BYTES = 64 << 20 };

static enum rc open_and_close(void *arg, struct err *err)
{
    struct fixture *f = arg;
    fault_begin();
    enum rc rc = store_open_engine(&f->store, f->ops, &f->opts, err);
    if (rc == RC_OK) {
        struct store_space space;
        store_space(f->store, &space);
        assert_int_equal(space.max, MAP_BYTES); /* never less for want of something else */
        rc = store_worker_new(&f->worker, f->store, NULL, err);
        if (rc == RC_OK)
            store_worker_free(f->worker);
        store_close(f->store);
    }
    fault_end();
    return rc;
}

TEST(store_open__opens_whole_or_no_memory)
{
    for (size_t i = 0; i < ARRAY_LEN(fixture_engines); i++) {
        struct fixture f;
        fixture_prepare(&f, fixture_engines[i]);
        f.opts.durability = DURABLE_NONE;
        f.opts.bytes_max = MAP_BYTES;
        assert_true(fault_each(open_and_close, &f, RC_OK, ERR_NONE) > 0);
        fixture_remove(&f);
    }
}

/* A fresh directory for each run: making a store, not only opening one. */
static enum rc make_and_close(void *arg, struct err *err)
{
    struct fixture f;
    fixture_prepare(&f, arg);
    f.opts.durability = DURABLE_NONE;
    f.opts.bytes_max = MAP_BYTES;
    enum rc rc = open_and_close(&f, err);
    fixture_reopen(&f); /* whatever is there by now is a store, or the beginning of one */
    fixture_end(&f);
    return rc;
}

TEST(store_open__makes_a_store_or_no_memory)
{
    for (size_t i = 0; i < ARRAY_LEN(fixture_engines); i++)
        assert_true(fault_each(make_and_close, (void *)(uintptr_t)fixture_engines[i], RC_OK, ERR_NONE) > 0);
}

static enum rc load_dropped_types(void *arg, struct err *err)
{
    struct fixture *f = arg;
    enum rc rc = open_and_close(f, err);
    fixture_reopen(f);
    fixture_assert_absent(f, 2, "a");
    fixture_close(f);
    return rc;
}

TEST(store_open__knows_what_was_dropped_or_no_memory)
{
    struct fixture f;
    fixture_prepare(&f, &engine_lmdb);
    f.opts.durability = DURABLE_NONE;
    f.opts.bytes_max = MAP_BYTES;
    fixture_reopen(&f);
    struct store_write make = {.kind = WRITE_CALL, .call = fixture_make_types};
    assert_int_equal(fixture_write(&f, &make), RC_OK);
    assert_int_equal(fixture_put(&f, 2, "a", "x"), RC_OK);
    struct store_write drop = {.kind = WRITE_TYPE_DROP,
                               .key = {.space = SPACE_TYPE, .type = 2, .id = SLICE("t2")}};
    assert_int_equal(fixture_write(&f, &drop), RC_OK);
    fixture_close(&f);
    assert_true(fault_each(load_dropped_types, &f, RC_OK, ERR_NONE) > 0);
    fixture_remove(&f);
}

/* ---- operations ---- */

static char long_body[3000];
static uint8_t longer_body[2 * LIMIT_LAY_CHUNKS_MAX * LIMIT_CHUNK_BYTES + 1]; /* several groups */

struct operation {
    enum rc (*run)(struct fixture *, struct err *);
    void (*check)(struct fixture *, bool done); /* is all as it was before, or as it is when it is done? */
};

static void check_write(struct fixture *f, bool done)
{
    fixture_assert_body(f, 1, "a", done ? "after" : "before");
    fixture_assert_body(f, 1, "b", "kept");
    fixture_assert_body(f, 2, "a", "other");
    struct store_count c = fixture_count(f, 1);
    assert_int_equal(c.records, 2);
    assert_int_equal(c.bytes, strlen(done ? "after" : "before") + strlen("kept"));
}

static enum rc finish(struct fixture *f, struct store_write *w, struct err *err)
{
    enum rc rc = fixture_write(f, w);
    assert_true(rc != RC_ERR || (w->revision == 0 && !w->created));
    *err = w->err;
    return rc;
}

static enum rc put(struct fixture *f, struct err *err)
{
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {SLICE("af"), SLICE("t"), SLICE("er")}};
    return finish(f, &w, err);
}

/* With an idempotency key: it is remembered if it is done, and only then. */
static enum rc put_once(struct fixture *f, struct err *err)
{
    static struct store_idem idem;
    idem = (struct store_idem){.key = {1}, .request = {2}, .ttl_s = 3600, .note = SLICE("note")};
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {SLICE("after")}, .idem = &idem};
    return finish(f, &w, err);
}

static void check_once(struct fixture *f, bool done)
{
    check_write(f, done);
    assert_int_equal(fixture_rows(f, DB_IDEM), done);
    assert_int_equal(fixture_rows(f, DB_EXPIRY), done);
}

static enum rc delete_range(struct fixture *f, struct err *err)
{
    struct store_write w = {.kind = WRITE_RANGE_DELETE, .key = fixture_key(1, "a"), .upto = SLICE("b")};
    return finish(f, &w, err);
}

static enum rc create(struct fixture *f, struct err *err)
{
    struct store_write w = {.kind = WRITE_PUT,
                            .cond = COND_ABSENT,
                            .key = fixture_key(1, "c"),
                            .content_type = SLICE("text/plain"),
                            .part = {slice_of(long_body, sizeof long_body)}};
    return finish(f, &w, err);
}

static void check_created(struct fixture *f, bool done)
{
    struct record rec;
    assert_int_equal(fixture_get(f, 1, "c", &rec), done ? RC_OK : RC_NOTFOUND);
    if (done)
        assert_true(slice_eq(rec.body, slice_of(long_body, sizeof long_body)));
    assert_int_equal(fixture_count(f, 1).records, done ? 3 : 2);
}

static enum rc put_longer(struct fixture *f, struct err *err)
{
    struct store_write w = {
        .kind = WRITE_PUT,
        .key = fixture_key(1, "c"),
        .part = {slice_of(longer_body, 5000), slice_of(longer_body + 5000, sizeof longer_body - 5000)}};
    return finish(f, &w, err);
}

static void check_longer(struct fixture *f, bool done)
{
    struct record rec;
    assert_int_equal(fixture_get(f, 1, "c", &rec), done ? RC_OK : RC_NOTFOUND);
    fixture_await_rows(f, DB_TRASH, 0);
    assert_int_equal(fixture_rows(f, DB_CHUNKS), done ? chunks_of(sizeof longer_body) : 0);
    assert_int_equal(fixture_count(f, 1).bytes, strlen("beforekept") + (done ? sizeof longer_body : 0));
}

static enum rc delete (struct fixture *f, struct err *err) {
    struct store_write w = {.kind = WRITE_DELETE, .key = fixture_key(1, "a")}; return finish(f, &w, err);
}

static void check_deleted(struct fixture *f, bool done)
{
    struct record rec;
    assert_int_equal(fixture_get(f, 1, "a", &rec), done ? RC_NOTFOUND : RC_OK);
    assert_int_equal(fixture_count(f, 1).records, done ? 1 : 2);
}

static enum rc change(struct store_write *w, const struct record *old, struct record *fresh, struct err *err)
{
    (void)w, (void)err;
    assert_slice_str(old->body, "before");
    fresh->body = SLICE("after");
    return RC_OK;
}

static enum rc edit(struct fixture *f, struct err *err)
{
    struct store_write w = {.kind = WRITE_EDIT, .key = fixture_key(1, "a"), .edit = change};
    return finish(f, &w, err);
}

/* Reads, puts, deletes in three types, and takes a number. */
static enum rc change_many(struct store_write *w, struct store_txn *txn, struct err *err)
{
    (void)w;
    const struct store_key a = fixture_key(1, "a"), b = fixture_key(2, "a"), c = fixture_key(3, "new"),
                           schema = {.space = SPACE_SCHEMA, .id = SLICE("1234")};
    const struct record after = {.body = SLICE("after")}, text = {.body = SLICE("text")};
    struct record rec;
    if (txn_get(txn, &a, &rec, err) != RC_OK)
        return RC_ERR;
    assert_slice_str(rec.body, "before");
    assert_int_equal(txn_number(txn, SPACE_SCHEMA), 1); /* none is lost with a call that failed */
    if (txn_put(txn, &a, &after, err) != RC_OK || txn_put(txn, &b, NULL, err) != RC_OK ||
        txn_put(txn, &c, &after, err) != RC_OK || txn_put(txn, &schema, &text, err) != RC_OK)
        return RC_ERR;
    if (txn_get(txn, &a, &rec, err) != RC_OK)
        return RC_ERR;
    assert_slice_str(rec.body, "after");
    return RC_OK;
}

static enum rc call(struct fixture *f, struct err *err)
{
    struct store_write w = {.kind = WRITE_CALL, .call = change_many};
    return finish(f, &w, err);
}

static void check_called(struct fixture *f, bool done)
{
    fixture_assert_body(f, 1, "a", done ? "after" : "before");
    if (done) {
        fixture_assert_absent(f, 2, "a");
        fixture_assert_body(f, 3, "new", "after");
    } else {
        fixture_assert_body(f, 2, "a", "other");
        fixture_assert_absent(f, 3, "new");
    }
    assert_int_equal(fixture_count(f, 2).records, !done);
    assert_int_equal(fixture_count(f, 3).records, done);
}

static enum rc drop(struct fixture *f, struct err *err)
{
    struct store_write w = {.kind = WRITE_TYPE_DROP,
                            .key = {.space = SPACE_TYPE, .type = 1, .id = SLICE("t1")}};
    enum rc rc = finish(f, &w, err);
    if (rc == RC_OK)
        assert_int_equal(w.count, 2);
    return rc;
}

static void check_dropped(struct fixture *f, bool done)
{
    if (!done) {
        check_write(f, false);
        return;
    }
    fixture_assert_absent(f, 1, "a");
    assert_int_equal(fixture_count(f, 1).records, 0);
    assert_int_equal(fixture_put(f, 1, "a", "x"), RC_NOTFOUND);
}

static enum rc get(struct fixture *f, struct err *err)
{
    struct store_get g = {.key = fixture_key(1, "a"), .done = fixture_get_done};
    store_get(f->worker, &g);
    *err = g.err;
    if (g.rc == RC_OK)
        assert_slice_str(g.rec.body, "before");
    return g.rc;
}

struct counting_scan {
    struct store_scan scan;
    unsigned rows;
};

static enum rc count_row(struct store_scan *s, struct slice id, const struct record *rec)
{
    (void)id, (void)rec;
    CONTAINER_OF(s, struct counting_scan, scan)->rows++;
    return RC_OK;
}

static void scan_page_done(struct store_scan *s)
{
    (void)s;
}

static enum rc scan(struct fixture *f, struct err *err)
{
    struct counting_scan c = {
        .scan = {
            .space = SPACE_RECORD, .type = 1, .row = count_row, .done = scan_page_done, .rc = RC_PENDING}};
    while (c.scan.rc == RC_PENDING)
        store_scan(f->worker, &c.scan);
    *err = c.scan.err;
    if (c.scan.rc == RC_OK)
        assert_int_equal(c.rows, 2);
    return c.scan.rc;
}

static void check_untouched(struct fixture *f, bool done)
{
    (void)done;
    check_write(f, false);
}

/* A store with types. */
static void open_quickly(struct fixture *f, const struct engine_ops *engine)
{
    fixture_prepare(f, engine);
    f->opts.durability = DURABLE_NONE;
    f->opts.bytes_max = MAP_BYTES;
    fixture_reopen(f);
    struct store_write make = {.kind = WRITE_CALL, .call = fixture_make_types};
    assert_int_equal(fixture_write(f, &make), RC_OK);
}

struct attempt {
    const struct operation *operation;
    const struct engine_ops *engine;
};

static enum rc attempt(void *arg, struct err *err)
{
    const struct attempt *a = arg;
    struct fixture f;
    open_quickly(&f, a->engine);
    assert_int_equal(fixture_put(&f, 1, "a", "before"), RC_OK);
    assert_int_equal(fixture_put(&f, 1, "b", "kept"), RC_OK);
    assert_int_equal(fixture_put(&f, 2, "a", "other"), RC_OK);

    fault_begin();
    enum rc rc = a->operation->run(&f, err);
    fault_end();

    assert_false(store_broken(f.store));
    a->operation->check(&f, rc == RC_OK);
    if (rc != RC_OK) {
        struct err again;
        assert_int_equal(a->operation->run(&f, &again), RC_OK);
        a->operation->check(&f, true);
    }
    if (a->engine->caps & CAP_DURABLE) {
        fixture_close(&f);
        fixture_reopen(&f);
        a->operation->check(&f, true);
    }
    fixture_end(&f);
    return rc;
}

static void attempt_each(struct operation operation)
{
    memset(long_body, 'x', sizeof long_body);
    for (size_t i = 0; i < ARRAY_LEN(fixture_engines); i++) {
        struct attempt a = {&operation, fixture_engines[i]};
        fault_each(attempt, &a, RC_OK, ERR_NONE);
    }
}

TEST(store_write__puts_whole_or_no_memory)
{
    attempt_each((struct operation){put, check_write});
    attempt_each((struct operation){create, check_created});
    attempt_each((struct operation){put_once, check_once});
    log_set_level(LOG_LEVEL_ERROR); /* as below: what was laid down is purged */
    attempt_each((struct operation){put_longer, check_longer});
    log_set_level(LOG_LEVEL_INFO);
}

TEST(store_write__deletes_whole_or_no_memory)
{
    attempt_each((struct operation){delete, check_deleted});
    attempt_each((struct operation){delete_range, check_deleted});
}

TEST(store_write__edits_whole_or_no_memory)
{
    attempt_each((struct operation){edit, check_write});
}

TEST(store_write__calls_whole_or_no_memory)
{
    attempt_each((struct operation){call, check_called});
}

TEST(store_write__drops_a_type_whole_or_no_memory)
{
    log_set_level(
        LOG_LEVEL_ERROR); /* the purge tells of a step that failed, and the first line takes memory */
    attempt_each((struct operation){drop, check_dropped});
    log_set_level(LOG_LEVEL_INFO);
}

TEST(store_get__finds_or_no_memory)
{
    attempt_each((struct operation){get, check_untouched});
}

TEST(store_scan__shows_all_or_no_memory)
{
    attempt_each((struct operation){scan, check_untouched});
}

/* ---- a group ---- */

enum { GROUP = 40 };

static void group_body(unsigned i, bool after, char out[16])
{
    snprintf(out, 16, "%s %u", after ? "after" : "before", i);
}

/* Many writes at once, each done or not by itself. */
static enum rc put_group(void *arg, struct err *err)
{
    struct fixture *f = arg;
    static struct store_write w[GROUP];
    static char id[GROUP][8], body[GROUP][16], before[16];
    enum rc rc = RC_OK;
    for (unsigned i = 0; i < GROUP; i++) {
        snprintf(id[i], sizeof id[i], "%u", i);
        group_body(i, false, before);
        assert_int_equal(fixture_put(f, 1, id[i], before), RC_OK);
        group_body(i, true, body[i]);
        w[i] = (struct store_write){
            .kind = WRITE_PUT, .key = fixture_key(1, id[i]), .part = {slice_str(body[i])}};
    }
    fault_begin();
    for (unsigned i = 0; i < GROUP; i++)
        fixture_queue_on(f->worker, &w[i]);
    fixture_await(f->worker, GROUP);
    fault_end();
    for (unsigned i = 0; i < GROUP; i++) {
        if (w[i].rc != RC_OK) {
            rc = w[i].rc;
            *err = w[i].err;
            assert_int_equal(err->code, ERR_NO_MEMORY);
        }
        group_body(i, w[i].rc == RC_OK, before);
        fixture_assert_body(f, 1, id[i], before);
    }
    assert_int_equal(fixture_count(f, 1).records, GROUP);
    assert_false(store_broken(f->store));
    return rc;
}

static enum rc put_group_afresh(void *arg, struct err *err)
{
    struct fixture f;
    open_quickly(&f, arg);
    enum rc rc = put_group(&f, err);
    fixture_end(&f);
    return rc;
}

TEST(store_write__of_a_group_is_done_or_no_memory_one_by_one)
{
    for (size_t i = 0; i < ARRAY_LEN(fixture_engines); i++)
        fault_each(put_group_afresh, (void *)(uintptr_t)fixture_engines[i], RC_OK, ERR_NONE);
}

TEST_MAIN()
