/* tests/unit/schema/test_encode_memory.c - encoding, explaining and compiling when the n-th allocation fails,
 * for every n. */
#include <stdint.h>
#include <stdlib.h>

static unsigned allocations_left = UINT32_MAX;

static int was_refused;

static int may_allocate(void)
{
    was_refused |= allocations_left == 0;
    if (allocations_left == 0)
        return 0;
    allocations_left--;
    return 1;
}

static void *limited_malloc(size_t bytes)
{
    return may_allocate() ? malloc(bytes) : NULL;
}

static void *limited_calloc(size_t n, size_t bytes)
{
    return may_allocate() ? calloc(n, bytes) : NULL;
}

static void *limited_realloc(void *p, size_t bytes)
{
    return may_allocate() ? realloc(p, bytes) : NULL;
}

#define malloc  limited_malloc
#define calloc  limited_calloc
#define realloc limited_realloc
#include "base/arena.c"
#include "base/buf.c"
#include "schema/codec.c"
#include "schema/encode/memo.c"
#include "schema/program/compile.c"
#undef malloc
#undef calloc
#undef realloc

#include "schema/schema.h"
#include "tests/lib/test.h"

static const char *const schema_json =
    "{\"type\":\"record\",\"name\":\"R\",\"fields\":["
    "{\"name\":\"a\",\"type\":{\"type\":\"array\",\"items\":{\"type\":\"map\",\"values\":\"string\"}}},"
    "{\"name\":\"r\",\"type\":[\"null\",\"R\",{\"type\":\"record\",\"name\":\"S\",\"fields\":[{\"name\":"
    "\"r\",\"type\":[\"null\","
    "\"R\",\"S\"]}]}],\"default\":{\"r\":null}},"
    "{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"]},\"default\":\"B\"}"
    ","
    "{\"name\":\"u\",\"type\":[\"int\",\"string\"],\"default\":\"later\"}]}";

/* Members out of order and unknown, a large map and array, long strings, unions that must be tried. */
static void make_body(struct buf *json, const char *last)
{
    assert_true(buf_printf(json, "{\"r\":{\"r\":{\"r\":{\"r\":null}}},\"x\":[{\"k\":[]}],\"a\":["));
    for (int i = 0; i < 100; i++)
        assert_true(buf_printf(json, "%s{\"k\\u0041%d\":\"%0500d\"}", i ? "," : "", i, i));
    assert_true(buf_printf(json, ",{"));
    for (int i = 0; i < 100; i++)
        assert_true(buf_printf(json, "%s\"key%d\":\"\"", i ? "," : "", i));
    assert_true(buf_printf(json, "}],\"\\u0065\":\"\\u0041\",\"u\":%s}", last));
}

/* Runs with 0, 1, 2, ... allocations until one run has enough; that run's outcome. */
static enum err_code encode_with_ever_more_memory(const struct schema *schema, struct slice json)
{
    const struct codec_opts opts = {.unknown = UNKNOWN_IGNORE};
    for (unsigned n = 0;; n++) {
        struct arena arena = {0};
        struct buf out = {0};
        struct err err = {0};
        allocations_left = UINT32_MAX;
        assert_true(buf_append(&out, SLICE("kept")));
        allocations_left = n;
        was_refused = 0;
        struct codec *codec = codec_new();
        enum rc rc = codec ? codec_from_json(codec, schema, &opts, json, &out, &arena, &err) : err_oom(&err);
        bool had_enough = !was_refused;
        allocations_left = UINT32_MAX;
        if (rc)
            assert_slice_str(buf_slice(&out), "kept");
        if (rc && !had_enough)
            assert_int_equal(err.code, ERR_NO_MEMORY);
        codec_free(codec);
        buf_release(&out);
        arena_release(&arena);
        if (had_enough)
            return rc ? err.code : ERR_NONE;
    }
}

static struct schema *parse(void)
{
    struct arena arena = {0};
    struct schema *schema;
    struct err err;
    if (schema_parse(&schema, slice_str(schema_json), SLICE(""), &arena, &err))
        fail_msg("%s", err.message);
    arena_release(&arena);
    return schema;
}

TEST(codec_from_json__fails_whole_when_memory_is_out)
{
    struct schema *schema = parse();
    struct buf json = {0};
    make_body(&json, "1");
    assert_int_equal(encode_with_ever_more_memory(schema, buf_slice(&json)), ERR_NONE);
    buf_release(&json);
    schema_free(schema);
}

TEST(codec_from_json__does_not_call_a_lack_of_memory_a_bad_record)
{
    struct schema *schema = parse();
    struct buf json = {0};
    make_body(&json, "{\"r\":{\"r\":7}}");
    assert_int_equal(encode_with_ever_more_memory(schema, buf_slice(&json)), ERR_BAD_RECORD);
    buf_release(&json);
    schema_free(schema);
}

TEST(program_compile__fails_whole_when_memory_is_out)
{
    bool had_enough = false;
    for (unsigned n = 0; !had_enough; n++) {
        struct arena arena = {0};
        struct model *model;
        struct program *program = NULL;
        struct err err;
        allocations_left = UINT32_MAX;
        assert_int_equal(
            model_parse(&model, &(struct model_source){.text = slice_str(schema_json)}, &arena, &err), RC_OK);
        allocations_left = n;
        was_refused = 0;
        enum rc rc = program_compile(&program, model, &arena, &err);
        had_enough = !was_refused;
        allocations_left = UINT32_MAX;
        if (!had_enough && rc)
            assert_int_equal(err.code, ERR_NO_MEMORY);
        if (had_enough)
            assert_int_equal(rc, RC_OK);
        program_free(program);
        model_free(model);
        arena_release(&arena);
    }
}

TEST_MAIN()
