/* tests/fault/test_disk.c - opening a store and committing a put on LMDB when the n-th call for the disk fails, for
 * every n and each kind of call: a clear error, everything given back, and a store that says that it is broken
 * only where nobody knows what is on the disk. */
#include <sys/stat.h>

#include "tests/fault/disk.h"
#include "tests/unit/storage/fixture.h"

/* ---- opening ---- */

enum { MAP_BYTES = 64 << 20 };

static unsigned open_files(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Which code says it best; 0: it need not fail for that. */
struct want {
    enum call call;
    int error;
    enum err_code code, or ;
};

static const struct want opening[] = {
    {CALL_MKDIR, EACCES, ERR_IO},
    {CALL_MKDIR, ENOSPC, ERR_NO_SPACE},
    {CALL_OPEN, EMFILE, ERR_IO},
    {CALL_OPEN, ENOSPC, ERR_NO_SPACE},
    {CALL_FLOCK, EWOULDBLOCK, ERR_STORE_LOCKED},
    {CALL_FLOCK, ENOLCK, ERR_IO},
    {CALL_FCNTL, ENOLCK, ERR_IO},
    {CALL_MMAP, ENOMEM, ERR_NO_MEMORY},
    {CALL_PREAD, EIO, ERR_IO},
    {CALL_PWRITE, ENOSPC, ERR_NO_SPACE, ERR_STORE_BROKEN},
    {CALL_PWRITE, EIO, ERR_IO, ERR_STORE_BROKEN},
    {CALL_WRITEV, ENOSPC, ERR_NO_SPACE},
    {CALL_WRITEV, EIO, ERR_STORE_BROKEN},
    {CALL_LSEEK, EIO, ERR_IO, ERR_STORE_BROKEN},
    {CALL_FTRUNCATE, ENOSPC, ERR_NO_SPACE},
    {CALL_FTRUNCATE, EIO, ERR_IO},
    {CALL_FALLOCATE, ENOSPC, ERR_NO_SPACE},
    {CALL_FALLOCATE, EOPNOTSUPP, ERR_NONE},
    {CALL_FSYNC, EIO, ERR_IO, ERR_STORE_BROKEN},
    {CALL_FDATASYNC, EIO, ERR_IO, ERR_STORE_BROKEN},
};

/* False: the n-th call was never made. */
static bool open_when_nth_fails(struct fixture *f, const struct want *want, int nth)
{
    struct err err = {0};
    unsigned files = open_files();
    disk_arm(want->call, want->error, nth);
    enum rc rc = store_open_engine(&f->store, f->ops, &f->opts, &err);
    bool failed = disk_disarm();
    if (rc == RC_OK)
        store_close(f->store);
    if (open_files() != files)
        fail_msg("call %d, error %d, number %d: files are left open", want->call, want->error, nth);
    if (!failed)
        assert_int_equal(rc, RC_OK);
    if (rc != RC_OK && err.code != want->code && err.code != want->or)
        fail_msg("call %d, error %d, number %d: %s: %s", want->call, want->error, nth, err_slug(err.code),
                 err.message);
    return failed;
}

static int open_each(const struct want *want, bool fresh)
{
    int nth = 0;
    bool failed = true;
    while (failed) {
        struct fixture f;
        assert_true(++nth < 1000);
        if (fresh) {
            fixture_prepare(&f, &engine_lmdb);
            rmdir(f.dir);
        } else {
            fixture_open(&f, &engine_lmdb);
            assert_int_equal(fixture_put(&f, 1, "a", "kept"), RC_OK);
            fixture_close(&f);
        }
        f.opts.bytes_max = MAP_BYTES;
        failed = open_when_nth_fails(&f, want, nth);
        fixture_reopen(&f);
        if (!fresh)
            fixture_assert_body(&f, 1, "a", "kept");
        fixture_end(&f);
    }
    return nth - 1;
}

TEST(store_open__says_what_the_disk_refused_and_leaves_the_store_whole)
{
    for (size_t i = 0; i < ARRAY_LEN(opening); i++)
        open_each(&opening[i], false);
}

TEST(store_open__of_a_new_store_says_what_the_disk_refused)
{
    int calls = 0;
    for (size_t i = 0; i < ARRAY_LEN(opening); i++)
        calls += open_each(&opening[i], true);
    assert_true(calls > 40);
}

/* The directory's own entry must be on disk before a write is answered, whoever has made it. */
TEST(store_open__flushes_the_entry_of_its_directory_also_when_a_start_before_could_not)
{
    char parent[] = "/tmp/avrod-store-XXXXXX";
    struct fixture f = {.ops = &engine_lmdb};
    struct stat st;
    struct err err;
    assert_non_null(mkdtemp(parent));
    assert_int_equal(stat(parent, &st), 0);
    snprintf(f.dir, sizeof f.dir, "%s/data", parent);
    f.opts = (struct store_opts){.engine = "lmdb", .dir = f.dir, .workers = FIXTURE_WORKERS};
    disk_arm(CALL_FSYNC, EIO, 1);
    assert_int_equal(store_open_engine(&f.store, f.ops, &f.opts, &err), RC_ERR);
    assert_true(disk_disarm());
    assert_int_equal(err.code, ERR_IO);
    disk_watch(st.st_ino);
    fixture_reopen(&f);
    assert_int_equal(disk_flushes(), 1);
    disk_watch(0);
    fixture_end(&f);
    rmdir(parent);
}

/* ---- committing ---- */

/* What a put that the disk refused is answered with; ERR_NONE: it need not fail. */
static const struct want committing[] = {
    {CALL_PWRITE, ENOSPC, ERR_NO_SPACE},    {CALL_PWRITE, EDQUOT, ERR_NO_SPACE},
    {CALL_PWRITE, EIO, ERR_STORE_BROKEN},   {CALL_PWRITE, EINTR, ERR_NONE},
    {CALL_WRITEV, ENOSPC, ERR_NO_SPACE},    {CALL_WRITEV, EIO, ERR_STORE_BROKEN},
    {CALL_LSEEK, EIO, ERR_STORE_BROKEN},    {CALL_FALLOCATE, ENOSPC, ERR_NO_SPACE},
    {CALL_FALLOCATE, EIO, ERR_IO},          {CALL_FALLOCATE, EINTR, ERR_NONE},
    {CALL_FALLOCATE, EOPNOTSUPP, ERR_NONE}, {CALL_FDATASYNC, EIO, ERR_STORE_BROKEN},
    {CALL_FDATASYNC, ENOSPC, ERR_NO_SPACE}, /* before the meta page: nothing is committed */
    {CALL_MMAP, ENOMEM, ERR_NO_MEMORY},     {CALL_OPEN, EMFILE, ERR_IO},
};

enum { LONG = 2 * LIMIT_LAY_CHUNKS_MAX * LIMIT_CHUNK_BYTES + 1 }; /* two groups before its own */

static char before[3000], after_bytes[LONG];
static struct slice after;

static enum rc try_get(struct fixture *f, struct record *rec, struct err *err)
{
    struct store_get g = {.key = fixture_key(1, "a"), .done = fixture_get_done};
    store_get(f->worker, &g);
    *rec = g.rec;
    *err = g.err;
    return g.rc;
}

static bool is(struct fixture *f, const struct record *rec, struct slice body)
{
    uint8_t *whole = fixture_whole(f, rec);
    bool same = slice_eq(slice_of(whole, rec->body_bytes), body);
    free(whole);
    return same;
}

static void assert_is(struct fixture *f, struct slice body)
{
    struct record rec;
    struct err err;
    assert_int_equal(try_get(f, &rec, &err), RC_OK);
    assert_true(is(f, &rec, body));
}

/* No chunks but those of the record, sooner or later. */
static void check_chunks(struct fixture *f)
{
    struct record rec;
    struct err err;
    assert_int_equal(try_get(f, &rec, &err), RC_OK);
    fixture_await_rows(f, DB_TRASH, 0);
    assert_int_equal(fixture_rows(f, DB_CHUNKS), rec.blob ? chunks_of(rec.body_bytes) : 0);
}

/* Only where the outcome is unknown; and a meta page that could not be written stops reads too. */
static void check_broken(struct fixture *f, bool reads)
{
    struct record rec;
    struct err err;
    struct store_write w = {.kind = WRITE_DELETE, .key = fixture_key(1, "a"), .done = fixture_write_done};
    assert_true(store_broken(f->store));
    assert_int_equal(store_write(f->worker, &w, &err), RC_ERR);
    assert_int_equal(err.code, ERR_STORE_BROKEN);
    store_turn_end(f->worker);
    if (reads) {
        assert_is(f, slice_str(before));
    } else {
        assert_int_equal(try_get(f, &rec, &err), RC_ERR);
        assert_int_equal(err.code, ERR_STORE_BROKEN);
    }
    fixture_close(f);
    fixture_reopen(f);
    assert_int_equal(try_get(f, &rec, &err), RC_OK);
    assert_true(is(f, &rec, slice_str(before)) || is(f, &rec, after));
}

static void check_refused(struct fixture *f, struct store_write *w)
{
    assert_false(store_broken(f->store));
    assert_is(f, slice_str(before));
    assert_int_equal(fixture_write(f, w), RC_OK);
    assert_is(f, after);
}

static bool commit_when_nth_fails(const struct want *want, enum durability durability, int nth)
{
    struct fixture f;
    fixture_prepare(&f, &engine_lmdb);
    f.opts.durability = durability;
    fixture_reopen(&f);
    struct store_write make = {.kind = WRITE_CALL, .call = fixture_make_types};
    assert_int_equal(fixture_write(&f, &make), RC_OK);
    assert_int_equal(fixture_put(&f, 1, "a", before), RC_OK);

    struct store_write w = {.kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {after}};
    disk_arm(want->call, want->error, nth);
    enum rc rc = fixture_write(&f, &w);
    bool failed = disk_disarm();
    enum err_code code = disk_failed_at_meta() && want->error != EINTR ? ERR_STORE_BROKEN : want->code;

    if (rc == RC_OK)
        assert_true(!failed || !code || want->call == CALL_FALLOCATE); /* there may be room in hand */
    else if (!failed || w.err.code != code)
        fail_msg("call %d, error %d, number %d: %s: %s", want->call, want->error, nth, err_slug(w.err.code),
                 w.err.message);
    if (rc == RC_OK)
        assert_is(&f, after);
    else if (code == ERR_STORE_BROKEN)
        check_broken(&f, !disk_failed_at_meta());
    else
        check_refused(&f, &w);
    check_chunks(&f);
    fixture_end(&f);
    return failed;
}

static int commit_each(enum durability durability, size_t bytes)
{
    int calls = 0;
    memset(before, 'b', sizeof before - 1);
    memset(after_bytes, 'a', sizeof after_bytes);
    after = slice_of(after_bytes, bytes);
    for (size_t i = 0; i < ARRAY_LEN(committing); i++)
        for (int nth = 1; commit_when_nth_fails(&committing[i], durability, nth); nth++)
            calls++;
    return calls;
}

TEST(store_write__is_refused_or_breaks_the_store_only_where_its_outcome_is_unknown)
{
    assert_true(commit_each(DURABLE_SYNC, 2999) > 10);
}

TEST(store_write__without_flushes_breaks_the_store_only_where_its_outcome_is_unknown)
{
    assert_true(commit_each(DURABLE_NONE, 2999) > 5);
}

TEST(store_write__of_a_long_body_is_refused_or_breaks_the_store_and_leaves_no_part_of_it)
{
    assert_true(commit_each(DURABLE_NONE, LONG) > 10);
}

TEST_MAIN()
