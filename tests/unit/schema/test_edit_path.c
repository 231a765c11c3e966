/* tests/unit/schema/test_edit_path.c - changes by path: every verb on every kind of field, what is refused, and where. */
#include "base/limits.h"
#include "schema/edit.h"
#include "tests/unit/schema/codec_fixture.h"

static struct buf avro, changed_avro;
static struct arena edit_arena, scratch;
static uint64_t changed;

__attribute__((destructor)) static void edit_end(void)
{
    buf_release(&avro);
    buf_release(&changed_avro);
    arena_release(&edit_arena);
    arena_release(&scratch);
}

static void record(const char *json)
{
    if (encode_json(json))
        fail_msg("%s: %s", json, err.message);
    avro.len = 0;
    assert_true(buf_append(&avro, buf_slice(&out)));
}

static enum rc change_within(enum path_verb verb, const char *path, const char *json, bool brief)
{
    struct edit *edit;
    arena_reset(&edit_arena);
    arena_reset(&scratch);
    changed_avro.len = 0;
    changed = 0;
    if (edit_of_path(&edit, schema, &opts, verb, slice_str(path), slice_str(json), &edit_arena, &err) !=
        RC_OK)
        return RC_ERR;
    enum rc rc = edit_apply(edit, codec, brief, buf_slice(&avro), &changed_avro, &changed, &scratch, &err);
    assert_true(rc == RC_OK || changed_avro.len == 0);
    return rc;
}

/* The record becomes that, by so many changes; and stays so for what comes next. */
static void becomes(enum path_verb verb, const char *path, const char *json, uint64_t n, const char *want)
{
    if (change_within(verb, path, json, false) != RC_OK)
        fail_msg("%s: %s", path, err.message);
    text.len = 0;
    assert_int_equal(codec_to_json(schema, opts.form, buf_slice(&changed_avro), &text, &err), RC_OK);
    if (!slice_eq(buf_slice(&text), slice_str(want)) || changed != n)
        fail_msg("%s\ngot  %.*s, %u changed\nwant %s", path, (int)text.len, (const char *)text.ptr,
                 (unsigned)changed, want);
    if (!n)
        assert_true(slice_eq(buf_slice(&avro), buf_slice(&changed_avro)));
    avro.len = 0;
    assert_true(buf_append(&avro, buf_slice(&changed_avro)));
}

static void fails(enum path_verb verb, const char *path, const char *json, enum err_code code,
                  const char *words)
{
    if (change_within(verb, path, json, false) == RC_OK)
        fail_msg("%s: taken", path);
    if (err.code != code || !strstr(err.message, words))
        fail_msg("%s: %s: %s", path, err_slug(err.code), err.message);
}

/* BAD_RECORD; the problems, one a line: pointer and code. */
static void misfits(enum path_verb verb, const char *path, const char *json, const char *want)
{
    fails(verb, path, json, ERR_BAD_RECORD, "");
    text.len = 0;
    for (const struct problem *p = err.first; p; p = p->next)
        assert_true(buf_printf(&text, "%.*s %s\n", (int)p->pointer.len, (const char *)p->pointer.ptr,
                               problem_slug(p->code)));
    assert_slice_str(buf_slice(&text), want);
}

#define RECORD(name, fields) "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":[" fields "]}"
#define FIELD(name, type)    "{\"name\":\"" name "\",\"type\":" type "}"
#define ARRAY(items)         "{\"type\":\"array\",\"items\":" items "}"
#define MAP(values)          "{\"type\":\"map\",\"values\":" values "}"
#define INT                  "\"int\""
#define STRING               "\"string\""

static const char account[] =
    RECORD("Account",
           FIELD("id", STRING) "," FIELD(
               "chargeRecords",
               ARRAY(RECORD(
                   "Charge",
                   FIELD("time", "\"long\"") "," FIELD(
                       "amount", "\"double\"")))) "," FIELD("devApps",
                                                            MAP(RECORD("Apps", FIELD("numBlackApps", INT)))));

static void use_account(void)
{
    use_schema(account);
    record("{\"id\":\"x\",\"chargeRecords\":[{\"time\":1,\"amount\":100},{\"time\":2,\"amount\":-50}],"
           "\"devApps\":{\"a\":{\"numBlackApps\":1},\"b\":{\"numBlackApps\":2},\"c\":{\"numBlackApps\":3}}}");
}

