/* The frame of edits, and the edit of one field. */
#include "schema/edit.h"

#include "schema/edit/edit_kinds.h"
#include "tests/unit/schema/codec_fixture.h"

static struct buf old, fresh;
static struct arena scratch;
static uint64_t changed;

__attribute__((destructor)) static void edit_end(void)
{
    buf_release(&old);
    buf_release(&fresh);
    arena_release(&scratch);
}

static void begin(const char *json)
{
    if (encode_json(json))
        fail_msg("%s: %s", json, err.message);
    old.len = fresh.len = 0;
    assert_true(buf_append(&old, buf_slice(&out)));
}

static void becomes(const struct edit *edit, const char *want)
{
    fresh.len = 0;
    if (edit_apply(edit, codec, false, buf_slice(&old), &fresh, &changed, &scratch, &err))
        fail_msg("%s", err.message);
    arena_reset(&scratch);
    text.len = 0;
    assert_int_equal(codec_to_json(schema, JSON_PLAIN, buf_slice(&fresh), &text, &err), RC_OK);
    assert_slice_str(buf_slice(&text), want);
}

static struct edit *field_edit(const char *name, const char *json)
{
    struct edit *edit;
    struct slice avro;
    int field = schema_field(schema, slice_str(name));
    out.len = 0;
    assert_int_equal(codec_field_from_json(codec, schema, field, &opts, slice_str(json), &out, &arena, &err),
                     RC_OK);
    assert_true(arena_copy(&arena, buf_slice(&out), &avro));
    assert_int_equal(edit_of_field(&edit, schema, NULL, field, avro, &arena, &err), RC_OK);
    return edit;
}

TEST(edit_of_field__exchanges_one_field)
{
    use_schema("{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"long\"},"
               "{\"name\":\"b\",\"type\":[\"null\",\"string\"]},{\"name\":\"c\",\"type\":{\"type\":\"array\","
               "\"items\":\"int\"}}]}");
    begin("{\"a\":1,\"b\":\"x\",\"c\":[1,2]}");
    becomes(field_edit("a", "-300"), "{\"a\":-300,\"b\":\"x\",\"c\":[1,2]}");
    becomes(field_edit("b", "null"), "{\"a\":1,\"b\":null,\"c\":[1,2]}");
    becomes(field_edit("c", "[]"), "{\"a\":1,\"b\":\"x\",\"c\":[]}");
    assert_int_equal(changed, 1);
}

TEST(edit_apply__refuses_a_record_that_would_be_too_large)
{
    enum { BIG = LIMIT_RECORD_MAX / 2 + 1 };
    use_schema("{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"string\"},"
               "{\"name\":\"b\",\"type\":\"string\"}]}");
    struct buf big = {0};
    append(&big, "{\"a\":\"", 1);
    append(&big, "x", BIG);
    append(&big, "\",\"b\":\"\"}", 1);
    assert_true(buf_append_byte(&big, 0));
    begin((const char *)big.ptr);
    memcpy(big.ptr + 4, " \"", 2); /* the string alone */
    big.ptr[6 + BIG + 1] = 0;
    struct edit *edit = field_edit("b", (const char *)big.ptr + 5);
    assert_int_equal(edit_apply(edit, codec, false, buf_slice(&old), &fresh, &changed, &scratch, &err),
                     RC_ERR);
    assert_int_equal(err.code, ERR_RECORD_TOO_LARGE);
    assert_int_equal(fresh.len, 0);
    buf_release(&big);
}

/* A kind that says that it has changed nothing, or fails. */
static enum rc apply_nothing(struct datum *d, const struct edit *edit, uint64_t *n, struct err *why)
{
    (void)edit;
    (void)n;
    if (value_open(d, &d->root, why) != RC_OK)
        return RC_ERR;
    return d->budget > 0 ? RC_OK : RC_ERR;
}

static enum rc apply_failing(struct datum *d, const struct edit *edit, uint64_t *n, struct err *why)
{
    (void)d;
    (void)edit;
    ++*n;
    err_set(why, ERR_NOT_APPLICABLE, "No.");
    why->operation = 3;
    return RC_ERR;
}

TEST(edit_apply__gives_the_old_bytes_back_where_nothing_changes)
{
    use_schema("{\"type\":\"array\",\"items\":\"long\"}");
    const struct edit_kind nothing = {apply_nothing}, failing = {apply_failing};
    struct edit edit = {.kind = &nothing, .schema = schema};
    struct slice avro = SLICE("\x03\x06\x82\x00\x04\x00");
    fresh.len = 0;
    assert_int_equal(edit_apply(&edit, codec, true, avro, &fresh, &changed, &scratch, &err), RC_OK);
    assert_true(slice_eq(buf_slice(&fresh), avro));
    assert_int_equal(changed, 0);
    edit.kind = &failing;
    assert_int_equal(edit_apply(&edit, codec, true, avro, &fresh, &changed, &scratch, &err), RC_ERR);
    assert_int_equal(err.operation, 3);
    assert_int_equal(fresh.len, avro.len);
    edit.kind = &nothing;
    assert_int_equal(edit_apply(&edit, codec, true, SLICE("\x03"), &fresh, &changed, &scratch, &err), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_AVRO);
}

TEST_MAIN()
