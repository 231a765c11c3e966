/* tests/unit/storage/test_expired.c - records past their time go by themselves, with all that hangs on them
 * and nothing else; what is damaged keeps nobody from going. */
#include <sys/wait.h>

#include "tests/unit/storage/wrap.h"

#include "base/clock.h"
#include "storage/head.h"
#include "storage/keys.h"

static uint8_t large[40 * LIMIT_CHUNK_BYTES];

static enum rc put(struct fixture *f, uint32_t type, const char *id, struct slice body, int64_t expires_ms)
{
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(type, id), .part = {body}, .expires_ms = expires_ms};
    return fixture_write(f, &w);
}

STORE_TEST(purge__removes_expired_records_with_all_that_hangs_on_them)
{
    int64_t soon = clock_wall_ms() + 50, far = INT64_C(1) << 47;
    assert_int_equal(put(f, 1, "short", SLICE("x"), soon), RC_OK);
    assert_int_equal(put(f, 1, "long", slice_of(large, 30000), soon + 1), RC_OK);
    assert_int_equal(put(f, 2, "past", SLICE("x"), 1), RC_OK);
    assert_int_equal(put(f, 1, "stays", SLICE("abc"), far), RC_OK);
    assert_int_equal(put(f, 1, "kept", SLICE("x"), soon), RC_OK);
    assert_int_equal(put(f, 1, "kept", SLICE("yy"), 0), RC_OK);
    fixture_await_rows(f, DB_EXPIRY, 1);
    assert_int_equal(fixture_rows(f, DB_RECORDS), 2);
    assert_int_equal(fixture_rows(f, DB_TRASH), 1); /* the body, which may still be read */
    assert_int_equal(fixture_count(f, 1).records, 2);
    assert_int_equal(fixture_count(f, 1).bytes, 5);
    assert_int_equal(fixture_count(f, 2).records, 0);
    fixture_assert_body(f, 1, "stays", "abc");
    fixture_assert_body(f, 1, "kept", "yy");
    assert_int_equal(store_set_aside(f->store), 0);
}

STORE_TEST(purge__an_expiry_takes_a_revision)
{
    struct store_write w = {.kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {SLICE("x")}};
    assert_int_equal(put(f, 1, "gone", SLICE("x"), 1), RC_OK);
    fixture_await_rows(f, DB_EXPIRY, 0);
    assert_int_equal(fixture_write(f, &w), RC_OK);
    uint64_t before = w.revision;
    assert_int_equal(put(f, 1, "gone", SLICE("x"), 1), RC_OK);
    fixture_await_rows(f, DB_EXPIRY, 0);
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(w.revision, before + 3);
}

STORE_TEST(purge__a_record_put_again_in_time_lives_on)
{
    int64_t soon = clock_wall_ms() + 300;
    assert_int_equal(put(f, 1, "a", SLICE("x"), soon), RC_OK);
    assert_int_equal(put(f, 1, "a", SLICE("y"), soon + 3600000), RC_OK);
    assert_int_equal(put(f, 1, "b", SLICE("x"), soon), RC_OK);
    fixture_await_rows(f, DB_EXPIRY, 1);
    fixture_assert_body(f, 1, "a", "y");
    assert_int_equal(fixture_count(f, 1).records, 1);
}

