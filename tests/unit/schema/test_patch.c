/* tests/unit/schema/test_patch.c - JSON Patch (RFC 6902) on typed data, and increment. */
#include "base/limits.h"
#include "tests/unit/schema/patch_fixture.h"

static void patches(const char *record, const char *patch, const char *want)
{
    patch_makes(edit_of_patch, record, patch, want);
}

/* operation: from 0, as it is told. */
static void fails(const char *record, const char *patch, enum err_code code, int operation)
{
    patch_fails(edit_of_patch, record, patch, code, "");
    assert_int_equal((int)err.operation - 1, operation);
}

static void misfits(const char *record, const char *patch, int operation, const char *problems)
{
    patch_fails(edit_of_patch, record, patch, ERR_BAD_RECORD, problems);
    assert_int_equal((int)err.operation - 1, operation);
}

#define R(fields)           "{\"type\":\"record\",\"name\":\"R\",\"fields\":[" fields "]}"
#define F(name, type)       "{\"name\":\"" name "\",\"type\":" type "}"
#define D(name, type, dflt) "{\"name\":\"" name "\",\"type\":" type ",\"default\":" dflt "}"
#define MAP(values)         "{\"type\":\"map\",\"values\":" values "}"
#define ARRAY(items)        "{\"type\":\"array\",\"items\":" items "}"

/* ---- RFC 6902, appendix A ---- */

TEST(patch__does_a_1_to_a_5_of_rfc_6902)
{
    use_schema(MAP("\"string\""));
    patches("{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]",
            "{\"foo\":\"bar\",\"baz\":\"qux\"}");
    patches("{\"baz\":\"qux\",\"foo\":\"bar\"}", "[{\"op\":\"remove\",\"path\":\"/baz\"}]",
            "{\"foo\":\"bar\"}");
    patches("{\"baz\":\"qux\",\"foo\":\"bar\"}", "[{\"op\":\"replace\",\"path\":\"/baz\",\"value\":\"boo\"}]",
            "{\"baz\":\"boo\",\"foo\":\"bar\"}");
    use_schema(MAP(ARRAY("\"string\"")));
    patches("{\"foo\":[\"bar\",\"baz\"]}", "[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":\"qux\"}]",
            "{\"foo\":[\"bar\",\"qux\",\"baz\"]}");
    patches("{\"foo\":[\"bar\",\"qux\",\"baz\"]}", "[{\"op\":\"remove\",\"path\":\"/foo/1\"}]",
            "{\"foo\":[\"bar\",\"baz\"]}");
}

TEST(patch__does_a_6_and_a_7_of_rfc_6902_moving)
{
    use_schema(MAP(MAP("\"string\"")));
    patches("{\"foo\":{\"bar\":\"baz\",\"waldo\":\"fred\"},\"qux\":{\"corge\":\"grault\"}}",
            "[{\"op\":\"move\",\"from\":\"/foo/waldo\",\"path\":\"/qux/thud\"}]",
            "{\"foo\":{\"bar\":\"baz\"},\"qux\":{\"corge\":\"grault\",\"thud\":\"fred\"}}");
    use_schema(MAP(ARRAY("\"string\"")));
    patches("{\"foo\":[\"all\",\"grass\",\"cows\",\"eat\"]}",
            "[{\"op\":\"move\",\"from\":\"/foo/1\",\"path\":\"/foo/3\"}]",
            "{\"foo\":[\"all\",\"cows\",\"eat\",\"grass\"]}");
}

TEST(patch__does_a_8_and_a_9_of_rfc_6902_testing)
{
    use_schema(R(F("baz", "\"string\"") "," F("foo", ARRAY("[\"string\",\"int\"]"))));
    patches("{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}",
            "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"qux\"},{\"op\":\"test\",\"path\":\"/foo/"
            "1\",\"value\":2}]",
            "{\"baz\":\"qux\",\"foo\":[{\"string\":\"a\"},{\"int\":2},{\"string\":\"c\"}]}");
    assert_int_equal(changed, 0);
    fails("{\"baz\":\"qux\",\"foo\":[]}", "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"bar\"}]",
          ERR_TEST_FAILED, 0);
}

