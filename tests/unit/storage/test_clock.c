/* tests/unit/storage/test_clock.c - the operator sets the clock back and ahead under a running store. */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "tests/unit/storage/fixture.h"

#include "base/clock.h"

static _Atomic int64_t shift_s; /* of the wall clock */

int clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, id, t);
    if (rc == 0 && id == CLOCK_REALTIME)
        t->tv_sec += shift_s;
    return rc;
}

static uint8_t large[30000];

static uint64_t put(struct fixture *f, const char *id, struct slice body, int64_t expires_ms)
{
    struct store_write w = {
        .kind = WRITE_PUT, .key = fixture_key(1, id), .part = {body}, .expires_ms = expires_ms};
    assert_int_equal(fixture_write(f, &w), RC_OK);
    return w.revision;
}

static struct record look(struct fixture *f, const char *id)
{
    struct record rec;
    assert_int_equal(fixture_get(f, 1, id, &rec), RC_OK);
    return rec;
}

STORE_TEST(store__goes_on_when_the_clock_is_set_back_and_ahead)
{
    shift_s = 0;
    int64_t now = clock_wall_ms();
    uint64_t first = put(f, "a", SLICE("x"), now + 3600000);
    int64_t created = look(f, "a").created_ms;
    shift_s = -86400;
    uint64_t second = put(f, "a", SLICE("y"), 0), third = put(f, "b", SLICE("z"), now + 1000);
    assert_true(first < second && second < third); /* revisions know no clock */
    assert_true(look(f, "a").created_ms == created);
    assert_true(look(f, "a").updated_ms < created);
    fixture_assert_body(f, 1, "a", "y");
    fixture_assert_body(f, 1, "b", "z");
    shift_s = 86400; /* what is past its time is hidden at once */
    fixture_assert_absent(f, 1, "b");
    fixture_assert_body(f, 1, "a", "y");
    shift_s = 0;
}

TEST(purge__of_dead_bodies_goes_by_a_clock_that_is_never_set)
{
    struct fixture f;
    shift_s = 0;
    fixture_prepare(&f, &engine_lmdb);
    f.opts.blob_keep_ms = 1;
    fixture_open_prepared(&f);
    for (int64_t day = -1; day <= 1; day++) {
        put(&f, "a", slice_of(large, sizeof large), 0);
        shift_s = day * 86400;
        put(&f, "a", SLICE("x"), 0);
        fixture_await_rows(&f, DB_CHUNKS, 0);
    }
    f.opts.blob_keep_ms = 0;
    fixture_close(&f);
    fixture_reopen(&f);
    put(&f, "a", slice_of(large, sizeof large), 0);
    put(&f, "a", SLICE("x"), 0);
    fixture_close(&f);
    shift_s = -86400; /* opened a day before it died */
    fixture_reopen(&f);
    fixture_await_rows(&f, DB_CHUNKS, 0);
    fixture_end(&f);
    shift_s = 0;
}

TEST_MAIN()
