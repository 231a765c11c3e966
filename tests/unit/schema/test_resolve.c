/* tests/unit/schema/test_resolve.c - data of one schema read with another: each rule by its name, what
 * cannot be read and where, and the bounds. */
#include "schema/schema.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "tests/lib/test.h"

/* Two schemas, and what a call on them gave. */
struct world {
    struct arena arena;
    struct schema *writer, *reader;
    struct resolver *resolver;
    struct codec *codec;
    struct buf avro, out, text;
    struct err err;
};

static struct schema *parse(struct world *w, const char *text)
{
    struct schema *s;
    if (schema_parse(&s, slice_str(text), SLICE(""), &w->arena, &w->err) != RC_OK)
        fail_msg("%.200s: %s", text, w->err.message);
    return s;
}

static struct world world_of(const char *writer, const char *reader)
{
    struct world w = {.codec = codec_new()};
    assert_non_null(w.codec);
    w.writer = parse(&w, writer);
    w.reader = parse(&w, reader);
    if (schema_resolver_new(&w.resolver, w.writer, w.reader, &w.err) != RC_OK)
        fail_msg("%s", w.err.message);
    return w;
}

static void world_release(struct world *w)
{
    schema_resolver_free(w->resolver);
    schema_free(w->writer);
    schema_free(w->reader);
    codec_free(w->codec);
    buf_release(&w->avro);
    buf_release(&w->out);
    buf_release(&w->text);
    arena_release(&w->arena);
}

/* The input is copied to the heap, exactly as long as it is, so that a read beyond its end is seen. */
static enum rc resolve(struct world *w, struct slice avro)
{
    uint8_t *copy = malloc(avro.len ? avro.len : 1);
    assert_non_null(copy);
    if (avro.len)
        memcpy(copy, avro.ptr, avro.len);
    w->out.len = 0;
    assert_true(buf_append(&w->out, SLICE("kept")));
    memset(&w->err, 0, sizeof w->err);
    enum rc rc = codec_resolve(w->resolver, slice_of(copy, avro.len), &w->out, &w->arena, &w->err);
    free(copy);
    assert_memory_equal(w->out.ptr, "kept", 4);
    if (rc != RC_OK)
        assert_int_equal(w->out.len, 4);
    return rc;
}

static struct slice resolved(const struct world *w)
{
    return slice_of(w->out.ptr + 4, w->out.len - 4);
}

static void write_json(struct world *w, const char *json)
{
    struct codec_opts opts = {.form = JSON_PLAIN};
    w->avro.len = 0;
    if (codec_from_json(w->codec, w->writer, &opts, slice_str(json), &w->avro, &w->arena, &w->err) != RC_OK)
        fail_msg("%s: %s", json, w->err.message);
}

static void reads(const char *writer, const char *reader, const char *json, const char *want)
{
    struct world w = world_of(writer, reader);
    write_json(&w, json);
    if (resolve(&w, buf_slice(&w.avro)) != RC_OK)
        fail_msg("%s as %s: %s", json, reader, w.err.message);
    if (codec_to_json(w.reader, JSON_PLAIN, resolved(&w), &w.text, &w.err) != RC_OK)
        fail_msg("%s: %s", reader, w.err.message);
    assert_slice_str(buf_slice(&w.text), want);
    world_release(&w);
}

static void check_problem(const struct world *w, enum problem_code code, const char *pointer,
                          const char *words)
{
    const struct problem *p = w->err.first;
    assert_int_equal(w->err.code, ERR_OTHER_VERSION);
    assert_int_equal(err_status(w->err.code), 409);
    assert_non_null(p);
    assert_slice_str(p->pointer, pointer);
    assert_string_equal(problem_slug(p->code), problem_slug(code));
    if (!strstr(w->err.message, words))
        fail_msg("\"%s\" lacks \"%s\"", w->err.message, words);
}

static void cannot(const char *writer, const char *reader, const char *json, enum problem_code code,
                   const char *pointer, const char *words)
{
    struct world w = world_of(writer, reader);
    write_json(&w, json);
    if (resolve(&w, buf_slice(&w.avro)) == RC_OK)
        fail_msg("%s is read as %s", json, reader);
    check_problem(&w, code, pointer, words);
    world_release(&w);
}

#define NAMED(type, name, more) "{\"type\":\"" type "\",\"name\":\"" name "\"," more "}"
#define RECORD(fields)          NAMED("record", "R", "\"fields\":[" fields "]")
#define FIELD(name, type)       "{\"name\":\"" name "\",\"type\":" type "}"
#define ALSO(name, type, more)  "{\"name\":\"" name "\",\"type\":" type "," more "}"
#define ARRAY(items)            "{\"type\":\"array\",\"items\":" items "}"
#define MAP(values)             "{\"type\":\"map\",\"values\":" values "}"
#define INT                     "\"int\""
#define STRING                  "\"string\""

/* ---- promotions ---- */

