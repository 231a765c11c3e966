/* tests/unit/storage/test_life.c - opening and closing: clean, dirty, in use, foreign, newer, cut short. */
#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/unit/storage/fixture.h"

#include "storage/keys.h"
#include "storage/meta.h"

static void assert_opens_with(struct fixture *f, enum err_code code)
{
    struct err err;
    assert_int_equal(fixture_try_open(f, &err), RC_ERR);
    if (err.code != code)
        fail_msg("%s: %s", err_slug(err.code), err.message);
    assert_true(strlen(err.message) > 10);
    f->store = NULL;
}

/* Run in another process, which ends without closing anything. */
static void in_child(void (*run)(struct fixture *), struct fixture *f)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        run(f);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(store_open__finds_everything_again_after_a_clean_close)
{
    struct fixture f;
    fixture_open(&f, &engine_lmdb);
    struct store_write w = {.kind = WRITE_PUT,
                            .key = fixture_key(1, "a"),
                            .part = {SLICE("1")},
                            .content_type = SLICE("text/plain"),
                            .schema_id = 3};
    assert_int_equal(fixture_write(&f, &w), RC_OK);
    uint64_t revision = w.revision;
    struct store_write drop = {.kind = WRITE_TYPE_DROP, .key = {SPACE_TYPE, 2, SLICE("t2")}};
    assert_int_equal(fixture_put(&f, 2, "b", "2"), RC_OK);
    assert_int_equal(fixture_write(&f, &drop), RC_OK);
    fixture_close(&f);
    fixture_reopen(&f);
    struct record rec;
    assert_int_equal(fixture_get(&f, 1, "a", &rec), RC_OK);
    assert_slice_str(rec.body, "1");
    assert_slice_str(rec.content_type, "text/plain");
    assert_int_equal(rec.schema_id, 3);
    assert_int_equal(rec.revision, revision);
    assert_int_equal(fixture_count(&f, 1).records, 1);
    fixture_assert_absent(&f, 2, "b"); /* a dead number stays dead */
    assert_int_equal(fixture_put(&f, 2, "b", "x"), RC_NOTFOUND);
    assert_int_equal(fixture_write(&f, &w), RC_OK);
    assert_true(w.revision > drop.revision);
    fixture_end(&f);
}

static enum rc next_numbers(struct store_write *w, struct store_txn *txn, struct err *err)
{
    (void)err;
    w->count = txn_number(txn, SPACE_TYPE);
    w->expires_ms = txn_number(txn, SPACE_SCHEMA);
    return RC_OK;
}

TEST(store_open__never_gives_a_number_again)
{
    struct fixture f;
    struct store_write w = {.kind = WRITE_CALL, .call = next_numbers};
    fixture_open(&f, &engine_lmdb);
    assert_int_equal(fixture_write(&f, &w), RC_OK);
    assert_int_equal(w.expires_ms, 1);
    fixture_close(&f);
    fixture_reopen(&f);
    assert_int_equal(fixture_write(&f, &w), RC_OK);
    assert_int_equal(w.expires_ms, 2);
    fixture_end(&f);
}

static const char *const ids[] = {"a", "bb", "ccc"};

static void write_and_die(struct fixture *f)
{
    fixture_reopen(f);
    struct store_write w = {.kind = WRITE_CALL, .call = fixture_make_types};
    if (fixture_write(f, &w) != RC_OK)
        _exit(1);
    for (unsigned i = 0; i < 90; i++)
        if (fixture_put(f, 1 + i / 30, ids[i % 3], ids[i / 30]) != RC_OK)
            _exit(1);
    struct store_write drop = {.kind = WRITE_TYPE_DROP, .key = {SPACE_TYPE, 2, SLICE("t2")}};
    if (fixture_write(f, &drop) != RC_OK || fixture_delete(f, 1, "a") != RC_OK)
        _exit(1);
}

