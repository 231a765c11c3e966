/* tests/unit/storage/test_keys.c - keys: their bytes, their order, the edges of a range. */
#include "tests/lib/test.h"

#include "storage/keys.h"

static struct key record_key(uint32_t type, struct slice id)
{
    struct key k;
    key_of(&k, &(struct store_key){.space = SPACE_RECORD, .type = type, .id = id});
    return k;
}

static int compare(const struct key *a, const struct key *b)
{
    return slice_cmp(key_slice(a), key_slice(b));
}

TEST(key_of__a_record_is_database_type_and_id)
{
    struct key k = record_key(0x01020304, SLICE("id"));
    const uint8_t want[] = {DB_RECORDS, 1, 2, 3, 4, 'i', 'd'};
    assert_int_equal(k.len, sizeof want);
    assert_memory_equal(k.bytes, want, sizeof want);
    assert_int_equal(key_prefix_len(SPACE_RECORD), 5);
}

TEST(key_of__types_are_ranges_that_do_not_mix)
{
    uint8_t high[LIMIT_ID_MAX];
    memset(high, 0xff, sizeof high);
    struct key last = record_key(255, slice_of(high, sizeof high)), first = record_key(256, SLICE("\0"));
    assert_true(compare(&last, &first) < 0);
}

TEST(key_check__takes_1_to_480_bytes)
{
    uint8_t id[LIMIT_ID_MAX + 1] = {0};
    struct err err;
    struct store_key key = {.space = SPACE_RECORD, .type = 1, .id = {id, LIMIT_ID_MAX}};
    assert_int_equal(key_check(&key, &err), RC_OK);
    key.id.len++;
    assert_int_equal(key_check(&key, &err), RC_ERR);
    assert_int_equal(err.code, ERR_ID_TOO_LONG);
    key.id.len = 0;
    assert_int_equal(key_check(&key, &err), RC_ERR);
}

TEST(key_after__nothing_fits_between)
{
    struct key after, id = record_key(1, SLICE("ab")), next = record_key(1, slice_of("ab\0", 3));
    key_after(&after, SPACE_RECORD, 1, SLICE("ab"));
    assert_true(compare(&id, &after) < 0);
    assert_int_equal(compare(&after, &next), 0);
}

TEST(key_from__longer_than_any_id_starts_above_its_cut)
{
    uint8_t from[2 * LIMIT_ID_MAX];
    memset(from, 'x', sizeof from);
    struct key cut = record_key(1, slice_of(from, LIMIT_ID_MAX)), k;
    key_from(&k, SPACE_RECORD, 1, slice_of(from, sizeof from));
    assert_true(compare(&k, &cut) > 0);
    struct key above = record_key(1, SLICE("y"));
    assert_true(compare(&k, &above) < 0);
}

TEST(key_expiry__the_longest_fits_and_orders_by_time)
{
    uint8_t id[LIMIT_ID_MAX];
    memset(id, 0xff, sizeof id);
    struct key a, b;
    key_expiry(&a, 255, EXPIRY_RECORD, UINT32_MAX, slice_of(id, sizeof id));
    key_expiry(&b, 256, EXPIRY_RECORD, 0, SLICE("a"));
    assert_int_equal(a.len, 494);
    assert_true(compare(&a, &b) < 0);
}

TEST_MAIN()
