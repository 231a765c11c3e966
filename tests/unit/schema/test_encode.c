/* tests/unit/schema/test_encode.c - JSON to Avro binary: values, order of fields, unions, limits, work. */
#include "tests/unit/schema/codec_fixture.h"

#define RECORD(name, fields)       "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":[" fields "]}"
#define FIELD(name, type)          "{\"name\":\"" name "\",\"type\":" type "}"
#define DEFAULT(name, type, value) "{\"name\":\"" name "\",\"type\":" type ",\"default\":" value "}"

/* ---- scalars ---- */

TEST(codec_from_json__takes_integers_however_they_are_written)
{
    use_schema("\"int\"");
    encodes("1.0", "02");
    encodes("1e2", "c801");
    encodes("10e-1", "02");
    encodes("-0", "00");
    encodes("-0.0", "00");
    encodes("2147483647", "feffffff0f");
    encodes("-2147483648", "ffffffff0f");
    encodes("2147483647.000", "feffffff0f");
    refuses("2147483648", " range (int) (2147483648)\n");
    refuses("-2147483649", " range (int) (-2147483649)\n");
    refuses("18446744073709551617", " range (int) (18446744073709551617)\n"); /* 1 if it wrapped */
    refuses("1e30", " range (int) (1e30)\n");
    refuses("1.5", " type (int) (1.5)\n");
    refuses("\"7\"", " type (int) (string)\n");
    refuses("true", " type (int) (boolean)\n");
}

TEST(codec_from_json__keeps_all_bits_of_a_long)
{
    use_schema("\"long\"");
    encodes("9223372036854775807", "feffffffffffffffff01");
    encodes("-9223372036854775808", "ffffffffffffffffff01");
    encodes("9007199254740993", "8280808080808020");
    refuses("9223372036854775808", " range (long) (9223372036854775808)\n");
    refuses("-9223372036854775809", " range (long) (-9223372036854775809)\n");
    refuses("0.5", " type (long) (0.5)\n");
}

TEST(codec_from_json__rounds_doubles_once)
{
    use_schema("\"double\"");
    encodes("0.1", "9a9999999999b93f");
    encodes("1e22", "92d54d06cff08044");
    encodes("1e23", "f64ae1c7022db544");
    encodes("123456789.25", "00000055346f9d41");
    encodes("9007199254740993", "0000000000004043");
    encodes("5e-324", "0100000000000000");
    encodes("2.2250738585072011e-308", "ffffffffffff0f00");
    encodes("-0", "0000000000000080");
    encodes("12345678901234567890", "e1639d31956ae543");
    encodes("1.7976931348623157e308", "ffffffffffffef7f");
    encodes("0.000001", "8dedb5a0f7c6b03e");
    use_schema("\"float\"");
    encodes("0.1", "cdcccc3d");
    encodes("3.4028235e38", "ffff7f7f");
    encodes("16777217", "0000804b");
    encodes("1e10", "f9021550");
    encodes("1.5", "0000c03f");
    encodes("1.0000002980232238769531250001", "0300803f");
}

TEST(codec_from_json__takes_the_words_that_are_no_numbers_however_escaped)
{
    use_schema("\"double\"");
    encodes("\"N\\u0061N\"", "000000000000f87f");
    encodes("\"\\u002d\\u0049\\u006e\\u0066\\u0069\\u006e\\u0069\\u0074\\u0079\"", "000000000000f0ff");
    use_schema("[\"null\",\"float\"]");
    encodes("\"Infinit\\u0079\"", "020000807f");
}

TEST(codec_from_json__leaves_bad_numbers_to_the_second_pass)
{
    use_schema("\"double\"");
    static const char *const bad[] = {"01", "-",   "1.",  ".5",  "1e",  "1e+",
                                      "+1", "0x1", "1 2", "--1", "NaN", "1a"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_equal(encode_json(bad[i]), RC_ERR);
        assert_int_equal(err.code, ERR_BAD_JSON);
    }
    refuses("1e400", " range (double) (1e400)\n");
    encodes("1e-400", "0000000000000000");
    encodes("-1e-400", "0000000000000080");
    encodes("\"NaN\"", "000000000000f87f");
    encodes("\"-Infinity\"", "000000000000f0ff");
    refuses("\"nan\"", " type (double) (string)\n");
    refuses("\"N\\u0061n\"", " type (double) (string)\n");
}

TEST(codec_from_json__takes_strings_of_every_length)
{
    use_schema("\"string\"");
    struct buf json = {0};
    for (int n = 0; n < 200; n++) {
        json.len = 0;
        append(&json, "\"", 1);
        append(&json, "x", n);
        append(&json, "\"", 1);
        assert_int_equal(encode_slice(buf_slice(&json)), RC_OK);
        size_t prefix = n < 64 ? 1 : 2;
        assert_int_equal(out.len, (size_t)n + prefix);
        for (int i = 0; i < n; i++)
            assert_int_equal(out.ptr[prefix + (size_t)i], 'x');
    }
    buf_release(&json);
}

TEST(codec_from_json__finds_what_is_special_at_every_place_of_a_string)
{
    use_schema("\"string\"");
    struct buf json = {0};
    for (int n = 0; n < 40; n++) {
        json.len = 0;
        append(&json, "\"", 1);
        append(&json, "x", n);
        append(&json, "\\u00e9", 1); /* two bytes */
        append(&json, "y\"", 1);
        assert_int_equal(encode_slice(buf_slice(&json)), RC_OK);
        assert_int_equal(out.len, n + 4);
        assert_int_equal(out.ptr[n + 1], 0xc3);
        json.ptr[n + 1] = '\n';
        assert_int_equal(encode_slice(buf_slice(&json)), RC_ERR);
        assert_int_equal(err.code, ERR_BAD_JSON);
        assert_int_equal(err.column, n + 2);
        json.ptr[n + 1] = 0x80;
        assert_int_equal(encode_slice(buf_slice(&json)), RC_ERR);
        assert_int_equal(err.column, n + 2);
    }
    buf_release(&json);
}

