/* storage/stats.h - what the writer counts; others see store_stats (storage.h). */
#ifndef STORAGE_STATS_H
#define STORAGE_STATS_H

#include <stddef.h>

#include "base/histogram.h"
#include "storage/storage.h"

/* The writer thread's; any thread reads. */
struct writer_stats {
    _Atomic uint64_t writes, groups, failures, no_space;
    _Atomic uint64_t expired; /* records past their time that were removed */
    _Atomic uint64_t evicted; /* records that were removed for their type's limit */
    struct histogram group_writes, apply_ns, sync_ns;
};

/* A step of the purge may be among the writes of each of these; it is no write, and not counted. */

/* This group was applied, and was as durable as was chosen after so long. */
void stats_applied(struct writer_stats *, struct store_write *const *, size_t n, uint64_t ns);
/* These failed together, with nothing applied. */
void stats_failed(struct writer_stats *, struct store_write *const *, size_t n, enum err_code);
/* These are over; before their owners hear of it. commit_ns of their group is told to each. */
void stats_done(struct writer_stats *, struct store_write *const *, size_t n, uint64_t commit_ns);

/* A step of the purge was applied. */
void stats_purged(struct writer_stats *, uint64_t expired, uint64_t evicted);

#endif
