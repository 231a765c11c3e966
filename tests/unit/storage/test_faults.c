/* tests/unit/storage/test_faults.c - the n-th disk call and the n-th allocation of the writer fail, for every
 * n: what was answered is there, what was refused is not, and the store says when it is broken. The calls are
 * those of this program and of LMDB, which come here first because the linker finds these
 * definitions first. */
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "tests/unit/storage/fixture.h"

enum fault { FAULT_NONE, FAULT_WRITE, FAULT_SHORT_WRITE, FAULT_SYNC, FAULT_ALLOCATE, FAULT_MEMORY };

static _Atomic int fault_kind, fault_error;
static _Atomic int fault_countdown; /* the call that makes it 0 fails */
static _Atomic bool fault_always;   /* and all calls behind it */
static _Atomic bool fault_hit;
static _Atomic pthread_t fault_thread; /* of FAULT_MEMORY */

static bool fails(enum fault kind)
{
    if (atomic_load(&fault_kind) != (int)kind)
        return false;
    int countdown = atomic_fetch_sub(&fault_countdown, 1);
    if (countdown > 1 || (countdown < 1 && !atomic_load(&fault_always)))
        return false;
    atomic_store(&fault_hit, true);
    errno = atomic_load(&fault_error);
    return true;
}

static void arm(enum fault kind, int error, int nth)
{
    atomic_store(&fault_hit, false);
    atomic_store(&fault_error, error);
    atomic_store(&fault_countdown, nth);
    atomic_store(&fault_kind, kind);
}

static bool disarm(void)
{
    atomic_store(&fault_kind, FAULT_NONE);
    return atomic_load(&fault_hit);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset)
{
    if (fails(FAULT_WRITE))
        return -1;
    if (fails(FAULT_SHORT_WRITE))
        n /= 2;
    return syscall(SYS_pwrite64, fd, buf, n, offset);
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
    if (fails(FAULT_WRITE))
        return -1;
    if (fails(FAULT_SHORT_WRITE))
        n = 1;
    return syscall(SYS_writev, fd, v, n);
}