TEST(codec_from_json__undoes_escapes)
{
    use_schema("\"string\"");
    encodes("\"a\\u0000b\"", "06610062");
    encodes("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "10225c2f080c0a0d09");
    encodes("\"\\ud83d\\ude00\"", "08f09f9880");
    encodes("\"\xf0\x9f\x98\x80\"", "08f09f9880");
    static const char *const bad[] = {"\"\\ud83d\"", "\"\\udfff\"", "\"\\ud83dx\"", "\"\\ud83d\\ud83d\"",
                                      "\"\\u12\"",   "\"\\x\"",     "\"\xc3(\"",    "\"\xc0\x80\"",
                                      "\"abc",       "\"abc\\\""};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_equal(encode_json(bad[i]), RC_ERR);
        assert_int_equal(err.code, ERR_BAD_JSON);
    }
}

TEST(codec_from_json__takes_bytes_as_code_points)
{
    use_schema("\"bytes\"");
    encodes("\"a\\u0000b\xc3\xbf\"", "08610062ff");
    encodes("\"\\u00db\\u0080\"", "04db80");
    refuses("\"a\\u0100\"", " encoding (code points up to U+00FF) (U+0100 at index 1)\n");
    use_schema("{\"type\":\"fixed\",\"name\":\"F\",\"size\":2}");
    encodes("\"\\u00ff\xc3\xbe\"", "fffe");
    refuses("\"abc\"", " size (2 bytes) (3 bytes)\n");
    refuses("\"\"", " size (2 bytes) (0 bytes)\n");
}

/* ---- white space and ends ---- */

TEST(codec_from_json__allows_white_space_wherever_json_does)
{
    use_schema(
        RECORD("R", FIELD("a", "\"int\"") "," FIELD("m", "{\"type\":\"map\",\"values\":\"int\"}") "," FIELD(
                        "u", "[\"null\",\"string\"]")));
    encodes(" \t\r\n{ \"a\" : 1 , \"m\" : { \"k\" : 2 , \"l\" : 3 } , \"u\" : { \"string\" : \"x\" } } \n",
            "0204026b04026c0600020278");
    encodes("{\"a\":1,\"m\":{ },\"u\": null}", "020000");
}

TEST(codec_from_json__wants_the_text_to_end_where_the_value_does)
{
    use_schema("{\"type\":\"array\",\"items\":\"int\"}");
    static const char *const bad[] = {"[1]]", "[1],", "[1]x", "[1",   "[1,", "[1,]",
                                      "[",    "",     " ",    "[1][", "[]]", "[,1]"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_equal(encode_json(bad[i]), RC_ERR);
        assert_int_equal(err.code, ERR_BAD_JSON);
    }
    use_schema("\"null\"");
    encodes(" null ", "");
    assert_int_equal(encode_json("nul"), RC_ERR);
    assert_int_equal(encode_json("nulll"), RC_ERR);
}

/* ---- records ---- */

static const char *const abc =
    RECORD("R", FIELD("a", "\"int\"") "," DEFAULT("b", "\"string\"", "\"d\"") "," FIELD("c", "\"int\""));

TEST(codec_from_json__takes_fields_in_any_order)
{
    use_schema(abc);
    static const char *const orders[] = {
        "{\"a\":1,\"b\":\"x\",\"c\":2}",         "{\"a\":1,\"c\":2,\"b\":\"x\"}",
        "{\"b\":\"x\",\"a\":1,\"c\":2}",         "{\"b\":\"x\",\"c\":2,\"a\":1}",
        "{\"c\":2,\"a\":1,\"b\":\"x\"}",         "{\"c\":2,\"b\":\"x\",\"a\":1}",
        "{\"\\u0063\":2,\"b\" :\"x\" ,\"a\":1}",
    };
    for (size_t i = 0; i < ARRAY_LEN(orders); i++)
        encodes(orders[i], "02027804");
    encodes("{\"a\":1,\"c\":2}", "02026404");
    encodes("{\"c\":2,\"a\":1}", "02026404");
}

TEST(codec_from_json__finds_a_field_that_comes_twice_in_any_order)
{
    use_schema(abc);
    static const char *const twice[] = {
        "{\"a\":1,\"a\":1,\"c\":2}",
        "{\"a\":1,\"c\":2,\"a\":1}",
        "{\"c\":2,\"c\":2,\"a\":1}",
        "{\"c\":2,\"a\":1,\"c\":2}",
        "{\"a\":1,\"c\":2,\"b\":\"\",\"b\":\"\"}",
        "{\"a\":1,\"c\":2,\"\\u0063\":2}",
    };
    for (size_t i = 0; i < ARRAY_LEN(twice); i++) {
        assert_int_equal(encode_json(twice[i]), RC_ERR);
        assert_int_equal(err.code, ERR_BAD_JSON);
        assert_int_equal(err.first->code, PROBLEM_DUPLICATE);
    }
}

TEST(codec_from_json__follows_the_option_for_missing_fields)
{
    use_schema(abc);
    opts.missing = MISSING_ZERO;
    encodes("{}", "00026400");
    opts.missing = MISSING_REJECT;
    refuses("{\"a\":1,\"c\":2}", "/b missing (string) ()\n");
    encodes("{\"a\":1,\"b\":\"\",\"c\":2}", "020004");
}

TEST(codec_from_json__follows_the_option_for_unknown_members)
{
    use_schema(abc);
    refuses("{\"a\":1,\"zz\":{\"a\":1},\"c\":2}", "/zz unknown () (object)\n");
    opts.unknown = UNKNOWN_IGNORE;
    encodes("{\"z\":[1,{\"a\":[]}],\"a\":1,\"zz\":{\"a\":1},\"c\":2,\"\":null}", "02026404");
    assert_int_equal(encode_json("{\"a\":1,\"c\":2,\"z\":1,\"\\u007a\":2}"), RC_ERR);
    assert_slice_str(err.first->pointer, "/z");
    assert_int_equal(encode_json("{\"a\":1,\"c\":2,\"z\":[{\"k\":1,\"k\":2}]}"), RC_ERR);
    assert_slice_str(err.first->pointer, "/z/0/k");
    assert_int_equal(encode_json("{\"a\":1,\"c\":2,\"z\":[1,]}"), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_JSON);
}

