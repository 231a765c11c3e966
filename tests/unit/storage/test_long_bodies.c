/* tests/unit/storage/test_long_bodies.c - bodies that go in with several groups: others are served between, a lane
 * keeps its order, and whatever ends one midway leaves nothing of it behind. */
#include <semaphore.h>
#include <sys/wait.h>

#include "tests/unit/storage/wrap.h"

enum { STEP = LIMIT_LAY_CHUNKS_MAX, STEP_BYTES = STEP * LIMIT_CHUNK_BYTES, LONG = 4 * STEP_BYTES + 1 };

static uint8_t bytes[LIMIT_RECORD_MAX + 64]; /* bodies are slices of it */
static const char lanes[4];                  /* a lane is any address */

__attribute__((constructor)) static void fill_bytes(void)
{
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)((i * 2654435761U) >> 13);
}

/* What is applied, as the writer's thread sees it; `stop` holds it back at that step of a long body. */
static struct {
    unsigned steps, most_chunks, stop, fail_at;
    enum err_code code;
    bool die;
    sem_t stopped, go;
} seen;

static unsigned chunks_put(const struct mutation *m, size_t n)
{
    unsigned chunks = 0;
    for (size_t i = 0; i < n; i++) {
        chunks += m[i].key.ptr[0] == DB_CHUNKS && !m[i].del;
        assert_true(i == 0 || slice_cmp(m[i - 1].key, m[i].key) < 0);
    }
    return chunks;
}

static enum rc see(const struct mutation *m, size_t n, struct err *err)
{
    unsigned chunks = chunks_put(m, n);
    if (chunks > seen.most_chunks)
        seen.most_chunks = chunks;
    if (chunks < STEP)
        return RC_OK;
    seen.steps++;
    if (seen.die && seen.steps == seen.stop)
        _exit(7);
    if (seen.steps == seen.stop) {
        sem_post(&seen.stopped);
        sem_wait(&seen.go);
    }
    return seen.steps == seen.fail_at ? err_set(err, seen.code, "Not this one.") : RC_OK;
}

static void watch(unsigned stop)
{
    wrap_set_on_apply(NULL);
    memset(&seen, 0, sizeof seen);
    seen.stop = stop;
    sem_init(&seen.stopped, 0, 0);
    sem_init(&seen.go, 0, 0);
    wrap_set_on_apply(see);
}

static struct store_write put_of(const char *id, size_t from, size_t len, unsigned lane)
{
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, id), .schema_id = 1, .lane = &lanes[lane]};
    size_t third = len / 3;
    w.part[0] = slice_of(bytes + from, third);
    w.part[1] = slice_of(bytes + from + third, third);
    w.part[2] = slice_of(bytes + from + 2 * third, len - 2 * third);
    return w;
}

static void assert_holds(struct fixture *f, const char *id, size_t from, size_t len)
{
    struct record rec;
    assert_int_equal(fixture_get(f, 1, id, &rec), RC_OK);
    assert_int_equal(rec.body_bytes, len);
    uint8_t *whole = fixture_whole(f, &rec);
    assert_memory_equal(whole, bytes + from, len);
    free(whole);
}

static unsigned chunks_for(size_t len)
{
    return (unsigned)((len + LIMIT_CHUNK_BYTES - 1) / LIMIT_CHUNK_BYTES);
}

/* Queue a long put and return while a step of it is about to be applied. */
static void begin_long(struct fixture *f, struct store_write *w, unsigned stop)
{
    watch(stop);
    fixture_queue_on(f->worker, w);
    sem_wait(&seen.stopped);
}

static void go_on(struct fixture *f, unsigned writes)
{
    sem_post(&seen.go);
    fixture_await(f->worker, writes);
}

#define LONG_TEST(name)                                                                                      \
    static void name##_on(struct fixture *);                                                                 \
    TEST(name)                                                                                               \
    {                                                                                                        \
        for (size_t i = 0; i < ARRAY_LEN(fixture_engines); i++) {                                            \
            struct fixture f;                                                                                \
            fixture_open(&f, wrap_engine(fixture_engines[i]));                                               \
            name##_on(&f);                                                                                   \
            wrap_set_on_apply(NULL);                                                                         \
            fixture_end(&f);                                                                                 \
        }                                                                                                    \
    }                                                                                                        \
    static void name##_on(struct fixture *f)

/* ---- beside others ---- */

