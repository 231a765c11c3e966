/* storage/engines/disk.h - room on the disk, taken before it is needed: a full disk is found where it can be
 * said, not in the middle of a commit. One thread. */
#ifndef STORAGE_ENGINES_DISK_H
#define STORAGE_ENGINES_DISK_H

#include "base/err.h"

struct disk {
    int fd;             /* of the data file; borrowed */
    uint64_t allocated; /* the file has blocks up to here; 0: not known */
    uint64_t max;       /* the file never needs more */
    bool unsupported;   /* the file system knows no fallocate: look at its free space instead */
    bool wanting;       /* the last disk_reserve got no more blocks */
};

/* See that a group that needs `bytes` finds them, and that as much as is kept in hand is left: behind `end`,
 * up to where the file is in use, in blocks that it has or gets here, and in its `spare` free pages (half of
 * which count: the others may still be read). Where no more blocks are to be had, half in hand will do.
 * NO_SPACE (a full disk, a quota, a limit on the size of files), IO. */
MUST_USE enum rc disk_reserve(struct disk *, uint64_t end, uint64_t spare, uint64_t bytes, struct err *err);
/* Whether a write that has just failed with EIO (it was cut short) lacked room. Where the blocks had been
 * there, EIO is a fault of the disk. */
bool disk_is_short(const struct disk *);
/* ENOSPC and its kin. */
bool disk_errno_is_full(int error);

#endif
