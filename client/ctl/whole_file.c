/* client/ctl/whole_file.c - see whole_file.h. */
#include "client/ctl/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int fault(const struct ctl *ctl, const char *path)
{
    return fail(ctl, EXIT_HERE, "%s: %s.", path, strerror(errno));
}

static int refuse_to_replace(const struct ctl *ctl, const char *path)
{
    return fail(ctl, EXIT_HERE, "%s is there already; --force replaces it.", path);
}

static void forget(struct whole_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f->part);
    *f = (struct whole_file){.fd = -1};
}

static bool set_names(struct whole_file *f, const char *path)
{
    struct buf part = {0};
    f->path = strdup(path);
    if (!f->path || !buf_printf(&part, "%s.part", path) || !buf_append_byte(&part, 0)) {
        buf_release(&part);
        return false;
    }
    f->part = (char *)part.ptr;
    return true;
}

/* The lock keeps two that write at once apart; where the file system has none it is gone without. */
static int open_part(const struct ctl *ctl, struct whole_file *f)
{
    f->fd = open(f->part, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (f->fd < 0)
        return fault(ctl, f->part);
    if (flock(f->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return fail(ctl, EXIT_HERE, "%s is being written by another process.", f->part);
    return ftruncate(f->fd, 0) ? fault(ctl, f->part) : 0;
}

int whole_file_open(const struct ctl *ctl, const char *path, bool replaces, struct whole_file *f)
{
    *f = (struct whole_file){.fd = -1, .replaces = replaces};
    if (!replaces && access(path, F_OK) == 0)
        return refuse_to_replace(ctl, path);
    int code = set_names(f, path) ? open_part(ctl, f) : fail_memory(ctl);
    if (code)
        forget(f);
    return code;
}

bool whole_file_write(struct whole_file *f, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len) {
        ssize_t n = write(f->fd, at, len);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            at += n;
            len -= (size_t)n;
        }
    }
    return true;
}

/* What came under this name meanwhile is not replaced either, where the file system can promise that. */
static bool give_name(const struct whole_file *f)
{
    if (f->replaces)
        return rename(f->part, f->path) == 0;
    if (renameat2(AT_FDCWD, f->part, AT_FDCWD, f->path, RENAME_NOREPLACE) == 0)
        return true;
    return (errno == EINVAL || errno == ENOSYS) && rename(f->part, f->path) == 0;
}

/* The name itself is on the disk when its folder is. */
static bool sync_folder(const struct whole_file *f)
{
    char *slash = strrchr(f->part, '/');
    if (slash)
        slash[slash == f->part] = 0;
    int fd = open(slash ? f->part : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    if (fd >= 0)
        close(fd);
    return good;
}

int whole_file_close(const struct ctl *ctl, struct whole_file *f, bool good)
{
    int code = 0;
    if (!f->part)
        return 0;
    if (good && (fsync(f->fd) || !give_name(f)))
        code = errno == EEXIST ? refuse_to_replace(ctl, f->path) : fault(ctl, f->path);
    if (!good || code)
        unlink(f->part);
    else if (!sync_folder(f))
        code = fault(ctl, f->path);
    forget(f);
    return code;
}
