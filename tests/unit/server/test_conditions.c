/* tests/unit/server/test_conditions.c - entity tags, If-Match, If-None-Match. */
#include "tests/lib/test.h"

#include "server/conditions.h"

static struct arena arena;

/* NULL: the header is absent. */
static struct slice given(const char *header)
{
    return header ? slice_str(header) : (struct slice){0};
}

static struct condition of_write(const char *match, const char *none_match)
{
    struct condition c;
    struct err err;
    assert_int_equal(condition_of_write(given(match), given(none_match), &arena, &c, &err), RC_OK);
    return c;
}

static void refuses(const char *match, const char *none_match)
{
    struct condition c;
    struct err err;
    assert_int_equal(condition_of_write(given(match), given(none_match), &arena, &c, &err), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_REQUEST);
}

static enum read_verdict of_read(const char *match, const char *none_match, const char *tag)
{
    const struct read_tags tags = {.plain = slice_str(tag)};
    enum read_verdict v;
    bool is_coded;
    struct err err;
    assert_int_equal(condition_of_read(given(match), given(none_match), &tags, &v, &is_coded, &err), RC_OK);
    assert_false(is_coded);
    return v;
}

TEST(tag_print__is_revision_dash_version)
{
    uint8_t tag[TAG_MAX];
    assert_slice_str(tag_print(7, 1, SLICE(""), CODING_identity, tag), "\"7-1\"");
    assert_slice_str(tag_print(UINT64_MAX, UINT32_MAX, SLICE("-json"), CODING_gzip, tag),
                     "\"18446744073709551615-4294967295-json-gzip\"");
}

TEST(condition_of_write__without_headers_asks_nothing)
{
    struct condition c = of_write(NULL, NULL);
    assert_int_equal(c.kind, IF_ANY);
    assert_true(condition_holds(&c, 0));
    assert_true(condition_holds(&c, 1));
}

TEST(condition_of_write__star_asks_for_presence_or_absence)
{
    struct condition c = of_write("*", NULL);
    assert_int_equal(c.kind, IF_PRESENT);
    assert_false(condition_holds(&c, 0));
    assert_true(condition_holds(&c, 9));
    c = of_write(NULL, "*");
    assert_int_equal(c.kind, IF_ABSENT);
    assert_true(condition_holds(&c, 0));
    assert_false(condition_holds(&c, 9));
}

TEST(condition_of_write__takes_lists_and_compares_the_revision_alone)
{
    struct condition c = of_write("\"3-1\" ,\"77-2\",, \"5-9-json\"", NULL);
    assert_int_equal(c.nrevisions, 3);
    assert_true(condition_holds(&c, 3));
    assert_true(condition_holds(&c, 77));
    assert_true(condition_holds(&c, 5));
    assert_false(condition_holds(&c, 4));
    assert_false(condition_holds(&c, 0));
    c = of_write(NULL, "\"3-1\"");
    assert_false(condition_holds(&c, 3));
    assert_true(condition_holds(&c, 4));
    assert_true(condition_holds(&c, 0));
    arena_release(&arena);
}

TEST(condition_of_write__weak_and_foreign_tags_match_nothing)
{
    const char *const lists[] = {"W/\"3-1\"", "\"old\"", "\"\"",
                                 "\"3\"",     "\"3-\"",  "\"-1\"",
                                 "\"0-1\"",   "\"3-x\"", "\"99999999999999999999-1\"",
                                 "\"a,b\"",   "\"+3-1\""};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct condition c = of_write(lists[i], NULL);
        assert_int_equal(c.kind, IF_REVISION_IN);
        assert_int_equal(c.nrevisions, 0);
        assert_false(condition_holds(&c, 3));
        c = of_write(NULL, lists[i]);
        assert_true(condition_holds(&c, 3));
    }
    arena_release(&arena);
}

TEST(condition_of_write__refuses_what_is_no_list_of_tags)
{
    refuses("3-1", NULL);
    refuses("\"3-1", NULL);
    refuses("\"3-1\" \"4-1\"", NULL);
    refuses("*, \"3-1\"", NULL);
    refuses("W/", NULL);
    refuses("W/3-1", NULL);
    refuses("w/\"3-1\"", NULL);
    refuses(",", NULL);
    refuses("\"", NULL);
    refuses("", NULL);
    refuses(NULL, "");
    refuses(NULL, "3-1");
    refuses("*", "*");
    refuses("\"3-1\"", "*");
    arena_release(&arena);
}

