/* tests/unit/schema/test_binary.c - which bytes a value becomes, however it was written, and every fault of Avro
 * binary at every place where a value can stand: its offset, its path, and no memory beyond what was sent.
 * docs/testing.md says which test answers which complaint. */
#include "schema/json.h"
#include "tests/unit/schema/codec_fixture.h"

#define RECORD(name, fields) "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":[" fields "]}"
#define FIELD(name, type)    "{\"name\":\"" name "\",\"type\":" type "}"
#define ENUM                 "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\"]}"

/* ---- what values become ---- */

TEST(codec_from_json__writes_a_bare_and_a_tagged_value_alike) /* D-01 */
{
    use_schema(RECORD(
        "C", FIELD("id", "\"int\"") ",{\"name\":\"mail\",\"type\":[\"null\",\"string\"],\"default\":null}"));
    encodes("{\"id\":1,\"mail\":\"a@x\"}", "020206614078");
    encodes("{\"id\":2,\"mail\":{\"string\":\"a@x\"}}", "040206614078");
    encodes("{\"id\":3,\"mail\":null}", "0600");
    encodes("{\"id\":4}", "0800");
}

TEST(codec_from_json__writes_bytes_for_code_points) /* D-06, D-07, D-17, D-18 */
{
    use_schema("\"bytes\"");
    encodes("\"a\\u0000b\\u00ff\"", "08610062ff");
    encodes("\"\\u00db\\u0080\"", "04db80");
    encodes("\"\xc3\x9b\xc2\x80\"", "04db80");
    use_schema("\"string\"");
    encodes("\"a\\u0000b\"", "06610062");
    encodes("\"\\ud83d\\ude00\"", "08f09f9880");
    encodes("\"\xf0\x9f\x98\x80\"", "08f09f9880");
}

TEST(codec_from_json__writes_the_nearest_floats) /* D-12 */
{
    use_schema(RECORD("N", FIELD("d", "\"double\"") "," FIELD("f", "\"float\"")));
    encodes("{\"d\":0.1,\"f\":0.1}", "9a9999999999b93fcdcccc3d");
    encodes("{\"d\":\"NaN\",\"f\":\"-Infinity\"}", "000000000000f87f000080ff");
}

TEST(codec_from_json__writes_nothing_for_a_record_without_fields) /* D-20 */
{
    use_schema(RECORD("R", FIELD("e", RECORD("E", "")) "," FIELD("n", "\"int\"")));
    encodes("{\"e\":{},\"n\":7}", "0e");
}

/* A record written elsewhere with what JSON has no number for can be read as JSON. */
TEST(codec_to_json__makes_valid_json_of_every_double) /* D-11 */
{
    static const struct {
        const char *bits, *json;
    } cases[] = {
        {"\0\0\0\0\0\0\xf8\x7f", "\"NaN\""},
        {"\1\0\0\0\0\0\xf0\xff", "\"NaN\""},
        {"\0\0\0\0\0\0\xf0\x7f", "\"Infinity\""},
        {"\0\0\0\0\0\0\xf0\xff", "\"-Infinity\""},
    };
    use_schema("\"double\"");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        out.len = 0;
        assert_int_equal(
            codec_to_json(schema, JSON_PLAIN, slice_of((const uint8_t *)cases[i].bits, 8), &out, &err),
            RC_OK);
        assert_slice_str(buf_slice(&out), cases[i].json);
        assert_int_equal(json_check(buf_slice(&out), 10, &arena, &err), RC_OK);
    }
}

/* ---- faults ---- */

struct around {
    const char *schema; /* around the type */
    struct slice before;
    const char *path;
};

#define BYTES(literal)                                                                                       \
    {                                                                                                        \
        (const uint8_t *)(literal), sizeof(literal) - 1                                                      \
    }

static const struct around places[] = {
    {"%s", BYTES(""), ""},
    {RECORD("Around", FIELD("a", "\"string\"") "," FIELD("v", "%s")), BYTES("\x04xy"), " in /v"},
    {"{\"type\":\"array\",\"items\":%s}", BYTES("\x02"), " in /0"},
    {"{\"type\":\"map\",\"values\":%s}", BYTES("\x02\x02k"), " in /k"},
    {"[\"boolean\",%s]", BYTES("\x02"), ""},
    {RECORD("Around",
            FIELD("v", RECORD("Inner", FIELD("w", "[\"null\",{\"type\":\"array\",\"items\":%s}]")))),
     BYTES("\x02\x02"), " in /v/w/0"},
};

