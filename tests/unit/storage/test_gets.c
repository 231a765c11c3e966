/* tests/unit/storage/test_gets.c - gets that are read many at a time, on every engine. */
#include "tests/unit/storage/fixture.h"

/* A get that notes when it was done, and does something then. */
struct noted {
    struct store_get get;
    struct fixture *f;
    struct noted *another; /* queued by done */
    bool writes;           /* done overwrites the records "a" and "b", waits for that, and reads "a" */
    char body[8];
    enum rc rc_inside;
    char body_inside[8];
    unsigned place; /* from 1; 0: not done */
};

static unsigned places;

static void copy_body(char to[8], const struct record *rec)
{
    assert_true(rec->body.len < 8);
    memcpy(to, rec->body.ptr, rec->body.len);
    to[rec->body.len] = 0;
}

/* Not by fixture_put: the snapshot stays. */
static void overwrite(struct fixture *f, const char *id)
{
    struct err err;
    struct store_write w = {.kind = WRITE_PUT,
                            .key = fixture_key(1, id),
                            .schema_id = 1,
                            .part = {SLICE("new")},
                            .done = fixture_write_done};
    assert_int_equal(store_write(f->worker, &w, &err), RC_PENDING);
    fixture_await(f->worker, 1);
    assert_int_equal(w.rc, RC_OK);
}

static void write_and_read(struct noted *n)
{
    overwrite(n->f, "a");
    overwrite(n->f, "b");
    struct store_get g = {.key = fixture_key(1, "a"), .done = fixture_get_done};
    store_get(n->f->worker, &g);
    n->rc_inside = g.rc;
    if (g.rc == RC_OK)
        copy_body(n->body_inside, &g.rec);
}

static void noted_done(struct store_get *get)
{
    struct noted *n = CONTAINER_OF(get, struct noted, get);
    assert_int_equal(n->place, 0);
    n->place = ++places;
    if (n->another)
        store_get_soon(n->f->worker, &n->another->get);
    if (n->writes)
        write_and_read(n);
    if (get->rc == RC_OK)
        copy_body(n->body, &get->rec);
}

static struct noted noted(struct fixture *f, const char *id)
{
    return (struct noted){.get = {.key = fixture_key(1, id), .done = noted_done}, .f = f};
}

STORE_TEST(store_gets_run__reads_all_that_are_queued_and_calls_them_in_order)
{
    static const char *const ids[] = {"c", "a", "none", "b", "a"};
    struct noted n[ARRAY_LEN(ids)];
    places = 0;
    assert_int_equal(fixture_put(f, 1, "a", "1"), RC_OK);
    assert_int_equal(fixture_put(f, 1, "b", "2"), RC_OK);
    assert_int_equal(fixture_put(f, 1, "c", "3"), RC_OK);
    assert_int_equal(store_gets_waiting(f->worker), 0);
    for (unsigned i = 0; i < ARRAY_LEN(ids); i++) {
        n[i] = noted(f, ids[i]);
        store_get_soon(f->worker, &n[i].get);
    }
    assert_int_equal(places, 0);
    assert_int_equal(store_gets_waiting(f->worker), ARRAY_LEN(ids));
    store_gets_run(f->worker);
    assert_int_equal(store_gets_waiting(f->worker), 0);
    for (unsigned i = 0; i < ARRAY_LEN(ids); i++)
        assert_int_equal(n[i].place, i + 1);
    assert_string_equal(n[0].body, "3");
    assert_string_equal(n[1].body, "1");
    assert_int_equal(n[2].get.rc, RC_NOTFOUND);
    assert_string_equal(n[3].body, "2");
    assert_string_equal(n[4].body, "1");
    store_gets_run(f->worker); /* of none */
    assert_int_equal(places, ARRAY_LEN(ids));
}

