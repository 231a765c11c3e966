/* tests/unit/storage/test_blobs.c - bodies in chunks: every size whole again, one body a record, and old ones
 * for those who still read them. */
#include "tests/unit/storage/fixture.h"

#include "base/crc32c.h"

enum { HEAD = 32, INLINE_MAX = LIMIT_RECORD_INLINE_MAX - HEAD, MIB = 1 << 20 };

static uint8_t bytes[LIMIT_RECORD_MAX + 64]; /* bodies are slices of it */

__attribute__((constructor)) static void fill_bytes(void)
{
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)((i * 2654435761U) >> 13);
}

/* A body that differs from others by where it begins. */
static struct slice body_of(size_t from, size_t len)
{
    return slice_of(bytes + from, len);
}

static struct store_write put_of(uint32_t type, const char *id, struct slice body)
{
    struct store_write w = {.kind = WRITE_PUT, .key = fixture_key(type, id), .schema_id = 1};
    size_t third = body.len / 3;
    w.part[0] = slice_of(body.ptr, third);
    w.part[1] = slice_of(body.ptr + third, third);
    w.part[2] = slice_of(body.ptr + 2 * third, body.len - 2 * third);
    return w;
}

static void put(struct fixture *f, uint32_t type, const char *id, struct slice body)
{
    struct store_write w = put_of(type, id, body);
    if (fixture_write(f, &w) != RC_OK)
        fail_msg("put of %zu bytes: %s", body.len, w.err.message);
}

static void assert_whole(struct fixture *f, const struct record *rec, struct slice body)
{
    uint8_t *whole = fixture_whole(f, rec);
    assert_true(slice_eq(slice_of(whole, rec->body_bytes), body));
    free(whole);
}

static void assert_holds(struct fixture *f, uint32_t type, const char *id, struct slice body)
{
    struct record rec;
    assert_int_equal(fixture_get(f, type, id, &rec), RC_OK);
    assert_int_equal(rec.body_bytes, body.len);
    assert_whole(f, &rec, body);
}

static unsigned chunks_for(size_t len)
{
    return (unsigned)((len + LIMIT_CHUNK_BYTES - 1) / LIMIT_CHUNK_BYTES);
}

/* ---- sizes ---- */

STORE_TEST(store_write__takes_bodies_of_every_size_up_to_the_limit_and_gives_them_back)
{
    static const size_t sizes[] = {
        0,    1,           INLINE_MAX - 1, INLINE_MAX, INLINE_MAX + 1, 4079,
        4080, 4081,        8160,           8161,       100 * 4080 - 1, 64 * 1024 + 1,
        MIB,  5 * MIB + 7, 16 * MIB};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct record rec;
        put(f, 1, "a", body_of(i, sizes[i]));
        assert_int_equal(fixture_get(f, 1, "a", &rec), RC_OK);
        assert_int_equal(rec.blob == 0, sizes[i] <= INLINE_MAX);
        assert_int_equal(rec.body.ptr == NULL, sizes[i] > INLINE_MAX);
        assert_int_equal(rec.schema_id, 1);
        assert_whole(f, &rec, body_of(i, sizes[i]));
        assert_int_equal(fixture_count(f, 1).records, 1);
        assert_int_equal(fixture_count(f, 1).bytes, sizes[i]);
    }
    struct store_write w = put_of(1, "b", body_of(0, 16 * MIB + 1));
    struct err err;
    w.done = fixture_write_done;
    assert_int_equal(store_write(f->worker, &w, &err), RC_ERR);
    assert_int_equal(err.code, ERR_RECORD_TOO_LARGE);
    assert_non_null(strstr(err.message, "16777217"));
}

STORE_TEST(store_write__what_a_head_takes_leaves_less_room_beside_it)
{
    struct record rec;
    struct store_write w = put_of(1, "a", body_of(0, INLINE_MAX));
    w.content_type = SLICE("text/plain");
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(fixture_get(f, 1, "a", &rec), RC_OK);
    assert_true(rec.blob != 0);
    assert_slice_str(rec.content_type, "text/plain");
    assert_whole(f, &rec, body_of(0, INLINE_MAX));
}

