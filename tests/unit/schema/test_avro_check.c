/* tests/unit/schema/test_avro_check.c - Avro binary that is to be stored: what passes, and for what does not,
 * the byte and the place. */
#include <stdio.h>

#include "base/limits.h"
#include "tests/unit/schema/codec_fixture.h"

/* A copy of the exact length, so that sanitizers see a byte read beyond. */
static enum rc check_at(struct slice body, size_t before, bool brief)
{
    uint8_t *copy = malloc(body.len ? body.len : 1);
    assert_non_null(copy);
    if (body.len)
        memcpy(copy, body.ptr, body.len);
    opts.brief = brief;
    enum rc rc = codec_check(codec, schema, &opts, slice_of(copy, body.len), before, &arena, &err);
    free(copy);
    return rc;
}

static void passes(const char *schema_text, struct slice avro)
{
    use_schema(schema_text);
    if (check_at(avro, 0, true) != RC_OK)
        fail_msg("%s: %s", schema_text, err.message);
}

static void misfits_at(const char *schema_text, struct slice body, size_t before, enum problem_code code,
                       const char *pointer, const char *words)
{
    use_schema(schema_text);
    if (check_at(body, before, true) == RC_OK)
        fail_msg("%s: it passed, and should not: %s", schema_text, words);
    assert_int_equal(err.code, code == PROBLEM_DEPTH ? ERR_TOO_DEEP : ERR_BAD_AVRO);
    assert_int_equal(err.problems, 1);
    assert_slice_str(err.first->pointer, pointer);
    assert_int_equal(err.first->code, code);
    if (!strstr(err.message, words))
        fail_msg("\"%s\" lacks \"%s\"", err.message, words);
}

static void misfits(const char *schema_text, struct slice avro, enum problem_code code, const char *pointer,
                    const char *words)
{
    misfits_at(schema_text, avro, 0, code, pointer, words);
}

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type "}"
#define RECORD(fields)    "{\"type\":\"record\",\"name\":\"R\",\"fields\":[" fields "]}"
#define ARRAY(items)      "{\"type\":\"array\",\"items\":" items "}"
#define MAP(values)       "{\"type\":\"map\",\"values\":" values "}"
#define ENUM              "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"]}"
#define LIST              "{\"type\":\"record\",\"name\":\"L\",\"fields\":[{\"name\":\"next\",\"type\":[\"null\",\"L\"]}]}"

