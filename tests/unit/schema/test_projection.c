/* Some fields of a record: which lists are taken, what they show, in which order, what is refused. */
#include "schema/projection.h"

#include "tests/unit/schema/codec_fixture.h"

static struct arena made;

__attribute__((destructor)) static void made_end(void)
{
    arena_release(&made);
}

/* ---- lists ---- */

static void lists(const char *text_in, const char *want)
{
    struct projection_list list;
    struct slice got;
    arena_reset(&made);
    if (projection_list_parse(&list, slice_str(text_in), &made, &err))
        fail_msg("%s: %s", text_in, err.message);
    assert_true(projection_list_text(&list, &made, &got));
    assert_slice_str(got, want);
}

static void refuses_list(struct slice text_in, const char *want)
{
    struct projection_list list;
    arena_reset(&made);
    assert_int_equal(projection_list_parse(&list, text_in, &made, &err), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_PARAMETER);
    assert_string_equal(err.message, want);
}

TEST(projection_list__is_the_same_for_the_same_fields)
{
    lists("a", "a");
    lists("b,a", "a,b");
    lists("a,b,a", "a,b");
    lists("a.c,b,a", "a,b");
    lists("a,a.c.d,a_.x,ab,a.b", "a,a_.x,ab");
    lists("a.b.c,a.b0,a.b", "a.b,a.b0");
}

TEST(projection_list__takes_nothing_but_names)
{
    refuses_list(slice_of(NULL, 0), "fields is a list of names, a,b.c; one of them is empty.");
    refuses_list(SLICE("a,"), "fields is a list of names, a,b.c; one of them is empty.");
    refuses_list(SLICE(",a"), "fields is a list of names, a,b.c; one of them is empty.");
    refuses_list(SLICE("a..b"), "fields is a list of names, a,b.c; 'a..b' is none.");
    refuses_list(SLICE("a."), "fields is a list of names, a,b.c; 'a.' is none.");
    refuses_list(SLICE("a, b"), "fields is a list of names, a,b.c; ' b' is none.");
    refuses_list(SLICE("a-b"), "fields is a list of names, a,b.c; 'a-b' is none.");
    refuses_list(SLICE("1"), "fields is a list of names, a,b.c; '1' is none.");
    refuses_list(SLICE("\xff"), "fields is a list of names, a,b.c; one of them is no text.");
}

/* ---- what they show ---- */

static struct projection *projection_of(const char *fields)
{
    struct projection_list list;
    struct projection *p = NULL;
    arena_reset(&made);
    if (projection_list_parse(&list, slice_str(fields), &made, &err) ||
        projection_new(&p, schema, &list, &made, &err))
        fail_msg("%s: %s", fields, err.message);
    return p;
}

static void shows_as(enum json_form form, const char *json, const char *fields, const char *want)
{
    const struct projection *p = projection_of(fields);
    if (encode_json(json))
        fail_msg("%s: %s", json, err.message);
    text.len = 0;
    if (projection_print(p, form, LIMIT_JSON_MAX, buf_slice(&out), &text, &err))
        fail_msg("%s", err.message);
    assert_slice_str(buf_slice(&text), want);
}

static void shows(const char *json, const char *fields, const char *want)
{
    shows_as(JSON_PLAIN, json, fields, want);
}

static void knows_not(const char *fields, const char *want)
{
    struct projection_list list;
    struct projection *p;
    arena_reset(&made);
    assert_int_equal(projection_list_parse(&list, slice_str(fields), &made, &err), RC_OK);
    assert_int_equal(projection_new(&p, schema, &list, &made, &err), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_PARAMETER);
    assert_string_equal(err.message, want);
}

#define RECORD(name, fields) "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":[" fields "]}"
#define FIELD(name, type)    "{\"name\":\"" name "\",\"type\":" type "}"
#define POINT                RECORD("P", FIELD("x", "\"int\"") "," FIELD("y", "\"int\""))