TEST(store_open__finds_bodies_in_chunks_again_and_gives_no_blob_number_twice)
{
    struct fixture f;
    struct record a, b;
    fixture_open(&f, &engine_lmdb);
    put(&f, 1, "a", body_of(0, 300000));
    assert_int_equal(fixture_get(&f, 1, "a", &a), RC_OK);
    uint64_t blob = a.blob;
    fixture_close(&f);
    fixture_reopen(&f);
    assert_holds(&f, 1, "a", body_of(0, 300000));
    put(&f, 1, "b", body_of(1, 5000));
    assert_int_equal(fixture_get(&f, 1, "b", &b), RC_OK);
    assert_true(b.blob > blob);
    fixture_end(&f);
}

STORE_TEST(store_chunks__answers_up_to_as_many_as_asked_for_from_any_index)
{
    struct slice chunk[8];
    struct record rec;
    struct err err;
    put(f, 1, "a", body_of(3, 10 * 4080 + 5));
    assert_int_equal(fixture_get(f, 1, "a", &rec), RC_OK);
    unsigned n = 8;
    assert_int_equal(store_chunks(f->worker, &rec, 0, chunk, &n, &err), RC_OK);
    assert_int_equal(n, 8);
    n = 8;
    assert_int_equal(store_chunks(f->worker, &rec, 8, chunk, &n, &err), RC_OK);
    assert_int_equal(n, 3);
    assert_int_equal(chunk[2].len, 5);
    assert_true(slice_eq(chunk[1], body_of(3 + 9 * 4080, 4080)));
    n = 8;
    assert_int_equal(store_chunks(f->worker, &rec, 11, chunk, &n, &err), RC_OK);
    assert_int_equal(n, 0);
}

/* ---- replaced, deleted ---- */

/* Who reads slowly keeps the record and an index, no bytes and no snapshot. */
STORE_TEST(store_chunks__an_old_body_can_be_read_to_its_end_while_new_ones_take_its_place)
{
    struct record old;
    struct err err;
    put(f, 1, "a", body_of(5, 50 * 4080));
    assert_int_equal(fixture_get(f, 1, "a", &old), RC_OK);
    old.body = old.content_type = (struct slice){NULL, 0};
    for (uint32_t i = 0; i < 50; i++) {
        struct slice chunk;
        unsigned n = 1;
        assert_int_equal(store_chunks(f->worker, &old, i, &chunk, &n, &err), RC_OK);
        assert_true(slice_eq(chunk, body_of(5 + i * 4080, 4080)));
        store_turn_end(f->worker);
        if (i == 20)
            put(f, 1, "a", body_of(6, 60 * 4080));
        else if (i == 30)
            put(f, 1, "a", body_of(7, 10));
        else if (i == 40)
            assert_int_equal(fixture_delete(f, 1, "a"), RC_OK);
    }
    assert_int_equal(fixture_rows(f, DB_TRASH), 2);
    assert_int_equal(fixture_rows(f, DB_CHUNKS), 50 + 60);
    fixture_assert_absent(f, 1, "a");
    assert_int_equal(fixture_count(f, 1).bytes, 0);
}

static struct fixture *reopen_forgetful(struct fixture *f, const struct engine_ops *ops)
{
    fixture_prepare(f, ops);
    f->opts.blob_keep_ms = 1;
    fixture_open_prepared(f);
    return f;
}

TEST(store_chunks__say_not_found_when_an_old_body_has_been_removed)
{
    for (size_t e = 0; e < ARRAY_LEN(fixture_engines); e++) {
        struct fixture memory, *f = reopen_forgetful(&memory, fixture_engines[e]);
        struct record old;
        struct err err;
        struct slice chunk;
        unsigned n = 1;
        put(f, 1, "a", body_of(5, 600 * 4080)); /* more than one step of the purge */
        assert_int_equal(fixture_get(f, 1, "a", &old), RC_OK);
        put(f, 1, "a", body_of(6, 20 * 4080));
        fixture_await_rows(f, DB_TRASH, 0);
        assert_int_equal(fixture_rows(f, DB_CHUNKS), 20);
        assert_int_equal(store_chunks(f->worker, &old, 599, &chunk, &n, &err), RC_NOTFOUND);
        assert_int_equal(n, 0);
        assert_holds(f, 1, "a", body_of(6, 20 * 4080));
        fixture_end(f);
    }
}

