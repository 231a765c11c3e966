/* tests/fault/test_schema.c - parsing schemas and converting records when the n-th allocation fails: the
 * outcome is NO_MEMORY or the one that it always is, to the byte. */
#include "tests/fault/fault.h"

#include <stdio.h>
#include <stdlib.h>

#include "schema/schema.h"

/* ---- what an error says, as one text ---- */

static char said[65536], said_before[65536];

static void say_slice(size_t *n, const char *label, struct slice s)
{
    *n += (size_t)snprintf(said + *n, sizeof said - *n, " %s=%.*s", label, (int)s.len, (const char *)s.ptr);
    assert_true(*n < sizeof said);
}

static void say(const struct err *err)
{
    size_t n = (size_t)snprintf(said, sizeof said, "%s %u:%u %s", err_slug(err->code), err->line, err->column,
                                err->message);
    for (const struct problem *p = err->first; p; p = p->next) {
        say_slice(&n, problem_slug(p->code), p->pointer);
        say_slice(&n, "expected", p->expected);
        say_slice(&n, "got", p->got);
        say_slice(&n, "branch", p->branch);
        say_slice(&n, "detail", p->detail);
    }
    if (err->truncated)
        say_slice(&n, "truncated", SLICE(""));
}

/* What is said must be what was said when nothing failed. */
static void compare_said(const char *what)
{
    if (fault.nth == 0)
        memcpy(said_before, said, sizeof said);
    size_t n = 0;
    while (said[n] && said[n] == said_before[n])
        n++;
    if (said[n] != said_before[n])
        fail_msg("%.40s, allocation %ld: at %zu got %.60s, want %.60s", what, (long)fault.nth, n, said + n,
                 said_before + n);
}

/* ---- schema_parse ---- */

struct parse {
    const char *text, *fullname;
    const char *known; /* a text whose types it uses, or NULL */
};

static void say_schema(const struct schema *s)
{
    struct buf program = {0};
    size_t n = 0;
    assert_true(schema_print_program(s, &program));
    say_slice(&n, "text", schema_text(s));
    say_slice(&n, "normal", schema_normal_form(s));
    say_slice(&n, "initial", schema_initial(s));
    say_slice(&n, "program", buf_slice(&program));
    for (size_t i = 0; i < schema_warnings(s); i++)
        say_slice(&n, "warning", schema_warning(s, i));
    buf_release(&program);
}

static enum rc parse(void *arg, struct err *err)
{
    const struct parse *p = arg;
    struct arena arena = {0};
    struct schema *schema = NULL;
    fault_begin();
    const struct slice known = p->known ? slice_str(p->known) : (struct slice){0};
    enum rc rc = p->known ? schema_parse_known(&schema, slice_str(p->text), &known, 1, &arena, err)
                          : schema_parse(&schema, slice_str(p->text), slice_str(p->fullname), &arena, err);
    fault_end();
    if (rc == RC_OK)
        say_schema(schema);
    else
        say(err);
    if (rc == RC_OK || err->code != ERR_NO_MEMORY)
        compare_said(p->text);
    schema_free(rc == RC_OK ? schema : NULL);
    arena_release(&arena);
    return rc;
}

static void parse_each(const char *text, const char *fullname, enum err_code want)
{
    struct parse p = {text, fullname};
    assert_true(fault_each(parse, &p, want ? RC_ERR : RC_OK, want) > 0);
}

static const char person[] =
    "{\"type\":\"record\",\"name\":\"Person\",\"namespace\":\"a.b\",\"doc\":\"who\",\"aliases\":[\"Human\","
    "\"c.P\"],"
    "\"fields\":[{\"name\":\"name\",\"type\":\"string\",\"default\":\"\",\"order\":\"ignore\"},"
    "{\"name\":\"age\",\"aliases\":[\"years\"],\"type\":[\"null\",\"int\",\"long\"],\"default\":null},"
    "{\"name\":\"next\",\"type\":[\"null\",\"Person\"],\"default\":null},"
    "{\"name\":\"kind\",\"type\":{\"type\":\"enum\",\"name\":\"Kind\",\"symbols\":[\"A\",\"B\"],\"default\":"
    "\"A\"},"
    "\"default\":\"B\"},"
    "{\"name\":\"hash\",\"type\":{\"type\":\"fixed\",\"name\":\"MD5\",\"size\":16},\"extra\":{\"x\\u0000\":["
    "1,2.5e3]}},"
    "{\"name\":\"when\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"},\"default\":7},"
    "{\"name\":\"odd\",\"type\":{\"type\":\"string\",\"logicalType\":\"date\"},\"default\":\"x\"},"
    "{\"name\":\"tags\",\"type\":{\"type\":\"map\",\"values\":{\"type\":\"array\",\"items\":\"a.b.Kind\"}},"
    "\"default\":{\"k\":[\"A\",\"B\"]}}]}";

