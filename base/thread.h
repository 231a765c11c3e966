/* base/thread.h - what a thread tells the system about itself. Linux; called by the thread itself. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

/* Its name in top -H, ps -L and debuggers: at most 15 bytes, of which a longer one keeps the first. */
void thread_name(const char *name);

/* Go before the process's other threads where they want the same core: nice 5 lower than theirs. Where the system does not
 * allow that (CAP_SYS_NICE, RLIMIT_NICE) nothing changes. */
void thread_go_first(void);

#endif
