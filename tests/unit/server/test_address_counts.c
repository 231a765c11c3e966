/* tests/unit/server/test_address_counts.c - connections of addresses are counted up and down, beside a plain array of counts. */
#include <pthread.h>
#include <stdlib.h>

#include "server/http/address_counts.h"
#include "tests/lib/test.h"

TEST(address_counts__take_as_many_as_an_address_may_have)
{
    struct address_counts *c = address_counts_new(10);
    assert_non_null(c);
    for (int i = 0; i < 3; i++)
        assert_true(address_counts_enter(c, 7, 3));
    assert_false(address_counts_enter(c, 7, 3));
    assert_false(address_counts_enter(c, 7, 2)); /* it has got less meanwhile */
    assert_true(address_counts_enter(c, 7, 0));  /* or is not bounded any more */
    assert_true(address_counts_enter(c, 8, 1));
    for (int i = 0; i < 2; i++)
        address_counts_leave(c, 7);
    assert_true(address_counts_enter(c, 7, 3));
    assert_false(address_counts_enter(c, 7, 3));
    address_counts_free(c);
}

/* As full as it can become, and always in motion: no address is lost among its neighbours. */
TEST(address_counts__find_each_address_again)
{
    enum { ADDRESSES = 300, MOST = 512, STEPS = 400000 };
    unsigned n[ADDRESSES] = {0}, all = 0;
    struct address_counts *c = address_counts_new(MOST);
    assert_non_null(c);
    srand(7);
    for (int step = 0; step < STEPS; step++) {
        unsigned i = (unsigned)rand() % ADDRESSES;
        uint64_t address = (uint64_t)i << (i % 40);
        unsigned most = 1 + (unsigned)rand() % 6;
        if (rand() % 2 && n[i]) {
            address_counts_leave(c, address + i);
            n[i]--;
            all--;
        } else if (all < MOST) {
            bool ok = address_counts_enter(c, address + i, most);
            assert_int_equal(ok, n[i] < most);
            n[i] += ok;
            all += ok;
        }
    }
    for (unsigned i = 0; i < ADDRESSES; i++)
        while (n[i]-- > 0)
            address_counts_leave(c, ((uint64_t)i << (i % 40)) + i);
    address_counts_free(c);
}

TEST_MAIN()
