/* tests/unit/storage/test_limits.c - types with a limit: what was least recently used goes, with all that hangs on it; touching
 * changes nothing else; random runs agree with a plain list. */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "tests/unit/storage/wrap.h"

#include "base/clock.h"
#include "storage/counts.h"
#include "storage/head.h"
#include "storage/keys.h"

static _Atomic int64_t shift_ms; /* of the wall clock */

int clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, id, t);
    if (rc == 0 && id == CLOCK_REALTIME) {
        int64_t ms = t->tv_sec * 1000 + t->tv_nsec / 1000000 + shift_ms;
        *t = (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    }
    return rc;
}

static void later_ms(int64_t ms)
{
    shift_ms += ms;
}

/* ---- operations ---- */

static uint8_t bytes[1200000];

static enum rc call_limit(struct store_write *w, struct store_txn *txn, struct err *err)
{
    return txn_limit(txn, w->key.type, w->revisions[0], err);
}

static void set_limit(struct fixture *f, uint32_t type, uint64_t bytes_max)
{
    struct store_write w = {
        .kind = WRITE_CALL, .call = call_limit, .key.type = type, .revisions = &bytes_max, .nrevisions = 1};
    assert_int_equal(fixture_write(f, &w), RC_OK);
}

/* At a time of its own. */
static struct store_write put(struct fixture *f, uint32_t type, const char *id, size_t n)
{
    struct store_write w = {.kind = WRITE_PUT, .key = fixture_key(type, id), .part = {slice_of(bytes, n)}};
    later_ms(1);
    fixture_write(f, &w);
    return w;
}

static struct record look(struct fixture *f, uint32_t type, const char *id)
{
    struct record rec;
    assert_int_equal(fixture_get(f, type, id, &rec), RC_OK);
    return rec;
}

/* As a reader does; false: it was not due. */
static bool touch(struct fixture *f, uint32_t type, const char *id)
{
    const struct store_key key = fixture_key(type, id);
    const struct record rec = look(f, type, id);
    store_turn_end(f->worker);
    store_touch(f->worker, &key, &rec);
    while (f->worker->waiting_touches) {
        struct pollfd p = {.fd = store_worker_fd(f->worker), .events = POLLIN};
        uint64_t rings;
        poll(&p, 1, -1);
        if (read(p.fd, &rings, sizeof rings) < 0)
            assert_int_equal(errno, EAGAIN);
        store_worker_run(f->worker);
    }
    return look(f, type, id).used_ms != rec.used_ms;
}

/* The bytes of all records, of which each must have its one row, and no row be of anything else. */
static struct store_count check(struct fixture *f, uint32_t type)
{
    struct snap *s;
    struct slice k, v;
    struct err err;
    struct key from;
    struct store_count found = {0}, count = fixture_count(f, type);
    assert_int_equal(f->ops->snap_new(f->store->engine, &s, &err), RC_OK);
    assert_int_equal(f->ops->snap_renew(s, &err), RC_OK);
    key_record_prefix(&from, type);
    enum rc rc = f->ops->seek(s, key_slice(&from), &k, &v, &err);
    for (; rc == RC_OK && get_be32(k.ptr) == type; rc = f->ops->next(s, &k, &v, &err)) {
        struct record rec;
        assert_true(head_verify(v));
        assert_true(head_decode(v, &rec));
        found.records++;
        found.bytes += rec.body_bytes;
        found.used += rec.used_ms != 0;
    }
    key_used_prefix(&from, type);
    unsigned rows = 0;
    rc = f->ops->seek(s, key_slice(&from), &k, &v, &err);
    for (; rc == RC_OK && get_be32(k.ptr) == type; rc = f->ops->next(s, &k, &v, &err), rows++) {
        struct record rec;
        struct slice value;
        struct key key;
        key_of(&key, &(struct store_key){SPACE_RECORD, type, slice_of(k.ptr + 10, k.len - 10)});
        assert_int_equal(f->ops->get(s, key_slice(&key), &value, &err), RC_OK);
        assert_true(head_decode(value, &rec));
        assert_true(rec.used_ms == (int64_t)get_be48(k.ptr + 4));
    }
    f->ops->snap_free(s);
    assert_int_equal(found.records, count.records);
    assert_int_equal(found.bytes, count.bytes);
    assert_int_equal(found.used, count.used);
    assert_int_equal(rows, count.used);
    return count;
}

static void await_bytes(struct fixture *f, uint32_t type, uint64_t most)
{
    while (store_turn_end(f->worker), fixture_count(f, type).bytes > most)
        poll(NULL, 0, 1);
    assert_int_equal(check(f, type).bytes_max, most);
}

