/* tests/unit/schema/test_explain.c - the second pass: every problem, where it is, in which order. */
#include "tests/unit/schema/codec_fixture.h"

#define RECORD(name, fields)       "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":[" fields "]}"
#define FIELD(name, type)          "{\"name\":\"" name "\",\"type\":" type "}"
#define DEFAULT(name, type, value) "{\"name\":\"" name "\",\"type\":" type ",\"default\":" value "}"

TEST(explain__lists_problems_in_schema_order_then_unknown_members)
{
    use_schema(RECORD("R", FIELD("a", "\"int\"") "," FIELD("b", "\"int\"") "," FIELD("c", "\"int\"")));
    refuses("{\"zz\":1,\"b\":null,\"y\":[],\"a\":\"x\"}", "/a type (int) (string)\n"
                                                          "/b type (int) (null)\n"
                                                          "/c missing (int) ()\n"
                                                          "/zz unknown () (number)\n"
                                                          "/y unknown () (array)\n");
    assert_string_equal(err.message, "5 problems; the first: At /a: Expected int, got string.");
}

TEST(explain__goes_through_records_arrays_and_maps)
{
    use_schema(RECORD("R", FIELD("m", "{\"type\":\"map\",\"values\":{\"type\":\"array\",\"items\":" RECORD(
                                          "P", FIELD("x", "\"int\"") "," FIELD("y", "\"int\"")) "}}")));
    refuses("{\"m\":{\"a/b\":[{\"x\":1,\"y\":2},{\"y\":\"1\",\"q\":0}],\"~\":[[]],\"\\u00e9\":{}}}",
            "/m/a~1b/1/x missing (int) ()\n"
            "/m/a~1b/1/y type (int) (string)\n"
            "/m/a~1b/1/q unknown () (number)\n"
            "/m/~0/0 type (record) (array)\n"
            "/m/\xc3\xa9 type (array) (object)\n");
}

TEST(explain__tells_range_and_type_in_one_answer)
{
    use_schema(RECORD("R", FIELD("n", "\"long\"") "," FIELD("s", "\"string\"")));
    refuses("{\"n\":18446744073709548794,\"s\":5}", "/n range (long) (18446744073709548794)\n"
                                                    "/s type (string) (number)\n");
}

TEST(explain__says_what_is_no_record)
{
    use_schema(RECORD("R", ""));
    refuses("null", " type (record) (null)\n");
    refuses("[]", " type (record) (array)\n");
    refuses("\"\"", " type (record) (string)\n");
    assert_int_equal(encode_json(""), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_JSON);
    assert_int_equal(err.line, 1);
    assert_int_equal(err.column, 1);
}

TEST(explain__looks_into_the_only_branch_that_was_meant)
{
    use_schema(RECORD("C", FIELD("addr", "[\"null\"," RECORD("Addr", FIELD("street", "\"string\"") "," FIELD(
                                                                         "zip", "\"int\"")) "]")));
    refuses("{\"addr\":{\"street\":\"Elm\",\"zip\":\"x9\"}}", "/addr/zip type (int) (string) in Addr\n");
    refuses("{\"addr\":{\"Addr\":{\"street\":\"Elm\"}}}", "/addr/Addr/zip missing (int) () in Addr\n");
    refuses("{\"addr\":{}}", "/addr/street missing (string) () in Addr\n"
                             "/addr/zip missing (int) () in Addr\n");
    refuses("{\"addr\":7}", "/addr type (record) (number) in Addr\n");
}

TEST(explain__guesses_the_record_by_the_names_of_its_members)
{
    use_schema(RECORD("R", FIELD("v", "[" RECORD("A", FIELD("x", "\"int\"")) "," RECORD(
                                          "B", FIELD("y", "\"int\"") "," FIELD("z", "\"int\"")) "]")));
    refuses("{\"v\":{\"y\":1}}", "/v/z missing (int) () in B\n");
    refuses("{\"v\":{\"q\":1}}", "/v no_branch (A or B) (object)\n");
    refuses("{\"v\":{\"x\":1,\"y\":2}}", "/v no_branch (A or B) (object)\n");
    refuses("{\"v\":5}", "/v no_branch (A or B) (5)\n");
    refuses("{\"v\":{\"B\":{\"y\":1}}}", "/v/B/z missing (int) () in B\n");
}

