/* tests/unit/storage/test_copy_threads.c - a copy of a running store is a store, as it was at one revision, whatever is written meanwhile. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "storage/care.h"
#include "tests/unit/storage/fixture.h"

enum { RECORDS = 3000, LONG_BYTES = 40000 };

static void open_store(struct fixture *f)
{
    fixture_prepare(f, &engine_lmdb);
    f->opts.durability = DURABLE_NONE;
    f->opts.readers = 2;
    fixture_open_prepared(f);
}

static int make_file(const struct fixture *f, char path[128])
{
    snprintf(path, 128, "%s/copy", f->dir);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    return fd;
}

static void no_fault(void *arg, const char *words)
{
    (void)arg;
    fail_msg("%s", words);
}

static void some_fault(void *arg, const char *words)
{
    (void)arg;
    assert_true(strlen(words) > 10);
}

static struct store_file *open_file(const char *path)
{
    struct store_pages pages;
    struct store_file *file;
    struct err err = {0};
    if (store_file_open(&file, path, &pages, no_fault, NULL, &err) != RC_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pages.lost, 0);
    assert_int_equal(pages.used + pages.spare, pages.pages);
    assert_int_equal(pages.faults, 0);
    return file;
}

static enum rc copy_all(struct store_copy *copy, uint64_t step, struct err *err)
{
    enum rc rc;
    while ((rc = store_copy_step(copy, step, err)) == RC_PENDING)
        ;
    return rc;
}

static void put_numbered(struct fixture *f, struct store_worker *worker, unsigned i, unsigned seq)
{
    static _Thread_local char body[LONG_BYTES], id[16];
    (void)f;
    snprintf(id, sizeof id, "%u", i);
    memset(body, 'x', sizeof body);
    int n = snprintf(body, sizeof body, "%u.", seq);
    struct store_write w = {.kind = WRITE_PUT,
                            .key = fixture_key(1, id),
                            .schema_id = 1,
                            .part = {slice_of(body, i % 50 ? (size_t)n + i % 3000 : sizeof body)}};
    assert_int_equal(fixture_write_on(worker, &w), RC_OK);
}

/* Open the copy as a store of its own. */
static void open_copy(struct fixture *other, const char *path)
{
    char to[128];
    fixture_prepare(other, &engine_lmdb);
    other->opts.durability = DURABLE_NONE;
    snprintf(to, sizeof to, "%s/data.mdb", other->dir);
    assert_int_equal(rename(path, to), 0);
    fixture_reopen(other);
}

TEST(store_copy__is_a_store_with_all_that_was_there)
{
    struct fixture f, other;
    struct store_copy *copy;
    struct store_summary summary;
    struct err err = {0};
    char path[128];
    open_store(&f);
    for (unsigned i = 0; i < RECORDS; i++)
        put_numbered(&f, f.worker, i, i);
    for (unsigned i = 0; i < RECORDS; i += 3) { /* free pages, which a copy leaves out */
        char id[16];
        snprintf(id, sizeof id, "%u", i);
        assert_int_equal(fixture_delete(&f, 1, id), RC_OK);
    }
    struct store_count count = fixture_count(&f, 1);
    store_turn_end(f.worker);
    int fd = make_file(&f, path);
    assert_int_equal(store_copy_new(&copy, f.worker, fd, &err), RC_OK);
    assert_int_equal(copy_all(copy, 100000, &err), RC_OK);
    store_copy_free(copy);
    close(fd);

    struct store_file *file = open_file(path);
    assert_int_equal(store_file_summary(file, &summary, &err), RC_OK);
    assert_int_equal(summary.records, count.records);
    assert_int_equal(summary.bytes, count.bytes);
    assert_int_equal(summary.types, FIXTURE_TYPES);
    assert_true(summary.clean && summary.whole);
    store_file_close(file);

    open_copy(&other, path);
    assert_int_equal(fixture_count(&other, 1).records, count.records);
    struct record rec;
    assert_int_equal(fixture_get(&other, 1, "50", &rec), RC_OK);
    assert_int_equal(rec.body_bytes, LONG_BYTES);
    uint8_t *whole = fixture_whole(&other, &rec);
    assert_memory_equal(whole, "50.", 3);
    assert_int_equal(whole[LONG_BYTES - 1], 'x');
    free(whole);
    assert_int_equal(fixture_get(&other, 1, "49", &rec), RC_OK);
    fixture_assert_absent(&other, 1, "48");
    assert_int_equal(fixture_put(&other, 1, "48", "again"), RC_OK);
    fixture_end(&other);
    fixture_end(&f);
}

/* ---- under writes ---- */

struct load {
    struct fixture *f;
    struct store_worker *worker;
    _Atomic bool over;
    _Atomic unsigned turns;
};

static enum rc move_both(struct store_write *w, struct store_txn *txn, struct err *err)
{
    const struct store_key a = fixture_key(2, "a"), b = fixture_key(3, "b");
    struct record rec = {.schema_id = 1, .body = w->part[0]};
    return txn_put(txn, &a, &rec, err) == RC_OK && txn_put(txn, &b, &rec, err) == RC_OK ? RC_OK : RC_ERR;
}

/* Two records that only ever move together, and others that are replaced. */
static void *write_on(void *arg)
{
    struct load *l = arg;
    for (unsigned seq = 1; !atomic_load(&l->over); seq++) {
        static char body[16];
        snprintf(body, sizeof body, "%u", seq);
        struct store_write w = {.kind = WRITE_CALL, .call = move_both, .part = {slice_str(body)}};
        assert_int_equal(fixture_write_on(l->worker, &w), RC_OK);
        put_numbered(l->f, l->worker, seq % RECORDS, seq);
        atomic_store(&l->turns, seq);
    }
    return NULL;
}

