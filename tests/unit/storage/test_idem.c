/* tests/unit/storage/test_idem.c - idempotency keys: a repeat of any kind of write gets the first outcome and writes nothing, whenever it
 * comes; another request under the key is refused; what fails is not remembered; what is remembered goes when its time is over. */
#include "tests/unit/storage/wrap.h"

#include "base/clock.h"

enum { HOUR_S = 3600 };

static struct store_idem idem_of(uint8_t key, uint8_t request)
{
    struct store_idem idem = {.ttl_s = HOUR_S};
    memset(idem.key, key, sizeof idem.key);
    memset(idem.request, request, sizeof idem.request);
    return idem;
}

static uint64_t next_revision(struct fixture *f)
{
    struct store_write w = {.kind = WRITE_PUT, .key = fixture_key(4, "revision"), .part = {SLICE("x")}};
    assert_int_equal(fixture_write(f, &w), RC_OK);
    return w.revision;
}

/* The write, then once more: nothing happens, and the outcome is the same. */
static void assert_done_once(struct fixture *f, struct store_write w)
{
    struct store_write again = w;
    struct store_idem other = *w.idem;
    again.idem = &other;
    if (fixture_write(f, &w) != RC_OK)
        fail_msg("%s", w.err.message);
    assert_false(w.replayed);
    uint64_t before = next_revision(f);
    if (fixture_write(f, &again) != RC_OK)
        fail_msg("%s", again.err.message);
    assert_true(again.replayed);
    assert_int_equal(again.revision, w.revision);
    assert_int_equal(again.count, w.count);
    assert_int_equal(again.created, w.created);
    assert_int_equal(next_revision(f), before + 1);
}

static enum rc edit_with_note(struct store_write *w, const struct record *old, struct record *fresh,
                              struct err *err)
{
    (void)err;
    assert_non_null(old);
    fresh->body = SLICE("edited");
    w->idem->note = SLICE("by the edit");
    return RC_OK;
}

static enum rc call_two(struct store_write *w, struct store_txn *txn, struct err *err)
{
    const struct store_key a = fixture_key(1, "c1"), b = fixture_key(2, "c2");
    const struct record rec = {.body = SLICE("called")};
    w->idem->note = SLICE("by the call");
    return txn_put(txn, &a, &rec, err) == RC_OK ? txn_put(txn, &b, &rec, err) : RC_ERR;
}

STORE_TEST(idem__a_repeat_of_any_kind_gets_the_first_outcome)
{
    struct store_idem idem[6];
    for (uint8_t i = 0; i < 6; i++)
        idem[i] = idem_of(i, 7);
    assert_done_once(f, (struct store_write){.kind = WRITE_PUT,
                                             .key = fixture_key(1, "a"),
                                             .cond = COND_ABSENT, /* it would fail if it were done again */
                                             .part = {SLICE("x")},
                                             .idem = &idem[0]});
    assert_done_once(
        f, (struct store_write){
               .kind = WRITE_EDIT, .key = fixture_key(1, "a"), .edit = edit_with_note, .idem = &idem[1]});
    fixture_assert_body(f, 1, "a", "edited");
    assert_done_once(
        f, (struct store_write){.kind = WRITE_DELETE, .key = fixture_key(1, "a"), .idem = &idem[2]});
    assert_done_once(f, (struct store_write){.kind = WRITE_CALL, .call = call_two, .idem = &idem[3]});
    assert_int_equal(fixture_put(f, 1, "p1", "x"), RC_OK);
    assert_done_once(
        f, (struct store_write){.kind = WRITE_RANGE_DELETE, .key = fixture_key(1, "p"), .idem = &idem[4]});
    assert_done_once(f, (struct store_write){.kind = WRITE_TYPE_DROP,
                                             .key = {.space = SPACE_TYPE, .type = 2, .id = SLICE("t2")},
                                             .idem = &idem[5]});
    assert_int_equal(fixture_rows(f, DB_IDEM), 6);
    assert_int_equal(fixture_rows(f, DB_EXPIRY), 6);
}

