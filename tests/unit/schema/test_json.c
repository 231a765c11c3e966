/* The strict JSON checker: what it takes, what it refuses, where it says the fault is;
 * strings and pointers. */
#include "schema/json.h"

#include <stdlib.h>

#include "tests/lib/test.h"

static struct arena arena;
static struct err err;

static enum rc check(struct slice text)
{
    /* A copy of exactly this length, so that the sanitizers see a read behind the end. */
    uint8_t *copy = malloc(text.len ? text.len : 1);
    assert_non_null(copy);
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    arena_release(&arena);
    err = (struct err){0};
    enum rc rc = json_check(slice_of(copy, text.len), 64, &arena, &err);
    free(copy);
    return rc;
}

static void takes(const char *text)
{
    if (check(slice_str(text)))
        fail_msg("%s: %u:%u %s", text, err.line, err.column, err.message);
}

static void refuses_bytes(struct slice text, unsigned line, unsigned column, const char *message)
{
    if (check(text) == RC_OK)
        fail_msg("%.*s: accepted", (int)text.len, (const char *)text.ptr);
    assert_int_equal(err.code, ERR_BAD_JSON);
    if (err.line != line || err.column != column || strcmp(err.message, message) != 0)
        fail_msg("%.*s:\ngot  %u:%u %s\nwant %u:%u %s", (int)text.len, (const char *)text.ptr, err.line,
                 err.column, err.message, line, column, message);
}

static void refuses(const char *text, unsigned line, unsigned column, const char *message)
{
    refuses_bytes(slice_str(text), line, column, message);
}

static void refuses_duplicate(const char *text, unsigned column, const char *pointer)
{
    if (check(slice_str(text)) == RC_OK)
        fail_msg("%s: accepted", text);
    assert_int_equal(err.code, ERR_BAD_JSON);
    assert_int_equal(err.column, column);
    assert_int_equal(err.problems, 1);
    assert_int_equal(err.first->code, PROBLEM_DUPLICATE);
    assert_slice_str(err.first->pointer, pointer);
}

TEST(json_check__takes_every_kind_of_value)
{
    takes("null");
    takes("true");
    takes(" \t\r\nfalse \t\r\n");
    takes("0");
    takes("-0");
    takes("-0.0e-0");
    takes("123456789012345678901234567890");
    takes("1e400");
    takes("1E+5");
    takes("1.5e-3");
    takes("\"\"");
    takes("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uABCD\\uabcd\\ud83d\\ude00\"");
    takes("\"\xf0\x9f\x98\x80 \xef\xbf\xbf \x7f\"");
    takes("[]");
    takes("[ ]");
    takes("{}");
    takes("{ }");
    takes("[1, 2,[3],{},{\"a\":[]},\"x\"]");
    takes("{\"\":1,\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":2}]}");
}

TEST(json_check__says_what_it_expected)
{
    refuses("", 1, 1, "Expected a value, found the end of the text.");
    refuses("  \n ", 2, 2, "Expected a value, found the end of the text.");
    refuses("{\"a\":1 \"b\":2}", 1, 8, "Expected ',' or '}' after a member, found '\"'.");
    refuses("[1 2]", 1, 4, "Expected ',' or ']' after an element, found '2'.");
    refuses("[1}", 1, 3, "Expected ',' or ']' after an element, found '}'.");
    refuses("{\"a\"}", 1, 5, "Expected ':' after a name, found '}'.");
    refuses("{a:1}", 1, 2, "Expected a name in double quotes or '}', found 'a'.");
    refuses("{\"a\":1,}", 1, 8, "Expected a name after ',': no comma may stand before '}'.");
    refuses("[1,]", 1, 4, "Expected a value after ',': no comma may stand before ']'.");
    refuses("[,1]", 1, 2, "Expected a value, found ','.");
    refuses("{\"a\":]", 1, 6, "Expected a value, found ']'.");
    refuses("]", 1, 1, "Expected a value, found ']'.");
    refuses("1 2", 1, 3, "There is more text behind the JSON value.");
    refuses("{} x", 1, 4, "There is more text behind the JSON value.");
    refuses("[1", 1, 3, "Expected ',' or ']' after an element, found the end of the text.");
    refuses("{\"a\":1", 1, 7, "Expected ',' or '}' after a member, found the end of the text.");
    refuses("{\"a\"", 1, 5, "Expected ':' after a name, found the end of the text.");
    refuses("{", 1, 2, "Expected a name in double quotes or '}', found the end of the text.");
    refuses("'a'", 1, 1, "Expected a value: strings stand in double quotes, not in single ones.");
    refuses("/*x*/1", 1, 1, "Expected a value, found '/': JSON has no comments.");
    refuses("NaN", 1, 1, "Expected a value: NaN and Infinity are no JSON numbers.");
    refuses("-Infinity", 1, 2, "Expected a digit after '-'.");
    refuses("nul", 1, 1, "Expected a value: the only bare words are true, false and null.");
    refuses("True", 1, 1, "Expected a value: the only bare words are true, false and null.");
}