TEST(condition_attach__says_the_same_to_storage)
{
    struct store_write w = {0};
    struct condition c = of_write("\"3-1\"", NULL);
    condition_attach(&c, &w);
    assert_int_equal(w.cond, COND_REVISION_IN);
    assert_int_equal(w.nrevisions, 1);
    assert_int_equal(w.revisions[0], 3);
    c = of_write(NULL, "*");
    condition_attach(&c, &w);
    assert_int_equal(w.cond, COND_ABSENT);
    assert_int_equal(w.nrevisions, 0);
    arena_release(&arena);
}

TEST(condition_of_read__none_match_compares_the_whole_tag_weakly)
{
    assert_int_equal(of_read(NULL, "\"3-1\"", "\"3-1\""), READ_NOT_MODIFIED);
    assert_int_equal(of_read(NULL, "W/\"3-1\"", "\"3-1\""), READ_NOT_MODIFIED);
    assert_int_equal(of_read(NULL, "\"1-1\", \"3-1\"", "\"3-1\""), READ_NOT_MODIFIED);
    assert_int_equal(of_read(NULL, "*", "\"3-1\""), READ_NOT_MODIFIED);
    assert_int_equal(of_read(NULL, "\"3-2\"", "\"3-1\""), READ_GO);
    assert_int_equal(of_read(NULL, "\"3-1-json\"", "\"3-1\""), READ_GO);
    assert_int_equal(of_read(NULL, "*", ""), READ_GO);
}

TEST(condition_of_read__match_compares_strongly_and_goes_first)
{
    assert_int_equal(of_read("\"3-1\"", NULL, "\"3-1\""), READ_GO);
    assert_int_equal(of_read("W/\"3-1\"", NULL, "\"3-1\""), READ_FAILED);
    assert_int_equal(of_read("\"4-1\"", "\"3-1\"", "\"3-1\""), READ_FAILED);
    assert_int_equal(of_read("\"3-1\"", "\"3-1\"", "\"3-1\""), READ_NOT_MODIFIED);
    assert_int_equal(of_read("*", NULL, ""), READ_FAILED);
    const struct read_tags tags = {.plain = SLICE("\"3-1\"")};
    enum read_verdict v;
    bool is_coded;
    struct err err;
    assert_int_equal(condition_of_read(SLICE("x"), (struct slice){0}, &tags, &v, &is_coded, &err), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_REQUEST);
}

/* READ_NOT_MODIFIED of which of the two; or whatever it is. */
static enum read_verdict of_coded(const char *match, const char *none_match, bool *is_coded)
{
    const struct read_tags tags = {.plain = SLICE("\"3-1\""), .coded = SLICE("\"3-1-gzip\"")};
    enum read_verdict v;
    struct err err;
    assert_int_equal(condition_of_read(given(match), given(none_match), &tags, &v, is_coded, &err), RC_OK);
    return v;
}

TEST(condition_of_read__knows_what_is_compressed_by_a_tag_of_its_own)
{
    bool is_coded;
    assert_int_equal(of_coded(NULL, "\"3-1-gzip\"", &is_coded), READ_NOT_MODIFIED);
    assert_true(is_coded);
    assert_int_equal(of_coded(NULL, "W/\"3-1-gzip\"", &is_coded), READ_NOT_MODIFIED);
    assert_true(is_coded);
    assert_int_equal(of_coded(NULL, "\"3-1\"", &is_coded), READ_NOT_MODIFIED);
    assert_false(is_coded);
    assert_int_equal(of_coded(NULL, "*", &is_coded), READ_NOT_MODIFIED);
    assert_false(is_coded);
    assert_int_equal(of_coded(NULL, "\"3-1-deflate\", \"2-1-gzip\"", &is_coded), READ_GO);
    assert_int_equal(of_coded("\"3-1-gzip\"", NULL, &is_coded), READ_GO);
    assert_int_equal(of_coded("W/\"3-1-gzip\"", NULL, &is_coded), READ_FAILED);
}

TEST_MAIN()