#define CHARGES(charges)                                                                                     \
    "{\"id\":\"x\",\"chargeRecords\":[" charges                                                              \
    "],\"devApps\":{\"a\":{\"numBlackApps\":1},\"b\":{\"numBlackApps\":2},\"c\":{\"numBlackApps\":3}}}"
#define APPS(apps)                                                                                           \
    "{\"id\":\"x\",\"chargeRecords\":[{\"time\":1,\"amount\":100.0},{\"time\":2,\"amount\":-50.0}],"         \
    "\"devApps\":{" apps "}}"

/* ---- the language's own examples ---- */

TEST(edit_path__does_what_the_languages_examples_say)
{
    use_account();
    becomes(PATH_UPDATE, ".chargeRecords[0].time", "1234", 1,
            CHARGES("{\"time\":1234,\"amount\":100.0},{\"time\":2,\"amount\":-50.0}"));
    becomes(
        PATH_INSERT, ".chargeRecords", "{\"time\":4,\"amount\":-4.0}", 1,
        CHARGES(
            "{\"time\":1234,\"amount\":100.0},{\"time\":2,\"amount\":-50.0},{\"time\":4,\"amount\":-4.0}"));
    becomes(PATH_DELETE, ".chargeRecords{.time < 1000}", "", 2, CHARGES("{\"time\":1234,\"amount\":100.0}"));
    use_account();
    becomes(PATH_UPDATE, ".devApps(\"a\"|\"b\").numBlackApps", "1234", 2,
            APPS("\"a\":{\"numBlackApps\":1234},\"b\":{\"numBlackApps\":1234},\"c\":{\"numBlackApps\":3}"));
    becomes(PATH_INSERTALL, ".devApps", "{\"g\":{\"numBlackApps\":1},\"a\":{\"numBlackApps\":10}}", 2,
            APPS("\"a\":{\"numBlackApps\":10},\"b\":{\"numBlackApps\":1234},\"c\":{\"numBlackApps\":3},\"g\":"
                 "{\"numBlackApps\":1}"));
    becomes(PATH_CLEAR, ".devApps", "", 1, APPS(""));
    becomes(PATH_CLEAR, ".devApps", "", 0, APPS(""));
}

/* ---- update ---- */

TEST(edit_path__replaces_each_value_that_is_found)
{
    use_account();
    becomes(PATH_UPDATE, ".chargeRecords.amount", "7", 2,
            CHARGES("{\"time\":1,\"amount\":7.0},{\"time\":2,\"amount\":7.0}"));
    becomes(PATH_UPDATE, ".chargeRecords{.time == 2}", " {\"amount\":1,\"time\":5} ", 1,
            CHARGES("{\"time\":1,\"amount\":7.0},{\"time\":5,\"amount\":1.0}"));
    becomes(PATH_UPDATE, ".chargeRecords", "[]", 1, CHARGES(""));
    becomes(PATH_UPDATE, ".chargeRecords[0].time", "1", 0, CHARGES(""));
    becomes(PATH_UPDATE, ".devApps{.numBlackApps > 1}.numBlackApps", "-1", 2,
            "{\"id\":\"x\",\"chargeRecords\":[],\"devApps\":{\"a\":{\"numBlackApps\":1},\"b\":{"
            "\"numBlackApps\":-1},\"c\":{\"numBlackApps\":-1}}}");
}

TEST(edit_path__merges_an_object_into_the_record_one_level_deep)
{
    use_account();
    becomes(PATH_UPDATE, ".", "{\"id\":\"y\",\"devApps\":{\"z\":{\"numBlackApps\":0}}}", 2,
            "{\"id\":\"y\",\"chargeRecords\":[{\"time\":1,\"amount\":100.0},{\"time\":2,\"amount\":-50.0}],"
            "\"devApps\":{\"z\":{\"numBlackApps\":0}}}");
    becomes(PATH_UPDATE, ".{.id == \"no\"}", "{\"id\":\"z\"}", 0,
            "{\"id\":\"y\",\"chargeRecords\":[{\"time\":1,\"amount\":100.0},{\"time\":2,\"amount\":-50.0}],"
            "\"devApps\":{\"z\":{\"numBlackApps\":0}}}");
    misfits(PATH_UPDATE, ".",
            "{\"nope\":1,\"id\":1,\"chargeRecords\":[{\"time\":null,\"amount\":1}],\"a/b\":2}",
            "/id type\n/chargeRecords/0/time type\n/nope unknown\n/a~1b unknown\n");
    misfits(PATH_UPDATE, ".", "[1]", " type\n");
    misfits(PATH_UPDATE, ".", "{\"id\":null}", "/id type\n");
    opts.unknown = UNKNOWN_IGNORE;
    becomes(PATH_UPDATE, ".", "{\"nope\":1}", 0,
            "{\"id\":\"y\",\"chargeRecords\":[{\"time\":1,\"amount\":100.0},{\"time\":2,\"amount\":-50.0}],"
            "\"devApps\":{\"z\":{\"numBlackApps\":0}}}");
    use_schema(RECORD("R", FIELD("u", "[\"null\"," INT "]") "," FIELD("n", INT)));
    record("{\"u\":1,\"n\":2}");
    becomes(PATH_UPDATE, ".", "{\"u\":null}", 1, "{\"u\":null,\"n\":2}");
    becomes(PATH_UPDATE, ".", "{}", 0, "{\"u\":null,\"n\":2}");
}