TEST(patch__does_a_10_to_a_13_of_rfc_6902)
{
    use_schema(MAP("[\"string\"," MAP("\"string\"") "]"));
    patches("{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/child\",\"value\":{\"grandchild\":\"x\"}}]",
            "{\"foo\":{\"string\":\"bar\"},\"child\":{\"map\":{\"grandchild\":\"x\"}}}");
    patches("{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\",\"xyz\":123}]",
            "{\"foo\":{\"string\":\"bar\"},\"baz\":{\"string\":\"qux\"}}");
    fails("{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz/bat\",\"value\":\"qux\"}]",
          ERR_NOT_APPLICABLE, 0);
    patch_fails(edit_of_patch, "{\"foo\":\"bar\"}",
                "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\",\"op\":\"remove\"}]", ERR_BAD_JSON,
                "/0/op duplicate\n");
}

TEST(patch__does_a_14_to_a_16_of_rfc_6902)
{
    use_schema(MAP("[\"int\",\"string\"]"));
    patches("{\"/\":9,\"~1\":10}", "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":10}]",
            "{\"/\":{\"int\":9},\"~1\":{\"int\":10}}");
    fails("{\"/\":9,\"~1\":10}", "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":\"10\"}]", ERR_TEST_FAILED,
          0);
    use_schema(MAP(ARRAY("[\"string\"," ARRAY("\"string\"") "]")));
    patches("{\"foo\":[\"bar\"]}", "[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[\"abc\",\"def\"]}]",
            "{\"foo\":[{\"string\":\"bar\"},{\"array\":[\"abc\",\"def\"]}]}");
}

/* ---- pointers ---- */

#define ALL                                                                                                  \
    R(F("n", "\"int\"") "," F("o", "[\"null\",\"int\"]") "," F(                                              \
        "u",                                                                                                 \
        "[\"null\",\"int\",{\"type\":\"record\",\"name\":\"ns.P\",\"fields\":[{\"name\":\"x\",\"type\":"     \
        "\"int\"}]}]") "," F("a", ARRAY("\"int\"")) "," F("m",                                               \
                                                          MAP("\"int\"")) "," D("d", "\"string\"",           \
                                                                                "\"dd\"") "," D("p",         \
                                                                                                "[\"null\"," \
                                                                                                "\"ns.P\"]", \
                                                                                                "null"))
#define ALL_RECORD                                                                                           \
    "{\"n\":1,\"o\":2,\"u\":{\"ns.P\":{\"x\":3}},\"a\":[4,5],\"m\":{\"a/"                                    \
    "b\":6,\"\":7},\"d\":\"e\",\"p\":{\"x\":8}}"
#define ALL_WITH(u, rest) "{\"n\":1,\"o\":2,\"u\":" u "," rest
#define ALL_REST          "\"a\":[4,5],\"m\":{\"a/b\":6,\"\":7},\"d\":\"e\",\"p\":{\"x\":8}}"

static void tests(const char *path, const char *value)
{
    char patch[256];
    snprintf(patch, sizeof patch, "[{\"op\":\"test\",\"path\":\"%s\",\"value\":%s}]", path, value);
    use_record(ALL_RECORD);
    if (try_patch(edit_of_patch, slice_str(patch)))
        fail_msg("%s: %s", patch, err.message);
}

static void leads_nowhere(const char *op, const char *path)
{
    char patch[256];
    snprintf(patch, sizeof patch, "[{\"op\":\"%s\",\"path\":\"%s\",\"value\":1,\"by\":1,\"from\":\"%s\"}]",
             op, path, path);
    fails(ALL_RECORD, patch, ERR_NOT_APPLICABLE, 0);
}