LONG_TEST(long_body__no_group_carries_more_than_its_share_and_the_body_is_whole)
{
    static const size_t lens[] = {STEP_BYTES, STEP_BYTES + 1, 2 * STEP_BYTES, 2 * STEP_BYTES + 1, 16 << 20};
    for (size_t i = 0; i < ARRAY_LEN(lens); i++) {
        struct store_write w = put_of("a", i, lens[i], 0);
        watch(0);
        assert_int_equal(fixture_write(f, &w), RC_OK);
        assert_int_equal(w.created, i == 0);
        assert_int_equal(seen.most_chunks, STEP);
        assert_holds(f, "a", i, lens[i]);
        assert_int_equal(fixture_count(f, 1).records, 1);
        assert_int_equal(fixture_count(f, 1).bytes, lens[i]);
        assert_int_equal(fixture_rows(f, DB_TRASH), i); /* those before it */
    }
}

LONG_TEST(long_body__writes_of_other_lanes_are_done_between_its_steps)
{
    struct store_write w = put_of("a", 0, LONG, 0), small = put_of("b", 1, 100, 1),
                       large = put_of("c", 2, 9000, 2);
    begin_long(f, &w, 2);
    fixture_queue_on(f->worker, &small);
    fixture_queue_on(f->worker, &large);
    go_on(f, 3);
    assert_int_equal(small.rc, RC_OK);
    assert_int_equal(w.rc, RC_OK);
    assert_true(small.revision < w.revision && large.revision < w.revision);
    assert_holds(f, "a", 0, LONG);
    assert_holds(f, "c", 2, 9000);
    assert_int_equal(fixture_rows(f, DB_TRASH), 0);
    assert_int_equal(fixture_rows(f, DB_CHUNKS), chunks_for(LONG) + chunks_for(9000));
}

LONG_TEST(long_body__nobody_sees_it_before_it_is_whole)
{
    struct store_write w = put_of("a", 0, LONG, 0);
    begin_long(f, &w, 3);
    fixture_assert_absent(f, 1, "a");
    assert_int_equal(fixture_count(f, 1).bytes, 0);
    go_on(f, 1);
    assert_holds(f, "a", 0, LONG);
}

/* ---- order ---- */

LONG_TEST(long_body__what_is_behind_it_in_its_lane_stays_behind_it)
{
    enum { N = 12 };
    struct store_write w[N], other = put_of("z", 0, 10, 1);
    w[0] = put_of("a", 0, LONG, 0);
    begin_long(f, &w[0], 2);
    for (unsigned i = 1; i < N; i++) {
        w[i] = put_of(i % 2 ? "a" : "b", i, i % 4 == 3 ? LONG : i * 1000, 0);
        fixture_queue_on(f->worker, &w[i]);
    }
    w[5].kind = WRITE_DELETE;
    fixture_queue_on(f->worker, &other);
    go_on(f, N + 1);
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(w[i].rc, RC_OK);
        assert_true(i == 0 || w[i].revision > w[i - 1].revision);
    }
    assert_true(other.revision < w[0].revision);
    assert_holds(f, "a", 11, LONG);
    assert_holds(f, "b", 10, 10000);
}

LONG_TEST(long_body__two_of_one_key_are_two_puts)
{
    struct store_write a = put_of("a", 0, LONG, 0), b = put_of("a", 1, LONG + 5000, 1);
    begin_long(f, &a, 1);
    fixture_queue_on(f->worker, &b);
    go_on(f, 2);
    assert_true(a.created && !b.created && a.revision < b.revision);
    assert_holds(f, "a", 1, LONG + 5000);
    assert_int_equal(fixture_rows(f, DB_TRASH), 1); /* the first, which may be read */
    assert_int_equal(fixture_rows(f, DB_CHUNKS), chunks_for(LONG) + chunks_for(LONG + 5000));
    assert_int_equal(fixture_count(f, 1).bytes, LONG + 5000);
}

LONG_TEST(long_body__replaced_in_the_group_that_decides_it_leaves_only_what_was_laid_down)
{
    struct store_write a = put_of("a", 0, LONG - 1, 0), b = put_of("a", 1, 100, 1);
    begin_long(f, &a, 3); /* the next group is the put's own */
    fixture_queue_on(f->worker, &b);
    go_on(f, 2);
    assert_true(a.rc == RC_OK && b.rc == RC_OK && a.created && !b.created);
    assert_holds(f, "a", 1, 100);
    assert_int_equal(fixture_count(f, 1).records, 1);
    assert_int_equal(fixture_rows(f, DB_TRASH), 1);
    assert_int_equal(fixture_rows(f, DB_CHUNKS), 3 * STEP);
}