TEST(edit_path__knows_other_roots)
{
    use_schema(MAP(INT));
    record("{\"a\":1}");
    becomes(PATH_UPDATE, ".", "{\"b\":2,\"a\":3}", 2, "{\"a\":3,\"b\":2}");
    becomes(PATH_INSERT, ".", "{\"c\":2}", 1, "{\"a\":3,\"b\":2,\"c\":2}");
    becomes(PATH_DELETE, "(\"a\")", "", 1, "{\"b\":2,\"c\":2}");
    becomes(PATH_CLEAR, ".", "", 1, "{}");
    use_schema(ARRAY(INT));
    record("[1,2]");
    becomes(PATH_UPDATE, ".", "[3]", 1, "[3]");
    becomes(PATH_INSERTALL, ".", "[4,5,6]", 3, "[3,4,5,6]");
    becomes(PATH_DELETE, "[1:3]", "", 2, "[3,6]");
    becomes(PATH_UPDATE, "[-1]", "7", 1, "[3,7]");
    becomes(PATH_UPDATE, "{. > 3}", "8", 1, "[3,8]");
    use_schema(INT);
    record("1");
    becomes(PATH_UPDATE, ".", "2", 1, "2");
    becomes(PATH_UPDATE, ".{. == 1}", "3", 0, "2");
    fails(PATH_CLEAR, ".", "", ERR_NOT_APPLICABLE, "never leads");
}

TEST(edit_path__leaves_what_is_inside_of_what_was_replaced)
{
    use_schema(RECORD("N", FIELD("v", INT) "," FIELD("next", "[\"null\",\"N\"]")));
    record("{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":3,\"next\":null}}}");
    becomes(PATH_UPDATE, "..v", "0", 3, "{\"v\":0,\"next\":{\"v\":0,\"next\":{\"v\":0,\"next\":null}}}");
    becomes(PATH_UPDATE, ".next.next", "{\"v\":9,\"next\":null}", 1,
            "{\"v\":0,\"next\":{\"v\":0,\"next\":{\"v\":9,\"next\":null}}}");
    becomes(PATH_UPDATE, "..next{.v == 9 || .v == 0}", "{\"v\":7,\"next\":null}", 1,
            "{\"v\":0,\"next\":{\"v\":7,\"next\":null}}");
    becomes(PATH_UPDATE, "..next", "null", 1, "{\"v\":0,\"next\":null}");
    becomes(PATH_UPDATE, ".next.v", "1", 0, "{\"v\":0,\"next\":null}");
}