TEST(projection__shows_fields_in_the_order_of_the_schema)
{
    use_schema(RECORD("R", FIELD("a", "\"string\"") "," FIELD("p", POINT) "," FIELD("b", "\"long\"")));
#define JSON "{\"a\":\"x\",\"p\":{\"x\":1,\"y\":2},\"b\":3}"
    shows(JSON, "a", "{\"a\":\"x\"}");
    shows(JSON, "b", "{\"b\":3}");
    shows(JSON, "b,a", "{\"a\":\"x\",\"b\":3}");
    shows(JSON, "p", "{\"p\":{\"x\":1,\"y\":2}}");
    shows(JSON, "p.y", "{\"p\":{\"y\":2}}");
    shows(JSON, "p.y,p.x", "{\"p\":{\"x\":1,\"y\":2}}");
    shows(JSON, "b,p.x,a", "{\"a\":\"x\",\"p\":{\"x\":1},\"b\":3}");
}

TEST(projection__looks_through_arrays_maps_and_unions)
{
    use_schema(RECORD(
        "R",
        FIELD("l", "{\"type\":\"array\",\"items\":" POINT "}") "," FIELD(
            "m",
            "{\"type\":\"map\",\"values\":[\"null\",\"P\"]}") "," FIELD("u",
                                                                        "[\"null\",\"string\",\"P\"," RECORD(
                                                                            "Q",
                                                                            FIELD("z", "\"int\"") "," FIELD(
                                                                                "x", "\"P\"")) "]")));
    static const char json[] =
        "{\"l\":[{\"x\":1,\"y\":2},{\"x\":3,\"y\":4}],\"m\":{\"k\\\"\":{\"x\":5,\"y\":6},\"n\":null},"
        "\"u\":{\"Q\":{\"z\":7,\"x\":{\"x\":8,\"y\":9}}}}";
    shows(json, "l.x", "{\"l\":[{\"x\":1},{\"x\":3}]}");
    shows(json, "m.y", "{\"m\":{\"k\\\"\":{\"y\":6},\"n\":null}}");
    shows(json, "u.z", "{\"u\":{\"Q\":{\"z\":7}}}");
    shows(json, "u.x", "{\"u\":{\"Q\":{\"x\":{\"x\":8,\"y\":9}}}}");
    shows(json, "u.x.y", "{\"u\":{\"Q\":{\"x\":{\"y\":9}}}}");
    shows(json, "u.y,l.y", "{\"l\":[{\"y\":2},{\"y\":4}],\"u\":{\"Q\":{}}}");
    shows("{\"l\":[],\"m\":{},\"u\":null}", "l.x,m.x,u.x", "{\"l\":[],\"m\":{},\"u\":null}");
    shows("{\"l\":[],\"m\":{},\"u\":\"s\"}", "u.x", "{\"u\":{\"string\":\"s\"}}");
    shows("{\"l\":[],\"m\":{},\"u\":{\"P\":{\"x\":1,\"y\":2}}}", "u.x", "{\"u\":{\"P\":{\"x\":1}}}");
    shows_as(JSON_AVRO, json, "m.x,l.x",
             "{\"l\":[{\"x\":1},{\"x\":3}],\"m\":{\"k\\\"\":{\"P\":{\"x\":5}},\"n\":null}}");
    shows_as(JSON_AVRO, "{\"l\":[],\"m\":{},\"u\":\"s\"}", "u.x", "{\"u\":{\"string\":\"s\"}}");
}

TEST(projection__goes_on_in_records_of_records)
{
    use_schema(
        RECORD("T", FIELD("v", "\"int\"") "," FIELD("next", "[\"null\",\"T\"]") "," FIELD(
                        "all", "{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":\"T\"}}")));
    static const char json[] =
        "{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":3,\"next\":null,\"all\":[]},\"all\":[[]]},"
        "\"all\":[[{\"v\":4,\"next\":null,\"all\":[]}],[]]}";
    shows(json, "next.v", "{\"next\":{\"v\":2}}");
    shows(json, "next.next.v,v", "{\"v\":1,\"next\":{\"next\":{\"v\":3}}}");
    shows(json, "next.next.next.v", "{\"next\":{\"next\":{\"next\":null}}}");
    shows(json, "all.v", "{\"all\":[[{\"v\":4}],[]]}");
    shows(json, "next.all.v,all.next", "{\"next\":{\"all\":[[]]},\"all\":[[{\"next\":null}],[]]}");
}

TEST(projection__works_on_data_that_are_no_record_themselves)
{
    use_schema("{\"type\":\"array\",\"items\":[\"long\"," POINT "]}");
    shows("[{\"P\":{\"x\":1,\"y\":2}},5]", "y", "[{\"P\":{\"y\":2}},{\"long\":5}]");
    use_schema("[\"null\"," POINT "]");
    shows("{\"x\":1,\"y\":2}", "x", "{\"x\":1}");
    shows("null", "x", "null");
    use_schema("\"long\"");
    knows_not("x", "fields: there is no 'x'; what is stored here are no records with fields.");
}

