/* tests/unit/server/test_helpers_threads.c - jobs run once each, in order of coming, and none is lost at the
 * end. */
#include "server/helpers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "server/handler.h"
#include "tests/lib/test.h"

enum { JOBS = 2000 };

struct counted {
    struct job job;
    int number, ran, finished;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int order[JOBS], started;

static void run(struct job *job)
{
    struct counted *c = CONTAINER_OF(job, struct counted, job);
    pthread_mutex_lock(&lock);
    order[started++] = c->number;
    pthread_mutex_unlock(&lock);
    c->ran++;
}

static void finished(struct job *job)
{
    CONTAINER_OF(job, struct counted, job)->finished++;
}

static void submit_all(unsigned threads)
{
    struct helpers *helpers;
    struct err err;
    struct counted *all = calloc(JOBS, sizeof *all);
    assert_non_null(all);
    started = 0;
    assert_int_equal(helpers_new(&helpers, threads, NULL, finished, &err), RC_OK);
    for (int i = 0; i < JOBS; i++) {
        all[i] = (struct counted){.job = {.run = run}, .number = i};
        assert_true(helpers_submit(helpers, &all[i].job, JOBS));
    }
    helpers_free(helpers);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(all[i].ran, 1);
        assert_int_equal(all[i].finished, 1);
    }
    free(all);
}

TEST(helpers_submit__runs_each_job_once_with_several_threads)
{
    submit_all(4);
}

TEST(helpers_submit__runs_first_what_came_first)
{
    submit_all(1);
    for (int i = 0; i < JOBS; i++)
        assert_int_equal(order[i], i);
}

/* The first job waits until it is let go, so that all behind it wait. */
static void run_gate(struct job *job)
{
    (void)job;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static atomic_bool ran_at_once;

static void run_at_once(struct job *job)
{
    (void)job;
    atomic_store(&ran_at_once, true);
}

TEST(helpers_submit__refuses_more_than_may_wait)
{
    struct helpers *helpers;
    struct err err;
    struct counted jobs[4] = {{.job = {.run = run_gate}}, {.job = {.run = run}}, {.job = {.run = run}}};
    started = 0;
    assert_int_equal(helpers_new(&helpers, 1, NULL, finished, &err), RC_OK);
    pthread_mutex_lock(&lock);
    assert_true(helpers_submit(helpers, &jobs[0].job, 1));
    while (!helpers_submit(helpers, &jobs[1].job, 1)) /* until the first is at work */
        sched_yield();
    assert_false(helpers_submit(helpers, &jobs[2].job, 1));
    assert_true(helpers_submit(helpers, &jobs[2].job, 2));
    uint64_t waiting, taken;
    helpers_stats(helpers, &waiting, &taken);
    assert_int_equal(waiting, 2);
    assert_int_equal(taken, 1);
    pthread_mutex_unlock(&lock);
    helpers_free(helpers);
    assert_int_equal(started, 2);
}

/* Both threads are free, and all but one of the jobs are bulk. */
TEST(helpers_submit__keeps_a_thread_from_bulk)
{
    struct helpers *helpers;
    struct err err;
    struct counted bulk[3], prompt = {.job = {.run = run_at_once}};
    assert_int_equal(helpers_new(&helpers, 2, NULL, finished, &err), RC_OK);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 3; i++) {
        bulk[i] = (struct counted){.job = {.is_bulk = true, .run = run_gate}};
        assert_true(helpers_submit(helpers, &bulk[i].job, 10));
    }
    atomic_store(&ran_at_once, false);
    assert_true(helpers_submit(helpers, &prompt.job, 10));
    while (!atomic_load(&ran_at_once)) /* behind three jobs that end only after it */
        sched_yield();
    uint64_t waiting, taken;
    helpers_stats(helpers, &waiting, &taken);
    assert_true(waiting >= 2); /* one at the most is at work */
    pthread_mutex_unlock(&lock);
    helpers_free(helpers);
    for (int i = 0; i < 3; i++)
        assert_int_equal(bulk[i].finished, 1);
    assert_int_equal(prompt.finished, 1);
}

TEST(helpers_free__takes_nothing)
{
    helpers_free(NULL);
}

TEST_MAIN()
