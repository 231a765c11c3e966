/* tests/unit/schema/test_decode_memory.c - decoding when the n-th growth of the output fails, for every n. */
#include <stdlib.h>

static unsigned growths_left;

static void *limited_realloc(void *p, size_t bytes)
{
    if (growths_left == 0)
        return NULL;
    growths_left--;
    return realloc(p, bytes);
}

#define realloc limited_realloc
#include "base/buf.c"
#include "schema/codec.c"
#undef realloc

#include "base/arena.h"
#include "schema/schema.h"
#include "tests/lib/test.h"

TEST(codec_to_json__fails_whole_when_memory_is_out)
{
    enum { LEN = 20000, MANY = 1000 };
    struct arena arena = {0};
    struct schema *schema;
    struct err err = {0};
    growths_left = MANY;
    struct slice text = SLICE("{\"type\":\"array\",\"items\":[\"null\",\"string\",\"bytes\"]}");
    assert_int_equal(schema_parse(&schema, text, SLICE(""), &arena, &err), RC_OK);

    uint8_t *avro = malloc(LEN + 16), *p = avro; /* one item of quotes, all to be escaped */
    assert_non_null(avro);
    *p++ = 2;
    *p++ = 2;
    p += codec_put_length(LEN, p);
    memset(p, '"', LEN);
    p += LEN;
    *p++ = 0;

    bool failed = true;
    unsigned n = 0;
    for (; failed; n++) {
        struct buf out = {0};
        growths_left = MANY;
        assert_true(buf_append(&out, SLICE("kept")));
        growths_left = n;
        failed = codec_to_json(schema, JSON_PLAIN, slice_of(avro, (size_t)(p - avro)), &out, &err) != RC_OK;
        if (failed) {
            assert_int_equal(err.code, ERR_NO_MEMORY);
            assert_slice_str(buf_slice(&out), "kept");
        } else {
            assert_int_equal(out.len, strlen("kept[{\"string\":\"\"}]") + 2 * LEN);
        }
        buf_release(&out);
    }
    assert_true(n > 2);
    growths_left = MANY;
    free(avro);
    schema_free(schema);
    arena_release(&arena);
}

TEST(codec_to_json__fails_whole_when_memory_for_keys_is_out)
{
    struct arena arena = {0};
    struct schema *schema;
    struct err err = {0};
    struct buf avro = {0};
    growths_left = UINT32_MAX;
    assert_int_equal(
        schema_parse(&schema, SLICE("{\"type\":\"map\",\"values\":\"null\"}"), SLICE(""), &arena, &err),
        RC_OK);
    assert_true(buf_append(&avro, SLICE("\xc8\x01")));
    for (uint8_t i = 0; i < 100; i++)
        assert_true(buf_append(&avro, slice_of((uint8_t[]){2, i}, 2)));
    assert_true(buf_append_byte(&avro, 0));
    bool failed = true;
    unsigned n = 0;
    for (; failed; n++) {
        struct buf out = {0};
        growths_left = n;
        failed = codec_to_json(schema, JSON_PLAIN, buf_slice(&avro), &out, &err) != RC_OK;
        assert_true(!failed || (err.code == ERR_NO_MEMORY && out.len == 0));
        buf_release(&out);
    }
    assert_true(n > 4);
    growths_left = UINT32_MAX;
    buf_release(&avro);
    schema_free(schema);
    arena_release(&arena);
}

TEST_MAIN()
