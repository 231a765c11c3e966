/* storage/engines/disk.c - fallocate in steps, statvfs where there is none. */
#include "storage/engines/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/statvfs.h>

static const uint64_t in_hand_min = 4 << 20, in_hand_max = 256 << 20, step_max = 1 << 30;

static uint64_t clamp(uint64_t v, uint64_t least, uint64_t most)
{
    return v < least ? least : v > most ? most : v;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t in_hand(uint64_t end)
{
    return clamp(end / 64, in_hand_min, in_hand_max);
}

bool disk_errno_is_full(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

/* What the file system has; more than anybody asks for where it does not say. */
static uint64_t free_bytes(const struct disk *d)
{
    struct statvfs v;
    return fstatvfs(d->fd, &v) == 0 ? (uint64_t)v.f_bavail * v.f_frsize : UINT64_MAX / 2;
}

bool disk_is_short(const struct disk *d)
{
    return d->wanting || (d->unsupported && free_bytes(d) < in_hand_min);
}

static int allocate(const struct disk *d, uint64_t end)
{
    int rc;
    do
        rc = fallocate(d->fd, 0, 0, (off_t)end); /* from the start: a copied file may have holes */
    while (rc != 0 && errno == EINTR);
    return rc == 0 ? 0 : errno;
}

/* Blocks for a step ahead if there is room, else for just what is wanted; 0 or an errno. */
static int extend(struct disk *d, uint64_t end, uint64_t want)
{
    uint64_t ahead = least(d->allocated + clamp(end / 16, in_hand_min, step_max), d->max);
    want = least(want, d->max);
    int error = ahead >= want ? allocate(d, ahead) : ENOSPC;
    if (error == 0)
        want = ahead;
    else if (disk_errno_is_full(error))
        error = allocate(d, want);
    if (error == 0)
        d->allocated = want;
    return error;
}

/* Where blocks cannot be taken, those that the file system has are as good as ours. */
static uint64_t room(const struct disk *d, uint64_t end, uint64_t spare)
{
    uint64_t bytes = d->allocated > end ? d->allocated - end : 0;
    if (d->unsupported)
        bytes = free_bytes(d);
    return bytes + spare / 2;
}

/* Free pages inside the file count by half: a reader may pin some. If it does, the file's end moves on, and
 * blocks must be there for that. */
static bool is_near_its_end(const struct disk *d, uint64_t end, uint64_t spare, uint64_t wanted)
{
    return room(d, end, spare) < wanted || d->allocated < end + in_hand(end) / 2;
}

enum rc disk_reserve(struct disk *d, uint64_t end, uint64_t spare, uint64_t bytes, struct err *err)
{
    uint64_t hand = in_hand(end);
    int error = 0;
    if (d->allocated >= d->max) /* all that there will ever be */
        return RC_OK;
    if (!d->unsupported && is_near_its_end(d, end, spare, bytes + hand))
        error = extend(d, end, end + bytes + hand);
    if (error == EOPNOTSUPP || error == ENOSYS)
        d->unsupported = true;
    else if (error && !disk_errno_is_full(error))
        return err_set(err, ERR_IO, "Cannot grow the data file: %s.", strerror(error));
    d->wanting = disk_errno_is_full(error);
    if (room(d, end, spare) >= bytes + hand / 2)
        return RC_OK;
    return err_set(err, ERR_NO_SPACE, "The disk of the data directory is full, or the file may not grow.");
}
