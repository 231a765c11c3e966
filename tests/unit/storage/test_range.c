/* tests/unit/storage/test_range.c - deleting the records of a range: all that are in it and none beside, a bounded
 * number with one write, with all that hangs on them. */
#include "tests/unit/storage/wrap.h"

#include "base/clock.h"

/* One write; where the next goes on is copied to `at`. */
static enum rc delete_some(struct fixture *f, uint32_t type, struct slice *from, struct slice upto,
                           uint8_t at[LIMIT_ID_MAX], struct store_write *w)
{
    *w = (struct store_write){.kind = WRITE_RANGE_DELETE, .key = {SPACE_RECORD, type, *from}, .upto = upto};
    enum rc rc = fixture_write(f, w);
    memcpy(at, w->resume, w->resume_len);
    *from = slice_of(at, w->resume_len);
    return rc;
}

/* All of it; how many went. */
static uint64_t delete_range(struct fixture *f, uint32_t type, struct slice from, struct slice upto)
{
    uint8_t at[LIMIT_ID_MAX];
    uint64_t n = 0;
    struct store_write w;
    do {
        assert_int_equal(delete_some(f, type, &from, upto, at, &w), RC_OK);
        assert_true(w.count <= LIMIT_RANGE_KEYS_MAX);
        assert_true((w.revision != 0) == (w.count != 0));
        n += w.count;
    } while (from.len);
    return n;
}

static void put_numbered(struct fixture *f, uint32_t type, const char *prefix, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char id[32];
        snprintf(id, sizeof id, "%s%05u", prefix, i);
        assert_int_equal(fixture_put(f, type, id, "x"), RC_OK);
    }
}

STORE_TEST(range_delete__takes_what_is_in_the_range_and_nothing_beside)
{
    static const char *const ids[] = {"a", "b", "b\x01", "ba", "bb", "b\xff", "c", "ca"};
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        for (uint32_t type = 1; type <= 3; type++)
            assert_int_equal(fixture_put(f, type, ids[i], "x"), RC_OK);
    assert_int_equal(delete_range(f, 2, SLICE("b"), SLICE("c")), 5);
    assert_int_equal(fixture_count(f, 1).records, 8);
    assert_int_equal(fixture_count(f, 2).records, 3);
    assert_int_equal(fixture_count(f, 2).bytes, 3);
    assert_int_equal(fixture_count(f, 3).records, 8);
    fixture_assert_body(f, 2, "a", "x");
    fixture_assert_body(f, 2, "c", "x");
    assert_int_equal(delete_range(f, 2, SLICE("b"), SLICE("c")), 0);
    assert_int_equal(delete_range(f, 2, SLICE("c"), SLICE("c")), 0);
    assert_int_equal(delete_range(f, 2, SLICE("b"), SLICE("")), 2); /* to the end of the type */
    assert_int_equal(delete_range(f, 2, SLICE(""), SLICE("")), 1);
    assert_int_equal(fixture_count(f, 2).records, 0);
    assert_int_equal(delete_range(f, 4, SLICE(""), SLICE("")), 0);
    assert_int_equal(fixture_count(f, 3).records, 8);
}

STORE_TEST(range_delete__takes_ids_of_any_bytes)
{
    uint8_t long_id[LIMIT_ID_MAX + 20];
    memset(long_id, 0xff, sizeof long_id);
    struct store_write w = {
        .kind = WRITE_PUT, .key = {SPACE_RECORD, 1, slice_of(long_id, LIMIT_ID_MAX)}, .part = {SLICE("x")}};
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(delete_range(f, 1, slice_of(long_id, sizeof long_id), SLICE("")),
                     0); /* longer than any */
    assert_int_equal(delete_range(f, 1, slice_of(long_id, LIMIT_ID_MAX), SLICE("")), 1);
    w.key.id = slice_of("\0", 1);
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(delete_range(f, 1, slice_of("\0", 1), slice_of("\x01", 1)), 1);
}

STORE_TEST(range_delete__goes_on_where_it_has_come_to)
{
    uint8_t at[LIMIT_ID_MAX];
    struct slice from = SLICE("p");
    struct store_write w;
    put_numbered(f, 1, "p", 2 * LIMIT_RANGE_KEYS_MAX);
    put_numbered(f, 1, "q", 3);
    assert_int_equal(delete_some(f, 1, &from, SLICE("q"), at, &w), RC_OK);
    assert_int_equal(w.count, LIMIT_RANGE_KEYS_MAX);
    assert_int_equal(fixture_count(f, 1).records, LIMIT_RANGE_KEYS_MAX + 3);
    assert_slice_str(from, "p00256");
    assert_int_equal(fixture_put(f, 1, "p00000", "behind it"), RC_OK);
    assert_int_equal(delete_some(f, 1, &from, SLICE("q"), at, &w), RC_OK);
    assert_int_equal(w.count, LIMIT_RANGE_KEYS_MAX);
    assert_int_equal(from.len, 0);
    assert_int_equal(fixture_count(f, 1).records, 4);
    fixture_assert_body(f, 1, "p00000", "behind it");
}

