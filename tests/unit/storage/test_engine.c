/* tests/unit/storage/test_engine.c - what every engine must do: order, snapshots, seeks, odd sizes, all or
 * nothing. */
#include "tests/unit/storage/fixture.h"

struct bench {
    const struct engine_ops *ops;
    struct engine *engine;
    struct snap *snap;
    struct err err;
};

static void must(enum rc rc, const struct err *err)
{
    if (rc != RC_OK)
        fail_msg("%s", err->message);
}

#define ENGINE_TEST(name)                                                                                    \
    static void name##_on(struct bench *, const struct fixture *);                                           \
    TEST(name)                                                                                               \
    {                                                                                                        \
        for (size_t i = 0; i < ARRAY_LEN(fixture_engines); i++) {                                            \
            struct fixture f;                                                                                \
            struct bench b = {.ops = fixture_engines[i]};                                                    \
            fixture_prepare(&f, b.ops);                                                                      \
            must(b.ops->open(&b.engine, &f.opts, &b.err), &b.err);                                           \
            must(b.ops->snap_new(b.engine, &b.snap, &b.err), &b.err);                                        \
            name##_on(&b, &f);                                                                               \
            b.ops->snap_free(b.snap);                                                                        \
            b.ops->close(b.engine);                                                                          \
            fixture_remove(&f);                                                                              \
        }                                                                                                    \
    }                                                                                                        \
    static void name##_on(struct bench *b, const struct fixture *f __attribute__((unused)))

static void renew(struct bench *b)
{
    must(b->ops->snap_renew(b->snap, &b->err), &b->err);
}

static void apply(struct bench *b, const struct mutation *m, size_t n)
{
    must(b->ops->reserve(b->engine, n * 4 * ENGINE_PAGE, &b->err), &b->err);
    must(b->ops->apply(b->engine, m, n, &b->err), &b->err);
}

static void put(struct bench *b, struct slice key, struct slice value)
{
    struct mutation m = {.key = key, .part = {value}};
    apply(b, &m, 1);
}

static void del(struct bench *b, struct slice key)
{
    struct mutation m = {.key = key, .del = true};
    apply(b, &m, 1);
}

static enum rc get_in(struct bench *b, struct snap *s, struct slice key, struct slice *out)
{
    return b->ops->get(s, key, out, &b->err);
}

static void assert_value(struct bench *b, struct slice key, const char *value)
{
    struct slice got;
    assert_int_equal(get_in(b, b->snap, key, &got), RC_OK);
    assert_slice_str(got, value);
}

ENGINE_TEST(engine__keeps_memcmp_order_with_the_shorter_first)
{
    static const struct slice sorted[] = {{(const uint8_t *)"\6\0", 2},   {(const uint8_t *)"\6\0\0", 3},
                                          {(const uint8_t *)"\6a", 2},    {(const uint8_t *)"\6a\0", 3},
                                          {(const uint8_t *)"\6aa", 3},   {(const uint8_t *)"\6b", 2},
                                          {(const uint8_t *)"\6\x7f", 2}, {(const uint8_t *)"\6\x80", 2},
                                          {(const uint8_t *)"\6\xff", 2}, {(const uint8_t *)"\6\xff\xff", 3}};
    static const size_t order[] = {4, 0, 9, 2, 7, 1, 3, 8, 5, 6};
    struct slice key, value;
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        put(b, sorted[order[i]], SLICE("v"));
    put(b, SLICE("\5x"), SLICE("the database before"));
    put(b, SLICE("\7x"), SLICE("the database behind"));
    renew(b);
    assert_int_equal(b->ops->seek(b->snap, SLICE("\6"), &key, &value, &b->err), RC_OK);
    for (size_t i = 0; i < ARRAY_LEN(sorted); i++) {
        assert_true(slice_eq(key, slice_of(sorted[i].ptr + 1, sorted[i].len - 1)));
        enum rc want = i + 1 < ARRAY_LEN(sorted) ? RC_OK : RC_NOTFOUND;
        assert_int_equal(b->ops->next(b->snap, &key, &value, &b->err), want);
    }
}