TEST(patch__pointers_lead_where_get_shows_it)
{
    use_schema(ALL);
    tests("", ALL_RECORD);
    tests("/n", "1");
    tests("/o", "2");
    tests("/u", "{\"ns.P\":{\"x\":3}}");
    tests("/u/ns.P", "{\"x\":3}");
    tests("/u/ns.P/x", "3");
    tests("/a/1", "5");
    tests("/a", "[4,5]");
    tests("/m/a~1b", "6");
    tests("/m/", "7");
    tests("/m", "{\"\":7,\"a/b\":6}");
    tests("/p/x", "8");
    tests("/p", "{\"x\":8}");
}

TEST(patch__pointers_that_lead_nowhere)
{
    static const char *const paths[] = {"/",
                                        "/x",
                                        "/n/x",
                                        "/o/int",
                                        "/u/P",
                                        "/u/x",
                                        "/u/ns.P/y",
                                        "/a/2",
                                        "/a/01",
                                        "/a/-1",
                                        "/a/+1",
                                        "/a/1 ",
                                        "/a/",
                                        "/a/-",
                                        "/a/1e0",
                                        "/a/4294967296",
                                        "/m/a",
                                        "/m/a~01b",
                                        "/p/ns.P",
                                        "/d/0",
                                        "/a/18446744073709551617"};
    use_schema(ALL);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        leads_nowhere("test", paths[i]);
        leads_nowhere("remove", paths[i]);
        leads_nowhere("replace", paths[i]);
        leads_nowhere("copy", paths[i]);
        leads_nowhere("move", paths[i]);
        leads_nowhere("increment", paths[i]);
    }
    leads_nowhere("add", "/x");
    leads_nowhere("add", "/a/3");
    leads_nowhere("add", "/a/02");
    leads_nowhere("add", "/m/x/y");
    leads_nowhere("add", "/u/int");
}

/* ---- operations on every kind of place ---- */

TEST(patch__adds_where_there_is_nothing_and_replaces_what_there_is)
{
    use_schema(ALL);
    patches(ALL_RECORD,
            "[{\"op\":\"add\",\"path\":\"/a/0\",\"value\":3},{\"op\":\"add\",\"path\":\"/a/3\",\"value\":6},"
            "{\"op\":\"add\",\"path\":\"/a/-\",\"value\":7}]",
            ALL_WITH("{\"ns.P\":{\"x\":3}}",
                     "\"a\":[3,4,5,6,7],\"m\":{\"a/b\":6,\"\":7},\"d\":\"e\",\"p\":{\"x\":8}}"));
    assert_int_equal(changed, 3);
    patches(ALL_RECORD,
            "[{\"op\":\"add\",\"path\":\"/m/x\",\"value\":1},{\"op\":\"add\",\"path\":\"/m/\",\"value\":2},"
            "{\"op\":\"add\",\"path\":\"/d\",\"value\":\"f\"},{\"op\":\"replace\",\"path\":\"/a/"
            "1\",\"value\":0}]",
            ALL_WITH("{\"ns.P\":{\"x\":3}}",
                     "\"a\":[4,0],\"m\":{\"a/b\":6,\"\":2,\"x\":1},\"d\":\"f\",\"p\":{\"x\":8}}"));
    patches(ALL_RECORD,
            "[{\"op\":\"add\",\"path\":\"/u/ns.P\",\"value\":{\"x\":4}},{\"op\":\"replace\",\"path\":\"/u/"
            "ns.P/x\","
            "\"value\":5}]",
            ALL_WITH("{\"ns.P\":{\"x\":5}}", ALL_REST));
    patches(ALL_RECORD, "[{\"op\":\"replace\",\"path\":\"/u\",\"value\":{\"int\":5}}]",
            ALL_WITH("{\"int\":5}", ALL_REST));
    patches(ALL_RECORD, "[{\"op\":\"replace\",\"path\":\"/u\",\"value\":null}]", ALL_WITH("null", ALL_REST));
    patches(ALL_RECORD, "[{\"op\":\"replace\",\"path\":\"\",\"value\":" ALL_WITH("5", ALL_REST) "}]",
            ALL_WITH("{\"int\":5}", ALL_REST));
    misfits(ALL_RECORD, "[{\"op\":\"add\",\"path\":\"/a/1\",\"value\":\"\"}]", 0, "/a/1 type\n");
    misfits(ALL_RECORD, "[{\"op\":\"add\",\"path\":\"/m/a~0\",\"value\":\"\"}]", 0, "/m/a~0 type\n");
    misfits(
        ALL_RECORD,
        "[{\"op\":\"add\",\"path\":\"/n\",\"value\":2},{\"op\":\"replace\",\"path\":\"/u/ns.P\",\"value\":"
        "{\"y\":1}}]",
        1, "/u/ns.P/x missing\n/u/ns.P/y unknown\n");
    misfits(ALL_RECORD, "[{\"op\":\"replace\",\"path\":\"/n\",\"value\":null}]", 0, "/n type\n");
}

