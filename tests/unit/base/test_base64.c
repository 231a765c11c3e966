/* tests/unit/base/test_base64.c - base64. Source: RFC 4648, section 10. */
#include "base/base64.h"

#include "tests/lib/test.h"

static void check(struct slice bytes, const char *want)
{
    struct buf out = {0};
    assert_true(buf_append(&out, SLICE(">")));
    assert_true(base64_print(bytes, &out));
    assert_slice_str(slice_of(out.ptr + 1, out.len - 1), want);
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

TEST_MAIN()
