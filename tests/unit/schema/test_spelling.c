/* tests/unit/schema/test_spelling.c - values spelled readably: which instructions, both ways, unions, depth. What the texts
 * themselves may be is tested where they are parsed: tests/unit/base/test_rfc3339.c, test_decimal.c, test_base64.c. */
#include "tests/lib/random.h"
#include "tests/unit/schema/codec_fixture.h"

#define DATE     "{\"type\":\"int\",\"logicalType\":\"date\"}"
#define STAMP    "{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}"
#define DECIMAL  "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":8,\"scale\":2}"
#define UUID     "{\"type\":\"string\",\"logicalType\":\"uuid\"}"
#define DURATION "{\"type\":\"fixed\",\"name\":\"P\",\"size\":12,\"logicalType\":\"duration\"}"

static void use(const char *json, enum json_form form)
{
    use_schema(json);
    opts.form = form;
}

static void shows_in(enum json_form form, const char *want)
{
    struct err why;
    text.len = 0;
    if (codec_to_json(schema, form, buf_slice(&out), &text, &why))
        fail_msg("%s: %s", want, why.message);
    assert_slice_str(buf_slice(&text), want);
}

/* Encodes to these bytes, and comes back as itself. */
static void is(const char *json, const char *hex)
{
    encodes(json, hex);
    shows_in(opts.form, json);
}

static void program_of_form_is(enum json_form form, const char *want)
{
    text.len = 0;
    assert_true(program_print(schema_program_of(schema, form), &text));
    assert_slice_str(buf_slice(&text), want);
}

TEST(schema_program_of__changes_only_what_the_form_spells)
{
    use_schema("{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"d\",\"type\":" DATE
               "},{\"name\":\"n\",\"type\":\"long\"},{\"name\":\"b\",\"type\":\"bytes\"},{\"name\":\"p\","
               "\"type\":" DURATION "}]}");
    const struct program *plain = schema_program(schema);
    assert_ptr_equal(schema_program_of(schema, JSON_PLAIN), plain);
    assert_ptr_equal(schema_program_of(schema, JSON_AVRO), plain);
    assert_ptr_equal(schema_program_of(schema, JSON_INT64), schema_program_of(schema, JSON_INT64));
    program_of_form_is(JSON_LOGICAL, "   0  record R  least 15\n"
                                     "      .d -> 1  zero <00>\n"
                                     "      .n -> 2  zero <00>\n"
                                     "      .b -> 3  zero <00>\n"
                                     "      .p -> 4  zero <000000000000000000000000>\n"
                                     "   1  moment  least 1\n"
                                     "   2  long  least 1\n"
                                     "   3  bytes  least 1\n"
                                     "   4  record P  least 12\n"
                                     "      .months -> 5  zero <00000000>\n"
                                     "      .days -> 5  zero <00000000>\n"
                                     "      .millis -> 5  zero <00000000>\n"
                                     "   5  uint32  least 4\n"
                                     "initial <000000000000000000000000000000>\n");
    program_of_form_is(JSON_INT64 | JSON_BASE64, "   0  record R  least 15\n"
                                                 "      .d -> 1  zero <00>\n"
                                                 "      .n -> 2  zero <00>\n"
                                                 "      .b -> 3  zero <00>\n"
                                                 "      .p -> 4  zero <000000000000000000000000>\n"
                                                 "   1  int  least 1\n"
                                                 "   2  int64  least 1\n"
                                                 "   3  base64  least 1\n"
                                                 "   4  base64 P  least 12\n"
                                                 "initial <000000000000000000000000000000>\n");
    use_schema("{\"type\":\"array\",\"items\":\"int\"}");
    assert_ptr_equal(schema_program_of(schema, JSON_LOGICAL | JSON_INT64 | JSON_BASE64),
                     schema_program(schema));
}