ENGINE_TEST(engine__seek_finds_the_first_key_not_below)
{
    struct slice key, value;
    put(b, SLICE("\6bb"), SLICE("1"));
    put(b, SLICE("\6dd"), SLICE("2"));
    renew(b);
    assert_int_equal(b->ops->seek(b->snap, SLICE("\6bb"), &key, &value, &b->err), RC_OK);
    assert_slice_str(key, "bb");
    assert_int_equal(b->ops->seek(b->snap, SLICE("\6bb\0"), &key, &value, &b->err), RC_OK);
    assert_slice_str(key, "dd");
    assert_slice_str(value, "2");
    assert_int_equal(b->ops->seek(b->snap, SLICE("\6e"), &key, &value, &b->err), RC_NOTFOUND);
    assert_int_equal(b->ops->seek(b->snap, SLICE("\7"), &key, &value, &b->err), RC_NOTFOUND);
    assert_int_equal(b->ops->seek(b->snap, SLICE("\5"), &key, &value, &b->err), RC_NOTFOUND);
}

ENGINE_TEST(engine__a_snapshot_sees_only_what_was_applied_before_it)
{
    struct snap *other;
    struct slice v;
    must(b->ops->snap_new(b->engine, &other, &b->err), &b->err);
    put(b, SLICE("\6a"), SLICE("old"));
    renew(b);
    put(b, SLICE("\6a"), SLICE("new"));
    put(b, SLICE("\6b"), SLICE("b"));
    must(b->ops->snap_renew(other, &b->err), &b->err);
    del(b, SLICE("\6a"));
    for (unsigned i = 0; i < 50; i++) /* enough to reuse what the two do not hold */
        put(b, SLICE("\6c"), SLICE("c"));
    assert_value(b, SLICE("\6a"), "old");
    assert_int_equal(get_in(b, b->snap, SLICE("\6b"), &v), RC_NOTFOUND);
    assert_int_equal(get_in(b, other, SLICE("\6a"), &v), RC_OK);
    assert_slice_str(v, "new");
    renew(b);
    assert_int_equal(get_in(b, b->snap, SLICE("\6a"), &v), RC_NOTFOUND);
    b->ops->snap_reset(b->snap);
    b->ops->snap_free(other);
}

ENGINE_TEST(engine__takes_keys_and_values_of_every_length)
{
    static const size_t lengths[] = {0, 1, 3, 2029, 2030, 2031, 4079, 4080, 4081, 65535, 1 << 20};
    uint8_t *body = calloc(1, 1 << 20), k[ENGINE_DBS + LIMIT_ID_MAX];
    assert_non_null(body);
    for (size_t i = 0; i < 1 << 20; i++)
        body[i] = (uint8_t)(i * 31 >> 3);
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        size_t klen = 2 + i * 43; /* odd and even, up to 432 */
        struct slice v;
        memset(k, 0xff, sizeof k);
        k[0] = DB_RECORDS;
        k[klen - 1] = (uint8_t)i;
        put(b, slice_of(k, klen), slice_of(body, lengths[i]));
        renew(b);
        assert_int_equal(get_in(b, b->snap, slice_of(k, klen), &v), RC_OK);
        assert_true(slice_eq(v, slice_of(body, lengths[i])));
        put(b, slice_of(k, klen), slice_of(body + 1, lengths[i] / 2)); /* shorter */
        renew(b);
        assert_int_equal(get_in(b, b->snap, slice_of(k, klen), &v), RC_OK);
        assert_true(slice_eq(v, slice_of(body + 1, lengths[i] / 2)));
    }
    b->ops->snap_reset(b->snap);
    free(body);
}

ENGINE_TEST(engine__joins_the_parts_of_a_value)
{
    struct mutation m = {.key = SLICE("\6a"),
                         .part = {SLICE("one "), SLICE(""), SLICE("two "), SLICE("three")}};
    apply(b, &m, 1);
    renew(b);
    assert_value(b, SLICE("\6a"), "one two three");
}