TEST(codec_resolve__promotes_numbers)
{
    reads(INT, "\"long\"", "-2147483648", "-2147483648");
    reads(INT, "\"float\"", "16777217", "16777216.0");
    reads(INT, "\"double\"", "16777217", "16777217.0");
    reads("\"long\"", "\"float\"", "9223372036854775807", "9.223372e18");
    reads("\"long\"", "\"double\"", "-5", "-5.0");
    reads("\"float\"", "\"double\"", "0.5", "0.5");
    reads("\"float\"", "\"double\"", "\"NaN\"", "\"NaN\"");
}

TEST(codec_resolve__does_not_narrow)
{
    cannot("\"long\"", INT, "1", PROBLEM_TYPE, "", "written as long, to be read as int");
    cannot("\"double\"", "\"float\"", "1", PROBLEM_TYPE, "", "written as double");
    cannot(INT, STRING, "1", PROBLEM_TYPE, "", "to be read as string");
    cannot(INT, "\"boolean\"", "1", PROBLEM_TYPE, "", "to be read as boolean");
}

TEST(codec_resolve__reads_strings_as_bytes_and_bytes_as_strings_if_they_are_utf8)
{
    reads(RECORD(FIELD("a", STRING)), RECORD(FIELD("a", "\"bytes\"")), "{\"a\":\"\\u00e9\"}",
          "{\"a\":\"\xc3\x83\xc2\xa9\"}");
    reads(RECORD(FIELD("a", "\"bytes\"")), RECORD(FIELD("a", STRING)), "{\"a\":\"\\u00c3\\u00a9\"}",
          "{\"a\":\"\xc3\xa9\"}");
    cannot(RECORD(FIELD("a", ARRAY("\"bytes\""))), RECORD(FIELD("a", ARRAY(STRING))),
           "{\"a\":[\"x\",\"\\u00ff\"]}", PROBLEM_ENCODING, "/a/1", "not UTF-8");
}

/* ---- fields ---- */

TEST(codec_resolve_within__gives_up_beyond_so_many_bytes_and_leaves_the_output)
{
    struct world w =
        world_of("{\"type\":\"array\",\"items\":\"int\"}", "{\"type\":\"array\",\"items\":\"double\"}");
    static const uint8_t avro[] = {8, 2, 4, 6, 8, 0}; /* becomes 1 + 4 * 8 + 1 bytes */
    for (size_t most = 0; most < 40; most++) {
        struct buf out = {0};
        assert_true(buf_append(&out, SLICE("kept")));
        enum rc rc =
            codec_resolve_within(w.resolver, most, slice_of(avro, sizeof avro), &out, &w.arena, &w.err);
        assert_int_equal(rc, most < 34 ? RC_ERR : RC_OK);
        assert_int_equal(out.len, most < 34 ? 4 : 4 + 34);
        if (most < 34)
            assert_int_equal(w.err.code, ERR_RECORD_TOO_LARGE);
        buf_release(&out);
    }
    world_release(&w);
}

TEST(codec_resolve__fills_a_new_field_with_its_default)
{
    reads(RECORD(FIELD("a", INT)), RECORD(ALSO("x", STRING, "\"default\":\"new\"") "," FIELD("a", INT)),
          "{\"a\":1}", "{\"x\":\"new\",\"a\":1}");
    reads(RECORD(FIELD("a", INT)), RECORD(FIELD("a", INT) "," ALSO("x", "\"null\"", "\"default\":null")),
          "{\"a\":1}", "{\"a\":1,\"x\":null}");
}

TEST(codec_resolve__names_the_new_field_that_has_no_default)
{
    cannot(RECORD(FIELD("name", STRING)), RECORD(FIELD("address", STRING)), "{\"name\":\"n\"}",
           PROBLEM_MISSING, "/address", "no field of the schema that it was written with");
    cannot(RECORD(FIELD("m", MAP(NAMED("record", "I", "\"fields\":[]")))),
           RECORD(FIELD("m", MAP(NAMED("record", "I", "\"fields\":[" FIELD("x", INT) "]")))),
           "{\"m\":{\"a/b~\":{}}}", PROBLEM_MISSING, "/m/a~1b~0/x", "no default");
}

TEST(codec_resolve__reads_an_empty_array_of_what_it_could_not_read)
{
    reads(ARRAY(INT), ARRAY(STRING), "[]", "[]");
    cannot(ARRAY(INT), ARRAY(STRING), "[1]", PROBLEM_TYPE, "/0", "written as int");
    reads(MAP(RECORD("")), MAP(RECORD(FIELD("x", INT))), "{}", "{}");
}

TEST(codec_resolve__passes_over_removed_fields)
{
    reads(RECORD(FIELD("a", INT) "," FIELD("b", ARRAY(MAP(STRING))) "," FIELD("c", "\"boolean\"")),
          RECORD(FIELD("c", "\"boolean\"")), "{\"a\":1,\"b\":[{\"x\":\"y\"}],\"c\":true}", "{\"c\":true}");
    reads(RECORD(FIELD("a", INT) "," FIELD("b", STRING)), RECORD(""), "{\"a\":1,\"b\":\"\"}", "{}");
}

