/* tests/unit/base/test_rfc3339.c - dates and times as text. Known moments: the examples of RFC 3339, section 5.8, and
 * `date -u -d TEXT +%s`. */
#include "base/rfc3339.h"

#include <stdio.h>

#include "tests/lib/random.h"
#include "tests/lib/test.h"

static void reads(enum rfc3339_kind kind, unsigned digits, const char *text, int64_t want)
{
    int64_t got;
    enum rfc3339_fault fault = rfc3339_parse(kind, digits, slice_str(text), &got);
    if (fault || got != want)
        fail_msg("%s: fault %d, %lld, not %lld", text, fault, (long long)got, (long long)want);
}

static void prints(enum rfc3339_kind kind, unsigned digits, int64_t v, const char *want)
{
    uint8_t out[RFC3339_CHARS_MAX];
    assert_slice_str(slice_of(out, rfc3339_print(kind, digits, v, out)), want);
}

/* Both ways. */
static void is(enum rfc3339_kind kind, unsigned digits, const char *text, int64_t v)
{
    reads(kind, digits, text, v);
    prints(kind, digits, v, text);
}

static void refuses(enum rfc3339_kind kind, unsigned digits, const char *text, enum rfc3339_fault want)
{
    int64_t v;
    enum rfc3339_fault got = rfc3339_parse(kind, digits, slice_str(text), &v);
    if (got != want)
        fail_msg("%s: fault %d, not %d", text, got, want);
}

TEST(rfc3339__dates)
{
    is(RFC3339_DATE, 0, "1970-01-01", 0);
    is(RFC3339_DATE, 0, "1969-12-31", -1);
    is(RFC3339_DATE, 0, "2024-02-29", 19782);
    is(RFC3339_DATE, 0, "0000-01-01", -719528);
    is(RFC3339_DATE, 0, "9999-12-31", 2932896);
    prints(RFC3339_DATE, 0, -719529, "");
    prints(RFC3339_DATE, 0, 2932897, "");
    prints(RFC3339_DATE, 0, INT64_MAX, "");
    prints(RFC3339_DATE, 0, INT64_MIN, "");
    for (const char *const *t = (const char *const[]){"2023-02-29", "1900-02-29", "2023-04-31", "2023-00-01",
                                                      "2023-13-01", "2023-01-00", "2023-01-32", NULL};
         *t; t++)
        refuses(RFC3339_DATE, 0, *t, RFC3339_NO_SUCH);
    for (const char *const *t =
             (const char *const[]){"", "2", "2023", "2023-1-1", "2023-01-1", "2023-01-011", "2023/01/01",
                                   "02023-01-01", "-2023-01-01", "+2023-01-01", " 2023-01-01", "2023-01-01 ",
                                   "2023-01-01Z", "2023-01-01T00:00:00Z", "20230101", "2023-W01-1", "2023-13",
                                   "abcd-ef-gh", NULL};
         *t; t++)
        refuses(RFC3339_DATE, 0, *t, RFC3339_SYNTAX);
}

TEST(rfc3339__times_of_day)
{
    is(RFC3339_TIME, 3, "00:00:00.000", 0);
    is(RFC3339_TIME, 3, "23:59:59.999", 86399999);
    is(RFC3339_TIME, 6, "12:34:56.000007", 45296000007);
    is(RFC3339_TIME, 6, "23:59:59.999999", 86399999999);
    reads(RFC3339_TIME, 3, "12:00:00", 43200000);
    reads(RFC3339_TIME, 3, "12:00:00.5", 43200500);
    reads(RFC3339_TIME, 3, "12:00:00.50000000000000", 43200500);
    prints(RFC3339_TIME, 3, 86400000, "");
    prints(RFC3339_TIME, 3, -1, "");
    refuses(RFC3339_TIME, 3, "12:00:00.0005", RFC3339_DIGITS);
    refuses(RFC3339_TIME, 3, "24:00:00", RFC3339_NO_SUCH);
    refuses(RFC3339_TIME, 3, "23:60:00", RFC3339_NO_SUCH);
    refuses(RFC3339_TIME, 3, "23:59:61", RFC3339_NO_SUCH);
    refuses(RFC3339_TIME, 3, "23:59:60", RFC3339_LEAP);
    for (const char *const *t =
             (const char *const[]){"", "12", "12:00", "12:00:0", "1:00:00", "12:00:00.", "12:00:00,5",
                                   "12:00:00Z", "12:00:00+01:00", "T12:00:00", "12.00.00", NULL};
         *t; t++)
        refuses(RFC3339_TIME, 3, *t, RFC3339_SYNTAX);
}

