/* tests/unit/server/test_negotiate.c - Content-Type, Content-Encoding, Accept. */
#include "tests/lib/test.h"

#include "server/negotiate.h"

static enum err_code json_body(const char *type, const char *coding)
{
    struct err err;
    return negotiate_json_body(slice_str(type), slice_str(coding), &err) == RC_OK ? ERR_NONE : err.code;
}

static enum err_code raw_body(const char *type, bool text)
{
    struct err err;
    return negotiate_raw_body(slice_str(type), (struct slice){0}, text, &err) == RC_OK ? ERR_NONE : err.code;
}

static unsigned quality(const char *accept, const char *type)
{
    return negotiate_quality(slice_str(accept), slice_str(type));
}

TEST(negotiate_json_body__takes_what_tools_send)
{
    const char *const good[] = {"",
                                "application/json",
                                "Application/JSON",
                                "application/json; charset=utf-8",
                                "application/json;charset=\"UTF-8\"",
                                "application/octet-stream",
                                "text/plain",
                                "text/plain; charset=UTF-8",
                                "application/x-www-form-urlencoded",
                                "application/json ; version=1"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_int_equal(json_body(good[i], ""), ERR_NONE);
    assert_int_equal(json_body("", "identity"), ERR_NONE);
}

TEST(negotiate_json_body__refuses_other_types_charsets_and_codings)
{
    const char *const bad[] = {"application/xml",           "avro/binary", "avro/json",
                               "application/jsonx",         "text/html",   "application/json; charset=latin1",
                               "text/plain;charset=utf-16", "json",        ";"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(json_body(bad[i], ""), ERR_UNSUPPORTED_TYPE);
    assert_int_equal(json_body("application/json", "gzip"), ERR_UNSUPPORTED_CODING);
    assert_int_equal(json_body("", "identity, gzip"), ERR_UNSUPPORTED_CODING);
}

TEST(negotiate_raw_body__takes_all_but_avro)
{
    assert_int_equal(raw_body("", false), ERR_NONE);
    assert_int_equal(raw_body("image/png", false), ERR_NONE);
    assert_int_equal(raw_body("application/vnd.gradle.build-cache-artifact.v1", false), ERR_NONE);
    assert_int_equal(raw_body("text/plain; charset=latin1", false), ERR_NONE);
    assert_int_equal(raw_body("text/plain; charset=latin1", true), ERR_UNSUPPORTED_TYPE);
    assert_int_equal(raw_body("text/plain; charset=utf-8", true), ERR_NONE);
    assert_int_equal(raw_body("avro/binary", false), ERR_UNSUPPORTED_TYPE);
    assert_int_equal(raw_body("AVRO/json", false), ERR_UNSUPPORTED_TYPE);
    assert_int_equal(raw_body("application/vnd.confluent.avro", false), ERR_UNSUPPORTED_TYPE);
}

TEST(negotiate_raw_body__keeps_255_bytes_of_type)
{
    char type[257] = "image/";
    memset(type + 6, 'p', 249);
    assert_int_equal(raw_body(type, false), ERR_NONE);
    type[255] = 'p';
    assert_int_equal(raw_body(type, false), ERR_BAD_REQUEST);
}

TEST(negotiate_whole_body__a_part_is_refused)
{
    struct err err;
    assert_int_equal(negotiate_whole_body((struct slice){0}, &err), RC_OK);
    assert_int_equal(negotiate_whole_body(SLICE("bytes 0-1/2"), &err), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_REQUEST);
}

TEST(negotiate_quality__the_most_specific_range_decides)
{
    assert_int_equal(quality("", "application/json"), 1000);
    assert_int_equal(quality("*/*", "application/json"), 1000);
    assert_int_equal(quality("application/*", "application/json"), 1000);
    assert_int_equal(quality("text/html, application/json;q=0.5", "application/json"), 500);
    assert_int_equal(quality("text/html", "application/json"), 0);
    assert_int_equal(quality("application/json;q=0, */*", "application/json"), 0);
    assert_int_equal(quality("*/*, application/json;q=0", "application/json"), 0);
    assert_int_equal(quality("*/*;q=0.1, application/*;q=0.2", "application/json"), 200);
    assert_int_equal(quality("APPLICATION/JSON ; q=0.125", "application/json"), 125);
    assert_int_equal(quality("application/json;v=\"a,b;q=0\";q=0.3", "application/json"), 300);
    assert_int_equal(quality("app*/json, */json", "application/json"), 0);
    assert_int_equal(quality(", ,", "application/json"), 1000); /* says nothing */
    assert_int_equal(quality(", text/html", "application/json"), 0);
}

TEST(negotiate_quality__a_weight_that_is_none_counts_as_one)
{
    assert_int_equal(quality("*/*;q=", "a/b"), 1000);
    assert_int_equal(quality("*/*;q=2", "a/b"), 1000);
    assert_int_equal(quality("*/*;q=0.5x", "a/b"), 1000);
    assert_int_equal(quality("*/*;q=1.000", "a/b"), 1000);
    assert_int_equal(quality("*/*;q=0.000", "a/b"), 0);
    assert_int_equal(quality("*/*;q=0.", "a/b"), 0);
    assert_int_equal(quality("*/*;q=0", "a/b"), 0);
}

TEST(negotiate_json_answer__names_what_is_offered)
{
    struct err err;
    assert_int_equal(negotiate_json_answer(SLICE("text/html"), &err), RC_ERR);
    assert_int_equal(err.code, ERR_NOT_ACCEPTABLE);
    assert_non_null(strstr(err.message, "application/json"));
}

TEST_MAIN()