LONG_TEST(long_body__a_record_deleted_meanwhile_is_created_again)
{
    struct store_write old = put_of("a", 3, 9000, 0), w = put_of("a", 0, LONG, 0),
                       gone = {.kind = WRITE_DELETE, .key = fixture_key(1, "a"), .lane = &lanes[1]};
    assert_int_equal(fixture_write(f, &old), RC_OK);
    begin_long(f, &w, 2);
    fixture_queue_on(f->worker, &gone);
    go_on(f, 2);
    assert_int_equal(gone.rc, RC_OK);
    assert_true(w.rc == RC_OK && w.created);
    assert_holds(f, "a", 0, LONG);
    assert_int_equal(fixture_count(f, 1).records, 1);
}

/* ---- ended midway ---- */

static void assert_nothing_left(struct fixture *f, unsigned trash, unsigned chunks)
{
    fixture_await_rows(f, DB_TRASH, trash);
    assert_int_equal(fixture_rows(f, DB_CHUNKS), chunks);
}

LONG_TEST(long_body__whose_condition_fails_in_the_end_leaves_nothing)
{
    struct store_write w = put_of("a", 0, LONG, 0), first = put_of("a", 1, 100, 1);
    w.cond = COND_ABSENT;
    begin_long(f, &w, 2);
    fixture_queue_on(f->worker, &first);
    go_on(f, 2);
    assert_int_equal(w.rc, RC_CONFLICT);
    assert_int_equal(w.revision, first.revision);
    assert_holds(f, "a", 1, 100);
    assert_nothing_left(f, 0, 0);
}

LONG_TEST(long_body__whose_condition_fails_at_once_is_not_laid_down)
{
    struct store_write w = put_of("a", 0, LONG, 0), none = put_of("a", 0, LONG, 0);
    w.cond = COND_PRESENT;
    none.key.type = FIXTURE_TYPES + 1;
    watch(0);
    assert_int_equal(fixture_write(f, &w), RC_CONFLICT);
    assert_int_equal(fixture_write(f, &none), RC_NOTFOUND);
    assert_int_equal(seen.steps, 0);
    assert_int_equal(fixture_rows(f, DB_TRASH), 0);
}

LONG_TEST(long_body__whose_type_is_dropped_meanwhile_leaves_nothing)
{
    struct store_write w = put_of("a", 0, LONG, 0), drop = {.kind = WRITE_TYPE_DROP,
                                                            .key = {SPACE_TYPE, 1, SLICE("t1")},
                                                            .lane = &lanes[1]};
    begin_long(f, &w, 2);
    fixture_queue_on(f->worker, &drop);
    go_on(f, 2);
    assert_int_equal(drop.rc, RC_OK);
    assert_int_equal(w.rc, RC_NOTFOUND);
    assert_nothing_left(f, 1, 0); /* the dead number */
}

LONG_TEST(long_body__for_which_there_is_no_room_or_memory_at_any_step_leaves_nothing)
{
    static const enum err_code codes[] = {ERR_NO_SPACE, ERR_NO_MEMORY};
    struct store_write old = put_of("a", 3, 9000, 0);
    assert_int_equal(fixture_write(f, &old), RC_OK);
    for (unsigned i = 0; i < 10; i++) {
        struct store_write w = put_of("a", 0, LONG - 1, 0), behind = put_of("b", 1, 50, 0);
        watch(0);
        seen.fail_at = i / 2 + 1; /* the last one is the put's own group */
        seen.code = codes[i % 2];
        fixture_queue_on(f->worker, &w);
        fixture_queue_on(f->worker, &behind);
        fixture_await(f->worker, 2);
        if (seen.fail_at <= 4) {
            assert_int_equal(w.rc, RC_ERR);
            assert_int_equal(w.err.code, codes[i % 2]);
            assert_true(w.revision == 0 && !w.created);
            assert_holds(f, "a", 3, 9000);
            assert_nothing_left(f, 0, chunks_for(9000));
        } else {
            assert_int_equal(w.rc, RC_OK);
        }
        assert_int_equal(behind.rc, RC_OK);
    }
    assert_holds(f, "a", 0, LONG - 1);
}

TEST(long_body__a_process_that_dies_amid_it_leaves_what_the_next_one_removes)
{
    for (unsigned nth = 1; nth <= 5; nth++) {
        struct fixture f;
        struct store_space before, after;
        int status;
        fixture_open(&f, wrap_engine(&engine_lmdb));
        struct store_write old = put_of("a", 3, 9000, 0);
        assert_int_equal(fixture_write(&f, &old), RC_OK);
        store_space(f.store, &before);
        fixture_close(&f);
        fflush(NULL);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            struct store_write w = put_of("a", 0, LONG + STEP_BYTES, 0);
            fixture_reopen(&f);
            watch(nth);
            seen.die = true;
            fixture_queue_on(f.worker, &w);
            fixture_await(f.worker, 1);
            _exit(1);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 7);
        fixture_reopen(&f);
        assert_nothing_left(&f, 0, chunks_for(9000));
        assert_holds(&f, "a", 3, 9000);
        assert_int_equal(fixture_count(&f, 1).bytes, 9000);
        assert_int_equal(fixture_put(&f, 1, "b", "x"), RC_OK);
        store_space(f.store, &after);
        assert_true(after.used <= before.used + (16 << 12));
        fixture_end(&f);
    }
}