TEST(codec_resolve__takes_fields_in_the_order_of_the_reader)
{
    reads(RECORD(
              FIELD("a", INT) "," FIELD("b", STRING) "," FIELD("n", "\"null\"") "," FIELD("c", "\"double\"")),
          RECORD(FIELD("c", "\"double\"") "," FIELD("n", "\"null\"") "," FIELD("a", "\"double\"") "," FIELD(
              "b", STRING)),
          "{\"a\":1,\"b\":\"s\",\"n\":null,\"c\":0.5}", "{\"c\":0.5,\"n\":null,\"a\":1.0,\"b\":\"s\"}");
}

TEST(codec_resolve__reads_a_field_by_its_alias)
{
    reads(RECORD(FIELD("mail", STRING)), RECORD(ALSO("email", STRING, "\"aliases\":[\"post\",\"mail\"]")),
          "{\"mail\":\"m\"}", "{\"email\":\"m\"}");
    reads(RECORD(FIELD("a", INT)), RECORD(ALSO("b", INT, "\"aliases\":[\"c\"],\"default\":9")), "{\"a\":1}",
          "{\"b\":9}");
    cannot(RECORD(ALSO("a", INT, "\"aliases\":[\"b\"]")), RECORD(FIELD("b", INT)), "{\"a\":1}",
           PROBLEM_MISSING, "/b", "");
}

TEST(codec_resolve__does_not_guess_which_of_two_fields_an_alias_means)
{
    cannot(RECORD(FIELD("a", INT) "," FIELD("b", INT)), RECORD(ALSO("a", INT, "\"aliases\":[\"b\"]")),
           "{\"a\":1,\"b\":2}", PROBLEM_AMBIGUOUS, "/a", "several fields");
}

TEST(codec_resolve__reads_versions_that_add_remove_and_promote)
{
    static const char v1[] = RECORD(FIELD("a", INT) "," FIELD("b", STRING));
    reads(v1, RECORD(FIELD("a", "\"long\"") "," ALSO("c", STRING, "\"default\":\"x\"")),
          "{\"a\":1,\"b\":\"s\"}", "{\"a\":1,\"c\":\"x\"}");
    reads(v1, RECORD(FIELD("a", "\"double\"")), "{\"a\":1,\"b\":\"s\"}", "{\"a\":1.0}");
    reads(v1, v1, "{\"a\":1,\"b\":\"s\"}", "{\"a\":1,\"b\":\"s\"}");
}

/* ---- names ---- */

TEST(codec_resolve__matches_types_by_name_alias_or_without_the_namespace)
{
    reads(NAMED("record", "Old", "\"fields\":[" FIELD("a", INT) "]"),
          NAMED("record", "New", "\"aliases\":[\"Old\"],\"fields\":[" FIELD("a", INT) "]"), "{\"a\":1}",
          "{\"a\":1}");
    reads(NAMED("fixed", "n.F", "\"size\":2"), NAMED("fixed", "m.F", "\"size\":2"), "\"ab\"", "\"ab\"");
    reads(NAMED("enum", "o.E", "\"symbols\":[\"A\"]"),
          NAMED("enum", "N", "\"aliases\":[\"o.E\"],\"symbols\":[\"A\"]"), "\"A\"", "\"A\"");
}

TEST(codec_resolve__does_not_match_other_names)
{
    cannot(NAMED("record", "A", "\"fields\":[]"), NAMED("record", "B", "\"fields\":[]"), "{}", PROBLEM_NAME,
           "", "written as record A, to be read as record B: the names differ");
    cannot(RECORD(FIELD("f", NAMED("fixed", "F1", "\"size\":1"))),
           RECORD(FIELD("f", NAMED("fixed", "F2", "\"size\":1"))), "{\"f\":\"a\"}", PROBLEM_NAME, "/f",
           "fixed F1");
    cannot(NAMED("record", "A", "\"aliases\":[\"B\"],\"fields\":[]"), NAMED("record", "B", "\"fields\":[]"),
           "{}", PROBLEM_NAME, "", "");
}

TEST(codec_resolve__matches_a_fixed_by_its_size_too)
{
    cannot(NAMED("fixed", "F", "\"size\":3"), NAMED("fixed", "F", "\"size\":2"), "\"abc\"", PROBLEM_SIZE, "",
           "3 and 2 bytes");
}

TEST(codec_resolve__does_not_read_a_decimal_of_another_scale)
{
#define DECIMAL(scale) "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":9,\"scale\":" scale "}"
    cannot(DECIMAL("2"), DECIMAL("3"), "\"\\u0001\"", PROBLEM_TYPE, "", "decimals of the scales 2 and 3");
    reads(DECIMAL("2"), "\"bytes\"", "\"\\u0001\"", "\"\\u0001\"");
}