/* ---- what goes ---- */

STORE_TEST(limit__what_was_least_recently_written_goes_first)
{
    set_limit(f, 1, 100);
    put(f, 1, "c", 40);
    put(f, 1, "a", 40);
    put(f, 1, "b", 40);
    await_bytes(f, 1, 100);
    fixture_assert_absent(f, 1, "c");
    put(f, 1, "a", 41); /* written again */
    put(f, 1, "d", 30);
    await_bytes(f, 1, 100);
    fixture_assert_absent(f, 1, "b");
    assert_int_equal(look(f, 1, "a").body_bytes, 41);
    assert_int_equal(fixture_count(f, 1).records, 2);
}

STORE_TEST(limit__what_was_read_stays_and_its_revision_and_times_too)
{
    set_limit(f, 1, 100);
    for (const char *const *id = (const char *const[]){"a", "b", "c", NULL}; *id; id++)
        put(f, 1, *id, 30);
    struct record before = look(f, 1, "a");
    later_ms(5000);
    assert_true(touch(f, 1, "a"));
    assert_false(touch(f, 1, "a")); /* just now */
    struct record after = look(f, 1, "a");
    assert_int_equal(after.revision, before.revision);
    assert_true(after.updated_ms == before.updated_ms && after.created_ms == before.created_ms);
    assert_true(after.used_ms - before.used_ms >= 5000);
    struct store_write w = put(f, 1, "d", 30);
    assert_int_equal(w.revision, before.revision + 3); /* nor did the store's move */
    await_bytes(f, 1, 100);
    fixture_assert_absent(f, 1, "b");
    look(f, 1, "a");
}

STORE_TEST(limit__a_touch_is_written_down_only_when_it_tells_something)
{
    set_limit(f, 1, 1000);
    put(f, 1, "a", 1);
    later_ms(900);
    assert_false(touch(f, 1, "a")); /* under a second */
    later_ms(200);
    assert_true(touch(f, 1, "a"));
    later_ms(160 * 60000);
    assert_true(touch(f, 1, "a"));
    later_ms(9 * 60000); /* under a 16th of its age */
    assert_false(touch(f, 1, "a"));
    later_ms(4 * 60000);
    assert_true(touch(f, 1, "a"));
    later_ms(INT64_C(365) * 86400000);
    assert_true(touch(f, 1, "a"));
    later_ms(3590000);
    assert_false(touch(f, 1, "a"));
    later_ms(20000); /* an hour is the most */
    assert_true(touch(f, 1, "a"));
    later_ms(-INT64_C(365) * 86400000); /* the clock was wrong */
    assert_true(touch(f, 1, "a"));
    struct store_stats stats;
    store_stats(f->store, &stats);
    assert_int_equal(stats.touched, 6);
    check(f, 1);
}

STORE_TEST(limit__all_that_hangs_on_a_record_goes)
{
    struct store_write w = {.kind = WRITE_PUT,
                            .key = fixture_key(1, "expires"),
                            .part = {slice_of(bytes, 9000)},
                            .expires_ms = INT64_C(1) << 47};
    set_limit(f, 1, 10000);
    assert_int_equal(fixture_write(f, &w), RC_OK);
    assert_int_equal(fixture_rows(f, DB_EXPIRY), 1);
    put(f, 1, "b", 9500);
    await_bytes(f, 1, 10000);
    assert_int_equal(fixture_rows(f, DB_EXPIRY), 0);
    assert_int_equal(fixture_rows(f, DB_TRASH), 1); /* the body, which may still be read */
    struct store_stats stats;
    do /* counted once it is seen */
        store_stats(f->store, &stats);
    while (!stats.evicted);
    assert_int_equal(stats.evicted, 1);
    assert_int_equal(put(f, 1, "c", 1).revision, w.revision + 3); /* b, the removal, c */
}