TEST(codec_check__takes_each_type)
{
    passes("\"null\"", SLICE(""));
    passes("\"boolean\"", SLICE("\x01"));
    passes("\"int\"", SLICE("\xff\xff\xff\xff\x0f"));
    passes("\"long\"", SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
    passes("\"float\"", SLICE("\0\0\xc0\x7f"));
    passes("\"double\"", SLICE("\0\0\0\0\0\0\xf8\x7f"));
    passes("\"bytes\"", SLICE("\x04\xff\0"));
    passes("\"string\"", SLICE("\x06\xe2\x82\xac"));
    passes("{\"type\":\"fixed\",\"name\":\"F\",\"size\":2}", SLICE("\xff\xff"));
    passes(ENUM, SLICE("\x02"));
    passes(ARRAY("\"int\""), SLICE("\x04\x02\x04\x02\x06\0"));
    passes(MAP("\"int\""), SLICE("\x02\x02k\x02\x02\x02l\x02\0"));
    passes("[\"null\",\"int\"]", SLICE("\x02\x02"));
    passes(RECORD(FIELD("a", "\"int\"") "," FIELD("b", "\"string\"")), SLICE("\x02\x02x"));
}

TEST(codec_check__takes_numbers_longer_than_they_need_to_be)
{
    passes("\"int\"", SLICE("\x82\x80\x80\x80\0"));
    passes("\"long\"", SLICE("\x82\x80\x80\x80\x80\x80\x80\x80\x80\0"));
    passes("\"string\"", SLICE("\x82\0x"));
    passes(ENUM, SLICE("\x82\x80\x80\x80\0"));
    passes("[\"null\",\"int\"]", SLICE("\x82\0\x02"));
    passes(ARRAY("\"int\""), SLICE("\x82\x80\0\x02\x80\0"));
}

TEST(codec_check__refuses_an_index_of_more_bytes_than_an_int_has)
{
    misfits(ENUM, SLICE("\x82\x80\x80\x80\x80\0"), PROBLEM_RANGE, "",
            "an index of more than 5 bytes at byte 0");
    misfits("[\"null\",\"int\"]", SLICE("\x82\x80\x80\x80\x80\0\x02"), PROBLEM_RANGE, "",
            "an index of more than 5 bytes at byte 0");
    misfits("\"int\"", SLICE("\x82\x80\x80\x80\x80\0"), PROBLEM_RANGE, "",
            "an int of more than 32 bits at byte 0");
}

TEST(codec_check__takes_blocks_that_tell_their_size)
{
    passes(ARRAY("\"int\""), SLICE("\x03\x04\x02\x04\x01\x02\x06\0"));
    passes(ARRAY("\"double\""), SLICE("\x01\x10"
                                      "12345678"
                                      "\0"));
    passes(MAP("\"int\""), SLICE("\x01\x06\x02k\x02\0"));
    misfits(ARRAY("\"int\""), SLICE("\x03\x06\x02\x04\0\0"), PROBLEM_SIZE, "", "end elsewhere");
    misfits(ARRAY("\"double\""),
            SLICE("\x01\x12"
                  "123456789"
                  "\0"),
            PROBLEM_SIZE, "", "end elsewhere");
    misfits(ARRAY("\"null\""), SLICE("\x03\x02\0\0"), PROBLEM_SIZE, "", "end elsewhere");
    misfits(ARRAY("\"int\""), SLICE("\x03\x01\x02\x04\0"), PROBLEM_SIZE, "", "negative block size");
    misfits(ARRAY("\"int\""), SLICE("\x03\x10\x02\x04\0"), PROBLEM_SIZE, "", "a block beyond the end");
}

TEST(codec_check__names_the_byte_and_the_field)
{
    static const char *two = RECORD(FIELD("a", "\"int\"") "," FIELD("b", "\"boolean\""));
    misfits(two, SLICE("\x02\x02"), PROBLEM_RANGE, "/b",
            "At /b: Avro binary: a boolean of 2, neither 0 nor 1, at byte 1.");
    misfits(two, SLICE("\x02"), PROBLEM_SIZE, "/b", "a boolean is cut off at byte 1");
    misfits(two, SLICE("\x80\x80\x80\x80\x10\x01"), PROBLEM_RANGE, "/a", "more than 32 bits at byte 0");
    misfits(two, SLICE("\x02\x01!"), PROBLEM_SIZE, "", "1 bytes left over at byte 2");
    misfits("\"long\"", SLICE("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), PROBLEM_RANGE, "",
            "more than 64 bits");
    misfits("\"string\"", SLICE("\x01"), PROBLEM_SIZE, "", "negative length at byte 0");
    misfits("\"bytes\"", SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), PROBLEM_SIZE, "",
            "negative length at byte 0");
    misfits("\"string\"",
            SLICE("\xfe\xff\xff\xff\x0f"
                  "abc"),
            PROBLEM_SIZE, "", "a length beyond the end");
    misfits("\"string\"",
            SLICE("\x06"
                  "a\xc3\x28"),
            PROBLEM_ENCODING, "", "not UTF-8 at byte 2");
    misfits("\"float\"", SLICE("123"), PROBLEM_SIZE, "", "a float is cut off");
    misfits("\"double\"", SLICE("1234567"), PROBLEM_SIZE, "", "a double is cut off");
    misfits("{\"type\":\"fixed\",\"name\":\"F\",\"size\":2}", SLICE("\xff"), PROBLEM_SIZE, "",
            "a fixed is cut off");
    misfits(ENUM, SLICE("\x12"), PROBLEM_SYMBOL, "", "enum symbol 9 of 2");
    misfits(ENUM, SLICE("\x01"), PROBLEM_SYMBOL, "", "enum symbol -1 of 2");
    misfits("[\"null\",\"int\"]", SLICE("\x0e"), PROBLEM_NO_BRANCH, "", "union branch 7 of 2");
}

TEST(codec_check__points_through_arrays_maps_and_unions)
{
    static const char *lists = RECORD(FIELD("m", MAP(ARRAY("[\"null\",\"boolean\"]"))));
    misfits(lists,
            SLICE("\x02\x06"
                  "a/b\x06\0\x02\x01\x02\x05\0\0"),
            PROBLEM_RANGE, "/m/a~1b/2", "a boolean of 5");
    misfits(lists, SLICE("\x02\x04\xc3\x28\0\0"), PROBLEM_ENCODING, "/m", "not UTF-8 at byte 2");
}

TEST(codec_check__counts_bytes_of_a_body_with_its_frame)
{
    misfits_at("\"boolean\"", SLICE("frame\x02"), 5, PROBLEM_RANGE, "", "at byte 5");
    use_schema("\"boolean\"");
    assert_int_equal(check_at(SLICE("frame\x01"), 5, true), RC_OK);
    misfits_at("\"boolean\"", SLICE("frame"), 5, PROBLEM_SIZE, "", "cut off at byte 5");
}

TEST(codec_check__refuses_a_key_that_stands_twice)
{
    misfits(RECORD(FIELD("m", MAP("\"int\""))), SLICE("\x02\x02k\x02\x02\x02k\x04\0"), PROBLEM_DUPLICATE,
            "/m/k", "stands twice");
    passes(ARRAY(MAP("\"int\"")), SLICE("\x04\x02\x02k\x02\0\x02\x02k\x02\0\0"));
}

TEST(codec_check__says_that_it_looks_like_a_container_file)
{
    misfits(RECORD(FIELD("a", "\"string\"")),
            SLICE("Obj\x01\x04\x16"
                  "avro.codec"),
            PROBLEM_SIZE, "/a", "It looks like an object container file.");
}

TEST(codec_check__sees_that_a_count_is_more_than_the_bytes_can_hold)
{
    misfits(ARRAY("\"int\""), SLICE("\x80\x80\x80\x80\x80\x40\x02"), PROBLEM_SIZE, "",
            "more items than the data can hold");
    misfits(ARRAY("\"double\""),
            SLICE("\x04"
                  "12345678"),
            PROBLEM_SIZE, "", "more items than the data can hold");
    misfits(MAP("\"null\""),
            SLICE("\x08\x02"
                  "a"),
            PROBLEM_SIZE, "", "more items than the data can hold");
    misfits(ARRAY(ARRAY("\"int\"")), SLICE("\x08\0\0\0"), PROBLEM_SIZE, "",
            "more items than the data can hold");
}

/* ---- depth ---- */

static enum rc check_list(size_t depth)
{
    uint8_t *p = malloc(depth);
    assert_non_null(p);
    memset(p, 2, depth);
    p[depth - 1] = 0;
    enum rc rc = check_at(slice_of(p, depth), 0, true);
    free(p);
    return rc;
}

TEST(codec_check__goes_to_the_limit_of_depth_and_no_further)
{
    use_schema(LIST);
    assert_int_equal(check_list(LIMIT_DATA_DEPTH_MAX), RC_OK);
    assert_int_equal(check_list(LIMIT_DATA_DEPTH_MAX + 1), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
    assert_int_equal(err.first->code, PROBLEM_DEPTH);
    assert_int_equal(err.first->pointer.len, LIMIT_DATA_DEPTH_MAX * strlen("/next"));
    assert_int_equal(check_list(1000000), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
}

/* A list of `depth` records, whose last holds what `end` says; the decoder must see it the same way. */
static enum rc check_list_of_nothing(const char *type, struct slice end, size_t depth)
{
    struct buf s = {0}, json = {0};
    struct err other;
    assert_true(buf_printf(
        &s, "{\"type\":\"record\",\"name\":\"L\",\"fields\":[{\"name\":\"next\",\"type\":[\"L\",%s]}]}",
        type));
    assert_true(buf_append_byte(&s, 0));
    use_schema((const char *)s.ptr);
    s.len = 0;
    for (size_t i = 1; i < depth; i++)
        assert_true(buf_append_byte(&s, 0));
    assert_true(buf_append(&s, end));
    enum rc rc = check_at(buf_slice(&s), 0, true);
    assert_int_equal(codec_to_json(schema, JSON_PLAIN, buf_slice(&s), &json, &other), rc);
    buf_release(&s);
    buf_release(&json);
    return rc;
}

#define NOTHING                                                                                              \
    "{\"type\":\"record\",\"name\":\"N\",\"fields\":[{\"name\":\"a\",\"type\":\"null\"},{\"name\":\"o\","    \
    "\"type\":"                                                                                              \
    "{\"type\":\"record\",\"name\":\"O\",\"fields\":[]}}]}"

TEST(codec_check__counts_the_depth_of_what_takes_no_bytes)
{
    assert_int_equal(check_list_of_nothing(NOTHING, SLICE("\x02"), LIMIT_DATA_DEPTH_MAX - 2), RC_OK);
    assert_int_equal(check_list_of_nothing(NOTHING, SLICE("\x02"), LIMIT_DATA_DEPTH_MAX - 1), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
    assert_int_equal(check_list_of_nothing(ARRAY(NOTHING), SLICE("\x02\x04\0"), LIMIT_DATA_DEPTH_MAX - 3),
                     RC_OK);
    assert_int_equal(check_list_of_nothing(ARRAY(NOTHING), SLICE("\x02\x04\0"), LIMIT_DATA_DEPTH_MAX - 2),
                     RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
}

/* ---- work ---- */

TEST(codec_check__takes_as_many_items_of_no_bytes_as_a_record_may_have)
{
    struct buf avro = {0};
    uint8_t count[10];
    use_schema(ARRAY("\"null\""));
    for (int more = 0; more < 2; more++) {
        avro.len = 0;
        assert_true(buf_append(
            &avro, slice_of(count, codec_put_length((uint64_t)(LIMIT_EMPTY_ITEMS_MAX + more), count))));
        assert_true(buf_append_byte(&avro, 0));
        assert_int_equal(check_at(buf_slice(&avro), 0, true), more ? RC_ERR : RC_OK);
    }
    assert_int_equal(err.code, ERR_TOO_MUCH_WORK);
    assert_int_equal(check_at(SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0\0"), 0, true), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_MUCH_WORK);
    buf_release(&avro);
}

/* Each record holds the one before it twice. */
static void use_doubled_nulls(unsigned times)
{
    struct buf s = {0};
    assert_true(buf_printf(&s, "{\"type\":\"array\",\"items\":"));
    for (unsigned i = times; i-- > 0;)
        assert_true(
            buf_printf(&s, "{\"type\":\"record\",\"name\":\"R%u\",\"fields\":[{\"name\":\"a\",\"type\":", i));
    assert_true(buf_printf(&s, "\"null\"},{\"name\":\"b\",\"type\":\"null\"}]}"));
    for (unsigned i = 1; i < times; i++)
        assert_true(buf_printf(&s, "},{\"name\":\"b\",\"type\":\"R%u\"}]}", i - 1));
    assert_true(buf_printf(&s, "}"));
    assert_true(buf_append_byte(&s, 0));
    use_schema((const char *)s.ptr);
    buf_release(&s);
}

TEST(codec_check__passes_over_2_to_the_60_nulls_at_once)
{
    use_doubled_nulls(60);
    if (check_at(SLICE("\x04\0"), 0, true) != RC_OK)
        fail_msg("%s", err.message);
}

/* Records of a thousand nulls and one byte: what is looked at is no longer told by the length. */
TEST(codec_check__gives_up_where_a_byte_costs_too_much)
{
    struct buf s = {0}, avro = {0};
    assert_true(
        buf_printf(&s, "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"R\",\"fields\":["));
    for (int i = 0; i < 1000; i++)
        assert_true(buf_printf(&s, "{\"name\":\"n%d\",\"type\":\"null\"},", i));
    assert_true(buf_printf(&s, "{\"name\":\"b\",\"type\":\"boolean\"}]}}"));
    assert_true(buf_append_byte(&s, 0));
    use_schema((const char *)s.ptr);
    for (size_t n = 50; n <= 100000; n *= 2000) {
        uint8_t count[10];
        avro.len = 0;
        assert_true(buf_append(&avro, slice_of(count, codec_put_length(n, count))));
        for (size_t i = 0; i < n; i++)
            assert_true(buf_append_byte(&avro, 1));
        assert_true(buf_append_byte(&avro, 0));
        assert_int_equal(check_at(buf_slice(&avro), 0, true), n == 50 ? RC_OK : RC_ERR);
        assert_int_equal(check_at(buf_slice(&avro), 0, false), n == 50 ? RC_OK : RC_ERR);
    }
    assert_int_equal(err.code, ERR_TOO_MUCH_WORK);
    buf_release(&s);
    buf_release(&avro);
}

TEST(codec_check__refuses_what_is_larger_than_a_record_may_be)
{
    uint8_t *p = calloc(1, LIMIT_RECORD_MAX + 1);
    assert_non_null(p);
    use_schema("\"bytes\"");
    assert_int_equal(codec_check(codec, schema, &(struct codec_opts){0}, slice_of(p, LIMIT_RECORD_MAX + 1), 0,
                                 &arena, &err),
                     RC_ERR);
    assert_int_equal(err.code, ERR_RECORD_TOO_LARGE);
    free(p);
}

static void exceeds(struct slice avro, enum err_code code, const char *pointer, const char *words)
{
    assert_int_equal(check_at(avro, 0, true), RC_ERR);
    assert_int_equal(err.code, code);
    assert_slice_str(err.first->pointer, pointer);
    assert_non_null(strstr(err.message, words));
    assert_int_equal(codec_check_limits(codec, schema, &opts, avro, &arena, &err), RC_ERR);
    assert_int_equal(err.code, code);
    assert_slice_str(err.first->pointer, pointer);
    assert_non_null(strstr(err.message, "With this the record would have"));
}

static void is_within(struct slice avro)
{
    assert_int_equal(check_at(avro, 0, true), RC_OK);
    assert_int_equal(codec_check_limits(codec, schema, &opts, avro, &arena, &err), RC_OK);
}

TEST(codec_check__adds_up_the_items_of_all_blocks)
{
    use_schema(RECORD(
        FIELD("a", ARRAY("\"int\"")) "," FIELD("n", ARRAY("\"null\"")) "," FIELD("f", ARRAY("\"float\""))));
    opts.limits = (struct codec_limits){.items = 3};
    is_within(SLICE("\4\1\1\2\1\0"
                    "\4\2\0"
                    "\0"));
    exceeds(SLICE("\4\1\1\2\1\2\1\0"
                  "\0"
                  "\0"),
            ERR_TOO_MANY_ITEMS, "/a", "more than 3 items in one array or map");
    exceeds(SLICE("\3\4\1\1\3\4\1\1\0"
                  "\0"
                  "\0"),
            ERR_TOO_MANY_ITEMS, "/a", "items"); /* blocks that tell their size */
    exceeds(SLICE("\0"
                  "\4\4\0"
                  "\0"),
            ERR_TOO_MANY_ITEMS, "/n", "items"); /* items of no bytes */
    exceeds(SLICE("\0"
                  "\0"
                  "\4........\4........\0"),
            ERR_TOO_MANY_ITEMS, "/f", "items"); /* passed over at once */
    use_schema(MAP(ARRAY("\"int\"")));
    opts.limits = (struct codec_limits){.items = 3};
    exceeds(SLICE("\2\2k\10\1\1\1\1\0\0"), ERR_TOO_MANY_ITEMS, "/k", "items");
}

TEST(codec_check__counts_levels_up_to_the_limit_of_the_type)
{
    use_schema(LIST);
    opts.limits = (struct codec_limits){.depth = 2};
    is_within(SLICE("\2\0"));
    exceeds(SLICE("\2\2\0"), ERR_TOO_DEEP, "/next/next",
            "more than 2 records, arrays and maps inside each other");
    use_schema(ARRAY(
        RECORD(FIELD("e", "{\"type\":\"record\",\"name\":\"E\",\"fields\":[]}")))); /* which takes no bytes */
    opts.limits = (struct codec_limits){.depth = 2};
    exceeds(SLICE("\2\0"), ERR_TOO_DEEP, "", "inside each other");
}

TEST(codec_check__counts_the_bytes_of_the_record_alone)
{
    use_schema("\"bytes\"");
    opts.limits = (struct codec_limits){.bytes = 3};
    assert_int_equal(check_at(SLICE("frame\4ab"), 5, true), RC_OK);
    assert_int_equal(check_at(SLICE("\6abc"), 0, true), RC_ERR);
    assert_int_equal(err.code, ERR_RECORD_TOO_LARGE);
}

TEST_MAIN()
