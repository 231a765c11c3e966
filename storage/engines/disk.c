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

static uint64_t in_hand(uint64_t end)
{
    return clamp(end / 64, in_hand_min, in_hand_max);
}

bool disk_errno_is_full(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

static bool free_bytes(const struct disk *d, uint64_t *out)
{
    struct statvfs v;
    if (fstatvfs(d->fd, &v) != 0)
        return false;
    *out = (uint64_t)v.f_bavail * v.f_frsize;
    return true;
}

bool disk_may_be_full(const struct disk *d)
{
    uint64_t bytes;
    return (d->unsupported || d->wanting) && free_bytes(d, &bytes) && bytes < in_hand_min;
}

static int allocate(const struct disk *d, uint64_t end)
{
    int rc;
    do
        rc = fallocate(d->fd, 0, 0, (off_t)end); /* from the start: a copied file may have holes */
    while (rc != 0 && errno == EINTR);
    return rc == 0 ? 0 : errno;
}

static enum rc full(struct disk *d, struct err *err)
{
    d->wanting = true;
    return err_set(err, ERR_NO_SPACE, "The disk of the data directory is full, or the file may not grow.");
}

static enum rc reserve_without_blocks(struct disk *d, uint64_t more, struct err *err)
{
    uint64_t bytes;
    if (free_bytes(d, &bytes) && bytes < more)
        return full(d, err);
    d->wanting = false;
    return RC_OK;
}

enum rc disk_reserve(struct disk *d, uint64_t end, struct err *err)
{
    uint64_t want = end + in_hand(end);
    if (d->allocated >= want && !d->unsupported) {
        d->wanting = false;
        return RC_OK;
    }
    if (d->unsupported)
        return reserve_without_blocks(d, in_hand(end), err);
    uint64_t ahead = d->allocated + clamp(end / 16, in_hand_min, step_max);
    int error = ahead > want ? allocate(d, ahead) : ENOSPC;
    if (error == 0)
        want = ahead;
    else if (disk_errno_is_full(error)) /* no room for a whole step: what is needed, then */
        error = allocate(d, want);
    if (error == EOPNOTSUPP || error == ENOSYS) {
        d->unsupported = true;
        return reserve_without_blocks(d, in_hand(end), err);
    }
    if (disk_errno_is_full(error))
        return full(d, err);
    if (error != 0)
        return err_set(err, ERR_IO, "Cannot grow the data file: %s.", strerror(error));
    d->allocated = want;
    d->wanting = false;
    return RC_OK;
}
