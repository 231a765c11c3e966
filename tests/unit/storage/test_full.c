/* tests/unit/storage/test_full.c - a full store and a full disk: clear refusals, deletes go on, service
 * again. */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/unit/storage/fixture.h"

enum { BATCH = 50, BODY = 4000 };

static char body_text[BODY + 1];

/* Queue `n` puts of new ids from `first` on; how many were stored. Others must have failed with NO_SPACE. */
static unsigned put_batch(struct fixture *f, unsigned first, unsigned n, const char *body)
{
    static struct store_write w[BATCH];
    static char ids[BATCH][16];
    unsigned stored = 0;
    for (unsigned i = 0; i < n; i++) {
        snprintf(ids[i], sizeof ids[i], "%08u", first + i);
        w[i] =
            (struct store_write){.kind = WRITE_PUT, .key = fixture_key(1, ids[i]), .part = {slice_str(body)}};
        fixture_queue_on(f->worker, &w[i]);
    }
    fixture_await(f->worker, n);
    for (unsigned i = 0; i < n; i++) {
        if (w[i].rc == RC_OK) {
            assert_int_equal(stored, i); /* none lands behind one that did not fit and is as large */
            stored++;
            continue;
        }
        assert_int_equal(w[i].rc, RC_ERR);
        assert_int_equal(w[i].err.code, ERR_NO_SPACE);
    }
    return stored;
}

/* Put until the store is full; how many were stored. */
static unsigned fill(struct fixture *f, unsigned first)
{
    unsigned stored = 0, n;
    memset(body_text, 'x', BODY);
    do
        stored += n = put_batch(f, first + stored, BATCH, body_text);
    while (n == BATCH);
    return stored;
}

static void delete_some(struct fixture *f, unsigned first, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char id[16];
        snprintf(id, sizeof id, "%08u", first + i);
        struct store_write w = {.kind = WRITE_DELETE, .key = fixture_key(1, id)};
        if (fixture_write(f, &w) != RC_OK)
            fail_msg("delete %u: %s", i, w.err.message);
    }
}

static void assert_holds(struct fixture *f, unsigned first, unsigned n)
{
    char id[16];
    for (unsigned i = first; i < first + n; i++) {
        snprintf(id, sizeof id, "%08u", i);
        fixture_assert_body(f, 1, id, body_text);
    }
    assert_int_equal(fixture_count(f, 1).records, n);
    assert_int_equal(fixture_count(f, 1).bytes, (uint64_t)n * BODY);
}

STORE_TEST(store__full_refuses_what_grows_and_nothing_else)
{
    fixture_close(f);
    fixture_remove(f);
    struct fixture small;
    fixture_prepare(&small, f->ops);
    small.opts.bytes_max = 16 << 20;
    small.opts.durability = DURABLE_NONE;
    fixture_reopen(&small);
    struct store_write types = {.kind = WRITE_CALL, .call = fixture_make_types};
    assert_int_equal(fixture_write(&small, &types), RC_OK);
    unsigned n = fill(&small, 0);
    struct store_space space;
    store_space(small.store, &space);
    assert_int_equal(space.max, 16 << 20);
    assert_true(n > 500);
    assert_holds(&small, 0, n);
    assert_int_equal(fixture_put(&small, 1, "00000000", "shrunk"), RC_OK);
    delete_some(&small, 0, 300);
    unsigned more = fill(&small, n);
    assert_true(more >= 200);
    assert_holds(&small, 300, n + more - 300);
    struct store_write drop = {.kind = WRITE_TYPE_DROP, .key = {SPACE_TYPE, 2, SLICE("t2")}};
    assert_int_equal(fixture_write(&small, &drop), RC_OK);
    fixture_end(&small);
    fixture_open(f, f->ops);
}

TEST(store__the_large_one_of_a_group_is_refused_and_the_small_ones_land)
{
    struct fixture f;
    static uint8_t large[8 << 20];
    fixture_open(&f, &engine_lmdb);
    fixture_close(&f);
    f.opts.bytes_max = 8 << 20;
    fixture_reopen(&f);
    struct store_write a = {.kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {SLICE("x")}}, b = a,
                       c = a;
    b.key = (struct store_key){.space = SPACE_SCHEMA, .id = SLICE("big")};
    b.part[0] = slice_of(large, sizeof large);
    c.key = fixture_key(1, "c");
    fixture_queue_on(f.worker, &a);
    fixture_queue_on(f.worker, &b);
    fixture_queue_on(f.worker, &c);
    fixture_await(f.worker, 3);
    assert_int_equal(a.rc, RC_OK);
    assert_int_equal(b.rc, RC_ERR);
    assert_int_equal(b.err.code, ERR_NO_SPACE);
    assert_int_equal(c.rc, RC_OK);
    fixture_end(&f);
}