TEST(json_check__is_strict_about_numbers)
{
    refuses("01", 1, 1, "A number must not have a leading zero.");
    refuses("-012", 1, 2, "A number must not have a leading zero.");
    refuses("1.", 1, 3, "Expected a digit after the decimal point.");
    refuses("1.e5", 1, 3, "Expected a digit after the decimal point.");
    refuses("1e", 1, 3, "Expected a digit in the exponent.");
    refuses("1e+", 1, 4, "Expected a digit in the exponent.");
    refuses("-", 1, 2, "Expected a digit after '-'.");
    refuses("+1", 1, 1, "Expected a value: a number begins with a digit or with '-'.");
    refuses(".5", 1, 1, "Expected a value: a number begins with a digit or with '-'.");
    refuses("0x10", 1, 2, "There is more text behind the JSON value.");
}

TEST(json_check__is_strict_about_strings)
{
    refuses("\"a", 1, 3, "The text ends inside a string.");
    refuses("\"a\\", 1, 4, "The text ends inside a string.");
    refuses("\"\\x\"", 1, 3, "Expected one of \" \\ / b f n r t u after a backslash, found 'x'.");
    refuses("\"\\u12g4\"", 1, 2, "Expected four hexadecimal digits after \\u.");
    refuses("\"\\u12\"", 1, 2, "Expected four hexadecimal digits after \\u.");
    refuses("\"a\nb\"", 1, 3, "The control character 0x0a must be escaped in a string (as \\u000a).");
    refuses("\"\\ud83d\"", 1, 2, "\\ud83d is the first half of a surrogate pair without the second.");
    refuses("\"\\ud83dx\\ude00\"", 1, 2, "\\ud83d is the first half of a surrogate pair without the second.");
    refuses("\"\\ud83d\\ud83d\"", 1, 2, "\\ud83d is the first half of a surrogate pair without the second.");
    refuses("\"\\udfff\"", 1, 2, "\\udfff is the second half of a surrogate pair without the first.");
    refuses_bytes(slice_of("\"a\0\"", 4), 1, 3,
                  "The control character 0x00 must be escaped in a string (as \\u0000).");
}

TEST(json_check__is_strict_about_the_encoding)
{
    refuses("\xef\xbb\xbf{}", 1, 1, "The text begins with a byte order mark; send it without one.");
    refuses("{\"s\":\"\xc3\x28\"}", 1, 7, "The byte 0xc3 is not valid UTF-8 here.");
    refuses("\"\xc0\x80\"", 1, 2, "The byte 0xc0 is not valid UTF-8 here.");
    refuses("\"\xed\xa0\xbd\"", 1, 2, "The byte 0xed is not valid UTF-8 here.");
    refuses("{}\xff", 1, 3, "The byte 0xff is not valid UTF-8 here.");
    refuses_bytes(slice_of("\xff\xfe{\0}\0", 6), 1, 1, "The byte 0xff is not valid UTF-8 here.");
    refuses_bytes(slice_of("{\0}\0", 4), 1, 2,
                  "Expected a name in double quotes or '}', found the byte 0x00.");
    refuses("{\xc3\xa9", 1, 2, "Expected a name in double quotes or '}', found a character beyond ASCII.");
    /* the earlier fault is the one that is told */
    refuses("[1 2, \"\xff\"]", 1, 4, "Expected ',' or ']' after an element, found '2'.");
}

TEST(json_check__counts_lines_and_columns_in_bytes)
{
    refuses("[\n1,\n\"\xc3\xa9\" 2]", 3, 6, "Expected ',' or ']' after an element, found '2'.");
    refuses("[\r\n\r\n,", 3, 1, "Expected a value, found ','.");
}

TEST(json_check__finds_a_name_that_stands_twice)
{
    refuses_duplicate("{\"id\":1,\"id\":2}", 9, "/id");
    refuses_duplicate("{\"id\":1, \"x\":{\"id\":3}, \"id\":2}", 24, "/id");
    refuses_duplicate("[0,{\"m\":{\"k\":1,\"k\":1}}]", 16, "/1/m/k");
    refuses_duplicate("{\"a\":1,\"\\u0061\":2}", 8, "/a");
    refuses_duplicate("{\"\\u0061\":1,\"a\":2}", 13, "/a");
    refuses_duplicate("{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2}", 19, "/\xf0\x9f\x98\x80");
    refuses_duplicate("{\"\":1,\"\":2}", 7, "/");
    refuses_duplicate("{\"a/b\":1,\"m~n\":[[{\"a/b\":1,\"a/b\":1}]]}", 27, "/m~0n/0/0/a~1b");
    assert_string_equal(err.message, "The name \"a/b\" stands twice in one object.");
}

