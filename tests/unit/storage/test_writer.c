/* tests/unit/storage/test_writer.c - groups: one mutation a key, what ends a group, and applies that fail. */
#include "tests/unit/storage/wrap.h"

#include "storage/keys.h"

static struct fixture fixture;

static struct fixture *open_wrapped(void)
{
    fixture_open(&fixture, wrap_engine(&engine_memory));
    return &fixture;
}

static struct store_write put_of(const char *id, const char *body)
{
    return (struct store_write){.kind = WRITE_PUT, .key = fixture_key(1, id), .part = {slice_str(body)}};
}

static enum rc increment(struct store_write *w, const struct record *old, struct record *fresh,
                         struct err *err)
{
    (void)err;
    uint32_t *n = (uint32_t *)(uintptr_t)w->part[0].ptr;
    *n = (old ? get_le32(old->body.ptr) : 0) + 1;
    fresh->body = slice_of(n, sizeof *n);
    return RC_OK;
}

TEST(writer__a_hundred_increments_in_one_group_are_one_mutation)
{
    enum { N = 100 };
    struct fixture *f = open_wrapped();
    struct store_write first = put_of("first", "x");
    static struct store_write w[N];
    static uint32_t memory[N];
    struct key key;
    struct store_key n_key = fixture_key(1, "n");
    key_of(&key, &n_key);
    wrap.watched = key_slice(&key);
    wrap_hold(f, &first);
    for (unsigned i = 0; i < N; i++) {
        w[i] = (struct store_write){.kind = WRITE_EDIT, .key = n_key, .edit = increment};
        w[i].part[0] = slice_of(&memory[i], sizeof memory[i]);
        fixture_queue_on(f->worker, &w[i]);
    }
    unsigned applies = wrap.applies;
    wrap_release();
    fixture_await(f->worker, N + 1);
    struct record rec;
    assert_int_equal(fixture_get(f, 1, "n", &rec), RC_OK);
    assert_int_equal(get_le32(rec.body.ptr), N);
    assert_int_equal(rec.revision, w[N - 1].revision);
    assert_int_equal(wrap.applies, applies + 2);
    assert_int_equal(wrap.watched_puts, 1);
    assert_int_equal(fixture_count(f, 1).records, 2);
    fixture_end(f);
}

TEST(writer__a_type_drop_stands_alone_in_its_group)
{
    struct fixture *f = open_wrapped();
    struct store_write first = put_of("first", "x"), a = put_of("a", "1"), b = put_of("b", "2"),
                       drop = {.kind = WRITE_TYPE_DROP, .key = {SPACE_TYPE, 1, SLICE("t1")}};
    wrap_hold(f, &first);
    fixture_queue_on(f->worker, &a);
    fixture_queue_on(f->worker, &drop);
    fixture_queue_on(f->worker, &b);
    unsigned applies = wrap.applies;
    wrap_release();
    fixture_await(f->worker, 4);
    pthread_mutex_lock(&wrap.lock); /* what died is purged meanwhile */
    assert_int_equal(a.rc, RC_OK);
    assert_int_equal(drop.rc, RC_OK);
    assert_int_equal(drop.count, 2);
    assert_int_equal(b.rc, RC_NOTFOUND);
    assert_true(wrap.applies >= applies + 3);    /* first; a; drop; nothing for b */
    assert_int_equal(wrap.puts[applies + 1], 3); /* record, counts, state */
    assert_int_equal(wrap.puts[applies + 2], 3); /* type, trash, state */
    pthread_mutex_unlock(&wrap.lock);
    fixture_end(f);
}

