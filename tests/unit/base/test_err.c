/* tests/unit/base/test_err.c - the tables of errors and problems, and the list of problems. */
#include "base/err.h"

#include "base/utf8.h"
#include "tests/lib/test.h"

TEST(err_tables__have_a_status_a_title_and_a_slug_of_its_own_for_every_code)
{
    for (int code = 0; code < ERR_CODES; code++) {
        unsigned status = err_status((enum err_code)code);
        assert_true(status == 200 ? code == ERR_NONE : status >= 400 && status < 600);
        assert_true(strlen(err_title((enum err_code)code)) > 0);
        const char *slug = err_slug((enum err_code)code);
        assert_int_equal(strspn(slug, "abcdefghijklmnopqrstuvwxyz_"), strlen(slug));
        for (int other = 0; other < code; other++)
            assert_string_not_equal(slug, err_slug((enum err_code)other));
    }
    assert_int_equal(err_status(ERR_BAD_AVRO), 422);
    assert_string_equal(err_slug(ERR_BAD_AVRO), "bad_avro");
}

TEST(problem_slugs__are_all_different)
{
    for (int code = 0; code < PROBLEM_CODES; code++)
        for (int other = 0; other < code; other++)
            assert_string_not_equal(problem_slug((enum problem_code)code),
                                    problem_slug((enum problem_code)other));
    assert_string_equal(problem_slug(PROBLEM_NO_BRANCH), "no_branch");
}

TEST(err_set__replaces_what_was_there)
{
    struct arena a = {0};
    struct err err = {.line = 7, .truncated = true};
    assert_non_null(err_problem(&err, &a, PROBLEM_TYPE, SLICE("/a")));
    assert_int_equal(err_set(&err, ERR_BAD_JSON, "%d is wrong", 5), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_JSON);
    assert_string_equal(err.message, "5 is wrong");
    assert_int_equal(err.line, 0);
    assert_null(err.first);
    assert_null(err.last);
    assert_int_equal(err.problems, 0);
    assert_false(err.truncated);
    arena_release(&a);
}

TEST(err_set__cuts_messages_that_are_too_long)
{
    struct err err;
    (void)err_set(&err, ERR_INTERNAL, "%1000d", 1);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

TEST(err_set__cuts_at_the_end_of_a_character)
{
    struct err err;
    char text[300];
    memset(text, 'x', sizeof text);
    memcpy(text + sizeof err.message - 2, "\xc3\xa9", 3);
    err_set(&err, ERR_IO, "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 2);
}

TEST(err_oom__is_no_memory)
{
    struct err err;
    assert_int_equal(err_oom(&err), RC_ERR);
    assert_int_equal(err.code, ERR_NO_MEMORY);
    assert_int_equal(err_status(err.code), 503);
}

TEST(err_problem__keeps_the_order_and_copies_the_pointer)
{
    struct arena a = {0};
    struct err err = {0};
    char pointer[] = "/a/0";
    struct problem *first = err_problem(&err, &a, PROBLEM_MISSING, slice_str(pointer));
    struct problem *second = err_problem(&err, &a, PROBLEM_RANGE, SLICE(""));
    memset(pointer, 'x', sizeof pointer - 1);
    assert_ptr_equal(err.first, first);
    assert_ptr_equal(first->next, second);
    assert_ptr_equal(err.last, second);
    assert_null(second->next);
    assert_slice_str(first->pointer, "/a/0");
    assert_int_equal(first->code, PROBLEM_MISSING);
    assert_int_equal(first->expected.len, 0);
    assert_int_equal(err.problems, 2);
    arena_release(&a);
}

TEST(err_problem__lists_a_hundred_and_says_that_there_are_more)
{
    struct arena a = {0};
    struct err err = {0};
    for (int i = 0; i < ERR_PROBLEMS_MAX; i++)
        assert_non_null(err_problem(&err, &a, PROBLEM_TYPE, SLICE("/x")));
    assert_false(err.truncated);
    struct problem *last = err.last;
    assert_null(err_problem(&err, &a, PROBLEM_TYPE, SLICE("/x")));
    assert_true(err.truncated);
    assert_int_equal(err.problems, ERR_PROBLEMS_MAX);
    assert_ptr_equal(err.last, last);
    arena_release(&a);
}

TEST(err_sum_up__tells_the_first_problem_and_how_many_there_are)
{
    struct arena a = {0};
    struct err err = {0};
    struct problem *p = err_problem(&err, &a, PROBLEM_TYPE, SLICE(""));
    p->detail = SLICE("Bad.");
    assert_int_equal(err_sum_up(&err, ERR_BAD_SCHEMA), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_SCHEMA);
    assert_string_equal(err.message, "Bad.");
    p->pointer = SLICE("/a/b");
    (void)err_problem(&err, &a, PROBLEM_TYPE, SLICE("/c"));
    (void)err_sum_up(&err, ERR_BAD_RECORD);
    assert_string_equal(err.message, "2 problems; the first: At /a/b: Bad.");
    while (!err.truncated)
        (void)err_problem(&err, &a, PROBLEM_TYPE, SLICE("/d"));
    (void)err_sum_up(&err, ERR_BAD_RECORD);
    assert_string_equal(err.message, "100 or more problems; the first: At /a/b: Bad.");
    arena_release(&a);
}

TEST(err_sum_up__cuts_long_texts_at_the_end_of_a_character)
{
    enum { LONG = 500 };
    struct arena a = {0};
    struct err err = {0};
    char pointer[1 + 2 * LONG + 1] = "/", detail[2 * LONG + 1] = "";
    for (size_t i = 0; i < LONG; i++) {
        memcpy(pointer + 1 + 2 * i, "\xc3\xa9", 3);
        memcpy(detail + 2 * i, "\xc3\xa9", 3);
    }
    struct problem *p = err_problem(&err, &a, PROBLEM_TYPE, slice_str(pointer));
    p->detail = slice_str(detail);
    (void)err_sum_up(&err, ERR_BAD_RECORD);
    struct slice message = slice_str(err.message);
    assert_true(utf8_valid(message));
    assert_true(message.len >= sizeof err.message - 2);
    assert_non_null(strstr(err.message, "\xc3\xa9...: \xc3\xa9"));
    arena_release(&a);
}

TEST_MAIN()
