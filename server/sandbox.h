/* server/sandbox.h - what a running server gives up, so that whoever takes it over gains little: the right to run programs, to make
 * processes, to open connections, to get more rights, to make memory executable, and every system call that it has no use for.
 * Main thread, once, when all threads run. Sources: seccomp(2), seccomp_load(3). */
#ifndef SERVER_SANDBOX_H
#define SERVER_SANDBOX_H

#include "base/err.h"

/* For all threads, for good. CONFIG: the kernel does not take it. Does nothing in a build with a sanitizer, which needs more. */
MUST_USE enum rc sandbox_enter(struct err *);

#endif