STORE_TEST(limit__rows_go_with_what_is_deleted_expires_or_is_dropped)
{
    set_limit(f, 1, 100000);
    set_limit(f, 2, 100000);
    for (unsigned i = 0; i < 500; i++) {
        char id[8];
        snprintf(id, sizeof id, "%u", i);
        put(f, 1 + i % 2, id, 10 + i % 3);
    }
    struct store_write expires = {
        .kind = WRITE_PUT, .key = fixture_key(1, "e"), .expires_ms = clock_wall_ms() + 50};
    assert_int_equal(fixture_write(f, &expires), RC_OK);
    assert_int_equal(fixture_delete(f, 1, "0"), RC_OK);
    later_ms(100);
    fixture_await_rows(f, DB_EXPIRY, 0);
    assert_int_equal(check(f, 1).records, 249);
    struct store_write range = {.kind = WRITE_RANGE_DELETE, .key = fixture_key(1, "1"), .upto = SLICE("5")};
    assert_int_equal(fixture_write(f, &range), RC_OK);
    assert_int_equal(check(f, 1).records, 249 - range.count);
    struct store_write drop = {.kind = WRITE_TYPE_DROP, .key = {SPACE_TYPE, 2, SLICE("t2")}};
    assert_int_equal(fixture_write(f, &drop), RC_OK);
    while (fixture_rows(f, DB_USED) != check(f, 1).used)
        poll(NULL, 0, 1);
}

/* ---- limits ---- */

STORE_TEST(limit__types_without_one_bear_no_trace)
{
    put(f, 1, "a", 10);
    set_limit(f, 2, 50);
    put(f, 1, "b", 10);
    assert_true(look(f, 1, "b").used_ms == 0);
    assert_false(touch(f, 1, "b"));
    assert_int_equal(fixture_rows(f, DB_USED), 0);
    struct store_count c = check(f, 1);
    assert_int_equal(c.bytes_max + c.used, 0);
}

STORE_TEST(limit__records_that_were_there_before_are_ranked_by_their_last_write)
{
    put(f, 1, "new", 4045); /* with its time of use no longer in one piece */
    put(f, 1, "old", 50);
    put(f, 1, "long", 9000);
    put(f, 1, "new", 4045);
    assert_int_equal(look(f, 1, "new").blob, 0);
    uint64_t revision = look(f, 1, "new").revision;
    set_limit(f, 1, 4045 + 9000);
    await_bytes(f, 1, 4045 + 9000);
    while (check(f, 1).used < 2)
        poll(NULL, 0, 1);
    fixture_assert_absent(f, 1, "old");
    struct record rec = look(f, 1, "new");
    assert_int_equal(rec.revision, revision);
    assert_true(rec.blob != 0);
    uint8_t *whole = fixture_whole(f, &rec);
    assert_memory_equal(whole, bytes, 4045);
    free(whole);
    assert_int_equal(look(f, 1, "long").body_bytes, 9000);
    set_limit(f, 1, 9000);
    await_bytes(f, 1, 9000);
    fixture_assert_absent(f, 1, "long");
}

STORE_TEST(limit__what_alone_is_more_is_refused)
{
    set_limit(f, 1, 1100000);
    struct store_write w = put(f, 1, "a", 1100001); /* a body that goes in with several groups */
    assert_int_equal(w.rc, RC_ERR);
    assert_int_equal(w.err.code, ERR_RECORD_TOO_LARGE);
    assert_int_equal(fixture_rows(f, DB_CHUNKS), 0); /* none of it did */
    assert_int_equal(put(f, 1, "a", 1100000).rc, RC_OK);
    set_limit(f, 2, 10);
    assert_int_equal(put(f, 2, "a", 11).err.code, ERR_RECORD_TOO_LARGE);
    assert_int_equal(put(f, 2, "a", 10).rc, RC_OK);
    check(f, 2);
}

STORE_TEST(limit__puts_are_refused_while_removal_cannot_keep_up)
{
    set_limit(f, 1, 100);
    put(f, 1, "a", 60);
    f->store->writer.decider.limits.list[0].ceiling = 90; /* as if it had been far above */
    struct store_write w = put(f, 1, "b", 31);
    assert_int_equal(w.rc, RC_ERR);
    assert_int_equal(w.err.code, ERR_QUEUE_FULL);
    assert_int_equal(put(f, 1, "a", 50).rc, RC_OK); /* less */
    assert_int_equal(put(f, 1, "b", 40).rc, RC_OK);
    check(f, 1);
}

STORE_TEST(limit__once_taken_away_writes_leave_no_trace)
{
    set_limit(f, 1, 100);
    put(f, 1, "a", 60);
    put(f, 1, "b", 10);
    set_limit(f, 1, 0);
    put(f, 1, "a", 160);
    struct store_count c = check(f, 1);
    assert_int_equal(c.bytes, 170);
    assert_int_equal(c.used, 1);
    put(f, 1, "b", 160);
    assert_int_equal(fixture_rows(f, DB_USED), 0);
    set_limit(f, 1, 200);
    await_bytes(f, 1, 200);
    fixture_assert_absent(f, 1, "a");
}

