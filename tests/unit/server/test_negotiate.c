/* tests/unit/server/test_negotiate.c - Content-Type, Content-Encoding, Accept. */
#include "tests/lib/test.h"

#include "server/negotiate.h"

static enum err_code json_body(const char *type, const char *coding)
{
    struct err err;
    return negotiate_json_body(slice_str(type), slice_str(coding), &err) == RC_OK ? ERR_NONE : err.code;
}

static const struct encoding *form;

static enum err_code record_body(const char *type, enum encoding_set set)
{
    struct err err;
    return negotiate_record_body(slice_str(type), (struct slice){0}, set, &form, &err) == RC_OK ? ERR_NONE
                                                                                                : err.code;
}

static enum err_code raw_body(const char *type, bool text)
{
    struct err err;
    return negotiate_raw_body(slice_str(type), (struct slice){0}, text, &form, &err) == RC_OK ? ERR_NONE
                                                                                              : err.code;
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

TEST(negotiate_record_body__takes_each_form_by_its_media_type)
{
    assert_int_equal(record_body("", FORMS_ALL), ERR_NONE);
    assert_ptr_equal(form, &encodings[ENCODING_json]);
    assert_int_equal(record_body("text/plain; charset=utf-8", FORMS_ALL), ERR_NONE);
    assert_ptr_equal(form, &encodings[ENCODING_json]);
    for (size_t i = 0; i < ENCODINGS; i++) {
        assert_int_equal(record_body((const char *)encodings[i].media_type.ptr, FORMS_ALL), ERR_NONE);
        assert_ptr_equal(form, &encodings[i]);
        assert_int_equal(record_body((const char *)encodings[i].media_type.ptr, FORMS_TEXT),
                         encodings[i].framing ? ERR_UNSUPPORTED_TYPE : ERR_NONE);
    }
    assert_int_equal(record_body("Avro/Binary; v=1", FORMS_ALL), ERR_NONE);
    assert_ptr_equal(form, &encodings[ENCODING_binary]);
    assert_int_equal(record_body("avro/json; charset=latin1", FORMS_ALL), ERR_UNSUPPORTED_TYPE);
}

TEST(negotiate_record_body__names_what_is_offered)
{
    struct err err;
    assert_int_equal(negotiate_record_body(SLICE("application/vnd.apache.avro"), (struct slice){0}, FORMS_ALL,
                                           &form, &err),
                     RC_ERR);
    assert_string_equal(err.message, "Content-Type 'application/vnd.apache.avro' is not offered here; "
                                     "application/json, avro/json, avro/binary, avro/single-object, "
                                     "application/vnd.confluent.avro are, and no Content-Type at all.");
    assert_int_equal(negotiate_record_body(SLICE("avro/binary"), (struct slice){0}, FORMS_TEXT, &form, &err),
                     RC_ERR);
    assert_string_equal(err.message, "Content-Type 'avro/binary' is not offered here; application/json, "
                                     "avro/json are, and no Content-Type at all.");
}

TEST(negotiate_raw_body__takes_all_but_avro)
{
    assert_int_equal(raw_body("", false), ERR_NONE);
    assert_int_equal(raw_body("image/png", false), ERR_NONE);
    assert_int_equal(raw_body("application/vnd.gradle.build-cache-artifact.v1", false), ERR_NONE);
    assert_int_equal(raw_body("text/plain; charset=latin1", false), ERR_NONE);
    assert_int_equal(raw_body("text/plain; charset=latin1", true), ERR_UNSUPPORTED_TYPE);
    assert_int_equal(raw_body("text/plain; charset=utf-8", true), ERR_NONE);
    assert_null(form);
    assert_int_equal(raw_body("avro/xml", false), ERR_UNSUPPORTED_TYPE);
    assert_int_equal(raw_body("application/json", false), ERR_NONE);
    assert_null(form);
}

TEST(negotiate_raw_body__takes_avro_for_what_it_is)
{
    assert_int_equal(raw_body("avro/binary", false), ERR_NONE);
    assert_ptr_equal(form, &encodings[ENCODING_binary]);
    assert_int_equal(raw_body("AVRO/json", true), ERR_NONE);
    assert_ptr_equal(form, &encodings[ENCODING_avro_json]);
    assert_int_equal(raw_body("avro/json; charset=latin1", true), ERR_UNSUPPORTED_TYPE);
    assert_int_equal(raw_body("application/vnd.confluent.avro", false), ERR_NONE);
    assert_ptr_equal(form, &encodings[ENCODING_confluent]);
}

TEST(negotiate_raw_body__keeps_255_bytes_of_type)
{
    char type[257] = "image/";
    memset(type + 6, 'p', 249);
    assert_int_equal(raw_body(type, false), ERR_NONE);
    type[255] = 'p';
    assert_int_equal(raw_body(type, false), ERR_BAD_REQUEST);
}

static int patch_body(const char *type, const char *coding)
{
    enum patch_form kind;
    struct err err;
    return negotiate_patch_body(slice_str(type), slice_str(coding), &kind, &err) == RC_OK ? (int)kind
                                                                                          : -(int)err.code;
}

TEST(negotiate_patch_body__tells_a_merge_from_operations)
{
    assert_int_equal(patch_body("application/merge-patch+json", ""), PATCH_MERGE);
    assert_int_equal(patch_body("application/json", ""), PATCH_MERGE);
    assert_int_equal(patch_body("", ""), PATCH_MERGE);
    assert_int_equal(patch_body("application/x-www-form-urlencoded", "identity"), PATCH_MERGE);
    assert_int_equal(patch_body("Application/JSON-Patch+json ; charset=\"UTF-8\"", ""), PATCH_OPERATIONS);
}

TEST(negotiate_patch_body__refuses_other_types_charsets_and_codings)
{
    assert_int_equal(patch_body("application/json-patch", ""), -(int)ERR_UNSUPPORTED_TYPE);
    assert_int_equal(patch_body("avro/json", ""), -(int)ERR_UNSUPPORTED_TYPE);
    assert_int_equal(patch_body("application/json-patch+json;charset=latin1", ""),
                     -(int)ERR_UNSUPPORTED_TYPE);
    assert_int_equal(patch_body("application/json-patch+json", "gzip"), -(int)ERR_UNSUPPORTED_CODING);
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

static const char *answer(const char *accept, enum encoding_set set)
{
    struct err err;
    return negotiate_record_answer(slice_str(accept), set, &form, &err) == RC_OK
               ? (const char *)form->media_type.ptr
               : "";
}

TEST(negotiate_record_answer__takes_the_form_that_is_liked_best)
{
    assert_string_equal(answer("", FORMS_ALL), "application/json");
    assert_string_equal(answer("*/*", FORMS_ALL), "application/json");
    assert_string_equal(answer("text/html, */*;q=0.8", FORMS_ALL), "application/json");
    assert_string_equal(answer("avro/binary", FORMS_ALL), "avro/binary");
    assert_string_equal(answer("avro/*", FORMS_ALL), "avro/json");
    assert_string_equal(answer("application/*;q=0.5, avro/single-object", FORMS_ALL), "avro/single-object");
    assert_string_equal(answer("application/json;q=0.5, application/vnd.confluent.avro;q=0.6", FORMS_ALL),
                        "application/vnd.confluent.avro");
    assert_string_equal(answer("avro/binary;q=0, avro/single-object;q=0.001", FORMS_ALL),
                        "avro/single-object");
    assert_string_equal(answer("application/json;q=0, */*", FORMS_ALL), "avro/json");
    assert_string_equal(answer("avro/binary, avro/json;q=0.1", FORMS_TEXT), "avro/json");
    assert_string_equal(answer("avro/binary", FORMS_TEXT), "");
}

TEST(negotiate_record_answer__names_what_is_offered)
{
    struct err err;
    assert_int_equal(negotiate_record_answer(SLICE("text/html"), FORMS_ALL, &form, &err), RC_ERR);
    assert_int_equal(err.code, ERR_NOT_ACCEPTABLE);
    assert_string_equal(err.message,
                        "The Accept of this request leaves nothing; offered are application/json, avro/json, "
                        "avro/binary, avro/single-object, application/vnd.confluent.avro.");
}

static const char *raw_answer(const char *accept, const char *own)
{
    struct err err;
    if (negotiate_raw_answer(slice_str(accept), slice_str(own), &form, &err) != RC_OK)
        return "";
    return form ? (const char *)form->media_type.ptr : own;
}

TEST(negotiate_raw_answer__gives_it_as_it_is_unless_another_form_is_liked_better)
{
    assert_string_equal(raw_answer("", "image/png"), "image/png");
    assert_string_equal(raw_answer("*/*", "image/png"), "image/png");
    assert_string_equal(raw_answer("avro/binary", "image/png"), "avro/binary");
    assert_string_equal(raw_answer("image/*;q=0.5, avro/json;q=0.5", "image/png"), "image/png");
    assert_string_equal(raw_answer("image/*;q=0.5, avro/json", "image/png"), "avro/json");
    assert_string_equal(raw_answer("application/json", "image/png"), ""); /* that would not be its JSON */
    assert_string_equal(raw_answer("application/json", "application/json"), "application/json");
}

TEST_MAIN()
