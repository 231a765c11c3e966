/* tests/unit/schema/test_encoding.c - the table of record forms, and the frames of those that are binary. */
#include "schema/encoding.h"

#include "tests/lib/test.h"

TEST(encoding_find__knows_each_form_in_any_case)
{
    for (size_t i = 0; i < ENCODINGS; i++)
        assert_ptr_equal(encoding_find(encodings[i].media_type), &encodings[i]);
    assert_ptr_equal(encoding_find(SLICE("Avro/Single-OBJECT")), &encodings[ENCODING_single_object]);
    assert_null(encoding_find(SLICE("avro/")));
    assert_null(encoding_find(SLICE("avro/binary2")));
    assert_null(encoding_find((struct slice){0}));
}

TEST(encodings__each_tells_its_tags_from_those_of_the_others)
{
    for (size_t i = 0; i < ENCODINGS; i++)
        for (size_t j = 0; j < i; j++)
            assert_false(slice_eq(encodings[i].tag_suffix, encodings[j].tag_suffix));
}

TEST(framing__what_is_written_is_opened)
{
    const struct writer_id writer = {.fingerprint = 0x0123456789abcdef, .schema_id = 0x01020304};
    for (size_t i = 0; i < ENCODINGS; i++) {
        const struct framing *f = encodings[i].framing;
        struct writer_id read = {0};
        struct err err;
        uint8_t frame[FRAME_BYTES_MAX];
        if (!f)
            continue;
        assert_true(f->bytes <= sizeof frame);
        f->write(&writer, frame);
        assert_int_equal(f->open(slice_of(frame, f->bytes), &read, &err), RC_OK);
        assert_int_equal(read.fingerprint, f->writer == WRITER_BY_FINGERPRINT ? writer.fingerprint : 0);
        assert_int_equal(read.schema_id, f->writer == WRITER_BY_SCHEMA_ID ? writer.schema_id : 0);
        for (size_t n = 0; n < f->bytes; n++) {
            assert_int_equal(f->open(slice_of(frame, n), &read, &err), RC_ERR);
            assert_int_equal(err.code, ERR_BAD_AVRO);
        }
    }
}

TEST(framing_single_object__is_c3_01_and_the_fingerprint_least_byte_first)
{
    const struct writer_id writer = {.fingerprint = 0x0393c321fe924dad};
    struct writer_id read;
    struct err err;
    uint8_t frame[10];
    framing_single_object.write(&writer, frame);
    assert_memory_equal(frame, "\xc3\x01\xad\x4d\x92\xfe\x21\xc3\x93\x03", 10);
    assert_int_equal(
        framing_single_object.open(SLICE("\xc3\x02\xad\x4d\x92\xfe\x21\xc3\x93\x03"), &read, &err), RC_ERR);
    assert_string_equal(err.message,
                        "Single-object encoding begins with the bytes c3 01; the body does with c3 02.");
}

TEST(framing_confluent__is_a_zero_and_the_schema_id_most_significant_byte_first)
{
    const struct writer_id writer = {.schema_id = 0x01020304};
    struct writer_id read;
    struct err err;
    uint8_t frame[5];
    framing_confluent.write(&writer, frame);
    assert_memory_equal(frame, "\0\1\2\3\4", 5);
    assert_int_equal(framing_confluent.open(SLICE("\1\0\0\0\1"), &read, &err), RC_ERR);
    assert_string_equal(err.message,
                        "Confluent's wire format begins with a zero byte; the body does with 01.");
}

TEST_MAIN()