/* n fields f0, f1, ... of type int; every third has a default. */
static void use_wide_record(int n)
{
    struct buf json = {0};
    append(&json, "{\"type\":\"record\",\"name\":\"R\",\"fields\":[", 1);
    for (int i = 0; i < n; i++)
        assert_true(buf_printf(&json, "%s{\"name\":\"f%d\",\"type\":\"int\"%s}", i ? "," : "", i,
                               i % 3 == 0 ? ",\"default\":-1" : ""));
    append(&json, "]}", 1);
    assert_true(buf_append_byte(&json, 0));
    use_schema((const char *)json.ptr);
    buf_release(&json);
}

TEST(codec_from_json__takes_2000_fields_backwards_without_much_work)
{
    enum { N = 2000 };
    use_wide_record(N);
    struct buf json = {0}, forwards = {0};
    for (int backwards = 0; backwards < 2; backwards++) {
        json.len = 0;
        for (int i = 0; i < N; i++)
            assert_true(buf_printf(&json, "%s\"f%d\":%d", i ? "," : "{", backwards ? N - 1 - i : i,
                                   backwards ? N - 1 - i : i));
        append(&json, "}", 1);
        assert_true(steps_of(buf_slice(&json)) <= 2 * N + 2);
        if (backwards)
            assert_true(slice_eq(buf_slice(&out), buf_slice(&forwards)));
        else
            assert_true(buf_append(&forwards, buf_slice(&out)));
    }
    buf_release(&json);
    buf_release(&forwards);
}

TEST(codec_from_json__looks_at_records_out_of_order_within_records_out_of_order_but_twice)
{
    use_schema(RECORD(
        "R", FIELD("n", "[\"null\",\"R\"]") "," DEFAULT("d", "\"int\"", "1") "," FIELD("x", "\"int\"")));
    struct buf json = {0};
    enum { DEPTH = 1000 };
    append(&json, "{\"x\":1,\"d\":1,\"n\":", DEPTH);
    append(&json, "null", 1);
    append(&json, "}", DEPTH);
    assert_true(steps_of(buf_slice(&json)) <= 4 * DEPTH + 4);
    buf_release(&json);
}

TEST(codec_from_json__starts_over_once_when_a_field_it_took_for_absent_comes_late)
{
    use_schema(RECORD("R", DEFAULT("d", "\"int\"", "7") "," FIELD("n", "[\"null\",\"R\"]")));
    encodes("{\"n\":{\"n\":null,\"d\":2},\"d\":1}", "02020400");
    encodes("{\"n\":{\"n\":null},\"d\":1}", "02020e00");
    encodes("{\"n\":{\"n\":null,\"d\":2}}", "0e020400");
}

/* ---- arrays and maps ---- */

TEST(codec_from_json__writes_one_block_whatever_its_count)
{
    use_schema("{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":\"null\"}}");
    static const int counts[] = {0, 1, 63, 64, 65, 8191, 8192, 70000};
    struct buf json = {0}, want = {0};
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        json.len = want.len = 0;
        append(&json, "[", 1);
        uint8_t count[10];
        size_t n = (size_t)(encode_varint(count, (uint64_t)counts[i] << 1) - count);
        if (counts[i])
            assert_true(buf_append(&want, slice_of(count, n)));
        for (int k = 0; k < counts[i]; k++) { /* each of them holds k % 70 nulls */
            append(&json, k ? ",[" : "[", 1);
            for (int z = 0; z < k % 70; z++)
                append(&json, z ? ",null" : "null", 1);
            append(&json, "]", 1);
            n = (size_t)(encode_varint(count, (uint64_t)(k % 70) << 1) - count);
            assert_true(buf_append(&want, slice_of(count, n)));
            if (k % 70)
                assert_true(buf_append_byte(&want, 0));
        }
        append(&json, "]", 1);
        assert_true(buf_append_byte(&want, 0));
        assert_int_equal(encode_slice(buf_slice(&json)), RC_OK);
        assert_true(slice_eq(buf_slice(&out), buf_slice(&want)));
    }
    buf_release(&json);
    buf_release(&want);
}

TEST(codec_from_json__finds_a_key_that_stands_twice_among_few_and_many)
{
    use_schema("{\"type\":\"map\",\"values\":\"int\"}");
    encodes("{\"k\":1,\"k\\u0000\":2}", "04026b02046b000400");
    for (int n = 1; n < 100; n++)
        for (int again = 0; again < n; again += 1 + n / 7) {
            struct buf json = {0};
            for (int i = 0; i < n; i++)
                assert_true(buf_printf(&json, "%s\"key number %d\":1", i ? "," : "{", i));
            append(&json, "}", 1);
            assert_int_equal(encode_slice(buf_slice(&json)), RC_OK);
            json.len--;
            assert_true(buf_printf(&json, ",\"\\u006bey number %d\":1}", again));
            assert_int_equal(encode_slice(buf_slice(&json)), RC_ERR);
            assert_int_equal(err.first->code, PROBLEM_DUPLICATE);
            buf_release(&json);
        }
}

TEST(codec_from_json__keeps_the_names_of_maps_in_maps_apart)
{
    use_schema("{\"type\":\"map\",\"values\":{\"type\":\"map\",\"values\":\"int\"}}");
    struct buf json = {0};
    for (int i = 0; i < 50; i++) {
        assert_true(buf_printf(&json, "%s\"k%d\":{", i ? "," : "{", i));
        for (int k = 0; k < 50; k++)
            assert_true(buf_printf(&json, "%s\"k%d\":1", k ? "," : "", k));
        append(&json, "}", 1);
    }
    append(&json, "}", 1);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_OK);
    buf_release(&json);
}

