/* tests/fault/test_catalog.c - the catalog when the n-th allocation fails: it is loaded whole, and each
 * change shows whole or not at all. */
#include "tests/fault/fault.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "server/catalog.h"
#include "server/server.h"

enum { TYPES = 70 }; /* more than the first array takes */

static struct server server;
static struct worker worker = {.server = &server};
static struct arena arena;

static struct slice name_of(unsigned i, char out[8])
{
    snprintf(out, 8, "t%02u", i);
    return slice_str(out);
}

static struct type_row row_of(uint32_t number, uint64_t revision, struct slice *bytes)
{
    struct type_row row = {.number = number, .revision = revision}, whole;
    const struct row_version version = {1, number};
    struct err err;
    assert_int_equal(type_row_encode(&row, &version, &arena, bytes, &err), RC_OK);
    assert_int_equal(type_row_decode(*bytes, &whole, &err), RC_OK);
    return whole;
}

/* ---- a store with types ---- */

static char names[TYPES][8];
static struct slice rows[TYPES];
static bool done;

static enum rc put_rows(struct store_write *w, struct store_txn *txn, struct err *err)
{
    (void)w;
    for (unsigned i = 0; i < TYPES; i++) {
        const struct store_key key = {.space = SPACE_TYPE, .id = slice_str(names[i])};
        const struct record row = {.body = rows[i]};
        if (txn_put(txn, &key, &row, err) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

static void rows_put(struct store_write *w)
{
    assert_int_equal(w->rc, RC_OK);
    done = true;
}

static void store_start(void)
{
    const struct store_opts opts = {.engine = "memory", .workers = 1};
    struct store_write w = {.kind = WRITE_CALL, .call = put_rows, .done = rows_put};
    struct err err;
    for (unsigned i = 0; i < TYPES; i++) {
        name_of(i, names[i]);
        row_of(i + 1, i + 1, &rows[i]);
    }
    assert_int_equal(store_open(&server.store, &opts, &err), RC_OK);
    assert_int_equal(store_worker_new(&worker.store, server.store, NULL, &err), RC_OK);
    done = false;
    assert_int_equal(store_write(worker.store, &w, &err), RC_PENDING);
    while (!done) {
        struct pollfd p = {.fd = store_worker_fd(worker.store), .events = POLLIN};
        poll(&p, 1, -1);
        store_worker_run(worker.store);
    }
}

static void store_stop(void)
{
    store_worker_free(worker.store);
    store_close(server.store);
    arena_release(&arena);
}

/* Which types there are, by their numbers; 0: none of that name. */
static enum rc look(uint32_t numbers[TYPES + 1], struct err *err)
{
    struct request req = {.worker = &worker};
    char name[8];
    if (!catalog_enter(&req))
        return err_oom(err);
    for (unsigned i = 0; i <= TYPES; i++) {
        const struct type *t = catalog_find(req.hold, name_of(i, name));
        numbers[i] = t ? t->number : 0;
    }
    catalog_leave(&req);
    return RC_OK;
}

static enum rc load(void *arg, struct err *err)
{
    uint32_t numbers[TYPES + 1];
    (void)arg;
    fault_begin();
    enum rc rc = catalog_open(&server.catalog, worker.store, err);
    if (rc == RC_OK) {
        rc = look(numbers, err);
        if (rc == RC_OK)
            for (unsigned i = 0; i <= TYPES; i++)
                assert_int_equal(numbers[i], i < TYPES ? i + 1 : 0);
        catalog_free(server.catalog);
        worker.catalog = NULL;
    }
    fault_end();
    return rc;
}

TEST(catalog_open__loads_all_types_or_no_memory)
{
    store_start();
    assert_true(fault_each(load, NULL, RC_OK, ERR_NONE) > TYPES);
    store_stop();
}

/* One change: which type is another behind it. */
struct change {
    unsigned type;
    struct type_row row;
    bool drops;
};

static enum rc make(const struct change *c, struct err *err)
{
    char name[8];
    if (c->drops)
        return catalog_drop(server.catalog, name_of(c->type, name), c->row.number, err);
    return catalog_put(server.catalog, name_of(c->type, name), &c->row, err);
}

static void assert_seen(const uint32_t numbers[TYPES + 1])
{
    uint32_t now[TYPES + 1];
    struct err err;
    assert_int_equal(look(now, &err), RC_OK);
    assert_memory_equal(now, numbers, sizeof now);
}

static enum rc change(void *arg, struct err *err)
{
    const struct change *c = arg;
    uint32_t numbers[TYPES + 1];
    struct catalog_change change;
    assert_int_equal(catalog_open(&server.catalog, worker.store, err), RC_OK);
    assert_int_equal(look(numbers, err), RC_OK);
    fault_begin();
    bool begun = catalog_change_begin(server.catalog, &change);
    enum rc rc = begun ? make(c, err) : err_oom(err);
    fault_end();
    if (rc != RC_OK) {
        struct err again;
        assert_seen(numbers);
        assert_true(begun || catalog_change_begin(server.catalog, &change));
        assert_int_equal(make(c, &again), RC_OK);
    }
    catalog_change_end(server.catalog, &change);
    numbers[c->type] = c->drops ? 0 : c->row.number;
    assert_seen(numbers);
    catalog_free(server.catalog);
    worker.catalog = NULL;
    return rc;
}

TEST(catalog_put__and_drop_show_whole_or_not_at_all)
{
    struct slice bytes;
    store_start();
    struct change changes[] = {
        {.type = TYPES, .row = row_of(1000, 1000, &bytes)}, /* a type and a schema more */
        {.type = 5, .row = row_of(6, 1001, &bytes)},
        {.type = 9, .row = row_of(10, 10, &bytes), .drops = true},
    };
    for (size_t i = 0; i < ARRAY_LEN(changes); i++)
        assert_true(fault_each(change, &changes[i], RC_OK, ERR_NONE) > 1);
    store_stop();
}

TEST_MAIN()
