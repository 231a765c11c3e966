/* What the registry keeps and reads: names of subjects, media types, rows of settings and references. */
#include "tests/lib/test.h"

#include <stdlib.h>

#include "server/registry/fault.h"
#include "server/registry/media.h"
#include "server/registry/references.h"
#include "server/registry/subject_name.h"

static struct arena arena;
static struct err err;

TEST(subject_name_check__knows_what_can_name_a_subject)
{
    static const char *const good[] = {"a", "a/b:c", "\xc3\xa4", ":a", "a:.b:", " ", "_x", "\xc2\xa0"},
                             *const bad[] = {"",         "\x1f", "\x7f",       "\xc2\x80",
                                             "\xc2\x9f", "\xff", "__GLOBAL",   "__EMPTY",
                                             ":.ctx:a",  ":.:",  ":.:__GLOBAL"};
    struct slice name;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        assert_int_equal(subject_name_check(slice_str(good[i]), &name, &err), RC_OK);
        assert_slice_str(name, good[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(subject_name_check(slice_str(bad[i]), &name, &err), RC_ERR);
    assert_int_equal(subject_name_check(SLICE(":.:a"), &name, &err), RC_OK);
    assert_slice_str(name, "a");
    assert_slice_str(subject_prefix(SLICE(":*:")), "");
    assert_slice_str(subject_prefix(SLICE(":*:a")), "a");
    assert_slice_str(subject_prefix(SLICE("a:*:")), "a:*:");
}

TEST(media_answer__takes_what_is_preferred)
{
    assert_string_equal(media_answer(SLICE("")), "application/vnd.schemaregistry.v1+json");
    assert_string_equal(media_answer(SLICE("*/*")), "application/vnd.schemaregistry.v1+json");
    assert_string_equal(media_answer(SLICE("application/json, application/vnd.schemaregistry+json;q=0.9")),
                        "application/json");
    assert_null(media_answer(SLICE("text/html")));
    assert_true(media_is_named(SLICE("application/vnd.schemaregistry+json;q=0.1, */*;q=0")));
    assert_false(media_is_named(SLICE("*/*")));
    assert_false(media_is_named(SLICE("application/*, application/json")));
    assert_false(media_is_named(SLICE("")));
}

TEST(fault_print__tells_all_problems_where_there_are_several)
{
    struct buf out = {0};
    err = (struct err){0};
    struct problem *p = err_problem(&err, &arena, PROBLEM_TYPE, SLICE("/a"));
    p->detail = SLICE("One \"fault\".");
    err_sum_up(&err, ERR_BAD_SCHEMA);
    assert_true(fault_print(&out, &err));
    assert_slice_str(buf_slice(&out), "{\"error_code\":42201,\"message\":\"At /a: One \\\"fault\\\".\"}");
    assert_int_equal(fault_status(&err), 422);
    p = err_problem(&err, &arena, PROBLEM_TYPE, SLICE("/b"));
    p->detail = SLICE("Another.");
    out.len = 0;
    assert_true(fault_print(&out, &err));
    assert_true(buf_append_byte(&out, 0));
    assert_non_null(strstr((const char *)out.ptr, " - /a: One \\\"fault\\\". - /b: Another.\"}"));
    err_set(&err, ERR_READ_ONLY, "No.");
    assert_int_equal(fault_status(&err), 422);
    err_set(&err, ERR_INCOMPATIBLE, "No.");
    assert_int_equal(fault_status(&err), 409);
    buf_release(&out);
    arena_release(&arena);
}

TEST(settings_decode__reads_what_encode_has_written_and_nothing_else)
{
    struct subject_settings in = {.level = COMPAT_NONE + 1, .mode = SUBJECT_MODE_READONLY}, out;
    uint8_t bytes[SETTINGS_BYTES];
    struct slice row = settings_encode(&in, bytes);
    assert_int_equal(settings_decode(row, &out, &err), RC_OK);
    assert_int_equal(out.level, in.level);
    assert_int_equal(out.mode, in.mode);
    for (size_t n = 0; n < row.len; n++)
        assert_int_equal(settings_decode(slice_of(row.ptr, n), &out, &err), RC_ERR);
    const uint8_t bad[][SETTINGS_BYTES] = {
        {2, 0, 0, 0}, {1, COMPAT_MODES + 1, 0, 0}, {1, 0, SUBJECT_MODES, 0}};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(settings_decode(slice_of(bad[i], SETTINGS_BYTES), &out, &err), RC_ERR);
}

TEST(references_decode__reads_what_encode_has_written_and_nothing_else)
{
    struct reference refs[] = {{SLICE("a.B"), SLICE("s/t"), 3}, {SLICE(""), SLICE("u"), UINT32_MAX}};
    struct references in = {.text = SLICE("\"a.B\""), .at = refs, .n = 2}, out;
    struct slice row;
    assert_true(references_encode(&in, &arena, &row));
    assert_int_equal(references_decode(row, &arena, &out, &err), RC_OK);
    assert_slice_str(out.text, "\"a.B\"");
    assert_int_equal(out.n, 2);
    assert_slice_str(out.at[0].subject, "s/t");
    assert_slice_str(out.at[1].name, "");
    assert_true(out.at[1].version == UINT32_MAX);
    for (size_t n = 0; n < row.len; n++) {
        uint8_t *cut = malloc(n + 1); /* so that a sanitizer sees what is read behind it */
        memcpy(cut, row.ptr, n);
        assert_int_equal(references_decode(slice_of(cut, n), &arena, &out, &err), RC_ERR);
        free(cut);
    }
    arena_release(&arena);
}

TEST_MAIN()