ENGINE_TEST(engine__applies_puts_and_deletes_of_all_databases_together)
{
    uint8_t key[ENGINE_DBS][2];
    struct mutation m[ENGINE_DBS];
    struct slice v;
    size_t n = 0;
    for (uint8_t db = DB_META; db < ENGINE_DBS; db++, n++) {
        key[n][0] = db;
        key[n][1] = 'k';
        m[n] = (struct mutation){.key = slice_of(key[n], 2), .part = {SLICE("v")}};
    }
    apply(b, m, n);
    renew(b);
    for (size_t i = 0; i < n; i++) {
        assert_value(b, m[i].key, "v");
        m[i].del = i % 2 == 0;
        m[i].part[0] = SLICE("w");
    }
    apply(b, m, n);
    renew(b);
    for (size_t i = 0; i < n; i++) {
        if (m[i].del)
            assert_int_equal(get_in(b, b->snap, m[i].key, &v), RC_NOTFOUND);
        else
            assert_value(b, m[i].key, "w");
    }
}

ENGINE_TEST(engine__deleting_what_is_absent_changes_nothing)
{
    struct store_space before, after;
    put(b, SLICE("\6a"), SLICE("v"));
    b->ops->space(b->engine, &before);
    del(b, SLICE("\6b"));
    b->ops->space(b->engine, &after);
    assert_int_equal(before.used, after.used);
    renew(b);
    assert_value(b, SLICE("\6a"), "v");
}

ENGINE_TEST(engine__used_space_grows_with_puts_and_shrinks_with_deletes)
{
    struct store_space empty, full, after;
    uint8_t key[4] = {DB_RECORDS}, value[4000] = {0};
    b->ops->space(b->engine, &empty);
    for (unsigned i = 0; i < 200; i++) {
        key[1] = (uint8_t)i;
        put(b, slice_of(key, 2), slice_of(value, sizeof value));
    }
    b->ops->space(b->engine, &full);
    assert_true(full.used >= empty.used + 200 * sizeof value);
    assert_true(full.used <= full.max);
    for (unsigned i = 0; i < 200; i++) {
        key[1] = (uint8_t)i;
        del(b, slice_of(key, 2));
    }
    b->ops->space(b->engine, &after);
    assert_true(after.used < empty.used + 20 * sizeof value);
}

ENGINE_TEST(engine__survives_thousands_of_random_changes_in_order)
{
    enum { KEYS = 500, ROUNDS = 300, EACH = 20 };
    uint8_t model[KEYS] = {0}, key[EACH][3], value[EACH];
    uint32_t random = 12345;
    for (unsigned round = 1; round <= ROUNDS; round++) {
        struct mutation m[EACH];
        random = random * 1664525 + 1013904223;
        unsigned at = random >> 8 & 15;
        for (unsigned i = 0; i < EACH; i++, at += 1 + (random >> (i % 20 + 4) & 15)) {
            bool remove = (random >> (i % 24)) % 3 == 0;
            value[i] = (uint8_t)(round % 255 + 1);
            key[i][0] = DB_RECORDS;
            key[i][1] = (uint8_t)(at >> 8);
            key[i][2] = (uint8_t)at;
            model[at] = remove ? 0 : value[i];
            m[i] = (struct mutation){
                .key = slice_of(key[i], 3), .part = {slice_of(&value[i], 1)}, .del = remove};
        }
        apply(b, m, EACH);
    }
    struct slice k, v;
    renew(b);
    enum rc rc = b->ops->seek(b->snap, SLICE("\6"), &k, &v, &b->err);
    for (unsigned at = 0; at < KEYS; at++) {
        if (!model[at])
            continue;
        assert_int_equal(rc, RC_OK);
        assert_int_equal(k.ptr[0] << 8 | k.ptr[1], at);
        assert_int_equal(v.ptr[0], model[at]);
        rc = b->ops->next(b->snap, &k, &v, &b->err);
    }
    assert_int_equal(rc, RC_NOTFOUND);
}

TEST_MAIN()
