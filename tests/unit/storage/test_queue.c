/* tests/unit/storage/test_queue.c - the stack of writes: order, and when it says that it was empty. */
#include "tests/lib/test.h"

#include "storage/queue.h"

TEST(write_stack__gives_back_in_the_order_of_pushing)
{
    struct write_stack s = {.head = NULL};
    struct store_write w[5] = {0};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(write_stack_push(&s, &w[i], &w[i]), i == 0);
    struct store_write *at = write_stack_take(&s);
    for (size_t i = 0; i < 5; i++, at = at->next)
        assert_ptr_equal(at, &w[i]);
    assert_null(at);
    assert_null(write_stack_take(&s));
}

TEST(write_stack__takes_chains)
{
    struct write_stack s = {.head = NULL};
    struct store_write w[3] = {0};
    w[2].next = &w[1]; /* newest first */
    assert_true(write_stack_push(&s, &w[0], &w[0]));
    assert_false(write_stack_push(&s, &w[2], &w[1]));
    struct store_write *at = write_stack_take(&s);
    for (size_t i = 0; i < 3; i++, at = at->next)
        assert_ptr_equal(at, &w[i]);
    assert_true(write_stack_push(&s, &w[0], &w[0]));
}

TEST(write_queue_wait__returns_at_once_when_something_waits)
{
    struct write_queue q = {.asleep = 0};
    struct store_write w = {0};
    write_queue_push(&q, &w);
    write_queue_wait(&q, 3600 * 1000);
    assert_ptr_equal(write_stack_take(&q.stack), &w);
}

TEST(write_queue_wait__never_sleeps_after_the_bell)
{
    struct write_queue q = {.asleep = 0};
    write_queue_ring(&q);
    write_queue_wait(&q, 3600 * 1000);
    write_queue_wait(&q, 3600 * 1000);
}

TEST_MAIN()