TEST(patch__removes_items_and_entries_and_unsets_fields)
{
    use_schema(ALL);
    patches(ALL_RECORD,
            "[{\"op\":\"remove\",\"path\":\"/a/0\"},{\"op\":\"remove\",\"path\":\"/m/a~1b\"},"
            "{\"op\":\"remove\",\"path\":\"/o\"},{\"op\":\"remove\",\"path\":\"/"
            "d\"},{\"op\":\"remove\",\"path\":\"/p\"},"
            "{\"op\":\"remove\",\"path\":\"/u\"}]",
            "{\"n\":1,\"o\":null,\"u\":null,\"a\":[5],\"m\":{\"\":7},\"d\":\"dd\",\"p\":null}");
    assert_int_equal(changed, 6);
    misfits(ALL_RECORD, "[{\"op\":\"remove\",\"path\":\"/n\"}]", 0, "/n type\n");
    fails(ALL_RECORD, "[{\"op\":\"remove\",\"path\":\"/u/ns.P\"}]", ERR_NOT_APPLICABLE, 0);
    fails(ALL_RECORD, "[{\"op\":\"remove\",\"path\":\"\"}]", ERR_NOT_APPLICABLE, 0);
}

TEST(patch__moves_and_copies_by_json_to_other_types)
{
    use_schema(ALL);
    patches(ALL_RECORD,
            "[{\"op\":\"move\",\"from\":\"/a/1\",\"path\":\"/m/z\"},{\"op\":\"copy\",\"from\":\"/u/ns.P/"
            "x\",\"path\":\"/n\"},"
            "{\"op\":\"copy\",\"from\":\"/n\",\"path\":\"/o\"},{\"op\":\"copy\",\"from\":\"/p\",\"path\":\"/"
            "u/ns.P\"},"
            "{\"op\":\"move\",\"from\":\"/p\",\"path\":\"/p\"}]",
            "{\"n\":3,\"o\":3,\"u\":{\"ns.P\":{\"x\":8}},\"a\":[4],\"m\":{\"a/"
            "b\":6,\"\":7,\"z\":5},\"d\":\"e\",\"p\":{\"x\":8}}");
    patches(ALL_RECORD, "[{\"op\":\"move\",\"from\":\"/a/1\",\"path\":\"/a/0\"}]",
            ALL_WITH("{\"ns.P\":{\"x\":3}}",
                     "\"a\":[5,4],\"m\":{\"a/b\":6,\"\":7},\"d\":\"e\",\"p\":{\"x\":8}}"));
    patches(ALL_RECORD, "[{\"op\":\"move\",\"from\":\"/o\",\"path\":\"/u\"}]",
            "{\"n\":1,\"o\":null,\"u\":{\"int\":2}," ALL_REST);
    misfits(ALL_RECORD, "[{\"op\":\"copy\",\"from\":\"/d\",\"path\":\"/n\"}]", 0, "/n type\n");
    misfits(ALL_RECORD,
            "[{\"op\":\"copy\",\"from\":\"/u\",\"path\":\"/p\"},{\"op\":\"copy\",\"from\":\"/u\",\"path\":\"/"
            "a/-\"}]",
            1, "/a/2 type\n");
    misfits(ALL_RECORD, "[{\"op\":\"move\",\"from\":\"/n\",\"path\":\"/o\"}]", 0, "/n type\n");
    fails(ALL_RECORD, "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/0\"}]", ERR_BAD_PATCH, 0);
    fails(ALL_RECORD, "[{\"op\":\"move\",\"from\":\"/a/0\",\"path\":\"/a/2\"}]", ERR_NOT_APPLICABLE, 0);
}