STORE_TEST(idem__a_note_comes_back)
{
    struct store_idem idem = idem_of(1, 1), again = idem_of(1, 1);
    struct store_write w = {
        .kind = WRITE_EDIT, .key = fixture_key(1, "a"), .edit = edit_with_note, .idem = &idem};
    uint8_t longest[STORE_NOTE_MAX];
    assert_int_equal(fixture_put(f, 1, "a", "x"), RC_OK);
    assert_int_equal(fixture_write(f, &w), RC_OK);
    w.idem = &again;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_slice_str(slice_of(again.first, again.first_len), "by the edit");
    memset(longest, 'n', sizeof longest);
    idem = idem_of(2, 1);
    again = idem_of(2, 1);
    idem.note = slice_of(longest, sizeof longest);
    w = (struct store_write){.kind = WRITE_PUT, .key = fixture_key(1, "b"), .idem = &idem};
    assert_int_equal(fixture_write(f, &w), RC_OK);
    w.idem = &again;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(again.first_len, sizeof longest);
    assert_memory_equal(again.first, longest, sizeof longest);
}

STORE_TEST(idem__another_request_under_the_key_is_refused)
{
    struct store_idem first = idem_of(1, 1), other = idem_of(1, 2), mine = idem_of(2, 2);
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {SLICE("x")}, .idem = &first};
    assert_int_equal(fixture_write(f, &w), RC_OK);
    w = (struct store_write){
        .kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {SLICE("y")}, .idem = &other};
    assert_int_equal(fixture_write(f, &w), RC_ERR);
    assert_int_equal(w.err.code, ERR_IDEMPOTENCY_MISMATCH);
    fixture_assert_body(f, 1, "a", "x");
    w.idem = &mine;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    fixture_assert_body(f, 1, "a", "y");
}

STORE_TEST(idem__what_fails_is_not_remembered)
{
    struct store_idem idem = idem_of(1, 1);
    struct store_write w = {.kind = WRITE_PUT,
                            .cond = COND_PRESENT,
                            .key = fixture_key(1, "a"),
                            .part = {SLICE("y")},
                            .idem = &idem};
    assert_int_equal(fixture_write(f, &w), RC_CONFLICT);
    assert_int_equal(fixture_rows(f, DB_IDEM), 0);
    assert_int_equal(fixture_put(f, 1, "a", "x"), RC_OK);
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_false(w.replayed);
    fixture_assert_body(f, 1, "a", "y");
}

STORE_TEST(idem__repeats_in_one_group_are_done_once)
{
    enum { N = 20 };
    static struct store_idem idem[N];
    static struct store_write w[N];
    unsigned replayed = 0;
    for (unsigned i = 0; i < N; i++) {
        idem[i] = idem_of(1, 1);
        w[i] = (struct store_write){
            .kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {SLICE("x")}, .idem = &idem[i]};
        fixture_queue_on(f->worker, &w[i]);
    }
    fixture_await(f->worker, N);
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(w[i].rc, RC_OK);
        assert_int_equal(w[i].revision, w[0].revision);
        assert_true(w[i].created);
        replayed += w[i].replayed;
    }
    assert_int_equal(replayed, N - 1);
    assert_int_equal(fixture_rows(f, DB_IDEM), 1);
}

TEST(idem__outlives_a_restart)
{
    struct fixture f;
    struct store_idem idem = idem_of(1, 1);
    fixture_open(&f, &engine_lmdb);
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {SLICE("x")}, .idem = &idem};
    assert_int_equal(fixture_write(&f, &w), RC_OK);
    uint64_t revision = w.revision;
    fixture_close(&f);
    fixture_reopen(&f);
    assert_int_equal(fixture_delete(&f, 1, "a"), RC_OK);
    assert_int_equal(fixture_write(&f, &w), RC_OK);
    assert_true(w.replayed && w.created);
    assert_int_equal(w.revision, revision);
    fixture_assert_absent(&f, 1, "a");
    fixture_end(&f);
}

