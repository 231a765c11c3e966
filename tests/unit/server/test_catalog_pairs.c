/* tests/unit/server/test_catalog_pairs.c - the resolvers that a type keeps: which are found, who frees them, how many there
 * may be. */
#include "server/catalog_pairs.h"

#include "base/limits.h"
#include "tests/lib/test.h"

static struct schema *schema;
static struct arena arena;

static void start(void)
{
    struct err err;
    assert_int_equal(schema_parse(&schema, SLICE("\"int\""), SLICE(""), &arena, &err), RC_OK);
}

static void stop(void)
{
    schema_free(schema);
    arena_release(&arena);
}

static struct resolver *resolver(void)
{
    struct resolver *r;
    struct err err;
    assert_int_equal(schema_resolver_new(&r, schema, schema, &err), RC_OK);
    return r;
}

TEST(pairs__find_what_was_offered_by_writer_and_reader)
{
    start();
    struct pairs *p = pairs_new(4, 2);
    assert_non_null(p);
    struct resolver *to_latest = resolver(), *to_first = resolver(), *to_last = resolver();
    assert_null(pairs_find(p, 0, 2));
    assert_true(pairs_offer(p, 0, 2, to_latest));
    assert_true(pairs_offer(p, 2, 0, to_first));
    assert_true(pairs_offer(p, 2, 3, to_last));
    assert_ptr_equal(pairs_find(p, 0, 2), to_latest);
    assert_ptr_equal(pairs_find(p, 2, 0), to_first);
    assert_ptr_equal(pairs_find(p, 2, 3), to_last);
    assert_null(pairs_find(p, 1, 2));
    assert_null(pairs_find(p, 0, 3));
    pairs_free(p);
    stop();
}

TEST(pairs__keep_the_first_of_two_and_free_the_other)
{
    start();
    struct pairs *p = pairs_new(3, 2);
    assert_non_null(p);
    struct resolver *first = resolver(), *other = resolver();
    assert_true(pairs_offer(p, 0, 2, first));
    assert_true(pairs_offer(p, 0, 2, resolver()));
    assert_ptr_equal(pairs_find(p, 0, 2), first);
    assert_true(pairs_offer(p, 2, 1, other));
    assert_true(pairs_offer(p, 2, 1, resolver()));
    assert_ptr_equal(pairs_find(p, 2, 1), other);
    pairs_free(p);
    stop();
}

TEST(pairs__take_no_more_than_so_many_that_do_not_read_as_the_latest)
{
    enum { VERSIONS = LIMIT_PAIRS_MAX + 10 };
    start();
    struct pairs *p = pairs_new(VERSIONS, VERSIONS - 1);
    assert_non_null(p);
    for (uint32_t i = 0; i < LIMIT_PAIRS_MAX; i++)
        assert_true(pairs_offer(p, i + 1, 0, resolver()));
    struct resolver *mine = resolver();
    assert_false(pairs_offer(p, LIMIT_PAIRS_MAX + 1, 0, mine));
    schema_resolver_free(mine);
    assert_null(pairs_find(p, LIMIT_PAIRS_MAX + 1, 0));
    assert_true(pairs_offer(p, 1, 0, resolver())); /* that is there */
    for (uint32_t i = 0; i < VERSIONS - 1; i++)
        assert_true(pairs_offer(p, i, VERSIONS - 1, resolver()));
    pairs_free(p);
    pairs_free(NULL);
    stop();
}

TEST(pairs__take_over_what_was_made_before_a_change)
{
    start();
    struct pairs *before = pairs_new(4, 2);
    struct resolver *to_latest = resolver(), *to_first = resolver();
    assert_true(pairs_offer(before, 0, 2, to_latest));
    assert_true(pairs_offer(before, 3, 1, to_first));
    /* An option changed: all stays. */
    struct pairs *same = pairs_new(4, 2);
    pairs_inherit(same, before, (uint32_t[]){0, 1, 2, 3});
    assert_ptr_equal(pairs_find(same, 0, 2), to_latest);
    assert_ptr_equal(pairs_find(same, 3, 1), to_first);
    /* A version is new that has the schema of version 1: that is the newest of both, and the latest. */
    struct pairs *more = pairs_new(5, 4);
    pairs_inherit(more, same, (uint32_t[]){0, 4, 2, 3});
    assert_ptr_equal(pairs_find(more, 3, 4), to_first);
    assert_null(pairs_find(more, 0, 2)); /* that is not the latest any more */
    pairs_free(before);
    pairs_free(same);
    assert_ptr_equal(pairs_find(more, 3, 4), to_first);
    pairs_free(more);
    stop();
}

TEST(pairs__take_over_no_more_than_there_is_room_for)
{
    enum { VERSIONS = LIMIT_PAIRS_MAX + 10 };
    static uint32_t index[VERSIONS];
    start();
    struct pairs *before = pairs_new(VERSIONS, VERSIONS - 1), *to = pairs_new(VERSIONS, VERSIONS - 2);
    for (uint32_t i = 0; i < VERSIONS; i++) {
        index[i] = i;
        if (i < LIMIT_PAIRS_MAX)
            assert_true(pairs_offer(before, i, VERSIONS - 2, resolver()));
    }
    assert_true(pairs_offer(to, 3, 0, resolver()));
    pairs_inherit(to, before, index);
    for (uint32_t i = 0; i < LIMIT_PAIRS_MAX; i++)
        assert_ptr_equal(pairs_find(to, i, VERSIONS - 2), pairs_find(before, i, VERSIONS - 2));
    struct pairs *third = pairs_new(VERSIONS, VERSIONS - 1);
    assert_true(pairs_offer(third, 3, 0, resolver()));
    pairs_inherit(third, before, index); /* one of them finds no room */
    unsigned found = 0;
    for (uint32_t i = 0; i < LIMIT_PAIRS_MAX; i++)
        found += pairs_find(third, i, VERSIONS - 2) != NULL;
    assert_int_equal(found, LIMIT_PAIRS_MAX - 1);
    pairs_free(before);
    pairs_free(to);
    pairs_free(third);
    stop();
}

TEST_MAIN()
