/* tests/unit/schema/test_merge.c - JSON Merge Patch (RFC 7396) on typed data. */
#include "tests/unit/schema/patch_fixture.h"

static void merges(const char *record, const char *patch, const char *want)
{
    patch_makes(edit_of_merge, record, patch, want);
}

static void refuses_merge(const char *record, const char *patch, const char *problems)
{
    patch_fails(edit_of_merge, record, patch, ERR_BAD_RECORD, problems);
}

#define R(fields)           "{\"type\":\"record\",\"name\":\"R\",\"fields\":[" fields "]}"
#define F(name, type)       "{\"name\":\"" name "\",\"type\":" type "}"
#define D(name, type, dflt) "{\"name\":\"" name "\",\"type\":" type ",\"default\":" dflt "}"

/* ---- RFC 7396 ---- */

/* Appendix A: those whose data are of one type before and after. */
TEST(merge__does_the_examples_of_rfc_7396_with_maps_of_strings)
{
    use_schema("{\"type\":\"map\",\"values\":\"string\"}");
    merges("{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}");
    merges("{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}");
    merges("{\"a\":\"b\"}", "{\"a\":null}", "{}");
    merges("{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}");
}

TEST(merge__does_the_examples_of_rfc_7396_with_unions)
{
    use_schema(
        "{\"type\":\"map\",\"values\":[\"null\",\"string\",{\"type\":\"array\",\"items\":\"string\"}]}");
    merges("{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":{\"string\":\"c\"}}");
    merges("{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":{\"array\":[\"b\"]}}");
    merges("{\"e\":null}", "{\"a\":\"1\"}", "{\"e\":null,\"a\":{\"string\":\"1\"}}");
}

TEST(merge__does_the_examples_of_rfc_7396_with_nested_maps)
{
    use_schema("{\"type\":\"map\",\"values\":{\"type\":\"map\",\"values\":\"string\"}}");
    merges("{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}");
    use_schema("{\"type\":\"map\",\"values\":{\"type\":\"map\",\"values\":{\"type\":\"map\",\"values\":"
               "\"string\"}}}");
    merges("{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}");
}

TEST(merge__does_the_examples_of_rfc_7396_with_arrays)
{
    use_schema("{\"type\":\"map\",\"values\":{\"type\":\"array\",\"items\":[{\"type\":\"map\",\"values\":"
               "\"string\"},"
               "\"int\"]}}");
    merges("{\"a\":[{\"map\":{\"b\":\"c\"}}]}", "{\"a\":[1]}", "{\"a\":[{\"int\":1}]}");
    use_schema("{\"type\":\"array\",\"items\":\"string\"}");
    merges("[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]");
}

TEST(merge__does_the_examples_of_rfc_7396_whose_root_changes_its_kind)
{
    use_schema("[\"null\",\"string\",{\"type\":\"map\",\"values\":\"string\"},{\"type\":\"array\",\"items\":"
               "\"int\"}]");
    merges("{\"map\":{\"a\":\"b\"}}", "[1]", "{\"array\":[1]}");
    merges("{\"map\":{\"a\":\"foo\"}}", "null", "null");
    merges("{\"map\":{\"a\":\"foo\"}}", "\"bar\"", "{\"string\":\"bar\"}");
    merges("[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"map\":{\"a\":\"b\"}}");
}

/* Section 3. */
TEST(merge__does_the_document_of_rfc_7396)
{
    use_schema(R(D("title", "\"string\"", "\"\"") "," D(
        "author",
        "{\"type\":\"record\",\"name\":\"A\",\"fields\":["
        "{\"name\":\"givenName\",\"type\":\"string\",\"default\":\"\"},"
        "{\"name\":\"familyName\",\"type\":\"string\",\"default\":\"\"}]}",
        "{}") "," D("tags", "{\"type\":\"array\",\"items\":\"string\"}",
                    "[]") "," D("content", "\"string\"", "\"\"") "," D("phoneNumber", "[\"null\",\"string\"]",
                                                                       "null")));
    merges("{\"title\":\"Goodbye!\",\"author\":{\"givenName\":\"John\",\"familyName\":\"Doe\"},"
           "\"tags\":[\"example\",\"sample\"],\"content\":\"This will be unchanged\"}",
           "{\"title\":\"Hello!\",\"phoneNumber\":\"+01-123-456-7890\",\"author\":{\"familyName\":null},"
           "\"tags\":[\"example\"]}",
           "{\"title\":\"Hello!\",\"author\":{\"givenName\":\"John\",\"familyName\":\"\"},\"tags\":["
           "\"example\"],"
           "\"content\":\"This will be unchanged\",\"phoneNumber\":\"+01-123-456-7890\"}");
    assert_int_equal(changed, 4);
}

/* ---- null ---- */

TEST(merge__null_is_null_where_the_type_has_it_else_the_default_else_a_problem)
{
    use_schema(R(F("a", "[\"int\",\"null\"]") "," D("b", "\"int\"", "7") "," F("c", "\"int\"") "," F(
        "d", "\"null\"") "," D("e", "[\"int\",\"null\"]", "5")));
    merges("{\"a\":1,\"b\":2,\"c\":3,\"d\":null}", "{\"a\":null,\"b\":null,\"d\":null,\"e\":null}",
           "{\"a\":null,\"b\":7,\"c\":3,\"d\":null,\"e\":null}");
    assert_int_equal(changed, 4);
    refuses_merge("{\"a\":1,\"b\":2,\"c\":3,\"d\":null}", "{\"c\":null,\"d\":1}", "/c type\n/d type\n");
}

TEST(merge__null_takes_entries_out_of_maps_and_leaves_absent_ones_absent)
{
    use_schema("{\"type\":\"map\",\"values\":[\"null\",\"int\"]}");
    merges("{\"a\":1,\"b\":null,\"c\":3}", "{\"a\":null,\"b\":null,\"z\":null,\"d\":4}", "{\"c\":3,\"d\":4}");
    assert_int_equal(changed, 3);
}

TEST(merge__null_within_an_array_is_a_value)
{
    use_schema("{\"type\":\"array\",\"items\":[\"null\",\"int\"]}");
    merges("[1]", "[null,2]", "[null,2]");
    use_schema(R(F("a", "{\"type\":\"array\",\"items\":{\"type\":\"map\",\"values\":[\"null\",\"int\"]}}")));
    merges("{\"a\":[]}", "{\"a\":[{\"x\":null}]}", "{\"a\":[{\"x\":null}]}");
}

TEST(merge__nothing_changes_nothing)
{
    use_schema(R(F("a", "\"int\"") "," F("m", "{\"type\":\"map\",\"values\":\"int\"}")));
    merges("{\"a\":1,\"m\":{\"x\":1}}", "{}", "{\"a\":1,\"m\":{\"x\":1}}");
    assert_int_equal(changed, 0);
    merges("{\"a\":1,\"m\":{\"x\":1}}", "{\"m\":{\"nope\":null}}", "{\"a\":1,\"m\":{\"x\":1}}");
    assert_int_equal(changed, 0);
}

/* ---- what is not there yet ---- */

#define P                                                                                                    \
    "{\"type\":\"record\",\"name\":\"ns.P\",\"fields\":[{\"name\":\"x\",\"type\":\"int\"},"                  \
    "{\"name\":\"y\",\"type\":\"int\",\"default\":9},{\"name\":\"z\",\"type\":[\"null\",\"int\"],"           \
    "\"default\":null},"                                                                                     \
    "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"int\"},\"default\":{}}]}"

TEST(merge__builds_new_records_from_the_patch_by_the_same_rules)
{
    use_schema("{\"type\":\"map\",\"values\":" P "}");
    merges("{}", "{\"a\":{\"x\":1,\"y\":null,\"z\":null,\"m\":{\"k\":1,\"l\":null}}}",
           "{\"a\":{\"x\":1,\"y\":9,\"z\":null,\"m\":{\"k\":1}}}");
    merges("{\"a\":{\"x\":1,\"y\":2}}", "{\"a\":{\"x\":5}}", "{\"a\":{\"x\":5,\"y\":2,\"z\":null,\"m\":{}}}");
    refuses_merge("{}", "{\"a\":{\"y\":1},\"b\":{\"x\":null},\"c\":3}", "/a/x missing\n/b/x type\n/c type\n");
    opts.missing = MISSING_ZERO;
    merges("{}", "{\"a\":{\"y\":1}}", "{\"a\":{\"x\":0,\"y\":1,\"z\":null,\"m\":{}}}");
    opts.missing = MISSING_REJECT;
    refuses_merge("{}", "{\"a\":{\"x\":1,\"z\":1,\"m\":{}}}", "/a/y missing\n");
    merges("{}", "{\"a\":{\"x\":1,\"y\":null,\"z\":1,\"m\":null}}",
           "{\"a\":{\"x\":1,\"y\":9,\"z\":1,\"m\":{}}}");
}

TEST(merge__an_object_builds_the_record_of_a_union_that_was_null)
{
    use_schema(R(F("p", "[\"null\"," P "]")));
    merges("{\"p\":null}", "{\"p\":{\"x\":1,\"y\":null}}", "{\"p\":{\"x\":1,\"y\":9,\"z\":null,\"m\":{}}}");
    merges("{\"p\":null}", "{\"p\":{\"ns.P\":{\"x\":1,\"y\":null}}}",
           "{\"p\":{\"x\":1,\"y\":9,\"z\":null,\"m\":{}}}");
    merges("{\"p\":{\"x\":3,\"y\":4}}", "{\"p\":{\"P\":{\"x\":1}}}",
           "{\"p\":{\"x\":1,\"y\":4,\"z\":null,\"m\":{}}}");
    merges("{\"p\":{\"x\":3}}", "{\"p\":null}", "{\"p\":null}");
    refuses_merge("{\"p\":null}", "{\"p\":{\"y\":1}}", "/p/x missing\n");
}

/* ---- unions ---- */

#define A_OR_B                                                                                               \
    R(F("u", "[\"null\",\"int\",{\"type\":\"record\",\"name\":\"ns.A\",\"fields\":[{\"name\":\"i\","         \
             "\"type\":\"int\","                                                                             \
             "\"default\":1},{\"name\":\"s\",\"type\":\"string\",\"default\":\"\"}]},"                       \
             "{\"type\":\"record\",\"name\":\"ns.B\",\"fields\":[{\"name\":\"j\",\"type\":\"int\","          \
             "\"default\":2},"                                                                               \
             "{\"name\":\"int\",\"type\":\"string\",\"default\":\"\"}]}]"))

TEST(merge__a_tagged_object_merges_into_its_branch_or_replaces_another)
{
    use_schema(A_OR_B);
    merges("{\"u\":{\"ns.A\":{\"i\":5,\"s\":\"x\"}}}", "{\"u\":{\"ns.A\":{\"i\":6}}}",
           "{\"u\":{\"ns.A\":{\"i\":6,\"s\":\"x\"}}}");
    merges("{\"u\":{\"ns.A\":{\"i\":5,\"s\":\"x\"}}}", "{\"u\":{\"A\":{\"i\":null}}}",
           "{\"u\":{\"ns.A\":{\"i\":1,\"s\":\"x\"}}}");
    merges("{\"u\":{\"ns.A\":{\"i\":5,\"s\":\"x\"}}}", "{\"u\":{\"ns.B\":{\"j\":null}}}",
           "{\"u\":{\"ns.B\":{\"j\":2,\"int\":\"\"}}}");
    merges("{\"u\":{\"int\":5}}", "{\"u\":{\"int\":6}}", "{\"u\":{\"int\":6}}");
    merges("{\"u\":{\"ns.A\":{\"i\":5}}}", "{\"u\":{\"int\":6}}", "{\"u\":{\"int\":6}}");
    refuses_merge("{\"u\":{\"ns.A\":{\"i\":5}}}", "{\"u\":{\"ns.A\":{\"i\":\"\",\"k\":1}}}",
                  "/u/ns.A/i type\n/u/ns.A/k unknown\n");
    refuses_merge("{\"u\":{\"ns.A\":{\"i\":5}}}", "{\"u\":{\"ns.A\":null}}", "/u/ns.A type\n");
    refuses_merge("{\"u\":{\"ns.A\":{\"i\":5}}}", "{\"u\":{\"ns.A\":{\"i\":1},\"x\":{}}}", "/u/x unknown\n");
}

TEST(merge__a_bare_object_merges_into_the_branch_that_is_there)
{
    use_schema(A_OR_B);
    merges("{\"u\":{\"ns.A\":{\"i\":5,\"s\":\"x\"}}}", "{\"u\":{\"s\":\"y\"}}",
           "{\"u\":{\"ns.A\":{\"i\":5,\"s\":\"y\"}}}");
    merges("{\"u\":{\"ns.A\":{\"i\":5,\"s\":\"x\"}}}", "{\"u\":{}}",
           "{\"u\":{\"ns.A\":{\"i\":5,\"s\":\"x\"}}}");
    refuses_merge("{\"u\":{\"ns.A\":{\"i\":5}}}", "{\"u\":{\"j\":1}}", "/u/ns.A/j unknown\n");
}

TEST(merge__a_bare_object_for_no_such_branch_is_what_put_takes_it_for)
{
    use_schema(A_OR_B);
    merges("{\"u\":null}", "{\"u\":{\"i\":3,\"s\":\"\"}}", "{\"u\":{\"ns.A\":{\"i\":3,\"s\":\"\"}}}");
    refuses_merge("{\"u\":4}", "{\"u\":{}}", "/u ambiguous\n");
    merges("{\"u\":4}", "{\"u\":5}", "{\"u\":{\"int\":5}}");
}

TEST(merge__a_field_with_the_name_of_a_branch_is_a_tag_only_if_that_fits)
{
    use_schema(A_OR_B);
    merges("{\"u\":{\"ns.B\":{\"j\":3}}}", "{\"u\":{\"int\":7}}", "{\"u\":{\"int\":7}}");
    merges("{\"u\":{\"ns.B\":{\"j\":3}}}", "{\"u\":{\"int\":\"x\"}}",
           "{\"u\":{\"ns.B\":{\"j\":3,\"int\":\"x\"}}}");
    merges("{\"u\":{\"ns.B\":{\"j\":3}}}", "{\"u\":{\"int\":\"x\",\"j\":4}}",
           "{\"u\":{\"ns.B\":{\"j\":4,\"int\":\"x\"}}}");
    use_schema(R(F("u", "[\"null\",{\"type\":\"map\",\"values\":\"int\"}]")));
    merges("{\"u\":{\"a\":1}}", "{\"u\":{\"map\":2}}", "{\"u\":{\"a\":1,\"map\":2}}");
}

TEST(merge__ignored_members_do_not_make_a_value_of_a_tag)
{
    use_schema(A_OR_B);
    opts.unknown = UNKNOWN_IGNORE;
    merges("{\"u\":{\"ns.A\":{\"i\":5,\"s\":\"x\"}}}", "{\"u\":{\"ns.B\":{\"j\":1,\"q\":1}},\"w\":[{}]}",
           "{\"u\":{\"ns.B\":{\"j\":1,\"int\":\"\"}}}");
    merges("{\"u\":{\"ns.A\":{\"i\":5,\"s\":\"x\"}}}", "{\"u\":{\"ns.B\":{\"j\":1},\"s\":\"t\"}}",
           "{\"u\":{\"ns.A\":{\"i\":5,\"s\":\"t\"}}}");
}

TEST(merge__what_is_left_of_a_bare_object_does_not_become_a_tag)
{
    use_schema(R(F("u", "[\"null\",\"int\",{\"type\":\"map\",\"values\":\"int\"}]")));
    merges("{\"u\":null}", "{\"u\":{\"a\":null,\"int\":1}}", "{\"u\":{\"map\":{\"int\":1}}}");
    merges("{\"u\":null}", "{\"u\":{\"a\":1}}", "{\"u\":{\"map\":{\"a\":1}}}");
    refuses_merge("{\"u\":null}", "{\"u\":{\"a\":\"\"}}", "/u/map/a type\n");
    use_schema(R(D("R", "[\"null\",\"R\"]", "null") "," D("x", "\"int\"", "7")));
    merges("{}", "{\"R\":{\"R\":{\"x\":1},\"x\":null}}",
           "{\"R\":{\"R\":{\"R\":null,\"x\":1},\"x\":7},\"x\":7}");
}

/* ---- every kind ---- */

TEST(merge__replaces_every_kind_of_field_as_put_takes_it)
{
    use_schema(R(F("b", "\"boolean\"") "," F("i", "\"int\"") "," F("l", "\"long\"") "," F("f", "\"float\"") "," F(
        "d",
        "\"double\"") "," F("by",
                            "\"bytes\"") "," F("s",
                                               "\"string\"") "," F("e",
                                                                   "{\"type\":\"enum\",\"name\":\"E\","
                                                                   "\"symbols\":[\"X\","
                                                                   "\"Y\"]}") "," F("fx",
                                                                                    "{\"type\":\"fixed\","
                                                                                    "\"name\":\"Fx\","
                                                                                    "\"size\":2}") "," F("a",
                                                                                                         "{\""
                                                                                                         "typ"
                                                                                                         "e\""
                                                                                                         ":"
                                                                                                         "\"a"
                                                                                                         "rra"
                                                                                                         "y\""
                                                                                                         ","
                                                                                                         "\"i"
                                                                                                         "tem"
                                                                                                         "s\""
                                                                                                         ":"
                                                                                                         "\"i"
                                                                                                         "nt"
                                                                                                         "\""
                                                                                                         "}")));
    const char *before =
        "{\"b\":true,\"i\":1,\"l\":2,\"f\":1.5,\"d\":2.5,\"by\":\"a\",\"s\":\"t\",\"e\":\"X\","
        "\"fx\":\"ab\",\"a\":[1,2]}";
    merges(before,
           "{\"b\":false,\"i\":-1,\"l\":9223372036854775807,\"f\":\"NaN\",\"d\":1e3,\"by\":\"\\u00ff\","
           "\"s\":\"\\ud83d\\ude00\",\"e\":\"Y\",\"fx\":\"cd\",\"a\":[]}",
           "{\"b\":false,\"i\":-1,\"l\":9223372036854775807,\"f\":\"NaN\",\"d\":1000.0,\"by\":\"\u00ff\","
           "\"s\":\"\U0001F600\",\"e\":\"Y\",\"fx\":\"cd\",\"a\":[]}");
    assert_int_equal(changed, 10);
    refuses_merge(
        before,
        "{\"b\":1,\"i\":2147483648,\"l\":1.5,\"f\":\"x\",\"d\":{},\"by\":\"\\u0100\",\"s\":1,\"e\":\"Z\","
        "\"fx\":\"c\",\"a\":{\"0\":1}}",
        "/b type\n/i range\n/l type\n/f type\n/d type\n/by encoding\n/s type\n/e symbol\n/fx size\n/a "
        "type\n");
}

TEST(merge__takes_the_form_of_the_type)
{
    use_schema(R(F("d", "{\"type\":\"int\",\"logicalType\":\"date\"}") "," F("l", "\"long\"") "," F(
        "u", "{\"type\":\"fixed\",\"name\":\"U\",\"size\":12,\"logicalType\":\"duration\"}")));
    opts.form = JSON_LOGICAL | JSON_INT64;
    merges("{\"d\":0,\"l\":1,\"u\":\"000000000000\"}",
           "{\"d\":\"1970-01-02\",\"l\":\"5\",\"u\":{\"months\":1,\"days\":2,\"millis\":3}}",
           "{\"d\":1,\"l\":5,\"u\":"
           "\"\\u0001\\u0000\\u0000\\u0000\\u0002\\u0000\\u0000\\u0000\\u0003\\u0000\\u0000"
           "\\u0000\"}");
    refuses_merge("{\"d\":0,\"l\":1,\"u\":\"000000000000\"}", "{\"d\":\"x\",\"u\":{\"days\":1}}",
                  "/d encoding\n/u/months missing\n/u/millis missing\n");
}

TEST(merge__goes_into_recursive_types)
{
    use_schema(R(F("v", "\"int\"") "," D("next", "[\"null\",\"R\"]", "null")));
    merges("{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":3}}}",
           "{\"next\":{\"next\":{\"v\":4,\"next\":{\"v\":5}}}}",
           "{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":4,\"next\":{\"v\":5,\"next\":null}}}}");
    merges("{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":3}}}", "{\"next\":{\"next\":null}}",
           "{\"v\":1,\"next\":{\"v\":2,\"next\":null}}");
}

