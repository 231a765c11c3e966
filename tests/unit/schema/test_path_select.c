/* tests/unit/schema/test_path_select.c - what paths find: steps, positions, keys, predicates and their conversions, the order,
 * the limits. */
#include "base/limits.h"
#include "schema/edit.h"
#include "tests/unit/schema/codec_fixture.h"

static struct buf avro, found;
static struct arena path_arena;

__attribute__((destructor)) static void path_end(void)
{
    buf_release(&avro);
    buf_release(&found);
    arena_release(&path_arena);
}

static void record(const char *json)
{
    if (encode_json(json))
        fail_msg("%s: %s", json, err.message);
    avro.len = 0;
    assert_true(buf_append(&avro, buf_slice(&out)));
}

static enum rc find_slice(struct slice text_of_path, bool brief, size_t bytes_max)
{
    struct path *path;
    arena_reset(&path_arena);
    found.len = 0;
    if (path_parse(&path, schema, text_of_path, &path_arena, &err) != RC_OK)
        return RC_ERR;
    return path_select(path, opts.form, brief, bytes_max, buf_slice(&avro), &found, &path_arena, &err);
}

static void finds(const char *path, const char *want)
{
    if (find_slice(slice_str(path), false, LIMIT_JSON_MAX) != RC_OK)
        fail_msg("%s: %s", path, err.message);
    if (!slice_eq(buf_slice(&found), slice_str(want)))
        fail_msg("%s\ngot  %.*s\nwant %s", path, (int)found.len, (const char *)found.ptr, want);
}

/* A predicate about the record holds, or does not. */
static void holds(const char *predicate, bool want)
{
    char path[512];
    snprintf(path, sizeof path, ".{%s}", predicate);
    if (find_slice(slice_str(path), false, LIMIT_JSON_MAX) != RC_OK)
        fail_msg("%s: %s", path, err.message);
    if ((found.len > 2) != want)
        fail_msg("%s: %.*s", path, (int)found.len, (const char *)found.ptr);
}

#define RECORD(name, fields) "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":[" fields "]}"
#define FIELD(name, type)    "{\"name\":\"" name "\",\"type\":" type "}"
#define ARRAY(items)         "{\"type\":\"array\",\"items\":" items "}"
#define MAP(values)          "{\"type\":\"map\",\"values\":" values "}"
#define INT                  "\"int\""
#define STRING               "\"string\""

static const char shelf[] = RECORD(
    "Shelf",
    FIELD(
        "books",
        ARRAY(RECORD(
            "Book",
            FIELD("id", INT) "," FIELD("title", STRING) "," FIELD("author", RECORD("Author", FIELD("name", STRING))) "," FIELD(
                "price",
                "\"double\"") "," FIELD("tags",
                                        ARRAY(STRING))))) "," FIELD("stock",
                                                                    MAP(RECORD(
                                                                        "Stock",
                                                                        FIELD("n", INT) "," FIELD(
                                                                            "by",
                                                                            MAP(INT))))) "," FIELD("owner",
                                                                                                   "[\"null\""
                                                                                                   ",\"Author"
                                                                                                   "\"]"));

static void use_shelf(void)
{
    use_schema(shelf);
    record(
        "{\"books\":["
        "{\"id\":1,\"title\":\"Clean "
        "Code\",\"author\":{\"name\":\"Robert\"},\"price\":17.96,\"tags\":[\"a\",\"b\"]},"
        "{\"id\":2,\"title\":\"Maintainable\",\"author\":{\"name\":\"Nicholas\"},\"price\":10,\"tags\":[]},"
        "{\"id\":3,\"title\":\"Agile\",\"author\":{\"name\":\"Robert\"},\"price\":20,\"tags\":[\"b\"]},"
        "{\"id\":4,\"title\":\"Good "
        "Parts\",\"author\":{\"name\":\"Douglas\"},\"price\":15.67,\"tags\":[\"c\",\"d\",\"e\"]}],"
        "\"stock\":{\"a\":{\"n\":1,\"by\":{\"x\":7}},\"b\":{\"n\":2,\"by\":{}},\"ca\":{\"n\":3,\"by\":{\"x\":"
        "8,\"y\":9}}},"
        "\"owner\":{\"name\":\"Me\"}}");
}

/* ---- steps ---- */