/* ---- enums ---- */

TEST(codec_resolve__reads_symbols_by_name)
{
    reads(ARRAY(NAMED("enum", "E", "\"symbols\":[\"A\",\"B\",\"C\"]")),
          ARRAY(NAMED("enum", "E", "\"symbols\":[\"C\",\"A\",\"B\"]")), "[\"A\",\"B\",\"C\"]",
          "[\"A\",\"B\",\"C\"]");
}

TEST(codec_resolve__reads_an_unknown_symbol_as_the_default_of_the_enum)
{
    reads(NAMED("enum", "E", "\"symbols\":[\"A\",\"B\",\"C\"]"),
          NAMED("enum", "E", "\"symbols\":[\"A\",\"B\"],\"default\":\"A\""), "\"C\"", "\"A\"");
    reads(NAMED("enum", "E", "\"symbols\":[\"A\",\"C\"]"), NAMED("enum", "E", "\"symbols\":[\"A\",\"B\"]"),
          "\"A\"", "\"A\"");
    cannot(NAMED("enum", "E", "\"symbols\":[\"A\",\"C\"],\"default\":\"A\""),
           NAMED("enum", "E", "\"symbols\":[\"A\",\"B\"]"), "\"C\"", PROBLEM_SYMBOL, "",
           "\"C\" was written as a symbol of E; the enum E of the reader does not have it");
}

TEST(codec_resolve__does_not_take_a_fields_default_for_an_unknown_symbol)
{
    cannot(RECORD(FIELD("e", NAMED("enum", "E", "\"symbols\":[\"A\",\"B\",\"C\"]"))),
           RECORD(ALSO("e", NAMED("enum", "E", "\"symbols\":[\"A\",\"B\"]"), "\"default\":\"B\"")),
           "{\"e\":\"C\"}", PROBLEM_SYMBOL, "/e", "");
}

/* ---- unions ---- */

TEST(codec_resolve__puts_a_value_into_the_branch_of_its_type_else_the_first_that_takes_it)
{
    reads(INT, "[\"null\",\"int\"]", "5", "5");
    reads(INT, "[\"long\",\"int\"]", "5", "{\"int\":5}");
    reads(INT, "[\"float\",\"long\"]", "5", "{\"float\":5.0}");
    reads(STRING, "[\"null\",\"bytes\"]", "\"s\"", "\"s\"");
    cannot(INT, "[\"string\",\"boolean\"]", "5", PROBLEM_NO_BRANCH, "", "no branch of it takes that type");
}

TEST(codec_resolve__takes_the_branch_of_the_full_name_before_those_of_other_namespaces)
{
#define A(name, more) NAMED("record", name, "\"fields\":[" FIELD("x", INT) more "]")
    reads(A("n.A", ""), "[" A("m.A", "") "," A("n.A", "") "]", "{\"x\":1}", "{\"n.A\":{\"x\":1}}");
    reads(A("o.A", ""), "[" A("m.A", "") "," A("n.A", "") "]", "{\"x\":1}", "{\"m.A\":{\"x\":1}}");
}

TEST(codec_resolve__does_not_read_a_type_that_changed_as_its_namesake)
{
    cannot(A("n.A", ""), "[" A("n.A", "," FIELD("y", INT)) "," A("m.A", "") "]", "{\"x\":1}", PROBLEM_MISSING,
           "/y", "");
    cannot(A("n.A", ""), "[\"null\"," A("n.A", "," FIELD("y", INT)) "]", "{\"x\":1}", PROBLEM_MISSING, "/y",
           "");
}

TEST(codec_resolve__takes_a_branch_that_takes_everything_before_one_that_cannot)
{
    reads(A("o.A", ""), "[" A("n.A", "," FIELD("y", INT)) "," A("m.A", "") "]", "{\"x\":1}",
          "{\"m.A\":{\"x\":1}}");
    reads(DECIMAL("2"), "[" DECIMAL("3") ",\"string\"]", "\"a\"", "{\"string\":\"a\"}");
    reads(NAMED("enum", "o.E", "\"symbols\":[\"A\",\"B\"]"),
          "[" NAMED("enum", "n.E", "\"symbols\":[\"A\"]") "," NAMED("enum", "m.E",
                                                                    "\"symbols\":[\"A\",\"B\"]") "]",
          "\"A\"", "{\"m.E\":\"A\"}");
}

TEST(codec_resolve__joins_branches_of_the_writer_in_one_of_the_reader)
{
    reads("[\"int\",\"long\"]", "[\"long\",\"null\"]", "{\"long\":5}", "5");
    reads(ARRAY("[\"null\",\"int\",\"long\"]"), ARRAY("[\"null\",\"long\",\"string\"]"),
          "[null,{\"int\":1},{\"long\":2}]", "[null,{\"long\":1},{\"long\":2}]");
}

