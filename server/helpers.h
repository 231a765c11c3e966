/* server/helpers.h - a few threads for work that would hold a worker for more than a millisecond. */
#ifndef SERVER_HELPERS_H
#define SERVER_HELPERS_H

#include "base/err.h"

struct helpers;
struct job; /* server/handler.h */

/* Start `threads` of them. `finished` is called on a helper thread for each job that has run, and takes it to
 * its worker. Fails with NO_MEMORY, also where no thread is to be had. */
MUST_USE enum rc helpers_new(struct helpers **, unsigned threads, void (*finished)(struct job *),
                             struct err *);
/* Queue a job: first come, first served. Any thread. */
void helpers_submit(struct helpers *, struct job *);
/* Runs what is queued, then stops the threads. NULL is allowed. */
void helpers_free(struct helpers *);

#endif
