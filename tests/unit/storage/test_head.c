/* tests/unit/storage/test_head.c - a record's head: round trips, checksums, what must be refused. */
#include "tests/lib/test.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/limits.h"
#include "storage/head.h"

static struct slice encode(const struct record *r, struct slice body, uint8_t *out)
{
    size_t n = head_encode(r, crc32c(0, body), out);
    assert_int_equal(n, head_size(r));
    memcpy(out + n, body.ptr, body.len);
    return slice_of(out, n + body.len);
}

static const struct record plain = {.revision = 0x1122334455667788,
                                    .created_ms = 1700000000000,
                                    .updated_ms = 0xfffffffffffe,
                                    .schema_id = 77};

TEST(head__without_options_takes_32_bytes)
{
    uint8_t out[HEAD_MAX + 16];
    struct record r;
    struct slice v = encode(&plain, SLICE("body"), out);
    assert_int_equal(v.len, 36);
    assert_true(head_decode(v, &r));
    assert_int_equal(r.revision, plain.revision);
    assert_int_equal(r.created_ms, plain.created_ms);
    assert_int_equal(r.updated_ms, plain.updated_ms);
    assert_int_equal(r.schema_id, 77);
    assert_int_equal(r.expires_ms, 0);
    assert_int_equal(r.content_type.len, 0);
    assert_slice_str(r.body, "body");
    assert_int_equal(r.body_bytes, 4);
}

TEST(head__keeps_expiry_and_content_type)
{
    uint8_t out[HEAD_MAX + 16], type[HEAD_CONTENT_TYPE_MAX];
    struct record r, in = plain;
    memset(type, 'x', sizeof type);
    in.expires_ms = 1800000000001;
    in.content_type = slice_of(type, sizeof type);
    struct slice v = encode(&in, SLICE(""), out);
    assert_true(head_decode(v, &r));
    assert_int_equal(r.expires_ms, in.expires_ms);
    assert_true(slice_eq(r.content_type, in.content_type));
    assert_non_null(r.body.ptr);
    assert_int_equal(r.body.len, 0);
    assert_true(head_verify(v));
}