TEST(json_check__tells_a_fault_of_syntax_rather_than_a_name_that_stands_twice)
{
    refuses("{\"a\":1,\"a\":}", 1, 12, "Expected a value, found '}'.");
    refuses("[{\"a\":1,\"a\":2}", 1, 15, "Expected ',' or ']' after an element, found the end of the text.");
}

TEST(json_check__tells_names_with_nul_apart)
{
    takes("{\"k\":1,\"k\\u0000\":2,\"k\\u0000x\":3}");
    check(SLICE("{\"k\\u0000\":1,\"k\\u0000\":2}"));
    assert_int_equal(err.problems, 1);
    assert_true(slice_eq(err.first->pointer, SLICE("/k\0")));
}

TEST(json_check__names_are_of_their_own_object_only)
{
    takes("{\"a\":{\"a\":[{\"a\":1},{\"a\":{\"a\":1}}]},\"b\":{\"a\":1}}");
    refuses_duplicate("{\"a\":{\"b\":1,\"c\":1},\"b\":{\"a\":1},\"b\":1}", 32, "/b");
}

static void add(struct buf *b, const char *text)
{
    assert_true(buf_append(b, slice_str(text)));
}

TEST(json_check__finds_the_last_of_many_names)
{
    struct buf text = {0};
    add(&text, "{");
    for (int i = 0; i < 100000; i++)
        assert_true(buf_printf(&text, "\"name%d\":{\"x\":%d},", i, i));
    size_t before = text.len;
    add(&text, "\"y\":1}");
    assert_int_equal(check(buf_slice(&text)), RC_OK);
    text.len = before;
    add(&text, "\"name777\":1}");
    assert_int_equal(check(buf_slice(&text)), RC_ERR);
    assert_slice_str(err.first->pointer, "/name777");
    buf_release(&text);
}

TEST(json_check__cuts_a_long_name_in_the_message_only)
{
    struct buf text = {0}, name = {0};
    for (int i = 0; i < 500; i++)
        add(&name, "\xc3\xa9");
    assert_true(buf_printf(&text, "{\"%.*s\":1,\"%.*s\":2}", (int)name.len, (char *)name.ptr, (int)name.len,
                           (char *)name.ptr));
    assert_int_equal(check(buf_slice(&text)), RC_ERR);
    assert_int_equal(err.first->pointer.len, 1001);
    assert_non_null(strstr(err.message, "\xc3\xa9...\" stands twice"));
    buf_release(&text);
    buf_release(&name);
}

TEST(json_check__limits_the_depth)
{
    struct buf text = {0};
    for (int i = 0; i < 64; i++)
        add(&text, i % 2 ? "[" : "{\"a\":");
    size_t open = text.len;
    add(&text, "1");
    for (int i = 63; i >= 0; i--)
        add(&text, i % 2 ? "]" : "}");
    assert_int_equal(check(buf_slice(&text)), RC_OK);
    text.len = open;
    add(&text, "[");
    assert_int_equal(check(buf_slice(&text)), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
    assert_int_equal(err.line, 1);
    assert_int_equal(err.column, open + 1);
    buf_release(&text);
}

static void unescapes(const char *token, struct slice want)
{
    struct buf out = {0};
    add(&out, "<");
    assert_true(json_unescape(slice_str(token), &out));
    assert_int_equal(out.len, want.len + 1);
    assert_memory_equal(out.ptr + 1, want.ptr, want.len);
    buf_release(&out);
}

TEST(json_unescape__undoes_every_escape)
{
    unescapes("\"\"", SLICE(""));
    unescapes("\"abc\"", SLICE("abc"));
    unescapes("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", SLICE("\"\\/\b\f\n\r\t"));
    unescapes("\"a\\u0000b\"", SLICE("a\0b"));
    unescapes("\"\\u00e9\\u20AC\\uD83D\\uDE00\\udbff\\udfff\"",
              SLICE("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf"));
}

TEST(json_pointer_push__escapes_tilde_and_slash)
{
    struct buf out = {0};
    assert_true(json_pointer_push(&out, SLICE("a/b~c")));
    assert_true(json_pointer_push(&out, SLICE("")));
    assert_true(json_pointer_push(&out, SLICE("0")));
    assert_slice_str(buf_slice(&out), "/a~1b~0c//0");
    buf_release(&out);
}

TEST_MAIN()
