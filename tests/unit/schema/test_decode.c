/* tests/unit/schema/test_decode.c - Avro binary to JSON: what each type prints, and every way to be wrong. */
#include "schema/codec.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "schema/schema.h"
#include "tests/lib/test.h"

/* One schema and what a call on it gave. The input is copied to the heap, exactly as long as it is, so that a
 * read beyond its end is seen. */
struct world {
    struct arena arena;
    struct schema *schema;
    struct buf out;
    struct err err;
};

static struct world world_of(const char *schema)
{
    struct world w = {0};
    if (schema_parse(&w.schema, slice_str(schema), SLICE(""), &w.arena, &w.err) != RC_OK)
        fail_msg("%s: %s", schema, w.err.message);
    return w;
}

static void world_release(struct world *w)
{
    schema_free(w->schema);
    buf_release(&w->out);
    arena_release(&w->arena);
}

static uint8_t *exact_copy(struct slice s)
{
    uint8_t *copy = malloc(s.len ? s.len : 1);
    assert_non_null(copy);
    if (s.len)
        memcpy(copy, s.ptr, s.len);
    return copy;
}

static enum rc decode(struct world *w, enum json_form form, struct slice avro)
{
    uint8_t *copy = exact_copy(avro);
    w->out.len = 0;
    memset(&w->err, 0, sizeof w->err);
    enum rc rc = codec_to_json(w->schema, form, slice_of(copy, avro.len), &w->out, &w->err);
    free(copy);
    if (rc != RC_OK)
        assert_int_equal(w->out.len, 0);
    return rc;
}

static void prints_form(const char *schema, enum json_form form, struct slice avro, const char *json)
{
    struct world w = world_of(schema);
    if (decode(&w, form, avro) != RC_OK)
        fail_msg("%s: %s", schema, w.err.message);
    assert_slice_str(buf_slice(&w.out), json);
    world_release(&w);
}

static void prints(const char *schema, struct slice avro, const char *json)
{
    prints_form(schema, JSON_PLAIN, avro, json);
    prints_form(schema, JSON_AVRO, avro, json);
}

static void refuses_as(const char *schema, struct slice avro, enum err_code code, const char *words)
{
    struct world w = world_of(schema);
    if (decode(&w, JSON_PLAIN, avro) == RC_OK)
        fail_msg("%s: printed %.*s", schema, (int)w.out.len, (const char *)w.out.ptr);
    assert_int_equal(w.err.code, code);
    if (!strstr(w.err.message, words))
        fail_msg("\"%s\" lacks \"%s\"", w.err.message, words);
    world_release(&w);
}

static void refuses(const char *schema, struct slice avro, const char *words)
{
    refuses_as(schema, avro, ERR_BAD_AVRO, words);
}

#define RECORD(fields)    "{\"type\":\"record\",\"name\":\"R\",\"fields\":[" fields "]}"
#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type "}"
#define ARRAY(items)      "{\"type\":\"array\",\"items\":" items "}"
#define MAP(values)       "{\"type\":\"map\",\"values\":" values "}"
#define ENUM              "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"Bee\"]}"
#define FIXED4            "{\"type\":\"fixed\",\"name\":\"F\",\"size\":4}"
#define LIST              RECORD(FIELD("next", "[\"null\",\"R\"]"))

/* ---- what is printed ---- */