TEST(schema_parse__is_whole_or_no_memory)
{
    parse_each("\"string\"", "", ERR_NONE);
    parse_each(person, "", ERR_NONE);
}

/* Jansson 2.14 takes memory for a token as it grows, and does not look whether it got it: the byte that found no room is
 * left out. If that is the quote at its end, what follows is read, and written behind the copy that it makes, up to
 * the next quote in memory: as far as that happens to be. */
TEST(schema_parse__of_a_token_whose_last_byte_finds_no_room_is_whole_or_no_memory)
{
    enum { LETTERS_MAX = 140 };
    char text[LETTERS_MAX + 3];
    for (size_t n = 1; n <= LETTERS_MAX; n++) {
        text[0] = '"';
        memset(text + 1, 'x', n);
        memcpy(text + 1 + n, "\"", 2);
        parse_each(text, "", ERR_BAD_SCHEMA);
    }
}

TEST(schema_parse_known__is_whole_or_no_memory)
{
    struct parse p = {"{\"type\":\"array\",\"items\":\"AnEnumWhoseNameIsLong\"}", "",
                      "{\"type\":\"enum\",\"name\":\"AnEnumWhoseNameIsLong\",\"symbols\":[\"A\"]}"};
    assert_true(fault_each(parse, &p, RC_OK, ERR_NONE) > 0);
}

TEST(schema_parse__of_one_entry_is_whole_or_no_memory)
{
    parse_each("[{\"type\":\"enum\",\"name\":\"n.E\",\"symbols\":[\"A\"]},"
               "{\"type\":\"record\",\"name\":\"n.R\",\"fields\":[{\"name\":\"e\",\"type\":\"n.E\"}]}]",
               "n.R", ERR_NONE);
    parse_each("[{\"type\":\"enum\",\"name\":\"n.E\",\"symbols\":[\"A\"]},\"null\"]", "n.F", ERR_BAD_SCHEMA);
}

TEST(schema_parse__lists_every_fault_or_no_memory)
{
    parse_each(
        "{\"type\":\"record\",\"name\":\"1R\",\"fields\":["
        "{\"name\":\"a\",\"type\":\"strnig\"},{\"name\":\"a\",\"type\":\"record\"},"
        "{\"name\":\"b\",\"type\":\"date\"},{\"name\":\"c\",\"type\":[\"null\",\"null\"]},"
        "{\"name\":\"d\",\"type\":\"int\",\"default\":\"x\"},"
        "{\"name\":\"l\",\"type\":\"Later\"},"
        "{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"Later\",\"symbols\":[\"A\",\"A\",\"?\"]}},"
        "{\"name\":\"f\",\"type\":{\"type\":\"fixed\",\"name\":\"F\",\"size\":-1}},"
        "{\"name\":\"g\",\"type\":[[\"int\"]]},{\"name\":7},[]]}",
        "", ERR_BAD_SCHEMA);
    parse_each("{\"type\":\"record\",\"name\":\"R\",\"namespace\":\"n\",\"fields\":["
               "{\"name\":\"r\",\"type\":\"R\"},{\"name\":\"o\",\"aliases\":[\"r\"],\"type\":\"Other\"}]}",
               "", ERR_BAD_SCHEMA);
    parse_each("{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"r\",\"type\":\"R\"}]}", "",
               ERR_BAD_SCHEMA);
}

TEST(schema_parse__knows_bad_json_or_no_memory)
{
    parse_each("{\"type\":\"string\",}", "", ERR_BAD_JSON);
    parse_each("{\"type\":\"string\",\"x\":{\"a\":1,\"b\":2,\"a\":3},\"x\":1}", "", ERR_BAD_JSON);
}

TEST(schema_parse__knows_what_is_too_deep_or_no_memory)
{
    enum { LEVELS = 200 };
    char text[LEVELS * 32];
    size_t n = 0;
    for (int i = 0; i < LEVELS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "{\"type\":\"array\",\"items\":");
    n += (size_t)snprintf(text + n, sizeof text - n, "\"int\"");
    for (int i = 0; i < LEVELS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "}");
    parse_each(text, "", ERR_TOO_DEEP);
}