TEST(codec__spells_what_has_a_text)
{
    use(DATE, JSON_LOGICAL);
    is("\"2024-02-29\"", "8cb502");
    is("-719529", "d1ea57");
    is("2932897", "c282e602");
    use(STAMP, JSON_LOGICAL);
    is("\"2024-02-29T12:00:00.500Z\"", "e8dfe2cbbe63");
    is("253402300800000", "80f0fea1fa9d73");
    use(STAMP, JSON_LOGICAL | JSON_INT64);
    is("\"2024-02-29T12:00:00.500Z\"", "e8dfe2cbbe63");
    is("\"253402300800000\"", "80f0fea1fa9d73");
    use(STAMP, JSON_INT64);
    is("\"-1\"", "01");
    use(DECIMAL, JSON_LOGICAL);
    is("\"12.30\"", "0404ce");
    is("\"-0.01\"", "02ff");
    is("\"0x05f5e100\"", "0805f5e100");
    is("\"0x\"", "00");
    use(DECIMAL, JSON_BASE64);
    is("\"BM4=\"", "0404ce");
    use("{\"type\":\"fixed\",\"name\":\"D\",\"size\":4,\"logicalType\":\"decimal\",\"precision\":8,\"scale\":"
        "2}",
        JSON_LOGICAL);
    is("\"12.30\"", "000004ce");
    is("\"-0.01\"", "ffffffff");
    is("\"0x7fffffff\"", "7fffffff");
    use("{\"type\":\"fixed\",\"name\":\"U\",\"size\":16,\"logicalType\":\"uuid\"}", JSON_LOGICAL);
    is("\"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\"", "f81d4fae7dec11d0a76500a0c91e6bf6");
    use(DURATION, JSON_LOGICAL);
    is("{\"months\":1,\"days\":4294967295,\"millis\":3000}", "01000000ffffffffb80b0000");
    encodes("{\"millis\":3,\"months\":1,\"days\":2}", "010000000200000003000000");
}

/* The form of the specification is not ours to change. */
TEST(codec__spells_nothing_in_avro_json)
{
    use("[\"null\"," DATE "]", JSON_AVRO);
    encodes("{\"int\":19782}", "028cb502");
    shows_in(JSON_AVRO, "{\"int\":19782}");
}

TEST(codec_from_json__names_what_is_wrong_with_a_text)
{
    use(DATE, JSON_LOGICAL);
    refuses("\"2023-02-29\"", " range (RFC 3339 date) (\"2023-02-29\")\n");
    refuses("\"yesterday\"", " encoding (RFC 3339 date) (\"yesterday\")\n");
    refuses("2147483648", " range (RFC 3339 date) (2147483648)\n");
    refuses("1.5", " type (RFC 3339 date) (1.5)\n");
    refuses("true", " type (RFC 3339 date) (boolean)\n");
    use(DECIMAL, JSON_LOGICAL);
    refuses("12.345", " range (decimal(8,2)) (12.345)\n");
    refuses("\"0x0\"", " encoding (decimal(8,2)) (\"0x0\")\n");
    use("{\"type\":\"fixed\",\"name\":\"F\",\"size\":2}", JSON_BASE64);
    refuses("\"YWJj\"", " size (2 bytes) (3 bytes)\n");
    refuses("\"YWI\"", " encoding (base64 text with padding) (\"YWI\")\n");
    use("\"long\"", JSON_INT64);
    refuses("\"1e2\"", " encoding (long) (\"1e2\")\n");
    refuses("\"9223372036854775808\"", " range (long) (\"9223372036854775808\")\n");
    use(DURATION, JSON_LOGICAL);
    refuses("\"P1M\"", " type (object of months, days and millis) (string)\n");
    refuses("{\"months\":-1,\"days\":\"2\",\"years\":1}",
            "/months range (whole number from 0 to 4294967295) (-1)\n"
            "/days type (whole number from 0 to 4294967295) (string)\n"
            "/millis missing (whole number from 0 to 4294967295) ()\n"
            "/years unknown () (number)\n");
}