TEST(path_select__finds_fields_through_arrays_and_unions)
{
    use_shelf();
    finds(".books.title", "[\"Clean Code\",\"Maintainable\",\"Agile\",\"Good Parts\"]");
    finds(".books.author",
          "[{\"name\":\"Robert\"},{\"name\":\"Nicholas\"},{\"name\":\"Robert\"},{\"name\":\"Douglas\"}]");
    finds(".books.tags", "[\"a\",\"b\",\"b\",\"c\",\"d\",\"e\"]");
    finds(".owner.name", "[\"Me\"]");
    finds(".owner", "[{\"name\":\"Me\"}]");
    finds(".stock(\"b\")", "[{\"n\":2,\"by\":{}}]");
}

TEST(path_select__finds_at_any_depth_in_document_order)
{
    use_shelf();
    finds("..name", "[\"Robert\",\"Nicholas\",\"Robert\",\"Douglas\",\"Me\"]");
    finds("..n", "[1,2,3]");
    finds(".stock..*", "[{\"n\":1,\"by\":{\"x\":7}},1,{\"x\":7},7,{\"n\":2,\"by\":{}},2,{},"
                       "{\"n\":3,\"by\":{\"x\":8,\"y\":9}},3,{\"x\":8,\"y\":9},8,9]");
    finds(".stock.*", "[{\"n\":1,\"by\":{\"x\":7}},{\"n\":2,\"by\":{}},{\"n\":3,\"by\":{\"x\":8,\"y\":9}}]");
    finds(".stock.*.by.*", "[7,8,9]");
    finds(".owner.*", "[\"Me\"]");
    finds("..name.*", "[]");
}

TEST(path_select__counts_in_what_was_found)
{
    use_shelf();
    finds(".books[0].title", "[\"Clean Code\"]");
    finds(".books.title[0]", "[\"Clean Code\"]");
    finds(".books[-1].title", "[\"Good Parts\"]");
    finds(".books[4]", "[]");
    finds(".books[-5]", "[]");
    finds(".books[:2].id", "[1,2]");
    finds(".books[-2:].id", "[3,4]");
    finds(".books[1:3].id", "[2,3]");
    finds(".books[3:1].id", "[]");
    finds(".books[-9:9].id", "[1,2,3,4]");
    finds(".books[:-1].id", "[1,2,3]");
    finds(".books[*].id", "[1,2,3,4]");
    finds(".books.tags[1]", "[\"b\"]");
    finds(".books.tags[-1:]", "[\"e\"]");
    finds(".books[0].tags[1]", "[\"b\"]");
    finds(".books[1:3][0].id", "[2]");
    finds(".owner[0].name", "[\"Me\"]");
    finds(".books[9223372036854775807]", "[]");
    finds(".books[-9223372036854775807:].id", "[1,2,3,4]");
}

TEST(path_select__finds_keys)
{
    use_shelf();
    finds(".stock(\"a\").n", "[1]");
    finds(".stock(\"ca\"|\"a\").n", "[1,3]");
    finds(".stock(~\"a\").n", "[1,3]");
    finds(".stock(~\"^a\"|\"b\").n", "[1,2]");
    finds(".stock(\"nothing\")", "[]");
    finds(".stock(~\"^$\")", "[]");
    finds(".stock.*.by(\"x\")", "[7,8]");
    finds(".(\"owner\")", "[{\"name\":\"Me\"}]");
    finds(".(~\"^own\").name", "[\"Me\"]");
}

TEST(path_select__unites_alternatives_in_document_order_each_value_once)
{
    use_shelf();
    finds("(.owner|.stock(\"b\").by)", "[{},{\"name\":\"Me\"}]");
    finds("(.owner|.owner|.owner.name)", "[{\"name\":\"Me\"},\"Me\"]");
    finds(".books(.title|.id)[:3]", "[1,\"Clean Code\",2]");
    finds("(.books[-1]|.books[0]).id", "[1,4]");
    finds("(.books|.books[1])[1].id", "[2]");
    finds("(.stock..*|.stock.*)(\"x\")", "[7,8]");
    finds("(.books(.id|[0].title))", "[1,\"Clean Code\",2,3,4]");
}

