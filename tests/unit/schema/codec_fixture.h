/* tests/unit/schema/codec_fixture.h - a schema, a codec and their buffers for one test file at a time. */
#ifndef TESTS_UNIT_SCHEMA_CODEC_FIXTURE_H
#define TESTS_UNIT_SCHEMA_CODEC_FIXTURE_H

#include <stdio.h>

#include "schema/encode/encode.h"
#include "schema/schema.h"
#include "tests/lib/test.h"

static struct codec *codec;
static struct schema *schema;
static struct arena arena;
static struct buf out, text;
static struct err err;
static struct codec_opts opts;

__attribute__((constructor)) static void fixture_begin(void)
{
    codec = codec_new();
}

__attribute__((destructor)) static void fixture_end(void)
{
    codec_free(codec);
    schema_free(schema);
    arena_release(&arena);
    buf_release(&out);
    buf_release(&text);
}

static inline enum rc try_schema(const char *json)
{
    schema_free(schema);
    schema = NULL;
    arena_reset(&arena);
    opts = (struct codec_opts){0};
    return schema_parse(&schema, slice_str(json), slice_of(NULL, 0), &arena, &err);
}

static inline void use_schema(const char *json)
{
    if (try_schema(json))
        fail_msg("schema: %s", err.message);
}

static inline enum rc encode_slice(struct slice json)
{
    /* A copy of the exact length, so that sanitizers see a byte read beyond. */
    uint8_t *copy = malloc(json.len ? json.len : 1);
    assert_non_null(copy);
    memcpy(copy, json.ptr, json.len);
    out.len = 0;
    enum rc rc = codec_from_json(codec, schema, &opts, slice_of(copy, json.len), &out, &arena, &err);
    free(copy);
    return rc;
}

static inline enum rc encode_json(const char *json)
{
    return encode_slice(slice_str(json));
}

/* The JSON encodes to these bytes. */
static inline void encodes(const char *json, const char *hex)
{
    if (encode_json(json))
        fail_msg("%s: %s", json, err.message);
    char got[2048] = "";
    for (size_t i = 0; i < out.len && i < 1000; i++)
        snprintf(got + 2 * i, 3, "%02x", out.ptr[i]);
    if (strcmp(got, hex) != 0)
        fail_msg("%s\ngot  %s\nwant %s", json, got, hex);
}

/* ... and what was encoded reads back as `want`, tagged as avro/json does. */
static inline void encodes_as(const char *json, const char *want)
{
    struct err why;
    if (encode_json(json))
        fail_msg("%s: %s", json, err.message);
    text.len = 0;
    if (codec_to_json(schema, JSON_AVRO, buf_slice(&out), &text, &why))
        fail_msg("%s: %s", json, why.message);
    assert_slice_str(buf_slice(&text), want);
}

/* The JSON is refused; the problems, one a line: pointer, code, expected, got, branch. */
static inline void refuses(const char *json, const char *want)
{
    if (encode_json(json) == RC_OK)
        fail_msg("accepted: %s", json);
    text.len = 0;
    for (const struct problem *p = err.first; p; p = p->next)
        assert_true(buf_printf(&text, "%.*s %s (%.*s) (%.*s)%s%.*s\n", (int)p->pointer.len,
                               (const char *)p->pointer.ptr, problem_slug(p->code), (int)p->expected.len,
                               (const char *)p->expected.ptr, (int)p->got.len, (const char *)p->got.ptr,
                               p->branch.len ? " in " : "", (int)p->branch.len, (const char *)p->branch.ptr));
    assert_slice_str(buf_slice(&text), want);
    assert_int_equal(out.len, 0);
}

/* The steps that the fast pass takes for a text that fits. */
static inline uint64_t steps_of(struct slice json)
{
    const struct program *p = schema_program(schema);
    const struct encode_job job = {.program = p,
                                   .op = p->root,
                                   .rules = {(uint8_t)opts.missing, (uint8_t)opts.unknown},
                                   .budget = encode_budget(json.len, false)};
    struct encode e;
    out.len = 0;
    assert_int_equal(encode_text(&e, codec, &job, json, &out), ENCODE_FITS);
    encode_trim(codec);
    return e.steps;
}

static inline void append(struct buf *b, const char *what, int times)
{
    while (times-- > 0)
        assert_true(buf_append(b, slice_str(what)));
}

#endif