/* ---- depth ---- */

TEST(codec_from_json__limits_the_depth_but_does_not_count_tags)
{
    use_schema(RECORD("L", FIELD("next", "[\"null\",\"L\",\"int\"]")));
    struct buf json = {0};
    for (int tagged = 0; tagged < 2; tagged++)
        for (int depth = 1023; depth <= 1025; depth++) {
            json.len = 0;
            append(&json, tagged ? "{\"next\":{\"L\":" : "{\"next\":", depth - 1);
            append(&json, "{\"next\":null}", 1);
            append(&json, tagged ? "}}" : "}", depth - 1);
            enum rc rc = encode_slice(buf_slice(&json));
            assert_int_equal(rc, depth <= 1024 ? RC_OK : RC_ERR);
            if (rc)
                assert_int_equal(err.code, ERR_TOO_DEEP);
        }
    json.len = 0;
    append(&json, "[", 100000);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
    buf_release(&json);
}

/* What is filled in counts too: what is taken must be readable. */
TEST(codec_from_json__limits_the_depth_of_what_it_fills_in)
{
    struct buf json = {0};
    append(&json, "{\"type\":\"record\",\"name\":\"L\",\"fields\":[{\"name\":\"d\",\"type\":", 1);
    append(&json, RECORD("N", FIELD("n", "[\"null\",\"N\"]")) ",\"default\":", 1);
    append(&json, "{\"n\":", 100);
    append(&json, "null", 1);
    append(&json, "}", 100);
    append(&json, "},{\"name\":\"next\",\"type\":[\"null\",\"L\"]}]}", 1);
    assert_true(buf_append_byte(&json, 0));
    use_schema((const char *)json.ptr);
    for (int zero = 0; zero < 2; zero++) {
        opts.missing = zero ? MISSING_ZERO : MISSING_DEFAULT;
        for (int depth = 924; depth <= 925; depth++) {
            json.len = 0;
            append(&json, "{\"d\":{\"n\":null},\"next\":", depth - 1);
            append(&json, "{\"next\":null}", 1);
            append(&json, "}", depth - 1);
            enum rc rc = encode_slice(buf_slice(&json));
            assert_int_equal(rc, depth == 924 ? RC_OK : RC_ERR);
            text.len = 0;
            if (rc)
                assert_int_equal(err.code, ERR_TOO_DEEP);
            else
                assert_int_equal(codec_to_json(schema, JSON_PLAIN, buf_slice(&out), &text, &err), RC_OK);
        }
    }
    buf_release(&json);
}

TEST(codec_from_json__tells_of_the_depth_that_it_would_fill_in_also_inside_a_union)
{
    use_schema(RECORD("L", FIELD("next", "[\"null\",\"L\"," RECORD(
                                             "M", DEFAULT("a", "{\"type\":\"array\",\"items\":\"int\"}",
                                                          "[]") "," FIELD("x", "\"int\"")) "]")));
    struct buf json = {0};
    for (int depth = 1022; depth <= 1023; depth++) {
        json.len = 0;
        append(&json, "{\"next\":", depth);
        append(&json, "{\"x\":1}", 1);
        append(&json, "}", depth);
        assert_int_equal(encode_slice(buf_slice(&json)), depth == 1022 ? RC_OK : RC_ERR);
    }
    assert_int_equal(err.code, ERR_TOO_DEEP);
    buf_release(&json);
}

/* ---- unions ---- */

TEST(codec_from_json__takes_a_nullable_value_bare_or_tagged)
{
    use_schema("[\"null\",\"string\"]");
    encodes("null", "00");
    encodes("\"x\"", "020278");
    encodes("{\"string\":\"x\"}", "020278");
    encodes("{\"\\u0073tring\" : \"x\" }", "020278");
    refuses("{\"string\":\"x\",\"y\":1}", " type (string) (object) in string\n");
    refuses("{\"null\":null}", " type (string) (object) in string\n");
    refuses("{\"string\":5}", "/string type (string) (number) in string\n");
    refuses("5", " type (string) (number) in string\n");
}

TEST(codec_from_json__wants_tags_in_the_form_of_the_specification)
{
    use_schema("[\"null\",\"string\",\"int\"]");
    opts.form = JSON_AVRO;
    encodes("null", "00");
    encodes("{\"int\":1}", "0402");
    refuses("1", " no_branch (null, string or int) (1)\n");
    refuses("{\"int\":1,\"string\":\"x\"}", " no_branch (null, string or int) (object)\n");
    refuses("{\"null\":null}", " no_branch (null, string or int) (object)\n");
    refuses("{\"int\":\"x\"}", "/int type (int) (string) in int\n");
}

TEST(codec_from_json__takes_short_tags_that_only_one_branch_bears)
{
    use_schema("[\"null\"," RECORD("fin.Card", FIELD("no", "\"string\"")) "," RECORD(
        "x.Cash", FIELD("n", "\"int\"")) "," RECORD("y.Cash", FIELD("n", "\"int\"")) "]");
    encodes("{\"fin.Card\":{\"no\":\"4\"}}", "020234");
    encodes("{\"Card\":{\"no\":\"4\"}}", "020234");
    encodes("{\"y.Cash\":{\"n\":4}}", "0608");
    refuses("{\"Cash\":{\"n\":4}}", " no_branch (null, fin.Card, x.Cash or y.Cash) (object)\n");
}