TEST(codec_to_json__prints_scalars)
{
    prints("\"null\"", SLICE(""), "null");
    prints("\"boolean\"", SLICE("\0"), "false");
    prints("\"boolean\"", SLICE("\1"), "true");
    prints("\"int\"", SLICE("\x01"), "-1");
    prints("\"int\"", SLICE("\xfe\xff\xff\xff\x0f"), "2147483647");
    prints("\"int\"", SLICE("\xff\xff\xff\xff\x0f"), "-2147483648");
    prints("\"long\"", SLICE("\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "9223372036854775807");
    prints("\"long\"", SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "-9223372036854775808");
    prints("\"long\"", SLICE("\x82\x80\x80\x80\x80\x80\x80\x20"), "9007199254740993");
    prints(ENUM, SLICE("\x02"), "\"Bee\"");
}

TEST(codec_to_json__prints_floats_shortest_and_what_is_not_finite_as_strings)
{
    prints("\"float\"", SLICE("\xcd\xcc\xcc\x3d"), "0.1");
    prints("\"float\"", SLICE("\0\0\0\x80"), "-0.0");
    prints("\"float\"", SLICE("\0\0\xc0\x7f"), "\"NaN\"");
    prints("\"float\"", SLICE("\0\0\x80\xff"), "\"-Infinity\"");
    prints("\"double\"", SLICE("\x9a\x99\x99\x99\x99\x99\xb9\x3f"), "0.1");
    prints("\"double\"", SLICE("\0\0\0\0\0\0\xf0\x3f"), "1.0");
    prints("\"double\"", SLICE("\1\0\0\0\0\0\xf8\x7f"), "\"NaN\"");
    prints("\"double\"", SLICE("\0\0\0\0\0\0\xf0\x7f"), "\"Infinity\"");
}

TEST(codec_to_json__keeps_nul_and_escapes_only_what_must_be)
{
    prints("\"string\"", SLICE("\0"), "\"\"");
    prints("\"string\"",
           SLICE("\x06"
                 "a\0b"),
           "\"a\\u0000b\"");
    prints("\"string\"", SLICE("\x14\"\\/\b\f\n\r\t\x1f\x7f"), "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001f\x7f\"");
    prints("\"string\"", SLICE("\x10\xf0\x9f\x98\x80\xe2\x82\xac!"), "\"\xf0\x9f\x98\x80\xe2\x82\xac!\"");
}

TEST(codec_to_json__prints_bytes_and_fixed_as_code_points)
{
    prints("\"bytes\"",
           SLICE("\x08"
                 "a\0b\xff"),
           "\"a\\u0000b\xc3\xbf\"");
    prints("\"bytes\"", SLICE("\x04\x04\xd2"), "\"\\u0004\xc3\x92\"");
    prints(FIXED4, SLICE("\x7f\x80\"\x0a"), "\"\x7f\xc2\x80\\\"\\n\"");
    prints("{\"type\":\"fixed\",\"name\":\"Z\",\"size\":0}", SLICE(""), "\"\"");
}

TEST(codec_to_json__prints_containers_empty_and_full)
{
    prints(RECORD(""), SLICE(""), "{}");
    prints(RECORD(FIELD("e", "{\"type\":\"record\",\"name\":\"E\",\"fields\":[]}") "," FIELD("n", "\"int\"")),
           SLICE("\x0e"), "{\"e\":{},\"n\":7}");
    prints(ARRAY("\"int\""), SLICE("\0"), "[]");
    prints(ARRAY("\"int\""), SLICE("\x04\x02\x04\0"), "[1,2]");
    prints(MAP("\"int\""), SLICE("\0"), "{}");
    prints(MAP("\"int\""), SLICE("\x04\x02k\x02\x00\x04\0"), "{\"k\":1,\"\":2}");
    prints(ARRAY(ARRAY("\"null\"")), SLICE("\x06\x04\0\0\x02\0\0"), "[[null,null],[],[null]]");
    prints(MAP(RECORD(FIELD("a", MAP("\"string\"")))), SLICE("\x02\x02x\x02\x02y\x02z\0\0"),
           "{\"x\":{\"a\":{\"y\":\"z\"}}}");
}

TEST(codec_to_json__joins_blocks_with_and_without_sizes)
{
    prints(ARRAY("\"int\""), SLICE("\x02\x02\x01\x02\x04\x04\x06\x08\0"), "[1,2,3,4]");
    prints(MAP("\"int\""), SLICE("\x03\x0c\x02k\x02\x02m\x02\0"), "{\"k\":1,\"m\":1}");
    prints(ARRAY("\"null\""), SLICE("\x05\0\x02\0"), "[null,null,null,null]");
    prints(ARRAY(ARRAY("\"int\"")), SLICE("\x01\x0a\x03\x04\x02\x04\0\0"), "[[1,2]]");
}

TEST(codec_to_json__tags_unions_by_the_form)
{
    const char *one = RECORD(FIELD("u", "[\"null\",\"string\"]"));
    prints(one, SLICE("\0"), "{\"u\":null}");
    prints_form(one, JSON_PLAIN, SLICE("\x02\x02x"), "{\"u\":\"x\"}");
    prints_form(one, JSON_AVRO, SLICE("\x02\x02x"), "{\"u\":{\"string\":\"x\"}}");

    const char *many = ARRAY("[\"null\",\"int\"," ARRAY("\"int\"") "," MAP(
        "\"int\"") ","
                   "{\"type\":\"record\",\"name\":\"a.b.C\",\"fields\":[" FIELD("x", "\"int\"") "]}]");
    struct slice avro = SLICE("\x0c\0\x02\x02\x04\x02\x02\0\x04\0\x06\x02\x02k\x02\0\x08\x02\0");
    prints(many, avro,
           "[null,{\"int\":1},{\"array\":[1]},{\"array\":[]},{\"map\":{\"k\":1}},{\"a.b.C\":{\"x\":1}}]");
}

TEST(codec_to_json__takes_a_null_pointer_for_no_bytes)
{
    struct world w = world_of(
        RECORD(FIELD("n", "\"null\"") "," FIELD("z", "{\"type\":\"fixed\",\"name\":\"Z\",\"size\":0}")));
    assert_int_equal(codec_to_json(w.schema, JSON_PLAIN, slice_of(NULL, 0), &w.out, &w.err), RC_OK);
    assert_slice_str(buf_slice(&w.out), "{\"n\":null,\"z\":\"\"}");
    world_release(&w);
    refuses("\"string\"", slice_of(NULL, 0), "cut off at byte 0");
}

TEST(codec_to_json__appends_behind_what_is_there)
{
    struct world w = world_of("\"int\"");
    assert_true(buf_append(&w.out, SLICE("before ")));
    assert_int_equal(codec_to_json(w.schema, JSON_PLAIN, SLICE("\x02"), &w.out, &w.err), RC_OK);
    assert_slice_str(buf_slice(&w.out), "before 1");
    assert_int_equal(codec_to_json(w.schema, JSON_PLAIN, SLICE("\x80"), &w.out, &w.err), RC_ERR);
    assert_slice_str(buf_slice(&w.out), "before 1");
    world_release(&w);
}

/* A slow second opinion on the quoting of one byte. */
static void quote_byte(char out[8], uint8_t c, bool as_code_point)
{
    const char *shorts = "\b\t\n\f\r\"\\", *letters = "btnfr\"\\", *found = c ? strchr(shorts, c) : NULL;
    if (found)
        snprintf(out, 8, "\\%c", letters[found - shorts]);
    else if (c < 0x20)
        snprintf(out, 8, "\\u%04x", c);
    else if (c >= 0x80 && as_code_point)
        snprintf(out, 8, "%c%c", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
    else
        snprintf(out, 8, "%c", c);
}

TEST(codec_to_json__quotes_every_byte_at_every_place)
{
    struct world strings = world_of("\"string\""), bytes = world_of("\"bytes\"");
    for (size_t len = 1; len < 40; len += 3)
        for (size_t at = 0; at < len; at++)
            for (unsigned c = 0; c < 256; c++) {
                uint8_t avro[64];
                char want[128], quoted[8];
                avro[0] = (uint8_t)(len << 1);
                memset(avro + 1, 'x', len);
                avro[1 + at] = (uint8_t)c;
                quote_byte(quoted, (uint8_t)c, true);
                snprintf(want, sizeof want, "\"%.*s%s%.*s\"", (int)at, (char *)avro + 1, quoted,
                         (int)(len - at - 1), (char *)avro + 2 + at);
                assert_int_equal(decode(&bytes, JSON_PLAIN, slice_of(avro, len + 1)), RC_OK);
                assert_slice_str(buf_slice(&bytes.out), want);
                enum rc rc = decode(&strings, JSON_PLAIN, slice_of(avro, len + 1));
                assert_int_equal(rc, c < 0x80 ? RC_OK : RC_ERR);
                if (c < 0x80)
                    assert_slice_str(buf_slice(&strings.out), want);
            }
    world_release(&strings);
    world_release(&bytes);
}

/* A datum of `len` times the byte c, of a type with a length. */
static struct slice run_of(size_t len, uint8_t c, uint8_t **owned)
{
    uint8_t *p = malloc(len + 10);
    assert_non_null(p);
    size_t n = codec_put_length(len, p);
    memset(p + n, c, len);
    *owned = p;
    return slice_of(p, n + len);
}

TEST(codec_to_json__grows_for_long_runs_of_what_is_escaped)
{
    static const struct {
        const char *schema;
        uint8_t c;
        size_t each;
    } cases[] = {{"\"string\"", 0, 6}, {"\"string\"", '"', 2}, {"\"bytes\"", 0xff, 2}, {"\"bytes\"", 1, 6}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w = world_of(cases[i].schema);
        uint8_t *owned;
        struct slice avro = run_of(100000, cases[i].c, &owned);
        assert_int_equal(decode(&w, JSON_PLAIN, avro), RC_OK);
        assert_int_equal(w.out.len, 2 + 100000 * cases[i].each);
        free(owned);
        world_release(&w);
    }
}

/* ---- what is refused ---- */

TEST(codec_to_json__refuses_bad_numbers)
{
    refuses("\"boolean\"", SLICE("\x02"), "boolean of 2");
    refuses("\"boolean\"", SLICE(""), "cut off at byte 0");
    refuses("\"int\"", SLICE("\x80\x80\x80\x80\x10"), "an int of more than 32 bits at byte 0");
    refuses("\"int\"", SLICE("\x82\x80\x80\x80\x80\x00"), "an int of more than 32 bits at byte 0");
    refuses("\"int\"", SLICE("\x80"), "a number that is cut off at byte 0");
    refuses("\"int\"", SLICE(""), "a number that is cut off at byte 0");
    refuses("\"long\"", SLICE("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), "more than 64 bits at byte 0");
    refuses("\"long\"", SLICE("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02"), "more than 64 bits at byte 0");
    refuses("\"long\"", SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "a number that is cut off");
    refuses("\"float\"", SLICE("\0\0\0"), "a float is cut off at byte 0");
    refuses("\"double\"", SLICE("\0\0\0\0\0\0\0"), "a double is cut off at byte 0");
}

TEST(codec_to_json__refuses_bad_lengths)
{
    refuses("\"string\"", SLICE("\x01"), "negative length at byte 0");
    refuses("\"bytes\"", SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "negative length at byte 0");
    refuses("\"string\"", SLICE("\xfe\xff\xff\xff\x0f\0\0\0"),
            "a length beyond the end of the data at byte 0");
    refuses("\"string\"", SLICE("\x80\x80\x80\x80\x80\x40"), "a length beyond the end of the data at byte 0");
    refuses("\"bytes\"", SLICE("\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01xx"), "beyond the end");
    refuses("\"string\"", SLICE("\x04x"), "beyond the end");
    refuses(FIXED4, SLICE("abc"), "a fixed of 4 bytes is cut off at byte 0");
    refuses(MAP("\"null\""), SLICE("\x02\x03\0\0"), "negative length at byte 1");
}

TEST(codec_to_json__refuses_bad_indexes)
{
    refuses(ENUM, SLICE("\x12"), "enum symbol 9 of 2 at byte 0");
    refuses(ENUM, SLICE("\x01"), "enum symbol -1 of 2 at byte 0");
    refuses("[\"null\",\"int\"]", SLICE("\x0e"), "union branch 7 of 2 at byte 0");
    refuses("[\"null\",\"int\"]", SLICE("\x04"), "union branch 2 of 2 at byte 0");
    refuses("[\"null\",\"int\"]", SLICE("\x01"), "union branch -1 of 2 at byte 0");
    refuses("[\"null\",\"int\"]", SLICE("\x80\x80\x80\x80\x80\x40"), "union branch");
}

TEST(codec_to_json__refuses_texts_that_are_not_utf8)
{
    refuses("\"string\"", SLICE("\x04\xc3\x28"), "not UTF-8 at byte 1");
    refuses("\"string\"", SLICE("\x04\xc0\x80"), "not UTF-8 at byte 1");
    refuses("\"string\"", SLICE("\x06\xed\xa0\x80"), "not UTF-8 at byte 1");
    refuses("\"string\"",
            SLICE("\x06"
                  "ab\xe2"),
            "not UTF-8 at byte 3");
    refuses(ARRAY("\"string\""), SLICE("\x04\x02\xc3\x02\xa4\0"), "not UTF-8 at byte 2 in /0");
    refuses(MAP("\"int\""), SLICE("\x02\x02\xff\0\0"), "not UTF-8 at byte 2");
}

TEST(codec_to_json__refuses_what_is_left_over)
{
    refuses("\"null\"", SLICE("\0"), "1 bytes left over at byte 0");
    refuses("\"int\"", SLICE("\x02zzz"), "3 bytes left over at byte 1");
    refuses(ARRAY("\"int\""), SLICE("\0\0"), "1 bytes left over at byte 1");
}

TEST(codec_to_json__refuses_bad_blocks)
{
    refuses(ARRAY("\"int\""), SLICE(""), "a number that is cut off at byte 0");
    refuses(ARRAY("\"int\""), SLICE("\x02\x02"), "a number that is cut off at byte 2");
    refuses(ARRAY("\"int\""), SLICE("\x08\0\0\0"), "a block of more items than the data can hold at byte 0");
    refuses(ARRAY("\"double\""), SLICE("\x04\0\0\0\0\0\0\0\0\0"), "a block of more items");
    refuses(ARRAY("\"int\""), SLICE("\x80\x80\x80\x80\x80\x80\x80\x80\x20\0"), "a block of more items");
    refuses(MAP("\"null\""), SLICE("\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\0\0"), "a block of more items");
    refuses(ARRAY("\"int\""), SLICE("\x01\x03\x02\0"), "negative block size at byte 0");
    refuses(ARRAY("\"int\""), SLICE("\x01\x08\x02\0"), "a block beyond the end of the data at byte 0");
    refuses(ARRAY("\"int\""), SLICE("\x01\x04\x02\x02\0"), "the items of a block end elsewhere");
    refuses(ARRAY("\"int\""), SLICE("\x03\x02\x02\x02\0"), "a block of more items");
    refuses(ARRAY("\"string\""), SLICE("\x01\x02\x02x\0"), "the items of a block end elsewhere");
    refuses(ARRAY("\"null\""), SLICE("\x01\x02\x02\0"), "the items of a block end elsewhere");
    /* the least count there is has no positive counterpart */
    refuses(ARRAY("\"int\""), SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02\x02\0"),
            "a block of more items");
}

TEST(codec_to_json__refuses_a_key_that_stands_twice)
{
    const char *map = MAP("\"int\"");
    refuses(map, SLICE("\x04\x02k\x02\x02k\x04\0"), "a key that stands twice at byte 4 in /k.");
    refuses(map, SLICE("\x04\0\x02\0\x04\0"), "stands twice");
    refuses(map, SLICE("\x02\x02k\x02\x02\x02k\x02\0"), "stands twice at byte 5 in /k.");
    refuses(map, SLICE("\x03\x0c\x02k\x02\x02k\x02\0"), "stands twice");
    refuses(map, SLICE("\x04\x04k\0\x02\x04k\0\x02\0"), "stands twice");
    refuses(ARRAY(MAP("\"int\"")), SLICE("\x04\x02\x02k\x02\0\x04\x02k\x02\x02k\x02\0\0"), "in /1/k.");
    refuses(MAP(MAP("\"int\"")), SLICE("\x04\x02k\x02\x02k\x02\0\x02k\0\0"), "in /k.");
    prints(MAP(MAP("\"int\"")), SLICE("\x04\x02k\x04\x02k\x02\x02l\x02\0\x02l\x02\x02k\x02\0\0"),
           "{\"k\":{\"k\":1,\"l\":1},\"l\":{\"k\":1}}");
    prints(map, SLICE("\x04\x04k\0\x02\x02k\x02\0"), "{\"k\\u0000\":1,\"k\":1}");
}

/* Whether they are compared one by one or stand in a table. */
TEST(codec_to_json__finds_a_key_that_stands_twice_among_few_and_many)
{
    for (unsigned keys = 1; keys <= 70000; keys = keys < 40 ? keys + 1 : keys * 9) {
        struct world w = world_of(MAP("\"boolean\""));
        struct buf avro = {0};
        uint8_t length[10];
        assert_true(buf_append(&avro, slice_of(length, codec_put_length(keys + 1, length))));
        for (unsigned i = 0; i <= keys; i++) {
            char key[16]; /* the last is one of those before it */
            int n = snprintf(key, sizeof key, "%u", i == keys ? keys / 2 : i);
            assert_true(buf_append(&avro, slice_of(length, codec_put_length((uint64_t)n, length))) &&
                        buf_append(&avro, slice_of((const uint8_t *)key, (size_t)n)) &&
                        buf_append_byte(&avro, 1));
        }
        assert_true(buf_append_byte(&avro, 0));
        assert_int_equal(decode(&w, JSON_PLAIN, buf_slice(&avro)), RC_ERR);
        assert_non_null(strstr(w.err.message, "stands twice"));
        avro.ptr[avro.len - 3] = '_'; /* of the last key */
        assert_int_equal(decode(&w, JSON_PLAIN, buf_slice(&avro)), RC_OK);
        buf_release(&avro);
        world_release(&w);
    }
}

TEST(codec_to_json__bounds_items_that_take_no_bytes)
{
    struct slice many = SLICE("\x80\x80\x80\x80\x80\x80\x80\x80\x20\0"); /* 2^60 */
    refuses_as(ARRAY("\"null\""), many, ERR_TOO_MUCH_WORK, "items of no bytes at byte 0");
    refuses_as(ARRAY("{\"type\":\"fixed\",\"name\":\"Z\",\"size\":0}"), many, ERR_TOO_MUCH_WORK, "no bytes");
    refuses_as(ARRAY(RECORD(FIELD("a", "\"null\""))), many, ERR_TOO_MUCH_WORK, "no bytes");
    refuses_as(ARRAY("\"null\""), SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0\0"), ERR_TOO_MUCH_WORK,
               "no bytes");
}

TEST(codec_to_json__counts_items_that_take_no_bytes_over_all_arrays)
{
    struct world w = world_of(ARRAY(ARRAY("\"null\"")));
    uint8_t avro[32], *p = avro;
    uint64_t half = LIMIT_EMPTY_ITEMS_MAX / 2 + 1;
    *p++ = 4;
    for (int i = 0; i < 2; i++) {
        p += codec_put_length(half, p);
        *p++ = 0;
    }
    *p++ = 0;
    assert_int_equal(decode(&w, JSON_PLAIN, slice_of(avro, (size_t)(p - avro))), RC_ERR);
    assert_int_equal(w.err.code, ERR_TOO_MUCH_WORK);
    avro[0] = 2; /* one of them is fine */
    p = avro + 1 + codec_put_length(half, avro + 1);
    *p++ = 0;
    *p++ = 0;
    assert_int_equal(decode(&w, JSON_PLAIN, slice_of(avro, (size_t)(p - avro))), RC_OK);
    assert_int_equal(w.out.len, 2 + 1 + half * 5);
    world_release(&w);
}

TEST(codec_to_json__bounds_the_json)
{
    enum { SCHEMA_BYTES = 64 * 1024 };
    char name[32 * 1024], *schema = malloc(SCHEMA_BYTES);
    assert_non_null(schema);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    snprintf(schema, SCHEMA_BYTES, ARRAY(RECORD(FIELD("%s", "\"int\""))), name);
    struct world w = world_of(schema);
    enum { ITEMS = 10000 }; /* 20 KB of Avro would be 320 MB of JSON */
    uint8_t *avro = calloc(1, ITEMS + 8);
    assert_non_null(avro);
    size_t n = codec_put_length(ITEMS, avro);
    assert_int_equal(decode(&w, JSON_PLAIN, slice_of(avro, n + ITEMS + 1)), RC_ERR);
    assert_int_equal(w.err.code, ERR_JSON_TOO_LARGE);
    free(avro);
    free(schema);
    world_release(&w);
}

/* Avro of a linked list of `depth` records. */
static struct slice list_of(size_t depth, uint8_t **owned)
{
    uint8_t *p = malloc(depth + 1);
    assert_non_null(p);
    memset(p, 2, depth - 1);
    p[depth - 1] = 0;
    *owned = p;
    return slice_of(p, depth);
}

TEST(codec_to_json__goes_to_the_limit_of_depth_and_no_further)
{
    static const size_t depths[] = {500, LIMIT_DATA_DEPTH_MAX, LIMIT_DATA_DEPTH_MAX + 1, 1000000};
    for (size_t i = 0; i < ARRAY_LEN(depths); i++) {
        struct world w = world_of(LIST);
        uint8_t *owned;
        struct slice avro = list_of(depths[i], &owned);
        bool fits = depths[i] <= LIMIT_DATA_DEPTH_MAX;
        assert_int_equal(decode(&w, JSON_PLAIN, avro), fits ? RC_OK : RC_ERR);
        assert_int_equal(w.err.code, fits ? ERR_NONE : ERR_TOO_DEEP);
        if (fits)
            assert_int_equal(w.out.len, depths[i] * strlen("{\"next\":}") + strlen("null"));
        assert_int_equal(decode(&w, JSON_AVRO, avro), fits ? RC_OK : RC_ERR); /* tags do not count */
        free(owned);
        world_release(&w);
    }
}

TEST(codec_to_json__says_where_in_the_value)
{
    const char *schema = RECORD(FIELD("a", ARRAY(MAP("\"boolean\""))) "," FIELD("b", "[\"null\",\"int\"]"));
    refuses(schema, SLICE("\x04\0\x04\x02p\x01\x04qr\x07\0\0\0"), "at byte 9 in /a/1/qr.");
    refuses(schema, SLICE("\x02\0\x06"), "a block of more items than the data can hold at byte 2 in /a.");
    refuses(schema, SLICE("\0\x0a"), "at byte 1 in /b.");
    refuses("\"boolean\"", SLICE("\x09"), "at byte 0.");
}

TEST(codec_to_json__keeps_messages_whole_however_long_the_path)
{
    uint8_t avro[400], *p = avro;
    p += codec_put_length(1, p);
    p += codec_put_length(300, p);
    for (int i = 0; i < 150; i++, p += 2)
        memcpy(p, "\xc3\xa4", 2);
    *p++ = 9;
    *p++ = 0;
    struct world w = world_of(MAP("\"boolean\""));
    assert_int_equal(decode(&w, JSON_PLAIN, slice_of(avro, (size_t)(p - avro))), RC_ERR);
    if (!strstr(w.err.message, " at byte 303 in /...."))
        fail_msg("%s", w.err.message);
    world_release(&w);
}

TEST(codec_to_json__hints_at_container_files)
{
    refuses("\"int\"", SLICE("Obj\1\0\0"), "object container file");
}

/* Every datum cut at every byte must be refused: none is a whole one. */
TEST(codec_to_json__refuses_every_cut)
{
    const char *schema =
        RECORD(FIELD("a", ARRAY("\"string\"")) "," FIELD("m", MAP("[\"null\",\"double\"]")) "," FIELD(
            "f", "\"float\"") "," FIELD("x", FIXED4) "," FIELD("e", ENUM) "," FIELD("l", "\"long\""));
    struct slice whole = SLICE("\x04\x02x\x06yzw\0\x02\x02k\x02\0\0\0\0\0\0\0\0\0\0\0\x80?abcd\x02\x80\x01");
    prints_form(schema, JSON_PLAIN, whole,
                "{\"a\":[\"x\",\"yzw\"],\"m\":{\"k\":0.0},\"f\":1.0,\"x\":\"abcd\",\"e\":\"Bee\",\"l\":64}");
    struct world w = world_of(schema);
    for (size_t n = 0; n < whole.len; n++)
        assert_int_equal(decode(&w, JSON_PLAIN, slice_of(whole.ptr, n)), RC_ERR);
    world_release(&w);
}

/* Damaged data are refused or printed as something else, but every field that was printed is found by
 * skipping, too. */
TEST(codec_to_json__survives_random_damage)
{
    const char *schema = RECORD(FIELD("a", ARRAY("\"string\"")) "," FIELD(
        "m",
        MAP("[\"null\",\"double\"," ARRAY(
            "\"int\"") "]")) "," FIELD("b",
                                       "\"bytes\"") "," FIELD("r",
                                                              ARRAY(
                                                                  "[\"null\",\"R\"]")) "," FIELD("l",
                                                                                                 "\"long\""));
    struct slice whole =
        SLICE("\x04\x02x\x06\xe2\x82\xac\x01\x06\x04zw\0\x04\x02k\x02\0\0\0\0\0\0\0\0\x02j\x04\x02\x02\0\0"
              "\x06\0\xff\"\x02\x02\0\0\0\0\x02\0\x80\x01");
    struct world w = world_of(schema);
    if (decode(&w, JSON_PLAIN, whole) != RC_OK)
        fail_msg("%s", w.err.message);
    uint64_t random = 1;
    unsigned printed = 0, refused = 0;
    for (int round = 0; round < 100000; round++) {
        uint8_t damaged[64];
        memcpy(damaged, whole.ptr, whole.len);
        for (int changes = 1 + round % 3; changes > 0; changes--) {
            random = random * 6364136223846793005 + 1442695040888963407; /* Knuth's MMIX generator */
            damaged[(random >> 33) % whole.len] = (uint8_t)(random >> 56 & (round & 4 ? 0xff : 0x0f));
        }
        struct slice avro = slice_of(damaged, whole.len - (size_t)(round % 5 == 0)), span;
        if (decode(&w, JSON_PLAIN, avro) != RC_OK) {
            refused++;
            assert_true(w.err.code == ERR_BAD_AVRO || w.err.code == ERR_TOO_MUCH_WORK);
            (void)!codec_field_span(w.schema, 4, avro, &span, &w.err);
            continue;
        }
        printed++;
        assert_int_equal(codec_field_span(w.schema, 4, avro, &span, &w.err), RC_OK);
        assert_ptr_equal(span.ptr + span.len, avro.ptr + avro.len);
    }
    assert_true(printed > 100 && refused > 100);
    world_release(&w);
}

/* ---- fields ---- */

#define WIDE                                                                                                                         \
    RECORD(                                                                                                                          \
        FIELD("a", ARRAY(MAP("\"string\""))) "," FIELD("u", "[\"null\",\"R\",\"int\"]") "," FIELD("z", ARRAY("\"null\"")) "," FIELD( \
            "d",                                                                                                                     \
            ARRAY(                                                                                                                   \
                "\"double\"")) "," FIELD("s",                                                                                        \
                                         "\"string\"") "," FIELD("e",                                                                \
                                                                 ENUM) "," FIELD("x",                                                \
                                                                                 FIXED4) "," FIELD("b",                              \
                                                                                                   "\"boole"                         \
                                                                                                   "an\""))

/* The fields of WIDE one after the other, blocks with and without sizes. */
TEST(codec_field__finds_and_prints_each_field)
{
    static const struct {
        const char *name, *avro;
        size_t len;
        const char *json;
    } parts[] = {
#define PART(name, avro, json) {name, avro, sizeof(avro) - 1, json}
        PART("a", "\x02\x02\x02k\x02v\0\x01\x02\0\0", "[{\"k\":\"v\"},{}]"),
        PART("u", "\x04\x0e", "{\"int\":7}"),
        PART("z", "\xc8\x01\0", NULL),
        PART("d", "\x02\0\0\0\0\0\0\xf0?\x01\x10\0\0\0\0\0\0\0@\0", "[1.0,2.0]"),
        PART("s", "\x04hi", "\"hi\""),
        PART("e", "\x02", "\"Bee\""),
        PART("x", "abcd", "\"abcd\""),
        PART("b", "\x01", "true"),
#undef PART
    };
    struct world w = world_of(WIDE);
    struct buf record = {0};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        assert_true(buf_append(&record, slice_of(parts[i].avro, parts[i].len)));
    size_t at = 0;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        struct slice span;
        int field = schema_field(w.schema, slice_str(parts[i].name));
        assert_int_equal(field, (int)i);
        assert_int_equal(codec_field_span(w.schema, field, buf_slice(&record), &span, &w.err), RC_OK);
        assert_ptr_equal(span.ptr, record.ptr + at);
        assert_int_equal(span.len, parts[i].len);
        at += span.len;
        if (!parts[i].json)
            continue;
        w.out.len = 0;
        assert_int_equal(codec_field_to_json(w.schema, field, JSON_PLAIN, buf_slice(&record), &w.out, &w.err),
                         RC_OK);
        assert_slice_str(buf_slice(&w.out), parts[i].json);
    }
    buf_release(&record);
    world_release(&w);
}

static void span_refuses(const char *schema, int field, struct slice avro, enum err_code code,
                         const char *words)
{
    struct world w = world_of(schema);
    struct slice span;
    uint8_t *copy = exact_copy(avro);
    assert_int_equal(codec_field_span(w.schema, field, slice_of(copy, avro.len), &span, &w.err), RC_ERR);
    free(copy);
    assert_int_equal(w.err.code, code);
    if (!strstr(w.err.message, words))
        fail_msg("\"%s\" lacks \"%s\"", w.err.message, words);
    world_release(&w);
}

TEST(codec_field_span__refuses_what_has_no_end)
{
    const char *lists = RECORD(FIELD("s", ARRAY("\"string\"")) "," FIELD("d", ARRAY("\"double\"")) "," FIELD(
        "u", "[\"null\",\"int\"]"));
    span_refuses(lists, 0, SLICE("\x02\x03"), ERR_BAD_AVRO, "negative length at byte 1");
    span_refuses(lists, 0, SLICE("\x02\x08xyz"), ERR_BAD_AVRO, "beyond the end of the data at byte 1");
    span_refuses(lists, 0, SLICE("\x80\x80\x80\x80\x80\x80\x80\x80\x20\0"), ERR_BAD_AVRO, "more items");
    span_refuses(lists, 1, SLICE("\0\x80\x80\x80\x80\x80\x80\x80\x80\x20\0"), ERR_BAD_AVRO, "more items");
    span_refuses(lists, 1, SLICE("\0\x01\x06\0\0"), ERR_BAD_AVRO,
                 "a block beyond the end of the data at byte 1");
    span_refuses(lists, 2, SLICE("\0\0\x0e"), ERR_BAD_AVRO, "union branch");
    span_refuses(lists, 2, SLICE("\0\0\x02\x80"), ERR_BAD_AVRO, "cut off at byte 3");
    span_refuses(lists, 2, SLICE("\0\0"), ERR_BAD_AVRO, "cut off at byte 2");
    uint8_t *owned;
    struct slice deep = list_of(100000, &owned);
    span_refuses(LIST, 0, deep, ERR_TOO_DEEP, "inside each other");
    free(owned);
}

TEST(codec_field_span__passes_over_2_to_the_60_nulls_at_once)
{
    struct world w = world_of(RECORD(FIELD("z", ARRAY("\"null\"")) "," FIELD("b", "\"int\"")));
    struct slice span;
    assert_int_equal(
        codec_field_span(w.schema, 1, SLICE("\x80\x80\x80\x80\x80\x80\x80\x80\x20\0\x02"), &span, &w.err),
        RC_OK);
    assert_int_equal(span.len, 1);
    world_release(&w);
}

static void items_are(const char *schema, struct slice avro, enum err_code code)
{
    struct world w = world_of(schema);
    enum rc rc = codec_check_items(w.schema, avro, &w.err);
    assert_int_equal(rc == RC_OK ? ERR_NONE : w.err.code, code);
    world_release(&w);
}

TEST(codec_check_items__counts_items_that_take_no_bytes_over_all_fields)
{
    const char *two = RECORD(FIELD("a", ARRAY("\"null\"")) "," FIELD("b", ARRAY("\"null\"")));
    items_are(two, SLICE("\0\0"), ERR_NONE);
    items_are(two, SLICE("\xaa\xd5\xaa\x05\0\0"), ERR_NONE);
    items_are(two, SLICE("\xac\xd5\xaa\x05\0\0"), ERR_TOO_MUCH_WORK);
    items_are(two, SLICE("\xaa\xd5\xaa\x05\0\x02\0"), ERR_TOO_MUCH_WORK);
    items_are(two, SLICE("\x02\0\xa8\xd5\xaa\x05\0"), ERR_NONE);
    items_are(two, SLICE("\x80\x80\x80\x80\x80\x80\x80\x80\x20\0\x80\x80\x80\x80\x80\x80\x80\x80\x20\0"),
              ERR_TOO_MUCH_WORK);
    items_are(two, SLICE("\0\x03"), ERR_BAD_AVRO);
    const char *inner = ARRAY(ARRAY(RECORD(FIELD("n", "\"null\""))));
    items_are(inner, SLICE("\x04\xaa\xd5\xaa\x05\0\0\0"), ERR_NONE);
    items_are(inner, SLICE("\x04\xaa\xd5\xaa\x05\0\x02\0\0"), ERR_TOO_MUCH_WORK);
    items_are(inner, SLICE("\x03\x0e\xaa\xd5\xaa\x05\0\x02\0\0"), ERR_TOO_MUCH_WORK);
    items_are(ARRAY("\"int\""), SLICE("nonsense"), ERR_NONE);
}

TEST(codec_field_to_json__says_offsets_of_the_record_and_the_fields_name)
{
    struct world w = world_of(RECORD(FIELD("s", "\"string\"") "," FIELD("l", ARRAY("\"boolean\""))));
    assert_int_equal(
        codec_field_to_json(w.schema, 1, JSON_PLAIN, SLICE("\x04hi\x04\x01\x05\0"), &w.out, &w.err), RC_ERR);
    assert_non_null(strstr(w.err.message, "at byte 5 in /l/1."));
    world_release(&w);
}

/* ---- raw data ---- */

TEST(codec_put_length__makes_what_raw_content_takes_off)
{
    static const uint64_t lengths[] = {0, 1, 63, 64, 8191, 8192, 100000};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        uint8_t *owned;
        struct slice avro = run_of(lengths[i], 'x', &owned), content;
        struct err err;
        assert_int_equal(codec_raw_content(avro, &content, &err), RC_OK);
        assert_int_equal(content.len, lengths[i]);
        assert_ptr_equal(content.ptr + content.len, avro.ptr + avro.len);
        free(owned);
    }
    uint8_t prefix[10];
    assert_int_equal(codec_put_length(INT64_MAX, prefix), 10);
    assert_memory_equal(prefix, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
}

TEST(codec_raw_content__refuses_wrong_frames)
{
    static const struct {
        struct slice avro;
        const char *words;
    } cases[] = {
        {{(const uint8_t *)"", 0}, "cut off at byte 0"},
        {{(const uint8_t *)"\x01", 1}, "negative length at byte 0"},
        {{(const uint8_t *)"\x04x", 2}, "beyond the end of the data at byte 0"},
        {{(const uint8_t *)"\x02xy", 3}, "1 bytes left over at byte 2"},
        {{(const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11}, "more than 64 bits"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice content;
        struct err err;
        assert_int_equal(codec_raw_content(cases[i].avro, &content, &err), RC_ERR);
        assert_int_equal(err.code, ERR_BAD_AVRO);
        if (!strstr(err.message, cases[i].words))
            fail_msg("\"%s\" lacks \"%s\"", err.message, cases[i].words);
    }
}

TEST_MAIN()
