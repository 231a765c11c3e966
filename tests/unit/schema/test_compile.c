/* tests/unit/schema/test_compile.c - models to programs: defaults, zeros, sizes, what can never be. */
#include "tests/unit/schema/codec_fixture.h"

#define RECORD(name, fields)       "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":[" fields "]}"
#define FIELD(name, type)          "{\"name\":\"" name "\",\"type\":" type "}"
#define DEFAULT(name, type, value) "{\"name\":\"" name "\",\"type\":" type ",\"default\":" value "}"

/* The schema is refused; its problems, one a line: pointer and code. */
static void refuses_schema(const char *json, const char *want)
{
    if (try_schema(json) == RC_OK)
        fail_msg("accepted: %s", json);
    if (err.code != ERR_BAD_SCHEMA)
        fail_msg("%s: %s", json, err.message);
    text.len = 0;
    for (const struct problem *p = err.first; p; p = p->next)
        assert_true(buf_printf(&text, "%.*s %s\n", (int)p->pointer.len, (const char *)p->pointer.ptr,
                               problem_slug(p->code)));
    assert_slice_str(buf_slice(&text), want);
}

static void has_initial(const char *json, const char *want)
{
    struct err why;
    use_schema(json);
    text.len = 0;
    if (codec_to_json(schema, JSON_PLAIN, schema_initial(schema), &text, &why))
        fail_msg("%s: %s", json, why.message);
    assert_slice_str(buf_slice(&text), want);
}

/* ---- defaults ---- */

#define WRONG_DEFAULT(type, value)                                                                           \
    refuses_schema(RECORD("R", DEFAULT("f", type, value)), "/fields/0/default default\n")
#define RIGHT_DEFAULT(type, value, want)                                                                     \
    has_initial(RECORD("R", DEFAULT("f", type, value)), "{\"f\":" want "}")

TEST(program_compile__refuses_defaults_that_do_not_fit)
{
    WRONG_DEFAULT("\"int\"", "1.5");
    WRONG_DEFAULT("\"int\"", "3000000000");
    WRONG_DEFAULT("\"int\"", "\"1\"");
    assert_slice_str(err.first->detail,
                     "The default of \"f\" does not fit its type: Expected int, got string. Write the "
                     "number without quotes.");
    WRONG_DEFAULT("\"double\"", "\"1.5\"");
    WRONG_DEFAULT("\"double\"", "1e400");
    WRONG_DEFAULT("\"null\"", "0");
    WRONG_DEFAULT("\"bytes\"", "\"\\u0100\"");
    WRONG_DEFAULT("{\"type\":\"fixed\",\"name\":\"F\",\"size\":2}", "\"a\"");
    WRONG_DEFAULT("{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\"]}", "\"B\"");
    WRONG_DEFAULT("{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\"]}", "null");
    WRONG_DEFAULT("{\"type\":\"array\",\"items\":\"int\"}", "{}");
    WRONG_DEFAULT("{\"type\":\"array\",\"items\":\"int\"}", "[1,\"2\"]");
    assert_slice_str(err.first->detail,
                     "The default of \"f\" does not fit its type, at /1: Expected int, got string.");
    WRONG_DEFAULT("[\"int\",\"null\"]", "\"x\"");
    WRONG_DEFAULT("[\"string\",\"null\"]", "{\"string\":\"x\"}");
    assert_non_null(strstr((const char *)err.first->detail.ptr, "A union's default is written bare"));
    WRONG_DEFAULT(RECORD("P", FIELD("x", "\"int\"") "," FIELD("y", "\"int\"")), "{\"x\":1}");
    WRONG_DEFAULT(RECORD("P", FIELD("x", "\"int\"")), "{\"x\":1,\"z\":2}");
}