TEST(codec_from_json__reads_one_value_branch_bare_before_tagged)
{
    use_schema("[\"null\",{\"type\":\"map\",\"values\":[\"int\",{\"type\":\"array\",\"items\":\"int\"}]}]");
    encodes_as("{\"map\":5}", "{\"map\":{\"map\":{\"int\":5}}}");
    encodes_as("{\"map\":{\"x\":1}}", "{\"map\":{\"x\":{\"int\":1}}}");
    encodes_as("{\"map\":{\"map\":1}}", "{\"map\":{\"map\":{\"int\":1}}}");
    use_schema("[\"null\"," RECORD("R", FIELD("R", "[\"null\",\"R\"]")) "]");
    encodes_as("{\"R\":null}", "{\"R\":{\"R\":null}}");
    encodes_as("{\"R\":{\"R\":null}}", "{\"R\":{\"R\":{\"R\":{\"R\":null}}}}");
}

TEST(codec_from_json__reads_a_tag_before_bare_where_there_are_more_branches)
{
    use_schema("[\"null\",\"int\",{\"type\":\"map\",\"values\":\"int\"}]");
    encodes_as("{\"int\":5}", "{\"int\":5}");
    encodes_as("{\"map\":{\"int\":5}}", "{\"map\":{\"int\":5}}");
    encodes_as("{\"map\":5}", "{\"map\":{\"map\":5}}");
    encodes_as("{\"int\":5,\"map\":6}", "{\"map\":{\"int\":5,\"map\":6}}");
}

TEST(codec_from_json__gives_a_number_to_the_first_branch_that_holds_it)
{
    use_schema("[\"int\",\"long\",\"float\",\"double\"]");
    encodes_as("5", "{\"int\":5}");
    encodes_as("5.0", "{\"int\":5}");
    encodes_as("3000000000", "{\"long\":3000000000}");
    encodes_as("1.5", "{\"double\":1.5}");
    use_schema("[\"float\",\"int\",\"double\"]");
    encodes_as("5", "{\"float\":5.0}");
    encodes_as("16777217", "{\"int\":16777217}");
    encodes_as("9007199254740992", "{\"float\":9007199000000000.0}");
    encodes_as("9007199254740994", "{\"double\":9007199254740994.0}");
    encodes_as("9007199254740993", "{\"double\":9007199254740992.0}");
    encodes_as("1e300", "{\"double\":1e300}");
    use_schema("[\"null\",\"string\",\"float\"]");
    encodes_as("0.5", "{\"float\":0.5}");
    refuses("1e300", " range (float) (1e300) in float\n");
}

TEST(codec_from_json__gives_a_string_to_the_first_branch_that_takes_it)
{
    const char *e = "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"]}";
    char json[512];
    snprintf(json, sizeof json,
             "[\"null\",\"double\",%s,{\"type\":\"fixed\",\"name\":\"F\",\"size\":2},\"bytes\",\"string\"]",
             e);
    use_schema(json);
    encodes_as("\"B\"", "{\"E\":\"B\"}");
    encodes_as("\"\\u0042\"", "{\"E\":\"B\"}");
    encodes_as("\"xy\"", "{\"F\":\"xy\"}");
    encodes_as("\"xyz\"", "{\"bytes\":\"xyz\"}");
    encodes_as("\"NaN\"", "{\"bytes\":\"NaN\"}");
    encodes_as("\"\xe2\x82\xac\"", "{\"string\":\"\xe2\x82\xac\"}");
    snprintf(json, sizeof json, "[\"double\",%s,\"float\"]", e);
    use_schema(json);
    encodes_as("\"NaN\"", "{\"double\":\"NaN\"}");
    refuses("\"C\"", " symbol (A or B) (\"C\") in E\n");
}

TEST(codec_from_json__gives_an_object_to_the_record_that_needs_no_default)
{
    use_schema("[" RECORD("A", DEFAULT("p", "\"string\"", "\"\"")) "," RECORD(
        "B", DEFAULT("q", "\"string\"",
                     "\"\"")) "," RECORD("C", FIELD("r", "\"int\"") "," DEFAULT("s", "\"int\"", "0")) "]");
    encodes_as("{\"q\":\"hi\"}", "{\"B\":{\"q\":\"hi\"}}");
    encodes_as("{\"r\":1}", "{\"C\":{\"r\":1,\"s\":0}}");
    refuses("{}", " ambiguous (A or B) (object)\n");
    opts.missing = MISSING_REJECT;
    refuses("{\"r\":1}", "/s missing (int) () in C\n");
    opts.missing = MISSING_ZERO;
    encodes_as("{\"s\":1}", "{\"C\":{\"r\":0,\"s\":1}}");
}

TEST(codec_from_json__ignores_members_only_where_no_branch_takes_them)
{
    use_schema("[" RECORD("A", FIELD("p", "\"int\"")) "," RECORD(
        "B", FIELD("p", "\"int\"") "," FIELD("q", "\"int\"")) "]");
    opts.unknown = UNKNOWN_IGNORE;
    encodes_as("{\"p\":1,\"q\":2}", "{\"B\":{\"p\":1,\"q\":2}}");
    encodes_as("{\"p\":1,\"z\":2}", "{\"A\":{\"p\":1}}");
    refuses("{\"p\":1,\"q\":2,\"z\":3}", " ambiguous (A or B) (object)\n");
    encodes_as("{\"A\":{\"p\":1,\"z\":2}}", "{\"A\":{\"p\":1}}");
    encodes_as("{\"A\":1,\"p\":2}", "{\"A\":{\"p\":2}}");
}

TEST(codec_from_json__ignores_members_without_defaults_before_it_ignores_them_with_defaults)
{
    use_schema("[" RECORD("A", FIELD("p", "\"int\"")) "," RECORD(
        "B", FIELD("p", "\"int\"") "," DEFAULT("q", "\"int\"", "0")) "," RECORD("C", DEFAULT("r", "\"int\"",
                                                                                             "7")) "]");
    opts.unknown = UNKNOWN_IGNORE;
    encodes_as("{\"p\":1}", "{\"A\":{\"p\":1}}");
    encodes_as("{\"p\":1,\"z\":2}", "{\"A\":{\"p\":1}}");
    encodes_as("{\"z\":2,\"r\":1,\"y\":{}}", "{\"C\":{\"r\":1}}");
    encodes_as("{\"z\":2}", "{\"C\":{\"r\":7}}");
    refuses("{\"p\":1,\"q\":2,\"z\":3}", " ambiguous (A or B) (object)\n");
    opts.missing = MISSING_ZERO;
    encodes_as("{\"p\":1,\"z\":2}", "{\"A\":{\"p\":1}}");
    encodes_as("{\"z\":2}", "{\"C\":{\"r\":7}}");
}

