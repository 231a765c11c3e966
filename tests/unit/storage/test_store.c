/* tests/unit/storage/test_store.c - writes and reads through the front of the folder, on every engine. */
#include "tests/unit/storage/fixture.h"

STORE_TEST(store_get__sees_a_write_as_soon_as_it_is_answered)
{
    struct record rec;
    assert_int_equal(fixture_put(f, 1, "a", "one"), RC_OK);
    fixture_assert_body(f, 1, "a", "one");
    assert_int_equal(fixture_put(f, 1, "a", "two"), RC_OK); /* in the same turn */
    fixture_assert_body(f, 1, "a", "two");
    fixture_assert_absent(f, 1, "b");
    fixture_assert_absent(f, 2, "a");
    assert_int_equal(fixture_get(f, 1, "a", &rec), RC_OK);
    assert_int_equal(rec.schema_id, 1);
    assert_true(rec.updated_ms >= rec.created_ms && rec.created_ms > 0);
}

STORE_TEST(store_write__gives_growing_revisions_and_says_what_was_created)
{
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {SLICE("x"), SLICE(""), SLICE("yz")}};
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_true(w.created);
    uint64_t first = w.revision;
    fixture_assert_body(f, 1, "a", "xyz");
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_false(w.created);
    assert_true(w.revision > first);
    struct record rec;
    assert_int_equal(fixture_get(f, 1, "a", &rec), RC_OK);
    assert_int_equal(rec.revision, w.revision);
}

STORE_TEST(store_write__delete_removes_once)
{
    assert_int_equal(fixture_put(f, 1, "a", "one"), RC_OK);
    assert_int_equal(fixture_count(f, 1).records, 1);
    assert_int_equal(fixture_count(f, 1).bytes, 3);
    assert_int_equal(fixture_delete(f, 1, "a"), RC_OK);
    fixture_assert_absent(f, 1, "a");
    assert_int_equal(fixture_delete(f, 1, "a"), RC_NOTFOUND);
    assert_int_equal(fixture_count(f, 1).records, 0);
    assert_int_equal(fixture_count(f, 1).bytes, 0);
}

/* ---- conditions ---- */

static enum rc put_if(struct fixture *f, const char *id, int cond, const uint64_t *revisions, unsigned n,
                      uint64_t *revision)
{
    struct store_write w = {.kind = WRITE_PUT,
                            .key = fixture_key(1, id),
                            .part = {SLICE("x")},
                            .revisions = revisions,
                            .nrevisions = n};
    w.cond = cond;
    enum rc rc = fixture_write(f, &w);
    *revision = w.revision;
    return rc;
}

STORE_TEST(store_write__conditions_hold_as_their_names_say)
{
    uint64_t now, revision, other[2] = {999999, 0};
    assert_int_equal(put_if(f, "a", COND_PRESENT, NULL, 0, &now), RC_CONFLICT);
    assert_int_equal(now, 0);
    assert_int_equal(put_if(f, "a", COND_REVISION_IN, other, 1, &now), RC_CONFLICT);
    assert_int_equal(put_if(f, "a", COND_ABSENT, NULL, 0, &revision), RC_OK);
    assert_int_equal(put_if(f, "a", COND_ABSENT, NULL, 0, &now), RC_CONFLICT);
    assert_int_equal(now, revision);
    assert_int_equal(put_if(f, "a", COND_REVISION_IN, other, 1, &now), RC_CONFLICT);
    assert_int_equal(now, revision);
    other[1] = revision;
    assert_int_equal(put_if(f, "a", COND_REVISION_NOT_IN, other, 2, &now), RC_CONFLICT);
    assert_int_equal(put_if(f, "a", COND_REVISION_IN, other, 2, &revision), RC_OK);
    assert_int_equal(put_if(f, "a", COND_REVISION_NOT_IN, other, 2, &revision), RC_OK);
    assert_int_equal(put_if(f, "a", COND_PRESENT, NULL, 0, &revision), RC_OK);
    assert_int_equal(put_if(f, "b", COND_REVISION_NOT_IN, other, 2, &revision), RC_OK);
}

