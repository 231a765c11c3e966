/* storage/engines/disk.h - room on the disk, taken before it is needed: a full disk is found where it can be
 * said, not in the middle of a commit. One thread. */
#ifndef STORAGE_ENGINES_DISK_H
#define STORAGE_ENGINES_DISK_H

#include "base/err.h"

struct disk {
    int fd;             /* of the data file; borrowed */
    uint64_t allocated; /* the file has blocks up to here; 0: not known yet */
    bool unsupported;   /* the file system knows no fallocate: look at its free space instead */
    bool wanting;       /* the last disk_reserve failed */
};

/* See that the file has blocks up to `end`, and some in hand behind it. NO_SPACE (a full disk, a quota, a
 * limit on the size of files), IO. */
MUST_USE enum rc disk_reserve(struct disk *, uint64_t end, struct err *err);
/* Whether a write that failed with EIO may have failed for lack of room. */
bool disk_may_be_full(const struct disk *);
/* ENOSPC and its kin. */
bool disk_errno_is_full(int error);

#endif