STORE_TEST(store_write__stores_only_the_last_body_that_a_group_brings_for_a_record)
{
    enum { N = 6 };
    struct store_write w[N];
    unsigned chunks = 0;
    for (unsigned i = 0; i < N; i++) {
        w[i] = put_of(1, i % 2 ? "a" : "b", body_of(i, 40000 + i * 5000));
        fixture_queue_on(f->worker, &w[i]);
    }
    fixture_await(f->worker, N);
    assert_holds(f, 1, "a", body_of(5, 65000));
    assert_holds(f, 1, "b", body_of(4, 60000));
    chunks = chunks_for(65000) + chunks_for(60000);
    /* Whatever groups they came in, each row of the trash stands for a body that was stored. */
    unsigned trash = fixture_rows(f, DB_TRASH), rows = fixture_rows(f, DB_CHUNKS);
    assert_true(trash ? rows > chunks : rows == chunks);
    assert_int_equal(fixture_count(f, 1).bytes, 125000);
}

/* ---- edits and calls ---- */

struct edit {
    struct store_write w;
    size_t want; /* length of the body that it must find */
    uint32_t crc;
    uint8_t *fresh;
};

/* Finds the body whole, and makes it one byte longer at its front. */
static enum rc grow(struct store_write *w, const struct record *old, struct record *fresh, struct err *err)
{
    struct edit *e = CONTAINER_OF(w, struct edit, w);
    if (!old || !old->body.ptr || old->body.len != e->want || old->body_bytes != e->want || old->blob)
        return err_set(err, ERR_INTERNAL, "The old body is not whole.");
    e->crc = crc32c(0, old->body);
    free(e->fresh);
    e->fresh = malloc(old->body.len + 1);
    e->fresh[0] = '!';
    memcpy(e->fresh + 1, old->body.ptr, old->body.len);
    fresh->body = slice_of(e->fresh, old->body.len + 1);
    return RC_OK;
}

STORE_TEST(store_write__edits_find_and_leave_whole_bodies_also_one_behind_the_other)
{
    enum { N = 5, LEN = INLINE_MAX - 2 }; /* from beside the head into chunks */
    struct edit e[N];
    put(f, 1, "a", body_of(1, LEN));
    for (unsigned i = 0; i < N; i++) {
        e[i] = (struct edit){.w = {.kind = WRITE_EDIT, .key = fixture_key(1, "a"), .edit = grow},
                             .want = LEN + i};
        fixture_queue_on(f->worker, &e[i].w);
    }
    fixture_await(f->worker, N);
    for (unsigned i = 0; i < N; i++)
        if (e[i].w.rc != RC_OK)
            fail_msg("edit %u: %s", i, e[i].w.err.message);
    assert_int_equal(e[0].crc, crc32c(0, body_of(1, LEN)));
    assert_holds(f, 1, "a", slice_of(e[N - 1].fresh, LEN + N));
    assert_int_equal(fixture_count(f, 1).bytes, LEN + N);
    for (unsigned i = 0; i < N; i++)
        free(e[i].fresh);
}

/* More bodies together than a group may put together: it ends early instead. */
STORE_TEST(store_write__many_edits_of_the_largest_bodies_wait_for_the_next_group)
{
    enum { N = 6 };
    struct edit e[N];
    char ids[N][4];
    for (unsigned i = 0; i < N; i++) {
        snprintf(ids[i], sizeof ids[i], "%u", i);
        put(f, 1, ids[i], body_of(0, 16 * MIB - 1));
    }
    for (unsigned i = 0; i < N; i++) {
        e[i] = (struct edit){.w = {.kind = WRITE_EDIT, .key = fixture_key(1, ids[i]), .edit = grow},
                             .want = 16 * MIB - 1};
        fixture_queue_on(f->worker, &e[i].w);
    }
    fixture_await(f->worker, N);
    for (unsigned i = 0; i < N; i++) {
        if (e[i].w.rc != RC_OK)
            fail_msg("edit %u: %s", i, e[i].w.err.message);
        assert_holds(f, 1, ids[i], slice_of(e[i].fresh, 16 * MIB));
        free(e[i].fresh);
    }
    assert_int_equal(fixture_count(f, 1).bytes, (uint64_t)N * 16 * MIB);
}

