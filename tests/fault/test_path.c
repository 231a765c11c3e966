/* tests/fault/test_path.c - paths that are parsed, look and change when the n-th allocation fails: the outcome is NO_MEMORY or the
 * one that it always is. */
#include "tests/fault/fault.h"

#include "base/limits.h"
#include "schema/edit.h"
#include "schema/schema.h"

static const char shape[] =
    "{\"type\":\"record\",\"name\":\"R\",\"fields\":["
    "{\"name\":\"a\",\"type\":{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"I\",\"fields\":["
    "{\"name\":\"x\",\"type\":\"int\"},{\"name\":\"s\",\"type\":\"bytes\"}]}}},"
    "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"I\"}},"
    "{\"name\":\"n\",\"type\":[\"null\",\"R\"]}]}";
static const char datum[] =
    "{\"a\":[{\"x\":1,\"s\":\"\\u00e4\"},{\"x\":2,\"s\":\"b\"},{\"x\":3,\"s\":\"\\u00e4c\"}],"
    "\"m\":{\"k\":{\"x\":1,\"s\":\"\"},\"l\":{\"x\":2,\"s\":\"d\"}},"
    "\"n\":{\"a\":[{\"x\":9,\"s\":\"z\"}],\"m\":{},\"n\":null}}";

static struct schema *schema;
static struct codec *codec;
static struct buf avro;

static void begin(void)
{
    struct arena arena = {0};
    struct err err;
    struct codec_opts opts = {0};
    codec = codec_new();
    assert_non_null(codec);
    assert_int_equal(schema_parse(&schema, slice_str(shape), SLICE(""), &arena, &err), RC_OK);
    assert_int_equal(codec_from_json(codec, schema, &opts, slice_str(datum), &avro, &arena, &err), RC_OK);
    arena_release(&arena);
}

static void end(void)
{
    buf_release(&avro);
    schema_free(schema);
    codec_free(codec);
}

/* ---- select ---- */

struct select {
    const char *path, *want;
};

static enum rc select_run(void *arg, struct err *err)
{
    const struct select *s = arg;
    struct arena arena = {0};
    struct buf out = {0};
    struct path *path;
    fault_begin();
    enum rc rc = path_parse(&path, schema, slice_str(s->path), &arena, err);
    if (rc == RC_OK)
        rc = path_select(path, JSON_PLAIN, false, LIMIT_JSON_MAX, buf_slice(&avro), &out, &arena, err);
    fault_end();
    if (rc == RC_OK)
        assert_slice_str(buf_slice(&out), s->want);
    buf_release(&out);
    arena_release(&arena);
    return rc;
}

TEST(path_select__survives_every_allocation_that_fails)
{
    static struct select selects[] = {
        {"..x", "[1,2,3,1,2,9]"},
        {".a{.s *= \"\\u00c4\" || .s + \"!\" == \"b!\"}[0:2].x", "[1,2]"},
        {"(.m(\"l\"|~\"^k\")|.n.a{.x == ^.a.x || .x == \"9\"})..*", "[1,\"\",2,\"d\",9,\"z\"]"},
    };
    begin();
    for (size_t i = 0; i < sizeof selects / sizeof *selects; i++)
        assert_true(fault_each(select_run, &selects[i], RC_OK, ERR_NONE) > 3);
    end();
}

TEST(path_parse__survives_every_allocation_that_fails)
{
    struct select bad = {"(.m(\"l\"|~\"(\")|.a)", ""}, unknown = {".a{.x == 1}.y", ""};
    begin();
    fault_each(select_run, &bad, RC_ERR, ERR_BAD_PATH);
    fault_each(select_run, &unknown, RC_ERR, ERR_BAD_PATH);
    end();
}

/* ---- changes ---- */

struct change {
    enum path_verb verb;
    const char *path, *json;
    uint64_t changed;
    enum err_code fails;
};

static enum rc change_run(void *arg, struct err *err)
{
    const struct change *c = arg;
    struct arena arena = {0}, scratch = {0};
    struct buf out = {0};
    struct codec_opts opts = {0};
    struct edit *edit;
    uint64_t changed = 0;
    fault_begin();
    enum rc rc =
        edit_of_path(&edit, schema, &opts, c->verb, slice_str(c->path), slice_str(c->json), &arena, err);
    if (rc == RC_OK)
        rc = edit_apply(edit, codec, false, buf_slice(&avro), &out, &changed, &scratch, err);
    fault_end();
    if (rc == RC_OK)
        assert_int_equal(changed, c->changed);
    else
        assert_int_equal(out.len, 0);
    buf_release(&out);
    arena_release(&arena);
    arena_release(&scratch);
    return rc;
}

TEST(edit_path__survives_every_allocation_that_fails)
{
    static struct change changes[] = {
        {PATH_UPDATE, "..x", "7", 6, ERR_NONE},
        {PATH_UPDATE, ".", "{\"a\":[],\"m\":{\"q\":{\"x\":1,\"s\":\"x\"}}}", 2, ERR_NONE},
        {PATH_UPDATE, ".", "{\"a\":[1],\"no\":{\"q\":3}}", 0, ERR_BAD_RECORD},
        {PATH_INSERT, "..m", "{\"k\":{\"x\":1,\"s\":\"\"}}", 2, ERR_NONE},
        {PATH_INSERT, ".m", "{}", 0, ERR_BAD_RECORD},
        {PATH_INSERTALL, ".a", "[{\"x\":1,\"s\":\"\"},{\"x\":2,\"s\":\"\"}]", 2, ERR_NONE},
        {PATH_INSERTALL, ".a", "[1,{\"x\":true}]", 0, ERR_BAD_RECORD},
        {PATH_DELETE, "(..a{.x > 1}|.m.*)", "", 5, ERR_NONE},
        {PATH_DELETE, ".a.x", "", 0, ERR_NOT_APPLICABLE},
        {PATH_CLEAR, "(..a|..m)", "", 3, ERR_NONE},
    };
    begin();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        fault_each(change_run, &changes[i], changes[i].fails ? RC_ERR : RC_OK, changes[i].fails);
    end();
}

TEST_MAIN()
