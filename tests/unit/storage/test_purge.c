/* tests/unit/storage/test_purge.c - what is dead goes, bit by bit, and nothing else: beside writes, after a
 * restart, whenever the process dies. */
#include <sys/wait.h>

#include "tests/unit/storage/wrap.h"

#include "base/clock.h"
#include "storage/keys.h"

static uint8_t large[40 * LIMIT_CHUNK_BYTES];

static enum rc drop(struct fixture *f, uint32_t type, const char *name)
{
    struct store_write w = {.kind = WRITE_TYPE_DROP,
                            .key = {.space = SPACE_TYPE, .type = type, .id = slice_str(name)}};
    return fixture_write(f, &w);
}

/* A call that puts `count` records from number `schema_id` on into a type. */
static enum rc put_many(struct store_write *w, struct store_txn *txn, struct err *err)
{
    for (uint32_t i = 0; i < w->nrevisions; i++) {
        char id[16];
        snprintf(id, sizeof id, "%08u", w->schema_id + i);
        struct store_key key = fixture_key(w->key.type, id);
        struct record rec = {.body = SLICE("a body of some twenty bytes")};
        if (txn_put(txn, &key, &rec, err) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

static void fill(struct fixture *f, uint32_t type, unsigned records)
{
    enum { EACH = 1000 };
    for (unsigned at = 0; at < records; at += EACH) {
        struct store_write w = {.kind = WRITE_CALL, .call = put_many, .schema_id = at};
        w.key.type = type;
        w.nrevisions = records - at < EACH ? records - at : EACH;
        if (fixture_write(f, &w) != RC_OK)
            fail_msg("fill: %s", w.err.message);
    }
}

static enum rc put_large(struct fixture *f, uint32_t type, const char *id, size_t len)
{
    struct store_write w = {.kind = WRITE_PUT, .key = fixture_key(type, id), .part = {slice_of(large, len)}};
    return fixture_write(f, &w);
}

static void await_purged_types(struct fixture *f)
{
    while (fixture_rows(f, DB_COUNTS) > 1)
        poll(NULL, 0, 1);
}

STORE_TEST(purge__takes_all_rows_of_a_dropped_type_and_no_others)
{
    fill(f, 1, 700);
    fill(f, 2, 30);
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, "e"), .part = {SLICE("x")}, .expires_ms = INT64_C(1) << 47};
    assert_int_equal(fixture_write(f, &w), RC_OK);
    w.key.type = 2;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(put_large(f, 1, "l", 30000), RC_OK);
    assert_int_equal(drop(f, 1, "t1"), RC_OK);
    fixture_await_rows(f, DB_RECORDS, 31);
    await_purged_types(f);
    assert_int_equal(fixture_rows(f, DB_EXPIRY), 1);
    assert_int_equal(fixture_rows(f, DB_TRASH),
                     2); /* the body, which may still be read, and the dead number */
    assert_int_equal(fixture_rows(f, DB_CHUNKS), 8);
    assert_int_equal(fixture_count(f, 2).records, 31);
    assert_int_equal(fixture_rows(f, DB_TYPES), FIXTURE_TYPES - 1);
    assert_int_equal(fixture_put(f, 1, "a", "x"), RC_NOTFOUND);
    fixture_assert_absent(f, 1, "00000000");
}

static struct store_write type_call(enum rc (*call)(struct store_write *, struct store_txn *, struct err *))
{
    return (struct store_write){.kind = WRITE_CALL, .call = call};
}

/* The name t1 again, under the next number, which goes to schema_id. */
static enum rc make_type_again(struct store_write *w, struct store_txn *txn, struct err *err)
{
    struct store_key key = {.space = SPACE_TYPE, .id = SLICE("t1")};
    struct record row = {.body = SLICE("a type's row")};
    w->schema_id = txn_number(txn, SPACE_TYPE);
    return txn_put(txn, &key, &row, err);
}

TEST(purge__a_number_stays_dead_after_the_last_row_of_its_type_and_after_restarts)
{
    struct fixture f;
    fixture_open(&f, &engine_lmdb);
    fill(&f, 1, 5);
    fill(&f, 2, 5);
    assert_int_equal(drop(&f, 1, "t1"), RC_OK);
    await_purged_types(&f);
    struct store_write w = type_call(make_type_again);
    assert_int_equal(fixture_write(&f, &w), RC_OK);
    assert_int_equal(w.schema_id, FIXTURE_TYPES + 1);
    for (unsigned i = 0; i < 3; i++) {
        fixture_close(&f);
        fixture_reopen(&f);
        assert_int_equal(fixture_put(&f, 1, "a", "x"), RC_NOTFOUND);
        assert_int_equal(fixture_put(&f, FIXTURE_TYPES + 1, "a", "x"), RC_OK);
        assert_int_equal(fixture_put(&f, 2, "a", "x"), RC_OK);
    }
    assert_int_equal(fixture_count(&f, 2).records, 6);
    fixture_end(&f);
}

static enum rc make_types(struct store_write *w, struct store_txn *txn, struct err *err)
{
    for (unsigned i = 0; i < w->nrevisions; i++) {
        char name[16];
        uint32_t number = txn_number(txn, SPACE_TYPE);
        snprintf(name, sizeof name, "n%u", number);
        struct store_key key = {.space = SPACE_TYPE, .id = slice_str(name)};
        struct record row = {.body = SLICE("a type's row")};
        struct store_key in = fixture_key(number, "a");
        if (txn_put(txn, &key, &row, err) != RC_OK || txn_put(txn, &in, &row, err) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

/* Whatever the order in which types die, their numbers end up in as many ranges as there are gaps. */
TEST(purge__dead_numbers_are_kept_as_ranges)
{
    enum { FIRST = FIXTURE_TYPES + 1, N = 40, LIVE = 20 };
    static const unsigned strides[] = {1, 7, 11, N - 1}; /* upwards, criss-cross, downwards */
    for (size_t s = 0; s < ARRAY_LEN(strides); s++) {
        struct fixture f;
        fixture_open(&f, &engine_lmdb);
        struct store_write w = type_call(make_types);
        w.nrevisions = N;
        assert_int_equal(fixture_write(&f, &w), RC_OK);
        for (unsigned i = 0, at = 0; i < N; i++, at = (at + strides[s]) % N) {
            char name[16];
            snprintf(name, sizeof name, "n%u", FIRST + at);
            if (at != LIVE)
                assert_int_equal(drop(&f, FIRST + at, name), RC_OK);
        }
        await_purged_types(&f);
        fixture_await_rows(&f, DB_TRASH, 2);
        fixture_close(&f);
        fixture_reopen(&f);
        for (unsigned i = 0; i < N; i++)
            assert_int_equal(fixture_put(&f, FIRST + i, "b", "x"), i == LIVE ? RC_OK : RC_NOTFOUND);
        assert_int_equal(fixture_put(&f, FIRST - 1, "b", "x"), RC_OK);
        assert_int_equal(fixture_rows(&f, DB_RECORDS), 3);
        fixture_end(&f);
    }
}

TEST(purge__removes_200000_records_while_writes_go_on)
{
    enum { RECORDS = 200000 };
    struct fixture f;
    struct store_space full, after;
    fixture_prepare(&f, &engine_lmdb);
    f.opts.durability = DURABLE_NONE;
    fixture_open_prepared(&f);
    fill(&f, 1, RECORDS);
    store_space(f.store, &full);
    assert_int_equal(drop(&f, 1, "t1"), RC_OK);
    unsigned puts = 0, left;
    do {
        char id[16];
        snprintf(id, sizeof id, "%u", puts++ % 500);
        assert_int_equal(fixture_put(&f, 2, id, "x"), RC_OK);
        left = puts % 64 ? 1 : fixture_rows(&f, DB_COUNTS) - 1;
    } while (left);
    assert_int_equal(fixture_count(&f, 2).records, puts < 500 ? puts : 500);
    assert_int_equal(fixture_rows(&f, DB_RECORDS), puts < 500 ? puts : 500);
    assert_int_equal(fixture_put(&f, 2, "last", "x"), RC_OK);
    store_space(f.store, &after);
    assert_true(after.used < full.used / 10);
    fixture_end(&f);
}

/* ---- time ---- */

/* A row of the trash and two chunks for it, behind a closed store's back. */
static void forge_dead_blob(struct fixture *f, uint64_t number, int64_t died_ms)
{
    struct engine *e;
    struct err err;
    struct key trash;
    uint8_t chunk[2][KEY_CHUNK_BYTES], died[8];
    key_trash(&trash, TRASH_BLOB, number);
    put_le64(died, (uint64_t)died_ms);
    key_chunk(chunk[0], number, 0);
    key_chunk(chunk[1], number, 1);
    struct mutation m[] = {{.key = slice_of(chunk[0], KEY_CHUNK_BYTES), .part = {SLICE("x")}},
                           {.key = slice_of(chunk[1], KEY_CHUNK_BYTES), .part = {SLICE("y")}},
                           {.key = key_slice(&trash), .part = {slice_of(died, sizeof died)}}};
    assert_int_equal(f->ops->open(&e, &f->opts, &err), RC_OK);
    assert_int_equal(f->ops->apply(e, m, ARRAY_LEN(m), &err), RC_OK);
    f->ops->close(e);
}

TEST(purge__a_dead_body_stays_as_long_as_it_may_be_read_whatever_the_clock_said)
{
    struct fixture f;
    fixture_open(&f, &engine_lmdb);
    assert_int_equal(put_large(&f, 1, "a", 30000), RC_OK);
    fixture_close(&f);
    forge_dead_blob(&f, 1000, 5);                /* long dead */
    forge_dead_blob(&f, 2000, INT64_C(1) << 47); /* died when the clock was far ahead */
    fixture_reopen(&f);
    fixture_await_rows(&f, DB_TRASH, 0);
    assert_int_equal(put_large(&f, 1, "a", 30001), RC_OK);
    assert_int_equal(drop(&f, 2, "t2"), RC_OK);
    fixture_await_rows(&f, DB_TRASH, 2); /* the dead type has been purged, so the purge has looked */
    assert_int_equal(fixture_rows(&f, DB_CHUNKS), 16);
    f.opts.blob_keep_ms = 1;
    fixture_close(&f);
    fixture_reopen(&f);
    fixture_await_rows(&f, DB_TRASH, 1);
    assert_int_equal(fixture_rows(&f, DB_CHUNKS), 8);
    fixture_end(&f);
}

TEST(purge__bodies_go_although_many_others_may_not_yet)
{
    struct fixture f;
    fixture_open(&f, &engine_lmdb);
    fixture_close(&f);
    for (unsigned i = 0; i < 600; i++) /* their time comes tomorrow: for the purge, the clock is steady */
        forge_dead_blob(&f, 10 + i, i == 599 ? 5 : clock_wall_ms() - 1000);
    f.opts.blob_keep_ms = 86400000;
    fixture_reopen(&f);
    fixture_await_rows(&f, DB_TRASH, 599);
    assert_int_equal(fixture_rows(&f, DB_CHUNKS), 599 * 2);
    fixture_end(&f);
}

/* ---- faults ---- */

static unsigned countdown;

static enum rc fail_purges(const struct mutation *m, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (m[i].del && m[i].key.ptr[0] == DB_RECORDS && countdown) {
            countdown--;
            return err_set(err, ERR_NO_SPACE, "Full.");
        }
    return RC_OK;
}

TEST(purge__a_step_that_fails_harms_no_write_and_is_tried_again)
{
    static struct fixture f;
    fixture_open(&f, wrap_engine(&engine_memory));
    fill(&f, 1, 600);
    countdown = 3;
    wrap_set_on_apply(fail_purges);
    assert_int_equal(drop(&f, 1, "t1"), RC_OK);
    while (fixture_rows(&f, DB_COUNTS) > 0 || fixture_rows(&f, DB_RECORDS) > 1)
        assert_int_equal(
            fixture_write(&f, &(struct store_write){.kind = WRITE_PUT,
                                                    .key = {.space = SPACE_SUBJECT, .id = SLICE("s")},
                                                    .part = {SLICE("x")}}),
            RC_OK);
    fixture_end(&f);
}

/* Dies where the n-th step of the purge would be applied: the one before it has just been. */
static enum rc die(const struct mutation *m, size_t n, struct err *err)
{
    bool purges = false;
    for (size_t i = 0; i < n; i++)
        purges |= m[i].del && (m[i].key.ptr[0] == DB_RECORDS || m[i].key.ptr[0] == DB_CHUNKS ||
                               m[i].key.ptr[0] == DB_COUNTS);
    (void)err;
    if (purges && --countdown == 0)
        _exit(7);
    return RC_OK;
}

static void drop_and_die(struct fixture *f)
{
    f->ops = wrap_engine(&engine_lmdb);
    fixture_open_prepared(f);
    fill(f, 1, 1500);
    fill(f, 2, 10);
    if (put_large(f, 1, "0", sizeof large) != RC_OK || put_large(f, 1, "large", sizeof large) != RC_OK)
        _exit(1);
    wrap_set_on_apply(die);
    if (drop(f, 1, "t1") != RC_OK)
        _exit(1);
    for (;;)
        if (fixture_put(f, 2, "00000000", "x") != RC_OK)
            _exit(1);
}

TEST(purge__a_process_that_dies_amid_it_leaves_a_store_that_goes_on_with_it)
{
    for (unsigned nth = 1; nth <= 8; nth++) {
        struct fixture f;
        int status;
        fixture_prepare(&f, &engine_lmdb);
        f.opts.blob_keep_ms = 1;
        fflush(NULL);
        countdown = nth;
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            drop_and_die(&f);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 7);
        fixture_reopen(&f);
        assert_int_equal(fixture_put(&f, 1, "a", "x"), RC_NOTFOUND);
        await_purged_types(&f);
        fixture_await_rows(&f, DB_TRASH, 1);
        assert_int_equal(fixture_rows(&f, DB_RECORDS), 10);
        assert_int_equal(fixture_rows(&f, DB_COUNTS), 1);
        assert_int_equal(fixture_rows(&f, DB_CHUNKS), 0);
        assert_int_equal(fixture_count(&f, 2).records, 10);
        assert_int_equal(fixture_put(&f, 1, "a", "x"), RC_NOTFOUND);
        fixture_end(&f);
    }
}

TEST_MAIN()