/* Copies a record to type 2 and finds its copy there; answers what the write says. */
static enum rc copy(struct store_write *w, struct store_txn *txn, struct err *err)
{
    struct store_key from = fixture_key(1, "a"), to = fixture_key(2, "a");
    struct record rec, seen;
    if (txn_get(txn, &from, &rec, err) != RC_OK || txn_put(txn, &to, &rec, err) != RC_OK ||
        txn_get(txn, &to, &seen, err) != RC_OK)
        return RC_ERR;
    if (seen.blob || !slice_eq(seen.body, rec.body))
        return err_set(err, ERR_INTERNAL, "A call does not see what it has put.");
    return (enum rc)w->schema_id;
}

STORE_TEST(store_write__a_call_copies_a_large_body_or_leaves_nothing_of_it)
{
    struct store_write w = {.kind = WRITE_CALL, .call = copy};
    put(f, 1, "a", body_of(9, 3 * MIB));
    unsigned chunks = chunks_for(3 * MIB);
    w.schema_id = RC_CONFLICT;
    assert_int_equal(fixture_write(f, &w), RC_CONFLICT);
    assert_int_equal(fixture_rows(f, DB_CHUNKS), chunks);
    w.schema_id = RC_OK;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(fixture_rows(f, DB_CHUNKS), 2 * chunks);
    assert_int_equal(fixture_rows(f, DB_TRASH), 0);
    assert_holds(f, 1, "a", body_of(9, 3 * MIB));
    assert_holds(f, 2, "a", body_of(9, 3 * MIB));
    assert_int_equal(fixture_count(f, 2).bytes, 3 * MIB);
}

static enum rc read_five(struct store_write *w, struct store_txn *txn, struct err *err)
{
    (void)w;
    for (unsigned i = 0; i < 5; i++) {
        static const char *const ids[] = {"0", "1", "2", "3", "4"};
        struct store_key key = fixture_key(1, ids[i]);
        struct record rec;
        enum rc rc = txn_get(txn, &key, &rec, err);
        if (rc != RC_OK)
            return rc;
    }
    return RC_OK;
}

STORE_TEST(store_write__a_call_that_reads_more_than_a_group_may_put_together_is_refused)
{
    static const char *const ids[] = {"0", "1", "2", "3", "4"};
    struct store_write w = {.kind = WRITE_CALL, .call = read_five}, other = put_of(2, "x", body_of(0, 9));
    for (unsigned i = 0; i < 5; i++)
        put(f, 1, ids[i], body_of(i, 15 * MIB));
    fixture_queue_on(f->worker, &other);
    fixture_queue_on(f->worker, &w);
    fixture_await(f->worker, 2);
    assert_int_equal(other.rc, RC_OK);
    assert_int_equal(w.rc, RC_ERR);
    assert_int_equal(w.err.code, ERR_RECORD_TOO_LARGE);
    put(f, 1, "4", body_of(0, 1 * MIB));
    assert_int_equal(fixture_write(f, &w), RC_OK);
}

/* ---- scans ---- */

struct scan {
    struct store_scan s;
    struct record last;
    unsigned rows;
};

static enum rc scan_row(struct store_scan *s, struct slice id, const struct record *rec)
{
    struct scan *scan = CONTAINER_OF(s, struct scan, s);
    (void)id;
    scan->last = (struct record){.blob = rec->blob, .body_bytes = rec->body_bytes};
    scan->rows++;
    assert_null(rec->body.ptr);
    return RC_PENDING;
}

static void scan_done(struct store_scan *s)
{
    (void)s;
}