/* ---- test ---- */

TEST(patch__test_compares_values_and_fills_nothing_in)
{
    use_schema(R(F("f", "\"float\"") "," F("g", "\"double\"") "," D("i", "\"int\"", "0") "," F(
        "r", "{\"type\":\"record\",\"name\":\"P\",\"fields\":[{\"name\":\"x\",\"type\":\"int\",\"default\":1}"
             "]}")));
    const char *record = "{\"f\":0.1,\"g\":100,\"i\":5,\"r\":{}}";
#define T(path, value) "[{\"op\":\"test\",\"path\":\"" path "\",\"value\":" value "}]"
    use_record(record);
    assert_int_equal(try_patch(edit_of_patch, SLICE(T("/f", "0.1"))), RC_OK);
    assert_int_equal(try_patch(edit_of_patch, SLICE(T("/g", "1e2"))), RC_OK);
    assert_int_equal(try_patch(edit_of_patch, SLICE(T("/i", "5.0"))), RC_OK);
    assert_int_equal(try_patch(edit_of_patch, SLICE(T("/r", "{\"x\":1}"))), RC_OK);
    opts.missing = MISSING_ZERO;
    opts.unknown = UNKNOWN_IGNORE;
    fails(record, T("/r", "{}"), ERR_TEST_FAILED, 0);
    fails(record, T("/r", "{\"x\":1,\"y\":2}"), ERR_TEST_FAILED, 0);
    fails(record, T("/i", "\"5\""), ERR_TEST_FAILED, 0);
    fails(record, T("/i", "null"), ERR_TEST_FAILED, 0);
    fails(record, T("/i", "99999999999999999999"), ERR_TEST_FAILED, 0);
    fails(record,
          "[{\"op\":\"test\",\"path\":\"/i\",\"value\":5},{\"op\":\"test\",\"path\":\"/g\",\"value\":5}]",
          ERR_TEST_FAILED, 1);
#undef T
}

TEST(patch__all_operations_or_none)
{
    use_schema(ALL);
    fails(ALL_RECORD,
          "[{\"op\":\"increment\",\"path\":\"/n\",\"by\":1},{\"op\":\"remove\",\"path\":\"/a/0\"},"
          "{\"op\":\"test\",\"path\":\"/a/0\",\"value\":4}]",
          ERR_TEST_FAILED, 2);
    patches(ALL_RECORD, "[]", ALL_WITH("{\"ns.P\":{\"x\":3}}", ALL_REST));
    assert_int_equal(changed, 0);
}

/* ---- increment ---- */

#define NUMBERS                                                                                              \
    R(F("i", "\"int\"") "," F("l", "\"long\"") "," F("f", "\"float\"") "," F("d", "\"double\"") "," F(       \
        "o",                                                                                                 \
        "[\"null\",\"long\"]") "," F("u",                                                                    \
                                     "[\"int\",\"double\",\"null\"]") "," F("s",                             \
                                                                            "\"string\"") "," F("t",         \
                                                                                                "{\"type\":" \
                                                                                                "\"long\","  \
                                                                                                "\"logicalT" \
                                                                                                "ype\":"     \
                                                                                                "\"timestam" \
                                                                                                "p-"         \
                                                                                                "millis\""   \
                                                                                                "}"))
