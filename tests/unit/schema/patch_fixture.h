/* tests/unit/schema/patch_fixture.h - a record, a patch, and what becomes of it, as JSON. */
#ifndef TESTS_UNIT_SCHEMA_PATCH_FIXTURE_H
#define TESTS_UNIT_SCHEMA_PATCH_FIXTURE_H

#include "schema/edit.h"
#include "tests/unit/schema/codec_fixture.h"

typedef enum rc patch_maker(struct edit **, const struct schema *, const struct codec_opts *, struct slice,
                            struct arena *, struct err *);

static struct buf record_avro;
static uint64_t changed;

__attribute__((destructor)) static void patch_fixture_end(void)
{
    buf_release(&record_avro);
}

/* A copy of the exact length, so that sanitizers see a byte read beyond; it lives until the next one. */
static inline struct slice exact(struct slice s)
{
    static uint8_t *copy;
    free(copy);
    copy = malloc(s.len ? s.len : 1);
    assert_non_null(copy);
    if (s.len)
        memcpy(copy, s.ptr, s.len);
    return slice_of(copy, s.len);
}

/* The record as the schema's defaults and this text make it. */
static inline void use_record(const char *json)
{
    struct codec_opts plain = {0};
    arena_reset(&arena);
    record_avro.len = 0;
    if (codec_from_json(codec, schema, &plain, slice_str(json), &record_avro, &arena, &err))
        fail_msg("%s: %s", json, err.message);
}

static inline enum rc try_patch(patch_maker *make, struct slice patch)
{
    struct edit *edit;
    arena_reset(&arena);
    out.len = 0;
    changed = 0;
    err = (struct err){0};
    if (make(&edit, schema, &opts, exact(patch), &arena, &err) != RC_OK)
        return RC_ERR;
    return edit_apply(edit, codec, false, buf_slice(&record_avro), &out, &changed, &arena, &err);
}

/* What the patch makes of the record, as GET shows it. */
static inline void patch_makes(patch_maker *make, const char *record, const char *patch, const char *want)
{
    struct err why;
    use_record(record);
    if (try_patch(make, slice_str(patch)))
        fail_msg("%s + %s: %s (%.*s)", record, patch, err.message,
                 err.first ? (int)err.first->pointer.len : 0,
                 err.first ? (const char *)err.first->pointer.ptr : "");
    text.len = 0;
    if (codec_to_json(schema, JSON_PLAIN, buf_slice(&out), &text, &why))
        fail_msg("%s + %s: %s", record, patch, why.message);
    assert_slice_str(buf_slice(&text), want);
}

/* The problems, one a line: pointer, code. */
static inline void patch_fails(patch_maker *make, const char *record, const char *patch, enum err_code code,
                               const char *problems)
{
    use_record(record);
    if (try_patch(make, slice_str(patch)) == RC_OK)
        fail_msg("accepted: %s + %s", record, patch);
    if (err.code != code)
        fail_msg("%s + %s: %s", record, patch, err.message);
    text.len = 0;
    for (const struct problem *p = err.first; p; p = p->next) {
        assert_true(p->detail.len > 0);
        assert_true(buf_printf(&text, "%.*s %s\n", (int)p->pointer.len, (const char *)p->pointer.ptr,
                               problem_slug(p->code)));
    }
    assert_slice_str(buf_slice(&text), problems);
    assert_int_equal(out.len, 0);
}

#endif