static void dies_in(enum durability durability)
{
    struct fixture f;
    fixture_prepare(&f, &engine_lmdb);
    f.opts.durability = durability;
    in_child(write_and_die, &f);
    fixture_reopen(&f);
    assert_int_equal(fixture_count(&f, 1).records, 2);
    assert_int_equal(fixture_count(&f, 2).records, 0);
    assert_int_equal(fixture_count(&f, 3).records, 3);
    assert_int_equal(fixture_count(&f, 3).bytes, 9);
    fixture_assert_absent(&f, 1, "a");
    fixture_assert_absent(&f, 2, "a");
    fixture_assert_body(&f, 3, "a", "ccc");
    fixture_end(&f);
}

TEST(store_open__after_a_process_that_died_all_that_was_answered_is_there)
{
    dies_in(DURABLE_SYNC);
    dies_in(DURABLE_ASYNC);
    dies_in(DURABLE_NONE);
}

/* ---- in use ---- */

static void assert_locked(struct fixture *f)
{
    struct err err;
    if (fixture_try_open(f, &err) != RC_ERR || err.code != ERR_STORE_LOCKED)
        _exit(1);
}

TEST(store_open__a_directory_in_use_is_refused_also_through_a_symbolic_link)
{
    struct fixture f, other;
    char link[80];
    fixture_open(&f, &engine_lmdb);
    other = f;
    assert_opens_with(&other, ERR_STORE_LOCKED); /* in this process too */
    in_child(assert_locked, &other);
    snprintf(link, sizeof link, "%s-link", f.dir);
    assert_int_equal(symlink(f.dir, link), 0);
    other.opts.dir = link;
    assert_opens_with(&other, ERR_STORE_LOCKED);
    in_child(assert_locked, &other);
    unlink(link);
    assert_int_equal(fixture_put(&f, 1, "a", "still works"), RC_OK);
    fixture_close(&f);
    fixture_reopen(&f);
    fixture_end(&f);
}

/* ---- what is no store of ours ---- */

/* Change a row of meta behind a closed store's back. */
static void set_meta(struct fixture *f, struct slice name, struct slice value)
{
    struct engine *e;
    struct err err;
    struct key k;
    key_meta(&k, name);
    struct mutation m = {.key = key_slice(&k), .part = {value}, .del = value.ptr == NULL};
    assert_int_equal(f->ops->open(&e, &f->opts, &err), RC_OK);
    assert_int_equal(f->ops->apply(e, &m, 1, &err), RC_OK);
    f->ops->close(e);
}

TEST(store_open__refuses_newer_and_damaged_formats_and_leaves_them_alone)
{
    struct fixture f;
    uint8_t row[META_FORMAT_BYTES];
    fixture_open(&f, &engine_lmdb);
    assert_int_equal(fixture_put(&f, 1, "a", "x"), RC_OK);
    fixture_close(&f);
    put_le32(row, META_FORMAT + 1);
    set_meta(&f, SLICE("format"), slice_of(row, sizeof row));
    assert_opens_with(&f, ERR_STORE_FORMAT);
    set_meta(&f, SLICE("format"), SLICE("\1"));
    assert_opens_with(&f, ERR_STORE_FORMAT);
    set_meta(&f, SLICE("format"), (struct slice){NULL, 0});
    assert_opens_with(&f, ERR_STORE_FORMAT); /* not empty, so not new */
    put_le32(row, META_FORMAT);
    set_meta(&f, SLICE("format"), slice_of(row, sizeof row));
    fixture_reopen(&f);
    fixture_assert_body(&f, 1, "a", "x");
    fixture_close(&f);
    set_meta(&f, SLICE("state"), SLICE("short"));
    assert_opens_with(&f, ERR_STORE_FORMAT);
    fixture_remove(&f);
}

static void data_path(const struct fixture *f, char path[128])
{
    snprintf(path, 128, "%s/data.mdb", f->dir);
}

