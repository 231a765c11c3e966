/* tests/unit/server/test_counts.c - what a worker counts of its answers, and failures by type. */
#include "server/counts.h"

#include "base/clock.h"
#include "server/failures.h"
#include "server/handler.h"
#include "server/router.h"
#include "server/server.h"
#include "tests/lib/test.h"

static struct server server;

static const struct route_counts *cell(const struct counts *c, unsigned row, unsigned method)
{
    return &c->route[row * COUNTS_METHODS + method];
}

static uint64_t durations(const struct route_counts *r)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        n += counter_get(&r->duration_ns.bucket[i]);
    return n;
}

TEST(counts_settle__counts_each_answer_once)
{
    struct counts *c = counts_new(&server);
    int64_t begun = clock_mono_ns();
    assert_non_null(c);
    for (unsigned i = 0; i < 3; i++)
        counts_answered(c, 1, METHOD_GET, 200, begun);
    counts_answered(c, 1, METHOD_GET, 404, begun);
    counts_answered(c, 1, METHOD_GET, 200, begun - 1);
    counts_answered(c, 0, METHODS, 400, begun);
    counts_answered(c, router_routes(), METHOD_PURGE, 507, begun);
    assert_int_equal(durations(cell(c, 1, METHOD_GET)), 0); /* not before the turn is over */
    counts_settle(c);
    counts_settle(c);
    assert_int_equal(counter_get(&cell(c, 1, METHOD_GET)->status[STATUS_INDEX_200]), 4);
    assert_int_equal(counter_get(&cell(c, 1, METHOD_GET)->status[STATUS_INDEX_404]), 1);
    assert_int_equal(durations(cell(c, 1, METHOD_GET)), 5);
    assert_int_equal(counter_get(&cell(c, 0, METHODS)->status[STATUS_INDEX_400]), 1);
    assert_int_equal(counter_get(&cell(c, router_routes(), METHOD_PURGE)->status[STATUS_INDEX_507]), 1);
    counts_free(&server);
    assert_null(server.counts);
}

TEST(counts_answered__has_room_for_any_number)
{
    enum { ANSWERS = 10 * COUNTS_WAITING_MAX + 7 };
    struct counts *c = counts_new(&server);
    int64_t begun = clock_mono_ns() - 1000000;
    assert_non_null(c);
    for (int i = 0; i < ANSWERS; i++)
        counts_answered(c, 2, METHOD_PUT, 201, begun + i);
    counts_settle(c);
    assert_int_equal(counter_get(&cell(c, 2, METHOD_PUT)->status[STATUS_INDEX_201]), ANSWERS);
    assert_int_equal(durations(cell(c, 2, METHOD_PUT)), ANSWERS);
    assert_true(counter_get(&cell(c, 2, METHOD_PUT)->duration_ns.sum) > ANSWERS * UINT64_C(900000));
    counts_free(&server);
}

TEST(counts_new__shares_no_line_with_another_worker)
{
    struct counts *a = counts_new(&server), *b = counts_new(&server);
    assert_true(a && b);
    assert_int_equal((uintptr_t)a % 128, 0);
    assert_int_equal((uintptr_t)b % 128, 0);
    assert_ptr_equal(server.counts, b);
    assert_ptr_equal(b->next, a);
    counts_free(&server);
}

TEST(failures_add__names_a_bounded_number_of_types)
{
    static struct failures f;
    struct type type = {.name = SLICE("some_type")};
    failures_init(&f);
    for (unsigned round = 0; round < 2; round++)
        for (type.number = 1; type.number <= LIMIT_METRIC_TYPES_MAX + 3; type.number++)
            failures_add(&f, &type);
    assert_int_equal(f.n, LIMIT_METRIC_TYPES_MAX);
    assert_int_equal(f.others, 6);
    assert_int_equal(f.type[0].count, 2);
    assert_int_equal(f.type[LIMIT_METRIC_TYPES_MAX - 1].count, 2);
    assert_slice_str(slice_of(f.type[0].name, f.type[0].name_len), "some_type");
    failures_release(&f);
}

TEST_MAIN()