TEST(limit__is_known_when_the_store_is_opened_again)
{
    struct fixture f;
    fixture_open(&f, &engine_lmdb);
    set_limit(&f, 2, 100);
    put(&f, 2, "a", 60);
    fixture_close(&f);
    fixture_reopen(&f);
    put(&f, 2, "b", 60);
    await_bytes(&f, 2, 100);
    fixture_assert_absent(&f, 2, "a");
    fixture_end(&f);
}

/* ---- steps ---- */

static unsigned most_deleted;

static enum rc watch_deletes(const struct mutation *m, size_t n, struct err *err)
{
    unsigned deleted = 0;
    (void)err;
    for (size_t i = 0; i < n; i++)
        deleted += m[i].del;
    most_deleted = deleted > most_deleted ? deleted : most_deleted;
    return RC_OK;
}

TEST(limit__thousands_are_ranked_and_go_in_bounded_steps)
{
    struct fixture f;
    fixture_open(&f, wrap_engine(&engine_memory));
    for (unsigned i = 0; i < 5000; i++) {
        char id[8];
        snprintf(id, sizeof id, "%u", i);
        put(&f, 1, id, 10);
    }
    wrap_set_on_apply(watch_deletes);
    set_limit(&f, 1, 1000);
    await_bytes(&f, 1, 1000);
    assert_in_range(most_deleted, 200, 2 * LIMIT_EVICT_PAGES_MAX / 6 + 2);
    for (unsigned i = 4900; i < 5000; i++) { /* the newest hundred */
        char id[8];
        snprintf(id, sizeof id, "%u", i);
        look(&f, 1, id);
    }
    wrap_set_on_apply(NULL);
    fixture_end(&f);
}

/* ---- against a plain list ---- */

enum { IDS = 40, STEPS = 3000, MOST = 40000 };

static uint64_t random_state = 7;

static unsigned random_below(unsigned n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % n;
}

static struct {
    bool there;
    size_t bytes;
    int64_t used;
} plain[IDS];
static int64_t plain_clock;

static uint64_t plain_bytes(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < IDS; i++)
        sum += plain[i].there ? plain[i].bytes : 0;
    return sum;
}

static void plain_evict(void)
{
    while (plain_bytes() > MOST) {
        unsigned oldest = IDS;
        for (unsigned i = 0; i < IDS; i++)
            if (plain[i].there && (oldest == IDS || plain[i].used < plain[oldest].used))
                oldest = i;
        plain[oldest].there = false;
    }
}

static void random_step(struct fixture *f)
{
    unsigned i = random_below(IDS);
    char id[8];
    snprintf(id, sizeof id, "%u", i);
    later_ms(1001 + random_below(1000));
    switch (random_below(6)) {
    case 0:
        assert_int_equal(fixture_delete(f, 1, id), plain[i].there ? RC_OK : RC_NOTFOUND);
        plain[i].there = false;
        break;
    case 1:
    case 2:
        if (plain[i].there && touch(f, 1, id))
            plain[i].used = ++plain_clock;
        break;
    default:
        plain[i].there = true;
        plain[i].bytes = random_below(4) ? random_below(3000) : random_below(20000);
        plain[i].used = ++plain_clock;
        assert_int_equal(put(f, 1, id, plain[i].bytes).rc, RC_OK);
    }
    plain_evict();
}

static void random_run(struct fixture *f)
{
    memset(plain, 0, sizeof plain);
    set_limit(f, 1, MOST);
    for (unsigned step = 0; step < STEPS; step++) {
        random_step(f);
        while (store_turn_end(f->worker), fixture_count(f, 1).bytes > MOST)
            poll(NULL, 0, 1);
        assert_int_equal(fixture_count(f, 1).bytes, plain_bytes());
        if (step % 50)
            continue;
        check(f, 1);
        for (unsigned i = 0; i < IDS; i++) {
            char id[8];
            struct record rec;
            snprintf(id, sizeof id, "%u", i);
            assert_int_equal(fixture_get(f, 1, id, &rec), plain[i].there ? RC_OK : RC_NOTFOUND);
        }
    }
}

TEST(limit__random_runs_leave_what_a_plain_list_leaves)
{
    for (size_t i = 0; i < ARRAY_LEN(fixture_engines); i++) {
        struct fixture f;
        fixture_prepare(&f, fixture_engines[i]);
        f.opts.durability = DURABLE_NONE;
        fixture_open_prepared(&f);
        random_run(&f);
        fixture_end(&f);
    }
}

TEST_MAIN()