TEST(head_verify__notices_every_changed_bit)
{
    uint8_t out[HEAD_MAX + 16];
    struct record in = plain;
    in.content_type = SLICE("text/plain");
    struct slice v = encode(&in, SLICE("a body"), out);
    assert_true(head_verify(v));
    for (size_t bit = 0; bit < v.len * 8; bit++) {
        out[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(head_verify(v));
        out[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

TEST(head_decode__reads_nothing_beyond_a_value_cut_short)
{
    uint8_t out[HEAD_MAX + 16];
    struct record r, in = plain;
    in.expires_ms = 5;
    in.content_type = SLICE("text/plain");
    struct slice v = encode(&in, SLICE(""), out);
    for (size_t n = 0; n < v.len; n++) {
        uint8_t *exact = test_malloc(n + 1);
        memcpy(exact, out, n);
        assert_false(head_decode(slice_of(exact, n), &r));
        test_free(exact);
    }
}

TEST(head_decode__skips_what_a_later_version_adds_to_a_head)
{
    uint8_t out[HEAD_MAX + 16];
    struct record r;
    encode(&plain, SLICE("12345678body"), out);
    put_le16(out + 2, 40);
    assert_true(head_decode(slice_of(out, 44), &r));
    assert_slice_str(r.body, "body");
}

TEST(head_decode__refuses_other_formats_and_unknown_flags)
{
    uint8_t out[HEAD_MAX + 16];
    struct record r;
    struct slice v = encode(&plain, SLICE("body"), out);
    out[0] = 2;
    assert_false(head_decode(v, &r));
    out[0] = 1;
    out[1] = 16;
    assert_false(head_decode(v, &r));
    out[1] = 1; /* says that it expires, and has no room for when */
    assert_false(head_decode(v, &r));
}

TEST(head_decode__refuses_a_time_of_expiry_that_is_none)
{
    uint8_t out[HEAD_MAX + 16];
    struct record r, in = plain;
    in.expires_ms = 5;
    struct slice v = encode(&in, SLICE("body"), out);
    assert_true(head_decode(v, &r));
    put_le64(out + 32, UINT64_MAX);
    assert_false(head_decode(v, &r));
    put_le64(out + 32, 0);
    assert_false(head_decode(v, &r));
}

TEST(head_encode__says_where_a_body_in_chunks_is)
{
    uint8_t out[HEAD_MAX + 16];
    struct record r, in = plain;
    in.content_type = SLICE("text/plain");
    in.blob = 0x1122334455667788;
    in.body_bytes = LIMIT_RECORD_MAX;
    size_t size = head_encode(&in, 0xcafef00d, out);
    assert_int_equal(size, HEAD_FIXED + 11 + 20);
    assert_int_equal(size, head_size(&in));
    assert_int_equal(get_le64(out + size - 20), LIMIT_RECORD_MAX);
    assert_int_equal(get_le64(out + size - 12), in.blob);
    assert_int_equal(get_le32(out + size - 4), 0xcafef00d);
    assert_true(head_verify(slice_of(out, size)));
    assert_true(head_decode(slice_of(out, size), &r));
    assert_int_equal(r.blob, in.blob);
    assert_int_equal(r.body_bytes, in.body_bytes);
    assert_null(r.body.ptr);
    assert_slice_str(r.content_type, "text/plain");
    assert_false(head_decode(slice_of(out, size - 1), &r));
    put_le64(out + size - 20, LIMIT_RECORD_MAX + 1); /* nothing of that length was ever stored */
    assert_false(head_decode(slice_of(out, size), &r));
    put_le64(out + size - 20, 5000);
    put_le64(out + size - 12, 0);
    assert_false(head_decode(slice_of(out, size), &r));
}

TEST(head_encode__says_how_long_a_packed_body_was)
{
    uint8_t out[HEAD_MAX + 16];
    struct record r, in = plain;
    in.content_type = SLICE("text/plain");
    in.packed_bytes = 70000;
    struct slice v = encode(&in, SLICE("packed"), out);
    size_t size = v.len - 6;
    assert_int_equal(size, HEAD_FIXED + 11 + 8);
    assert_int_equal(get_le64(out + size - 8), 70000);
    assert_true(head_verify(v));
    assert_true(head_decode(v, &r));
    assert_int_equal(r.packed_bytes, 70000);
    assert_int_equal(r.body_bytes, 6);
    assert_slice_str(r.body, "packed");
    record_show_packed(&r);
    assert_null(r.body.ptr);
    assert_int_equal(r.body_bytes, 70000);
    assert_int_equal(r.packed_bytes, 6);
    assert_slice_str(r.packed, "packed");
    assert_false(head_decode(slice_of(out, size - 1), &r));
    put_le64(out + size - 8, LIMIT_RECORD_MAX + 1); /* nothing of that length was ever stored */
    assert_false(head_decode(v, &r));
    put_le64(out + size - 8, 0);
    assert_false(head_decode(v, &r));
}

TEST(head_encode__keeps_chunks_and_packing_apart)
{
    uint8_t out[HEAD_MAX + 16];
    struct record r, in = plain;
    in.expires_ms = 5;
    in.blob = 9;
    in.body_bytes = 5000;
    in.packed_bytes = 6000;
    size_t size = head_encode(&in, 1, out);
    assert_int_equal(size, HEAD_FIXED + 8 + 20 + 8);
    assert_true(head_decode(slice_of(out, size), &r));
    assert_true(r.blob == 9 && r.body_bytes == 5000 && r.packed_bytes == 6000 && r.expires_ms == 5);
    record_show_packed(&r);
    assert_true(r.body_bytes == 6000 && r.packed_bytes == 5000 && !r.packed.ptr && !r.body.ptr);
}

TEST_MAIN()
