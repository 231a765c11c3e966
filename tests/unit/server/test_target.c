/* tests/unit/server/test_target.c - paths taken apart, percent-encoding, words for people. */
#include "tests/lib/test.h"

#include "server/target.h"
#include "server/words.h"

static struct arena arena;

static struct target split(const char *path)
{
    struct target t;
    struct err err;
    assert_int_equal(target_split(slice_str(path), &arena, &t, &err), RC_OK);
    return t;
}

static void refuses(const char *path)
{
    struct target t;
    struct err err;
    assert_int_equal(target_split(slice_str(path), &arena, &t, &err), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_TARGET);
}

TEST(target_split__splits_first_and_decodes_then)
{
    struct target t = split("/e/get/x%2Fname");
    assert_int_equal(t.n, 3);
    assert_slice_str(t.segment[2], "x/name");
    t = split("/%65/a+b%20c");
    assert_slice_str(t.segment[0], "e");
    assert_slice_str(t.segment[1], "a+b c");
    t = split("/e/%2525");
    assert_slice_str(t.segment[1], "%25"); /* once */
    arena_release(&arena);
}

TEST(target_split__keeps_dots_nul_and_slash_as_data)
{
    struct target t = split("/e/..");
    assert_slice_str(t.segment[1], "..");
    t = split("/./%2e%2E");
    assert_slice_str(t.segment[0], ".");
    assert_slice_str(t.segment[1], "..");
    t = split("/e/a%00b");
    assert_int_equal(t.segment[1].len, 3);
    assert_memory_equal(t.segment[1].ptr, "a\0b", 3);
    t = split("/e/%2F");
    assert_slice_str(t.segment[1], "/");
    arena_release(&arena);
}

TEST(target_split__ignores_one_trailing_slash)
{
    assert_int_equal(split("/").n, 0);
    assert_false(split("/").trailing_slash);
    struct target t = split("/e/");
    assert_int_equal(t.n, 1);
    assert_true(t.trailing_slash);
    assert_false(t.empty_segment);
    assert_true(split("//").empty_segment);
    assert_true(split("/e//").empty_segment);
    assert_true(split("/e//x").empty_segment);
    assert_false(split("/e/x").trailing_slash);
}

TEST(target_split__stops_counting_beyond_its_most)
{
    assert_int_equal(split("/1/2/3/4/5").n, 5);
    assert_int_equal(split("/1/2/3/4/5/").n, 5);
    assert_int_equal(split("/1/2/3/4/5/6").n, TARGET_SEGMENTS_MAX + 1);
    assert_int_equal(split("/1/2/3/4/5/6/7/8/9").n, TARGET_SEGMENTS_MAX + 1);
}

TEST(target_split__refuses_a_percent_that_stands_before_no_two_digits)
{
    refuses("/e/%");
    refuses("/e/%4");
    refuses("/e/%zz");
    refuses("/e/%4g");
    refuses("/%-1/x");
    arena_release(&arena);
}

TEST(target_decode__makes_a_plus_a_space_in_a_query_only)
{
    struct slice out;
    struct err err;
    assert_int_equal(target_decode(SLICE("a+b%2Bc"), true, &arena, &out, &err), RC_OK);
    assert_slice_str(out, "a b+c");
    assert_int_equal(target_decode(SLICE("a+b%2Bc"), false, &arena, &out, &err), RC_OK);
    assert_slice_str(out, "a+b+c");
    arena_release(&arena);
}

TEST(target_encode__hides_the_segments_that_clients_resolve)
{
    uint8_t out[16];
    assert_slice_str(slice_of(out, target_encode(SLICE("."), out)), "%2E");
    assert_slice_str(slice_of(out, target_encode(SLICE(".."), out)), "%2E%2E");
    assert_slice_str(slice_of(out, target_encode(SLICE("..."), out)), "...");
    assert_slice_str(slice_of(out, target_encode(SLICE(".a"), out)), ".a");
}

TEST(target_encode__undoes_decoding_of_every_byte)
{
    uint8_t all[256], encoded[3 * 256];
    for (unsigned i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    size_t n = target_encode(slice_of(all, 256), encoded);
    for (size_t i = 0; i < n; i++)
        assert_true(encoded[i] > 0x20 && encoded[i] < 0x7f && encoded[i] != '/' && encoded[i] != '?');
    struct slice back;
    struct err err;
    assert_int_equal(target_decode(slice_of(encoded, n), true, &arena, &back, &err), RC_OK);
    assert_true(slice_eq(back, slice_of(all, 256)));
    arena_release(&arena);
}

TEST(words_of__hides_what_does_not_print_and_cuts_what_is_long)
{
    struct words words;
    assert_string_equal(words_of(SLICE("a\x01\xff\x7fz"), &words), "a???z");
    char sixty[60];
    memset(sixty, 'a', sizeof sixty);
    assert_int_equal(strlen(words_of(slice_of(sixty, 60), &words)), 60);
    char more[61];
    memset(more, 'a', sizeof more);
    const char *cut = words_of(slice_of(more, 61), &words);
    assert_int_equal(strlen(cut), 63);
    assert_string_equal(cut + 60, "...");
}

TEST_MAIN()