TEST(codec_resolve__judges_a_union_by_the_branch_that_was_written)
{
    reads("[\"null\",\"int\"]", INT, "5", "5");
    cannot("[\"null\",\"int\"]", INT, "null", PROBLEM_TYPE, "", "written as null");
    reads(ARRAY("[\"null\",\"int\",\"string\"]"), ARRAY("[\"string\",\"double\",\"null\"]"), "[null,1,\"x\"]",
          "[null,{\"double\":1.0},{\"string\":\"x\"}]");
    cannot(RECORD(ALSO("a", "[\"null\",\"int\"]", "\"default\":null")),
           RECORD(ALSO("a", INT, "\"default\":7")), "{\"a\":null}", PROBLEM_TYPE, "/a", "");
}

/* ---- types in themselves ---- */

#define LIST(fields) NAMED("record", "L", "\"fields\":[" fields "]")

TEST(codec_resolve__reads_types_that_contain_themselves)
{
    reads(LIST(FIELD("v", INT) "," FIELD("next", "[\"null\",\"L\"]")),
          LIST(FIELD("v", "\"double\"") "," FIELD("next", "[\"null\",\"L\"]") "," ALSO("t", STRING,
                                                                                       "\"default\":\"t\"")),
          "{\"v\":1,\"next\":{\"v\":2,\"next\":null}}",
          "{\"v\":1.0,\"next\":{\"v\":2.0,\"next\":null,\"t\":\"t\"},\"t\":\"t\"}");
    cannot(LIST(FIELD("v", INT) "," FIELD("next", "[\"null\",\"L\"]")),
           LIST(FIELD("v", STRING) "," FIELD("next", "[\"null\",\"L\"]")), "{\"v\":1,\"next\":null}",
           PROBLEM_TYPE, "/v", "");
}

/* A list of so many levels, each with a text, and three fields that the other side has in another order. */
static void write_levels(struct world *w, unsigned levels, unsigned text_bytes)
{
    struct buf json = {0};
    for (unsigned i = 0; i < levels; i++)
        assert_true(buf_printf(&json, "{\"s\":\"%0*u\",\"v\":%u,\"next\":", (int)text_bytes, i, i));
    assert_true(buf_printf(&json, "null"));
    for (unsigned i = 0; i < levels; i++)
        assert_true(buf_append_byte(&json, '}'));
    assert_true(buf_append_byte(&json, 0));
    write_json(w, (const char *)json.ptr);
    buf_release(&json);
}

static void goes_there_and_back(unsigned levels, unsigned text_bytes)
{
    static const char there[] =
        LIST(FIELD("next", "[\"null\",\"L\"]") "," FIELD("v", INT) "," FIELD("s", STRING));
    static const char back[] =
        LIST(FIELD("s", STRING) "," FIELD("v", INT) "," FIELD("next", "[\"null\",\"L\"]"));
    struct world w = world_of(there, back), v = world_of(back, there);
    write_levels(&w, levels, text_bytes);
    assert_int_equal(resolve(&w, buf_slice(&w.avro)), RC_OK);
    assert_false(slice_eq(resolved(&w), buf_slice(&w.avro)));
    assert_int_equal(resolve(&v, resolved(&w)), RC_OK);
    assert_true(slice_eq(resolved(&v), buf_slice(&w.avro)));
    world_release(&w);
    world_release(&v);
}

TEST(codec_resolve__finds_fields_out_of_order_at_every_level)
{
    goes_there_and_back(1, 1);
    goes_there_and_back(20, 1);
    goes_there_and_back(LIMIT_DATA_DEPTH_MAX, 1);
    goes_there_and_back(LIMIT_DATA_DEPTH_MAX, 200);
}

TEST(codec_resolve__finds_fields_out_of_order_inside_arrays_maps_and_unions)
{
#define INNER(fields) NAMED("record", "I", "\"fields\":[" fields "]")
    static const char writer[] =
        RECORD(FIELD("m", MAP(ARRAY("[\"null\"," INNER(FIELD("p", STRING) "," FIELD("q", INT) "," FIELD(
                              "i", ARRAY("\"I\""))) "]"))) "," FIELD("z", STRING) "," FIELD("l", "\"I\""));
    static const char reader[] =
        RECORD(FIELD("l", INNER(FIELD("i", ARRAY("\"I\"")) "," FIELD("q", "\"long\"") "," FIELD(
                              "p", STRING))) "," FIELD("m", MAP(ARRAY("[\"null\",\"I\"]"))));
    reads(writer, reader,
          "{\"m\":{\"k\":[null,{\"p\":\"a long text of more than sixty-four bytes, so that its place is kept "
          "and looked "
          "up\",\"q\":1,\"i\":[{\"p\":\"b\",\"q\":2,\"i\":[]}]}],\"e\":[]},\"z\":\"zz\",\"l\":{\"p\":\"c\","
          "\"q\":3,\"i\":"
          "[{\"p\":\"d\",\"q\":4,\"i\":[]},{\"p\":\"e\",\"q\":5,\"i\":[]}]}}",
          "{\"l\":{\"i\":[{\"i\":[],\"q\":4,\"p\":\"d\"},{\"i\":[],\"q\":5,\"p\":\"e\"}],\"q\":3,\"p\":\"c\"}"
          ",\"m\":{\"k\":"
          "[null,{\"i\":[{\"i\":[],\"q\":2,\"p\":\"b\"}],\"q\":1,\"p\":\"a long text of more than sixty-four "
          "bytes, so "
          "that its place is kept and looked up\"}],\"e\":[]}}");
}