/* What a record in a record may do goes by the whole attempt: no defaults inside of what needs none. */
TEST(codec_from_json__fills_in_no_default_inside_an_attempt_that_takes_none)
{
    const char *inner = "[\"int\"," RECORD("I", FIELD("a", "\"int\"")) "," RECORD(
        "J", FIELD("a", "\"int\"") "," DEFAULT("b", "\"int\"", "0")) "]";
    char union_text[512];
    snprintf(union_text, sizeof union_text,
             "[" RECORD("A", FIELD("u", "%s")) "," RECORD("B", FIELD("u", "\"J\"")) "]", inner);
    use_schema(union_text);
    opts.unknown = UNKNOWN_IGNORE;
    encodes_as("{\"u\":{\"a\":1},\"z\":1}", "{\"A\":{\"u\":{\"I\":{\"a\":1}}}}");
    encodes_as("{\"u\":{\"a\":1}}", "{\"A\":{\"u\":{\"I\":{\"a\":1}}}}");
}

TEST(codec_from_json__does_not_ignore_a_tag)
{
    use_schema("[\"null\"," RECORD("A", DEFAULT("p", "\"int\"", "0")) "]");
    opts.unknown = UNKNOWN_IGNORE;
    encodes_as("{\"A\":{\"p\":1,\"z\":2}}", "{\"A\":{\"p\":1}}");
    refuses("{\"A\":{\"p\":\"x\"}}", "/A/p type (int) (string) in A\n");
    encodes_as("{\"A\":{\"p\":1},\"z\":2}", "{\"A\":{\"p\":0}}");
}

/* 100 items take a count of two bytes, which is written when all else stands. */
TEST(codec_from_json__counts_items_once_however_often_they_were_tried)
{
    struct buf json = {0}, want = {0};
    append(&json, "{\"map\":[0", 1);
    append(&json, ",0", 99);
    append(&json, "]}", 1);
    assert_true(buf_printf(&want, "{\"map\":%.*s}", (int)json.len, (const char *)json.ptr));
    assert_true(buf_append_byte(&json, 0) && buf_append_byte(&want, 0));
#define ITEMS "{\"type\":\"array\",\"items\":\"int\"}"
    use_schema("[\"null\",{\"type\":\"map\",\"values\":" ITEMS "}]");
    encodes_as((const char *)json.ptr, (const char *)want.ptr);
    use_schema("[" RECORD("map", FIELD("map", ITEMS)) "," RECORD(
        "more", FIELD("map", ITEMS) "," FIELD("x", "\"int\"")) "]");
    encodes_as((const char *)json.ptr, (const char *)want.ptr);
    buf_release(&json);
    buf_release(&want);
}

/* The steps for `open` nested `depth` times around null. */
static uint64_t steps_of_nested(const char *open, int depth)
{
    struct buf json = {0};
    append(&json, open, depth);
    append(&json, "null", 1);
    append(&json, "}", depth);
    uint64_t steps = steps_of(buf_slice(&json));
    buf_release(&json);
    return steps;
}

TEST(codec_from_json__resolves_nested_unions_with_linear_work)
{
    /* Each level may be A, or B, which lacks a field that has a default; or only B knows the field. */
    static const char *const opens[] = {"{\"v\":", "{\"w\":1,\"v\":"};
    for (size_t i = 0; i < ARRAY_LEN(opens); i++) {
        use_schema("[\"null\"," RECORD(
            "A", FIELD("v", "[\"null\",\"int\",\"A\"," RECORD(
                                "B", FIELD("v", "[\"null\",\"string\",\"A\",\"B\"]") "," DEFAULT(
                                         "w", "\"int\"", "0")) "]")) ",\"B\"]");
        uint64_t few = steps_of_nested(opens[i], 60), many = steps_of_nested(opens[i], 960);
        assert_true(many <= 17 * few);
    }
}

TEST(codec_from_json__refuses_nested_ambiguity_with_linear_work)
{
    use_schema("[\"null\"," RECORD(
        "A", FIELD("v", "[\"null\",\"A\"," RECORD("B", FIELD("v", "[\"null\",\"A\",\"B\"]")) "]")) ",\"B\"]");
    struct buf json = {0};
    append(&json, "{\"v\":", 1000);
    append(&json, "null", 1);
    append(&json, "}", 1000);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_RECORD);
    assert_int_equal(err.problems, 1);
    buf_release(&json);
}

/* An array of a union of many, which `branch` prints. */
static void use_union_of(int n, const char *branch)
{
    struct buf json = {0};
    append(&json, "{\"type\":\"array\",\"items\":[", 1);
    for (int i = 0; i < n; i++) {
        char one[256];
        snprintf(one, sizeof one, branch, i, i);
        assert_true(buf_printf(&json, "%s%s", i ? "," : "", one));
    }
    append(&json, "]}", 1);
    assert_true(buf_append_byte(&json, 0));
    use_schema((const char *)json.ptr);
    buf_release(&json);
}