TEST(explain__tells_several_unions_apart)
{
    use_schema("{\"type\":\"array\",\"items\":[\"null\",\"int\",\"string\"]}");
    refuses("[1.5,null,true,{\"long\":5},2147483648]", "/0 type (int) (1.5) in int\n"
                                                       "/2 no_branch (null, int or string) (true)\n"
                                                       "/3 no_branch (null, int or string) (object)\n"
                                                       "/4 range (int) (2147483648) in int\n");
}

TEST(explain__lists_a_hundred_problems_at_most)
{
    use_schema("{\"type\":\"array\",\"items\":\"int\"}");
    struct buf json = {0};
    append(&json, "[\"\"", 1);
    append(&json, ",\"\"", 99);
    append(&json, "]", 1);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_ERR);
    assert_int_equal(err.problems, 100);
    assert_false(err.truncated);
    json.len--;
    append(&json, ",\"\"]", 1);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_ERR);
    assert_int_equal(err.problems, 100);
    assert_true(err.truncated);
    buf_release(&json);
}

TEST(explain__does_not_copy_a_huge_name_a_hundred_times)
{
    use_schema("{\"type\":\"map\",\"values\":{\"type\":\"array\",\"items\":\"int\"}}");
    struct buf json = {0};
    append(&json, "{\"", 1);
    append(&json, "0123456789", 200000);
    append(&json, "\":[\"\"", 1);
    append(&json, ",\"\"", 99);
    append(&json, "]}", 1);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_ERR);
    assert_int_equal(err.first->pointer.len, 2000003);
    assert_true(err.truncated);
    assert_true(arena.bytes < 3000000);
    buf_release(&json);
}

TEST(explain__cuts_what_it_shows)
{
    use_schema("{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\",\"C\",\"D\",\"E\",\"F\",\"G\","
               "\"H\",\"I\",\"J\"]}");
    struct buf json = {0};
    append(&json, "\"", 1);
    append(&json, "\xc3\xa9", 1000);
    append(&json, "\"", 1);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_ERR);
    assert_slice_str(err.first->expected, "A, B, C, D, E, F, G, H or others");
    assert_true(err.first->got.len < 70);
    buf_release(&json);
}