TEST(store_open__refuses_a_data_file_cut_short)
{
    struct fixture f;
    struct stat st;
    char path[128], body[2000];
    fixture_open(&f, &engine_lmdb);
    memset(body, 'x', sizeof body - 1);
    body[sizeof body - 1] = 0;
    for (unsigned i = 0; i < 100; i++) {
        char id[16];
        snprintf(id, sizeof id, "%u", i);
        assert_int_equal(fixture_put(&f, 1, id, body), RC_OK);
    }
    fixture_close(&f);
    data_path(&f, path);
    assert_int_equal(stat(path, &st), 0);
    static const off_t lengths[] = {160 * 1024, 8192, 5000, 4096, 100, 0};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        assert_int_equal(truncate(path, lengths[i]), 0);
        assert_opens_with(&f, ERR_STORE_FORMAT);
    }
    assert_int_equal(unlink(path), 0);
    assert_opens_with(&f, ERR_STORE_FORMAT);
    assert_opens_with(&f, ERR_STORE_FORMAT); /* it does not become a store by being tried */
    fixture_remove(&f);
}

static void make_empty_file(const struct fixture *f, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
}

/* An environment with all its databases, and not a row in them. */
static void make_databases(struct fixture *f)
{
    struct engine *e;
    struct err err;
    assert_int_equal(f->ops->open(&e, &f->opts, &err), RC_OK);
    f->ops->close(e);
}

TEST(store_open__begins_again_where_the_making_of_a_store_was_cut_off)
{
    for (unsigned how = 0; how < 3; how++) {
        struct fixture f;
        fixture_prepare(&f, &engine_lmdb);
        make_empty_file(&f, "LOCK");
        if (how == 1)
            make_empty_file(&f, "data.mdb");
        if (how == 2)
            make_databases(&f);
        fixture_reopen(&f);
        struct store_write w = {.kind = WRITE_CALL, .call = fixture_make_types};
        assert_int_equal(fixture_write(&f, &w), RC_OK);
        fixture_close(&f);
        fixture_reopen(&f);
        assert_int_equal(fixture_put(&f, 1, "a", "x"), RC_OK);
        fixture_end(&f);
    }
}

TEST(store_open__takes_a_whole_data_file_that_came_without_its_lock)
{
    struct fixture f;
    fixture_open(&f, &engine_lmdb);
    assert_int_equal(fixture_put(&f, 1, "a", "x"), RC_OK);
    fixture_close(&f);
    make_empty_file(&f, "LOCK");
    fixture_reopen(&f);
    fixture_assert_body(&f, 1, "a", "x");
    fixture_end(&f);
}

TEST(store_open__refuses_a_file_that_is_no_store)
{
    struct fixture f;
    char path[128], junk[20000];
    fixture_prepare(&f, &engine_lmdb);
    data_path(&f, path);
    memset(junk, 'j', sizeof junk);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, junk, sizeof junk), sizeof junk);
    close(fd);
    assert_opens_with(&f, ERR_STORE_FORMAT);
    fixture_remove(&f);
}

TEST(store_open__refuses_the_environment_of_another_program)
{
    struct fixture f;
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    fixture_prepare(&f, &engine_lmdb);
    assert_int_equal(mdb_env_create(&env), 0);
    assert_int_equal(mdb_env_set_maxdbs(env, 4), 0);
    assert_int_equal(mdb_env_open(env, f.dir, 0, 0600), 0);
    assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
    assert_int_equal(mdb_dbi_open(txn, "theirs", MDB_CREATE, &dbi), 0);
    assert_int_equal(mdb_txn_commit(txn), 0);
    mdb_env_close(env);
    assert_opens_with(&f, ERR_STORE_FORMAT);
    fixture_remove(&f);
}

TEST(store_open__says_what_is_wrong_with_its_directory)
{
    struct fixture f;
    fixture_prepare(&f, &engine_lmdb);
    f.opts.dir = "/proc/avrod-cannot-be-here/at-all";
    assert_opens_with(&f, ERR_IO);
    f.opts.dir = "/dev/null";
    assert_opens_with(&f, ERR_IO);
    rmdir(f.dir);
}

/* ---- dirty ---- */

static void forge_open_row(struct fixture *f, enum durability durability, bool clean)
{
    uint8_t row[META_OPEN_BYTES];
    struct meta_open open = {.clean = clean, .durability = durability, .boot_id = "another boot id"};
    meta_open_encode(&open, row);
    set_meta(f, SLICE("open"), slice_of(row, sizeof row));
}

