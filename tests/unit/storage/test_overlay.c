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
        s = overlay_add(o, k, hash_bytes(k));
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