TEST(edit_path__updates_every_kind_of_field)
{
    use_schema(RECORD(
        "R",
        FIELD("t", "\"boolean\"") "," FIELD("i", INT) "," FIELD("l", "\"long\"") "," FIELD(
            "x",
            "\"float"
            "\"") "," FIELD("d",
                            "\"double\"") "," FIELD("s",
                                                    STRING) "," FIELD("b",
                                                                      "\"bytes\"") "," FIELD("q",
                                                                                             "{\"type\":"
                                                                                             "\"fixed\","
                                                                                             "\"name\":\"Q\","
                                                                                             "\"size\":"
                                                                                             "2}") "," FIELD("e",
                                                                                                             "{\"type\":\"enum\",\"name\":"
                                                                                                             "\"E\",\"symbols\":[\"Red\","
                                                                                                             "\"Green\"]}") "," FIELD("u",
                                                                                                                                      "[\"nu"
                                                                                                                                      "ll\""
                                                                                                                                      "," INT
                                                                                                                                      "," STRING
                                                                                                                                      "," MAP(INT) "," RECORD(
                                                                                                                                          "I",
                                                                                                                                          FIELD(
                                                                                                                                              "y",
                                                                                                                                              INT)) "]")));
    record("{\"t\":true,\"i\":1,\"l\":2,\"x\":3,\"d\":4,\"s\":\"\",\"b\":\"\",\"q\":\"ab\",\"e\":\"Red\","
           "\"u\":null}");
    const char *const changes[][2] = {{".t", "false"},
                                      {".i", "-1"},
                                      {".l", "9223372036854775807"},
                                      {".x", "0.5"},
                                      {".d", "\"NaN\""},
                                      {".s", "\"\\u00e9\""},
                                      {".b", "\"\\u00ff\""},
                                      {".q", "\"cd\""},
                                      {".e", "\"Green\""},
                                      {".u", "{\"I\":{\"y\":1}}"},
                                      {".u.y", "2"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        assert_int_equal(change_within(PATH_UPDATE, changes[i][0], changes[i][1], false), RC_OK);
        avro.len = 0;
        assert_true(buf_append(&avro, buf_slice(&changed_avro)));
    }
    becomes(PATH_UPDATE, ".i", "-2", 1,
            "{\"t\":false,\"i\":-2,\"l\":9223372036854775807,\"x\":0.5,\"d\":\"NaN\",\"s\":\"\xc3\xa9\","
            "\"b\":\"\xc3\xbf\",\"q\":\"cd\",\"e\":\"Green\",\"u\":{\"I\":{\"y\":2}}}");
    misfits(PATH_UPDATE, ".i", "2147483648", "/i range\n");
    misfits(PATH_UPDATE, ".q", "\"abc\"", "/q size\n");
    misfits(PATH_UPDATE, ".e", "\"Blue\"", "/e symbol\n");
    misfits(PATH_UPDATE, ".u.y", "true", "/u/I/y type\n");
    misfits(PATH_UPDATE, ".u", "{\"I\":{}}", "/u/I/y missing\n");
}

/* ---- insert and insertall ---- */

TEST(edit_path__inserts_into_each_array_and_map)
{
    use_schema(RECORD("R", FIELD("a", ARRAY(ARRAY(INT))) "," FIELD("m", MAP(MAP(INT))) "," FIELD(
                               "n", "[\"null\"," ARRAY(INT) "]") "," FIELD("u", "[" INT "," MAP(INT) "]")));
    record("{\"a\":[[1],[]],\"m\":{\"x\":{},\"y\":{\"k\":1}},\"n\":null,\"u\":{\"map\":{}}}");
    becomes(PATH_INSERT, ".a[0:2]", "5", 2,
            "{\"a\":[[1,5],[5]],\"m\":{\"x\":{},\"y\":{\"k\":1}},\"n\":null,\"u\":{\"map\":{}}}");
    becomes(PATH_INSERT, ".a", "[6]", 1,
            "{\"a\":[[1,5],[5],[6]],\"m\":{\"x\":{},\"y\":{\"k\":1}},\"n\":null,\"u\":{\"map\":{}}}");
    becomes(PATH_DELETE, ".a[*]", "", 3,
            "{\"a\":[],\"m\":{\"x\":{},\"y\":{\"k\":1}},\"n\":null,\"u\":{\"map\":{}}}");
    becomes(PATH_INSERT, ".m.*", "{\"k\":2}", 2,
            "{\"a\":[],\"m\":{\"x\":{\"k\":2},\"y\":{\"k\":2}},\"n\":null,\"u\":{\"map\":{}}}");
    becomes(PATH_INSERTALL, ".m", "{\"x\":{},\"z\":{\"q\":1}}", 2,
            "{\"a\":[],\"m\":{\"x\":{},\"y\":{\"k\":2},\"z\":{\"q\":1}},\"n\":null,\"u\":{\"map\":{}}}");
    becomes(PATH_INSERT, ".n", "1", 0,
            "{\"a\":[],\"m\":{\"x\":{},\"y\":{\"k\":2},\"z\":{\"q\":1}},\"n\":null,\"u\":{\"map\":{}}}");
    becomes(PATH_UPDATE, ".n", "[0]", 1,
            "{\"a\":[],\"m\":{\"x\":{},\"y\":{\"k\":2},\"z\":{\"q\":1}},\"n\":[0],\"u\":{\"map\":{}}}");
    becomes(PATH_INSERTALL, ".n", "[1,2]", 2,
            "{\"a\":[],\"m\":{\"x\":{},\"y\":{\"k\":2},\"z\":{\"q\":1}},\"n\":[0,1,2],\"u\":{\"map\":{}}}");
    becomes(PATH_INSERT, ".u", "{\"\\u00e9\":1}", 1,
            "{\"a\":[],\"m\":{\"x\":{},\"y\":{\"k\":2},\"z\":{\"q\":1}},\"n\":[0,1,2],\"u\":{\"map\":{"
            "\"\xc3\xa9\":1}}}");
    becomes(PATH_INSERTALL, ".n", "[]", 0,
            "{\"a\":[],\"m\":{\"x\":{},\"y\":{\"k\":2},\"z\":{\"q\":1}},\"n\":[0,1,2],\"u\":{\"map\":{"
            "\"\xc3\xa9\":1}}}");
}

TEST(edit_path__tells_what_cannot_be_inserted_and_where)
{
    use_account();
    misfits(PATH_INSERT, ".chargeRecords", "{\"time\":\"x\"}",
            "/chargeRecords/2/time type\n/chargeRecords/2/amount missing\n");
    misfits(PATH_INSERTALL, ".chargeRecords", "[{\"time\":1,\"amount\":1},{\"time\":1},3]",
            "/chargeRecords/3/amount missing\n/chargeRecords/4 type\n");
    misfits(PATH_INSERTALL, ".chargeRecords", "{}", "/chargeRecords type\n");
    misfits(PATH_INSERTALL, ".devApps", "[]", "/devApps type\n");
    misfits(PATH_INSERTALL, ".devApps", "{\"a/b\":{\"numBlackApps\":1.5},\"c\":4}",
            "/devApps/a~1b/numBlackApps type\n/devApps/c type\n");
    misfits(PATH_INSERT, ".devApps", "{}", "/devApps type\n");
    misfits(PATH_INSERT, ".devApps", "{\"d\":{\"numBlackApps\":1},\"e\":{\"numBlackApps\":1}}",
            "/devApps type\n");
    misfits(PATH_INSERT, ".devApps", "3", "/devApps type\n");
    fails(PATH_INSERT, ".id", "3", ERR_NOT_APPLICABLE, "inserted into");
    fails(PATH_INSERTALL, ".chargeRecords.time", "[3]", ERR_NOT_APPLICABLE, "inserted into");
}

/* ---- delete and clear ---- */

TEST(edit_path__deletes_elements_and_entries)
{
    use_account();
    becomes(PATH_DELETE, ".devApps(\"b\")", "", 1,
            APPS("\"a\":{\"numBlackApps\":1},\"c\":{\"numBlackApps\":3}"));
    becomes(PATH_DELETE, ".devApps(\"b\")", "", 0,
            APPS("\"a\":{\"numBlackApps\":1},\"c\":{\"numBlackApps\":3}"));
    becomes(PATH_DELETE, ".devApps{.numBlackApps > 2}", "", 1, APPS("\"a\":{\"numBlackApps\":1}"));
    becomes(PATH_DELETE, "(.chargeRecords[-1]|.devApps.*)", "", 2,
            "{\"id\":\"x\",\"chargeRecords\":[{\"time\":1,\"amount\":100.0}],\"devApps\":{}}");
    use_schema(RECORD("R", FIELD("m", ARRAY(ARRAY(INT)))));
    record("{\"m\":[[1,2],[3,4],[5,1]]}");
    becomes(PATH_DELETE, ".m[1]", "", 1, "{\"m\":[[1,2],[5,1]]}");
    becomes(PATH_DELETE, "(.m[0][0]|.m[1][1])", "", 2, "{\"m\":[[2],[5]]}");
    becomes(PATH_DELETE, "(.m[0]|.m[0][0])", "", 2, "{\"m\":[[5]]}");
}

TEST(edit_path__does_not_delete_fields)
{
    use_account();
    fails(PATH_DELETE, ".id", "", ERR_NOT_APPLICABLE, "\"id\" is a field of the record Account");
    fails(PATH_DELETE, ".chargeRecords", "", ERR_NOT_APPLICABLE, "\"chargeRecords\" is a field");
    fails(PATH_DELETE, ".chargeRecords[0].time", "", ERR_NOT_APPLICABLE,
          "\"time\" is a field of the record Charge");
    fails(PATH_DELETE, ".", "", ERR_NOT_APPLICABLE, "the record itself");
    becomes(PATH_DELETE, ".chargeRecords{.time > 5}.time", "", 0,
            CHARGES("{\"time\":1,\"amount\":100.0},{\"time\":2,\"amount\":-50.0}"));
    use_schema(RECORD("R", FIELD("u", "[\"null\"," RECORD("I", FIELD("y", INT)) "]")));
    record("{\"u\":{\"y\":1}}");
    fails(PATH_DELETE, ".u", "", ERR_NOT_APPLICABLE, "\"u\" is a field");
}

TEST(edit_path__clears_arrays_and_maps_and_nothing_else)
{
    use_schema(RECORD("R", FIELD("a", ARRAY(INT)) "," FIELD("m", MAP(ARRAY(INT))) "," FIELD(
                               "n", "[\"null\"," ARRAY(INT) "]") "," FIELD("i", INT)));
    record("{\"a\":[1],\"m\":{\"x\":[1],\"y\":[]},\"n\":null,\"i\":1}");
    becomes(PATH_CLEAR, ".m.*", "", 1, "{\"a\":[1],\"m\":{\"x\":[],\"y\":[]},\"n\":null,\"i\":1}");
    becomes(PATH_CLEAR, "..*", "", 2, "{\"a\":[],\"m\":{},\"n\":null,\"i\":1}");
    becomes(PATH_CLEAR, ".n", "", 0, "{\"a\":[],\"m\":{},\"n\":null,\"i\":1}");
    fails(PATH_CLEAR, ".i", "", ERR_NOT_APPLICABLE, "cleared");
}

/* ---- what is refused before a record is looked at ---- */

TEST(edit_of_path__refuses_what_is_wrong_whatever_the_record_is)
{
    use_account();
    fails(PATH_UPDATE, ".nope", "1", ERR_BAD_PATH, "'nope'");
    assert_int_equal(err.column, 1);
    fails(PATH_UPDATE, ".id", "x", ERR_BAD_JSON, "");
    assert_int_equal(err.line, 1);
    fails(PATH_UPDATE, ".id", "", ERR_BAD_JSON, "");
    fails(PATH_UPDATE, ".id", "\"a\" 1", ERR_BAD_JSON, "");
    fails(PATH_INSERTALL, ".devApps", "{\"a\":1,\"a\":1}", ERR_BAD_JSON, "");
    fails(PATH_UPDATE, ".chargeRecords{.time > 9}.time", "}", ERR_BAD_JSON, "");
}

/* ---- forms and limits ---- */

TEST(edit_path__takes_the_form_that_the_body_has)
{
    use_schema(RECORD(
        "R", FIELD("d", "{\"type\":" INT ",\"logicalType\":\"date\"}") "," FIELD("b", ARRAY("\"bytes\""))));
    record("{\"d\":1,\"b\":[]}");
    opts.form = JSON_LOGICAL | JSON_BASE64;
    becomes(PATH_UPDATE, ".d", "\"1970-01-03\"", 1, "{\"d\":\"1970-01-03\",\"b\":[]}");
    becomes(PATH_INSERT, ".b", "\"/w==\"", 1, "{\"d\":\"1970-01-03\",\"b\":[\"/w==\"]}");
    becomes(PATH_UPDATE, ".{.d == 2}", "{\"d\":\"1970-01-01\"}", 1,
            "{\"d\":\"1970-01-01\",\"b\":[\"/w==\"]}");
}

TEST(edit_path__gives_up_what_takes_too_long_on_the_writer)
{
    use_schema(RECORD("R", FIELD("a", ARRAY(INT))));
    struct buf json = {0};
    append(&json, "{\"a\":[0", 1);
    append(&json, ",1", 200000);
    append(&json, "]}", 1);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_OK);
    avro.len = 0;
    assert_true(buf_append(&avro, buf_slice(&out)));
    assert_int_equal(change_within(PATH_DELETE, ".a{. == 1}", "", true), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_MUCH_WORK);
    becomes(PATH_DELETE, ".a{. == 1}", "", 200000, "{\"a\":[0]}");
    buf_release(&json);
}

TEST(edit_path__does_not_let_a_record_grow_too_deep)
{
    use_schema(RECORD("N", FIELD("next", ARRAY("\"N\""))));
    record("{\"next\":[]}");
    int depth = 2; /* a record and an array each */
    while (change_within(PATH_INSERT, depth == 2 ? ".next" : "..next{!.next}.next", "{\"next\":[]}", false) ==
           RC_OK) {
        depth += 2;
        avro.len = 0;
        assert_true(buf_append(&avro, buf_slice(&changed_avro)));
    }
    assert_int_equal(err.code, ERR_TOO_DEEP);
    assert_int_equal(depth, LIMIT_DATA_DEPTH_MAX);
}

TEST_MAIN()