STORE_TEST(range_delete__takes_expiry_and_blobs_with_it)
{
    static uint8_t large[3 * LIMIT_CHUNK_BYTES];
    int64_t far = clock_wall_ms() + 3600000;
    struct store_write w = {.kind = WRITE_PUT,
                            .key = fixture_key(1, "a1"),
                            .expires_ms = far,
                            .part = {slice_of(large, sizeof large)}};
    assert_int_equal(fixture_write(f, &w), RC_OK);
    w.key = fixture_key(1, "b1");
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(delete_range(f, 1, SLICE("a"), SLICE("b")), 1);
    assert_int_equal(fixture_rows(f, DB_EXPIRY), 1);
    assert_int_equal(fixture_rows(f, DB_TRASH), 1); /* the body, which may still be read */
    assert_int_equal(fixture_count(f, 1).bytes, sizeof large);
}

TEST(range_delete__leaves_what_is_past_its_time_to_the_purge)
{
    struct fixture f;
    fixture_prepare(&f, &engine_memory);
    f.opts.keep_expired = true;
    fixture_open_prepared(&f);
    struct store_write w = {.kind = WRITE_PUT, .key = fixture_key(1, "a1"), .expires_ms = 1};
    assert_int_equal(fixture_write(&f, &w), RC_OK);
    assert_int_equal(fixture_put(&f, 1, "a2", "x"), RC_OK);
    assert_int_equal(delete_range(&f, 1, SLICE("a"), SLICE("b")), 1);
    assert_int_equal(fixture_rows(&f, DB_RECORDS), 1);
    fixture_end(&f);
}

STORE_TEST(range_delete__sees_all_that_was_queued_before_it)
{
    struct store_write put[3], range = {.kind = WRITE_RANGE_DELETE, .key = fixture_key(1, "a")};
    static const char *const ids[] = {"a1", "a2", "a3"};
    for (unsigned i = 0; i < 3; i++) {
        put[i] = (struct store_write){.kind = WRITE_PUT, .key = fixture_key(1, ids[i]), .part = {SLICE("x")}};
        if (i == 2)
            fixture_queue_on(f->worker, &range);
        fixture_queue_on(f->worker, &put[i]);
    }
    fixture_await(f->worker, 4);
    assert_int_equal(range.rc, RC_OK);
    assert_int_equal(range.count, 2);
    assert_true(range.revision > put[1].revision && range.revision < put[2].revision);
    fixture_assert_body(f, 1, "a3", "x");
    assert_int_equal(fixture_count(f, 1).records, 1);
}

STORE_TEST(range_delete__of_a_dropped_type_finds_none)
{
    struct store_write drop = {.kind = WRITE_TYPE_DROP,
                               .key = {.space = SPACE_TYPE, .type = 1, .id = SLICE("t1")}};
    struct store_write range = {.kind = WRITE_RANGE_DELETE, .key = fixture_key(1, "a")};
    assert_int_equal(fixture_put(f, 1, "a", "x"), RC_OK);
    assert_int_equal(fixture_write(f, &drop), RC_OK);
    assert_int_equal(fixture_write(f, &range), RC_NOTFOUND);
}

static unsigned failures_left;

static enum rc fail_some(const struct mutation *m, size_t n, struct err *err)
{
    (void)m, (void)n;
    return failures_left && failures_left-- ? err_set(err, ERR_NO_SPACE, "Not yet.") : RC_OK;
}

TEST(range_delete__may_be_decided_again)
{
    struct fixture f;
    uint8_t at[LIMIT_ID_MAX];
    struct slice from = SLICE("p");
    struct store_write w, put = {.kind = WRITE_PUT, .key = fixture_key(2, "a"), .part = {SLICE("x")}};
    fixture_open(&f, wrap_engine(&engine_memory));
    put_numbered(&f, 1, "p", LIMIT_RANGE_KEYS_MAX + 1);
    w = (struct store_write){.kind = WRITE_RANGE_DELETE, .key = {SPACE_RECORD, 1, from}};
    failures_left = 1;
    wrap_set_on_apply(fail_some);
    fixture_queue_on(f.worker, &w);
    fixture_queue_on(f.worker, &put);
    fixture_await(f.worker, 2);
    if (w.rc == RC_ERR) /* it was in a group by itself */
        assert_int_equal(fixture_write(&f, &w), RC_OK);
    assert_int_equal(w.count, LIMIT_RANGE_KEYS_MAX);
    memcpy(at, w.resume, w.resume_len);
    assert_int_equal(fixture_count(&f, 1).records, 1);
    assert_int_equal(delete_range(&f, 1, slice_of(at, w.resume_len), SLICE("")), 1);
    fixture_end(&f);
}

TEST_MAIN()