TEST(program_compile__takes_defaults_that_fit)
{
    RIGHT_DEFAULT("\"int\"", "1.0", "1");
    RIGHT_DEFAULT("\"double\"", "\"NaN\"", "\"NaN\"");
    RIGHT_DEFAULT("\"bytes\"", "\"\\u00ff\"", "\"\xc3\xbf\"");
    RIGHT_DEFAULT("{\"type\":\"array\",\"items\":[\"null\",\"int\"]}", "[null,1]", "[null,1]");
    RIGHT_DEFAULT("[\"string\",\"null\"]", "\"x\"", "\"x\"");
    RIGHT_DEFAULT(RECORD("P", DEFAULT("x", "\"int\"", "7") "," FIELD("y", "\"int\"")), "{\"y\":1}",
                  "{\"x\":7,\"y\":1}");
    assert_int_equal(schema_warnings(schema), 0);
}

TEST(program_compile__warns_of_a_default_for_a_later_branch)
{
    RIGHT_DEFAULT("[\"null\",\"string\"]", "\"x\"", "\"x\"");
    assert_int_equal(schema_warnings(schema), 1);
    RIGHT_DEFAULT("[\"int\",\"long\"]", "5", "{\"int\":5}");
    assert_int_equal(schema_warnings(schema), 0);
    RIGHT_DEFAULT("[\"int\",\"long\"]", "5000000000", "{\"long\":5000000000}");
    assert_int_equal(schema_warnings(schema), 1);
}

TEST(program_compile__encodes_defaults_that_need_later_ones)
{
    has_initial(
        RECORD("A", DEFAULT("b", RECORD("B", DEFAULT("c", RECORD("C", DEFAULT("x", "\"int\"", "5")), "{}")),
                            "{}") "," DEFAULT("d", "\"B\"", "{\"c\":{\"x\":6}}")),
        "{\"b\":{\"c\":{\"x\":5}},\"d\":{\"c\":{\"x\":6}}}");
}

TEST(program_compile__refuses_a_default_that_contains_itself)
{
    refuses_schema(RECORD("A", DEFAULT("b", RECORD("B", DEFAULT("a", "[\"A\",\"null\"]", "{}")), "{}")),
                   "/fields/0/type/fields/0/default infinite\n");
    refuses_schema(RECORD("A", DEFAULT("b", "{\"type\":\"array\",\"items\":\"A\"}", "[{}]")),
                   "/fields/0/default infinite\n");
    refuses_schema(RECORD("A", DEFAULT("b", "[\"null\",\"A\"]", "{}")), "/fields/0/default infinite\n");
    has_initial(RECORD("A", DEFAULT("b", RECORD("B", DEFAULT("a", "[\"A\",\"null\"]", "null")), "{}")),
                "{\"b\":{\"a\":null}}");
}

TEST(program_compile__lists_every_wrong_default)
{
    refuses_schema(RECORD("A", DEFAULT("a", "\"int\"",
                                       "\"x\"") "," FIELD("b", "\"int\"") "," DEFAULT("c", "\"int\"", "{}")),
                   "/fields/0/default default\n/fields/2/default default\n");
}

TEST(program_check_defaults__lists_wrong_defaults_behind_other_faults)
{
    /* of every type that is sound, in records that are sound and in those that are not */
    refuses_schema(RECORD("A", DEFAULT("a", "\"int\"", "\"x\"") "," FIELD("b", "\"nope\"") "," FIELD(
                                   "c", RECORD("C", DEFAULT("d", "\"int\"", "{}")))),
                   "/fields/1/type unknown_type\n/fields/0/default default\n"
                   "/fields/2/type/fields/0/default default\n");
    /* not of those that are not: the default of "b" cannot be judged */
    refuses_schema(RECORD("A", DEFAULT("a", "[\"null\",\"A\"]",
                                       "7") "," DEFAULT("b", "{\"type\":\"array\",\"items\":\"nope\"}", "7")),
                   "/fields/1/type/items unknown_type\n");
    /* nor of records without end, which are told alone */
    refuses_schema("[" RECORD("A", FIELD("a", "\"A\"") "," DEFAULT("b", "\"int\"", "\"x\"")) ",\"nope\"]",
                   "/1 unknown_type\n/0/fields/1/default default\n");
    /* names that stand twice do not matter to defaults */
    refuses_schema(RECORD("A", DEFAULT("a", "\"int\"", "1") "," DEFAULT("a", "\"int\"", "\"x\"")),
                   "/fields/1/name duplicate\n/fields/1/default default\n");
}

