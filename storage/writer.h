/* storage/writer.h - the one thread that changes a store: take, decide, apply, publish, complete. */
#ifndef STORAGE_WRITER_H
#define STORAGE_WRITER_H

#include "base/limits.h"
#include "storage/lay.h"
#include "storage/purge.h"
#include "storage/stats.h"

struct store;

struct writer {
    struct store *store;
    struct decider decider;
    struct store_write *pending, *pending_last; /* taken from the queue, in order, not yet in a group */
    struct store_write *group[LIMIT_GROUP_OPS_MAX + 1]; /* and a step of the purge */
    struct lay lay;
    struct purge purge;
    bool laying;       /* the group at hand began with what lay_take gave */
    bool purged_ahead; /* the last group was a step of the purge, for want of room */
    struct writer_stats stats;
    uint64_t commit_ns;    /* of the group at hand */
    int64_t upkeep_due_ms; /* clock_mono_ms */
    int64_t sync_due_ms;   /* of mode `async`; 0: nothing to sync */
};

/* The thread's body: runs until the store is closing and nothing waits. arg is the struct writer. */
void *writer_main(void *arg);

#endif
