/* tests/unit/storage/test_overlay.c - the overlay of a group: one entry a key, changes taken back, mutations
 * sorted. */
#include <stdio.h>

#include "tests/lib/test.h"

#include "base/hash.h"
#include "storage/overlay.h"

static struct staged *entry(struct overlay *o, const char *key)
{
    struct slice k = slice_str(key);
    struct staged *s = overlay_find(o, k, hash_bytes(k));
    if (!s)
        s = overlay_add(o, k, hash_bytes(k), NULL);
    assert_non_null(s);
    return s;
}

static void set(struct overlay *o, const char *key, const char *value)
{
    struct slice parts[4] = {slice_str(value)};
    assert_true(overlay_set(o, entry(o, key), parts));
}

TEST(overlay_mutations__one_a_key_and_sorted)
{
    struct overlay o = {0};
    struct mutation m[8];
    uint64_t grow;
    set(&o, "b", "1");
    set(&o, "a", "2");
    set(&o, "b", "3");
    assert_int_equal(overlay_mutations(&o, m, &grow), 2);
    assert_slice_str(m[0].key, "a");
    assert_slice_str(m[1].key, "b");
    assert_slice_str(m[1].part[0], "3");
    assert_true(grow > 0);
    overlay_release(&o);
}

TEST(overlay_mutations__a_key_that_came_and_went_is_none)
{
    struct overlay o = {0};
    struct mutation m[8];
    uint64_t grow;
    set(&o, "a", "1");
    assert_true(overlay_set(&o, entry(&o, "a"), NULL));
    assert_int_equal(overlay_mutations(&o, m, &grow), 0);
    entry(&o, "b")->base_present = true;
    assert_true(overlay_set(&o, entry(&o, "b"), NULL));
    assert_int_equal(overlay_mutations(&o, m, &grow), 1);
    assert_true(m[0].del);
    assert_int_equal(grow, 0);
    overlay_release(&o);
}

TEST(overlay_rollback__takes_back_all_since_the_mark)
{
    struct overlay o = {0};
    struct mutation m[8];
    uint64_t grow;
    set(&o, "a", "1");
    struct overlay_mark mark = overlay_mark(&o);
    set(&o, "a", "2");
    set(&o, "a", "3");
    set(&o, "c", "4");
    assert_true(overlay_set(&o, entry(&o, "a"), NULL));
    overlay_rollback(&o, mark);
    assert_int_equal(overlay_mutations(&o, m, &grow), 1);
    assert_slice_str(m[0].key, "a");
    assert_slice_str(m[0].part[0], "1");
    overlay_release(&o);
}

static void set_chunked(struct overlay *o, const char *key, uint64_t blob, const struct slice body[3])
{
    struct slice parts[4] = {SLICE("head")};
    struct chunks c = {.blob = blob, .part = {body[0], body[1], body[2]}};
    c.n = chunks_of((uint64_t)body[0].len + body[1].len + body[2].len);
    assert_true(overlay_set_chunked(o, entry(o, key), parts, &c));
}

TEST(overlay_mutations__chunks_are_slices_of_the_parts_in_their_place_among_the_rows)
{
    static uint8_t bytes[3 * LIMIT_CHUNK_BYTES];
    struct overlay o = {0};
    struct mutation m[32];
    uint64_t grow, without;
    struct slice a[3] = {slice_of(bytes, 4000), slice_of(bytes + 4000, 100), slice_of(bytes + 4100, 5000)};
    struct slice b[3] = {slice_of(bytes, LIMIT_CHUNK_BYTES), {NULL, 0}, slice_of(bytes + 9000, 1)};
    set(&o, "\x08 counts", "c");
    set(&o, "\x06 z", "r");
    assert_true(overlay_mutations_max(&o) <= ARRAY_LEN(m));
    overlay_mutations(&o, m, &without);
    struct overlay_mark mark = overlay_mark(&o);
    set_chunked(&o, "\x06 b", 7, a); /* replaced below: never written */
    set_chunked(&o, "\x06 c", 8, b);
    set_chunked(&o, "\x06 b", 9, a);
    entry(&o, "\x07")->base_present = true; /* an older blob's row */
    assert_true(overlay_set(&o, entry(&o, "\x07"), NULL));
    assert_int_equal(overlay_mutations(&o, m, &grow), 4 + 1 + 2 + 3);
    assert_true(grow > without + 5 * ENGINE_PAGE);
    for (size_t i = 1; i < 10; i++)
        assert_true(slice_cmp(m[i - 1].key, m[i].key) < 0);
    assert_int_equal(m[4].key.len, 13);
    assert_int_equal(m[4].key.ptr[8], 8);
    assert_int_equal(m[5].part[0].len, 1);
    assert_ptr_equal(m[5].part[0].ptr, bytes + 9000);
    assert_int_equal(m[6].key.ptr[8], 9);
    assert_int_equal(m[6].part[0].len + m[6].part[1].len, LIMIT_CHUNK_BYTES);
    assert_ptr_equal(m[6].part[1].ptr, bytes + 4000);
    assert_ptr_equal(m[7].part[0].ptr, bytes + LIMIT_CHUNK_BYTES);
    assert_int_equal(m[8].key.ptr[12], 2);
    overlay_rollback(&o, mark);
    assert_int_equal(overlay_mutations(&o, m, &grow), 2);
    assert_int_equal(grow, without);
    overlay_release(&o);
}

TEST(overlay_reset__forgets_small_and_large_groups_alike)
{
    struct overlay o = {0};
    char key[32];
    static const unsigned sizes[] = {3, 2000, 5, 70};
    for (size_t round = 0; round < ARRAY_LEN(sizes); round++) {
        for (unsigned i = 0; i < sizes[round]; i++) {
            snprintf(key, sizeof key, "%u", i);
            struct slice k = slice_str(key);
            assert_null(overlay_find(&o, k, hash_bytes(k)));
            set(&o, key, "value");
        }
        assert_int_equal(overlay_mutations_max(&o), sizes[round]);
        overlay_reset(&o);
    }
    overlay_release(&o);
}

TEST_MAIN()