/* ---- what is wrong ---- */

TEST(merge__lists_all_that_is_wrong_with_pointers_into_the_record)
{
    use_schema(R(F("a", "\"int\"") "," F("r", P) "," F("m", "{\"type\":\"map\",\"values\":\"int\"}")));
    refuses_merge(
        "{\"a\":1,\"r\":{\"x\":1},\"m\":{\"k/~\":1}}",
        "{\"r\":{\"m\":{\"q\":true},\"w/\":1},\"nope\":{},\"a\":\"\",\"m\":{\"k/~\":null,\"n\":[]}}",
        "/r/m/q type\n/r/w~1 unknown\n/nope unknown\n/a type\n/m/n type\n");
    opts.unknown = UNKNOWN_IGNORE;
    merges("{\"a\":1,\"r\":{\"x\":1},\"m\":{}}", "{\"nope\":{\"x\":[null]},\"a\":2}",
           "{\"a\":2,\"r\":{\"x\":1,\"y\":9,\"z\":null,\"m\":{}},\"m\":{}}");
    assert_int_equal(changed, 1);
}

TEST(merge__lists_a_hundred_problems_at_the_most)
{
    struct buf patch = {0};
    use_schema("{\"type\":\"map\",\"values\":\"int\"}");
    use_record("{}");
    append(&patch, "{\"0\":\"\"", 1);
    for (int i = 1; i < 200; i++)
        assert_true(buf_printf(&patch, ",\"%d\":\"\"", i));
    append(&patch, "}", 1);
    assert_int_equal(try_patch(edit_of_merge, buf_slice(&patch)), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_RECORD);
    assert_int_equal(err.problems, 100);
    assert_true(err.truncated);
    buf_release(&patch);
}

