/* base/thread.c - see thread.h. A nice value is a thread's own on Linux. */
#include "base/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { THREAD_NAME_BYTES = 16, NICE_FIRST = 5 };

void thread_name(const char *name)
{
    char kept[THREAD_NAME_BYTES] = {0};
    memccpy(kept, name, 0, sizeof kept - 1);
    prctl(PR_SET_NAME, kept, 0, 0, 0);
}

void thread_go_first(void)
{
    errno = 0;
    int nice = getpriority(PRIO_PROCESS, 0);
    if (nice != -1 || errno == 0)
        (void)setpriority(PRIO_PROCESS, 0, nice - NICE_FIRST);
}