TEST(projection__spells_values_as_the_form_does)
{
    use_schema(RECORD(
        "R",
        FIELD("d", "{\"type\":\"int\",\"logicalType\":\"date\"}") "," FIELD(
            "p",
            RECORD("P", FIELD("n", "\"long\"") "," FIELD(
                            "b", "\"bytes\""))) "," FIELD("u",
                                                          "[\"null\",{\"type\":\"fixed\",\"name\":\"D\","
                                                          "\"size\":12,\"logicalType\":\"duration\"}]")));
    static const char json[] =
        "{\"d\":1,\"p\":{\"n\":5,\"b\":\"\\u0001\"},\"u\":"
        "\"\\u0001\\u0000\\u0000\\u0000\\u0002\\u0000\\u0000\\u0000\\u0003\\u0000\\u0000\\u0000\"}";
    shows_as(JSON_LOGICAL, json, "d,u",
             "{\"d\":\"1970-01-02\",\"u\":{\"months\":1,\"days\":2,\"millis\":3}}");
    shows_as(JSON_INT64, json, "p.n", "{\"p\":{\"n\":\"5\"}}");
    shows_as(JSON_BASE64, json, "p.b", "{\"p\":{\"b\":\"AQ==\"}}");
    knows_not("u.days", "fields: there is no 'u.days'; 'u' holds no record.");
}

TEST(projection__names_the_fields_that_there_are)
{
    use_schema(RECORD("R", FIELD("a", "\"string\"") "," FIELD("p", POINT) "," FIELD(
                               "u", "[\"null\",\"P\"," RECORD("Q", FIELD("z", "\"int\"")) "]")));
    knows_not("b", "fields: there is no 'b'; known are a, p, u.");
    knows_not("a,p.z", "fields: there is no 'p.z'; known in 'p' are x, y.");
    knows_not("a.x", "fields: there is no 'a.x'; 'a' holds no record.");
    knows_not("u.w", "fields: there is no 'u.w'; known in 'u' are x, y, z.");
    text.len = 0;
    append(&text, "{\"type\":\"record\",\"name\":\"R\",\"fields\":[", 1);
    for (int i = 0; i < 100; i++)
        assert_true(buf_printf(&text, "%s{\"name\":\"field_%d\",\"type\":\"int\"}", i ? "," : "", i));
    append(&text, "]}", 1);
    assert_true(buf_append_byte(&text, 0));
    use_schema((const char *)text.ptr);
    struct projection_list list;
    struct projection *p;
    assert_int_equal(projection_list_parse(&list, SLICE("x"), &made, &err), RC_OK);
    assert_int_equal(projection_new(&p, schema, &list, &made, &err), RC_ERR);
    assert_non_null(strstr(err.message, "known are field_0, field_1, "));
    assert_string_equal(err.message + strlen(err.message) - 5, ", ...");
}

TEST(projection__passes_over_blocks_of_every_kind)
{
    use_schema(RECORD("R", FIELD("l", "{\"type\":\"array\",\"items\":" POINT "}") "," FIELD(
                               "e", "{\"type\":\"array\",\"items\":" RECORD(
                                        "E", FIELD("n", "\"null\"")) "}") "," FIELD("s", "\"string\"")));
    static const uint8_t bytes[] = {0x03, 0x08, 2,  4,  6,
                                    8,    2,    10, 12, 0, /* two items of a told size, and one */
                                    6,    0,    2,  'x'};
    struct projection *p = projection_of("l.y,s,e.n");
    text.len = 0;
    assert_int_equal(
        projection_print(p, JSON_PLAIN, LIMIT_JSON_MAX, slice_of(bytes, sizeof bytes), &text, &err), RC_OK);
    assert_slice_str(
        buf_slice(&text),
        "{\"l\":[{\"y\":2},{\"y\":4},{\"y\":6}],\"e\":[{\"n\":null},{\"n\":null},{\"n\":null}],\"s\":\"x\"}");
}