/* ---- programs ---- */

static void is_made(const char *writer, const char *reader, const char *listing)
{
    struct world w = world_of(writer, reader);
    assert_true(schema_print_resolver(w.resolver, &w.text));
    assert_slice_str(buf_slice(&w.text), listing);
    world_release(&w);
}

TEST(schema_resolver_new__makes_one_copy_of_what_stays)
{
    static const char same[] = RECORD(FIELD("a", INT) "," FIELD("b", ARRAY("[\"null\",\"string\"]")));
    is_made(same, same, "   0  copy 0\n");
    is_made(INT, "\"long\"", "   0  copy 0\n");
    is_made("[\"null\",\"int\"]", "[\"null\",\"long\",\"string\"]", "   0  copy 0\n");
    is_made(NAMED("enum", "E", "\"symbols\":[\"A\",\"B\"]"),
            NAMED("enum", "E", "\"symbols\":[\"A\",\"B\",\"C\"]"), "   0  copy 0\n");
    is_made(RECORD(FIELD("a", "\"null\"")), RECORD(""), "   0  copy 0\n"); /* no bytes either way */
}

TEST(schema_resolver_new__joins_copies_and_drops_what_takes_no_bytes)
{
    is_made(RECORD(FIELD("a", INT) "," FIELD("b", STRING) "," FIELD("n", "\"null\"") "," FIELD(
                "c", INT) "," FIELD("d", INT) "," FIELD("e", INT)),
            RECORD(FIELD("a", INT) "," FIELD("b", STRING) "," FIELD("c", "\"long\"") "," FIELD(
                "e", "\"double\"") "," ALSO("x", INT, "\"default\":1") "," ALSO("y", "\"null\"",
                                                                                "\"default\":null")),
            "   0  record\n"
            "      copy .a to .c\n"
            "      skip .d\n"
            "      value .e.e -> 1\n"
            "      default .x\n"
            "   1  int-double\n");
}

TEST(schema_resolver_new__finds_the_fields_that_move)
{
    is_made(RECORD(FIELD("a", INT) "," FIELD("b", STRING) "," FIELD("c", INT)),
            RECORD(FIELD("b", STRING) "," FIELD("c", INT) "," FIELD("a", INT)),
            "   0  scattered\n"
            "      copy .b to .c at 1\n"
            "      copy .a at 0\n");
}

TEST(schema_resolver_is_copy__is_told_of_schemas_that_differ_in_words_only)
{
    struct world w =
        world_of(RECORD(FIELD("a", INT)),
                 NAMED("record", "R", "\"doc\":\"d\",\"fields\":[" ALSO("a", INT, "\"default\":1") "]"));
    assert_true(schema_resolver_is_copy(w.resolver));
    assert_true(schema_resolver_reads_all(w.resolver));
    world_release(&w);
    w = world_of(RECORD(FIELD("a", INT)), RECORD(FIELD("a", "\"float\"")));
    assert_false(schema_resolver_is_copy(w.resolver));
    world_release(&w);
}

TEST(schema_resolver_reads_any__is_false_where_no_datum_could_be_read)
{
    struct world w = world_of(RECORD(FIELD("a", INT)), RECORD(FIELD("b", INT)));
    assert_false(schema_resolver_reads_any(w.resolver));
    assert_false(schema_resolver_reads_all(w.resolver));
    world_release(&w);
    w = world_of("[\"null\",\"int\"]", "[\"null\",\"string\"]");
    assert_true(schema_resolver_reads_any(w.resolver));
    assert_false(schema_resolver_reads_all(w.resolver));
    world_release(&w);
    /* A list whose every end is unreadable has none that could be read. */
    w = world_of(LIST(FIELD("next", "[\"string\",\"L\"]")), LIST(FIELD("next", "[\"int\",\"L\"]")));
    assert_false(schema_resolver_reads_any(w.resolver));
    world_release(&w);
}

/* ---- blocks ---- */

TEST(codec_resolve__keeps_blocks_but_not_their_sizes)
{
    struct world w = world_of(ARRAY(INT), ARRAY("\"float\""));
    /* two items in a block of 2 bytes, one more in a block without size */
    assert_int_equal(resolve(&w, SLICE("\x03\x04\x02\x04\x02\x06\x00")), RC_OK);
    assert_int_equal(codec_to_json(w.reader, JSON_PLAIN, resolved(&w), &w.text, &w.err), RC_OK);
    assert_slice_str(buf_slice(&w.text), "[1.0,2.0,3.0]");
    world_release(&w);
}