/* ---- codec ---- */

struct convert {
    struct schema *schema;
    int field; /* -1: the whole record */
    enum json_form form;
    struct codec_opts opts;
    struct slice from;
    bool kept_codec;
    struct codec *codec;
};

static struct schema *schema_of(const char *text)
{
    struct arena arena = {0};
    struct schema *schema;
    struct err err;
    if (schema_parse(&schema, slice_str(text), SLICE(""), &arena, &err) != RC_OK)
        fail_msg("%s", err.message);
    arena_release(&arena);
    return schema;
}

/* On failure what was in `out` before is all there is. */
static void check_out(enum rc rc, const struct buf *out, const struct err *err, const char *what)
{
    assert_true(out->len >= 4 && !memcmp(out->ptr, "kept", 4));
    if (rc != RC_OK)
        assert_int_equal(out->len, 4);
    size_t n = 0;
    if (rc == RC_OK)
        for (size_t i = 4; i < out->len; i++)
            n += (size_t)snprintf(said + n, sizeof said - n, "%02x", out->ptr[i]);
    else
        say(err);
    if (rc == RC_OK || err->code != ERR_NO_MEMORY)
        compare_said(what);
}

static enum rc encode(void *arg, struct err *err)
{
    const struct convert *c = arg;
    struct arena arena = {0};
    struct buf out = {0};
    assert_true(buf_append(&out, SLICE("kept")));
    fault_begin();
    struct codec *codec = codec_new();
    enum rc rc;
    if (!codec)
        rc = err_oom(err);
    else if (c->field < 0)
        rc = codec_from_json(codec, c->schema, &c->opts, c->from, &out, &arena, err);
    else
        rc = codec_field_from_json(codec, c->schema, c->field, &c->opts, c->from, &out, &arena, err);
    fault_end();
    check_out(rc, &out, err, "encode");
    if (codec && fault.hit) { /* the next body finds it as it was */
        struct err again = {0};
        out.len = 4;
        enum rc rc2 =
            c->field < 0
                ? codec_from_json(codec, c->schema, &c->opts, c->from, &out, &arena, &again)
                : codec_field_from_json(codec, c->schema, c->field, &c->opts, c->from, &out, &arena, &again);
        assert_false(rc2 == RC_ERR && again.code == ERR_NO_MEMORY);
        check_out(rc2, &out, &again, "encode again");
    }
    codec_free(codec);
    buf_release(&out);
    arena_release(&arena);
    return rc;
}

static void encode_each(const char *schema, int field, struct codec_opts opts, struct slice json,
                        enum err_code want)
{
    struct convert c = {.schema = schema_of(schema), .field = field, .opts = opts, .from = json};
    assert_true(fault_each(encode, &c, want ? RC_ERR : RC_OK, want) > 0);
    schema_free(c.schema);
}

/* A map of many keys, from a printed text. */
static struct slice many_keys(struct buf *b, unsigned n, const char *value, const char *last)
{
    assert_true(buf_printf(b, "{"));
    for (unsigned i = 0; i < n; i++)
        assert_true(buf_printf(b, "\"key\\u0041%u\":%s,", i * 7919 % n, value));
    assert_true(buf_printf(b, "\"last\":%s}", last));
    return buf_slice(b);
}

static const char person_json[] =
    "{\"tags\":{\"x\":[\"A\"],\"y\\u0041\":[]},\"when\":-1,\"hash\":\"0123456789abcdef\","
    "\"next\":{\"name\":\"Q\",\"hash\":\"\\u0000123456789abcdef\",\"age\":{\"long\":5}},\"age\":30,\"name\":"
    "\"B\\n\"}";

TEST(codec_from_json__of_what_fits_is_whole_or_no_memory)
{
    encode_each(person, -1, (struct codec_opts){0}, slice_str(person_json), ERR_NONE);
    encode_each(person, -1, (struct codec_opts){.missing = MISSING_ZERO, .unknown = UNKNOWN_IGNORE},
                SLICE("{\"zzz\":{\"a\":[1,{}]},\"yyy\":[]}"), ERR_NONE);
    encode_each(person, 7, (struct codec_opts){0}, SLICE("{\"a\":[\"A\",\"B\"],\"b\":[]}"), ERR_NONE);
}