/* Each looks at all branches for every item. */
TEST(codec_from_json__counts_every_look_at_a_branch)
{
    struct buf json = {0};
    append(&json, "[\"s2999\"", 1);
    append(&json, ",\"s2999\"", 99);
    append(&json, "]", 1);
    use_union_of(3000, "{\"type\":\"enum\",\"name\":\"E%d\",\"symbols\":[\"s%d\"]}");
    for (int brief = 0; brief < 2; brief++) {
        opts.brief = brief;
        assert_int_equal(encode_slice(buf_slice(&json)), brief ? RC_ERR : RC_OK);
    }
    assert_int_equal(err.code, ERR_TOO_MUCH_WORK);
    json.len = 0;
    append(&json, "[{\"R2999\":{\"f2999\":1}}", 1);
    append(&json, ",{\"R2999\":{\"f2999\":1}}", 99);
    append(&json, "]", 1);
    use_union_of(3000,
                 "{\"type\":\"record\",\"name\":\"R%d\",\"fields\":[{\"name\":\"f%d\",\"type\":\"int\"}]}");
    for (int brief = 0; brief < 2; brief++) {
        opts.brief = brief;
        assert_int_equal(encode_slice(buf_slice(&json)), brief ? RC_ERR : RC_OK);
    }
    assert_int_equal(err.code, ERR_TOO_MUCH_WORK);
    buf_release(&json);
}

TEST(codec_from_json__gives_up_where_branches_take_too_much_work)
{
    struct buf json = {0};
    use_union_of(1000, "{\"type\":\"record\",\"name\":\"R%d\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"},"
                       "{\"name\":\"f%d\",\"type\":\"int\"}]}");
    append(&json, "[{\"a\":1,\"f999\":1}", 1);
    append(&json, ",{\"a\":1,\"f999\":1}", 100);
    append(&json, "]", 1);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_OK);
    opts.brief = true;
    assert_int_equal(encode_slice(buf_slice(&json)), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_MUCH_WORK);
    assert_int_equal(encode_slice(SLICE("[{\"a\":1,\"f999\":1}]")), RC_OK);
    opts.brief = false;
    json.len = 0;
    append(&json, "[{\"a\":1,\"f999\":1}", 1);
    append(&json, ",{\"a\":1,\"f999\":1}", 100000);
    append(&json, "]", 1);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_MUCH_WORK);
    buf_release(&json);
}

/* ---- sizes ---- */

TEST(codec_from_json__refuses_a_record_beyond_the_limit)
{
    use_schema("{\"type\":\"array\",\"items\":\"double\"}");
    struct buf json = {0};
    append(&json, "[0", 1);
    append(&json, ",0", LIMIT_RECORD_MAX / 8);
    append(&json, "]", 1);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_ERR);
    assert_int_equal(err.code, ERR_RECORD_TOO_LARGE);
    buf_release(&json);
}

TEST(codec_from_json__limits_the_work_of_filling_in_fields_that_take_no_bytes)
{
    struct buf json = {0};
    append(&json, "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"R\",\"fields\":[", 1);
    for (int i = 0; i < 3000; i++)
        assert_true(
            buf_printf(&json, "%s{\"name\":\"f%d\",\"type\":\"null\",\"default\":null}", i ? "," : "", i));
    append(&json, "]}}", 1);
    assert_true(buf_append_byte(&json, 0));
    use_schema((const char *)json.ptr);
    json.len = 0;
    append(&json, "[{}", 1);
    append(&json, ",{}", 1000);
    append(&json, "]", 1);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_OK);
    json.len--;
    append(&json, ",{}", 100000);
    append(&json, "]", 1);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_MUCH_WORK);
    buf_release(&json);
}

TEST(codec_from_json__limits_the_items_of_no_bytes_as_reading_does)
{
    struct buf json = {0};
    append(&json, "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"R\",\"fields\":[", 1);
    append(&json, "{\"name\":\"a\",\"type\":{\"type\":\"array\",\"items\":\"null\"},\"default\":[null", 1);
    append(&json, ",null", 99999);
    append(&json, "]}]}}", 1);
    assert_true(buf_append_byte(&json, 0));
    use_schema((const char *)json.ptr);
    for (int n = LIMIT_EMPTY_ITEMS_MAX / 100000; n <= LIMIT_EMPTY_ITEMS_MAX / 100000 + 1; n++) {
        json.len = 0;
        append(&json, "[{}", 1);
        append(&json, ",{}", n - 1);
        append(&json, "]", 1);
        assert_int_equal(encode_slice(buf_slice(&json)),
                         n * 100000 <= LIMIT_EMPTY_ITEMS_MAX ? RC_OK : RC_ERR);
    }
    assert_int_equal(err.code, ERR_TOO_MUCH_WORK);
    buf_release(&json);
}

/* ---- fields, and what stays ---- */

TEST(codec_field_from_json__encodes_one_field)
{
    use_schema(abc);
    out.len = 0;
    append(&out, "before", 1);
    assert_int_equal(codec_field_from_json(codec, schema, schema_field(schema, SLICE("b")), &opts,
                                           SLICE("\"xy\""), &out, &arena, &err),
                     RC_OK);
    assert_slice_str(buf_slice(&out), "before\x04xy");
    assert_int_equal(codec_field_from_json(codec, schema, 0, &opts, SLICE("\"xy\""), &out, &arena, &err),
                     RC_ERR);
    assert_slice_str(buf_slice(&out), "before\x04xy");
    assert_slice_str(err.first->pointer, "");
}

TEST(codec_field_from_json__counts_the_record_around_the_field)
{
    use_schema(RECORD("L", FIELD("next", "[\"null\",\"L\"]")));
    struct buf json = {0};
    for (int depth = LIMIT_DATA_DEPTH_MAX - 1; depth <= LIMIT_DATA_DEPTH_MAX; depth++) {
        json.len = out.len = 0;
        append(&json, "{\"next\":", depth);
        append(&json, "null", 1);
        append(&json, "}", depth);
        enum rc rc = codec_field_from_json(codec, schema, 0, &opts, buf_slice(&json), &out, &arena, &err);
        assert_int_equal(rc, depth < LIMIT_DATA_DEPTH_MAX ? RC_OK : RC_ERR);
    }
    assert_int_equal(err.code, ERR_TOO_DEEP);
    buf_release(&json);
}