int fdatasync(int fd)
{
    return fails(FAULT_SYNC) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int fallocate(int fd, int mode, off_t offset, off_t len)
{
    return fails(FAULT_ALLOCATE) ? -1 : (int)syscall(SYS_fallocate, fd, mode, offset, len);
}

#ifndef SANITIZED
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static bool memory_fails(void)
{
    return atomic_load(&fault_kind) == FAULT_MEMORY &&
           pthread_equal(pthread_self(), atomic_load(&fault_thread)) && fails(FAULT_MEMORY);
}

void *malloc(size_t n)
{
    return memory_fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t m)
{
    return memory_fails() ? NULL : __libc_calloc(n, m);
}

void *realloc(void *p, size_t n)
{
    return memory_fails() ? NULL : __libc_realloc(p, n);
}
#endif

/* ---- the store under fire ---- */

enum { IDS = 12, BATCH = 30, BODY_MAX = 9000 };

struct model {
    char body[IDS][BODY_MAX]; /* as last answered; empty: absent */
    bool unknown[IDS];        /* a write was answered with STORE_BROKEN since */
    unsigned stamp;
};

static void id_of(unsigned i, char out[8])
{
    snprintf(out, 8, "id%u", i);
}

/* False: the store broke before, so the write was refused at once,
 * with rc and err as if it had been queued. */
static bool try_queue(struct fixture *f, struct store_write *w)
{
    struct err err;
    w->done = fixture_write_done;
    store_turn_end(f->worker);
    if (store_write(f->worker, w, &err) == RC_PENDING)
        return true;
    assert_int_equal(err.code, ERR_STORE_BROKEN);
    w->rc = RC_ERR;
    w->err = err;
    return false;
}

/* Queue a batch of puts and deletes, and take into the model what was answered. */
static void run_batch(struct fixture *f, struct model *m)
{
    static struct store_write w[BATCH];
    static char ids[BATCH][8], bodies[BATCH][BODY_MAX];
    unsigned id[BATCH], queued = 0;
    for (unsigned i = 0; i < BATCH; i++) {
        id[i] = (i * 5 + m->stamp) % IDS;
        id_of(id[i], ids[i]);
        size_t len = (m->stamp + i) % 4 == 0 ? (i % 8 == 0 ? BODY_MAX - 1 : 2900) : 20;
        memset(bodies[i], 'a' + (int)(m->stamp % 26), len);
        bodies[i][len] = 0;
        w[i] = (struct store_write){.kind = m->stamp % 7 == 3 ? WRITE_DELETE : WRITE_PUT,
                                    .key = fixture_key(1, ids[i]),
                                    .part = {slice_str(bodies[i])}};
        m->stamp++;
        queued += try_queue(f, &w[i]);
    }
    fixture_await(f->worker, queued);
    for (unsigned i = 0; i < BATCH; i++) {
        if (w[i].rc == RC_OK && w[i].kind == WRITE_DELETE)
            m->body[id[i]][0] = 0;
        else if (w[i].rc == RC_OK)
            memcpy(m->body[id[i]], bodies[i], sizeof bodies[i]);
        else if (w[i].rc == RC_ERR && w[i].err.code == ERR_STORE_BROKEN)
            m->unknown[id[i]] = true;
        else
            assert_true(w[i].rc == RC_NOTFOUND || w[i].err.code == ERR_NO_SPACE ||
                        w[i].err.code == ERR_NO_MEMORY);
    }
}

static void assert_model(struct fixture *f, const struct model *m)
{
    uint64_t records = 0;
    bool unknown = false;
    for (unsigned i = 0; i < IDS; i++) {
        char id[8];
        id_of(i, id);
        unknown |= m->unknown[i];
        records += m->body[i][0] != 0;
        if (m->unknown[i])
            continue;
        if (m->body[i][0])
            fixture_assert_body(f, 1, id, m->body[i]);
        else
            fixture_assert_absent(f, 1, id);
    }
    if (!unknown)
        assert_int_equal(fixture_count(f, 1).records, records);
}

/* A meta page that could not be written stops reads too, until the store is opened again. */
static bool can_read(struct fixture *f)
{
    struct store_get g = {.key = fixture_key(1, "id0"), .done = fixture_get_done};
    store_get(f->worker, &g);
    if (g.rc == RC_ERR)
        assert_int_equal(g.err.code, ERR_STORE_BROKEN);
    return g.rc != RC_ERR;
}

/* False: the n-th call was never made. */
static bool fail_nth(enum fault kind, int error, int nth, bool may_break)
{
    struct fixture f;
    struct model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    fixture_open(&f, &engine_lmdb);
    /* FAULT_MEMORY is about the first groups, before the writer has all that it needs. */
    if (kind != FAULT_MEMORY)
        run_batch(&f, m);
    assert_model(&f, m);
    atomic_store(&fault_thread, f.store->thread);
    arm(kind, error, nth);
    run_batch(&f, m);
    bool hit = disarm(), broken = store_broken(f.store);
    assert_true(!broken || may_break);
    if (broken) {
        struct store_write w = {
            .kind = WRITE_DELETE, .key = fixture_key(1, "id0"), .done = fixture_write_done};
        struct err err;
        assert_int_equal(store_write(f.worker, &w, &err), RC_ERR);
        assert_int_equal(err.code, ERR_STORE_BROKEN);
    } else {
        run_batch(&f, m);
    }
    if (can_read(&f))
        assert_model(&f, m);
    else
        assert_true(broken);
    fixture_close(&f);
    fixture_reopen(&f);
    assert_model(&f, m);
    fixture_end(&f);
    free(m);
    return hit;
}

static void fail_each(enum fault kind, int error, bool may_break, int at_least)
{
    int nth = 1;
    while (nth < 400 && fail_nth(kind, error, nth, may_break))
        nth++;
    assert_true(nth > at_least);
}

TEST(lmdb__a_write_that_fails_for_lack_of_room_breaks_nothing_but_the_meta_page)
{
    fail_each(FAULT_WRITE, ENOSPC, true, 2);
}

TEST(lmdb__a_write_that_fails_breaks_the_store_and_loses_nothing_that_was_answered)
{
    fail_each(FAULT_WRITE, EIO, true, 2);
}

TEST(lmdb__a_write_that_is_cut_short_loses_nothing_that_was_answered)
{
    fail_each(FAULT_SHORT_WRITE, 0, true, 2);
}

TEST(lmdb__a_flush_that_fails_breaks_the_store_and_loses_nothing_that_was_answered)
{
    fail_each(FAULT_SYNC, EIO, true, 1);
}

/* Every fallocate fails: what needs no new blocks goes on, what does is refused. */
TEST(lmdb__blocks_that_are_not_to_be_had_are_a_full_disk)
{
    struct fixture f;
    char body[3001];
    memset(body, 'x', sizeof body - 1);
    body[sizeof body - 1] = 0;
    fixture_open(&f, &engine_lmdb);
    struct store_write w = {.kind = WRITE_PUT, .key = fixture_key(1, "a"), .part = {slice_str(body)}};
    assert_int_equal(fixture_write(&f, &w), RC_OK);
    atomic_store(&fault_always, true);
    arm(FAULT_ALLOCATE, EDQUOT, 1);
    char id[16];
    unsigned n = 0;
    for (w.rc = RC_OK; w.rc == RC_OK && n < 10000; n++) {
        snprintf(id, sizeof id, "%u", n);
        w.key = fixture_key(1, id);
        fixture_write(&f, &w);
    }
    assert_int_equal(w.rc, RC_ERR);
    assert_int_equal(w.err.code, ERR_NO_SPACE);
    assert_false(store_broken(f.store));
    assert_int_equal(fixture_delete(&f, 1, "a"), RC_OK);
    atomic_store(&fault_always, false);
    assert_true(disarm());
    assert_int_equal(fixture_write(&f, &w), RC_OK);
    fixture_end(&f);
}

TEST(lmdb__an_allocation_that_fails_is_answered_and_breaks_nothing)
{
#ifdef SANITIZED
    skip(); /* the sanitizer owns malloc */
#else
    fail_each(FAULT_MEMORY, ENOMEM, false, 1);
#endif
}

TEST_MAIN()
