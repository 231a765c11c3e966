/* tests/unit/server/test_problem.c - errors as problem+json. */
#include "server/http/problem.h"

#include <jansson.h>

#include "tests/lib/test.h"

static json_t *print(const struct err *err, struct slice member)
{
    struct buf out = {0};
    json_error_t fault;
    assert_true(problem_print(&out, err, member));
    json_t *json =
        json_loadb((const char *)out.ptr, out.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &fault);
    if (!json)
        fail_msg("%s: %.*s", fault.text, (int)out.len, (const char *)out.ptr);
    buf_release(&out);
    return json;
}

TEST(problem_print__says_status_title_detail_and_code)
{
    struct err err;
    err_set(&err, ERR_NO_TYPE, "There is no type '%s'.", "a\"b\\c\n\x01");
    json_t *json = print(&err, (struct slice){0});
    assert_int_equal(json_integer_value(json_object_get(json, "status")), 404);
    assert_string_equal(json_string_value(json_object_get(json, "title")), "No such type");
    assert_string_equal(json_string_value(json_object_get(json, "detail")),
                        "There is no type 'a\"b\\c\n\x01'.");
    assert_string_equal(json_string_value(json_object_get(json, "code")), "no_type");
    assert_int_equal(json_object_size(json), 4);
    json_decref(json);
}

TEST(problem_print__says_how_full_a_store_is)
{
    struct err err;
    err_set(&err, ERR_NO_SPACE, "Full.");
    err.used_bytes = 12345678901;
    err.max_bytes = 17179869184;
    json_t *json = print(&err, (struct slice){0});
    assert_int_equal(json_integer_value(json_object_get(json, "used_bytes")), 12345678901);
    assert_int_equal(json_integer_value(json_object_get(json, "max_bytes")), 17179869184);
    json_decref(json);
}

TEST(problem_print__lists_problems_and_one_more_member)
{
    struct err err;
    struct arena arena = {0};
    err_set(&err, ERR_BAD_RECORD, "It does not fit.");
    err.line = 3;
    err.column = 7;
    struct problem *p = err_problem(&err, &arena, PROBLEM_RANGE, SLICE("/a~1\xc3\xbc/\"0"));
    p->expected = SLICE("int");
    p->got = SLICE("99999999999");
    p->branch = SLICE("c.d.I");
    p->detail = SLICE("too large");
    assert_non_null(err_problem(&err, &arena, PROBLEM_MISSING, SLICE("")));
    err.truncated = true;
    json_t *json = print(&err, SLICE("\"current\":{\"revision\":1}"));
    json_t *errors = json_object_get(json, "errors"), *first = json_array_get(errors, 0);
    assert_int_equal(json_array_size(errors), 2);
    assert_string_equal(json_string_value(json_object_get(first, "pointer")), "/a~1\xc3\xbc/\"0");
    assert_string_equal(json_string_value(json_object_get(first, "code")), "range");
    assert_string_equal(json_string_value(json_object_get(first, "expected")), "int");
    assert_string_equal(json_string_value(json_object_get(first, "got")), "99999999999");
    assert_string_equal(json_string_value(json_object_get(first, "branch")), "c.d.I");
    assert_string_equal(json_string_value(json_object_get(first, "detail")), "too large");
    assert_int_equal(json_object_size(json_array_get(errors, 1)), 2);
    assert_true(json_is_true(json_object_get(json, "truncated")));
    assert_int_equal(json_integer_value(json_object_get(json, "line")), 3);
    assert_int_equal(json_integer_value(json_object_get(json, "column")), 7);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "current"), "revision")), 1);
    json_decref(json);
    arena_release(&arena);
}

TEST(problem_print__escapes_every_byte_into_valid_json)
{
    for (int c = 1; c < 256; c++) {
        struct err err;
        char text[] = {'a', (char)c, 'b', 0};
        err_set(&err, ERR_BAD_JSON, "%s", text);
        json_t *json = print(&err, (struct slice){0});
        const char *detail = json_string_value(json_object_get(json, "detail"));
        assert_string_equal(detail, c < 0x80 ? text
                                             : "a\xef\xbf\xbd"
                                               "b");
        json_decref(json);
    }
}

TEST(problem_print__keeps_what_a_cut_message_leaves_valid)
{
    struct err err;
    err_set(&err, ERR_BAD_JSON, "%254s\xc3\xbc",
            "x"); /* the second byte of the last character does not fit */
    json_t *json = print(&err, (struct slice){0});
    assert_non_null(json_object_get(json, "detail"));
    json_decref(json);
}

TEST_MAIN()