TEST(program_check_defaults__adds_nothing_where_all_defaults_fit)
{
    refuses_schema(RECORD("A", DEFAULT("a", "[\"null\",\"int\"]", "null") "," FIELD("b", "[]")),
                   "/fields/1/type union\n");
    refuses_schema("\"nope\"", " unknown_type\n");
}

/* ---- zeros ---- */

TEST(program_compile__makes_the_initial_record)
{
    has_initial(
        RECORD("P", FIELD("name", "\"string\"") "," FIELD("age", "\"int\"") "," DEFAULT(
                        "gender", "{\"type\":\"enum\",\"name\":\"G\",\"symbols\":[\"F\",\"M\",\"U\"]}",
                        "\"U\"") "," FIELD("emails", "{\"type\":\"array\",\"items\":\"string\"}")),
        "{\"name\":\"\",\"age\":0,\"gender\":\"U\",\"emails\":[]}");
    has_initial(
        RECORD(
            "Z",
            FIELD(
                "e",
                "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"],"
                "\"default\":\"B\"}") "," FIELD("f",
                                                "{\"type\":\"fixed\",\"name\":"
                                                "\"F\",\"size\":2}") "," FIELD("u",
                                                                               "[\"int\",\"null\"]") "," FIELD("v",
                                                                                                               "[\"string\",\"int\"]") "," FIELD("d",
                                                                                                                                                 "\"double\"") "," FIELD("m",
                                                                                                                                                                         "{\"type\":\"map\","
                                                                                                                                                                         "\"values\":"
                                                                                                                                                                         "\"Z\"}")),
        "{\"e\":\"B\",\"f\":\"\\u0000\\u0000\",\"u\":null,\"v\":{\"string\":\"\"},\"d\":0.0,\"m\":{}"
        "}");
    has_initial("\"null\"", "null");
}

/* R0, which has no fields, and for each later one a field of the one before: n levels in all. */
static enum rc try_chain(int n)
{
    struct buf json = {0};
    append(&json, "{\"type\":\"record\",\"name\":\"Root\",\"fields\":[", 1);
    for (int i = 0; i < n - 1; i++) {
        assert_true(
            buf_printf(&json, "{\"name\":\"f%d\",\"type\":{\"type\":\"record\",\"name\":\"R%d\",", i, i));
        if (i)
            assert_true(buf_printf(&json, "\"fields\":[{\"name\":\"r\",\"type\":\"R%d\"}]}},", i - 1));
        else
            append(&json, "\"fields\":[]}},", 1);
    }
    append(&json, "{\"name\":\"last\",\"type\":\"null\"}]}", 1);
    assert_true(buf_append_byte(&json, 0));
    enum rc rc = try_schema((const char *)json.ptr);
    buf_release(&json);
    return rc;
}

TEST(program_compile__refuses_what_nests_too_deep_in_every_record)
{
    assert_int_equal(try_chain(LIMIT_DATA_DEPTH_MAX), RC_OK);
    text.len = 0;
    assert_int_equal(codec_to_json(schema, JSON_PLAIN, schema_initial(schema), &text, &err), RC_OK);
    assert_int_equal(try_chain(LIMIT_DATA_DEPTH_MAX + 1), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_SCHEMA);
    assert_int_equal(err.first->code, PROBLEM_DEPTH);
}

TEST(program_compile__takes_the_first_branch_that_ends)
{
    has_initial(RECORD("R", FIELD("u", "[" RECORD("S", FIELD("r", "\"R\"")) ",\"int\"]")),
                "{\"u\":{\"int\":0}}");
    has_initial(RECORD("R", FIELD("u", "[" RECORD("S", FIELD("x", "\"int\"")) ",\"int\"]")),
                "{\"u\":{\"S\":{\"x\":0}}}");
    has_initial(RECORD("R", FIELD("u", "[" RECORD("S", FIELD("v", "[\"string\",\"R\"]")) ",\"int\"]")),
                "{\"u\":{\"S\":{\"v\":{\"string\":\"\"}}}}");
}