/* ---- bounds ---- */

/* An array of n items that are `item`, in one block. */
static void write_array(struct buf *avro, uint32_t n, struct slice item)
{
    uint8_t count[10];
    avro->len = 0;
    assert_true(buf_append(avro, slice_of(count, codec_put_length(n, count))));
    for (uint32_t i = 0; i < n; i++)
        assert_true(buf_append(avro, item));
    assert_true(buf_append_byte(avro, 0));
}

TEST(codec_resolve__does_not_fill_more_than_a_record_may_take)
{
    struct world w =
        world_of(ARRAY(RECORD("")), ARRAY(RECORD(ALSO("a", STRING, "\"default\":\"twenty bytes of text\""))));
    write_array(&w.avro, 1000000, SLICE(""));
    assert_int_equal(resolve(&w, buf_slice(&w.avro)), RC_ERR);
    assert_int_equal(w.err.code, ERR_OTHER_VERSION);
    assert_int_equal(w.err.first->code, PROBLEM_SIZE);
    write_array(&w.avro, 700000, SLICE(""));
    assert_int_equal(resolve(&w, buf_slice(&w.avro)), RC_OK);
    world_release(&w);
}

TEST(codec_resolve__does_not_make_more_items_of_no_bytes_than_can_be_read)
{
    struct world w = world_of(
        RECORD(FIELD("x", ARRAY("\"null\"")) "," FIELD(
            "a", ARRAY(NAMED("record", "I", "\"fields\":[" FIELD("a", INT) "]")))),
        RECORD(FIELD("x", ARRAY("\"null\"")) "," FIELD("a", ARRAY(NAMED("record", "I", "\"fields\":[]")))));
    struct buf avro = {0};
    write_array(&avro, LIMIT_EMPTY_ITEMS_MAX, SLICE("\2"));
    assert_true(buf_append(&w.avro, SLICE("\0")) && buf_append(&w.avro, buf_slice(&avro)));
    assert_int_equal(resolve(&w, buf_slice(&w.avro)), RC_OK);
    assert_int_equal(codec_to_json(w.reader, JSON_PLAIN, resolved(&w), &w.text, &w.err), RC_OK);
    w.avro.len = 0; /* one of its own, which is copied, is one too many */
    assert_true(buf_append(&w.avro, SLICE("\2\0")) && buf_append(&w.avro, buf_slice(&avro)));
    assert_int_equal(resolve(&w, buf_slice(&w.avro)), RC_ERR);
    check_problem(&w, PROBLEM_SIZE, "/a", "array items of no bytes");
    buf_release(&avro);
    world_release(&w);
}

TEST(codec_resolve__counts_the_items_of_no_bytes_that_defaults_bring)
{
    struct world w =
        world_of(ARRAY(RECORD("")), ARRAY(RECORD(ALSO("x", ARRAY("\"null\""), "\"default\":[null,null]"))));
    write_array(&w.avro, LIMIT_EMPTY_ITEMS_MAX / 2 + 1, SLICE(""));
    assert_int_equal(resolve(&w, buf_slice(&w.avro)), RC_ERR);
    check_problem(&w, PROBLEM_SIZE, "/2796202/x", "array items of no bytes");
    write_array(&w.avro, LIMIT_EMPTY_ITEMS_MAX / 2, SLICE(""));
    assert_int_equal(resolve(&w, buf_slice(&w.avro)), RC_OK);
    world_release(&w);
}

TEST(codec_resolve__does_not_nest_deeper_than_can_be_read)
{
    static const char reader[] =
        LIST(FIELD("next", "[\"null\",\"L\"]") "," ALSO("a", ARRAY(INT), "\"default\":[]"));
    struct world w = world_of(LIST(FIELD("next", "[\"null\",\"L\"]")), reader);
    for (unsigned i = 1; i < LIMIT_DATA_DEPTH_MAX; i++)
        assert_true(buf_append_byte(&w.avro, 2));
    assert_true(buf_append_byte(&w.avro, 0));
    assert_int_equal(resolve(&w, buf_slice(&w.avro)), RC_ERR);
    assert_int_equal(w.err.code, ERR_OTHER_VERSION);
    assert_int_equal(w.err.first->code, PROBLEM_DEPTH);
    w.avro.ptr[1] = 0; /* the same, two levels deep */
    assert_int_equal(resolve(&w, slice_of(w.avro.ptr, 2)), RC_OK);
    assert_true(buf_append(&w.avro, SLICE("\0")));
    memset(w.avro.ptr, 2, w.avro.len - 1);
    assert_int_equal(resolve(&w, buf_slice(&w.avro)), RC_ERR);
    assert_int_equal(w.err.code, ERR_TOO_DEEP);
    world_release(&w);
}