/* The text is too deep, and the only problem that is told points as many levels down. */
static void finds_depth(struct buf *json, const char *step, unsigned levels)
{
    struct buf pointer = {0};
    append(&pointer, step, levels);
    assert_int_equal(encode_slice(buf_slice(json)), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
    assert_int_equal(err.problems, 1);
    assert_int_equal(err.first->code, PROBLEM_DEPTH);
    assert_true(slice_eq(err.first->pointer, buf_slice(&pointer)));
    buf_release(&pointer);
    buf_release(json);
}

TEST(explain__finds_depth_before_all_else)
{
    use_schema(RECORD("L", FIELD("next", "[\"null\",\"L\"]") "," FIELD("x", "\"int\"")));
    struct buf json = {0};
    append(&json, "{\"x\":\"\",\"next\":", 1100);
    append(&json, "null", 1);
    append(&json, "}", 1100);
    finds_depth(&json, "/next", 1024);
    assert_slice_str(err.first->branch, "L");
}

TEST(explain__finds_depth_in_what_is_ignored)
{
    use_schema(RECORD("R", FIELD("a", "\"int\"")));
    opts.unknown = UNKNOWN_IGNORE;
    for (int levels = 1023; levels <= 1500; levels += 477)
        for (int inner = 0; inner < 2; inner++) {
            struct buf json = {0};
            append(&json, "{\"a\":1,\"x\":", 1);
            append(&json, inner ? "{\"y\":" : "[", levels);
            append(&json, "1", 1);
            append(&json, inner ? "}" : "]", levels);
            append(&json, "}", 1);
            if (levels == 1023) {
                assert_int_equal(encode_slice(buf_slice(&json)), RC_OK);
                buf_release(&json);
            } else {
                finds_depth(&json, "/x", 1);
            }
        }
}

TEST(explain__finds_depth_of_json_that_no_schema_could_take)
{
    use_schema(RECORD("R", FIELD("a", "\"int\"")));
    struct buf json = {0};
    append(&json, "[", 100000);
    finds_depth(&json, "/0", 2049);
    append(&json, "{\"a/b\":", 100000);
    finds_depth(&json, "/a~1b", 2049);
}

TEST(explain__finds_depth_where_several_branches_were_tried)
{
    use_schema(
        RECORD("A", FIELD("v", "[\"null\",\"A\"," RECORD("B", FIELD("v", "[\"null\",\"A\",\"B\"]")) "]")));
    struct buf json = {0};
    append(&json, "{\"v\":", 1100);
    append(&json, "null", 1);
    append(&json, "}", 1100);
    finds_depth(&json, "/v", 1); /* there it cannot be told which branch was meant */
}

TEST(explain__stays_within_bounds_where_every_branch_of_nested_unions_fails)
{
    use_schema("[\"null\"," RECORD(
        "A", FIELD("v", "[\"null\",\"A\"," RECORD("B", FIELD("v", "[\"null\",\"A\",\"B\"]")) "]")) ",\"B\"]");
    struct buf json = {0};
    append(&json, "{\"v\":", 1000);
    append(&json, "\"wrong\"", 1);
    append(&json, "}", 1000);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_RECORD);
    assert_int_equal(err.problems, 1);
    buf_release(&json);
}

/* ---- both passes against each other ---- */

static uint32_t random_below(uint32_t n)
{
    static uint64_t state = 0x853c49e6748fea9b; /* xorshift64; the same every run */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % n;
}

static void add_random(struct buf *b, int depth);

static void add_random_object(struct buf *b, int depth)
{
    static const char *const names[] = {"a",   "b",   "v",   "w",     "A",      "B",
                                        "n.B", "map", "int", "array", "string", "\\u0061"};
    uint32_t n = random_below(4), from = random_below(ARRAY_LEN(names)), by = random_below(8) ? 5 : 0;
    append(b, "{", 1);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(buf_printf(b, "%s\"%s\":", i ? "," : "", names[(from + i * by) % ARRAY_LEN(names)]));
        add_random(b, depth + 1);
    }
    append(b, "}", 1);
}

static void add_random(struct buf *b, int depth) /* at most 6 deep */
{
    static const char *const scalars[] = {"1",     "null",       "\"a\"",       "2.5",    "\"NaN\"",
                                          " true", "3000000000", "\"\\u0061\"", "\"zz\"", "1e400"};
    uint32_t kind = random_below(depth == 6 ? 6 : 12);
    if (kind < 6) {
        append(b, scalars[random_below(ARRAY_LEN(scalars))], 1);
    } else if (kind < 8) {
        append(b, "[", 1);
        for (uint32_t i = 0, n = random_below(4); i < n; i++) {
            append(b, i ? "," : "", 1);
            add_random(b, depth + 1);
        }
        append(b, "]", 1);
    } else {
        add_random_object(b, depth);
    }
}

/* What was taken prints as JSON that is taken for the same bytes. */
static void check_taken(struct slice json)
{
    struct buf avro = {0};
    assert_true(buf_append(&avro, buf_slice(&out)));
    for (int form = JSON_PLAIN; form <= JSON_AVRO; form++) {
        text.len = 0;
        assert_int_equal(codec_to_json(schema, (enum json_form)form, buf_slice(&avro), &text, &err), RC_OK);
        opts = (struct codec_opts){.form = (enum json_form)form};
        if (encode_slice(buf_slice(&text)) || !slice_eq(buf_slice(&out), buf_slice(&avro)))
            fail_msg("%.*s\nprints as %.*s", (int)json.len, (const char *)json.ptr, (int)text.len,
                     (const char *)text.ptr);
    }
    buf_release(&avro);
}