TEST(path_select__keeps_what_a_predicate_holds_of)
{
    use_shelf();
    finds(".books{.author.name === \"Robert\"}.title", "[\"Clean Code\",\"Agile\"]");
    finds(".books{.price < 17}.title", "[\"Maintainable\",\"Good Parts\"]");
    finds(".books{.price < 17}{.price > 12}[0].title", "[\"Good Parts\"]");
    finds(".books{.price < 20 && .author{.name *== \"Nich\" || .name *== \"Rob\"}}.id", "[1,2]");
    finds(".books{.tags == \"b\"}.id", "[1,3]");
    finds(".books{.tags}.id", "[1,3,4]");
    finds(".books{!.tags}.id", "[2]");
    finds(".books{.tags[1]}.id", "[1,4]");
    finds(".books{.id == ^.stock.*.n}.id", "[1,2,3]");
    finds(".books{.price == ^.books[-1].price}.id", "[4]");
    finds(".books.tags{. > \"b\"}", "[\"c\",\"d\",\"e\"]");
    finds(".stock{.n > 2}.n", "[3]");
    finds(".stock{.by}.n", "[1,2,3]");
    finds(".stock{.by.*}.n", "[1,3]");
    finds(".stock{.by(\"x\") == 8}.n", "[3]");
    finds(".{.owner.name == \"me\"}.owner", "[{\"name\":\"Me\"}]");
    finds(".{.owner.name === \"me\"}.owner", "[]");
    finds(".owner{.name == \"Me\"}", "[{\"name\":\"Me\"}]");
    finds(".books{(.id|.price) > 18}.id", "[3]");
    finds(".books{.id % 2 == 0}.id", "[2,4]");
    finds(".books[1:]{.id > 2}[0].id", "[3]");
}

TEST(path_select__takes_null_for_no_items)
{
    use_schema(RECORD("R", FIELD("a", "[\"null\"," ARRAY("[\"null\"," INT "]") "]") "," FIELD(
                               "m", "[\"null\"," MAP(INT) "]") "," FIELD("s", "[\"null\"," STRING "]")));
    record("{\"a\":null,\"m\":null,\"s\":null}");
    finds(".a", "[null]");
    finds(".a[0]", "[]");
    finds(".a{true}", "[]");
    finds(".m{true}", "[]");
    finds(".m(~\"\")", "[]");
    finds(".s[0]", "[null]");
    finds(".*", "[null,null,null]");
    record("{\"a\":[1,null,2],\"m\":{\"k\":1},\"s\":\"x\"}");
    finds(".a", "[1,null,2]");
    finds(".a[1]", "[null]");
    finds(".a{. == null}", "[null]");
    finds(".a{. != null}", "[1,2]");
    finds(".m{. == 1}", "[1]");
}

TEST(path_select__opens_arrays_in_arrays_one_at_a_position)
{
    use_schema(RECORD(
        "R", FIELD("m", ARRAY(ARRAY(INT))) "," FIELD("r", ARRAY(ARRAY(RECORD("I", FIELD("x", INT)))))));
    record("{\"m\":[[1,2],[3],[]],\"r\":[[{\"x\":1}],[{\"x\":2},{\"x\":3}]]}");
    finds(".m", "[[1,2],[3],[]]");
    finds(".m[0]", "[1,2]");
    finds(".m[0][1]", "[2]");
    finds(".m[0:2]", "[[1,2],[3]]");
    finds(".m[0:2][1]", "[3]");
    finds(".m{. == 3}", "[[3]]");
    finds(".m{.}", "[[1,2],[3]]");
    finds(".m{[1] == 2}", "[[1,2]]");
    finds(".m{{. > 2}[0]}", "[[3]]");
    finds(".r.x", "[1,2,3]");
    finds(".r[1].x[0]", "[2]");
    finds("..x", "[1,2,3]");
    finds("..*[0]", "[1,2]");
}

TEST(path_select__goes_down_recursive_types)
{
    use_schema(RECORD("N", FIELD("v", INT) "," FIELD("next", "[\"null\",\"N\"]")));
    record("{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":3,\"next\":null}}}");
    finds("..v", "[1,2,3]");
    finds(".next.next.v", "[3]");
    finds(".next.next.next.next", "[]");
    finds("..next.v", "[2,3]");
    finds("..next..next.v", "[3]");
    finds("..next..v", "[2,3]");
    finds("..next{.v > 2}.v", "[3]");
    finds("..next{!.next.v}", "[{\"v\":3,\"next\":null},null]");
    finds("..next[1].v", "[3]");
}

