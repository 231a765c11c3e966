/* tests/unit/server/test_catalog.c - rows to and from bytes; tables published, held, and late news told
 * apart. */
#include "tests/lib/test.h"

#include <stdio.h>

#include "server/catalog.h"
#include "server/server.h"

static struct arena arena;
static struct err err;

/* ---- rows ---- */

static struct slice encode(const struct type_row *row, const struct row_version *more)
{
    struct slice out;
    assert_int_equal(type_row_encode(row, more, &arena, &out, &err), RC_OK);
    return out;
}

static struct type_row decode(struct slice bytes)
{
    struct type_row row;
    assert_int_equal(type_row_decode(bytes, &row, &err), RC_OK);
    return row;
}

TEST(type_row__comes_back_as_it_was)
{
    struct type_row row = {.number = 7,
                           .revision = UINT64_MAX,
                           .options = {MISSING_REJECT, UNKNOWN_IGNORE, COMPAT_NONE, JSON_INT64,
                                       .follows_level = true,
                                       .limits = {UINT16_MAX, 9, LIMIT_DATA_DEPTH_MAX}}};
    struct type_row one = decode(encode(&row, &(struct row_version){1, 10}));
    struct type_row two = decode(encode(&one, &(struct row_version){2, UINT32_MAX}));
    struct type_row same = decode(encode(&two, NULL));
    assert_int_equal(same.number, 7);
    assert_true(same.revision == UINT64_MAX);
    assert_int_equal(same.options.missing, MISSING_REJECT);
    assert_int_equal(same.options.unknown, UNKNOWN_IGNORE);
    assert_int_equal(same.options.compatibility, COMPAT_NONE);
    assert_int_equal(same.options.form, JSON_INT64);
    assert_true(same.options.follows_level);
    assert_int_equal(same.options.limits.bytes, UINT16_MAX);
    assert_int_equal(same.options.limits.items, 9);
    assert_int_equal(same.options.limits.depth, LIMIT_DATA_DEPTH_MAX);
    assert_int_equal(same.nversions, 2);
    assert_int_equal(type_row_version(&same, 0).schema_id, 10);
    assert_int_equal(type_row_version(&same, 1).number, 2);
    assert_int_equal(type_row_version(&same, 1).schema_id, UINT32_MAX);
    arena_release(&arena);
}

static size_t head_bytes(struct slice row)
{
    return row.ptr[16];
}

TEST(type_row__skips_a_longer_head)
{
    struct type_row row = {.number = 1, .options = {.form = JSON_LOGICAL}};
    struct slice bytes = encode(&row, &(struct row_version){3, 4});
    size_t head = head_bytes(bytes);
    uint8_t longer[256] = {0};
    memcpy(longer, bytes.ptr, head);
    longer[16] += 8;
    memcpy(longer + head + 8, bytes.ptr + head, 12);
    struct type_row back = decode(slice_of(longer, head + 20));
    assert_int_equal(back.nversions, 1);
    assert_int_equal(back.options.form, JSON_LOGICAL);
    assert_int_equal(type_row_version(&back, 0).number, 3);
    arena_release(&arena);
}

/* As the first versions of avrod wrote it: a head of 32 bytes, 8 a version. */
TEST(type_row__reads_a_row_without_form_and_states)
{
    struct type_row row = {.number = 1, .options = {.form = JSON_LOGICAL, .limits = {1, 1, 1}}};
    struct slice bytes = encode(&row, &(struct row_version){3, 4});
    uint8_t first[40];
    memcpy(first, bytes.ptr, 32);
    memcpy(first + 32, bytes.ptr + head_bytes(bytes), 8);
    first[16] = 32;
    first[18] = 0;
    struct type_row back = decode(slice_of(first, sizeof first));
    assert_int_equal(type_row_version(&back, 0).schema_id, 4);
    assert_int_equal(type_row_version(&back, 0).state, VERSION_LIVE);
    assert_int_equal(back.options.form, JSON_PLAIN);
    assert_int_equal(back.options.limits.bytes + back.options.limits.items + back.options.limits.depth, 0);
    assert_false(back.options.follows_level); /* what it had stays its own */
    struct type_row same = decode(encode(&back, NULL));
    assert_int_equal(type_row_version(&same, 0).schema_id, 4);
    arena_release(&arena);
}

TEST(type_row__the_latest_is_the_newest_that_is_live)
{
    struct type_row row = {.number = 1}, out;
    struct row_version v;
    out = decode(encode(&row, &(struct row_version){1, 10}));
    out = decode(encode(&out, &(struct row_version){2, 11}));
    struct slice bytes = encode(&out, NULL);
    type_row_set_state(bytes, 1, VERSION_DELETED);
    out = decode(bytes);
    assert_true(type_row_latest(&out, &v));
    assert_int_equal(v.number, 1);
    bytes = encode(&out, NULL);
    type_row_set_state(bytes, 0, VERSION_GONE);
    out = decode(bytes);
    assert_int_equal(type_row_version(&out, 1).state, VERSION_DELETED);
    assert_false(type_row_latest(&out, &v));
    arena_release(&arena);
}