TEST(merge__refuses_what_is_no_json)
{
    use_schema(R(F("a", "\"int\"")));
    patch_fails(edit_of_merge, "{\"a\":1}", "{\"a\":1,}", ERR_BAD_JSON, "");
    patch_fails(edit_of_merge, "{\"a\":1}", "", ERR_BAD_JSON, "");
    patch_fails(edit_of_merge, "{\"a\":1}", "{\"a\":1,\"a\":2}", ERR_BAD_JSON, "/a duplicate\n");
    refuses_merge("{\"a\":1}", "[]", " type\n");
    refuses_merge("{\"a\":1}", "null", " type\n");
}

TEST(merge__refuses_data_that_would_be_too_deep)
{
    struct buf patch = {0};
    use_schema(R(D("next", "[\"null\",\"R\"]", "null")));
    use_record("{}");
    append(&patch, "{\"next\":", 1023);
    append(&patch, "{}", 1);
    append(&patch, "}", 1023);
    assert_int_equal(try_patch(edit_of_merge, buf_slice(&patch)), RC_OK);
    patch.len = 0;
    append(&patch, "{\"next\":", 1024);
    append(&patch, "{}", 1);
    append(&patch, "}", 1024);
    assert_int_equal(try_patch(edit_of_merge, buf_slice(&patch)), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
    buf_release(&patch);
}

/* Linear: a hundred thousand entries go, come and change. */
TEST(merge__many_entries_of_a_long_map_change_at_once)
{
    enum { N = 100000 };
    struct buf old = {0}, patch = {0}, want = {0};
    use_schema("{\"type\":\"map\",\"values\":\"int\"}");
    for (int i = 0; i < N; i++) {
        assert_true(buf_printf(&old, "%c\"%d\":1", i ? ',' : '{', i));
        if (i % 2)
            assert_true(buf_printf(&patch, "%c\"%d\":null,\"n%d\":2", patch.len ? ',' : '{', i, i));
    }
    append(&old, "}", 1);
    append(&patch, "}", 1);
    use_record((append(&old, "", 1), buf_append_byte(&old, 0), (const char *)old.ptr));
    assert_int_equal(try_patch(edit_of_merge, buf_slice(&patch)), RC_OK);
    assert_int_equal(changed, N);
    assert_true(buf_append(&want, SLICE("{")));
    for (int i = 0; i < N; i += 2)
        assert_true(buf_printf(&want, "%s\"%d\":1", i ? "," : "", i));
    for (int i = 1; i < N; i += 2)
        assert_true(buf_printf(&want, ",\"n%d\":2", i));
    append(&want, "}", 1);
    text.len = 0;
    assert_int_equal(codec_to_json(schema, JSON_PLAIN, buf_slice(&out), &text, &err), RC_OK);
    assert_true(slice_eq(buf_slice(&text), buf_slice(&want)));
    buf_release(&old);
    buf_release(&patch);
    buf_release(&want);
}

/* Where a value comes to stand is counted from the root each time: that is work, too. */
static enum err_code merge_entries_at(int depth)
{
    struct buf patch = {0};
    use_schema(
        R(D("m", "{\"type\":\"map\",\"values\":\"int\"}", "{}") "," D("next", "[\"null\",\"R\"]", "null")));
    append(&patch, "{\"next\":", depth);
    append(&patch, "{\"m\":{}}", 1);
    append(&patch, "}", depth);
    assert_true(buf_append_byte(&patch, 0));
    use_record((const char *)patch.ptr);
    patch.len = 0;
    append(&patch, "{\"next\":", depth);
    for (int i = 0; i < 40000; i++)
        assert_true(buf_printf(&patch, "%s\"%x\":1", i ? "," : "{\"m\":{", i));
    append(&patch, "}}", 1);
    append(&patch, "}", depth);
    enum rc rc = try_patch(edit_of_merge, buf_slice(&patch));
    buf_release(&patch);
    return rc == RC_OK ? ERR_NONE : err.code;
}

TEST(merge__many_values_far_down_are_too_much_work)
{
    assert_int_equal(merge_entries_at(10), ERR_NONE);
    assert_int_equal(merge_entries_at(1000), ERR_TOO_MUCH_WORK);
}

TEST_MAIN()