TEST(codec_from_json__gives_back_what_a_large_body_needed)
{
    use_schema("{\"type\":\"map\",\"values\":\"int\"}");
    struct buf json = {0};
    for (int i = 0; i < 100000; i++)
        assert_true(buf_printf(&json, "%s\"%d\":1", i ? "," : "{", i));
    append(&json, "}", 1);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_OK);
    assert_int_equal(codec->names.names.cap, 0);
    assert_int_equal(codec->names.slots.cap, 0);
    buf_release(&json);
}

/* ---- limits of a type ---- */

#define LIST  RECORD("L", FIELD("next", "[\"null\",\"L\"]"))
#define ARRAY "{\"type\":\"array\",\"items\":\"int\"}"
#define MAP   "{\"type\":\"map\",\"values\":\"int\"}"

TEST(limits__count_the_items_of_one_array_or_map)
{
    use_schema(RECORD("R", FIELD("a", ARRAY) "," FIELD("m", MAP)));
    opts.limits.items = 2;
    encodes("{\"a\":[1,2],\"m\":{\"x\":1,\"y\":2}}", "040204000402780202790400");
    refuses("{\"a\":[1,2,3],\"m\":{}}", "/a items (2 items at the most) ()\n");
    assert_int_equal(err.code, ERR_TOO_MANY_ITEMS);
    refuses("{\"a\":[],\"m\":{\"x\":1,\"y\":2,\"z\":3}}", "/m items (2 items at the most) ()\n");
    assert_string_equal(err.message, "At /m: The body has more than 2 items in one array or map.");
}

TEST(limits__count_records_arrays_and_maps_inside_each_other)
{
    use_schema(LIST);
    opts.limits.depth = 2;
    encodes("{\"next\":{\"next\":null}}", "0200");
    refuses("{\"next\":{\"next\":{\"next\":null}}}", "/next/next depth (2 levels at the most) ()\n");
    assert_int_equal(err.code, ERR_TOO_DEEP);
    opts.limits.depth = 1;
    out.len = 0;
    assert_int_equal(
        codec_field_from_json(codec, schema, 0, &opts, SLICE("{\"next\":null}"), &out, &arena, &err), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP); /* the record around the field is a level */
}

TEST(limits__count_the_bytes_of_a_record)
{
    use_schema("\"string\"");
    opts.limits.bytes = 4;
    encodes("\"abc\"", "06616263");
    append(&out, "before", 1);
    size_t before = out.len;
    assert_int_equal(codec_from_json(codec, schema, &opts, SLICE("\"abcd\""), &out, &arena, &err), RC_ERR);
    assert_int_equal(err.code, ERR_RECORD_TOO_LARGE);
    assert_int_equal(out.len, before);
}

TEST(limits__are_named_where_they_stand_in_the_text_tags_and_all)
{
    use_schema(RECORD("R", FIELD("u", "[\"null\"," ARRAY ",{\"type\":\"map\",\"values\":" ARRAY "}]")));
    opts.limits.items = 2;
    refuses("{\"u\":[1,2,3]}", "/u items (2 items at the most) ()\n");
    refuses("{\"u\":{\"array\":[1,2,3]}}", "/u/array items (2 items at the most) ()\n");
    refuses("{ \"u\" : { \"m\\u0061p\" : {\"a~/\":[1,2,3]} } }",
            "/u/map/a~0~1 items (2 items at the most) ()\n");
    refuses("{\"u\":{\"a\":[1],\"b\":[1,2,3],\"c\":[]}}", "/u/b items (2 items at the most) ()\n");
    opts.form = JSON_AVRO;
    refuses("{\"u\":{\"array\":[1,2,3]}}", "/u/array items (2 items at the most) ()\n");
}

TEST(limits__do_not_decide_which_branch_a_value_belongs_to)
{
    /* with no more than two entries it could only be the record */
    use_schema("[" RECORD(
        "A", FIELD("a", "\"int\"") "," FIELD("b", "\"int\"") "," FIELD("c", "\"int\"")) "," MAP "]");
    refuses("{\"a\":1,\"b\":2,\"c\":3}", " ambiguous (A or map) (object)\n");
    opts.limits.items = 2;
    refuses("{\"a\":1,\"b\":2,\"c\":3}", " ambiguous (A or map) (object)\n");
    refuses("{\"a\":1,\"b\":2,\"d\":3}", " items (2 items at the most) ()\n");
}

TEST(limits__are_told_after_what_does_not_fit)
{
    use_schema(RECORD("R", FIELD("a", ARRAY) "," FIELD("n", "\"int\"")));
    opts.limits.items = 1;
    refuses("{\"a\":[1,2],\"n\":\"x\"}", "/n type (int) (string)\n");
    assert_int_equal(err.code, ERR_BAD_RECORD);
    assert_int_equal(encode_json("{\"a\":[1,2],\"n\":1"), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_JSON);
}

TEST(limits__hold_for_what_fills_a_field_but_not_for_a_guess)
{
    use_schema(RECORD("R", FIELD("a", ARRAY ",\"default\":[1,2]") "," FIELD("n", "\"int\"")));
    opts.limits.items = 1;
    refuses("{\"n\":1}", "/a items (1 items at the most) ()\n");
    encodes("{\"n\":1,\"a\":[7]}", "020e0002");
    use_schema(RECORD("R", FIELD("l", "[\"null\"," LIST "]") "," FIELD("n", "\"int\"")));
    opts.missing = MISSING_ZERO;
    opts.limits.depth = 1;
    encodes("{\"n\":1}", "0002");
}

TEST(limits__are_not_about_what_is_ignored)
{
    use_schema(RECORD("R", FIELD("n", "\"int\"")));
    opts.unknown = UNKNOWN_IGNORE;
    opts.limits.depth = opts.limits.items = 1;
    encodes("{\"more\":[[[1,2,3],{}]],\"n\":1}", "02");
}

TEST_MAIN()