STORE_TEST(store_write__a_failed_condition_or_delete_takes_no_revision)
{
    uint64_t a, b, now;
    assert_int_equal(put_if(f, "a", COND_NONE, NULL, 0, &a), RC_OK);
    assert_int_equal(put_if(f, "a", COND_ABSENT, NULL, 0, &now), RC_CONFLICT);
    assert_int_equal(fixture_delete(f, 1, "b"), RC_NOTFOUND);
    assert_int_equal(put_if(f, "a", COND_NONE, NULL, 0, &b), RC_OK);
    assert_int_equal(b, a + 1);
}

STORE_TEST(store_write__delete_heeds_its_condition_first)
{
    uint64_t revision, wrong = 12345;
    assert_int_equal(put_if(f, "a", COND_NONE, NULL, 0, &revision), RC_OK);
    struct store_write w = {.kind = WRITE_DELETE,
                            .key = fixture_key(1, "a"),
                            .cond = COND_REVISION_IN,
                            .revisions = &wrong,
                            .nrevisions = 1};
    assert_int_equal(fixture_write(f, &w), RC_CONFLICT);
    assert_int_equal(w.revision, revision);
    w.revisions = &revision;
    uint64_t before = revision;
    w.revisions = &before;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_true(w.revision > before);
    assert_int_equal(fixture_write(f, &w), RC_CONFLICT);
    assert_int_equal(w.revision, 0);
}

/* ---- sizes ---- */

STORE_TEST(store_write__ids_are_any_bytes_of_1_to_480)
{
    uint8_t id[LIMIT_ID_MAX + 1];
    struct err err;
    static const uint8_t fills[] = {0x00, 0xff, 'a'};
    for (size_t i = 0; i < ARRAY_LEN(fills); i++) {
        memset(id, fills[i], sizeof id);
        static const size_t lens[] = {1, 2, 255, 479, 480};
        for (size_t l = 0; l < ARRAY_LEN(lens); l++) {
            struct store_key key = {.space = SPACE_RECORD, .type = 1, .id = slice_of(id, lens[l])};
            struct store_write w = {.kind = WRITE_PUT, .key = key, .part = {slice_of(id, l + 1)}};
            assert_int_equal(fixture_write(f, &w), RC_OK);
            assert_true(w.created);
            struct store_get g = {.key = key, .done = fixture_get_done};
            store_get(f->worker, &g);
            assert_int_equal(g.rc, RC_OK);
            assert_true(slice_eq(g.rec.body, slice_of(id, l + 1)));
        }
    }
    assert_int_equal(fixture_count(f, 1).records, 15);
    struct store_write w = {.kind = WRITE_DELETE, .done = fixture_write_done};
    w.key = (struct store_key){.space = SPACE_RECORD, .type = 1, .id = slice_of(id, 481)};
    assert_int_equal(store_write(f->worker, &w, &err), RC_ERR);
    assert_int_equal(err.code, ERR_ID_TOO_LONG);
    struct store_get g = {.key = w.key, .done = fixture_get_done};
    store_get(f->worker, &g);
    assert_int_equal(g.rc, RC_ERR);
    assert_int_equal(g.err.code, ERR_ID_TOO_LONG);
}

STORE_TEST(store_write__an_empty_body_is_a_body)
{
    struct record rec;
    assert_int_equal(fixture_put(f, 1, "a", ""), RC_OK);
    assert_int_equal(fixture_get(f, 1, "a", &rec), RC_OK);
    assert_non_null(rec.body.ptr);
    assert_int_equal(rec.body_bytes, 0);
}

/* ---- expiry ---- */

STORE_TEST(store_get__hides_what_is_past_its_time)
{
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {SLICE("x")}, .expires_ms = 1};
    struct record rec;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    fixture_assert_absent(f, 1, "a");
    w.cond = COND_ABSENT; /* to writes too */
    w.expires_ms = INT64_C(1) << 47;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_true(w.created);
    assert_int_equal(fixture_get(f, 1, "a", &rec), RC_OK);
    assert_int_equal(rec.expires_ms, INT64_C(1) << 47);
    assert_int_equal(fixture_count(f, 1).records, 1);
}

