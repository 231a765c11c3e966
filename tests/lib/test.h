/* tests/lib/test.h - cmocka with one macro, so that a test is named once and cannot be forgotten.
 *
 *   TEST(codec_from_json__names_the_bad_union_branch) { assert_int_equal(...); }
 *   TEST_MAIN()
 */
#ifndef TESTS_LIB_TEST_H
#define TESTS_LIB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/slice.h"

/* A sanitizer owns malloc and most of the address space: tests that play with these are skipped. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

enum { TESTS_MAX = 512 };
extern struct CMUnitTest tests_all[TESTS_MAX];
extern size_t tests_count;

#define TEST(test_name)                                                                                      \
    static void test_name(void **);                                                                          \
    __attribute__((constructor)) static void register_##test_name(void)                                      \
    {                                                                                                        \
        tests_all[tests_count++] = (struct CMUnitTest){#test_name, test_name, NULL, NULL, NULL};             \
    }                                                                                                        \
    static void test_name(void **test_state __attribute__((unused)))

#define TEST_MAIN()                                                                                          \
    struct CMUnitTest tests_all[TESTS_MAX];                                                                  \
    size_t tests_count;                                                                                      \
    int main(void)                                                                                           \
    {                                                                                                        \
        return _cmocka_run_group_tests(__FILE__, tests_all, tests_count, NULL, NULL);                        \
    }

/* Fails with both texts when a slice is not this C string. */
#define assert_slice_str(got, str)                                                                           \
    do {                                                                                                     \
        struct slice got_ = (got), want_ = slice_str(str);                                                   \
        if (!slice_eq(got_, want_))                                                                          \
            fail_msg("got  %.*s\nwant %s", (int)got_.len, (const char *)got_.ptr, (const char *)want_.ptr);  \
    } while (0)

#endif
