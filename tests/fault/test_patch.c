/* tests/fault/test_patch.c - patches when the n-th allocation fails: the outcome is NO_MEMORY or the one that it always
 * is, to the byte. */
#include "tests/fault/fault.h"

#include <stdlib.h>

#include "schema/edit.h"
#include "schema/schema.h"

#define SCHEMA                                                                                               \
    "{\"type\":\"record\",\"name\":\"R\",\"fields\":["                                                       \
    "{\"name\":\"n\",\"type\":\"long\",\"default\":0},"                                                      \
    "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"items\":\"int\"},\"default\":[]},"                       \
    "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":[\"null\",\"string\",\"R\"]},\"default\":{}},"    \
    "{\"name\":\"u\",\"type\":[\"null\",\"string\",\"R\"],\"default\":null}]}"
#define RECORD "{\"n\":1,\"l\":[1,2],\"m\":{\"a\":\"x\",\"b\":{\"R\":{}},\"c\":null},\"u\":{\"R\":{\"n\":3}}}"

typedef enum rc maker(struct edit **, const struct schema *, const struct codec_opts *, struct slice,
                      struct arena *, struct err *);

static struct schema *schema;
static struct buf record;

struct patching {
    maker *make;
    const char *patch;
    struct codec_opts opts;
    struct buf first; /* what came of it when nothing failed */
};

static void begin(void)
{
    struct arena arena = {0};
    struct err err;
    static const struct codec_opts opts;
    struct codec *codec = codec_new();
    assert_int_equal(schema_parse(&schema, SLICE(SCHEMA), SLICE(""), &arena, &err), RC_OK);
    assert_int_equal(codec_from_json(codec, schema, &opts, SLICE(RECORD), &record, &arena, &err), RC_OK);
    codec_free(codec);
    arena_release(&arena);
}

static void end(void)
{
    schema_free(schema);
    schema = NULL;
    buf_release(&record);
}

static enum rc apply(const struct patching *p, struct codec *codec, struct buf *out, struct arena *arena,
                     struct err *err)
{
    struct edit *edit;
    uint64_t changed;
    if (p->make(&edit, schema, &p->opts, slice_str(p->patch), arena, err) != RC_OK)
        return RC_ERR;
    return edit_apply(edit, codec, false, buf_slice(&record), out, &changed, arena, err);
}

/* The codec is new each time, so that all that it allocates is allocated. */
static enum rc run(void *arg, struct err *err)
{
    struct patching *p = arg;
    struct arena arena = {0};
    struct buf out = {0};
    fault_begin();
    struct codec *codec = codec_new();
    enum rc rc = codec ? apply(p, codec, &out, &arena, err) : err_oom(err);
    codec_free(codec);
    fault_end();
    if (rc != RC_OK)
        assert_int_equal(out.len, 0);
    else if (fault.nth == 0)
        assert_true(buf_append(&p->first, buf_slice(&out)));
    else if (!slice_eq(buf_slice(&out), buf_slice(&p->first)))
        fail_msg("allocation %ld: other bytes", (long)fault.nth);
    buf_release(&out);
    arena_release(&arena);
    return rc;
}

static void each(maker *make, const char *patch, enum err_code want)
{
    struct patching p = {.make = make, .patch = patch};
    assert_true(fault_each(run, &p, want ? RC_ERR : RC_OK, want) > 0);
    p.first.len = 0;
    p.opts.form = JSON_INT64;
    p.opts.missing = MISSING_REJECT;
    fault_each(run, &p, want ? RC_ERR : RC_OK, want);
    buf_release(&p.first);
}

TEST(merges__are_done_or_no_memory)
{
    begin();
    each(edit_of_merge,
         "{\"l\":[3,4],\"m\":{\"a\":null,\"b\":{\"R\":{\"n\":null,\"m\":{\"d\\n\":\"y\"}}},\"c\":{\"R\":{"
         "\"n\":null,\"l\":"
         "null,\"m\":{\"q\":null},\"u\":null}}},\"u\":{\"m\":{\"z\":\"x\"},\"l\":null}}",
         ERR_NONE);
    each(edit_of_merge,
         "{\"l\":3,\"m\":{\"a/\":4,\"b\":{\"R\":{\"n\":null,\"x\":1}}},\"u\":{\"R\":{},\"v\":1},\"no\":null}",
         ERR_BAD_RECORD);
    each(edit_of_merge, "{\"l\":[", ERR_BAD_JSON);
    end();
}

TEST(operations__are_done_or_no_memory)
{
    begin();
    each(edit_of_patch,
         "[{\"op\":\"add\",\"path\":\"/l/1\",\"value\":9},{\"op\":\"remove\",\"path\":\"/m/c\"},"
         "{\"op\":\"replace\",\"path\":\"/m/a\",\"value\":\"\\u00e9\"},{\"op\":\"move\",\"from\":\"/m/b/"
         "R\",\"path\":\"/u/R/m/~1~0\"},"
         "{\"op\":\"remove\",\"path\":\"/u/R/l\"}]",
         ERR_NOT_APPLICABLE); /* a tag is no entry */
    each(edit_of_patch,
         "[{\"op\":\"add\",\"path\":\"/l/1\",\"value\":9},{\"op\":\"remove\",\"path\":\"/m/c\"},"
         "{\"op\":\"replace\",\"path\":\"/m/\\u0061\",\"value\":\"\\u00e9\"},{\"op\":\"copy\",\"from\":\"/m/"
         "b\",\"path\":\"/u/R/m/~1~0\"},"
         "{\"op\":\"remove\",\"path\":\"/u/R/l\"},{\"op\":\"move\",\"from\":\"/u\",\"path\":\"/m/new\"},"
         "{\"op\":\"test\",\"path\":\"/l\",\"value\":[1,9,2]},{\"op\":\"increment\",\"path\":\"/"
         "n\",\"by\":5}]",
         ERR_NONE);
    each(edit_of_patch, "[{\"op\":\"increment\",\"path\":\"/n\",\"by\":9223372036854775807}]",
         ERR_BAD_RECORD);
    each(edit_of_patch, "[{\"op\":\"test\",\"path\":\"/m\",\"value\":{}}]", ERR_TEST_FAILED);
    each(edit_of_patch, "[{\"op\":\"remove\",\"path\":\"/m/x~1\"}]", ERR_NOT_APPLICABLE);
    each(edit_of_patch, "[{\"op\":\"\\u00e9\",\"path\":\"/m/x~1\"}]", ERR_BAD_PATCH);
    end();
}

TEST_MAIN()