static enum rc put_many(struct store_write *w, struct store_txn *txn, struct err *err)
{
    for (unsigned i = 0; i < w->schema_id; i++) {
        char id[32];
        snprintf(id, sizeof id, "%.*s-%u", (int)w->key.id.len, w->key.id.ptr, i);
        struct store_key key = fixture_key(1, id);
        struct record rec = {.body = SLICE("x")};
        if (txn_put(txn, &key, &rec, err) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

/* Each of them fits, all together do not: the engine would have to write pages before the commit, or fail. */
TEST(writer__ends_a_group_before_it_changes_more_pages_than_the_engine_holds_in_memory)
{
    enum { CALLS = 8, EACH = 1000 };
    struct fixture *f = open_wrapped();
    struct store_write first = put_of("first", "x");
    static struct store_write w[CALLS];
    static const char *const ids[CALLS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    wrap_hold(f, &first);
    for (unsigned i = 0; i < CALLS; i++) {
        w[i] = (struct store_write){
            .kind = WRITE_CALL, .key = fixture_key(1, ids[i]), .call = put_many, .schema_id = EACH};
        fixture_queue_on(f->worker, &w[i]);
    }
    unsigned applies = wrap.applies;
    wrap_release();
    fixture_await(f->worker, CALLS + 1);
    for (unsigned i = 0; i < CALLS; i++)
        assert_int_equal(w[i].rc, RC_OK);
    assert_int_equal(fixture_count(f, 1).records, CALLS * EACH + 1);
    assert_true(wrap.applies > applies + 2);
    for (unsigned i = applies; i < wrap.applies; i++)
        assert_true(wrap.puts[i] * ENGINE_PAGES_OF_A_KEY <= LIMIT_GROUP_PAGES_MAX);
    fixture_end(f);
}

TEST(writer__a_group_in_which_nothing_changes_is_not_applied)
{
    struct fixture *f = open_wrapped();
    unsigned applies = wrap.applies;
    assert_int_equal(fixture_delete(f, 1, "absent"), RC_NOTFOUND);
    struct store_write w = put_of("a", "x");
    w.cond = COND_PRESENT;
    assert_int_equal(fixture_write(f, &w), RC_CONFLICT);
    assert_int_equal(wrap.applies, applies);
    fixture_end(f);
}

/* ---- applies that fail ---- */

static enum rc put_then_refuse(struct store_write *w, struct store_txn *txn, struct err *err)
{
    const struct record rec = {.schema_id = 1, .body = SLICE("of nobody")};
    (void)w;
    for (uint32_t type = 1; type <= 2; type++) {
        struct store_key key = fixture_key(type, "refused");
        if (txn_put(txn, &key, &rec, err) != RC_OK)
            return RC_ERR;
    }
    return RC_CONFLICT;
}

TEST(writer__counts_of_types_that_take_turns_in_a_group_are_exact_whatever_fails)
{
    struct fixture *f = open_wrapped();
    struct store_write first = put_of("first", "x"), a = put_of("a", "12"), b = put_of("b", "345"),
                       c = put_of("c", "6"), again = put_of("a", "7890"),
                       gone = {.kind = WRITE_DELETE, .key = fixture_key(1, "c")},
                       refused = {.kind = WRITE_CALL, .call = put_then_refuse};
    struct store_write *const group[] = {&a, &b, &refused, &c, &again, &gone};
    b.key.type = 2;
    wrap_hold(f, &first);
    for (size_t i = 0; i < ARRAY_LEN(group); i++)
        fixture_queue_on(f->worker, group[i]);
    unsigned applies = wrap.applies;
    wrap_release();
    fixture_await(f->worker, ARRAY_LEN(group) + 1);
    assert_int_equal(refused.rc, RC_CONFLICT);
    assert_int_equal(gone.rc, RC_OK);
    assert_int_equal(wrap.applies, applies + 2);
    assert_int_equal(fixture_count(f, 1).records, 2);
    assert_int_equal(fixture_count(f, 1).bytes, 1 + 4);
    assert_int_equal(fixture_count(f, 2).records, 1);
    assert_int_equal(fixture_count(f, 2).bytes, 3);
    fixture_end(f);
}

static bool touches(const struct mutation *m, size_t n, const char *id)
{
    for (size_t i = 0; i < n; i++)
        if (m[i].key.ptr[0] == DB_RECORDS &&
            slice_eq(slice_of(m[i].key.ptr + 5, m[i].key.len - 5), slice_str(id)))
            return true;
    return false;
}

static enum rc full_for_big(const struct mutation *m, size_t n, struct err *err)
{
    return touches(m, n, "big") ? err_set(err, ERR_NO_SPACE, "Full.") : RC_OK;
}

TEST(writer__the_one_write_that_does_not_fit_fails_and_the_others_land)
{
    enum { N = 40 };
    struct fixture *f = open_wrapped();
    struct store_write first = put_of("first", "x"), w[N];
    char ids[N][8];
    wrap_hold(f, &first);
    for (unsigned i = 0; i < N; i++) {
        snprintf(ids[i], sizeof ids[i], "%u", i);
        w[i] = put_of(i == 17 ? "big" : ids[i], "xx");
        fixture_queue_on(f->worker, &w[i]);
    }
    wrap.on_apply = full_for_big; /* the writer waits, so nobody looks */
    wrap_release();
    fixture_await(f->worker, N + 1);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(w[i].rc, i == 17 ? RC_ERR : RC_OK);
    assert_int_equal(w[17].err.code, ERR_NO_SPACE);
    assert_int_equal(w[17].revision, 0);
    assert_int_equal(w[N - 1].revision, first.revision + N - 1); /* it took no revision */
    fixture_assert_absent(f, 1, "big");
    assert_int_equal(fixture_count(f, 1).records, N);
    assert_int_equal(fixture_count(f, 1).bytes, 1 + (N - 1) * 2);
    wrap_set_on_apply(NULL);
    assert_int_equal(fixture_put(f, 1, "big", "x"), RC_OK);
    fixture_end(f);
}

static uint32_t random_state = 1;

static enum rc fail_now_and_then(const struct mutation *m, size_t n, struct err *err)
{
    (void)m, (void)n;
    random_state = random_state * 1664525 + 1013904223;
    switch (random_state >> 20 & 3) {
    case 0: return err_set(err, ERR_NO_SPACE, "Full.");
    case 1: return err_oom(err);
    default: return RC_OK;
    }
}

TEST(writer__what_was_answered_is_what_is_there_while_applies_fail_at_random)
{
    enum { ROUNDS = 60, EACH = 20, KEYS = 15 };
    struct fixture *f = open_wrapped();
    static uint32_t model[KEYS], memory[EACH];
    char ids[KEYS][8];
    uint64_t last_revision = 0, records = 0;
    for (unsigned i = 0; i < KEYS; i++)
        snprintf(ids[i], sizeof ids[i], "%u", i);
    wrap_set_on_apply(fail_now_and_then);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct store_write w[EACH];
        unsigned key[EACH];
        for (unsigned i = 0; i < EACH; i++) {
            key[i] = (round * 7 + i * i) % KEYS;
            w[i] = (struct store_write){.kind = (round + i) % 5 ? WRITE_EDIT : WRITE_DELETE,
                                        .key = fixture_key(1, ids[key[i]]),
                                        .edit = increment};
            w[i].part[0] = slice_of(&memory[i], sizeof memory[i]);
            fixture_queue_on(f->worker, &w[i]);
        }
        fixture_await(f->worker, EACH);
        for (unsigned i = 0; i < EACH; i++) {
            if (w[i].kind == WRITE_DELETE)
                assert_true(w[i].rc == RC_ERR || (w[i].rc == RC_OK) == (model[key[i]] != 0));
            if (w[i].rc != RC_OK)
                continue;
            assert_true(w[i].revision > last_revision);
            last_revision = w[i].revision;
            assert_true(w[i].kind == WRITE_DELETE || w[i].created == (model[key[i]] == 0));
            model[key[i]] = w[i].kind == WRITE_DELETE ? 0 : model[key[i]] + 1;
        }
    }
    wrap_set_on_apply(NULL);
    for (unsigned i = 0; i < KEYS; i++) {
        struct record rec;
        enum rc rc = fixture_get(f, 1, ids[i], &rec);
        assert_int_equal(rc, model[i] ? RC_OK : RC_NOTFOUND);
        if (rc == RC_OK)
            assert_int_equal(get_le32(rec.body.ptr), model[i]);
        records += model[i] != 0;
    }
    assert_int_equal(fixture_count(f, 1).records, records);
    assert_int_equal(fixture_count(f, 1).bytes, records * 4);
    fixture_end(f);
}

static enum rc broken(const struct mutation *m, size_t n, struct err *err)
{
    (void)m, (void)n;
    return err_set(err, ERR_STORE_BROKEN, "The flush failed.");
}

TEST(writer__after_a_failed_flush_writes_are_refused_and_reads_go_on)
{
    struct fixture *f = open_wrapped();
    struct store_write a = put_of("a", "2"), b = put_of("b", "2"), c = put_of("c", "2");
    struct err err;
    assert_int_equal(fixture_put(f, 1, "a", "1"), RC_OK);
    assert_false(store_broken(f->store));
    wrap_hold(f, &a);
    fixture_queue_on(f->worker, &b); /* waits when it breaks */
    unsigned applies = wrap.applies;
    wrap.on_apply = broken;
    wrap_release();
    fixture_await(f->worker, 2);
    assert_int_equal(a.rc, RC_ERR);
    assert_int_equal(a.err.code, ERR_STORE_BROKEN);
    assert_int_equal(b.rc, RC_ERR);
    assert_int_equal(b.err.code, ERR_STORE_BROKEN);
    wrap_set_on_apply(NULL);
    assert_true(store_broken(f->store));
    c.done = fixture_write_done;
    assert_int_equal(store_write(f->worker, &c, &err), RC_ERR);
    assert_int_equal(err.code, ERR_STORE_BROKEN);
    assert_int_equal(wrap.applies, applies);
    fixture_assert_body(f, 1, "a", "1");
    fixture_end(f);
}

static enum rc sync_fails(struct err *err)
{
    return err_set(err, ERR_STORE_BROKEN, "The flush failed.");
}

TEST(writer__a_delayed_sync_that_fails_breaks_the_store)
{
    struct fixture *f = &fixture;
    fixture_prepare(f, wrap_engine(&engine_memory));
    f->opts.durability = DURABLE_ASYNC;
    fixture_reopen(f);
    pthread_mutex_lock(&wrap.lock);
    wrap.on_sync = sync_fails;
    pthread_mutex_unlock(&wrap.lock);
    struct store_write w = {
        .kind = WRITE_PUT, .key = {.space = SPACE_TYPE, .id = SLICE("t")}, .part = {SLICE("x")}};
    assert_int_equal(fixture_write(f, &w), RC_OK);
    while (!store_broken(f->store))
        poll(NULL, 0, 1);
    fixture_end(f);
}

/* ---- the queue ---- */

TEST(store_write__says_queue_full_beyond_a_workers_share_and_busy_before)
{
    enum { SHARE = LIMIT_QUEUE_OPS_MAX / FIXTURE_WORKERS };
    struct fixture *f = open_wrapped();
    static struct store_write w[SHARE];
    struct store_write first = put_of("first", "x");
    struct err err;
    wrap_hold(f, &first);
    assert_false(store_busy(f->worker));
    for (unsigned i = 1; i < SHARE; i++) {
        w[i] = put_of("a", "x");
        fixture_queue_on(f->worker, &w[i]);
    }
    assert_true(store_busy(f->worker));
    w[0] = put_of("a", "x");
    assert_int_equal(store_write(f->worker, &w[0], &err), RC_ERR);
    assert_int_equal(err.code, ERR_QUEUE_FULL);
    wrap_release();
    fixture_await(f->worker, SHARE);
    assert_false(store_busy(f->worker));
    assert_int_equal(fixture_write(f, &w[0]), RC_OK);
    fixture_end(f);
}

TEST(store_close__finishes_what_waits_even_for_workers_that_nobody_runs)
{
    enum { N = 1000 };
    struct fixture *f = &fixture;
    static struct store_write w[N];
    fixture_open(f, wrap_engine(&engine_lmdb));
    struct store_write first = put_of("first", "x");
    wrap_hold(f, &first);
    for (unsigned i = 0; i < N; i++) {
        w[i] = put_of("a", "x");
        fixture_queue_on(f->worker, &w[i]);
    }
    wrap_release();
    store_close(f->store);
    fixture_reopen(f);
    fixture_assert_body(f, 1, "a", "x");
    assert_int_equal(fixture_count(f, 1).records, 2);
    struct record rec;
    assert_int_equal(fixture_get(f, 1, "a", &rec), RC_OK);
    assert_int_equal(rec.revision, w[N - 1].revision);
    fixture_end(f);
}

TEST_MAIN()
