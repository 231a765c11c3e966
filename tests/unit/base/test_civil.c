/* tests/unit/base/test_civil.c - days and dates. Known days: Hinnant's page, and `date -u -d DATE +%s` / 86400. */
#include "base/civil.h"

#include "tests/lib/test.h"

static void check(int32_t year, unsigned month, unsigned day, int64_t days)
{
    struct civil c = civil_of_days(days);
    assert_int_equal(civil_to_days((struct civil){year, month, day}), days);
    assert_int_equal(c.year, year);
    assert_int_equal(c.month, month);
    assert_int_equal(c.day, day);
}

TEST(civil__knows_these_days)
{
    check(1970, 1, 1, 0);
    check(1969, 12, 31, -1);
    check(2000, 2, 29, 11016);
    check(2000, 3, 1, 11017);
    check(1900, 2, 28, -25509); /* no leap year */
    check(1900, 3, 1, -25508);
    check(2024, 2, 29, 19782);
    check(9999, 12, 31, 2932896);
    check(1, 1, 1, -719162);
    check(0, 1, 1, -719528);
    check(0, 2, 29, -719469); /* year 0 is one */
    check(0, 3, 1, -719468);
    check(-1, 12, 31, -719529);
    check(-400, 2, 29, -865566);
    check(5881580, 7, 11, INT32_MAX);
    check(-5877641, 6, 23, INT32_MIN);
}

/* Every day of 800 years: the next date is the next day, and no other. */
TEST(civil__counts_day_by_day)
{
    struct civil c = {.year = -401, .month = 1, .day = 1};
    for (int64_t days = civil_to_days(c); c.year < 401; days++) {
        check(c.year, c.month, c.day, days);
        if (++c.day <= civil_month_days(c.year, c.month))
            continue;
        c.day = 1;
        if (++c.month <= 12)
            continue;
        c.month = 1;
        c.year++;
    }
}

TEST(civil_month_days__knows_leap_years)
{
    assert_int_equal(civil_month_days(2023, 2), 28);
    assert_int_equal(civil_month_days(2024, 2), 29);
    assert_int_equal(civil_month_days(1900, 2), 28);
    assert_int_equal(civil_month_days(2000, 2), 29);
    assert_int_equal(civil_month_days(0, 2), 29);
    assert_int_equal(civil_month_days(2023, 4), 30);
    assert_int_equal(civil_month_days(2023, 12), 31);
}

TEST_MAIN()
