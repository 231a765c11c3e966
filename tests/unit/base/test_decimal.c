/* tests/unit/base/test_decimal.c - decimal numbers between text and two's complement. */
#include "base/decimal.h"

#include <stdio.h>

#include "base/hex.h"
#include "tests/lib/random.h"
#include "tests/lib/test.h"

static struct slice from_hex(const char *hex, uint8_t *out)
{
    size_t n = strlen(hex) / 2;
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)hex_byte((const uint8_t *)hex + 2 * i);
    return slice_of(out, n);
}

static void reads(struct decimal_type type, const char *text, const char *hex)
{
    uint8_t got[DECIMAL_BYTES_MAX], want[DECIMAL_BYTES_MAX];
    size_t n = 0;
    enum decimal_fault fault = decimal_parse(slice_str(text), type, got, &n);
    if (fault || !slice_eq(slice_of(got, n), from_hex(hex, want)))
        fail_msg("%s: fault %d, %zu bytes, not %s", text, fault, n, hex);
}

static void prints(struct decimal_type type, const char *hex, const char *want)
{
    uint8_t bytes[DECIMAL_BYTES_MAX], out[LIMIT_DECIMAL_DIGITS_MAX + 3];
    assert_slice_str(slice_of(out, decimal_print(from_hex(hex, bytes), type, out)), want);
}

static void is(struct decimal_type type, const char *text, const char *hex)
{
    reads(type, text, hex);
    prints(type, hex, text);
}

static void refuses(struct decimal_type type, const char *text, enum decimal_fault want)
{
    uint8_t out[DECIMAL_BYTES_MAX];
    size_t n;
    enum decimal_fault got = decimal_parse(slice_str(text), type, out, &n);
    if (got != want)
        fail_msg("%s: fault %d, not %d", text, got, want);
}

static const struct decimal_type money = {8, 2}, whole = {30, 0}, small = {3, 3};

TEST(decimal__keeps_the_scale)
{
    is(money, "12.34", "04d2");
    is(money, "-0.01", "ff");
    is(money, "0.00", "00");
    is(money, "12.30", "04ce");
    is(money, "-1.28", "80");
    is(money, "-1.29", "ff7f");
    is(money, "1.27", "7f");
    is(money, "1.28", "0080");
    is(money, "2.56", "0100");
    is(money, "-2.56", "ff00");
    is(money, "999999.99", "05f5e0ff");
    is(money, "-999999.99", "fa0a1f01");
    is(small, "0.999", "03e7");
    is(small, "-0.001", "ff");
    is(whole, "0", "00");
    is(whole, "-1", "ff");
    is(whole, "4294967296", "0100000000");
    is(whole, "-4294967296", "ff00000000");
    is(whole, "-2147483648", "80000000");
    is(whole, "18446744073709551616", "010000000000000000");
    is(whole, "123456789012345678901234567890", "018ee90ff6c373e0ee4e3f0ad2");
}

TEST(decimal_parse__takes_every_spelling_of_the_number)
{
    reads(money, "12.3", "04ce");
    reads(money, "12.3000000000", "04ce");
    reads(money, "12", "04b0");
    reads(money, "1.2e1", "04b0");
    reads(money, "1.2E+1", "04b0");
    reads(money, "1200e-2", "04b0");
    reads(money, "1234e-2", "04d2");
    reads(money, "-0", "00");
    reads(money, "-0.000", "00");
    reads(money, "0e99999999999999999999", "00");
    reads(money, "0.00000e-99999999999999999999", "00");
    reads(money, "1e5", "00989680");
}

TEST(decimal_parse__never_rounds)
{
    refuses(money, "12.345", DECIMAL_SCALE);
    refuses(money, "0.001", DECIMAL_SCALE);
    refuses(money, "1e-3", DECIMAL_SCALE);
    refuses(money, "1e-99999999999999999999", DECIMAL_SCALE);
    refuses(money, "1234567.89", DECIMAL_PRECISION);
    refuses(money, "1000000", DECIMAL_PRECISION);
    refuses(money, "1e6", DECIMAL_PRECISION);
    refuses(money, "1e99999999999999999999", DECIMAL_PRECISION);
    refuses(small, "1", DECIMAL_PRECISION);
    refuses(small, "0.9999", DECIMAL_SCALE);
}