static unsigned expiry_rows(struct fixture *f)
{
    return fixture_rows(f, DB_EXPIRY);
}

STORE_TEST(store_write__a_put_replaces_its_expiry_row_and_a_delete_takes_it)
{
    struct store_write w = {.kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {SLICE("x")}};
    w.expires_ms = INT64_C(1) << 46;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(expiry_rows(f), 1);
    w.expires_ms = INT64_C(1) << 47;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(expiry_rows(f), 1);
    w.expires_ms = 0;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(expiry_rows(f), 0);
    w.expires_ms = INT64_C(1) << 47;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(fixture_delete(f, 1, "a"), RC_OK);
    assert_int_equal(expiry_rows(f), 0);
}

/* ---- edits and calls ---- */

/* A body of decimal digits, one more each time; "bad" fails. */
static enum rc increment(struct store_write *w, const struct record *old, struct record *fresh,
                         struct err *err)
{
    char *text = (char *)(uintptr_t)w->part[0].ptr; /* the request's memory */
    char digits[32] = "0";
    if (old && slice_eq(old->body, SLICE("bad")))
        return err_set(err, ERR_BAD_RECORD, "Not a number.");
    if (old)
        memcpy(digits, old->body.ptr, old->body.len);
    snprintf(text, 32, "%d", (int)strtol(digits, NULL, 10) + 1);
    fresh->body = slice_str(text);
    return RC_OK;
}

struct edit {
    struct store_write w;
    char memory[32];
};

static void edit_init(struct edit *e, const char *id)
{
    *e = (struct edit){
        .w = {.kind = WRITE_EDIT, .key = fixture_key(1, id), .edit = increment, .schema_id = 9}};
    e->w.part[0] = slice_of(e->memory, sizeof e->memory);
}

STORE_TEST(store_write__an_edit_turns_old_into_new)
{
    struct edit e;
    struct record rec;
    edit_init(&e, "n");
    assert_int_equal(fixture_write(f, &e.w), RC_OK);
    assert_true(e.w.created);
    edit_init(&e, "n");
    assert_int_equal(fixture_write(f, &e.w), RC_OK);
    assert_false(e.w.created);
    fixture_assert_body(f, 1, "n", "2");
    assert_int_equal(fixture_get(f, 1, "n", &rec), RC_OK);
    assert_int_equal(rec.schema_id, 9);
    assert_int_equal(rec.revision, e.w.revision);
    assert_int_equal(fixture_count(f, 1).bytes, 1);
}

static enum rc leave(struct store_write *w, const struct record *old, struct record *fresh, struct err *err)
{
    (void)old, (void)fresh, (void)err;
    w->unchanged = true;
    return RC_OK;
}

STORE_TEST(store_write__an_edit_that_changes_nothing_writes_nothing)
{
    struct store_write w = {.kind = WRITE_EDIT, .key = fixture_key(1, "n"), .edit = leave, .schema_id = 9};
    struct record before, after;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(w.revision, 0);
    assert_int_equal(fixture_get(f, 1, "n", &before), RC_NOTFOUND);
    assert_int_equal(fixture_put(f, 1, "n", "1"), RC_OK);
    assert_int_equal(fixture_get(f, 1, "n", &before), RC_OK);
    uint64_t revision = before.revision;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(w.revision, revision);
    assert_false(w.created);
    assert_int_equal(fixture_get(f, 1, "n", &after), RC_OK);
    assert_int_equal(after.revision, revision);
    struct edit e;
    edit_init(&e, "n");
    assert_int_equal(fixture_write(f, &e.w), RC_OK);
    assert_int_equal(e.w.revision, revision + 1); /* no number was taken in between */
}