TEST(codec_from_json__gives_a_text_to_the_first_branch_that_takes_it)
{
    use("[" DATE ",\"string\"," DECIMAL "]", JSON_LOGICAL);
    encodes("\"2024-02-29\"", "008cb502");
    encodes("\"2023-02-29\"", "0214323032332d30322d3239");
    encodes("\"1.00\"", "0208312e3030");
    encodes("5", "000a");
    encodes("5.5", "04040226");
    use("[\"double\"," DECIMAL "]", JSON_LOGICAL);
    encodes("\"1.00\"", "020264");
    encodes("\"NaN\"", "00000000000000f87f");
    encodes("1", "00000000000000f03f");
    use("[{\"type\":\"fixed\",\"name\":\"A\",\"size\":1},{\"type\":\"fixed\",\"name\":\"B\",\"size\":2},"
        "\"bytes\"]",
        JSON_BASE64);
    encodes("\"YWI=\"", "026162");
    encodes("\"YQ==\"", "0061");
    encodes("\"\"", "0400");
    use("[" DURATION ",{\"type\":\"map\",\"values\":\"int\"}]", JSON_LOGICAL);
    encodes("{\"months\":1}", "02020c6d6f6e7468730200");
    refuses("{\"months\":1,\"days\":2,\"millis\":3}", " ambiguous (P or map) (object)\n");
    encodes("{\"P\":{\"months\":1,\"days\":2,\"millis\":3}}", "00010000000200000003000000");
}

