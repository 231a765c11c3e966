/* tests/unit/base/test_zstd.c - bodies packed and unpacked, and what no unpacking may do. */
#include <stdlib.h>

#include "base/zstd.h"

#include "tests/lib/test.h"

enum { BYTES = 100000 };
static uint8_t plain[BYTES], packed[BYTES], back[BYTES + 8];

static size_t pack_letters(size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        plain[i] = (uint8_t)('a' + i * i % 7);
    const struct slice part = slice_of(plain, bytes);
    return zstd_pack(&part, 1, packed, sizeof packed);
}

TEST(zstd_unpack__gives_back_what_was_packed)
{
    struct err err;
    static const size_t sizes[] = {1, 255, 256, 65536, BYTES};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        size_t n = pack_letters(sizes[i]);
        assert_true(n > 0);
        memset(back, '!', sizeof back);
        assert_int_equal(zstd_unpack(slice_of(packed, n), back, sizes[i], &err), RC_OK);
        assert_memory_equal(back, plain, sizes[i]);
        assert_int_equal(back[sizes[i]], '!');
    }
}

TEST(zstd_pack__takes_a_body_in_parts)
{
    struct err err;
    struct slice parts[2] = {SLICE("some, some, some, some, some, some, "),
                             SLICE("more, more, more, more, more, more")};
    size_t n = zstd_pack(parts, 2, packed, sizeof packed);
    assert_true(n > 0 && n < parts[0].len + parts[1].len);
    assert_int_equal(zstd_unpack(slice_of(packed, n), back, parts[0].len + parts[1].len, &err), RC_OK);
    assert_memory_equal(back, parts[0].ptr, parts[0].len);
    assert_memory_equal(back + parts[0].len, parts[1].ptr, parts[1].len);
}

TEST(zstd_pack__says_so_if_there_is_no_room)
{
    size_t n = pack_letters(5000);
    const struct slice part = slice_of(plain, 5000);
    assert_int_equal(zstd_pack(&part, 1, packed, n), n);
    assert_int_equal(zstd_pack(&part, 1, packed, n - 1), 0);
    assert_int_equal(zstd_pack(&part, 1, packed, 0), 0);
}

TEST(zstd_unpack__refuses_another_length_and_never_writes_beyond_it)
{
    struct err err;
    size_t n = pack_letters(5000);
    static const uint64_t wrong[] = {0, 1, 4999, 5001};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        memset(back, '!', sizeof back);
        assert_int_equal(zstd_unpack(slice_of(packed, n), back, wrong[i], &err), RC_ERR);
        assert_int_equal(err.code, ERR_IO);
        assert_int_equal(back[wrong[i]], '!');
    }
}

TEST(zstd_unpack__refuses_what_is_cut_or_is_no_frame)
{
    struct err err;
    size_t n = pack_letters(5000);
    for (size_t cut = 0; cut < n; cut++)
        assert_int_equal(zstd_unpack(slice_of(packed, cut), back, 5000, &err), RC_ERR);
    assert_int_equal(zstd_unpack(SLICE("no frame at all"), back, 5000, &err), RC_ERR);
    assert_int_equal(err.code, ERR_IO);
}

TEST_MAIN()