STORE_TEST(store_write__an_edit_of_a_longer_record_than_it_takes_comes_back)
{
    struct edit e;
    char text[5001];
    memset(text, '1', 5000);
    text[5000] = 0;
    assert_int_equal(fixture_put(f, 1, "n", "12345"), RC_OK);
    assert_int_equal(fixture_put(f, 1, "long", text), RC_OK);
    edit_init(&e, "n");
    e.w.edit_bytes_max = 4;
    assert_int_equal(fixture_write(f, &e.w), RC_AGAIN);
    fixture_assert_body(f, 1, "n", "12345");
    e.w.edit_bytes_max = 5;
    assert_int_equal(fixture_write(f, &e.w), RC_OK);
    fixture_assert_body(f, 1, "n", "12346");
    edit_init(&e, "long"); /* it would not fit the memory of `increment`, which is not called */
    e.w.edit_bytes_max = 4999;
    assert_int_equal(fixture_write(f, &e.w), RC_AGAIN);
    e.w.cond = COND_ABSENT;
    assert_int_equal(fixture_write(f, &e.w), RC_CONFLICT);
}

STORE_TEST(store_write__an_edit_that_fails_changes_nothing_but_its_own_answer)
{
    struct edit a, b, c;
    assert_int_equal(fixture_put(f, 1, "x", "bad"), RC_OK);
    edit_init(&a, "n");
    edit_init(&b, "x");
    edit_init(&c, "n");
    fixture_queue_on(f->worker, &a.w);
    fixture_queue_on(f->worker, &b.w);
    fixture_queue_on(f->worker, &c.w);
    fixture_await(f->worker, 3);
    assert_int_equal(a.w.rc, RC_OK);
    assert_int_equal(b.w.rc, RC_ERR);
    assert_int_equal(b.w.err.code, ERR_BAD_RECORD);
    assert_int_equal(c.w.rc, RC_OK);
    assert_int_equal(c.w.revision, a.w.revision + 1);
    fixture_assert_body(f, 1, "n", "2");
    fixture_assert_body(f, 1, "x", "bad");
}

/* Puts a and b, each the other's old body; fails behind both puts if the write says so. */
static enum rc swap(struct store_write *w, struct store_txn *txn, struct err *err)
{
    struct store_key a = fixture_key(1, "a"), b = fixture_key(2, "b");
    struct record ra, rb, seen;
    if (txn_get(txn, &a, &ra, err) != RC_OK || txn_get(txn, &b, &rb, err) != RC_OK)
        return RC_NOTFOUND;
    if (txn_put(txn, &a, &rb, err) != RC_OK || txn_put(txn, &b, &ra, err) != RC_OK)
        return RC_ERR;
    if (txn_get(txn, &a, &seen, err) != RC_OK || !slice_eq(seen.body, rb.body)) /* its own put */
        return err_set(err, ERR_INTERNAL, "A call does not see what it has put.");
    (void)txn_number(txn, SPACE_SCHEMA);
    return w->schema_id ? (enum rc)w->schema_id : RC_OK;
}

STORE_TEST(store_write__a_call_is_all_or_nothing_and_takes_one_revision)
{
    struct record a, b;
    struct store_write w = {.kind = WRITE_CALL, .call = swap};
    assert_int_equal(fixture_write(f, &w), RC_NOTFOUND);
    assert_int_equal(fixture_put(f, 1, "a", "A"), RC_OK);
    assert_int_equal(fixture_put(f, 2, "b", "BB"), RC_OK);
    w.schema_id = RC_CONFLICT;
    assert_int_equal(fixture_write(f, &w), RC_CONFLICT);
    fixture_assert_body(f, 1, "a", "A");
    fixture_assert_body(f, 2, "b", "BB");
    assert_int_equal(fixture_count(f, 1).bytes, 1);
    w.schema_id = 0;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(w.count, 2);
    fixture_assert_body(f, 1, "a", "BB");
    fixture_assert_body(f, 2, "b", "A");
    assert_int_equal(fixture_get(f, 1, "a", &a), RC_OK);
    assert_int_equal(a.revision, w.revision);
    assert_int_equal(fixture_get(f, 2, "b", &b), RC_OK);
    assert_int_equal(b.revision, w.revision);
    assert_int_equal(fixture_count(f, 1).bytes, 2);
}

