/* tests/unit/base/test_buf.c - buffers grow without losing what they hold, and fail without harm. */
#include "base/buf.h"

#include "tests/lib/test.h"

TEST(buf_append__keeps_all_bytes_while_it_grows)
{
    struct buf b = {0};
    for (unsigned i = 0; i < 100000; i++)
        assert_true(buf_append_byte(&b, (uint8_t)(i * 7)));
    assert_true(buf_append(&b, SLICE("end")));
    assert_true(buf_append(&b, slice_of(NULL, 0)));
    assert_int_equal(b.len, 100003);
    for (unsigned i = 0; i < 100000; i++)
        assert_int_equal(b.ptr[i], (uint8_t)(i * 7));
    assert_memory_equal(b.ptr + 100000, "end", 3);
    buf_release(&b);
    assert_null(b.ptr);
}

TEST(buf_grow__keeps_what_stands_behind_len)
{
    struct buf b = {0};
    assert_true(buf_grow(&b, 100));
    memset(b.ptr, 'x', b.cap);
    size_t before = b.cap;
    assert_true(buf_grow(&b, before + 1));
    assert_int_equal(b.len, 0);
    for (size_t i = 0; i < before; i++)
        assert_int_equal(b.ptr[i], 'x');
    buf_release(&b);
}

TEST(buf_grow__fails_on_sizes_that_cannot_be_and_changes_nothing)
{
    struct buf b = {0};
    assert_true(buf_append(&b, SLICE("abc")));
    struct buf before = b;
    assert_false(buf_grow(&b, SIZE_MAX));
    assert_false(buf_grow(&b, SIZE_MAX - 3));
    assert_false(buf_grow(&b, SIZE_MAX / 2));
    assert_memory_equal(&b, &before, sizeof b);
    buf_release(&b);
}

TEST(buf_reset__empties_and_gives_back_only_what_is_too_large)
{
    struct buf b = {0};
    assert_true(buf_append(&b, SLICE("abc")));
    buf_reset(&b, 4096);
    assert_int_equal(b.len, 0);
    assert_non_null(b.ptr);
    assert_true(buf_grow(&b, 10000));
    buf_reset(&b, 4096);
    assert_null(b.ptr);
    assert_int_equal(b.cap, 0);
}

TEST(buf_printf__appends_texts_of_any_length)
{
    struct buf b = {0};
    assert_true(buf_printf(&b, "%s=%d;", "a", 1));
    assert_true(buf_printf(&b, "%5000s", "x"));
    assert_true(buf_printf(&b, "%s", ""));
    assert_int_equal(b.len, 4 + 5000);
    assert_memory_equal(b.ptr, "a=1; ", 5);
    assert_int_equal(b.ptr[b.len - 1], 'x');
    buf_release(&b);
}

TEST_MAIN()