TEST(codec_from_json__of_maps_with_many_keys_is_whole_or_no_memory)
{
    struct buf b = {0};
    struct slice json = many_keys(&b, 1000, "1", "2");
    encode_each("{\"type\":\"map\",\"values\":\"int\"}", -1, (struct codec_opts){0}, json, ERR_NONE);
    b.len = 0;
    json = many_keys(&b, 300, "\"no\"", "1");
    encode_each("{\"type\":\"map\",\"values\":\"int\"}", -1, (struct codec_opts){0}, json, ERR_BAD_RECORD);
    b.len = 0;
    json = many_keys(&b, 300, "1", "2");
    encode_each(person, -1, (struct codec_opts){.missing = MISSING_ZERO}, json, ERR_BAD_RECORD);
    encode_each(person, -1, (struct codec_opts){.missing = MISSING_ZERO, .unknown = UNKNOWN_IGNORE}, json,
                ERR_NONE);
    buf_release(&b);
}

TEST(codec_from_json__lists_every_problem_or_no_memory)
{
    encode_each(
        person, -1, (struct codec_opts){0},
        SLICE("{\"tags\":{\"x/~\":[\"A\",\"C\",7],\"y\":1},\"when\":1e99,\"hash\":\"short\",\"bad\":1,"
              "\"next\":{\"name\":9,\"age\":{\"float\":5},\"more\":[]},\"age\":3.5,\"odd\":null}"),
        ERR_BAD_RECORD);
    encode_each(person, -1, (struct codec_opts){.missing = MISSING_REJECT}, SLICE("{}"), ERR_BAD_RECORD);
    encode_each(person, -1, (struct codec_opts){0}, SLICE("[1]"), ERR_BAD_RECORD);
    encode_each(person, 4, (struct codec_opts){0}, SLICE("\"short\""), ERR_BAD_RECORD);
}

TEST(codec_from_json__knows_bad_json_or_no_memory)
{
    encode_each(person, -1, (struct codec_opts){0}, SLICE("{\"name\":\"x\",\"age\":01}"), ERR_BAD_JSON);
    encode_each(person, -1, (struct codec_opts){0}, SLICE("{\"name\":\"x\",\"name\":\"y\"}"), ERR_BAD_JSON);
    encode_each(person, -1, (struct codec_opts){0}, SLICE("{\"tags\":{\"a\":[],\"\\u0061\":[]}}"),
                ERR_BAD_JSON);
}

TEST(codec_from_json__of_unions_is_whole_or_no_memory)
{
    static const char schema[] =
        "{\"type\":\"array\",\"items\":[\"null\",\"int\",\"string\",{\"type\":\"array\",\"items\":\"int\"},"
        "{\"type\":\"record\",\"name\":\"P\",\"fields\":[{\"name\":\"x\",\"type\":\"int\"},"
        "{\"name\":\"n\",\"type\":[\"null\",\"P\",{\"type\":\"record\",\"name\":\"Q\",\"fields\":["
        "{\"name\":\"y\",\"type\":\"int\"},{\"name\":\"n\",\"type\":[\"null\",\"Q\",\"P\"],"
        "\"default\":null}]}],\"default\":null}]},\"Q\","
        "{\"type\":\"map\",\"values\":\"boolean\"}]}";
    encode_each(schema, -1, (struct codec_opts){0},
                SLICE("[null,1,\"s\",[1,2],{\"x\":1,\"n\":{\"y\":2,\"n\":{\"x\":3}}},{\"Q\":{\"y\":1}},"
                      "{\"a\":true,\"b\":false},{\"n\":{\"x\":4},\"y\":5}]"),
                ERR_NONE);
    encode_each(schema, -1, (struct codec_opts){0},
                SLICE("[{\"z\":1},{\"P\":{\"x\":\"\"}},{\"x\":1,\"n\":{\"y\":\"\"}},1.5,[\"\"],{\"a\":1}]"),
                ERR_BAD_RECORD);
    encode_each(schema, -1, (struct codec_opts){.form = JSON_AVRO},
                SLICE("[null,{\"int\":1},{\"P\":{\"x\":1,\"n\":{\"Q\":{\"y\":1,\"n\":null}}}}]"), ERR_NONE);
    encode_each(schema, -1, (struct codec_opts){.form = JSON_AVRO}, SLICE("[1,{\"long\":1},{\"P\":{}}]"),
                ERR_BAD_RECORD);
}

