/* Walks over checked JSON: members and items in their order, spans, what is entered and left, names with
 * escapes. */
#include "schema/json_members.h"

#include <stdlib.h>

#include "schema/json.h"
#include "tests/lib/test.h"

/* A copy of exactly this length, so that the sanitizers see a read behind the end. */
static struct slice copy_of(const char *text)
{
    static uint8_t *copy;
    size_t n = strlen(text);
    struct arena arena = {0};
    struct err err;
    free(copy);
    copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, text, n);
    if (json_check(slice_of(copy, n), 4000, &arena, &err))
        fail_msg("%s: %s", text, err.message);
    arena_release(&arena);
    return slice_of(copy, n);
}

/* The members as `name=value;`, without looking inside. */
static void lists(const char *text, const char *want)
{
    struct buf got = {0};
    struct json_walk w = json_walk_of(copy_of(text));
    while (json_walk_next(&w)) {
        if (w.is_object)
            assert_true(buf_append(&got, w.name) && buf_append_byte(&got, '='));
        assert_true(buf_append(&got, json_walk_value(&w)) && buf_append_byte(&got, ';'));
    }
    assert_false(json_walk_next(&w));
    assert_slice_str(buf_slice(&got), want);
    buf_release(&got);
}

TEST(json_walk__lists_members_and_items_with_their_spans)
{
    lists("{}", "");
    lists(" [ ] ", "");
    lists("[1]", "1;");
    lists("[ 1 ,\n-2.5e3 , \"a,]\" , true,false , null ]", "1;-2.5e3;\"a,]\";true;false;null;");
    lists("{\"a\":1,\"b\":{\"c\":[1,{}]},\"d\":[[],\"}\"]}",
          "\"a\"=1;\"b\"={\"c\":[1,{}]};\"d\"=[[],\"}\"];");
    lists(" { \"a\" : 1 , \"b\" : [ 1 , 2 ] } ", "\"a\"=1;\"b\"=[ 1 , 2 ];");
    lists("{\"\\\"\\\\\":\"\\\"\\\\\",\"\":\"\xc3\xa4\"}", "\"\\\"\\\\\"=\"\\\"\\\\\";\"\"=\"\xc3\xa4\";");
}

TEST(json_walk__passes_over_what_nobody_asked_for)
{
    struct json_walk w = json_walk_of(copy_of("[{\"a\":[1,2]},\"x\",3]"));
    assert_true(json_walk_next(&w));
    assert_int_equal(json_walk_kind(&w), JSON_IS_OBJECT);
    assert_true(json_walk_next(&w));
    assert_int_equal(json_walk_kind(&w), JSON_IS_STRING);
    assert_true(json_walk_next(&w));
    assert_slice_str(json_walk_value(&w), "3");
    assert_false(json_walk_next(&w));
}

TEST(json_walk__enters_a_value_and_goes_on_behind_it)
{
    struct json_walk outer = json_walk_of(copy_of("{\"a\": {\"b\": [1]} , \"c\": 2}")), inner;
    assert_true(json_walk_next(&outer));
    inner = json_walk_enter(&outer);
    assert_true(json_walk_next(&inner));
    assert_slice_str(inner.name, "\"b\"");
    assert_false(json_walk_next(&inner));
    json_walk_leave(&outer, &inner);
    assert_true(json_walk_next(&outer));
    assert_slice_str(outer.name, "\"c\"");
    assert_slice_str(json_walk_value(&outer), "2");
    assert_false(json_walk_next(&outer));
}

TEST(json_walk__counts_brackets_however_many_there_are)
{
    enum { DEPTH = 3000 };
    char text[2 * DEPTH + 3];
    memset(text, '[', DEPTH + 1);
    memset(text + DEPTH + 1, ']', DEPTH + 1);
    text[2 * DEPTH + 2] = 0;
    struct json_walk w = json_walk_of(copy_of(text));
    assert_true(json_walk_next(&w));
    assert_int_equal(json_walk_value(&w).len, 2 * DEPTH);
    assert_false(json_walk_next(&w));
}

TEST(json_kind__tells_each_by_its_first_byte)
{
    assert_int_equal(json_kind(SLICE(" null")), JSON_IS_NULL);
    assert_int_equal(json_kind(SLICE("true")), JSON_IS_BOOLEAN);
    assert_int_equal(json_kind(SLICE("false")), JSON_IS_BOOLEAN);
    assert_int_equal(json_kind(SLICE("\n-1")), JSON_IS_NUMBER);
    assert_int_equal(json_kind(SLICE("0")), JSON_IS_NUMBER);
    assert_int_equal(json_kind(SLICE("\"\"")), JSON_IS_STRING);
    assert_int_equal(json_kind(SLICE("[]")), JSON_IS_ARRAY);
    assert_int_equal(json_kind(SLICE("{}")), JSON_IS_OBJECT);
    assert_slice_str(json_trim(SLICE(" \t{ } \n")), "{ }");
    assert_slice_str(json_trim(SLICE("1")), "1");
}

TEST(json_token_is__compares_what_the_token_means)
{
    assert_true(json_token_is(SLICE("\"abc\""), SLICE("abc")));
    assert_true(json_token_is(SLICE("\"\""), SLICE("")));
    assert_true(json_token_is(SLICE("\"a\\u0062c\""), SLICE("abc")));
    assert_true(json_token_is(SLICE("\"\\u0061\\u0062c\\n\\\\\""), SLICE("abc\n\\")));
    assert_true(json_token_is(SLICE("\"\\ud83d\\ude00x\""), SLICE("\xf0\x9f\x98\x80x")));
    assert_true(json_token_is(SLICE("\"a\\u0000\""), SLICE("a\0")));
    assert_false(json_token_is(SLICE("\"abc\""), SLICE("abcd")));
    assert_false(json_token_is(SLICE("\"abcd\""), SLICE("abc")));
    assert_false(json_token_is(SLICE("\"abc\\n\""), SLICE("abc")));
    assert_false(json_token_is(SLICE("\"\\u0061\""), SLICE("b")));
    assert_false(json_token_is(SLICE("\"\""), SLICE("a")));
}

TEST(json_token_text__borrows_what_has_no_escapes)
{
    struct buf scratch = {0};
    struct slice text, token = SLICE("\"abc\"");
    assert_true(json_token_text(token, &scratch, &text));
    assert_ptr_equal(text.ptr, token.ptr + 1);
    assert_int_equal(text.len, 3);
    assert_true(json_token_text(SLICE("\"a\\tb\""), &scratch, &text));
    assert_slice_str(text, "a\tb");
    buf_release(&scratch);
}

TEST_MAIN()