static enum rc put_many(struct store_write *w, struct store_txn *txn, struct err *err)
{
    for (uint32_t i = 0; i < w->nrevisions; i++) {
        char id[16];
        snprintf(id, sizeof id, "%08u", w->schema_id + i);
        struct store_key key = fixture_key(w->key.type, id);
        struct record rec = {.body = SLICE("x"), .expires_ms = w->expires_ms ? w->expires_ms + i : 0};
        if (txn_put(txn, &key, &rec, err) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

static void fill(struct fixture *f, uint32_t type, unsigned records, int64_t expires_ms)
{
    enum { EACH = 1000 };
    for (unsigned at = 0; at < records; at += EACH) {
        struct store_write w = {
            .kind = WRITE_CALL, .call = put_many, .schema_id = at, .expires_ms = expires_ms};
        w.key.type = type;
        w.nrevisions = records - at < EACH ? records - at : EACH;
        if (fixture_write(f, &w) != RC_OK)
            fail_msg("fill: %s", w.err.message);
    }
}

static unsigned most_deleted;

static enum rc watch_deletes(const struct mutation *m, size_t n, struct err *err)
{
    unsigned deleted = 0;
    (void)err;
    for (size_t i = 0; i < n; i++)
        deleted += m[i].del;
    most_deleted = deleted > most_deleted ? deleted : most_deleted;
    return RC_OK;
}

TEST(purge__removes_thousands_of_expired_records_in_bounded_steps)
{
    struct fixture f;
    fixture_open(&f, wrap_engine(&engine_memory));
    wrap_set_on_apply(watch_deletes);
    fill(&f, 1, 5000, 1);
    fill(&f, 2, 10, 0);
    fixture_await_rows(&f, DB_EXPIRY, 0);
    assert_int_equal(fixture_rows(&f, DB_RECORDS), 10);
    assert_true(most_deleted > 1 && most_deleted <= LIMIT_PURGE_KEYS_MAX);
    fixture_end(&f);
}

STORE_TEST(purge__of_a_dropped_type_and_of_what_is_expired_in_it_agree)
{
    struct store_write w = {.kind = WRITE_TYPE_DROP,
                            .key = {.space = SPACE_TYPE, .type = 1, .id = SLICE("t1")}};
    fill(f, 1, 1000, 1);
    fill(f, 2, 1000, 1);
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(fixture_put(f, 2, "a", "x"), RC_OK);
    fixture_await_rows(f, DB_RECORDS, 1);
    fixture_await_rows(f, DB_EXPIRY, 0);
    fixture_await_rows(f, DB_TRASH, 1); /* the dead number */
    assert_int_equal(fixture_count(f, 2).records, 1);
}

TEST(purge__expired_records_go_after_a_restart)
{
    struct fixture f;
    fixture_prepare(&f, &engine_lmdb);
    f.opts.keep_expired = true;
    fixture_open_prepared(&f);
    fill(&f, 1, 600, 1);
    assert_int_equal(fixture_rows(&f, DB_EXPIRY), 600);
    fixture_close(&f);
    f.opts.keep_expired = false;
    fixture_reopen(&f);
    fixture_await_rows(&f, DB_EXPIRY, 0);
    assert_int_equal(fixture_rows(&f, DB_RECORDS), 0);
    fixture_end(&f);
}

static unsigned countdown;

/* Dies where the n-th step would be applied. */
static enum rc die(const struct mutation *m, size_t n, struct err *err)
{
    bool purges = false;
    for (size_t i = 0; i < n; i++)
        purges |= m[i].del;
    (void)err;
    if (purges && --countdown == 0)
        _exit(7);
    return RC_OK;
}

static void fill_and_die(struct fixture *f)
{
    f->ops = wrap_engine(&engine_lmdb);
    fixture_open_prepared(f);
    fill(f, 2, 10, 0);
    wrap_set_on_apply(die);
    fill(f, 1, 500, 1);
    for (;;)
        if (fixture_put(f, 2, "00000000", "x") != RC_OK)
            _exit(1);
}

TEST(purge__of_expired_records_goes_on_after_a_process_that_died_amid_it)
{
    for (unsigned nth = 1; nth <= 4; nth++) {
        struct fixture f;
        int status;
        fixture_prepare(&f, &engine_lmdb);
        fflush(NULL);
        countdown = nth;
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            fill_and_die(&f);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 7);
        fixture_reopen(&f);
        fixture_await_rows(&f, DB_EXPIRY, 0);
        assert_int_equal(fixture_rows(&f, DB_RECORDS), 10);
        assert_int_equal(fixture_count(&f, 1).records, 0);
        assert_int_equal(fixture_count(&f, 2).records, 10);
        fixture_end(&f);
    }
}

/* ---- what is damaged ---- */

/* Rows behind a closed store's back. */
static void forge(struct fixture *f, const struct mutation *m, size_t n)
{
    struct engine *e;
    struct err err;
    assert_int_equal(f->ops->open(&e, &f->opts, &err), RC_OK);
    assert_int_equal(f->ops->apply(e, m, n, &err), RC_OK);
    f->ops->close(e);
}

TEST(purge__a_leftover_of_expiry_goes_and_takes_nothing_with_it)
{
    struct fixture f;
    struct key gone, other, dead;
    fixture_open(&f, &engine_lmdb);
    assert_int_equal(put(&f, 1, "a", SLICE("x"), INT64_C(1) << 47), RC_OK);
    fixture_close(&f);
    key_expiry(&gone, 5, EXPIRY_RECORD, 1, SLICE("absent"));
    key_expiry(&other, 5, EXPIRY_RECORD, 1, SLICE("a"));
    key_expiry(&dead, 5, EXPIRY_RECORD, 4000000000, SLICE("a"));
    struct mutation m[] = {{.key = key_slice(&other)}, {.key = key_slice(&gone)}, {.key = key_slice(&dead)}};
    forge(&f, m, ARRAY_LEN(m));
    fixture_reopen(&f);
    fixture_await_rows(&f, DB_EXPIRY, 1);
    fixture_assert_body(&f, 1, "a", "x");
    assert_int_equal(fixture_count(&f, 1).records, 1);
    assert_int_equal(store_set_aside(f.store), 0);
    fixture_end(&f);
}

static void await_set_aside(struct fixture *f, unsigned rows)
{
    while (store_set_aside(f->store) != rows)
        poll(NULL, 0, 1);
}

TEST(purge__sets_aside_what_is_damaged_and_goes_on_with_the_rest)
{
    struct fixture f;
    struct key short_key, short_value, damaged, head, ripe;
    static const uint8_t long_ago[TRASH_BYTES] = {5};
    fixture_prepare(&f, &engine_lmdb);
    f.opts.keep_expired = true;
    fixture_open_prepared(&f);
    fill(&f, 1, 300, 2);
    fill(&f, 2, 300, 0);
    fixture_close(&f);
    key_trash(&short_key, TRASH_BLOB, 1);
    short_key.len -= 2;
    key_trash(&short_value, TRASH_BLOB, 7);
    key_trash(&ripe, TRASH_BLOB, 9);
    key_expiry(&damaged, 1, EXPIRY_RECORD, 1, SLICE("damaged"));
    const struct store_key key = fixture_key(1, "damaged");
    key_of(&head, &key);
    struct mutation m[] = {{.key = key_slice(&head), .part = {SLICE("no head")}},
                           {.key = key_slice(&damaged)},
                           {.key = key_slice(&short_key), .part = {SLICE("x")}},
                           {.key = key_slice(&short_value), .part = {SLICE("x")}},
                           {.key = key_slice(&ripe), .part = {slice_of(long_ago, sizeof long_ago)}}};
    forge(&f, m, ARRAY_LEN(m));
    f.opts.keep_expired = false;
    fixture_reopen(&f);
    struct store_write w = {.kind = WRITE_TYPE_DROP,
                            .key = {.space = SPACE_TYPE, .type = 2, .id = SLICE("t2")}};
    assert_int_equal(fixture_write(&f, &w), RC_OK);
    fixture_await_rows(&f, DB_RECORDS, 1);
    fixture_await_rows(&f, DB_EXPIRY, 1);
    fixture_await_rows(&f, DB_TRASH, 3); /* two that are damaged, and the dead number */
    await_set_aside(&f, 3);
    assert_int_equal(fixture_count(&f, 1).records, 0);
    assert_int_equal(fixture_put(&f, 1, "a", "x"), RC_OK);
    assert_int_equal(put(&f, 1, "b", SLICE("x"), 1), RC_OK);
    fixture_await_rows(&f, DB_RECORDS, 2);
    await_set_aside(&f, 3);
    fixture_end(&f);
}

TEST_MAIN()
