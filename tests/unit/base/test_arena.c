/* tests/unit/base/test_arena.c - allocations stay apart, aligned and alive; blocks are given back. */
#include "base/arena.h"

#include <stdint.h>

#include "tests/lib/test.h"

TEST(arena_alloc__gives_aligned_memory_that_does_not_overlap)
{
    enum { N = 2000 };
    static uint8_t *ptrs[N];
    struct arena a = {0};
    for (size_t i = 0; i < N; i++) {
        size_t bytes = i * 37 % 3000;
        ptrs[i] = arena_alloc(&a, bytes);
        assert_non_null(ptrs[i]);
        assert_int_equal((uintptr_t)ptrs[i] % 8, 0);
        memset(ptrs[i], (int)(i & 0xff), bytes);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t b = 0; b < i * 37 % 3000; b++)
            assert_int_equal(ptrs[i][b], i & 0xff);
    arena_release(&a);
    assert_int_equal(a.bytes, 0);
}

TEST(arena_alloc__gives_memory_for_nothing_too)
{
    struct arena a = {0};
    uint8_t *p = arena_alloc(&a, 0);
    assert_non_null(p);
    assert_non_null(arena_calloc(&a, 0, 8));
    assert_ptr_not_equal(arena_alloc(&a, 0), p);
    arena_release(&a);
}

TEST(arena_alloc__refuses_sizes_that_cannot_be)
{
    struct arena a = {0};
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_null(arena_alloc(&a, SIZE_MAX - 7));
    assert_null(arena_calloc(&a, SIZE_MAX / 2, 3));
    assert_non_null(arena_alloc(&a, 1)); /* and goes on */
    arena_release(&a);
}

TEST(arena_alloc__keeps_the_newest_block_in_use_beside_large_ones)
{
    struct arena a = {0};
    uint8_t *small = arena_alloc(&a, 8);
    assert_non_null(small);
    assert_non_null(arena_alloc(&a, 100000));
    uint8_t *next = arena_alloc(&a, 8);
    assert_ptr_equal(next, small + 8);
    arena_release(&a);
}

TEST(arena_calloc__zeroes)
{
    struct arena a = {0};
    for (int round = 0; round < 2; round++) { /* the second one gets used memory */
        uint8_t *p = arena_calloc(&a, 100, 3);
        assert_non_null(p);
        for (size_t i = 0; i < 300; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, 300);
        arena_reset(&a);
    }
    arena_release(&a);
}

TEST(arena_copy__copies_and_ends_with_a_nul)
{
    struct arena a = {0};
    struct slice out;
    assert_true(arena_copy(&a, SLICE("a\0b"), &out));
    assert_int_equal(out.len, 3);
    assert_memory_equal(out.ptr, "a\0b", 4);
    assert_true(arena_copy(&a, slice_of(NULL, 0), &out));
    assert_int_equal(out.len, 0);
    assert_int_equal(out.ptr[0], 0);
    arena_release(&a);
}

TEST(arena_printf__prints_texts_of_any_length)
{
    struct arena a = {0};
    assert_string_equal(arena_printf(&a, "%s-%d", "x", 7), "x-7");
    char *wide = arena_printf(&a, "%9000d", 1);
    assert_non_null(wide);
    assert_int_equal(strlen(wide), 9000);
    arena_release(&a);
}

TEST(arena_alloc__takes_little_for_few_allocations_and_grows)
{
    struct arena a = {0};
    assert_non_null(arena_alloc(&a, 10));
    assert_true(a.bytes < 512);
    for (size_t total = 10, step = 100; total < 100000; total += step) {
        assert_non_null(arena_alloc(&a, step));
        assert_true(a.bytes < 2 * total + 4096);
    }
    arena_release(&a);
}

TEST(arena_reset__keeps_one_block_that_has_grown_to_what_is_needed)
{
    struct arena a = {0};
    arena_reset(&a);
    for (int i = 0; i < 100; i++)
        assert_non_null(arena_alloc(&a, 1000));
    arena_reset(&a);
    size_t one = a.bytes;
    assert_true(one >= 1000 && one <= 4096);
    for (int i = 0; i < 4; i++)
        assert_non_null(arena_alloc(&a, one / 4 / 8 * 8));
    assert_int_equal(a.bytes, one);
    arena_release(&a);
    arena_release(&a);
    assert_non_null(arena_alloc(&a, 1)); /* ready again */
    arena_release(&a);
}

TEST(arena_reset__frees_a_lone_large_block)
{
    struct arena a = {0};
    assert_non_null(arena_alloc(&a, 1 << 20));
    arena_reset(&a);
    assert_int_equal(a.bytes, 0);
    assert_non_null(arena_alloc(&a, 8));
    arena_release(&a);
}

TEST_MAIN()