TEST(long_body__store_close_finishes_those_that_are_queued_and_what_waits_behind_them)
{
    struct fixture f;
    struct store_write w[6];
    fixture_open(&f, wrap_engine(&engine_lmdb));
    w[0] = put_of("0", 0, LONG, 0);
    begin_long(&f, &w[0], 1);
    for (unsigned i = 1; i < 6; i++) {
        static const char *const ids[] = {"0", "1", "2", "3", "4", "5"};
        w[i] = put_of(ids[i], i, i % 2 ? 100 : LONG, i == 4);
        fixture_queue_on(f.worker, &w[i]);
    }
    sem_post(&seen.go);
    store_turn_end(f.worker);
    store_close(f.store);
    fixture_reopen(&f);
    assert_holds(&f, "0", 0, LONG);
    assert_holds(&f, "1", 1, 100);
    assert_holds(&f, "2", 2, LONG);
    assert_holds(&f, "4", 4, LONG);
    assert_holds(&f, "5", 5, 100);
    assert_int_equal(fixture_rows(&f, DB_TRASH), 0);
    fixture_end(&f);
}

/* ---- beside the purge ---- */

/* Bodies with newer numbers die and are removed beside each of its steps. */
TEST(long_body__the_purge_leaves_alone_what_is_laid_down)
{
    enum { STEPS = 8 };
    for (size_t e = 0; e < ARRAY_LEN(fixture_engines); e++) {
        struct fixture f;
        fixture_prepare(&f, wrap_engine(fixture_engines[e]));
        f.opts.blob_keep_ms = 1;
        f.opts.durability = DURABLE_NONE;
        fixture_open_prepared(&f);
        struct store_write w = put_of("a", 0, STEPS * STEP_BYTES + 1, 0), x[STEPS];
        begin_long(&f, &w, 1);
        for (unsigned i = 0; i < STEPS; i++) {
            x[i] = put_of("x", i, 9000 + i, 1);
            fixture_queue_on(f.worker, &x[i]);
            poll(NULL, 0, 2); /* the one before is dead for long enough */
            seen.stop++;
            sem_post(&seen.go);
            if (i + 1 < STEPS)
                sem_wait(&seen.stopped);
        }
        fixture_await(f.worker, STEPS + 1);
        assert_int_equal(w.rc, RC_OK);
        fixture_await_rows(&f, DB_TRASH, 0);
        assert_holds(&f, "a", 0, STEPS * STEP_BYTES + 1);
        assert_int_equal(fixture_rows(&f, DB_CHUNKS), STEPS * STEP + 1 + chunks_for(9000 + STEPS - 1));
        wrap_set_on_apply(NULL);
        fixture_end(&f);
    }
}

static struct store_write drop_of(uint32_t type, const char *name, unsigned lane)
{
    return (struct store_write){
        .kind = WRITE_TYPE_DROP, .key = {SPACE_TYPE, type, slice_str(name)}, .lane = &lanes[lane]};
}

/* A type's drop is applied by itself: behind the step, and ahead of the purge that came with both. */
LONG_TEST(long_body__the_purge_leaves_alone_what_a_part_of_its_group_has_laid_down)
{
    struct store_write a = put_of("a", 0, 2 * STEP_BYTES, 0), b = put_of("b", 1, LONG, 1),
                       first = drop_of(3, "t3", 2), second = drop_of(2, "t2", 2);
    begin_long(f, &a, 1);
    fixture_queue_on(f->worker, &b);
    fixture_queue_on(f->worker, &first); /* calls the purge */
    seen.stop++;
    sem_post(&seen.go);
    sem_wait(&seen.stopped);
    fixture_queue_on(f->worker, &second);
    go_on(f, 4);
    assert_true(a.rc == RC_OK && b.rc == RC_OK && first.rc == RC_OK && second.rc == RC_OK);
    fixture_await_rows(f, DB_TRASH, 1); /* the dead numbers */
    assert_holds(f, "a", 0, 2 * STEP_BYTES);
    assert_holds(f, "b", 1, LONG);
}

TEST_MAIN()
