/* tests/unit/storage/test_packed.c - bodies that their owner has packed: storage keeps them as they are with their length before
 * that, and has them unpacked for edits and calls. Here packing is leaving out every second byte, which repeats the one before. */
#include "tests/unit/storage/fixture.h"

#include "base/bytes.h"

enum { LONG = 40000 };
static uint8_t plain_bytes[2 * LONG], packed_bytes[LONG];

static enum rc undo(struct slice packed, uint8_t *out, uint64_t bytes, struct err *err)
{
    if (bytes != 2 * packed.len || (packed.len && packed.ptr[0] == '!'))
        return err_set(err, ERR_IO, "damaged");
    for (size_t i = 0; i < packed.len; i++)
        out[2 * i] = out[2 * i + 1] = packed.ptr[i];
    return RC_OK;
}

static struct slice packed_of(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        packed_bytes[i] = (uint8_t)('a' + i * 7 % 25);
        plain_bytes[2 * i] = plain_bytes[2 * i + 1] = packed_bytes[i];
    }
    return slice_of(packed_bytes, n);
}

static struct fixture open_with(const struct engine_ops *ops)
{
    struct fixture f;
    fixture_prepare(&f, ops);
    f.opts.unpack = undo;
    fixture_open_prepared(&f);
    return f;
}

static enum rc put(struct fixture *f, const char *id, struct slice packed, uint64_t plain)
{
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, id), .schema_id = 3, .part = {packed}, .plain_bytes = plain};
    return fixture_write(f, &w);
}

static const size_t sizes[] = {1, 100, 4000, 4060, 5000, LONG};

static void assert_shown(struct fixture *f, const char *id, size_t n)
{
    struct record rec;
    struct slice packed = packed_of(n);
    assert_int_equal(fixture_get(f, 1, id, &rec), RC_OK);
    assert_null(rec.body.ptr);
    assert_int_equal(rec.body_bytes, 2 * n);
    assert_int_equal(rec.packed_bytes, n);
    assert_int_equal(rec.schema_id, 3);
    if (!rec.blob) {
        assert_true(slice_eq(rec.packed, packed));
        return;
    }
    size_t at = 0;
    for (uint32_t i = 0; at < n; i++) {
        struct slice chunk;
        unsigned one = 1;
        struct err err;
        assert_int_equal(store_chunks(f->worker, &rec, i, &chunk, &one, &err), RC_OK);
        assert_int_equal(one, 1);
        assert_memory_equal(chunk.ptr, packed.ptr + at, chunk.len);
        at += chunk.len;
    }
    assert_int_equal(at, n);
    store_chunks_end(f->worker);
}

STORE_TEST(store__keeps_a_packed_body_and_how_long_it_was)
{
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        assert_int_equal(put(f, "a", packed_of(sizes[i]), 2 * sizes[i]), RC_OK);
        assert_shown(f, "a", sizes[i]);
        assert_int_equal(fixture_count(f, 1).bytes, sizes[i]);
    }
    if (strcmp(f->ops->name, "memory") != 0) {
        fixture_close(f);
        fixture_reopen(f);
    }
    assert_shown(f, "a", LONG);
    assert_int_equal(fixture_put(f, 1, "a", "plain"), RC_OK);
    fixture_assert_body(f, 1, "a", "plain");
    assert_int_equal(fixture_count(f, 1).bytes, 5);
}

static struct slice seen;
static uint8_t seen_bytes[2 * LONG];

static enum rc see(struct store_write *w, const struct record *old, struct record *fresh, struct err *err)
{
    (void)w, (void)err;
    assert_int_equal(old->body_bytes, old->body.len);
    assert_int_equal(old->packed_bytes, 0);
    assert_int_equal(old->blob, 0);
    memcpy(seen_bytes, old->body.ptr, old->body.len);
    seen = slice_of(seen_bytes, old->body.len);
    fresh->body = SLICE("edited");
    return RC_OK;
}

TEST(store_write__an_edit_gets_a_packed_body_as_it_was)
{
    for (size_t e = 0; e < ARRAY_LEN(fixture_engines); e++) {
        struct fixture f = open_with(fixture_engines[e]);
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
            struct store_write w = {.kind = WRITE_EDIT, .key = fixture_key(1, "a"), .edit = see};
            assert_int_equal(put(&f, "a", packed_of(sizes[i]), 2 * sizes[i]), RC_OK);
            w.edit_bytes_max = (uint32_t)(2 * sizes[i] - 1);
            assert_int_equal(fixture_write(&f, &w), RC_AGAIN);
            w.edit_bytes_max = (uint32_t)(2 * sizes[i]);
            assert_int_equal(fixture_write(&f, &w), RC_OK);
            assert_true(slice_eq(seen, slice_of(plain_bytes, 2 * sizes[i])));
            fixture_assert_body(&f, 1, "a", "edited");
            assert_int_equal(fixture_count(&f, 1).bytes, 6);
        }
        fixture_end(&f);
    }
}

TEST(store_write__an_edit_of_a_damaged_packed_body_fails_alone)
{
    struct fixture f = open_with(fixture_engines[0]);
    struct store_write w = {.kind = WRITE_EDIT, .key = fixture_key(1, "a"), .edit = see};
    assert_int_equal(put(&f, "a", SLICE("!damaged"), 16), RC_OK);
    assert_int_equal(fixture_write(&f, &w), RC_ERR);
    assert_int_equal(w.err.code, ERR_IO);
    assert_int_equal(fixture_put(&f, 1, "b", "well"), RC_OK);
    fixture_end(&f);
}

STORE_TEST(store_write__refuses_a_packed_body_that_was_too_long)
{
    struct err err;
    struct store_write w = {.kind = WRITE_PUT,
                            .key = fixture_key(1, "a"),
                            .part = {SLICE("short")},
                            .plain_bytes = LIMIT_RECORD_MAX + 1};
    assert_int_equal(store_write(f->worker, &w, &err), RC_ERR);
    assert_int_equal(err.code, ERR_RECORD_TOO_LARGE);
}

TEST_MAIN()