#define INC(path, by) "[{\"op\":\"increment\",\"path\":\"" path "\",\"by\":" by "}]"

TEST(patch__increments_every_kind_of_number)
{
    use_schema(NUMBERS);
    const char *record =
        "{\"i\":1,\"l\":2,\"f\":0.5,\"d\":0.1,\"o\":3,\"u\":{\"double\":4},\"s\":\"\",\"t\":5}";
    patches(
        record,
        "[{\"op\":\"increment\",\"path\":\"/i\",\"by\":-2},{\"op\":\"increment\",\"path\":\"/l\",\"by\":1e3},"
        "{\"op\":\"increment\",\"path\":\"/f\",\"by\":1},{\"op\":\"increment\",\"path\":\"/d\",\"by\":0.2},"
        "{\"op\":\"increment\",\"path\":\"/o\",\"by\":9000000000},{\"op\":\"increment\",\"path\":\"/u/"
        "double\",\"by\":-0.5},"
        "{\"op\":\"increment\",\"path\":\"/t\",\"by\":1},{\"op\":\"increment\",\"path\":\"/t\",\"by\":0}]",
        "{\"i\":-1,\"l\":1002,\"f\":1.5,\"d\":0.30000000000000004,\"o\":9000000003,\"u\":{\"double\":3.5},"
        "\"s\":\"\",\"t\":6}");
    assert_int_equal(changed, 8);
    fails(record, INC("/s", "1"), ERR_NOT_APPLICABLE, 0);
    fails(record, INC("/u", "1"), ERR_NOT_APPLICABLE, 0);
    fails(record, INC("", "1"), ERR_NOT_APPLICABLE, 0);
    fails(record, INC("/i", "1.5"), ERR_NOT_APPLICABLE, 0);
    fails(record, INC("/i", "\"1\""), ERR_BAD_PATCH, 0);
    fails(record, INC("/i", "null"), ERR_BAD_PATCH, 0);
    fails("{\"i\":1,\"l\":2,\"f\":0.5,\"d\":0.1,\"o\":null,\"u\":null,\"s\":\"\",\"t\":5}", INC("/o", "1"),
          ERR_NOT_APPLICABLE, 0);
    fails("{\"i\":1,\"l\":2,\"f\":0.5,\"d\":0.1,\"o\":null,\"u\":null,\"s\":\"\",\"t\":5}", INC("/u", "1"),
          ERR_NOT_APPLICABLE, 0);
}

TEST(patch__increments_in_spelled_forms_too)
{
    use_schema(NUMBERS);
    opts.form = JSON_LOGICAL | JSON_INT64;
    patches(
        "{\"i\":1,\"l\":2,\"f\":0,\"d\":0,\"o\":3,\"u\":{\"int\":4},\"s\":\"\",\"t\":5}",
        "[{\"op\":\"increment\",\"path\":\"/l\",\"by\":1},{\"op\":\"increment\",\"path\":\"/t\",\"by\":1000},"
        "{\"op\":\"copy\",\"from\":\"/l\",\"path\":\"/o\"}]",
        "{\"i\":1,\"l\":3,\"f\":0.0,\"d\":0.0,\"o\":3,\"u\":{\"int\":4},\"s\":\"\",\"t\":1005}");
}