TEST(path_select__shows_branches_under_their_tags)
{
    use_schema(
        RECORD("R", FIELD("u", "[" INT "," STRING "," RECORD("I", FIELD("x", INT)) "," ARRAY(INT) "]")));
    record("{\"u\":{\"int\":5}}");
    finds(".u", "[{\"int\":5}]");
    finds(".{.u == 5}.u", "[{\"int\":5}]");
    finds(".u.x", "[]");
    record("{\"u\":{\"I\":{\"x\":6}}}");
    finds(".u", "[{\"I\":{\"x\":6}}]");
    finds(".u.x", "[6]");
    record("{\"u\":{\"array\":[1,2]}}");
    finds(".u", "[1,2]");
    finds(".u[1]", "[2]");
}

TEST(path_select__works_on_roots_that_are_no_records)
{
    use_schema(ARRAY(INT));
    record("[1,2,3]");
    finds(".", "[1,2,3]");
    finds("[1]", "[2]");
    finds("{. > 1}", "[2,3]");
    finds(".[0]", "[1]");
    use_schema(MAP(INT));
    record("{\"a\":1,\"b\":2}");
    finds(".", "[{\"a\":1,\"b\":2}]");
    finds("(\"b\")", "[2]");
    finds(".*", "[1,2]");
    use_schema("\"double\"");
    record("1.5");
    finds(".", "[1.5]");
    finds(".{. > 1}", "[1.5]");
}

TEST(path_select__prints_the_form_that_is_asked_for)
{
    use_schema(
        RECORD("R", FIELD("d", "{\"type\":" INT ",\"logicalType\":\"date\"}") "," FIELD("b", "\"bytes\"")));
    record("{\"d\":1,\"b\":\"\\u00ff\"}");
    finds(".*", "[1,\"\xc3\xbf\"]");
    opts.form = JSON_LOGICAL | JSON_BASE64;
    finds(".*", "[\"1970-01-02\",\"/w==\"]");
}

/* ---- conversions ---- */

static void use_scalars(void)
{
    use_schema(RECORD(
        "R",
        FIELD("n", "\"null\"") "," FIELD("t", "\"boolean\"") "," FIELD("f", "\"boolean\"") "," FIELD(
            "i", INT) "," FIELD("l", "\"long\"") "," FIELD("x", "\"float\"") "," FIELD("d",
                                                                                       "\"double\"") "," FIELD("nan",
                                                                                                               "\"double\"") "," FIELD("s", STRING) "," FIELD("em"
                                                                                                                                                              "pt"
                                                                                                                                                              "y",
                                                                                                                                                              STRING) "," FIELD("num",
                                                                                                                                                                                STRING) "," FIELD("b", "\"bytes\"") "," FIELD("q", "{\"type\":\"fixed\",\"name\":\"Q\",\"size\":2}") "," FIELD("e",
                                                                                                                                                                                                                                                                                               "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"Red\",\"Green\"]}") "," FIELD("a",
                                                                                                                                                                                                                                                                                                                                                                               ARRAY(
                                                                                                                                                                                                                                                                                                                                                                                   INT)) "," FIELD("m", MAP(INT)) "," FIELD("m2", MAP(INT)) "," FIELD("zero",
                                                                                                                                                                                                                                                                                                                                                                                                                                                      INT)));
    record("{\"n\":null,\"t\":true,\"f\":false,\"i\":5,\"l\":9007199254740993,\"x\":0.1,\"d\":1.5,\"nan\":"
           "\"NaN\","
           "\"s\":\"Stra\xc3\x9f"
           "e \xc3\x84\",\"empty\":\"\",\"num\":\"5.0\",\"b\":\"\\u00e4b\",\"q\":\"ab\",\"e\":\"Red\","
           "\"a\":[1,2,3],\"m\":{\"k\":1,\"j\":2},\"m2\":{\"j\":2,\"k\":1},\"zero\":0}");
}

TEST(path_where__compares_numbers_by_value_whatever_their_type)
{
    use_scalars();
    holds(".i == 5 && .i == 5.0 && .i === 5 && .i === 5.0 && .d == 1.5 && .x == 0.1 && .x === 0.1", true);
    holds(".l == 9007199254740993", true);
    holds(".l == 9007199254740992", false);
    holds(".l == 9007199254740992.0", false);
    holds(".l > 9007199254740992.0 && .l < 9007199254740994.0", true);
    holds(".l < 9223372036854775808 && .l > -9223372036854775808", true);
    holds(".i < 5.5 && .i > 4.5 && .i <= 5.0 && .i >= 5", true);
    holds(".i < 5 || .i > 5 || .i != 5 || .i !== 5", false);
    holds(".nan == .nan || .nan < 1 || .nan > 1 || .nan <= 1 || .nan === .nan", false);
    holds(".nan != .nan && .nan !== 1", true);
    holds(".zero == -0.0", true);
}

