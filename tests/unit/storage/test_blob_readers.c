/* tests/unit/storage/test_blob_readers.c - whom the store remembers as reading a body in chunks. */
#include "tests/unit/storage/fixture.h"

#include "base/clock.h"

enum { BODY_BYTES = 20000, PAUSE_MS = 60 * 1000 };

static uint8_t body[BODY_BYTES];

/* How many are remembered once a second one begins, a minute after the first was heard of. */
static unsigned readers_after_a_pause(uint32_t keep_ms)
{
    struct fixture f;
    struct record rec;
    fixture_prepare(&f, &engine_memory);
    f.opts.blob_keep_ms = keep_ms;
    fixture_open_prepared(&f);
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {slice_of(body, sizeof body)}};
    assert_int_equal(fixture_write(&f, &w), RC_OK);
    assert_int_equal(fixture_get(&f, 1, "a", &rec), RC_OK);
    atomic_store(&f.worker->blob_readers.seen_ms, clock_coarse_ms() - PAUSE_MS);
    assert_int_equal(fixture_get(&f, 1, "a", &rec), RC_OK);
    unsigned open = atomic_load(&f.worker->blob_readers.open);
    fixture_end(&f);
    return open;
}

TEST(blob_readers__remember_who_pauses_for_as_long_as_a_dead_body_stays)
{
    assert_int_equal(readers_after_a_pause(2 * PAUSE_MS), 2);
}

TEST(blob_readers__forget_who_pauses_for_longer)
{
    assert_int_equal(readers_after_a_pause(PAUSE_MS / 2), 1);
}

/* Where a slow client is sent the end of a body from its chunks, they are read again and again. */
TEST(blob_readers__remember_who_has_seen_the_end_until_it_says_so)
{
    struct fixture f;
    struct record rec;
    struct slice chunk[8];
    struct err err;
    fixture_open(&f, &engine_memory);
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {slice_of(body, sizeof body)}};
    assert_int_equal(fixture_write(&f, &w), RC_OK);
    assert_int_equal(fixture_get(&f, 1, "a", &rec), RC_OK);
    assert_int_equal(fixture_get(&f, 1, "a", &rec), RC_OK);
    for (unsigned i = 0; i < 3; i++) {
        unsigned n = ARRAY_LEN(chunk);
        assert_int_equal(store_chunks(f.worker, &rec, 0, chunk, &n, &err), RC_OK);
        assert_int_equal(n, (BODY_BYTES + LIMIT_CHUNK_BYTES - 1) / LIMIT_CHUNK_BYTES);
    }
    assert_int_equal(atomic_load(&f.worker->blob_readers.open), 2);
    store_chunks_end(f.worker);
    assert_int_equal(atomic_load(&f.worker->blob_readers.open), 1);
    fixture_end(&f);
}

TEST_MAIN()