TEST(patch__increments_up_to_the_ends_of_the_ranges_and_not_beyond)
{
    use_schema(NUMBERS);
    const char *record = "{\"i\":2147483646,\"l\":-9223372036854775807,\"f\":3e38,\"d\":1.5e308,\"o\":null,"
                         "\"u\":null,\"s\":\"\",\"t\":9223372036854775807}";
    patches(
        record,
        "[{\"op\":\"increment\",\"path\":\"/i\",\"by\":1},{\"op\":\"increment\",\"path\":\"/l\",\"by\":-1}]",
        "{\"i\":2147483647,\"l\":-9223372036854775808,\"f\":3e38,\"d\":1.5e308,\"o\":null,\"u\":null,"
        "\"s\":\"\",\"t\":9223372036854775807}");
    misfits(record, INC("/i", "2"), 0, "/i range\n");
    misfits(record, INC("/i", "-4294967296"), 0, "/i range\n");
    misfits(record, INC("/l", "-2"), 0, "/l range\n");
    misfits(record, INC("/l", "99999999999999999999"), 0, "/l range\n");
    misfits(record, INC("/t", "1"), 0, "/t range\n");
    misfits(record, INC("/f", "3e38"), 0, "/f range\n");
    misfits(record, INC("/d", "1.5e308"), 0, "/d range\n");
    misfits(record, INC("/d", "1e999"), 0, "/d range\n");
    use_schema(R(F("f", "\"float\"") "," F("d", "\"double\"")));
    patches(
        "{\"f\":\"Infinity\",\"d\":\"NaN\"}",
        "[{\"op\":\"increment\",\"path\":\"/f\",\"by\":1},{\"op\":\"increment\",\"path\":\"/d\",\"by\":1}]",
        "{\"f\":\"Infinity\",\"d\":\"NaN\"}");
}

/* ---- documents ---- */

TEST(patch__refuses_documents_that_are_no_patch)
{
    static const struct {
        const char *document;
        int operation;
    } rows[] = {
        {"{}", -1},
        {"1", -1},
        {"[1]", 0},
        {"[{}]", 0},
        {"[{\"op\":\"add\",\"value\":1}]", 0},
        {"[{\"op\":\"add\",\"path\":\"/n\"}]", 0},
        {"[{\"path\":\"/n\",\"value\":1}]", 0},
        {"[{\"op\":1,\"path\":\"/n\",\"value\":1}]", 0},
        {"[{\"op\":\"Add\",\"path\":\"/n\",\"value\":1}]", 0},
        {"[{\"op\":\"add\",\"path\":\"n\",\"value\":1}]", 0},
        {"[{\"op\":\"add\",\"path\":1,\"value\":1}]", 0},
        {"[{\"op\":\"add\",\"path\":\"/~\",\"value\":1}]", 0},
        {"[{\"op\":\"add\",\"path\":\"/~2\",\"value\":1}]", 0},
        {"[{\"op\":\"test\",\"path\":\"/n\",\"value\":1},{\"op\":\"copy\",\"path\":\"/n\"}]", 1},
        {"[{\"op\":\"move\",\"path\":\"/n\",\"from\":\"x\"}]", 0},
        {"[{\"op\":\"move\",\"path\":\"/m/x\",\"from\":\"\"}]", 0},
        {"[{\"op\":\"increment\",\"path\":\"/n\"}]", 0},
        {"[{\"op\":\"increment\",\"path\":\"/n\",\"value\":1}]", 0},
    };
    use_schema(ALL);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        fails(ALL_RECORD, rows[i].document, ERR_BAD_PATCH, rows[i].operation);
    patch_fails(edit_of_patch, ALL_RECORD, "[", ERR_BAD_JSON, "");
}

TEST(patch__reads_escaped_names_and_ops)
{
    use_schema(ALL);
    patches(ALL_RECORD,
            "[ { \"p\\u0061th\" : \"/m/\\u00e9\\n\" , \"\\u006fp\":\"\\u0061dd\", \"value\" :\t1 } ] ",
            ALL_WITH("{\"ns.P\":{\"x\":3}}",
                     "\"a\":[4,5],\"m\":{\"a/b\":6,\"\":7,\"\u00e9\\n\":1},\"d\":\"e\",\"p\":{\"x\":8}}"));
}