TEST(rfc3339__moments)
{
    is(RFC3339_STAMP, 3, "1970-01-01T00:00:00.000Z", 0);
    is(RFC3339_STAMP, 3, "1969-12-31T23:59:59.999Z", -1);
    is(RFC3339_STAMP, 3, "2024-02-29T12:00:00.500Z", 1709208000500);
    is(RFC3339_STAMP, 6, "2024-02-29T12:00:00.500001Z", 1709208000500001);
    is(RFC3339_STAMP, 9, "1985-04-12T23:20:50.520000001Z", 482196050520000001);
    is(RFC3339_STAMP, 3, "0000-01-01T00:00:00.000Z", -62167219200000);
    is(RFC3339_STAMP, 3, "9999-12-31T23:59:59.999Z", 253402300799999);
    is(RFC3339_STAMP, 9, "1677-09-21T00:12:43.145224192Z", INT64_MIN);
    is(RFC3339_STAMP, 9, "2262-04-11T23:47:16.854775807Z", INT64_MAX);
    prints(RFC3339_STAMP, 3, 253402300800000, "");
    prints(RFC3339_STAMP, 3, -62167219200001, "");
    prints(RFC3339_STAMP, 3, INT64_MAX, "");
    prints(RFC3339_STAMP, 3, INT64_MIN, "");
    prints(RFC3339_STAMP, 6, INT64_MIN, "");
    refuses(RFC3339_STAMP, 9, "1677-09-21T00:12:43.145224191Z", RFC3339_RANGE);
    refuses(RFC3339_STAMP, 9, "2262-04-11T23:47:16.854775808Z", RFC3339_RANGE);
    refuses(RFC3339_STAMP, 9, "0000-01-01T00:00:00Z", RFC3339_RANGE);
    refuses(RFC3339_STAMP, 3, "2024-02-29T12:00:00.5001Z", RFC3339_DIGITS);
    refuses(RFC3339_STAMP, 6, "2024-02-29T12:00:00.0000001Z", RFC3339_DIGITS);
    refuses(RFC3339_STAMP, 3, "2023-02-29T00:00:00Z", RFC3339_NO_SUCH);
    refuses(RFC3339_STAMP, 3, "1990-12-31T23:59:60Z", RFC3339_LEAP);
    refuses(RFC3339_STAMP, 3, "1990-12-31T15:59:60-08:00", RFC3339_LEAP);
}

TEST(rfc3339__takes_an_offset_off)
{
    reads(RFC3339_STAMP, 3, "2024-02-29T12:00:00.5+02:00", 1709200800500);
    reads(RFC3339_STAMP, 3, "1996-12-19T16:39:57-08:00", 851042397000);
    reads(RFC3339_STAMP, 3, "1937-01-01T12:00:27.87+00:20", -1041337172130);
    reads(RFC3339_STAMP, 3, "1970-01-01T00:00:00-00:00", 0);
    reads(RFC3339_STAMP, 3, "1970-01-01t00:00:00z", 0);
    reads(RFC3339_STAMP, 3, "0000-01-01T00:00:00+23:59", -62167219200000 - 86340000);
    refuses(RFC3339_STAMP, 3, "1970-01-01T00:00:00+24:00", RFC3339_NO_SUCH);
    refuses(RFC3339_STAMP, 3, "1970-01-01T00:00:00+00:60", RFC3339_NO_SUCH);
    for (const char *const *t =
             (const char *const[]){"1970-01-01T00:00:00", "1970-01-01 00:00:00Z", "1970-01-01T00:00Z",
                                   "1970-01-01T00:00:00+0100", "1970-01-01T00:00:00+1",
                                   "1970-01-01T00:00:00ZZ", "1970-01-01", "1970-01-01T",
                                   "1970-01-01T00:00:00 Z", NULL};
         *t; t++)
        refuses(RFC3339_STAMP, 3, *t, RFC3339_SYNTAX);
}

TEST(rfc3339__local_moments_have_no_offset)
{
    is(RFC3339_LOCAL, 3, "2024-02-29T12:00:00.500", 1709208000500);
    is(RFC3339_LOCAL, 9, "2262-04-11T23:47:16.854775807", INT64_MAX);
    refuses(RFC3339_LOCAL, 3, "2024-02-29T12:00:00.500Z", RFC3339_SYNTAX);
    refuses(RFC3339_LOCAL, 3, "2024-02-29T12:00:00+01:00", RFC3339_SYNTAX);
}

/* What is printed is read as what it was. */
TEST(rfc3339__goes_round)
{
    static const unsigned digits[] = {3, 6, 9};
    uint8_t out[RFC3339_CHARS_MAX];
    for (int i = 0; i < 300000; i++) {
        enum rfc3339_kind kind = (enum rfc3339_kind)random_below(4);
        unsigned n = digits[random_below(3)];
        int64_t v = (int64_t)(random_u64() >> random_below(64)) * (random_below(2) ? 1 : -1), back = 0;
        size_t len = rfc3339_print(kind, n, v, out);
        if (len && (rfc3339_parse(kind, n, slice_of(out, len), &back) || back != v))
            fail_msg("%lld is %.*s is %lld (seed %llu)", (long long)v, (int)len, (const char *)out,
                     (long long)back, (unsigned long long)random_seed());
    }
}

TEST_MAIN()