/* Looks at a short and a long record and at what is not there, and reads the long one. */
static enum rc look_around(struct store_write *w, struct store_txn *txn, struct err *err)
{
    struct store_key a = fixture_key(1, "a"), b = fixture_key(1, "b"), c = fixture_key(1, "c");
    struct record rec;
    (void)w;
    assert_true(txn_lives(txn, 1));
    assert_false(txn_lives(txn, 1000));
    assert_int_equal(txn_look(txn, &a, &rec, err), RC_OK);
    assert_true(slice_eq(rec.body, SLICE("A")));
    assert_true(rec.revision);
    assert_int_equal(txn_look(txn, &b, &rec, err), RC_OK);
    assert_null(rec.body.ptr);
    assert_int_equal(rec.body_bytes, 9000);
    assert_int_equal(txn_get(txn, &b, &rec, err), RC_OK);
    assert_int_equal(rec.body.len, 9000);
    assert_int_equal(txn_look(txn, &c, &rec, err), RC_NOTFOUND);
    return RC_OK;
}

STORE_TEST(txn_look__leaves_long_bodies_where_they_are)
{
    static char text[9001];
    memset(text, 'b', 9000);
    struct store_write w = {.kind = WRITE_CALL, .call = look_around};
    assert_int_equal(fixture_put(f, 1, "a", "A"), RC_OK);
    assert_int_equal(fixture_put(f, 1, "b", text), RC_OK);
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(w.revision, 0);
}

STORE_TEST(store_write__a_call_takes_room_in_the_queue_for_its_parts_and_for_no_key)
{
    struct store_write first = {.kind = WRITE_CALL, .call = look_around}, second = first;
    struct err err = {0};
    assert_int_equal(fixture_put(f, 1, "a", "A"), RC_OK);
    static char text[9001];
    memset(text, 'b', 9000);
    assert_int_equal(fixture_put(f, 1, "b", text), RC_OK);
    second.key.id = slice_of(NULL, UINT32_MAX); /* of an operation before it, in the same memory */
    fixture_queue_on(f->worker, &first);
    fixture_queue_on(f->worker, &second);
    fixture_await(f->worker, 2);
    second.part[0] = slice_of(NULL, (size_t)LIMIT_QUEUE_BYTES_MAX + 1);
    fixture_queue_on(f->worker, &first);
    assert_int_equal(store_write(f->worker, &second, &err), RC_ERR);
    assert_int_equal(err.code, ERR_QUEUE_FULL);
    fixture_await(f->worker, 1);
}

static enum rc take_schema_id(struct store_write *w, struct store_txn *txn, struct err *err)
{
    uint32_t n = txn_number(txn, SPACE_SCHEMA);
    struct store_key key = {.space = SPACE_SCHEMA, .id = slice_of(&w->body_crc, 4)};
    struct record row = {.body = SLICE("\"int\"")};
    w->count = n;
    if (w->schema_id)
        return RC_CONFLICT;
    w->expires_ms = n;
    return txn_put(txn, &key, &row, err);
}

STORE_TEST(txn_number__is_given_back_by_a_call_that_fails_and_never_given_twice)
{
    struct store_write w = {.kind = WRITE_CALL, .call = take_schema_id};
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(w.expires_ms, 1);
    w.schema_id = 1;
    assert_int_equal(fixture_write(f, &w), RC_CONFLICT);
    w.schema_id = 0;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(w.expires_ms, 2);
}