TEST(patch__takes_as_many_operations_as_the_limit_says)
{
    struct buf patch = {0};
    use_schema(ALL);
    use_record(ALL_RECORD);
    for (int i = 0; i < LIMIT_PATCH_OPERATIONS_MAX; i++)
        assert_true(buf_printf(&patch, "%c{\"op\":\"increment\",\"path\":\"/n\",\"by\":1}", i ? ',' : '['));
    size_t len = patch.len;
    append(&patch, "]", 1);
    assert_int_equal(try_patch(edit_of_patch, buf_slice(&patch)), RC_OK);
    assert_int_equal(changed, LIMIT_PATCH_OPERATIONS_MAX);
    patch.len = len;
    append(&patch, ",{\"op\":\"increment\",\"path\":\"/n\",\"by\":1}]", 1);
    assert_int_equal(try_patch(edit_of_patch, buf_slice(&patch)), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_PATCH);
    buf_release(&patch);
}

/* ---- limits ---- */

TEST(patch__copies_that_nest_ever_deeper_end)
{
    struct buf patch = {0};
    use_schema(R(D("next", "[\"null\",\"R\"]", "null")));
    use_record("{}");
    for (int i = 0; i < 30; i++)
        assert_true(
            buf_printf(&patch, "%c{\"op\":\"copy\",\"from\":\"\",\"path\":\"/next\"}", i ? ',' : '['));
    append(&patch, "]", 1);
    assert_int_equal(try_patch(edit_of_patch, buf_slice(&patch)),
                     RC_OK); /* 31 levels: each is around all before it */
    patch.len = 0;
    append(&patch, "[{\"op\":\"add\",\"path\":\"/next\",\"value\":", 1);
    append(&patch, "{\"next\":", 1022);
    append(&patch, "{}", 1);
    append(&patch, "}", 1022);
    append(&patch, "}]", 1);
    assert_int_equal(try_patch(edit_of_patch, buf_slice(&patch)), RC_OK);
    patch.len -= 2;
    append(&patch, "},{\"op\":\"copy\",\"from\":\"\",\"path\":\"/next\"}]", 1);
    assert_int_equal(try_patch(edit_of_patch, buf_slice(&patch)), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
    assert_int_equal(err.operation, 2);
    buf_release(&patch);
}

TEST(patch__copies_that_grow_ever_longer_end)
{
    struct buf patch = {0};
    use_schema(R("{\"name\":\"a\",\"type\":" ARRAY(ARRAY("\"string\"")) "}"));
    use_record("{\"a\":[[\"0123456789012345678901234567890123456789012345678901234567890123456789\"]]}");
    append(&patch, "[{\"op\":\"copy\",\"from\":\"/a/0/0\",\"path\":\"/a/0/-\"}", 1);
    for (int i = 0; i < 900; i++)
        append(&patch,
               ",{\"op\":\"copy\",\"from\":\"/a/0\",\"path\":\"/a/-\"},{\"op\":\"copy\",\"from\":\"/a/0/"
               "0\",\"path\":\"/a/0/-\"}",
               i % 2);
    append(&patch, "]", 1);
    assert_int_equal(try_patch(edit_of_patch, buf_slice(&patch)), RC_OK);
    buf_release(&patch);
}

/* What is copied to where it is copied from doubles each time: budget or size end it before memory does. */
TEST(patch__copies_that_double_end)
{
    struct buf patch = {0};
    use_schema(R("{\"name\":\"a\",\"type\":" ARRAY("[\"string\"," ARRAY("\"R\"") "]") "}"));
    use_record(
        "{\"a\":[{\"string\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"},{"
        "\"array\":[]}]}");
    for (int i = 0; i < 100; i++)
        assert_true(
            buf_printf(&patch, "%c{\"op\":\"copy\",\"from\":\"\",\"path\":\"/a/1/array/-\"}", i ? ',' : '['));
    append(&patch, "]", 1);
    assert_int_equal(try_patch(edit_of_patch, buf_slice(&patch)), RC_ERR);
    assert_true(err.code == ERR_TOO_MUCH_WORK || err.code == ERR_RECORD_TOO_LARGE ||
                err.code == ERR_TOO_DEEP);
    buf_release(&patch);
}

TEST_MAIN()
