/* storage/blob_readers.h - whether anybody may still be reading a body in chunks that no record refers to any
 * more: if a store is full, such a body goes at once when nobody is. A worker counts the bodies that it has
 * handed out and those read to their end; whoever stops midway is forgotten after blob_keep_ms. */
#ifndef STORAGE_BLOB_READERS_H
#define STORAGE_BLOB_READERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct store;

/* One worker's; only it writes. */
struct blob_readers {
    _Atomic uint32_t open;
    _Atomic int64_t seen_ms; /* clock_coarse_ms of the last one handed out or read on */
};

/* A body's head has been handed out. Those before it are forgotten if none of them was read on for so long. */
void blob_readers_note(struct blob_readers *, int64_t keep_ms);
void blob_readers_ended(struct blob_readers *); /* one has been read to its end */
void blob_readers_seen(struct blob_readers *);  /* one has been read on */

/* Writer: nobody reads a body that died in a group that was published before this call. */
bool blob_readers_none(struct store *);

#endif
