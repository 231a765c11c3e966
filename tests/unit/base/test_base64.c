/* tests/unit/base/test_base64.c - base64. Source: RFC 4648, section 10. */
#include "base/base64.h"

#include "tests/lib/random.h"
#include "tests/lib/test.h"

static void check(struct slice bytes, const char *want)
{
    struct buf out = {0};
    assert_true(buf_append(&out, SLICE(">")));
    assert_true(base64_print(bytes, &out));
    assert_slice_str(slice_of(out.ptr + 1, out.len - 1), want);
    uint8_t back[64];
    size_t n;
    assert_true(base64_parse(slice_str(want), back, &n));
    assert_true(slice_eq(slice_of(back, n), bytes));
    buf_release(&out);
}

TEST(base64_print__pads_what_is_no_multiple_of_three)
{
    check(SLICE(""), "");
    check(SLICE("f"), "Zg==");
    check(SLICE("fo"), "Zm8=");
    check(SLICE("foo"), "Zm9v");
    check(SLICE("foob"), "Zm9vYg==");
    check(SLICE("fooba"), "Zm9vYmE=");
    check(SLICE("foobar"), "Zm9vYmFy");
}

TEST(base64_print__takes_all_bytes)
{
    check(SLICE("\xff\xfe\x00"), "//4A");
    check(SLICE("\x00\x10\x83\xfb\xef\xbe\xff\xff\xff"), "ABCD++++////");
}

/* One text for each bytes (section 3.5): nothing but the alphabet, padding there, spare bits 0. */
TEST(base64_parse__is_strict)
{
    static const char *const bad[] = {"Z",        "Zg",     "Zg=",    "Zm9",   "Zm9=a",          "=",
                                      "==",       "====",   "Z===",   "Zg==a", "Zg==Zg==",       "Zm9v=",
                                      " Zg==",    "Zg\n==", "Zg==\n", "Zh==",  "Zm9=x",          "Zm8",
                                      "Zm9vYmF=", "-_-_",   "Zm9*",   "Z=g=",  "Zm9v\xc3\xa9==", "Zm=v"};
    uint8_t out[64];
    size_t n;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (base64_parse(slice_str(bad[i]), out, &n))
            fail_msg("%s", bad[i]);
    assert_false(base64_parse(slice_of("Zg=\0", 4), out, &n));
}

TEST(base64__goes_round)
{
    uint8_t bytes[48], text[64], back[48];
    for (int i = 0; i < 100000; i++) {
        size_t len = random_below(sizeof bytes + 1), n;
        for (size_t j = 0; j < len; j++)
            bytes[j] = (uint8_t)random_u64();
        size_t chars = (size_t)(base64_put(slice_of(bytes, len), text) - text);
        assert_int_equal(chars, base64_chars(len));
        assert_true(base64_parse(slice_of(text, chars), back, &n));
        assert_true(slice_eq(slice_of(back, n), slice_of(bytes, len)));
    }
}

TEST_MAIN()
