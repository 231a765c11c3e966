/* tests/unit/base/test_num.c - numbers to text and back: edges by hand, the rest against the C library. */
#include "base/num.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/test.h"

static uint64_t random_state;

/* splitmix64 (Steele, Lea, Flood 2014): the same numbers in every run. */
static uint64_t random_u64(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static double double_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static uint32_t float_bits_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* The text with a NUL behind it. */
static const char *print_double(double v)
{
    static char text[NUM_DOUBLE_MAX_CHARS + 1];
    size_t n = num_print_double(v, (uint8_t *)text);
    assert_true(n <= NUM_DOUBLE_MAX_CHARS);
    text[n] = 0;
    return text;
}

static const char *print_float(float v)
{
    static char text[NUM_DOUBLE_MAX_CHARS + 1];
    size_t n = num_print_float(v, (uint8_t *)text);
    assert_true(n <= NUM_DOUBLE_MAX_CHARS);
    text[n] = 0;
    return text;
}

/* The significant digits of a number's text, without zeros at either end; how many. */
static size_t significant(const char *text, char *digits)
{
    size_t n = 0;
    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (n > 0 || *text != '0'))
            digits[n++] = *text;
    while (n > 0 && digits[n - 1] == '0')
        n--;
    digits[n] = 0;
    return n;
}

static void check_double(double v)
{
    char ours[64], theirs[64], digits[64], want[64];
    snprintf(ours, sizeof ours, "%s", print_double(v));
    double back, reread = strtod(ours, NULL);
    if (bits_of(reread) != bits_of(v))
        fail_msg("%s is not %a", ours, v);
    if (!num_parse_double(slice_str(ours), &back) || bits_of(back) != bits_of(v))
        fail_msg("%s reads as %a, not %a", ours, back, v);
    size_t n = significant(ours, digits);
    for (int p = 1; p <= 17; p++) {
        snprintf(theirs, sizeof theirs, "%.*e", p - 1, v);
        if (bits_of(strtod(theirs, NULL)) != bits_of(v))
            continue;
        if (significant(theirs, want) < n || ((size_t)p == n && strcmp(digits, want) != 0))
            fail_msg("%s, but shorter or closer is %s", ours, theirs);
        break;
    }
}

static void check_float(float v)
{
    char ours[64], theirs[64], digits[64], want[64];
    snprintf(ours, sizeof ours, "%s", print_float(v));
    float back;
    if (float_bits_of(strtof(ours, NULL)) != float_bits_of(v))
        fail_msg("%s is not %a", ours, (double)v);
    if (!num_parse_float(slice_str(ours), &back) || float_bits_of(back) != float_bits_of(v))
        fail_msg("%s reads as %a, not %a", ours, (double)back, (double)v);
    size_t n = significant(ours, digits);
    for (int p = 1; p <= 9; p++) {
        snprintf(theirs, sizeof theirs, "%.*e", p - 1, (double)v);
        if (float_bits_of(strtof(theirs, NULL)) != float_bits_of(v))
            continue;
        if (significant(theirs, want) < n || ((size_t)p == n && strcmp(digits, want) != 0))
            fail_msg("%s, but shorter or closer is %s", ours, theirs);
        break;
    }
}

TEST(num_print_u64__prints_every_number_of_digits)
{
    char want[32];
    uint8_t got[NUM_U64_MAX_CHARS];
    uint64_t power = 1;
    for (int digits = 1; digits <= 20; digits++, power *= 10)
        for (int around = -1; around <= 1; around++) {
            uint64_t v = power + (uint64_t)(int64_t)around;
            snprintf(want, sizeof want, "%" PRIu64, v);
            assert_slice_str(slice_of(got, num_print_u64(v, got)), want);
        }
    for (int bit = 0; bit < 64; bit++) {
        uint64_t v = (uint64_t)1 << bit;
        snprintf(want, sizeof want, "%" PRIu64, v);
        assert_slice_str(slice_of(got, num_print_u64(v, got)), want);
        snprintf(want, sizeof want, "%" PRIu64, v - 1);
        assert_slice_str(slice_of(got, num_print_u64(v - 1, got)), want);
    }
    assert_slice_str(slice_of(got, num_print_u64(UINT64_MAX, got)), "18446744073709551615");
}

TEST(num_print_i64__prints_both_ends)
{
    uint8_t got[NUM_I64_MAX_CHARS];
    assert_slice_str(slice_of(got, num_print_i64(INT64_MIN, got)), "-9223372036854775808");
    assert_slice_str(slice_of(got, num_print_i64(INT64_MAX, got)), "9223372036854775807");
    assert_slice_str(slice_of(got, num_print_i64(-1, got)), "-1");
    assert_slice_str(slice_of(got, num_print_i64(0, got)), "0");
}