TEST(path_where__converts_for_equal_but_not_for_same)
{
    use_scalars();
    holds(".i == \"5\" && \"5\" == .i && .num == 5 && .t == 1 && .f == 0 && .t == \"1\"", true);
    holds(".i === \"5\" || .num === 5 || .t === 1 || .e === 0", false);
    holds(".i == \"five\" || .i == \"\" || .i == \"5x\" || .i == \" 5\"", false);
    holds(".n == null && .n === null && .n != 0 && .n != false && .n != \"\"", true);
    holds(".t == true && .f == false && .t != false && .t === true && .t !== false", true);
    holds(".t == \"true\"", false);
}

TEST(path_where__compares_texts_without_case_for_equal_only)
{
    use_scalars();
    holds(".s == \"STRA\xc3\x9f"
          "E \xc3\xa4\" && .s === \"Stra\xc3\x9f"
          "e \xc3\x84\"",
          true);
    holds(".s === \"STRA\xc3\x9f"
          "E \xc3\xa4\"",
          false);
    holds(".s == \"STRASSE \xc3\x84\"", false);
    holds(".s > \"Stra\" && .s < \"Stsa\" && .empty < \"a\" && .empty <= \"\"", true);
    holds(".e == \"red\" && .e === \"Red\" && .e != \"Green\" && .e > \"Green\"", true);
    holds(".b == \"\xc3\xa4"
          "b\" && .b == \"\xc3\x84"
          "B\" && .b === \"\xc3\xa4"
          "b\" && .q == \"AB\"",
          true);
}

TEST(path_where__looks_for_texts_in_texts)
{
    use_scalars();
    holds(".s ^== \"Stra\" && .s $== \"\xc3\x84\" && .s *== \"\xc3\x9f\" && .s ^== \"\" && .s $== \"\" && .s "
          "*== \"\"",
          true);
    holds(".s ^== \"stra\" || .s $== \"\xc3\xa4\" || .s *== \"RA\" || .empty ^== \"a\"", false);
    holds(".s ^= \"STRA\" && .s $= \"\xc3\xa4\" && .s *= \"RA\" && .e *= \"E\"", true);
    holds(".i ^== \"5\" || .i *== 5 || .n ^= \"\" || .a *= \"1\" && false", false);
    holds(".i ^= \"5\" && .d $= 5 && .l *= \"719925\" && .t ^= \"TR\"", true);
    holds(".a *= \"1\"", true);
    holds(".m *= \"\"", false);
}

TEST(path_where__holds_of_a_list_if_it_does_of_any)
{
    use_scalars();
    holds(".a == 2 && .a != 2 && .a > 2 && 1 < .a && .a == .a && .a != .a", true);
    holds(".a == 4", false);
    holds(".a[9] == .a[9] || .a[9] != 1 || .a[9] < 1", false);
    holds(".a == .m.*", true);
    holds(".a > ^.a", true);
}

TEST(path_where__takes_lists_for_true_unless_they_are_empty)
{
    use_scalars();
    holds(".f && .n && .zero && .empty", true);
    holds(".a[9]", false);
    holds("!.a[9] && !!.f", true);
    holds("0 || \"\" || null || false || -0.0", false);
    holds("1 && \"x\" && true && -0.5", true);
    holds(".i - 5", false);
    holds(".a[9] + 1", false);
}

TEST(path_where__computes_exactly_with_integers)
{
    use_scalars();
    holds(".l + 1 == 9007199254740994 && .l - 1 == 9007199254740992 && .l * 2 == 18014398509481986", true);
    holds(".l * .l > 8.1e31 && .l * .l < 8.2e31", true);
    holds("7 / 2 == 3.5 && 6 / 2 == 3 && 7 % 2 == 1 && -7 % 2 == -1 && 7.5 % 2 == 1.5", true);
    holds("1 / 0 > 1e300 && -1 / 0 < -1e300 && 1 % 0 != 1", true);
    holds("-9223372036854775807 - 1 < 0 && (-9223372036854775807 - 1) / -1 > 9.2e18", true);
    holds("2 + 3 * 4 == 14 && (2 + 3) * 4 == 20 && 2 - 3 - 4 == -5 && 2 * 3 % 4 == 2", true);
    holds("-.i == -5 && --.i == 5 && -.d == -1.5 && .i + .d == 6.5", true);
    holds("9223372036854775807 + 1 == 9223372036854775808", true);
    holds(".a + 1 == 2", true);
    holds(".n + 1 == 1 && .t + 1 == 2 && .num - 1 == 4", true);
    holds(".m + 1 > 0 || .m + 1 < 0", false);
}