TEST(program_compile__fills_in_zeros_where_the_type_says_so)
{
    use_schema(RECORD("R", FIELD("a", "\"int\"") "," FIELD("u", "[\"int\",\"null\"]")));
    opts.missing = MISSING_ZERO;
    encodes("{}", "0002");
}

/* ---- what can never be ---- */

TEST(program_compile__refuses_records_that_can_never_be_finite)
{
    refuses_schema(RECORD("A", FIELD("a", "\"A\"")), " infinite\n");
    assert_non_null(strstr(err.message, "A can never be finite"));
    refuses_schema(RECORD("A", FIELD("b", RECORD("B", FIELD("a", "\"A\"")))),
                   " infinite\n/fields/0/type infinite\n");
    refuses_schema(RECORD("A", FIELD("u", "[" RECORD("B", FIELD("a", "\"A\"")) ",\"A\"]")),
                   " infinite\n/fields/0/type/0 infinite\n");
    refuses_schema("{\"type\":\"array\",\"items\":" RECORD("A", FIELD("a", "\"A\"")) "}",
                   "/items infinite\n");
}

TEST(program_compile__takes_records_that_end)
{
    use_schema(RECORD("L", FIELD("value", "\"long\"") "," FIELD("next", "[\"null\",\"L\"]")));
    use_schema(RECORD("T", FIELD("kids", "{\"type\":\"array\",\"items\":\"T\"}")));
    use_schema(RECORD("M", FIELD("kids", "{\"type\":\"map\",\"values\":\"M\"}")));
    use_schema(RECORD("U", FIELD("u", "[\"U\",\"int\"]")));
}

/* A chain of records each of which holds two of the next; the last holds `last`. */
static void make_doubling(struct buf *json, int levels, const char *last)
{
    json->len = 0;
    for (int i = 0; i < levels; i++)
        assert_true(buf_printf(
            json, "{\"type\":\"record\",\"name\":\"R%d\",\"fields\":[{\"name\":\"a\",\"type\":", i));
    append(json, last, 1);
    for (int i = levels; i-- > 0;)
        if (i == levels - 1)
            append(json, "}]}", 1);
        else
            assert_true(buf_printf(json, "},{\"name\":\"b\",\"type\":\"R%d\"}]}", i + 1));
    assert_true(buf_append_byte(json, 0));
}

TEST(program_compile__refuses_values_beyond_the_record_limit_without_building_them)
{
    struct buf json = {0};
    make_doubling(&json, 100, "\"int\"");
    refuses_schema((const char *)json.ptr, " range\n");
    make_doubling(&json, 20, "\"int\"");
    use_schema((const char *)json.ptr);
    assert_int_equal(schema_initial(schema).len, 1 << 19);
    assert_int_equal(schema_program(schema)->ops[0].size_min, 1 << 19);
    buf_release(&json);
    refuses_schema(RECORD("R", FIELD("f", "{\"type\":\"fixed\",\"name\":\"F\",\"size\":2147483647}")),
                   " range\n");
    use_schema(RECORD("R", FIELD("f", "[\"null\",{\"type\":\"fixed\",\"name\":\"F\",\"size\":2147483647}]")));
    use_schema("{\"type\":\"array\",\"items\":" RECORD(
        "R", FIELD("f", "{\"type\":\"fixed\",\"name\":\"F\",\"size\":2147483647}")) "}");
    opts.missing = MISSING_ZERO;
    assert_int_equal(encode_json("[{}]"), RC_ERR);
    assert_int_equal(err.code, ERR_RECORD_TOO_LARGE);
}

TEST(program_compile__refuses_an_initial_record_that_is_too_large_though_the_smallest_is_not)
{
    struct buf json = {0}; /* a default of a megabyte, twenty times over */
    append(&json,
           "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"p\",\"type\":{\"type\":\"record\","
           "\"name\":\"P\",\"fields\":"
           "[{\"name\":\"s\",\"type\":\"string\",\"default\":\"",
           1);
    append(&json, "x", 1000000);
    append(&json, "\"}]},\"default\":{}}", 1);
    for (int i = 0; i < 20; i++)
        assert_true(buf_printf(&json, ",{\"name\":\"q%d\",\"type\":\"P\"}", i));
    append(&json, "]}", 1);
    assert_true(buf_append_byte(&json, 0));
    refuses_schema((const char *)json.ptr, " range\n");
    buf_release(&json);
}

