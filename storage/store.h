/* storage/store.h - the inside of a store: what the files of this folder share. Others see storage.h. */
#ifndef STORAGE_STORE_H
#define STORAGE_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "storage/blob_readers.h"
#include "storage/dead.h"
#include "storage/engine.h"
#include "storage/queue.h"
#include "storage/writer.h"

struct store {
    const struct engine_ops *ops;
    struct engine *engine;
    enum durability durability;
    int lock_fd; /* DIR/LOCK; -1: the engine keeps nothing */

    struct write_queue queue;   /* workers -> writer */
    _Atomic uint64_t published; /* how many groups have been applied: a snapshot older than this is stale */
    _Atomic bool broken;
    _Atomic bool closing;
    _Atomic uint64_t used, max, file; /* struct store_space, as of the last group */
    _Atomic unsigned set_aside;       /* by the purge */
    struct dead_set dead;

    pthread_mutex_t workers_lock; /* of making workers, never of using them */
    struct store_worker **workers;
    unsigned nworkers, workers_max;
    uint32_t share_writes; /* of the queue's limits, a worker's */
    uint64_t share_bytes;
    uint32_t busy_writes; /* three quarters of those, at least 1 */
    uint64_t busy_bytes;

    struct writer writer;
    pthread_t thread;
};

/* Lives until the store is closed, so that the writer may always ring; what is marked (writer) is the
 * writer's. */
struct store_worker {
    struct store *store;
    struct snap *snap; /* NULL: freed */
    bool snap_live;
    bool in_row;   /* of a scan, whose page borrows from the snapshot */
    bool in_batch; /* of gets, which all borrow from the snapshot: it is not renewed */
    struct store_get *gets_first, **gets_link; /* queued by store_get_soon; where the next goes */
    unsigned ngets;
    uint64_t snap_published;       /* of the live snapshot */
    _Atomic int64_t snap_since_ms; /* clock_coarse_ms; 0: none is live */
    struct blob_readers blob_readers;
    _Atomic uint64_t queued; /* writes, ever */
    _Atomic uint64_t touched;
    struct touch *touches; /* LIMIT_TOUCHES_WAITING of them; NULL: not needed yet */
    uint32_t waiting_touches;
    uint32_t waiting_ops; /* queued and not yet done */
    uint64_t waiting_bytes;
    int fd; /* eventfd */
    struct write_stack finished;
    struct store_write *group_first,
        *group_last;                 /* (writer) newest and oldest of the group that is completed */
    struct store_worker *group_next; /* (writer) the next worker that has some in it */
};

/* As store_open, on an engine that has no row in engines.def. */
MUST_USE enum rc store_open_engine(struct store **, const struct engine_ops *, const struct store_opts *,
                                   struct err *);

/* The worker's snapshot, renewed if a group has been applied since. */
MUST_USE enum rc worker_snapshot(struct store_worker *, struct err *);
/* When a store is closed: whatever its user has left. */
void workers_release(struct store *);
void store_note_space(struct store *);

#endif