static const struct {
    const char *type;
    struct slice avro;
    const char *what;
    unsigned at; /* where in it */
} faults[] = {
    {"\"string\"", BYTES("\x01"), "negative length", 0},                                           /* D-42 */
    {"\"bytes\"", BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "negative length", 0},        /* D-42 */
    {"\"string\"", BYTES("\xfe\xff\xff\xff\x0f\0\0\0"), "a length beyond the end of the data", 0}, /* D-43 */
    {"\"bytes\"", BYTES("\x80\x80\x80\x80\x80\x40"), "a length beyond the end of the data", 0},    /* D-43 */
    {"\"string\"", BYTES("\x04x"), "a length beyond the end of the data", 0},                      /* D-48 */
    {"\"string\"", BYTES("\x04\xc3\x28"), "a string that is not UTF-8", 1},                        /* D-19 */
    {"\"boolean\"", BYTES("\x02"), "a boolean of 2, neither 0 nor 1,", 0},                         /* D-44 */
    {ENUM, BYTES("\x12"), "enum symbol 9 of 1", 0},                                                /* D-44 */
    {ENUM, BYTES("\x01"), "enum symbol -1 of 1", 0},                                               /* D-44 */
    {"\"long\"", BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), "a number of more than 64 bits", 0},
    {"\"int\"", BYTES("\x80\x80\x80\x80\x10"), "an int of more than 32 bits", 0}, /* D-44 */
    {"\"int\"", BYTES("\x80"), "a number that is cut off", 0},
};

TEST(codec_to_json__tells_every_fault_with_its_offset_and_path) /* D-42, D-43, D-44 */
{
    for (size_t p = 0; p < ARRAY_LEN(places); p++)
        for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
            char json[1024], want[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(json, sizeof json, places[p].schema, faults[i].type);
#pragma GCC diagnostic pop
            if (strstr(json, "[\"boolean\",\"boolean\"]"))
                continue;
            snprintf(want, sizeof want, "Avro binary: %s at byte %zu%s.", faults[i].what,
                     places[p].before.len + faults[i].at, places[p].path);
            use_schema(json);
            uint8_t *datum = malloc(places[p].before.len + faults[i].avro.len + 1);
            assert_non_null(datum);
            memcpy(datum, places[p].before.ptr, places[p].before.len);
            memcpy(datum + places[p].before.len, faults[i].avro.ptr, faults[i].avro.len);
            buf_release(&out);
            assert_int_equal(codec_to_json(schema, JSON_PLAIN,
                                           slice_of(datum, places[p].before.len + faults[i].avro.len), &out,
                                           &err),
                             RC_ERR);
            free(datum);
            assert_int_equal(err.code, ERR_BAD_AVRO);
            assert_string_equal(err.message, want);
            assert_int_equal(out.len, 0);
            assert_true(out.cap < 1000); /* what is only announced takes no memory */
        }
}

TEST(codec_to_json__tells_a_branch_that_is_none_with_its_path) /* D-44 */
{
    use_schema(RECORD("R", FIELD("a", "\"int\"") "," FIELD("u", "[\"null\",\"int\"]")));
    out.len = 0;
    assert_int_equal(codec_to_json(schema, JSON_PLAIN, SLICE("\x02\x0e"), &out, &err), RC_ERR);
    assert_string_equal(err.message, "Avro binary: union branch 7 of 2 at byte 1 in /u.");
}

TEST(codec_to_json__takes_a_whole_record_and_nothing_behind_it) /* D-44 */
{
    use_schema(RECORD("R", FIELD("a", "\"int\"") "," FIELD("s", "\"string\"")));
    struct slice whole = SLICE("\x02\x04hi\0");
    for (size_t len = 0; len <= whole.len; len++) {
        out.len = 0;
        enum rc rc = codec_to_json(schema, JSON_PLAIN, slice_of(whole.ptr, len), &out, &err);
        assert_int_equal(rc, len == whole.len - 1 ? RC_OK : RC_ERR);
    }
    assert_string_equal(err.message, "Avro binary: 1 bytes left over at byte 4.");
}

/* D-24: `02 02` again and again, then an end. */
TEST(codec_to_json__refuses_a_million_levels)
{
    use_schema(RECORD("L", FIELD("value", "\"long\"") "," FIELD("next", "[\"null\",\"L\"]")));
    struct buf avro = {0};
    append(&avro, "\x02\x02", 1000000);
    assert_true(buf_append(&avro, SLICE("\x02\0")));
    out.len = 0;
    assert_int_equal(codec_to_json(schema, JSON_PLAIN, buf_slice(&avro), &out, &err), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
    assert_int_equal(
        codec_to_json(schema, JSON_PLAIN, slice_of(avro.ptr + avro.len - 1002, 1002), &out, &err), RC_OK);
    buf_release(&avro);
}

TEST_MAIN()
