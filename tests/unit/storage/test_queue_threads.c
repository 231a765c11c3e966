/* tests/unit/storage/test_queue_threads.c - many threads push, one takes and sleeps in between: nothing is
 * lost, each thread's writes stay in order, and the taker always wakes. */
#include <pthread.h>

#include "tests/lib/test.h"

#include "storage/queue.h"

enum { PUSHERS = 4, WRITES = 20000 };

static struct write_queue queue;
static struct store_write writes[PUSHERS][WRITES];

static void *push_all(void *arg)
{
    struct store_write *w = arg;
    for (size_t i = 0; i < WRITES; i++) {
        w[i].revision = i;
        write_queue_push(&queue, &w[i]);
    }
    return NULL;
}

static size_t pusher_of(const struct store_write *w)
{
    return (size_t)(w - &writes[0][0]) / WRITES;
}

TEST(write_queue__loses_nothing_and_keeps_each_threads_order)
{
    pthread_t threads[PUSHERS];
    uint64_t next[PUSHERS] = {0};
    for (size_t i = 0; i < PUSHERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, push_all, writes[i]), 0);
    for (size_t taken = 0; taken < PUSHERS * WRITES;) {
        struct store_write *w = write_stack_take(&queue.stack);
        if (!w)
            write_queue_wait(&queue, 3600 * 1000);
        for (; w; w = w->next, taken++)
            assert_int_equal(w->revision, next[pusher_of(w)]++);
    }
    for (size_t i = 0; i < PUSHERS; i++)
        pthread_join(threads[i], NULL);
}

TEST_MAIN()