TEST(explain__agrees_with_the_first_pass_on_random_values)
{
    static const char *const schemas[] = {
        "[\"null\"," RECORD(
            "A",
            DEFAULT("a", "[\"null\",\"A\",{\"type\":\"map\",\"values\":\"A\"},\"int\"]", "null") "," DEFAULT(
                "b", "\"int\"",
                "3")) "," RECORD("B",
                                 FIELD("a", "[\"A\",\"B\",\"string\"]") "," DEFAULT(
                                     "v", "[\"null\",\"long\"]",
                                     "null")) ","
                                              "{\"type\":\"map\",\"values\":[\"null\",\"A\",\"B\",\"double\","
                                              "{\"type\":\"array\",\"items\":[\"A\",\"B\",\"null\",\"int\","
                                              "{\"type\":\"map\",\"values\":\"A\"}]}]}]",
        RECORD("A", FIELD("a", "[\"null\",\"A\"]") "," DEFAULT(
                        "A", "[\"null\",{\"type\":\"map\",\"values\":[\"null\",\"A\"]}]",
                        "null") "," DEFAULT("b",
                                            "{\"type\":\"array\",\"items\":[" RECORD(
                                                "n.B", FIELD("a", "\"int\"")) ",\"int\"]}",
                                            "[]")),
        "[" RECORD("A", DEFAULT("a", "\"int\"", "0") "," DEFAULT("b", "\"int\"", "0") "," DEFAULT(
                            "v", "\"int\"",
                            "0")) "," RECORD("B",
                                             FIELD("a", "\"int\"") "," DEFAULT(
                                                 "map", "[\"null\",\"A\",\"B\"]",
                                                 "null")) ",{\"type\":\"enum\",\"name\":\"e.map\","
                                                          "\"symbols\":[\"a\",\"b\"]},\"string\",\"float\",{"
                                                          "\"type\":\"map\",\"values\":[\"A\",\"B\"]}]",
        "{\"type\":\"map\",\"values\":[\"null\",{\"type\":\"map\",\"values\":[\"int\",\"long\",\"float\","
        "\"double\",\"boolean\",\"bytes\","
        "{\"type\":\"fixed\",\"name\":\"A\",\"size\":1},{\"type\":\"enum\",\"name\":\"B\",\"symbols\":[\"a\","
        "\"b\"]}]}]}",
        RECORD("A", DEFAULT("a", "\"int\"", "1") "," FIELD("b", "\"string\"") "," DEFAULT(
                        "v", "[\"null\",\"A\"]",
                        "null") "," DEFAULT("w", "{\"type\":\"array\",\"items\":\"A\"}", "[]")),
    };
    struct buf json = {0};
    for (size_t s = 0; s < ARRAY_LEN(schemas); s++) {
        use_schema(schemas[s]);
        unsigned taken = 0;
        for (int i = 0; i < 4000; i++) {
            json.len = 0;
            add_random(&json, 0);
            if (random_below(10) == 0)
                json.ptr[random_below((uint32_t)json.len)] = (uint8_t)random_below(256);
            opts = (struct codec_opts){.form = random_below(4) ? JSON_PLAIN : JSON_AVRO,
                                       .missing = random_below(3),
                                       .unknown = random_below(2)};
            if (encode_slice(buf_slice(&json)) == RC_OK) {
                taken++;
                check_taken(buf_slice(&json));
            } else if (err.code != ERR_BAD_JSON && (err.code != ERR_BAD_RECORD || !err.first)) {
                fail_msg("%.*s: %s", (int)json.len, (const char *)json.ptr, err.message);
            }
            arena_reset(&arena);
        }
        assert_true(taken > 10);
    }
    buf_release(&json);
}

TEST_MAIN()