TEST(codec_resolve__refuses_bytes_that_are_cut_off_or_left_over)
{
    static const char writer[] = RECORD(FIELD("a", INT) "," FIELD("b", ARRAY(STRING)) "," FIELD(
        "c", "[\"null\",\"double\"]") "," FIELD("m", MAP("\"float\"")));
    static const char reader[] = RECORD(FIELD("m", MAP("\"double\"")) "," FIELD(
        "c", "[\"double\",\"null\"]") "," FIELD("b", ARRAY("\"bytes\"")));
    struct world w = world_of(writer, reader);
    write_json(&w, "{\"a\":1,\"b\":[\"x\",\"yz\"],\"c\":0.5,\"m\":{\"k\":1.5}}");
    for (size_t n = 0; n < w.avro.len; n++) {
        assert_int_equal(resolve(&w, slice_of(w.avro.ptr, n)), RC_ERR);
        assert_int_equal(w.err.code, ERR_BAD_AVRO);
    }
    assert_true(buf_append_byte(&w.avro, 0));
    assert_int_equal(resolve(&w, buf_slice(&w.avro)), RC_ERR);
    assert_non_null(strstr(w.err.message, "left over"));
    world_release(&w);
}

/* Records that all bear the same short name: each of the one may be read as each of the other. */
static void print_namesakes(struct buf *out, char namespace, unsigned n)
{
    assert_true(buf_printf(out, "[\"null\""));
    for (unsigned i = 0; i < n; i++)
        assert_true(
            buf_printf(out, ",{\"type\":\"record\",\"name\":\"%c%u.X\",\"fields\":[]}", namespace, i));
    assert_true(buf_printf(out, "]"));
    assert_true(buf_append_byte(out, 0));
}

TEST(schema_resolver_new__gives_up_where_too_many_types_could_be_read_as_each_other)
{
    struct world w = {0};
    struct buf writer = {0}, reader = {0};
    print_namesakes(&writer, 'a', 1100);
    print_namesakes(&reader, 'b', 1100);
    w.writer = parse(&w, (const char *)writer.ptr);
    w.reader = parse(&w, (const char *)reader.ptr);
    assert_int_equal(schema_resolver_new(&w.resolver, w.writer, w.reader, &w.err), RC_ERR);
    assert_int_equal(w.err.code, ERR_TOO_MUCH_WORK);
    /* But not of a schema and itself: names are first compared in full. */
    assert_int_equal(schema_resolver_new(&w.resolver, w.writer, w.writer, &w.err), RC_OK);
    assert_true(schema_resolver_is_copy(w.resolver));
    buf_release(&writer);
    buf_release(&reader);
    world_release(&w);
}

/* A record of many fields. */
static void print_wide(struct buf *out, unsigned fields)
{
    assert_true(buf_printf(out, "{\"type\":\"record\",\"name\":\"W\",\"fields\":["));
    for (unsigned i = 0; i < fields; i++)
        assert_true(buf_printf(out, "{\"name\":\"f%u\",\"type\":\"int\"},", i));
    assert_true(buf_printf(out, FIELD("next", "[\"null\",\"W\"]") "]}"));
    assert_true(buf_append_byte(out, 0));
}

/* Records of two fields that lead from one to the next, all named W. */
static void print_ring(struct buf *out, unsigned n)
{
    assert_true(buf_printf(out, "{\"type\":\"record\",\"name\":\"n0.W\",\"fields\":["));
    for (unsigned i = 1; i < n; i++)
        assert_true(
            buf_printf(out,
                       "{\"name\":\"d%u\",\"default\":null,\"type\":[\"null\",{\"type\":\"record\",\"name\":"
                       "\"n%u.W\",\"fields\":[" FIELD("f1", INT) "," FIELD(
                           "f0", INT) ","
                                      "{\"name\":\"next\",\"type\":[\"null\",\"n%u.W\"]}]}]},",
                       i, i, i - 1));
    assert_true(buf_printf(out, "{\"name\":\"next\",\"type\":[\"null\",\"n%u.W\"]}]}", n - 1));
    assert_true(buf_append_byte(out, 0));
}

TEST(schema_resolver_new__gives_up_where_a_wide_record_is_read_as_too_many)
{
    struct world w = {0};
    struct buf writer = {0}, reader = {0};
    print_wide(&writer, 3000);
    print_ring(&reader, 500);
    w.writer = parse(&w, (const char *)writer.ptr);
    w.reader = parse(&w, (const char *)reader.ptr);
    assert_int_equal(schema_resolver_new(&w.resolver, w.writer, w.reader, &w.err), RC_ERR);
    assert_int_equal(w.err.code, ERR_TOO_MUCH_WORK);
    buf_release(&writer);
    buf_release(&reader);
    world_release(&w);
}

TEST_MAIN()
