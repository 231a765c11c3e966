/* tests/unit/storage/test_store.c - writes and reads through the front of the folder, on every engine. */
#include "tests/unit/storage/fixture.h"

STORE_TEST(store_get__sees_a_write_as_soon_as_it_is_answered)
{
    struct record rec;
    assert_int_equal(fixture_put(f, 1, "a", "one"), RC_OK);
    fixture_assert_body(f, 1, "a", "one");
    assert_int_equal(fixture_put(f, 1, "a", "two"), RC_OK); /* in the same turn */
    fixture_assert_body(f, 1, "a", "two");
    fixture_assert_absent(f, 1, "b");
    fixture_assert_absent(f, 2, "a");
    assert_int_equal(fixture_get(f, 1, "a", &rec), RC_OK);
    assert_int_equal(rec.schema_id, 1);
    assert_true(rec.updated_ms >= rec.created_ms && rec.created_ms > 0);
}

STORE_TEST(store_write__gives_growing_revisions_and_says_what_was_created)
{
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {SLICE("x"), SLICE(""), SLICE("yz")}};
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_true(w.created);
    uint64_t first = w.revision;
    fixture_assert_body(f, 1, "a", "xyz");
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_false(w.created);
    assert_true(w.revision > first);
    struct record rec;
    assert_int_equal(fixture_get(f, 1, "a", &rec), RC_OK);
    assert_int_equal(rec.revision, w.revision);
}

STORE_TEST(store_write__delete_removes_once)
{
    assert_int_equal(fixture_put(f, 1, "a", "one"), RC_OK);
    assert_int_equal(fixture_count(f, 1).records, 1);
    assert_int_equal(fixture_count(f, 1).bytes, 3);
    assert_int_equal(fixture_delete(f, 1, "a"), RC_OK);
    fixture_assert_absent(f, 1, "a");
    assert_int_equal(fixture_delete(f, 1, "a"), RC_NOTFOUND);
    assert_int_equal(fixture_count(f, 1).records, 0);
    assert_int_equal(fixture_count(f, 1).bytes, 0);
}

TEST_MAIN()