TEST(projection__refuses_what_is_no_datum)
{
    use_schema(RECORD(
        "R",
        FIELD("u", "[\"null\"," POINT "]") "," FIELD("l", "{\"type\":\"array\",\"items\":\"P\"}") "," FIELD(
            "m", "{\"type\":\"map\",\"values\":\"P\"}")));
    static const struct slice wrong[] = {{NULL, 0},
#define BYTES(s) {(const uint8_t *)s, sizeof s - 1}
                                         BYTES("\x06"),
                                         BYTES("\x02\x02"),
                                         BYTES("\0\x7e\x02"),
                                         BYTES("\0\x01\x06\x02\x02\0\0"),
                                         BYTES("\0\0\x02\x7f"),
                                         BYTES("\0\0\x02\x02\xff\x02\x02\0"),
                                         BYTES("\0\0\x02\x02k\x02")};
    struct projection *p = projection_of("u.y,l.y,m.y");
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        text.len = 0;
        assert_true(buf_append(&text, SLICE("kept")));
        assert_int_equal(projection_print(p, JSON_PLAIN, LIMIT_JSON_MAX, wrong[i], &text, &err), RC_ERR);
        assert_int_equal(err.code, ERR_BAD_AVRO);
        assert_slice_str(buf_slice(&text), "kept");
    }
}

TEST(projection__stops_where_the_json_would_be_too_long)
{
    use_schema(RECORD("R", FIELD("l", "{\"type\":\"array\",\"items\":" POINT
                                      "}") "," FIELD("m", "{\"type\":\"map\",\"values\":\"P\"}")));
    static const char want[] = "{\"l\":[{\"y\":2},{\"y\":4}],\"m\":{\"key\":{\"x\":5}}}";
    assert_int_equal(
        encode_json("{\"l\":[{\"x\":1,\"y\":2},{\"x\":3,\"y\":4}],\"m\":{\"key\":{\"x\":5,\"y\":6}}}"),
        RC_OK);
    struct projection *p = projection_of("l.y,m.x");
    for (size_t most = 0; most < sizeof want - 1; most++) {
        text.len = 0;
        assert_int_equal(projection_print(p, JSON_PLAIN, most, buf_slice(&out), &text, &err), RC_ERR);
        assert_int_equal(err.code, ERR_JSON_TOO_LARGE);
        assert_int_equal(text.len, 0);
    }
    assert_int_equal(projection_print(p, JSON_PLAIN, sizeof want - 1, buf_slice(&out), &text, &err), RC_OK);
    assert_slice_str(buf_slice(&text), want);
}

/* Unions of many records, and many names: what they cost together has an end. */
TEST(projection__takes_no_more_work_than_it_may)
{
    enum { RECORDS = 400, FIELDS = 60, PLACES = 3 };
    struct projection_list list;
    struct projection *p;
    text.len = 0;
    append(&text, "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"p0\",\"type\":[", 1);
    for (int r = 0; r < RECORDS; r++) {
        assert_true(
            buf_printf(&text, "%s{\"type\":\"record\",\"name\":\"R%d\",\"fields\":[", r ? "," : "", r));
        for (int f = 0; f < FIELDS; f++)
            assert_true(buf_printf(&text, "%s{\"name\":\"f%d\",\"type\":\"int\"}", f ? "," : "", f));
        append(&text, "]}", 1);
    }
    append(&text, "]}", 1);
    for (int i = 1; i < PLACES; i++) {
        assert_true(buf_printf(&text, ",{\"name\":\"p%d\",\"type\":[", i));
        for (int r = 0; r < RECORDS; r++)
            assert_true(buf_printf(&text, "%s\"R%d\"", r ? "," : "", r));
        append(&text, "]}", 1);
    }
    append(&text, "]}", 1);
    assert_true(buf_append_byte(&text, 0));
    use_schema((const char *)text.ptr);
    text.len = 0;
    for (int i = 0; i < PLACES * FIELDS; i++)
        assert_true(buf_printf(&text, "%sp%d.f%d", i ? "," : "", i % PLACES, i / PLACES));
    arena_reset(&made);
    assert_int_equal(projection_list_parse(&list, buf_slice(&text), &made, &err), RC_OK);
    assert_int_equal(projection_new(&p, schema, &list, &made, &err), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_PARAMETER);
    list.n = FIELDS;
    assert_int_equal(projection_new(&p, schema, &list, &made, &err), RC_OK);
}

TEST_MAIN()