TEST(num_print_double__lays_digits_out_as_promised)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {-1.0, "-1.0"},
        {10.0, "10.0"},
        {0.1, "0.1"},
        {1.1, "1.1"},
        {-0.5, "-0.5"},
        {123456.0, "123456.0"},
        {123456.789, "123456.789"},
        {51.4889123, "51.4889123"},
        {1e15, "1000000000000000.0"},
        {1e16, "10000000000000000.0"},
        {12345678901234568.0, "12345678901234568.0"},
        {99999999999999984.0, "99999999999999980.0"},
        {1e17, "1e17"},
        {1.5e17, "1.5e17"},
        {1e23, "1e23"},
        {1.5e300, "1.5e300"},
        {0.001, "0.001"},
        {0.00001, "0.00001"},
        {0.000012345, "0.000012345"},
        {0.0000099, "9.9e-6"},
        {0.000001, "1e-6"},
        {1.5e-7, "1.5e-7"},
        {5e-324, "5e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {2.225073858507201e-308, "2.225073858507201e-308"},
        {1.7976931348623157e308, "1.7976931348623157e308"},
        {-1.7976931348623157e308, "-1.7976931348623157e308"},
        {9007199254740992.0, "9007199254740992.0"},
        {9007199254740993.0, "9007199254740992.0"},
        {9007199254740994.0, "9007199254740994.0"},
        {4.4501477170144023e-308, "4.4501477170144023e-308"},
        {9.5367431640625e-7, "9.5367431640625e-7"},
        {2e-44, "2e-44"},
        {NAN, "NaN"},
        {-NAN, "NaN"},
        {INFINITY, "Infinity"},
        {-INFINITY, "-Infinity"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(print_double(cases[i].v), cases[i].text);
}

TEST(num_print_float__prints_a_floats_own_digits)
{
    static const struct {
        float v;
        const char *text;
    } cases[] = {
        {0.1f, "0.1"},
        {-0.0f, "-0.0"},
        {1.0f, "1.0"},
        {16777216.0f, "16777216.0"},
        {3.4028235e38f, "3.4028235e38"},
        {1.1754944e-38f, "1.1754944e-38"},
        {1e-45f, "1e-45"},
        {1e16f, "10000000000000000.0"},
        {1e17f, "1e17"},
        {0.3f, "0.3"},
        {8388608.5f, "8388608.0"},
        {4194304.5f, "4194304.5"},
        {NAN, "NaN"},
        {INFINITY, "Infinity"},
        {-INFINITY, "-Infinity"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(print_float(cases[i].v), cases[i].text);
}

TEST(num_print_double__is_shortest_closest_and_reads_back__random_bits)
{
    random_state = 1;
    for (int i = 0; i < 100000; i++) {
        double v = double_of(random_u64());
        if (isfinite(v))
            check_double(v);
    }
}

TEST(num_print_double__is_shortest_closest_and_reads_back__around_powers_of_two)
{
    for (int e = -1074; e <= 1023; e++) {
        uint64_t bits = bits_of(ldexp(1.0, e));
        check_double(double_of(bits));
        check_double(double_of(bits + 1));
        if (bits > 1)
            check_double(double_of(bits - 1));
    }
}

TEST(num_print_double__is_shortest_closest_and_reads_back__around_powers_of_ten)
{
    for (int e = -323; e <= 308; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        uint64_t bits = bits_of(strtod(text, NULL));
        for (uint64_t b = bits > 20 ? bits - 20 : 1; b <= bits + 20; b++)
            check_double(double_of(b));
    }
}

TEST(num_print_double__is_shortest_closest_and_reads_back__short_decimals_and_integers)
{
    random_state = 2;
    for (int i = 0; i < 60000; i++) {
        static const double powers[] = {1, 10, 100, 1e3, 1e4, 1e6, 1e7, 1e9, 1e12};
        uint64_t whole = random_u64() >> (random_u64() % 54 + 10);
        check_double((double)(whole + 1) / powers[random_u64() % ARRAY_LEN(powers)]);
        check_double((double)(whole + 1) * powers[random_u64() % ARRAY_LEN(powers)]);
    }
    for (uint64_t bits = 1; bits < 3000; bits++)
        check_double(double_of(bits)); /* the least denormals */
}

TEST(num_print_double__reads_back__many_random_bits)
{
    random_state = 3;
    for (int i = 0; i < 1000000; i++) {
        double v = double_of(random_u64()), back;
        if (!isfinite(v))
            continue;
        uint8_t text[NUM_DOUBLE_MAX_CHARS];
        size_t n = num_print_double(v, text);
        if (!num_parse_double(slice_of(text, n), &back) || bits_of(back) != bits_of(v))
            fail_msg("%a", v);
    }
}

TEST(num_print_float__is_shortest_closest_and_reads_back)
{
    for (uint64_t bits = 1; bits < 0x7f800000;
         bits += 20011) /* a prime: all exponents, all kinds of fractions */
        check_float(float_of((uint32_t)bits));
    for (int e = -149; e <= 127; e++) {
        uint32_t bits = float_bits_of(ldexpf(1.0f, e));
        check_float(float_of(bits));
        check_float(float_of(bits + 1));
        if (bits > 1)
            check_float(float_of(bits - 1));
    }
    for (uint32_t bits = 1; bits < 3000; bits++)
        check_float(float_of(bits));
    check_float(FLT_MAX);
    check_float(-FLT_MIN);
}

static bool parses_double(const char *text, double *out)
{
    return num_parse_double(slice_str(text), out);
}

TEST(num_parse_double__rounds_to_nearest_even)
{
    static const struct {
        const char *text;
        double v;
    } cases[] = {
        {"0", 0.0},
        {"1", 1.0},
        {"-1.5", -1.5},
        {"1E2", 100.0},
        {"1e+2", 100.0},
        {"9007199254740993", 9007199254740992.0},
        {"9007199254740993.0", 9007199254740992.0},
        {"9007199254740995", 9007199254740996.0},
        {"9007199254740993.00000000000000000000000000000000000000000000001", 9007199254740994.0},
        {"0.1", 0.1},
        {"1e23", 1e23},
        {"5e-324", 5e-324},
        {"2.4703282292062328e-324", 5e-324},
        {"2.4703282292062327e-324", 0.0},
        {"1e-400", 0.0},
        {"1e-999999999999999999999999", 0.0},
        {"0e999999999999999999999999", 0.0},
        {"0.0e-5", 0.0},
        {"2.2250738585072011e-308", 2.2250738585072011e-308},
        {"1.7976931348623157e308", DBL_MAX},
        {"1.7976931348623158e308", DBL_MAX},
        {"179769313486231570000000000000000000000e270", DBL_MAX},
        {"12345678901234567890123e-5", 12345678901234567890123e-5},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        double v = NAN;
        if (!parses_double(cases[i].text, &v) || bits_of(v) != bits_of(cases[i].v))
            fail_msg("%s: %a, not %a", cases[i].text, v, cases[i].v);
    }
}

TEST(num_parse_double__keeps_the_sign_of_zero)
{
    static const char *const texts[] = {"-0", "-0.0", "-0e5", "-1e-400",
                                        "-0.00000000000000000000000000000e999999"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        double v;
        float f;
        assert_true(parses_double(texts[i], &v));
        assert_true(v == 0 && signbit(v));
        assert_true(num_parse_float(slice_str(texts[i]), &f));
        assert_true(f == 0 && signbit(f));
    }
}

TEST(num_parse_double__refuses_what_is_too_large)
{
    double v;
    assert_false(parses_double("1.7976931348623159e308", &v));
    assert_false(parses_double("1e309", &v));
    assert_false(parses_double("-1e400", &v));
    assert_false(parses_double("1e999999999999999999999999", &v));
    float f;
    assert_true(num_parse_float(SLICE("3.4028235677973366e38"), &f)); /* just below the middle to the next */
    assert_true(f == FLT_MAX);
    assert_false(num_parse_float(SLICE("3.4028235677973367e38"), &f));
    assert_false(num_parse_float(SLICE("1e39"), &f));
}

/* "1" and zeros and "1", as a text on the heap that is exactly as long. */
static char *padded(const char *head, size_t zeros, const char *tail)
{
    size_t h = strlen(head), t = strlen(tail);
    char *text = malloc(h + zeros + t + 1);
    assert_non_null(text);
    memcpy(text, head, h);
    memset(text + h, '0', zeros);
    memcpy(text + h + zeros, tail, t + 1);
    return text;
}

TEST(num_parse_double__sees_a_digit_that_stands_very_far_behind)
{
    char *above = padded("9007199254740993.", 100000, "1");
    char *tie = padded("9007199254740993.", 100000, "0");
    double v;
    assert_true(parses_double(above, &v));
    assert_true(v == 9007199254740994.0);
    assert_true(parses_double(tie, &v));
    assert_true(v == 9007199254740992.0);
    free(above);
    free(tie);
}

TEST(num_parse_double__weighs_long_runs_of_zeros_against_the_exponent)
{
    char *large = padded("1", 100000, "e-100000"), *small = padded("0.", 100000, "25e100001");
    double v;
    int64_t i;
    assert_true(parses_double(large, &v));
    assert_true(v == 1.0);
    assert_true(parses_double(small, &v));
    assert_true(v == 2.5);
    assert_int_equal(num_parse_i64(slice_str(large), &i), NUM_INTEGER);
    assert_int_equal(i, 1);
    assert_int_equal(num_parse_i64(slice_str(small), &i), NUM_FRACTION);
    free(large);
    free(small);
}

/* All digits of the middle between a double and the next one, as text. */
static size_t print_middle(double v, char *text, size_t room)
{
    long double middle = ((long double)v + (long double)nextafter(v, INFINITY)) / 2;
    return (size_t)snprintf(text, room, "%.1200Lf", middle);
}

TEST(num_parse_double__splits_neighbours_exactly_in_the_middle)
{
    random_state = 4;
    static char text[2048];
    for (int i = 0; i < 2000; i++) {
        double v = ldexp((double)(random_u64() >> 11 | (uint64_t)1 << 52), -(int)(random_u64() % 1060));
        if (v < DBL_MIN)
            continue;
        double next = nextafter(v, INFINITY), even = bits_of(v) & 1 ? next : v, got;
        size_t n = print_middle(v, text, sizeof text);
        assert_true(n < sizeof text - 1);
        assert_true(parses_double(text, &got));
        assert_true(bits_of(got) == bits_of(even));
        text[n] = '1';
        text[n + 1] = 0;
        assert_true(parses_double(text, &got));
        assert_true(bits_of(got) == bits_of(next));
    }
}

TEST(num_parse__agrees_with_the_c_library_on_random_texts)
{
    random_state = 5;
    for (int i = 0; i < 300000; i++) {
        char text[64];
        int exponent = (int)(random_u64() % 100) - 50;
        uint64_t whole = random_u64() >> (random_u64() % 64), fraction = random_u64() >> (random_u64() % 64);
        snprintf(text, sizeof text, random_u64() & 1 ? "%" PRIu64 ".%" PRIu64 "e%d" : "%" PRIu64 ".%" PRIu64,
                 whole, fraction, exponent);
        double v, want = strtod(text, NULL);
        if (num_parse_double(slice_str(text), &v) != (bool)isfinite(want) || bits_of(v) != bits_of(want))
            fail_msg("%s: %a, not %a", text, v, want);
        float f, want_float = strtof(text, NULL);
        bool fits = num_parse_float(slice_str(text), &f);
        if (fits != (bool)isfinite(want_float) || (fits && float_bits_of(f) != float_bits_of(want_float)))
            fail_msg("%s: %a, not %a", text, (double)f, (double)want_float);
    }
}

TEST(num_parse__agrees_with_the_c_library_on_all_lengths_over_the_whole_range)
{
    random_state = 6;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        double v = double_of(random_u64()), got;
        float got_float;
        if (!isfinite(v))
            continue;
        if (i % 2)
            v = (double)float_of((uint32_t)random_u64()); /* where floats are */
        if (!isfinite(v))
            continue;
        snprintf(text, sizeof text, "%.*e", (int)(random_u64() % 20), v);
        double want = strtod(text, NULL);
        bool fits = num_parse_double(slice_str(text), &got);
        if (fits != (bool)isfinite(want) || (fits && bits_of(got) != bits_of(want)))
            fail_msg("%s: %a, not %a", text, got, want);
        float want_float = strtof(text, NULL);
        fits = num_parse_float(slice_str(text), &got_float);
        if (fits != (bool)isfinite(want_float) ||
            (fits && float_bits_of(got_float) != float_bits_of(want_float)))
            fail_msg("%s: %a, not %a", text, (double)got_float, (double)want_float);
    }
}

/* Middles of two neighbours that are short enough to be written in 19 digits, and what is next to them. */
TEST(num_parse__splits_short_middles)
{
    random_state = 7;
    for (int i = 0; i < 100000; i++) {
        char text[64];
        uint64_t odd =
            (random_u64() >> (i % 2 ? 10 : 39) | 1) | (uint64_t)1 << (i % 2 ? 53 : 24); /* one bit too many */
        int around = (int)(random_u64() % 3) - 1;
        snprintf(text, sizeof text, "%" PRIu64 "%s", odd * (i % 2 ? 1 : 1000) + (uint64_t)(int64_t)around,
                 i % 2 ? "" : "e-3");
        double got;
        float got_float;
        assert_true(num_parse_double(slice_str(text), &got));
        assert_true(num_parse_float(slice_str(text), &got_float));
        if (bits_of(got) != bits_of(strtod(text, NULL)) ||
            float_bits_of(got_float) != float_bits_of(strtof(text, NULL)))
            fail_msg("%s: %a, %a", text, got, (double)got_float);
    }
}

TEST(num_parse_float__rounds_once)
{
    static const struct {
        const char *text;
        float v;
    } cases[] = {
        {"0.1", 0.1f},
        {"1.00000005960464477539", 1.0f},       /* below the middle; the nearest double is the middle */
        {"1.00000005960464477540", 1.0000001f}, /* above it */
        {"1.000000059604644775390625", 1.0f},   /* the middle: to even */
        {"1.00000017881393432617187499", 1.0000001f},
        {"16777217", 16777216.0f},
        {"16777217.0000000000000000000000001", 16777218.0f},
        {"7.006492321624085e-46", 0.0f},
        {"7.006492321624086e-46", 1e-45f},
        {"1e-400", 0.0f},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        float v = NAN;
        if (!num_parse_float(slice_str(cases[i].text), &v) || float_bits_of(v) != float_bits_of(cases[i].v))
            fail_msg("%s: %a, not %a", cases[i].text, (double)v, (double)cases[i].v);
    }
}

TEST(num_parse_i64__knows_integers_however_written)
{
    static const struct {
        const char *text;
        int64_t v;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"-0.0e7", 0},
        {"7", 7},
        {"-7", -7},
        {"1.0", 1},
        {"1e2", 100},
        {"1E+2", 100},
        {"10e-1", 1},
        {"1.5e1", 15},
        {"123.4500e2", 12345},
        {"0.000001e6", 1},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"9223372036854775807.000000000000000000000000000000", INT64_MAX},
        {"-9223372036854775808000000000000000000000e-21", INT64_MIN},
        {"0.9223372036854775807e19", INT64_MAX},
        {"9007199254740993", 9007199254740993},
        {"0e999999999999999999999", 0},
        {"0.0e-999999999999999999999", 0},
        {"1000000000000000000000000000000e-30", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t v = -99;
        if (num_parse_i64(slice_str(cases[i].text), &v) != NUM_INTEGER || v != cases[i].v)
            fail_msg("%s: %" PRId64, cases[i].text, v);
    }
}

TEST(num_parse_i64__tells_fractions_from_numbers_too_large)
{
    static const char *const fractions[] = {"0.5",
                                            "1.5",
                                            "-1e-1",
                                            "15e-1",
                                            "1e-999999999",
                                            "9223372036854775807.5",
                                            "123456789012345678901234567890.5",
                                            "1234567890123456789012345678905e-1",
                                            "1e-99999999999999999999999999"};
    static const char *const huge[] = {"9223372036854775808",
                                       "-9223372036854775809",
                                       "18446744073709551616",
                                       "18446744073709548794",
                                       "1e19",
                                       "1e999999999",
                                       "-1e99999999999999999999999999",
                                       "99999999999999999999",
                                       "123456789012345678901234567890.0",
                                       "1.5e1000000",
                                       "100000000000000000000000000000000e-5"};
    int64_t v;
    for (size_t i = 0; i < ARRAY_LEN(fractions); i++)
        if (num_parse_i64(slice_str(fractions[i]), &v) != NUM_FRACTION)
            fail_msg("%s", fractions[i]);
    for (size_t i = 0; i < ARRAY_LEN(huge); i++)
        if (num_parse_i64(slice_str(huge[i]), &v) != NUM_HUGE)
            fail_msg("%s", huge[i]);
}

TEST(num_parse_decimal__takes_digits_up_to_the_maximum_and_nothing_else)
{
    uint64_t v = 0;
    assert_true(num_parse_decimal(SLICE("0"), 0, &v));
    assert_int_equal(v, 0);
    assert_true(num_parse_decimal(SLICE("0042"), 42, &v));
    assert_int_equal(v, 42);
    assert_true(num_parse_decimal(SLICE("18446744073709551615"), UINT64_MAX, &v));
    assert_true(v == UINT64_MAX);
    static const char *const refused[] = {
        "", "43", "-1", "+1", " 1", "1 ", "0x1", "1.0", "18446744073709551616", "99999999999999999999999999"};
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        assert_false(num_parse_decimal(slice_str(refused[i]), 42, &v));
    assert_false(num_parse_decimal(SLICE("18446744073709551616"), UINT64_MAX, &v));
    assert_false(num_parse_decimal(SLICE("1\0"), 42, &v));
}

TEST_MAIN()
