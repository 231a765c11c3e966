/* tests/unit/server/test_quota_threads.c - many threads take from one bucket: together as much as there is, and no more. */
#include <pthread.h>

#include "server/access/quota_table.h"
#include "tests/lib/test.h"

enum { THREADS = 4, TRIES = 20000 };

static struct quota_rate rate;
static _Atomic uint64_t bucket;
static struct quota_table *table;
static _Atomic uint64_t now, taken, from_table[8];

static void *take(void *arg)
{
    bool is_for_bytes;
    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t at = atomic_fetch_add(&now, rate.one_ticks / 16); /* each sees its own time, late or not */
        if (quota_take(&bucket, &rate, at) == 0)
            atomic_fetch_add(&taken, 1);
        if (quota_table_take(table, i % 8 + 2, 1, &is_for_bytes) == 0)
            atomic_fetch_add(&from_table[i % 8], 1);
        quota_table_charge(table, i + 100, 1, 1);
    }
    return arg;
}

TEST(quota_take__gives_threads_together_no_more_than_there_is)
{
    const struct quota_limits limits = {
        .requests_per_second = 1, .requests_burst = 50, .bytes_per_second = 1000000};
    pthread_t thread[THREADS];
    rate = quota_rate_of(1000, 100);
    uint64_t begin = 1000000 * rate.one_ticks;
    atomic_store(&now, begin);
    table = quota_table_new(&limits, 65536);
    assert_non_null(table);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, take, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    uint64_t most = 100 + (atomic_load(&now) - begin) / rate.one_ticks;
    assert_true(taken <= most);
    assert_true(taken >= most * 8 / 10); /* who is late by more than a burst gets none */
    for (int i = 0; i < 8; i++)
        assert_int_equal(from_table[i], 50);
    quota_table_unref(table);
}

TEST_MAIN()
