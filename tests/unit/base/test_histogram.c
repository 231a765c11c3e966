/* tests/unit/base/test_histogram.c - which bucket takes a value. */
#include "base/histogram.h"

#include "tests/lib/test.h"

TEST(histogram_bucket__takes_its_bound_and_nothing_above)
{
    for (unsigned first = 0; first <= HISTOGRAM_NS; first += HISTOGRAM_NS)
        for (unsigned i = 0; i + 1 < HISTOGRAM_BUCKETS; i++) {
            uint64_t bound = UINT64_C(1) << (first + i);
            assert_int_equal(histogram_bucket(bound, first), i);
            assert_int_equal(histogram_bucket(bound + 1, first), i + 1);
        }
    assert_int_equal(histogram_bucket(0, HISTOGRAM_COUNT), 0);
    assert_int_equal(histogram_bucket(0, HISTOGRAM_NS), 0);
    assert_int_equal(histogram_bucket(UINT64_MAX, HISTOGRAM_COUNT), HISTOGRAM_BUCKETS - 1);
    assert_int_equal(histogram_bucket(UINT64_MAX, HISTOGRAM_NS), HISTOGRAM_BUCKETS - 1);
}

TEST(histogram_get__adds_to_what_was_read)
{
    struct histogram h = {0};
    struct histogram_read all = {0};
    histogram_add(&h, 5, 3, HISTOGRAM_COUNT);
    histogram_add(&h, 1, 1, HISTOGRAM_COUNT);
    histogram_get(&h, &all);
    histogram_get(&h, &all);
    assert_int_equal(all.sum, 32);
    assert_int_equal(all.bucket[0], 2);
    assert_int_equal(all.bucket[3], 6);
}

TEST_MAIN()
