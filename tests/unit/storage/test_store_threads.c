/* tests/unit/storage/test_store_threads.c - several workers write and read at once: each reads what it was
 * answered, counters lose nothing, revisions never go back, snapshots are whole. Runs on every engine. */
#include <pthread.h>

#include "tests/unit/storage/fixture.h"

enum { THREADS = 4, ROUNDS = 150, IN_FLIGHT = 8 };

struct actor {
    struct fixture *f;
    struct store_worker *worker;
    unsigned index;
    uint64_t last_revision;
};

static enum rc increment(struct store_write *w, const struct record *old, struct record *fresh,
                         struct err *err)
{
    (void)err;
    uint32_t *n = (uint32_t *)(uintptr_t)w->part[0].ptr;
    *n = (old ? get_le32(old->body.ptr) : 0) + 1;
    fresh->body = slice_of(n, sizeof *n);
    return RC_OK;
}

/* Two records that must always agree. */
static enum rc put_pair(struct store_write *w, struct store_txn *txn, struct err *err)
{
    static const char *const ids[] = {"left", "right"};
    for (unsigned i = 0; i < 2; i++) {
        struct store_key key = fixture_key(2, ids[i]);
        struct record rec = {.body = w->part[0]};
        if (txn_put(txn, &key, &rec, err) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

static struct store_get get(struct actor *a, uint32_t type, const char *id)
{
    struct store_get g = {.key = fixture_key(type, id), .done = fixture_get_done};
    store_get(a->worker, &g);
    assert_int_not_equal(g.rc, RC_ERR);
    return g;
}

static void write_and_read_own(struct actor *a, unsigned round)
{
    struct store_write w[IN_FLIGHT];
    char ids[IN_FLIGHT][16], bodies[IN_FLIGHT][16];
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        snprintf(ids[i], sizeof ids[i], "%u-%u", a->index, i);
        snprintf(bodies[i], sizeof bodies[i], "%u", round);
        w[i] = (struct store_write){
            .kind = WRITE_PUT, .key = fixture_key(1, ids[i]), .part = {slice_str(bodies[i])}};
        fixture_queue_on(a->worker, &w[i]);
    }
    fixture_await(a->worker, IN_FLIGHT);
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        assert_int_equal(w[i].rc, RC_OK);
        assert_true(w[i].revision > a->last_revision);
        a->last_revision = w[i].revision;
        struct store_get g = get(a, 1, ids[i]);
        assert_int_equal(g.rc, RC_OK);
        assert_slice_str(g.rec.body, bodies[i]);
        assert_int_equal(g.rec.revision, w[i].revision);
    }
}

static void count_up(struct actor *a)
{
    uint32_t memory = 0;
    struct store_write w = {.kind = WRITE_EDIT, .key = fixture_key(3, "counter"), .edit = increment};
    w.part[0] = slice_of(&memory, sizeof memory);
    assert_int_equal(fixture_write_on(a->worker, &w), RC_OK);
    struct store_get g = get(a, 3, "counter");
    assert_int_equal(g.rc, RC_OK);
    assert_true(get_le32(g.rec.body.ptr) >= memory);
    assert_true(g.rec.revision >= w.revision);
}

static void change_pair(struct actor *a, unsigned round)
{
    char body[16];
    snprintf(body, sizeof body, "%u/%u", a->index, round);
    struct store_write w = {.kind = WRITE_CALL, .call = put_pair, .part = {slice_str(body)}};
    assert_int_equal(fixture_write_on(a->worker, &w), RC_OK);
    store_turn_end(a->worker);
}

struct pair {
    struct store_scan s;
    char body[2][16];
    unsigned rows;
};

static enum rc pair_row(struct store_scan *s, struct slice id, const struct record *rec)
{
    struct pair *p = CONTAINER_OF(s, struct pair, s);
    (void)id;
    assert_true(p->rows < 2 && rec->body.len < sizeof p->body[0]);
    memcpy(p->body[p->rows++], rec->body.ptr, rec->body.len);
    return RC_OK;
}

static void pair_done(struct store_scan *s)
{
    (void)s;
}

static void look_at_pair(struct actor *a)
{
    struct pair p = {.s = {.space = SPACE_RECORD, .type = 2, .row = pair_row, .done = pair_done}};
    store_scan(a->worker, &p.s); /* one page, one snapshot */
    assert_int_equal(p.s.rc, RC_OK);
    assert_int_equal(p.rows, 2);
    assert_string_equal(p.body[0], p.body[1]);
}

static void *act(void *arg)
{
    struct actor *a = arg;
    for (unsigned round = 0; round < ROUNDS; round++) {
        write_and_read_own(a, round);
        count_up(a);
        change_pair(a, round);
        look_at_pair(a);
        if (round % 3 == 0)
            store_turn_end(a->worker);
    }
    return NULL;
}

STORE_TEST(store__workers_write_and_read_at_once)
{
    pthread_t threads[THREADS];
    struct actor actors[THREADS];
    struct err err;
    struct record rec;
    for (unsigned i = 0; i < THREADS; i++) {
        actors[i] = (struct actor){.f = f, .index = i};
        assert_int_equal(store_worker_new(&actors[i].worker, f->store, NULL, &err), RC_OK);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, act, &actors[i]), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        store_turn_end(actors[i].worker);
        store_worker_free(actors[i].worker);
    }
    assert_int_equal(fixture_get(f, 3, "counter", &rec), RC_OK);
    assert_int_equal(get_le32(rec.body.ptr), THREADS * ROUNDS);
    assert_int_equal(fixture_count(f, 1).records, THREADS * IN_FLIGHT);
    assert_int_equal(fixture_count(f, 2).records, 2);
}

/* ---- a type that dies while it is written and read ---- */

static _Atomic bool dropped;

static void *write_until_dropped(void *arg)
{
    struct actor *a = arg;
    for (unsigned i = 0;; i++) {
        bool was = atomic_load(&dropped); /* whoever starts after the drop's answer must see it */
        struct store_write w = {.kind = WRITE_PUT, .key = fixture_key(4, "a"), .part = {SLICE("x")}};
        enum rc rc = fixture_write_on(a->worker, &w);
        enum rc seen = get(a, 4, "a").rc;
        assert_true(rc == RC_OK || rc == RC_NOTFOUND);
        if (rc == RC_NOTFOUND)
            assert_int_equal(seen, RC_NOTFOUND);
        if (was) {
            assert_int_equal(rc, RC_NOTFOUND);
            return NULL;
        }
    }
}

STORE_TEST(store__a_dropped_type_is_dead_for_all_workers_once_it_is_answered)
{
    pthread_t threads[2];
    struct actor actors[2];
    struct err err;
    atomic_store(&dropped, false);
    for (unsigned i = 0; i < 2; i++) {
        actors[i] = (struct actor){.f = f, .index = i};
        assert_int_equal(store_worker_new(&actors[i].worker, f->store, NULL, &err), RC_OK);
        assert_int_equal(pthread_create(&threads[i], NULL, write_until_dropped, &actors[i]), 0);
    }
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(fixture_put(f, 1, "a", "x"), RC_OK);
    struct store_write drop = {.kind = WRITE_TYPE_DROP, .key = {SPACE_TYPE, 4, SLICE("t4")}};
    assert_int_equal(fixture_write(f, &drop), RC_OK);
    atomic_store(&dropped, true);
    fixture_assert_absent(f, 4, "a");
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        store_worker_free(actors[i].worker);
    }
    assert_int_equal(fixture_count(f, 4).records, 0);
}

TEST_MAIN()
