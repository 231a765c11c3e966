/* tests/fault/disk.c - system calls that may fail first. None waits for the disk, on which no test depends. */
#include "tests/fault/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
    _Atomic int call, error, countdown; /* the call of this kind that makes it 0 fails */
    _Atomic bool failed, meta;
    _Atomic ino_t watched;
    _Atomic unsigned flushes;
} disk;

enum { META_BYTES = 2 * 4096 };

static bool fails(enum call call)
{
    if (atomic_load(&disk.call) != (int)call || atomic_fetch_sub(&disk.countdown, 1) != 1)
        return false;
    atomic_store(&disk.failed, true);
    errno = atomic_load(&disk.error);
    return true;
}

void disk_arm(enum call call, int error, int nth)
{
    atomic_store(&disk.failed, false);
    atomic_store(&disk.meta, false);
    atomic_store(&disk.error, error);
    atomic_store(&disk.countdown, nth);
    atomic_store(&disk.call, (int)call);
}

bool disk_disarm(void)
{
    atomic_store(&disk.call, CALL_NONE);
    return atomic_load(&disk.failed);
}

bool disk_failed_at_meta(void)
{
    return atomic_load(&disk.meta);
}

void disk_watch(ino_t directory)
{
    atomic_store(&disk.watched, directory);
    atomic_store(&disk.flushes, 0);
}

unsigned disk_flushes(void)
{
    return atomic_load(&disk.flushes);
}

/* ---- the calls ---- */

int mkdir(const char *path, mode_t mode)
{
    return fails(CALL_MKDIR) ? -1 : (int)syscall(SYS_mkdir, path, mode);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    unsigned mode = flags & O_CREAT ? va_arg(args, unsigned) : 0;
    va_end(args);
    return fails(CALL_OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags & ~O_DSYNC, mode);
}

int flock(int fd, int how)
{
    return fails(CALL_FLOCK) ? -1 : (int)syscall(SYS_flock, fd, how);
}

int fcntl(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    void *arg = va_arg(args, void *);
    va_end(args);
    return fails(CALL_FCNTL) ? -1 : (int)syscall(SYS_fcntl, fd, command, arg);
}

void *__interceptor_mmap(void *, size_t, int, int, int, off_t) __attribute__((weak)); /* a sanitizer's */

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    if (fails(CALL_MMAP))
        return MAP_FAILED;
    if (__interceptor_mmap)
        return __interceptor_mmap(at, n, protection, flags, fd, offset);
    return (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset); /* NOLINT */
}

ssize_t pread(int fd, void *to, size_t n, off_t offset)
{
    return fails(CALL_PREAD) ? -1 : syscall(SYS_pread64, fd, to, n, offset);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t offset)
{
    if (!fails(CALL_PWRITE))
        return syscall(SYS_pwrite64, fd, from, n, offset);
    atomic_store(&disk.meta, offset < META_BYTES);
    return -1;
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
    return fails(CALL_WRITEV) ? -1 : syscall(SYS_writev, fd, v, n);
}

off_t lseek(int fd, off_t offset, int whence)
{
    return fails(CALL_LSEEK) ? -1 : syscall(SYS_lseek, fd, offset, whence);
}

int ftruncate(int fd, off_t n)
{
    return fails(CALL_FTRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, fd, n);
}

int fallocate(int fd, int mode, off_t offset, off_t n)
{
    return fails(CALL_FALLOCATE) ? -1 : (int)syscall(SYS_fallocate, fd, mode, offset, n);
}

int fsync(int fd)
{
    struct stat st;
    ino_t watched = atomic_load(&disk.watched);
    if (watched && fstat(fd, &st) == 0 && st.st_ino == watched)
        atomic_fetch_add(&disk.flushes, 1);
    return fails(CALL_FSYNC) ? -1 : 0;
}

int fdatasync(int fd)
{
    (void)fd;
    return fails(CALL_FDATASYNC) ? -1 : 0;
}
