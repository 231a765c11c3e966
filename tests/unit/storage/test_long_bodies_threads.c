/* tests/unit/storage/test_long_bodies_threads.c - long and short bodies from several threads to the same few
 * records: each lane keeps its order, and every body that is read is whole. */
#include <pthread.h>

#include "tests/unit/storage/fixture.h"

enum {
    THREADS = 3,
    LANES = 2,
    DEEP = 12,
    ROUNDS = 4,
    IDS = 3,
    LONG = 3 * LIMIT_LAY_CHUNKS_MAX * LIMIT_CHUNK_BYTES
};

static uint8_t bytes[LONG + THREADS * LANES * DEEP * ROUNDS];

static struct thread {
    struct fixture f; /* its own worker */
    unsigned number;
    char lane[LANES];
} threads[THREADS];

static struct store_write put_of(struct thread *t, unsigned round, unsigned i)
{
    static const char *const ids[IDS] = {"a", "b", "c"};
    size_t len = i % 3 ? 10 + i * 400 : LONG - round;
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, ids[i % IDS]), .lane = &t->lane[i % LANES]};
    w.part[0] = slice_of(bytes + (t->number * ROUNDS + round) * DEEP + i, len);
    w.schema_id = (uint32_t)(w.part[0].ptr - bytes); /* says where it begins */
    return w;
}

static void check(struct thread *t, const char *id)
{
    struct record rec;
    if (fixture_get(&t->f, 1, id, &rec) != RC_OK)
        return;
    uint32_t from = rec.schema_id;
    uint8_t *whole = fixture_whole(&t->f, &rec);
    assert_memory_equal(whole, bytes + from, rec.body_bytes);
    free(whole);
    store_turn_end(t->f.worker);
}

static void *run(void *arg)
{
    struct thread *t = arg;
    struct store_write w[DEEP];
    uint64_t newest[LANES] = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < DEEP; i++) {
            w[i] = put_of(t, round, i);
            fixture_queue_on(t->f.worker, &w[i]);
        }
        check(t, "a");
        fixture_await(t->f.worker, DEEP);
        for (unsigned i = 0; i < DEEP; i++) {
            assert_int_equal(w[i].rc, RC_OK);
            assert_true(w[i].revision > newest[i % LANES]);
            newest[i % LANES] = w[i].revision;
        }
        check(t, "b");
    }
    return NULL;
}

STORE_TEST(long_body__lanes_of_many_threads_keep_their_order)
{
    pthread_t id[THREADS];
    struct err err;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)((i * 2654435761U) >> 13);
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i].f = *f;
        threads[i].number = i;
        assert_int_equal(store_worker_new(&threads[i].f.worker, f->store, NULL, &err), RC_OK);
        assert_int_equal(pthread_create(&id[i], NULL, run, &threads[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(id[i], NULL);
        store_turn_end(threads[i].f.worker);
        store_worker_free(threads[i].f.worker);
    }
    assert_int_equal(fixture_count(f, 1).records, IDS);
}

TEST_MAIN()
