/* server/helpers.h - a few threads for work that would hold a worker for more than a millisecond. */
#ifndef SERVER_HELPERS_H
#define SERVER_HELPERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct helpers;
struct job;   /* server/handler.h */
struct store; /* storage/storage.h */

/* Start `threads` of them, each with a reader of the store (NULL: none) that it lends to its jobs. `finished` is
 * called on a helper thread for each job that has run, and takes it to its worker. Fails with NO_MEMORY, also
 * where no thread is to be had, and as store_worker_new does. */
MUST_USE enum rc helpers_new(struct helpers **, unsigned threads, struct store *,
                             void (*finished)(struct job *), struct err *);
/* Queue a job: first come, first served, but that bulk comes after all others and never has the last thread. False:
 * jobs_max of them wait already. Any thread. */
MUST_USE bool helpers_submit(struct helpers *, struct job *, unsigned jobs_max);
/* How many jobs wait, and how many helpers have taken up since the start. Any thread. */
void helpers_stats(struct helpers *, uint64_t *waiting, uint64_t *taken);
/* Runs what is queued, then stops the threads. NULL is allowed. */
void helpers_free(struct helpers *);

#endif