TEST(store__full_can_be_emptied_down_to_the_last_record_in_one_go_and_reopened)
{
    struct fixture f;
    fixture_open(&f, &engine_lmdb);
    fixture_close(&f);
    f.opts.bytes_max = 10 << 20;
    f.opts.durability = DURABLE_NONE;
    fixture_reopen(&f);
    unsigned n = fill(&f, 0);
    fixture_close(&f);
    fixture_reopen(&f);
    assert_holds(&f, 0, n);
    assert_int_equal(put_batch(&f, n, 1, body_text), 0);
    static struct store_write w[4096];
    static char ids[4096][16];
    assert_true(n <= ARRAY_LEN(w));
    for (unsigned i = 0; i < n; i++) {
        snprintf(ids[i], sizeof ids[i], "%08u", i);
        w[i] = (struct store_write){.kind = WRITE_DELETE, .key = fixture_key(1, ids[i])};
        fixture_queue_on(f.worker, &w[i]);
    }
    fixture_await(f.worker, n);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(w[i].rc, RC_OK);
    assert_int_equal(fixture_count(&f, 1).records, 0);
    unsigned again = fill(&f, 0);
    if (again + 20 < n)
        fail_msg("%u fitted, then, emptied, %u", n, again);
    fixture_close(&f);
    f.opts.bytes_max = 32 << 20; /* a larger map makes room */
    fixture_reopen(&f);
    assert_int_equal(put_batch(&f, again, BATCH, body_text), BATCH);
    assert_holds(&f, 0, again + BATCH);
    fixture_end(&f);
}

/* At the brim for long: what is replaced and deleted must always find pages. */
TEST(store__full_goes_on_replacing_and_deleting)
{
    struct fixture f;
    fixture_open(&f, &engine_lmdb);
    fixture_close(&f);
    f.opts.bytes_max = 16 << 20;
    f.opts.durability = DURABLE_NONE;
    fixture_reopen(&f);
    unsigned n = fill(&f, 0);
    for (unsigned round = 0; round < 2000; round++) {
        char id[16];
        snprintf(id, sizeof id, "%08u", round * 7919 % n);
        assert_int_equal(fixture_put(&f, 1, id, body_text), RC_OK);
    }
    assert_holds(&f, 0, n);
    fixture_end(&f);
}

/* ---- a full disk ---- */

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void fill_and_recover(struct fixture *f, void (*make_room)(void))
{
    unsigned n = fill(f, 0);
    assert_true(n > 500);
    assert_false(store_broken(f->store));
    assert_holds(f, 0, n);
    delete_some(f, 0, 100);
    assert_int_equal(put_batch(f, n, BATCH, body_text), BATCH); /* into the room that they left */
    assert_holds(f, 100, n + BATCH - 100);
    fixture_close(f);
    fixture_reopen(f); /* full as it is */
    assert_int_equal(fixture_put(f, 1, "00000100", body_text), RC_OK);
    make_room();
    assert_int_equal(put_batch(f, n + BATCH, BATCH, body_text), BATCH);
    assert_false(store_broken(f->store));
    assert_holds(f, 100, n + 2 * BATCH - 100);
}

static void lift_limit(void)
{
    limit_file_size(RLIM_INFINITY);
}

TEST(store__a_limit_on_the_size_of_files_is_a_full_disk)
{
    struct fixture f;
    signal(SIGXFSZ, SIG_IGN); /* as the server does */
    fixture_open(&f, &engine_lmdb);
    limit_file_size(16 << 20);
    fill_and_recover(&f, lift_limit);
    fixture_end(&f);
}

static char ballast[96];

static void remove_ballast(void)
{
    unlink(ballast);
}

TEST(store__a_full_file_system_is_said_and_served_again_without_a_restart)
{
    struct fixture f;
    fixture_prepare(&f, &engine_lmdb);
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("avrod-test", f.dir, "tmpfs", 0, "size=32m") != 0) {
        rmdir(f.dir);
        skip(); /* not root. The mount is seen by this process alone and ends with it */
    }
    snprintf(ballast, sizeof ballast, "%s/ballast", f.dir);
    FILE *file = fopen(ballast, "w");
    assert_non_null(file);
    for (unsigned i = 0; i < 12 << 10; i++)
        assert_int_equal(fwrite(body_text, 1, 1000, file), 1000);
    fclose(file);
    f.opts.bytes_max = 1 << 30;
    fixture_reopen(&f);
    struct store_write types = {.kind = WRITE_CALL, .call = fixture_make_types};
    assert_int_equal(fixture_write(&f, &types), RC_OK);
    fill_and_recover(&f, remove_ballast);
    fixture_close(&f);
    assert_int_equal(umount(f.dir), 0);
    rmdir(f.dir);
}

TEST_MAIN()