STORE_TEST(store_scan__tells_of_bodies_in_chunks_and_they_are_read_behind_the_page)
{
    struct scan scan = {
        .s = {.space = SPACE_RECORD, .type = 1, .row = scan_row, .done = scan_done, .rc = RC_PENDING}};
    put(f, 1, "a", body_of(0, 9000));
    put(f, 1, "b", body_of(1, 9001));
    for (store_scan(f->worker, &scan.s); scan.s.rc == RC_PENDING; store_scan(f->worker, &scan.s))
        assert_whole(f, &scan.last, body_of(scan.rows - 1, 9000 + scan.rows - 1));
    assert_int_equal(scan.rows, 2);
}

/* ---- full ---- */

TEST(store__full_of_large_bodies_serves_again_when_some_are_deleted)
{
    for (size_t e = 0; e < ARRAY_LEN(fixture_engines); e++) {
        struct fixture f;
        fixture_prepare(&f, fixture_engines[e]);
        f.opts.bytes_max = 48 << 20;
        f.opts.blob_keep_ms = 1;
        f.opts.durability = DURABLE_NONE;
        fixture_open_prepared(&f);
        char id[16];
        unsigned n = 0;
        struct store_write w;
        do {
            snprintf(id, sizeof id, "%04u", n++);
            w = put_of(1, id, body_of(n, 3 * MIB));
        } while (fixture_write(&f, &w) == RC_OK);
        assert_int_equal(w.err.code, ERR_NO_SPACE);
        assert_true(n > 10); /* of 15 at most */
        assert_int_equal(fixture_put(&f, 1, "0001", "small"), RC_OK);
        for (unsigned i = 2; i < 8; i++) {
            snprintf(id, sizeof id, "%04u", i);
            assert_int_equal(fixture_delete(&f, 1, id), RC_OK);
        }
        fixture_await_rows(&f, DB_TRASH, 0);
        for (unsigned i = 2; i < 8; i++) {
            snprintf(id, sizeof id, "%04u", i);
            put(&f, 1, id, body_of(i, 3 * MIB));
        }
        assert_holds(&f, 1, "0000", body_of(1, 3 * MIB));
        fixture_end(&f);
    }
}

/* While nobody reads a body, it need not stay for those who might when room is short. */
STORE_TEST(store__full_frees_dead_bodies_at_once_but_for_those_that_are_read)
{
    struct record rec;
    struct slice chunk[8];
    struct err err;
    unsigned n = ARRAY_LEN(chunk);
    char id[16];
    struct store_write w;
    fixture_close(f);
    f->opts.bytes_max = 24 << 20;
    f->opts.durability = DURABLE_NONE;
    if (!(f->ops->caps & CAP_DURABLE))
        fixture_open_prepared(f);
    else
        fixture_reopen(f);
    unsigned count = 0;
    do {
        snprintf(id, sizeof id, "%04u", count++);
        w = put_of(1, id, body_of(count, 3 * MIB));
    } while (fixture_write(f, &w) == RC_OK);
    assert_int_equal(w.err.code, ERR_NO_SPACE);
    assert_int_equal(w.err.max_bytes, 24 << 20);
    assert_true(w.err.used_bytes > 10 << 20);
    assert_int_equal(fixture_get(f, 1, "0000", &rec), RC_OK);
    assert_int_equal(store_chunks(f->worker, &rec, 0, chunk, &n, &err), RC_OK);
    assert_int_equal(fixture_delete(f, 1, "0000"), RC_OK);
    assert_int_equal(fixture_delete(f, 1, "0001"), RC_OK);
    w = put_of(1, "again", body_of(1, 3 * MIB));
    assert_int_equal(fixture_write(f, &w), RC_ERR);
    uint8_t *whole = fixture_whole(f, &rec); /* to its end */
    assert_int_equal(rec.body_bytes, 3 * MIB);
    assert_memory_equal(whole, bytes + 1, 3 * MIB);
    free(whole);
    w = put_of(1, "again", body_of(1, 3 * MIB));
    while (fixture_write(f, &w) != RC_OK) {
        assert_int_equal(w.err.code, ERR_NO_SPACE);
        poll(NULL, 0, 1);
    }
    assert_holds(f, 1, "again", body_of(1, 3 * MIB));
}

TEST_MAIN()