/* A duration is no level of nesting in Avro, so the deepest record may have one. */
TEST(codec__lets_a_duration_stand_at_the_deepest_level)
{
    enum { DEPTH = LIMIT_DATA_DEPTH_MAX };
    struct buf json = {0};
    use("{\"type\":\"record\",\"name\":\"L\",\"fields\":[{\"name\":\"p\",\"type\":[\"null\"," DURATION
        "],\"default\":null},{\"name\":\"n\",\"type\":[\"null\",\"L\"],\"default\":null}]}",
        JSON_LOGICAL);
    for (int depth = DEPTH; depth <= DEPTH + 1; depth++) {
        json.len = 0;
        append(&json, "{\"p\":null,\"n\":", depth - 1);
        append(&json, "{\"p\":{\"months\":1,\"days\":2,\"millis\":3},\"n\":null}", 1);
        append(&json, "}", depth - 1);
        assert_int_equal(encode_slice(buf_slice(&json)), depth == DEPTH ? RC_OK : RC_ERR);
        if (depth == DEPTH) {
            text.len = 0;
            assert_int_equal(codec_to_json(schema, JSON_LOGICAL, buf_slice(&out), &text, &err), RC_OK);
            assert_true(slice_eq(buf_slice(&text), buf_slice(&json)));
        } else {
            assert_int_equal(err.code, ERR_TOO_DEEP);
        }
    }
    json.len = 0; /* what is ignored inside of it is not let pass */
    opts.unknown = UNKNOWN_IGNORE;
    append(&json, "{\"p\":null,\"n\":", DEPTH - 1);
    append(&json, "{\"p\":{\"months\":1,\"days\":2,\"millis\":3,\"x\":[]},\"n\":null}", 1);
    append(&json, "}", DEPTH - 1);
    assert_int_equal(encode_slice(buf_slice(&json)), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
    buf_release(&json);
}

/* Any value of any type, in any form: what is read can be written back, and is the same bytes. */
TEST(codec__goes_round_in_every_form)
{
    static const char *const types[] = {
        DATE,
        STAMP,
        "{\"type\":\"int\",\"logicalType\":\"time-millis\"}",
        "{\"type\":\"long\",\"logicalType\":\"time-micros\"}",
        "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}",
        "{\"type\":\"long\",\"logicalType\":\"timestamp-nanos\"}",
        "{\"type\":\"long\",\"logicalType\":\"local-timestamp-millis\"}",
        "{\"type\":\"long\",\"logicalType\":\"local-timestamp-micros\"}",
        "{\"type\":\"long\",\"logicalType\":\"local-timestamp-nanos\"}",
        "\"long\"",
        "\"bytes\"",
        "{\"type\":\"fixed\",\"name\":\"F\",\"size\":7}",
        "{\"type\":\"fixed\",\"name\":\"U\",\"size\":16,\"logicalType\":\"uuid\"}",
        DURATION,
        ("{\"type\":\"fixed\",\"name\":\"D\",\"size\":5,\"logicalType\":\"decimal\",\"precision\":11,"
         "\"scale\":11}"),
        "{\"type\":\"fixed\",\"name\":\"E\",\"size\":40,\"logicalType\":\"decimal\",\"precision\":90}",
    };
    static const uint8_t sizes[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 16, 12, 5, 40};
    uint8_t bytes[64];
    struct err why;
    for (size_t t = 0; t < ARRAY_LEN(types); t++) {
        use_schema(types[t]);
        bool is_int = strstr(types[t], "\"int\"");
        for (int i = 0; i < 8000; i++) {
            size_t n = sizes[t];
            for (size_t j = 0; j < n; j++)
                bytes[j] = random_below(4) ? (uint8_t)random_u64() : random_below(2) ? 0 : 0xff;
            if (!n && t == 10) {
                n = random_below(20);
                bytes[0] = (uint8_t)(n << 1);
                for (size_t j = 1; j <= n; j++)
                    bytes[j] = (uint8_t)random_u64();
                n++;
            } else if (!n) {
                int64_t v = (int64_t)(random_u64() >> random_below(64)) * (random_below(2) ? 1 : -1);
                n = (size_t)(encode_varint(bytes, encode_zigzag(is_int ? (int32_t)v : v)) - bytes);
            }
            unsigned form = random_below(JSON_AVRO);
            opts.form = (enum json_form)form;
            text.len = 0;
            if (codec_to_json(schema, opts.form, slice_of(bytes, n), &text, &why))
                fail_msg("%s", why.message);
            if (encode_slice(buf_slice(&text)) || !slice_eq(buf_slice(&out), slice_of(bytes, n)))
                fail_msg("%s: %.*s in form %u (seed %llu)", types[t], (int)text.len, (const char *)text.ptr,
                         form, (unsigned long long)random_seed());
        }
    }
}

/* A string that is no UUID came in raw: it is shown, and not taken. */
TEST(codec__checks_uuids_when_they_come_in)
{
    use(UUID, JSON_LOGICAL);
    is("\"F81d4fae-7dec-11d0-a765-00a0c91e6bf6\"",
       "4846383164346661652d376465632d313164302d613736352d303061306339316536626636");
    refuses("\"x\"", " encoding (UUID) (\"x\")\n");
    opts.form = JSON_PLAIN;
    encodes("\"x\"", "0278");
    shows_in(JSON_LOGICAL, "\"x\"");
}

/* What is cut off or too long is told as for the plain types. */
TEST(codec_to_json__checks_what_it_spells)
{
    static const struct {
        const char *schema;
        struct slice avro;
    } cases[] = {
        {DATE, {(const uint8_t *)"\x80\x80\x80\x80\x10", 5}},
        {DATE, {(const uint8_t *)"\x80", 1}},
        {STAMP, {(const uint8_t *)"", 0}},
        {DECIMAL, {(const uint8_t *)"\x01", 1}},
        {DECIMAL, {(const uint8_t *)"\x08\x01", 2}},
        {DURATION, {(const uint8_t *)"0123456789", 10}},
        {DURATION, {(const uint8_t *)"0123456789012", 13}},
        {UUID, {(const uint8_t *)"\x04\xc3\x28", 3}},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        use_schema(cases[i].schema);
        text.len = 0;
        assert_int_equal(codec_to_json(schema, JSON_LOGICAL, cases[i].avro, &text, &err), RC_ERR);
        assert_int_equal(err.code, ERR_BAD_AVRO);
        assert_int_equal(text.len, 0);
    }
}

/* Each branch looks at the text once more, and that is paid for. */
TEST(codec_from_json__pays_for_texts_that_many_branches_look_at)
{
    enum { BRANCHES = 5000, CHARS = 200000 };
    struct buf json = {0}, long_text = {0};
    append(&json, "[", 1);
    for (int i = 0; i < BRANCHES; i++)
        assert_true(buf_printf(
            &json,
            "%s{\"type\":\"fixed\",\"name\":\"D%d\",\"size\":4,\"logicalType\":\"decimal\",\"precision\":8}",
            i ? "," : "", i));
    append(&json, "]", 1);
    assert_true(buf_append_byte(&json, 0));
    use((const char *)json.ptr, JSON_LOGICAL);
    append(&long_text, "\"", 1);
    append(&long_text, "1", CHARS);
    append(&long_text, "\"", 1);
    assert_int_equal(encode_slice(buf_slice(&long_text)), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_MUCH_WORK);
    buf_release(&json);
    buf_release(&long_text);
}

TEST_MAIN()