TEST(type_row__refuses_what_is_damaged)
{
    struct type_row row = {.number = 1}, out;
    struct slice good = encode(&row, &(struct row_version){1, 1});
    for (size_t n = 0; n < good.len; n++) {
        assert_int_equal(type_row_decode(slice_of(good.ptr, n), &out, &err), RC_ERR);
        assert_int_equal(err.code, ERR_STORE_FORMAT);
    }
    const struct {
        unsigned at, value;
    } bad[] = {{0, 2},  {1, 3},  {2, 2},  {3, COMPAT_MODES}, {16, 31}, {16, 200},
               {20, 0}, {20, 2}, {32, 8}, {43, 2},           {47, 2},  {49, 5}};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        uint8_t copy[256];
        memcpy(copy, good.ptr, good.len);
        copy[bad[i].at] = (uint8_t)bad[i].value;
        assert_int_equal(type_row_decode(slice_of(copy, good.len), &out, &err), RC_ERR);
    }
    arena_release(&arena);
}

/* ---- tables ---- */

static struct server server;
static struct worker worker = {.server = &server};

static void start(void)
{
    struct store_worker *reader;
    const struct store_opts opts = {.engine = "memory", .workers = 1};
    assert_int_equal(store_open(&server.store, &opts, &err), RC_OK);
    assert_int_equal(store_worker_new(&reader, server.store, NULL, &err), RC_OK);
    assert_int_equal(catalog_open(&server.catalog, reader, &err), RC_OK);
    store_worker_free(reader);
}

static void stop(void)
{
    catalog_free(server.catalog);
    worker.catalog = NULL;
    store_close(server.store);
    arena_release(&arena);
}

static void put(const char *name, uint32_t number, uint64_t revision, uint32_t schema_id)
{
    struct type_row row = {.number = number, .revision = revision};
    struct type_row whole = decode(encode(&row, &(struct row_version){1, schema_id}));
    assert_int_equal(catalog_put(server.catalog, slice_str(name), &whole, &err), RC_OK);
}

static void drop(const char *name, uint32_t number)
{
    assert_int_equal(catalog_drop(server.catalog, slice_str(name), number, &err), RC_OK);
}

/* The number that a fresh request sees; 0: no such type. */
static uint32_t number_of(const char *name)
{
    struct request req = {.worker = &worker};
    assert_true(catalog_enter(&req));
    const struct type *t = catalog_find(req.hold, slice_str(name));
    uint32_t number = t ? t->number : 0;
    catalog_leave(&req);
    return number;
}

static void assert_listed_in_order(const struct request *req, size_t n)
{
    struct slice last = {NULL, 0};
    size_t listed = 0;
    for (const struct type *t; (t = catalog_after(req->hold, last)); last = t->name, listed++)
        assert_true(!listed || slice_cmp(last, t->name) < 0);
    assert_int_equal(listed, n);
    assert_int_equal(catalog_count(req->hold), n);
}

TEST(catalog__finds_many_types_and_lists_them_in_order)
{
    enum { N = 500 };
    start();
    for (uint32_t i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%u", i * 7919 % N);
        put(name, i + 1, i + 1, 1);
    }
    for (uint32_t i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%u", i * 7919 % N);
        assert_int_equal(number_of(name), i + 1);
    }
    assert_int_equal(number_of("t500"), 0);
    struct request req = {.worker = &worker};
    assert_true(catalog_enter(&req));
    assert_listed_in_order(&req, N);
    catalog_leave(&req);
    stop();
}

/* Puts, changes and drops in an order that splits and joins the parts of a table, beside a plain array. */
TEST(catalog__is_whole_after_every_one_of_many_random_changes)
{
    struct catalog_change change;
    enum { NAMES = 400, CHANGES = 6000 };
    static uint32_t have[NAMES];
    uint32_t number = 0, random = 12345;
    size_t n = 0;
    start();
    for (uint32_t i = 1; i <= CHANGES; i++) {
        char name[16];
        random = random * 1664525 + 1013904223;
        uint32_t at = (random >> 8) % NAMES;
        bool growing = i / 1000 % 2 == 0; /* by turns full and almost empty */
        snprintf(name, sizeof name, "t%u", at);
        if (!have[at] || (growing && (random >> 28) > 4)) {
            n += !have[at];
            put(name, have[at] ? have[at] : ++number, i, 1 + i % 7);
            have[at] = have[at] ? have[at] : number;
        } else {
            assert_true(catalog_change_begin(server.catalog, &change));
            drop(name, have[at]);
            catalog_change_end(server.catalog, &change);
            have[at] = 0;
            n--;
        }
        assert_int_equal(number_of(name), have[at]);
        if (i % 100 == 0) {
            struct request req = {.worker = &worker};
            assert_true(catalog_enter(&req));
            assert_listed_in_order(&req, n);
            catalog_leave(&req);
            for (uint32_t k = 0; k < NAMES; k++) {
                snprintf(name, sizeof name, "t%u", k);
                assert_int_equal(number_of(name), have[k]);
            }
        }
    }
    stop();
}

