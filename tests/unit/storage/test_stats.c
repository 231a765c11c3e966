/* tests/unit/storage/test_stats.c - what a store counts of its writes and snapshots. */
#include "tests/unit/storage/wrap.h"

enum { WRITES = 5 };

static uint64_t count_of(const struct histogram_read *h)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        n += h->bucket[i];
    return n;
}

static void put_prepare(struct store_write *w, const char *id)
{
    *w = (struct store_write){.kind = WRITE_PUT, .key = fixture_key(1, id), .part = {SLICE("body")}};
}

TEST(store_stats__counts_groups_and_what_waits)
{
    struct fixture f;
    struct store_write first, more[WRITES];
    struct store_stats before, held, after;
    static const char *const ids[WRITES] = {"a", "b", "c", "d", "e"};
    fixture_open(&f, wrap_engine(&engine_memory));
    store_stats(f.store, &before);
    assert_int_equal(before.queue_writes, 0);
    put_prepare(&first, "first");
    wrap_hold(&f, &first);
    for (unsigned i = 0; i < WRITES; i++) {
        put_prepare(&more[i], ids[i]);
        fixture_queue_on(f.worker, &more[i]);
    }
    store_stats(f.store, &held);
    assert_int_equal(held.queue_writes, 1 + WRITES);
    assert_int_equal(held.writes, before.writes);
    wrap_release();
    fixture_await(f.worker, 1 + WRITES);
    store_stats(f.store, &after);
    assert_int_equal(after.queue_writes, 0);
    assert_int_equal(after.writes, before.writes + 1 + WRITES);
    assert_int_equal(after.groups, before.groups + 2);
    assert_int_equal(after.group_writes.sum, before.group_writes.sum + 1 + WRITES);
    assert_int_equal(after.group_writes.bucket[0], before.group_writes.bucket[0] + 1);
    assert_int_equal(after.group_writes.bucket[3], before.group_writes.bucket[3] + 1); /* 5 to 8 */
    assert_int_equal(count_of(&after.group_writes), after.groups);
    assert_int_equal(count_of(&after.apply_ns), after.groups);
    assert_true(first.commit_ns > 0);
    assert_true(more[0].commit_ns > 0 && more[0].commit_ns == more[WRITES - 1].commit_ns);
    assert_true(first.commit_ns + more[0].commit_ns == after.apply_ns.sum - before.apply_ns.sum);
    fixture_end(&f);
}

static enum rc no_room(const struct mutation *m, size_t n, struct err *err)
{
    (void)m, (void)n;
    return err_set(err, ERR_NO_SPACE, "No room.");
}

static enum rc no_disk(const struct mutation *m, size_t n, struct err *err)
{
    (void)m, (void)n;
    return err_set(err, ERR_STORE_BROKEN, "No disk.");
}

static void check_failed_put(enum rc (*on_apply)(const struct mutation *, size_t, struct err *),
                             uint64_t no_space, uint64_t failures)
{
    struct fixture f;
    struct store_stats before, after;
    fixture_open(&f, wrap_engine(&engine_memory));
    store_stats(f.store, &before);
    wrap_set_on_apply(on_apply);
    assert_int_equal(fixture_put(&f, 1, "a", "x"), RC_ERR);
    store_stats(f.store, &after);
    assert_int_equal(after.no_space, no_space);
    assert_int_equal(after.failures, failures);
    assert_int_equal(after.broken, failures);
    assert_true(after.groups == before.groups && after.writes == before.writes + 1 && !after.queue_writes);
    wrap_set_on_apply(NULL);
    fixture_end(&f);
}

TEST(store_stats__tells_a_full_store_from_a_broken_one)
{
    check_failed_put(no_room, 1, 0);
    check_failed_put(no_disk, 0, 1);
}

TEST(stats__do_not_take_a_step_of_the_purge_for_a_write)
{
    struct writer_stats s = {0};
    struct store_worker worker = {0};
    struct store_write put = {.worker = &worker}, step = {0}, *group[] = {&put, &step};
    stats_failed(&s, group, 2, ERR_NO_SPACE);
    stats_failed(&s, group, 2, ERR_STORE_BROKEN);
    stats_failed(&s, &group[1], 1, ERR_NO_SPACE);
    stats_applied(&s, group, 2, 1);
    stats_done(&s, group, 2, 5);
    assert_true(counter_get(&s.no_space) == 1 && counter_get(&s.failures) == 1);
    assert_true(counter_get(&s.writes) == 1 && counter_get(&s.group_writes.sum) == 1);
    assert_true(put.commit_ns == 5 && step.commit_ns == 5);
}

TEST(store_stats__knows_the_oldest_snapshot)
{
    struct fixture f;
    struct store_worker *second;
    struct record rec;
    struct store_stats s;
    struct err err;
    fixture_open(&f, wrap_engine(&engine_memory));
    assert_int_equal(fixture_put(&f, 1, "a", "x"), RC_OK);
    store_turn_end(f.worker);
    store_stats(f.store, &s);
    assert_int_equal(s.oldest_snapshot_ms, 0);
    assert_int_equal(fixture_get(&f, 1, "a", &rec), RC_OK);
    assert_int_equal(store_worker_new(&second, f.store, NULL, &err), RC_OK);
    do
        store_stats(f.store, &s); /* it ages while it is held */
    while (s.oldest_snapshot_ms < 2);
    store_turn_end(f.worker);
    store_stats(f.store, &s);
    assert_int_equal(s.oldest_snapshot_ms, 0);
    store_worker_free(second);
    fixture_end(&f);
}

TEST_MAIN()