TEST(store_open__refuses_a_dirty_store_of_mode_none_after_a_restart_of_the_machine)
{
    struct fixture f;
    fixture_open(&f, &engine_lmdb);
    fixture_close(&f);
    forge_open_row(&f, DURABLE_NONE, false);
    assert_opens_with(&f, ERR_STORE_DIRTY);
    f.opts.accept_dirty = true;
    fixture_reopen(&f);
    fixture_close(&f); /* clean again */
    f.opts.accept_dirty = false;
    fixture_reopen(&f);
    fixture_close(&f);
    forge_open_row(&f, DURABLE_NONE, true);
    fixture_reopen(&f);
    fixture_close(&f);
    forge_open_row(&f, DURABLE_SYNC, false);
    fixture_reopen(&f);
    fixture_close(&f);
    forge_open_row(&f, DURABLE_ASYNC, false);
    fixture_reopen(&f);
    fixture_end(&f);
}

/* ---- address space ---- */

#ifndef SANITIZED
static void open_in_four_gigabytes(struct fixture *f)
{
    struct rlimit limit = {4UL << 30, 4UL << 30};
    struct store_space space;
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        _exit(1);
    fixture_open(f, &engine_lmdb);
    store_space(f->store, &space);
    if (space.max < 1UL << 30 || space.max > 4UL << 30 || fixture_put(f, 1, "a", "x") != RC_OK)
        _exit(1);
    fixture_end(f);
}
#endif

TEST(store_open__takes_a_smaller_map_where_address_space_is_short)
{
#ifdef SANITIZED
    skip();
#else
    struct fixture f;
    in_child(open_in_four_gigabytes, &f);
#endif
}

TEST(store_open__an_unknown_engine_is_named)
{
    struct store *s;
    struct err err;
    struct store_opts opts = {.engine = "papyrus", .dir = "/tmp", .workers = 1};
    assert_int_equal(store_open(&s, &opts, &err), RC_ERR);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_non_null(strstr(err.message, "papyrus"));
}

/* ---- readers of other processes ---- */

/* Another process opens the data file and reads, until it is killed. */
static pid_t foreign_reader(const struct fixture *f)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct engine *e;
        struct snap *s;
        struct slice key, value;
        struct err err;
        static const uint8_t from[] = {DB_RECORDS};
        if (f->ops->open(&e, &f->opts, &err) != RC_OK || f->ops->snap_new(e, &s, &err) != RC_OK ||
            f->ops->snap_renew(s, &err) != RC_OK ||
            f->ops->seek(s, slice_of(from, 1), &key, &value, &err) != RC_OK || write(ready[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

/* The file grows while it lives, and no further once it is dead. */
TEST(store__a_foreign_reader_that_was_killed_pins_no_page_any_more)
{
    enum { RECORDS = 100, OVERWRITES = 4000 };
    struct fixture f;
    struct store_space space;
    char id[16];
    static char body[2000];
    memset(body, 'x', sizeof body - 1);
    fixture_prepare(&f, &engine_lmdb);
    f.opts.durability = DURABLE_NONE;
    fixture_open_prepared(&f);
    for (unsigned i = 0; i < RECORDS; i++) {
        snprintf(id, sizeof id, "%u", i);
        assert_int_equal(fixture_put(&f, 1, id, body), RC_OK);
    }
    fixture_close(&f);
    pid_t reader = foreign_reader(&f);
    fixture_reopen(&f);
    assert_int_equal(kill(reader, SIGKILL), 0);
    assert_int_equal(waitpid(reader, NULL, 0), reader);
    for (unsigned i = 0; i < OVERWRITES; i++) {
        snprintf(id, sizeof id, "%u", i % RECORDS);
        assert_int_equal(fixture_put(&f, 1, id, body), RC_OK);
    }
    store_space(f.store, &space);
    assert_true(space.file < 24 << 20); /* pinned, they would be some 60 MiB */
    fixture_end(&f);
}

TEST_MAIN()