TEST(catalog__a_request_keeps_what_it_holds)
{
    struct catalog_change change;
    struct request before = {.worker = &worker};
    start();
    put("a", 1, 1, 1);
    assert_true(catalog_enter(&before));
    const struct type *held = catalog_find(before.hold, SLICE("a"));
    put("a", 1, 2, 2);
    assert_int_equal(number_of("a"), 1); /* the worker has moved on to the new table */
    assert_true(catalog_change_begin(server.catalog, &change));
    drop("a", 1);
    catalog_change_end(server.catalog, &change);
    assert_int_equal(number_of("a"), 0);
    assert_int_equal(held->latest->schema_id, 1); /* still there: the sanitizer would speak */
    assert_non_null(type_version_of_schema(held, 1));
    assert_null(type_version_of_schema(held, 2));
    catalog_leave(&before);
    stop();
}

TEST(catalog__renews_a_hold_when_a_newer_version_is_asked_for)
{
    struct catalog_change change;
    struct request req = {.worker = &worker, .type_name = SLICE("a")};
    start();
    put("a", 1, 1, 1);
    assert_true(catalog_enter(&req));
    req.type = catalog_find(req.hold, req.type_name);
    put("a", 1, 2, 2);
    assert_int_equal(catalog_renew(&req, &err), RC_OK);
    assert_int_equal(req.type->latest->schema_id, 2);
    assert_true(catalog_change_begin(server.catalog, &change));
    drop("a", 1);
    put("a", 2, 3, 3);
    assert_int_equal(catalog_renew(&req, &err), RC_NOTFOUND); /* another type of that name */
    assert_int_equal(req.type->latest->schema_id, 2);
    catalog_change_end(server.catalog, &change);
    catalog_leave(&req);
    stop();
}

TEST(catalog__late_news_do_not_undo_newer_ones)
{
    struct catalog_change changes[3];
    start();
    assert_true(catalog_change_begin(server.catalog, &changes[0]));
    assert_true(catalog_change_begin(server.catalog, &changes[1]));
    assert_true(catalog_change_begin(server.catalog, &changes[2]));
    put("a", 1, 5, 5);
    put("a", 1, 4, 4); /* was committed before */
    struct request req = {.worker = &worker};
    assert_true(catalog_enter(&req));
    assert_int_equal(catalog_find(req.hold, SLICE("a"))->latest->schema_id, 5);
    catalog_leave(&req);
    drop("a", 1);
    put("a", 1, 6, 6); /* was committed before the drop */
    assert_int_equal(number_of("a"), 0);
    put("a", 2, 8, 8); /* made anew */
    drop("a", 1);      /* told twice */
    put("a", 1, 7, 7);
    assert_int_equal(number_of("a"), 2);
    catalog_change_end(server.catalog, &changes[1]);
    catalog_change_end(server.catalog, &changes[0]);
    catalog_change_end(server.catalog, &changes[2]);
    stop();
}

TEST(catalog__remembers_a_dropped_type_no_longer_than_a_change_may_bring_late_news_of_it)
{
    struct catalog_change slow, quick[2];
    start();
    assert_true(catalog_change_begin(server.catalog, &quick[0]));
    for (uint32_t i = 1; i <= 1000; i++) { /* one change is always in flight */
        assert_true(catalog_change_begin(server.catalog, &quick[i % 2]));
        put("a", i, i, i);
        drop("a", i);
        catalog_change_end(server.catalog, &quick[(i - 1) % 2]);
        assert_true(catalog_drops_remembered(server.catalog) <= 2);
    }
    assert_true(catalog_change_begin(server.catalog, &slow));
    catalog_change_end(server.catalog, &quick[0]);
    for (uint32_t i = 1001; i <= 1100; i++) {
        assert_true(catalog_change_begin(server.catalog, &quick[0]));
        put("a", i, i, i);
        drop("a", i);
        catalog_change_end(server.catalog, &quick[0]);
    }
    assert_int_equal(catalog_drops_remembered(server.catalog), 100);
    put("a", 1001, 5000, 1); /* the slow one's */
    assert_int_equal(number_of("a"), 0);
    catalog_change_end(server.catalog, &slow);
    assert_int_equal(catalog_drops_remembered(server.catalog), 0);
    stop();
}

TEST(catalog__types_of_one_schema_share_its_slot)
{
    struct request req = {.worker = &worker};
    start();
    put("a", 1, 1, 9);
    put("b", 2, 2, 9);
    assert_true(catalog_enter(&req));
    const struct type_version *a = catalog_find(req.hold, SLICE("a"))->latest;
    const struct type_version *b = catalog_find(req.hold, SLICE("b"))->latest;
    assert_ptr_equal(a->slot, b->slot);
    assert_null(type_schema(a));
    catalog_leave(&req);
    stop();
}

TEST_MAIN()