static const char spelled[] = "{\"type\":\"record\",\"name\":\"S\",\"fields\":[{\"name\":\"d\",\"type\":[{"
                              "\"type\":\"int\",\"logicalType\":"
                              "\"date\"},\"string\"]},{\"name\":\"p\",\"type\":{\"type\":\"fixed\",\"name\":"
                              "\"P\",\"size\":12,\"logicalType\":"
                              "\"duration\"}},{\"name\":\"n\",\"type\":{\"type\":\"bytes\",\"logicalType\":"
                              "\"decimal\",\"precision\":8,\"scale\":"
                              "2}},{\"name\":\"b\",\"type\":\"bytes\"},{\"name\":\"l\",\"type\":\"long\"}]}";
enum { SPELLED = JSON_LOGICAL | JSON_BASE64 | JSON_INT64 };

TEST(codec_from_json__of_readable_texts_is_whole_or_no_memory)
{
    const struct codec_opts opts = {.form = (enum json_form)SPELLED};
    encode_each(
        spelled, -1, opts,
        SLICE(
            "{\"d\":\"2024\\u002d02-29\",\"p\":{\"months\":1,\"days\":2,\"millis\":3},\"n\":\"12.30\",\"b\":"
            "\"YWI=\",\"l\":\"5\"}"),
        ERR_NONE);
    encode_each(
        spelled, -1, opts,
        SLICE("{\"d\":5.5,\"p\":{\"months\":-1,\"days\":\"2\"},\"n\":\"12.345\",\"b\":\"YW\",\"l\":\"05\"}"),
        ERR_BAD_RECORD);
    encode_each(spelled, 2, opts, SLICE("12.3"), ERR_NONE);
}

/* ---- the other way ---- */

static enum rc decode(void *arg, struct err *err)
{
    const struct convert *c = arg;
    struct buf out = {.ptr = malloc(4), .cap = 4};
    assert_true(out.ptr && buf_append(&out, SLICE("kept"))); /* and has no room for more */
    fault_begin();
    enum rc rc = c->field < 0 ? codec_to_json(c->schema, c->form, c->from, &out, err)
                              : codec_field_to_json(c->schema, c->field, c->form, c->from, &out, err);
    fault_end();
    check_out(rc, &out, err, "decode");
    buf_release(&out);
    return rc;
}

static void decode_each(const struct convert *c, enum err_code want)
{
    int64_t hits = fault_each(decode, (void *)(uintptr_t)c, want ? RC_ERR : RC_OK, want);
    assert_true(hits || want); /* what is wrong may show before anything is written */
}

TEST(codec_to_json__is_whole_or_no_memory)
{
    struct arena arena = {0};
    struct buf avro = {0};
    struct err err;
    struct codec *codec = codec_new();
    struct convert c = {.schema = schema_of(person), .field = -1};
    assert_non_null(codec);
    assert_int_equal(codec_from_json(codec, c.schema, &c.opts, slice_str(person_json), &avro, &arena, &err),
                     RC_OK);
    c.from = buf_slice(&avro);
    decode_each(&c, ERR_NONE);
    c.form = JSON_AVRO;
    decode_each(&c, ERR_NONE);
    c.field = 7;
    decode_each(&c, ERR_NONE);
    c.from.len--;
    decode_each(&c, ERR_BAD_AVRO);
    c.field = -1;
    decode_each(&c, ERR_BAD_AVRO);
    codec_free(codec);
    buf_release(&avro);
    schema_free(c.schema);
    arena_release(&arena);
}

TEST(codec_to_json__of_readable_texts_is_whole_or_no_memory)
{
    struct convert c = {.schema = schema_of(spelled), .field = -1, .form = (enum json_form)SPELLED};
    c.from = schema_initial(c.schema);
    decode_each(&c, ERR_NONE);
    c.field = 1;
    decode_each(&c, ERR_NONE);
    c.field = -1;
    c.from.len--;
    decode_each(&c, ERR_BAD_AVRO);
    schema_free(c.schema);
}

static enum rc span(void *arg, struct err *err)
{
    const struct convert *c = arg;
    struct slice out;
    fault_begin();
    enum rc rc = codec_field_span(c->schema, c->field, c->from, &out, err);
    fault_end();
    return rc;
}

TEST(codec_field_span__needs_no_memory)
{
    struct convert c = {.schema = schema_of(person), .field = 7};
    c.from = schema_initial(c.schema);
    assert_int_equal(fault_each(span, &c, RC_OK, ERR_NONE), 0);
    c.from.len--;
    assert_int_equal(fault_each(span, &c, RC_ERR, ERR_BAD_AVRO), 0);
    schema_free(c.schema);
}

TEST_MAIN()