TEST(decimal_parse__wants_a_number)
{
    static const char *const bad[] = {"",    " 1", "1 ",    "+1",  ".5", "5.",   "01",   "-",
                                      "--1", "1e", "1e+",   "1,5", "0x", "0x10", "1.e1", "NaN",
                                      "1_0", "1f", "1.2.3", "-.1", "e1", "1e1.0"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        refuses(money, bad[i], DECIMAL_SYNTAX);
    uint8_t out[DECIMAL_BYTES_MAX];
    size_t n;
    assert_int_equal(decimal_parse(slice_of(NULL, 0), money, out, &n), DECIMAL_SYNTAX);
    assert_int_equal(decimal_parse(slice_of("1\0", 2), money, out, &n), DECIMAL_SYNTAX);
}

TEST(decimal_print__reads_more_bytes_than_are_needed)
{
    prints(money, "000004d2", "12.34");
    prints(money, "ffffffff", "-0.01");
    prints(money, "0000000000000000000000000000000000000000000000000001", "0.01");
}

TEST(decimal_print__shows_no_number_beyond_the_precision)
{
    prints(money, "", "");
    prints(money, "05f5e100", ""); /* 1000000.00 */
    prints(money, "fa0a1f00", "");
    prints(money, "7fffffffffffffffffffffffffffffff", "");
    prints(small, "03e8", "");
}

TEST(decimal__has_a_thousand_digits)
{
    static const struct decimal_type all = {LIMIT_DECIMAL_DIGITS_MAX, 0},
                                     behind = {LIMIT_DECIMAL_DIGITS_MAX, LIMIT_DECIMAL_DIGITS_MAX};
    char text[LIMIT_DECIMAL_DIGITS_MAX + 8] = "-";
    uint8_t bytes[DECIMAL_BYTES_MAX], out[LIMIT_DECIMAL_DIGITS_MAX + 3];
    size_t n;
    memset(text + 1, '9', LIMIT_DECIMAL_DIGITS_MAX);
    for (int sign = 0; sign < 2; sign++) {
        struct slice s = slice_str(text + sign);
        assert_int_equal(decimal_parse(s, all, bytes, &n), DECIMAL_FITS);
        assert_int_equal(n, DECIMAL_BYTES_MAX);
        assert_slice_str(slice_of(out, decimal_print(slice_of(bytes, n), all, out)), text + sign);
        assert_int_equal(decimal_print(slice_of(bytes, n), behind, out), s.len + 2);
    }
    text[LIMIT_DECIMAL_DIGITS_MAX + 1] = '9';
    refuses(all, text, DECIMAL_PRECISION);
    uint8_t most[DECIMAL_BYTES_MAX + 1] = {0x80};
    assert_int_equal(decimal_print(slice_of(most, DECIMAL_BYTES_MAX), all, out), 0);
    assert_int_equal(decimal_print(slice_of(most, DECIMAL_BYTES_MAX + 1), all, out), 0);
    memset(most, 0xff, sizeof most);
    assert_int_equal(decimal_print(slice_of(most, DECIMAL_BYTES_MAX + 1), whole, out), 2);
}

/* Beside 128-bit integers. */
TEST(decimal__counts_as_integers_do)
{
    static const struct decimal_type type = {38, 0};
    for (int i = 0; i < 100000; i++) {
        unsigned __int128 magnitude =
            ((unsigned __int128)(random_u64() >> 2) << 64 | random_u64()) >> random_below(126);
        bool is_negative = random_below(2);
        char text[48];
        unsigned at = sizeof text;
        text[--at] = 0;
        unsigned __int128 left = magnitude;
        do
            text[--at] = (char)('0' + (unsigned)(left % 10));
        while (left /= 10);
        is_negative &= magnitude != 0;
        if (is_negative)
            text[--at] = '-';
        uint8_t bytes[DECIMAL_BYTES_MAX], out[48];
        size_t n;
        if (strlen(text + at) - is_negative > 38)
            continue;
        assert_int_equal(decimal_parse(slice_str(text + at), type, bytes, &n), DECIMAL_FITS);
        unsigned __int128 value = bytes[0] & 0x80 ? ~(unsigned __int128)0 : 0;
        for (size_t j = 0; j < n; j++)
            value = value << 8 | bytes[j];
        assert_true(value == (is_negative ? -magnitude : magnitude));
        assert_true(n == 1 ||
                    !((bytes[0] == 0 && !(bytes[1] & 0x80)) || (bytes[0] == 0xff && bytes[1] & 0x80)));
        assert_slice_str(slice_of(out, decimal_print(slice_of(bytes, n), type, out)), text + at);
    }
}

TEST_MAIN()
