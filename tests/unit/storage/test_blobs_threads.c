/* tests/unit/storage/test_blobs_threads.c - bodies in chunks are read while others replace them and the purge
 * removes the old ones: what is read is one body, or is gone. */
#include "tests/unit/storage/fixture.h"

enum { READERS = 2, PUTS = 200, CHUNKS_MIN = 3, CHUNKS_MAX = 40 };

struct reader {
    struct fixture *f;
    struct store_worker *worker;
    _Atomic bool *stop;
    unsigned whole, gone;
};

/* All bytes of a body are the same. False: it is gone before its end. */
static bool read_whole(struct reader *r, const struct record *rec)
{
    int fill = -1;
    for (uint32_t i = 0; (uint64_t)i * LIMIT_CHUNK_BYTES < rec->body_bytes; i++) {
        struct slice chunk;
        struct err err;
        unsigned n = 1;
        enum rc rc = store_chunks(r->worker, rec, i, &chunk, &n, &err);
        if (rc == RC_NOTFOUND)
            return false;
        assert_int_equal(rc, RC_OK);
        fill = fill < 0 ? chunk.ptr[0] : fill;
        for (size_t b = 0; b < chunk.len; b += 97)
            assert_int_equal(chunk.ptr[b], fill);
        store_turn_end(r->worker); /* as if the socket had been full */
    }
    return true;
}

static void *read_on(void *arg)
{
    struct reader *r = arg;
    do {
        struct store_get g = {.key = fixture_key(1, "a"), .done = fixture_get_done};
        store_get(r->worker, &g);
        assert_int_equal(g.rc, RC_OK);
        if (read_whole(r, &g.rec))
            r->whole++;
        else
            r->gone++;
    } while (!atomic_load(r->stop));
    return NULL;
}

TEST(store_chunks__never_mix_two_bodies_while_writes_and_the_purge_go_on)
{
    static uint8_t body[CHUNKS_MAX * LIMIT_CHUNK_BYTES];
    for (size_t e = 0; e < ARRAY_LEN(fixture_engines); e++) {
        struct fixture f;
        struct reader r[READERS];
        pthread_t thread[READERS];
        struct err err;
        _Atomic bool stop = false;
        fixture_prepare(&f, fixture_engines[e]);
        f.opts.blob_keep_ms = 1;
        f.opts.durability = DURABLE_NONE;
        fixture_open_prepared(&f);
        for (unsigned i = 0; i < PUTS; i++) {
            struct store_write w = {.kind = WRITE_PUT, .key = fixture_key(1, "a")};
            memset(body, (int)(i % 251), sizeof body);
            w.part[0] =
                slice_of(body, (CHUNKS_MIN + i % (CHUNKS_MAX - CHUNKS_MIN)) * (size_t)LIMIT_CHUNK_BYTES);
            assert_int_equal(fixture_write(&f, &w), RC_OK);
            for (unsigned t = 0; t < READERS && i == 0; t++) {
                r[t] = (struct reader){.f = &f, .stop = &stop};
                assert_int_equal(store_worker_new(&r[t].worker, f.store, NULL, &err), RC_OK);
                assert_int_equal(pthread_create(&thread[t], NULL, read_on, &r[t]), 0);
            }
        }
        atomic_store(&stop, true);
        for (unsigned t = 0; t < READERS; t++) {
            pthread_join(thread[t], NULL);
            assert_true(r[t].whole + r[t].gone > 0);
            store_worker_free(r[t].worker);
        }
        fixture_await_rows(&f, DB_TRASH, 0);
        fixture_end(&f);
    }
}

TEST_MAIN()