STORE_TEST(idem__goes_when_its_time_is_over)
{
    struct store_idem idem = idem_of(1, 1), kept = idem_of(2, 1);
    idem.ttl_s = 1;
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {SLICE("x")}, .idem = &kept};
    assert_int_equal(fixture_write(f, &w), RC_OK);
    w.idem = &idem;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    uint64_t revision = w.revision;
    fixture_await_rows(f, DB_EXPIRY, 1);
    assert_int_equal(fixture_rows(f, DB_IDEM), 1);
    assert_int_equal(fixture_count(f, 1).records, 1);
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_false(w.replayed);
    assert_int_equal(w.revision, revision + 1); /* its going takes none */
}

TEST(idem__past_its_time_is_as_if_it_were_not)
{
    struct fixture f;
    struct store_idem idem = idem_of(1, 1), other = idem_of(1, 2);
    fixture_prepare(&f, &engine_memory);
    f.opts.keep_expired = true;
    fixture_open_prepared(&f);
    idem.ttl_s = 1;
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {SLICE("x")}, .idem = &idem};
    assert_int_equal(fixture_write(&f, &w), RC_OK);
    w.idem = &other;
    while (fixture_write(&f, &w) == RC_ERR)
        assert_int_equal(w.err.code, ERR_IDEMPOTENCY_MISMATCH);
    assert_false(w.replayed);
    assert_int_equal(fixture_rows(&f, DB_IDEM), 1);
    assert_int_equal(fixture_rows(&f, DB_EXPIRY), 1); /* the new one's alone */
    fixture_end(&f);
}

STORE_TEST(idem__of_a_long_body_lays_nothing_down_twice)
{
    static uint8_t large[3 * LIMIT_LAY_CHUNKS_MAX * LIMIT_CHUNK_BYTES];
    struct store_idem idem = idem_of(1, 1), again = idem_of(1, 1);
    struct store_write w = {.kind = WRITE_PUT,
                            .key = fixture_key(1, "a"),
                            .part = {slice_of(large, sizeof large)},
                            .idem = &idem};
    struct store_write second = w;
    second.idem = &again;
    second.lane = &again; /* another connection's */
    fixture_queue_on(f->worker, &w);
    fixture_queue_on(f->worker, &second); /* while the first is laid down */
    fixture_await(f->worker, 2);
    assert_int_equal(w.rc, RC_OK);
    assert_int_equal(second.rc, RC_OK);
    assert_true(second.replayed != w.replayed);
    assert_int_equal(second.revision, w.revision);
    again = idem_of(1, 1);
    assert_int_equal(fixture_write(f, &second), RC_OK);
    assert_true(second.replayed);
    fixture_await_rows(f, DB_TRASH, 0);
    assert_int_equal(fixture_rows(f, DB_CHUNKS), chunks_of(sizeof large));
    assert_int_equal(fixture_count(f, 1).bytes, sizeof large);
}

STORE_TEST(idem__of_a_range_is_of_the_whole)
{
    struct store_idem idem = idem_of(1, 1);
    struct store_write w = {.kind = WRITE_RANGE_DELETE, .key = fixture_key(1, "p"), .idem = &idem};
    uint8_t at[LIMIT_ID_MAX];
    for (unsigned i = 0; i <= LIMIT_RANGE_KEYS_MAX; i++) {
        char id[16];
        snprintf(id, sizeof id, "p%05u", i);
        assert_int_equal(fixture_put(f, 1, id, "x"), RC_OK);
    }
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(fixture_rows(f, DB_IDEM), 0);
    memcpy(at, w.resume, w.resume_len);
    w.key.id = slice_of(at, w.resume_len);
    w.count_before = w.count;
    w.revision_before = w.revision;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(w.count, 1);
    uint64_t revision = w.revision;
    w.key = fixture_key(1, "p");
    w.count_before = 0;
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_true(w.replayed && !w.resume_len);
    assert_int_equal(w.count, LIMIT_RANGE_KEYS_MAX + 1);
    assert_int_equal(w.revision, revision);
}

TEST_MAIN()