TEST(path_where__joins_texts)
{
    use_scalars();
    holds(".e + \"-\" + .q === \"Red-ab\" && .i + \"\" === \"5\" && \"\" + .d === \"1.5\" && .t + \"\" === "
          "\"true\"",
          true);
}

TEST(path_where__compares_what_has_parts_as_data)
{
    use_scalars();
    holds(".m === .m && .m == ^.m", true);
    holds(".m === .m2 || .m == 1 || .m == null || .m < 1", false);
    use_schema(RECORD("R", FIELD("a", RECORD("P", FIELD("x", INT))) "," FIELD("b", "\"P\"") "," FIELD(
                               "c", RECORD("S", FIELD("x", INT)))));
    record("{\"a\":{\"x\":1},\"b\":{\"x\":1},\"c\":{\"x\":1}}");
    holds(".a == .b && .a === .b && .a != .c", true);
    record("{\"a\":{\"x\":1},\"b\":{\"x\":2},\"c\":{\"x\":1}}");
    holds(".a == .b", false);
}

/* ---- limits ---- */

static void big(const char *item, int n)
{
    struct buf json = {0};
    append(&json, "{\"a\":[", 1);
    for (int i = 0; i < n; i++) {
        append(&json, i ? "," : "", 1);
        append(&json, item, 1);
    }
    append(&json, "]}", 1);
    if (encode_slice(buf_slice(&json)) != RC_OK)
        fail_msg("%s", err.message);
    avro.len = 0;
    assert_true(buf_append(&avro, buf_slice(&out)));
    buf_release(&json);
}

static void gives_up(const char *path, bool brief)
{
    assert_int_equal(find_slice(slice_str(path), brief, LIMIT_JSON_MAX), RC_ERR);
    if (err.code != ERR_TOO_MUCH_WORK)
        fail_msg("%s: %s", path, err.message);
    assert_int_equal(found.len, 0);
}

TEST(path_select__gives_up_when_the_work_grows_with_the_square)
{
    use_schema(RECORD("R", FIELD("a", ARRAY(INT))));
    big("7", 100000);
    gives_up(".a{. != ^.a[-1] || . < ^.a}", false);
    gives_up(".a{. == 1}", true);
    finds(".a{. == 1}", "[]");
}

TEST(path_select__pays_for_printing_floats_that_are_compared)
{
    enum { FEW = 120 }; /* each with each */
    use_schema(RECORD("R", FIELD("a", ARRAY("\"float\""))));
    big("7", FEW);
    assert_int_equal(find_slice(SLICE(".a{. > ^.a}"), true, LIMIT_JSON_MAX), RC_OK);
    big("0.7", FEW);
    gives_up(".a{. > ^.a}", true);
    finds(".a{. > ^.a}", "[]");
}

TEST(path_select__gives_up_on_expressions_that_go_back_and_forth)
{
    use_schema(RECORD("R", FIELD("m", MAP(INT))));
    record("{\"m\":{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\":1}}");
    gives_up(".m(~\"^(a+)+$\")", false);
    gives_up(".m(~\"(a|aa|aaa)*[bc]\")", false);
    gives_up(".m(~\"(?:a*a*a*a*a*a*a*a*)[cd]\")", true);
    finds(".m(~\"^a+!$\")", "[1]");
}

TEST(path_select__stops_at_so_many_bytes)
{
    use_schema(RECORD("R", FIELD("a", ARRAY(STRING))));
    record("{\"a\":[\"abc\",\"def\"]}");
    size_t whole = strlen("[\"abc\",\"def\"]");
    for (size_t most = 0; most < whole + 100; most++) {
        found.len = 0;
        enum rc rc = find_slice(slice_str(".a"), false, most);
        if (rc != RC_OK)
            assert_int_equal(err.code, ERR_JSON_TOO_LARGE);
        else
            assert_slice_str(buf_slice(&found), "[\"abc\",\"def\"]");
        assert_true(rc == RC_OK || found.len == 0);
        assert_true(rc == RC_OK || most < whole + 50);
    }
}

TEST_MAIN()