STORE_TEST(store_gets_run__leaves_what_a_done_queues_to_the_next)
{
    struct noted first = noted(f, "a"), second = noted(f, "a"), behind = noted(f, "a");
    places = 0;
    assert_int_equal(fixture_put(f, 1, "a", "1"), RC_OK);
    first.another = &behind;
    store_get_soon(f->worker, &first.get);
    store_get_soon(f->worker, &second.get);
    store_gets_run(f->worker);
    assert_int_equal(second.place, 2);
    assert_int_equal(behind.place, 0);
    assert_int_equal(store_gets_waiting(f->worker), 1);
    store_turn_end(f->worker); /* as a turn may end between */
    store_gets_run(f->worker);
    assert_int_equal(behind.place, 3);
    assert_string_equal(behind.body, "1");
    assert_int_equal(store_gets_waiting(f->worker), 0);
}

STORE_TEST(store_gets_run__sees_what_was_written_after_they_were_queued)
{
    struct noted n = noted(f, "a");
    places = 0;
    assert_int_equal(fixture_put(f, 1, "a", "old"), RC_OK);
    fixture_assert_body(f, 1, "a", "old"); /* there is a snapshot */
    store_get_soon(f->worker, &n.get);
    overwrite(f, "a");
    store_gets_run(f->worker);
    assert_string_equal(n.body, "new");
}

STORE_TEST(store_gets_run__lends_all_of_one_snapshot_until_the_last_done)
{
    struct noted first = noted(f, "a"), second = noted(f, "b");
    places = 0;
    assert_int_equal(fixture_put(f, 1, "a", "old"), RC_OK);
    assert_int_equal(fixture_put(f, 1, "b", "old"), RC_OK);
    first.writes = true;
    store_get_soon(f->worker, &first.get);
    store_get_soon(f->worker, &second.get);
    store_gets_run(f->worker);
    assert_string_equal(first.body, "old");
    assert_int_equal(first.rc_inside, RC_OK);
    assert_string_equal(first.body_inside, "old");
    assert_string_equal(second.body, "old");
    fixture_assert_body(f, 1, "a", "new"); /* in the same turn */
    fixture_assert_body(f, 1, "b", "new");
}

STORE_TEST(store_gets_run__a_bad_key_is_its_own_fault)
{
    uint8_t id[LIMIT_ID_MAX + 1];
    struct noted bad = noted(f, "a"), good = noted(f, "a");
    places = 0;
    memset(id, 'x', sizeof id);
    bad.get.key.id = slice_of(id, sizeof id);
    assert_int_equal(fixture_put(f, 1, "a", "1"), RC_OK);
    store_get_soon(f->worker, &bad.get);
    store_get_soon(f->worker, &good.get);
    store_gets_run(f->worker);
    assert_int_equal(bad.get.rc, RC_ERR);
    assert_int_equal(bad.get.err.code, ERR_ID_TOO_LONG);
    assert_string_equal(good.body, "1");
}

/* ---- a snapshot that is not to be had ---- */

static bool renew_fails;

static enum rc failing_renew(struct snap *s, struct err *err)
{
    return renew_fails ? err_oom(err) : engine_memory.snap_renew(s, err);
}

TEST(store_gets_run__without_a_snapshot_fails_each_get_and_the_next_run_reads)
{
    struct engine_ops ops = engine_memory;
    struct fixture f;
    ops.snap_renew = failing_renew;
    fixture_open(&f, &ops);
    assert_int_equal(fixture_put(&f, 1, "a", "1"), RC_OK);
    struct noted n[3] = {noted(&f, "a"), noted(&f, "a"), noted(&f, "a")};
    places = 0;
    store_turn_end(f.worker);
    renew_fails = true;
    store_get_soon(f.worker, &n[0].get);
    store_get_soon(f.worker, &n[1].get);
    store_gets_run(f.worker);
    renew_fails = false;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(n[i].get.rc, RC_ERR);
        assert_int_equal(n[i].get.err.code, ERR_NO_MEMORY);
    }
    store_get_soon(f.worker, &n[2].get);
    store_gets_run(f.worker);
    assert_string_equal(n[2].body, "1");
    fixture_end(&f);
}

TEST_MAIN()