/* A record whose arrays hold n different records, each with a zero of 12 MiB to be filled in. */
static enum rc try_zeros(int n)
{
    struct buf json = {0};
    append(&json, "{\"type\":\"record\",\"name\":\"Root\",\"fields\":[", 1);
    for (int i = 0; i < n; i++)
        assert_true(buf_printf(&json,
                               "%s{\"name\":\"a%d\",\"type\":{\"type\":\"array\",\"items\":{\"type\":"
                               "\"record\",\"name\":\"S%d\","
                               "\"fields\":[{\"name\":\"r\",\"type\":{\"type\":\"record\",\"name\":\"R%d\","
                               "\"fields\":[{\"name\":\"f\","
                               "\"type\":%s}]}}]}}}",
                               i ? "," : "", i, i, i,
                               i ? "\"F\"" : "{\"type\":\"fixed\",\"name\":\"F\",\"size\":12582912}"));
    append(&json, "]}", 1);
    assert_true(buf_append_byte(&json, 0));
    enum rc rc = try_schema((const char *)json.ptr);
    buf_release(&json);
    return rc;
}

TEST(program_compile__bounds_what_defaults_and_zeros_take)
{
    use_schema("{\"type\":\"fixed\",\"name\":\"F\",\"size\":16777216}");
    assert_int_equal(schema_initial(schema).len, LIMIT_RECORD_MAX);
    assert_int_equal(schema_initial(schema).ptr[LIMIT_RECORD_MAX - 1], 0);
    assert_int_equal(try_zeros(2), RC_OK);
    assert_int_equal(try_zeros(3), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_SCHEMA);
}

/* ---- names and printing ---- */

TEST(program_compile__knows_short_tags_that_are_borne_once)
{
    use_schema("[" RECORD("a.X", "") "," RECORD("b.X", "") "," RECORD("c.Y", "") "," RECORD(
        "c.map", "") ",{\"type\":\"map\",\"values\":"
                     "\"int\"}," RECORD("Y", "") "," RECORD("d.Z", "") "]");
    const struct program *p = schema_program(schema);
    const struct op *op = &p->ops[p->root];
    assert_int_equal(program_branch(p, op, SLICE("a.X")), 0);
    assert_int_equal(program_branch(p, op, SLICE("X")), -1);
    assert_int_equal(program_branch(p, op, SLICE("c.Y")), 2);
    assert_int_equal(program_branch(p, op, SLICE("Y")), 5);
    assert_int_equal(program_branch(p, op, SLICE("map")), 4);
    assert_int_equal(program_branch(p, op, SLICE("Z")), 6);
    assert_int_equal(program_branch(p, op, SLICE("")), -1);
}

TEST(program_print__shows_each_instruction_with_its_parts)
{
    use_schema(RECORD(
        "n.R", FIELD("a", "\"int\"") "," DEFAULT(
                   "u", "[\"null\"," RECORD("S", FIELD("r", "[\"null\",\"R\"]")) "]",
                   "null") "," FIELD("e", "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"]}")));
    text.len = 0;
    assert_true(schema_print_program(schema, &text));
    assert_slice_str(buf_slice(&text), "   0  record n.R  least 3\n"
                                       "      .a -> 1  zero <00>\n"
                                       "      .u -> 2  default <00>\n"
                                       "      .e -> 6  zero <00>\n"
                                       "   1  int  least 1\n"
                                       "   2  union nullable single  least 1\n"
                                       "      0 null -> 3\n"
                                       "      1 n.S (S) -> 4\n"
                                       "   3  null  least 0\n"
                                       "   4  record n.S  least 1\n"
                                       "      .r -> 5  zero <00>\n"
                                       "   5  union nullable single  least 1\n"
                                       "      0 null -> 3\n"
                                       "      1 n.R (R) -> 0\n"
                                       "   6  enum n.E  least 1\n"
                                       "      0 A\n"
                                       "      1 B\n"
                                       "initial <000000>\n");
}

TEST_MAIN()
