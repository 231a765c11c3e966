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

static struct disk_fault own;
static _Atomic(struct disk_fault *) fault = &own;

static _Atomic ino_t watched;
static _Atomic unsigned flushes;

enum { META_BYTES = 2 * 4096 };

void disk_use(struct disk_fault *f)
{
    atomic_store(&fault, f);
}

static bool fails(enum call call)
{
    struct disk_fault *f = atomic_load(&fault);
    if (atomic_load(&f->call) != (int32_t)call || atomic_fetch_sub(&f->countdown, 1) != 1)
        return false;
    atomic_store(&f->failed, true);
    errno = atomic_load(&f->error);
    return true;
}

void disk_arm(enum call call, int error, int nth)
{
    struct disk_fault *f = atomic_load(&fault);
    atomic_store(&f->failed, false);
    atomic_store(&f->meta, false);
    atomic_store(&f->error, error);
    atomic_store(&f->countdown, nth);
    atomic_store(&f->call, (int32_t)call);
}

bool disk_disarm(void)
{
    struct disk_fault *f = atomic_load(&fault);
    atomic_store(&f->call, CALL_NONE);
    return atomic_load(&f->failed);
}

bool disk_failed_at_meta(void)
{
    return atomic_load(&atomic_load(&fault)->meta);
}

void disk_watch(ino_t directory)
{
    atomic_store(&watched, directory);
    atomic_store(&flushes, 0);
}

unsigned disk_flushes(void)
{
    return atomic_load(&flushes);
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
    atomic_store(&atomic_load(&fault)->meta, offset < META_BYTES);
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
    ino_t directory = atomic_load(&watched);
    if (directory && fstat(fd, &st) == 0 && st.st_ino == directory)
        atomic_fetch_add(&flushes, 1);
    return fails(CALL_FSYNC) ? -1 : 0;
}

int fdatasync(int fd)
{
    (void)fd;
    return fails(CALL_FDATASYNC) ? -1 : 0;
}