TEST(store_copy__is_of_one_revision_while_others_write)
{
    struct fixture f, other;
    struct err err = {0};
    char path[128];
    open_store(&f);
    struct load load = {.f = &f};
    assert_int_equal(store_worker_new(&load.worker, f.store, NULL, &err), RC_OK);
    for (unsigned i = 0; i < RECORDS; i++)
        put_numbered(&f, f.worker, i, 0);
    store_turn_end(f.worker);
    pthread_t thread;
    pthread_create(&thread, NULL, write_on, &load);
    for (unsigned round = 0; round < 3; round++) {
        unsigned before = atomic_load(&load.turns);
        struct store_copy *copy;
        struct store_copy_state state;
        while (atomic_load(&load.turns) < before + 3)
            poll(NULL, 0, 1);
        int fd = make_file(&f, path);
        assert_int_equal(store_copy_new(&copy, f.worker, fd, &err), RC_OK);
        before = atomic_load(&load.turns);
        assert_int_equal(store_copy_step(copy, 1000, &err), RC_PENDING);
        while (atomic_load(&load.turns) < before + 20) /* much is written while it is under way */
            poll(NULL, 0, 1);
        assert_int_equal(copy_all(copy, 1 << 20, &err), RC_OK);
        store_copy_state(copy, &state);
        assert_true(state.rows > RECORDS && state.bytes <= 2 * state.bytes_total);
        store_copy_free(copy);
        close(fd);
        struct store_file *file = open_file(path);
        struct store_summary summary;
        assert_int_equal(store_file_summary(file, &summary, &err), RC_OK);
        assert_int_equal(summary.revision, state.revision);
        assert_int_equal(summary.records, RECORDS + 2);
        store_file_close(file);
        open_copy(&other, path);
        struct record a, b;
        char text[16];
        assert_int_equal(fixture_get(&other, 2, "a", &a), RC_OK);
        snprintf(text, sizeof text, "%.*s", (int)a.body.len, (const char *)a.body.ptr);
        assert_int_equal(fixture_get(&other, 3, "b", &b), RC_OK);
        assert_slice_str(b.body, text);
        fixture_end(&other);
    }
    atomic_store(&load.over, true);
    pthread_join(thread, NULL);
    fixture_end(&f);
}

TEST(store_copy__can_be_given_up_at_any_step)
{
    struct fixture f;
    struct err err = {0};
    char path[128];
    open_store(&f);
    for (unsigned i = 0; i < 500; i++)
        put_numbered(&f, f.worker, i, i);
    store_turn_end(f.worker);
    for (unsigned steps = 0; steps < 40; steps += 7) {
        struct store_copy *copy;
        int fd = make_file(&f, path);
        assert_int_equal(store_copy_new(&copy, f.worker, fd, &err), RC_OK);
        for (unsigned i = 0; i < steps; i++)
            (void)!store_copy_step(copy, 10000, &err);
        store_copy_free(copy);
        close(fd);
        unlink(path);
        assert_int_equal(f.worker->snap_since_ms, 0);
    }
    fixture_end(&f);
}

TEST(store_copy__of_an_engine_without_files_is_not_supported)
{
    struct fixture f;
    struct store_copy *copy;
    struct err err = {0};
    fixture_open(&f, &engine_memory);
    assert_int_equal(store_copy_new(&copy, f.worker, -1, &err), RC_ERR);
    assert_int_equal(err.code, ERR_NOT_SUPPORTED);
    fixture_end(&f);
}

/* ---- files ---- */

TEST(store_file__is_refused_while_a_server_has_it)
{
    struct fixture f;
    struct store_pages pages;
    struct store_file *file;
    struct err err = {0};
    open_store(&f);
    assert_int_equal(store_file_open(&file, f.dir, &pages, no_fault, NULL, &err), RC_ERR);
    assert_int_equal(err.code, ERR_STORE_LOCKED);
    assert_null(file);
    fixture_end(&f);
}

/* A page of each kind, damaged in each of its first bytes and many others: told, or of no account; never a crash. */
TEST(store_file__survives_damage_anywhere)
{
    struct fixture f;
    struct err err = {0};
    char path[128];
    open_store(&f);
    for (unsigned i = 0; i < 600; i++)
        put_numbered(&f, f.worker, i, i);
    fixture_close(&f);
    snprintf(path, sizeof path, "%s/data.mdb", f.dir);
    int fd = open(path, O_RDWR);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    unsigned told = 0, tries = 0;
    for (off_t at = 0; at < st.st_size && at < 400 * 4096; at += at % 4096 < 32 ? 1 : 509) {
        uint8_t before, after;
        struct store_pages pages;
        struct store_file *file;
        assert_int_equal(pread(fd, &before, 1, at), 1);
        after = before ^ 0xff;
        assert_int_equal(pwrite(fd, &after, 1, at), 1);
        enum rc rc = store_file_open(&file, f.dir, &pages, some_fault, NULL, &err);
        told += rc != RC_OK || pages.faults;
        tries++;
        store_file_close(file);
        assert_int_equal(pwrite(fd, &before, 1, at), 1);
    }
    close(fd);
    print_message("%u of %u damages are told\n", told, tries);
    assert_true(told > tries / 20); /* most of a page is rows, which nobody looks at here */
    store_file_close(open_file(f.dir));
    fixture_remove(&f);
}

TEST_MAIN()
