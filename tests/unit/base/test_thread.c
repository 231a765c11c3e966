/* tests/unit/base/test_thread.c - what a thread tells the system about itself. */
#include "base/thread.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/lib/test.h"

static int nice_now(void)
{
    errno = 0;
    int nice = getpriority(PRIO_PROCESS, 0);
    assert_int_equal(errno, 0);
    return nice;
}

/* In a thread of its own, since what was lowered may not be raised again. */
static void *go_first(void *arg)
{
    int *nice = arg;
    nice[0] = nice_now();
    thread_go_first();
    nice[1] = nice_now();
    return NULL;
}

TEST(thread_go_first__changes_this_thread_alone_or_nothing)
{
    int before = nice_now(), nice[2];
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, go_first, nice), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    int first = before - 5 < -20 ? -20 : before - 5;
    assert_int_equal(nice[0], before);
    assert_true(nice[1] == first || nice[1] == before); /* the system may not allow it */
    assert_int_equal(nice_now(), before);
}

static void *name_myself(void *arg)
{
    thread_name("a name that is much too long");
    pthread_getname_np(pthread_self(), arg, 16);
    return NULL;
}

TEST(thread_name__keeps_fifteen_bytes)
{
    char name[16];
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, name_myself, name), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(name, "a name that is ");
}

TEST_MAIN()
