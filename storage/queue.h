/* storage/queue.h - writes from many threads to one: a lock-free stack, and a bell for whoever empties it. */
#ifndef STORAGE_QUEUE_H
#define STORAGE_QUEUE_H

#include <stdatomic.h>

#include "storage/storage.h"

/* Any thread pushes; one takes. Zero-initialised is empty. Links go through store_write.next. */
struct write_stack {
    _Atomic(struct store_write *) head; /* newest first */
};

/* Push a chain whose newest is `first` and whose oldest is `last`. True: it was empty before. */
bool write_stack_push(struct write_stack *, struct store_write *first, struct store_write *last);
/* All that was pushed, the oldest first; NULL if none. */
struct store_write *write_stack_take(struct write_stack *);

struct write_queue {
    struct write_stack stack;
    _Atomic uint32_t asleep; /* 1: the taker waits for this to become 0 (a futex) */
    _Atomic bool rung;       /* for good: waiting ends at once */
};

/* Any thread. A system call only if the taker sleeps. */
void write_queue_push(struct write_queue *, struct store_write *);
/* Wake the taker for good: from now on it never sleeps. */
void write_queue_ring(struct write_queue *);
/* The taker: sleep until something is pushed, the bell has rung or the time is over; perhaps for less. */
void write_queue_wait(struct write_queue *, unsigned timeout_ms);

#endif
