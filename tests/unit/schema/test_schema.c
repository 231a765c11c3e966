/* The front of schema/: what a parsed schema tells its users. */
#include "schema/schema.h"

#include "tests/lib/test.h"

static struct arena arena;
static struct err err;
static struct schema *schema;

static enum rc parse(const char *text, const char *fullname)
{
    schema_free(schema);
    schema = NULL;
    arena_release(&arena);
    err = (struct err){0};
    return schema_parse(&schema, slice_str(text), slice_str(fullname), &arena, &err);
}

static void takes(const char *text)
{
    if (parse(text, ""))
        fail_msg("%s\nrefused: %s", text, err.message);
}

TEST(schema_raw__is_for_bare_bytes_and_string_only)
{
    takes("\"bytes\"");
    assert_int_equal(schema_raw(schema), SCHEMA_RAW_BYTES);
    takes(" {\"type\":\"string\"}");
    assert_int_equal(schema_raw(schema), SCHEMA_RAW_STRING);
    takes("{\"type\":\"string\",\"logicalType\":\"uuid\"}");
    assert_int_equal(schema_raw(schema), SCHEMA_RAW_NONE);
    takes("[\"string\"]");
    assert_int_equal(schema_raw(schema), SCHEMA_RAW_NONE);
    takes("\"int\"");
    assert_int_equal(schema_raw(schema), SCHEMA_RAW_NONE);
}

TEST(schema_field__finds_fields_by_name_and_not_by_alias)
{
    takes("{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"},"
          "{\"name\":\"b\",\"type\":\"int\",\"aliases\":[\"c\"]}]}");
    assert_int_equal(schema_field(schema, SLICE("a")), 0);
    assert_int_equal(schema_field(schema, SLICE("b")), 1);
    assert_int_equal(schema_field(schema, SLICE("c")), -1);
    assert_int_equal(schema_field(schema, SLICE("")), -1);
    takes("\"int\"");
    assert_int_equal(schema_field(schema, SLICE("a")), -1);
}

TEST(schema_parse__keeps_text_and_normal_form)
{
    takes(" {\"type\":\"int\"} ");
    assert_slice_str(schema_text(schema), " {\"type\":\"int\"} ");
    assert_slice_str(schema_normal_form(schema), "\"int\"");
}

TEST(schema_parse__warns_of_what_it_ignores)
{
    takes("{\"type\":\"int\",\"logicalType\":\"nope\"}");
    assert_int_equal(schema_warnings(schema), 1);
    assert_slice_str(schema_warning(schema, 0),
                     "The logicalType \"nope\" at \"\" is ignored: it is not known.");
    takes("{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"f\",\"type\":[\"null\",\"int\"],"
          "\"default\":5}]}");
    assert_int_equal(schema_warnings(schema), 1);
}

#define TWO(default_of_a)                                                                                    \
    "[{\"type\":\"record\",\"name\":\"A\",\"fields\":[{\"name\":\"x\",\"type\":\"int\","                     \
    "\"default\":" default_of_a "}]},"                                                                       \
    "{\"type\":\"record\",\"name\":\"B\",\"fields\":[]}]"

TEST(schema_parse__picks_an_entry_of_a_valid_text)
{
    assert_int_equal(parse(TWO("1"), "A"), RC_OK);
    assert_slice_str(
        schema_text(schema),
        "{\"type\":\"record\",\"name\":\"A\",\"fields\":[{\"name\":\"x\",\"type\":\"int\",\"default\":1}]}");
    assert_int_equal(schema_field(schema, SLICE("x")), 0);
    assert_int_equal(parse(TWO("1"), "C"), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_SCHEMA);
}

TEST(schema_parse__checks_entries_that_are_not_picked)
{
    assert_int_equal(parse(TWO("\"1\""), "B"), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_SCHEMA);
    assert_slice_str(err.first->pointer, "/0/fields/0/default");
}

/* n references, short in the text, to an enum whose full name has a thousand bytes. */
static enum rc parse_references(int n)
{
    struct buf text = {0};
    bool ok = buf_append(&text, SLICE("{\"type\":\"record\",\"name\":\"R\",\"namespace\":\"n"));
    for (int i = 0; i < 1000; i++)
        ok = ok && buf_append_byte(&text, 'n');
    ok = ok &&
         buf_append(&text, SLICE("\",\"fields\":[{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"E\","
                                 "\"symbols\":[\"A\"]}}"));
    for (int i = 0; i < n; i++)
        ok = ok && buf_printf(&text, ",{\"name\":\"f%d\",\"type\":\"E\"}", i);
    assert_true(ok && buf_append(&text, SLICE("]}")) && buf_append_byte(&text, 0));
    enum rc rc = parse((const char *)text.ptr, "");
    buf_release(&text);
    return rc;
}

TEST(schema_parse__bounds_the_text_with_all_names_in_full)
{
    assert_int_equal(parse_references(8000), RC_OK);
    assert_int_equal(parse_references(9000), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_SCHEMA);
    assert_int_equal(err.problems, 1);
    assert_int_equal(err.first->code, PROBLEM_SIZE);
}

TEST_MAIN()