static enum rc put_too_many(struct store_write *w, struct store_txn *txn, struct err *err)
{
    for (uint32_t i = 0; i < w->schema_id; i++) {
        char id[16];
        snprintf(id, sizeof id, "%u", i);
        struct store_key key = fixture_key(1, id);
        struct record rec = {.body = SLICE("x")};
        if (txn_put(txn, &key, &rec, err) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

STORE_TEST(store_write__a_call_that_changes_too_many_pages_is_refused_whole)
{
    struct store_write w = {.kind = WRITE_CALL, .call = put_too_many, .schema_id = 5000};
    assert_int_equal(fixture_write(f, &w), RC_ERR);
    assert_int_equal(w.err.code, ERR_RECORD_TOO_LARGE);
    assert_int_equal(fixture_count(f, 1).records, 0);
    w.schema_id = 1000;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(w.count, 1000);
    assert_int_equal(fixture_count(f, 1).records, 1000);
}

/* Puts, and answers as if nothing had happened although a put has failed. */
static enum rc put_and_ignore(struct store_write *w, struct store_txn *txn, struct err *err)
{
    static uint8_t large[LIMIT_RECORD_MAX + 1];
    struct store_key a = fixture_key(1, "a"), b = fixture_key(1, "b");
    struct record small = {.body = SLICE("x")}, big = {.body = {large, sizeof large}};
    (void)w;
    if (txn_put(txn, &a, &small, err) != RC_OK)
        return RC_ERR;
    return txn_put(txn, &b, &big, err) == RC_ERR ? RC_OK : RC_CONFLICT;
}

STORE_TEST(store_write__a_call_cannot_succeed_when_one_of_its_puts_has_failed)
{
    struct store_write w = {.kind = WRITE_CALL, .call = put_and_ignore};
    assert_int_equal(fixture_write(f, &w), RC_ERR);
    assert_int_equal(w.err.code, ERR_RECORD_TOO_LARGE);
    fixture_assert_absent(f, 1, "a");
}

/* ---- spaces and types ---- */

STORE_TEST(store_write__rows_of_the_catalog_are_their_body_alone)
{
    static const enum space spaces[] = {SPACE_TYPE, SPACE_SUBJECT, SPACE_SCHEMA, SPACE_SCHEMA_HASH};
    static uint8_t text[LIMIT_SCHEMA_TEXT_MAX];
    for (size_t i = 0; i < ARRAY_LEN(spaces); i++) {
        struct store_key key = {.space = spaces[i], .id = SLICE("name")};
        struct store_write w = {
            .kind = WRITE_PUT, .key = key, .part = {slice_of(text, sizeof text), SLICE("!")}};
        assert_int_equal(fixture_write(f, &w), RC_OK);
        struct store_get g = {.key = key, .done = fixture_get_done};
        store_get(f->worker, &g);
        assert_int_equal(g.rc, RC_OK);
        assert_int_equal(g.rec.body.len, sizeof text + 1);
        w.kind = WRITE_DELETE;
        assert_int_equal(fixture_write(f, &w), RC_OK);
        store_get(f->worker, &g);
        assert_int_equal(g.rc, RC_NOTFOUND);
    }
}

static struct store_write type_drop(uint32_t type, const char *name)
{
    return (struct store_write){.kind = WRITE_TYPE_DROP,
                                .key = {.space = SPACE_TYPE, .type = type, .id = slice_str(name)}};
}

STORE_TEST(store_write__a_dropped_type_is_gone_at_once)
{
    assert_int_equal(fixture_put(f, 1, "a", "1"), RC_OK);
    assert_int_equal(fixture_put(f, 2, "a", "2"), RC_OK);
    struct store_write drop = type_drop(1, "t1"), again = type_drop(1, "t1"),
                       put = {.kind = WRITE_PUT, .key = fixture_key(1, "b"), .part = {SLICE("x")}},
                       other = {.kind = WRITE_PUT, .key = fixture_key(2, "b"), .part = {SLICE("x")}};
    fixture_queue_on(f->worker, &drop); /* those behind it in the queue find it done */
    fixture_queue_on(f->worker, &put);
    fixture_queue_on(f->worker, &again);
    fixture_queue_on(f->worker, &other);
    fixture_await(f->worker, 4);
    assert_int_equal(drop.rc, RC_OK);
    assert_int_equal(drop.count, 1);
    assert_int_equal(put.rc, RC_NOTFOUND);
    assert_int_equal(again.rc, RC_NOTFOUND);
    assert_int_equal(other.rc, RC_OK);
    fixture_assert_absent(f, 1, "a");
    fixture_assert_body(f, 2, "a", "2");
    assert_int_equal(fixture_count(f, 1).records, 0);
    struct store_get g = {.key = {.space = SPACE_TYPE, .id = SLICE("t1")}, .done = fixture_get_done};
    store_get(f->worker, &g);
    assert_int_equal(g.rc, RC_NOTFOUND);
}

STORE_TEST(store_write__a_number_that_was_never_given_has_no_records)
{
    assert_int_equal(fixture_put(f, 0, "a", "x"), RC_NOTFOUND);
    assert_int_equal(fixture_put(f, FIXTURE_TYPES + 1, "a", "x"), RC_NOTFOUND);
    assert_int_equal(fixture_put(f, UINT32_MAX, "a", "x"), RC_NOTFOUND);
}

/* ---- scans ---- */

struct scan {
    struct store_scan s;
    unsigned rows, stop_after, pages;
    char ids[4096]; /* each followed by a comma */
    size_t len;
    uint64_t body_bytes;
};

static enum rc scan_row(struct store_scan *s, struct slice id, const struct record *rec)
{
    struct scan *scan = CONTAINER_OF(s, struct scan, s);
    assert_true(s->keys_only ? rec->body.len == 0 : rec->body.len == rec->body_bytes);
    scan->body_bytes += rec->body_bytes;
    if (scan->len + id.len + 1 < sizeof scan->ids) {
        memcpy(scan->ids + scan->len, id.ptr, id.len);
        scan->len += id.len;
        scan->ids[scan->len++] = ',';
    }
    scan->rows++;
    return scan->stop_after && scan->rows % scan->stop_after == 0 ? RC_PENDING : RC_OK;
}

static void scan_done(struct store_scan *s)
{
    CONTAINER_OF(s, struct scan, s)->pages++;
}

static void scan_all(struct fixture *f, struct scan *scan)
{
    scan->s.row = scan_row;
    scan->s.done = scan_done;
    do
        store_scan(f->worker, &scan->s);
    while (scan->s.rc == RC_PENDING);
    assert_int_equal(scan->s.rc, RC_OK);
}

STORE_TEST(store_scan__goes_in_order_from_inclusive_to_exclusive)
{
    static const char *const ids[] = {"d", "a", "bb", "c", "b", "ba"};
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        assert_int_equal(fixture_put(f, 2, ids[i], "x"), RC_OK);
    assert_int_equal(fixture_put(f, 1, "zz", "x"), RC_OK);
    assert_int_equal(fixture_put(f, 3, "a", "x"), RC_OK);
    struct scan all = {.s = {.space = SPACE_RECORD, .type = 2}};
    scan_all(f, &all);
    assert_slice_str(slice_of(all.ids, all.len), "a,b,ba,bb,c,d,");
    struct scan some = {
        .s = {.space = SPACE_RECORD, .type = 2, .from = SLICE("b"), .upto = SLICE("c"), .keys_only = true}};
    scan_all(f, &some);
    assert_slice_str(slice_of(some.ids, some.len), "b,ba,bb,");
    struct scan none = {.s = {.space = SPACE_RECORD, .type = 4}};
    scan_all(f, &none);
    assert_int_equal(none.rows, 0);
    struct scan types = {.s = {.space = SPACE_TYPE}};
    scan_all(f, &types);
    assert_slice_str(slice_of(types.ids, types.len), "t1,t2,t3,t4,");
}

STORE_TEST(store_scan__goes_on_where_a_page_ended)
{
    char id[16];
    for (unsigned i = 0; i < 600; i++) {
        snprintf(id, sizeof id, "%06u", i);
        assert_int_equal(fixture_put(f, 1, id, "x"), RC_OK);
    }
    struct scan scan = {.s = {.space = SPACE_RECORD, .type = 1}};
    scan_all(f, &scan);
    assert_int_equal(scan.rows, 600);
    assert_true(scan.pages >= 3);
    struct scan slow = {.s = {.space = SPACE_RECORD, .type = 1}, .stop_after = 7};
    scan_all(f, &slow);
    assert_int_equal(slow.rows, 600);
    assert_int_equal(slow.pages, 600 / 7 + 1);
}

STORE_TEST(store_scan__shows_neither_expired_records_nor_dropped_types)
{
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {SLICE("x")}, .expires_ms = 1};
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(fixture_put(f, 1, "b", "x"), RC_OK);
    struct scan scan = {.s = {.space = SPACE_RECORD, .type = 1}};
    scan_all(f, &scan);
    assert_slice_str(slice_of(scan.ids, scan.len), "b,");
    struct store_write drop = type_drop(1, "t1");
    assert_int_equal(fixture_write(f, &drop), RC_OK);
    struct scan after = {.s = {.space = SPACE_RECORD, .type = 1}};
    scan_all(f, &after);
    assert_int_equal(after.rows, 0);
}

STORE_TEST(store_worker_run__completes_in_order_of_submission)
{
    enum { N = 500 };
    static struct store_write w[N];
    uint64_t last = 0;
    char ids[N][8];
    for (unsigned i = 0; i < N; i++) {
        snprintf(ids[i], sizeof ids[i], "%u", i);
        w[i] = (struct store_write){.kind = WRITE_PUT, .key = fixture_key(1, ids[i]), .part = {SLICE("x")}};
        fixture_queue_on(f->worker, &w[i]);
    }
    fixture_await(f->worker, N);
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(w[i].rc, RC_OK);
        assert_true(w[i].revision > last);
        last = w[i].revision;
    }
    assert_int_equal(fixture_count(f, 1).records, N);
    assert_false(store_busy(f->worker));
}

/* ---- a call that drops a type if it has no records ---- */

static enum rc drop_if_empty(struct store_write *w, struct store_txn *txn, struct err *err)
{
    struct store_count c;
    const struct store_key other = {.space = SPACE_SUBJECT, .id = SLICE("s")};
    const struct record row = {.body = SLICE("row")};
    enum rc rc = txn_count(txn, w->key.type, &c, err);
    if (rc == RC_OK && c.records)
        return RC_CONFLICT;
    rc = rc == RC_OK ? txn_put(txn, &other, &row, err) : rc;
    rc = rc == RC_OK ? txn_type_drop(txn, w->key.id, w->key.type, err) : rc;
    if (rc == RC_OK && w->schema_id)
        return err_set(err, ERR_INTERNAL, "It fails all the same.");
    return rc;
}

STORE_TEST(store_write__a_call_drops_a_type_that_has_no_records)
{
    struct store_write w = {
        .kind = WRITE_CALL, .call = drop_if_empty, .opens_group = true, .key = {SPACE_TYPE, 2, SLICE("t2")}};
    struct store_write put = {.kind = WRITE_PUT, .key = fixture_key(2, "a"), .part = {SLICE("x")}};
    fixture_queue_on(f->worker, &put); /* in flight together: the call sees it */
    fixture_queue_on(f->worker, &w);
    fixture_await(f->worker, 2);
    assert_int_equal(put.rc, RC_OK);
    assert_int_equal(w.rc, RC_CONFLICT);
    fixture_assert_body(f, 2, "a", "x");
    assert_int_equal(fixture_delete(f, 2, "a"), RC_OK);
    w.schema_id = 1;
    assert_int_equal(fixture_write(f, &w), RC_ERR);
    assert_int_equal(fixture_put(f, 2, "a", "x"), RC_OK); /* a call that failed has dropped nothing */
    assert_int_equal(fixture_delete(f, 2, "a"), RC_OK);
    w.schema_id = 0;
    fixture_queue_on(f->worker, &w);
    fixture_queue_on(f->worker, &put);
    fixture_await(f->worker, 2);
    assert_int_equal(w.rc, RC_OK);
    assert_int_equal(put.rc, RC_NOTFOUND);
    assert_int_equal(fixture_write(f, &w), RC_NOTFOUND);
}

TEST_MAIN()
