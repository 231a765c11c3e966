/* storage/dir.c - mkdir, flock, fsync of a directory. */
#include "storage/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static enum rc failed(struct err *err, const char *doing, const char *path)
{
    enum err_code code = errno == ENOSPC || errno == EDQUOT ? ERR_NO_SPACE : ERR_IO;
    return err_set(err, code, "Cannot %s %s: %s.", doing, path, strerror(errno));
}

static enum rc join(char out[PATH_MAX], const char *dir, const char *name, struct err *err)
{
    int n = snprintf(out, PATH_MAX, "%s/%s", dir, name);
    if (n < 0 || n >= PATH_MAX)
        return err_set(err, ERR_IO, "The path of the data directory is too long.");
    return RC_OK;
}

enum rc dir_sync(const char *dir, struct err *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return failed(err, "open", dir);
    enum rc rc = fsync(fd) == 0 ? RC_OK : failed(err, "sync", dir);
    close(fd);
    return rc;
}

enum rc dir_holds_store(int fd, bool *holds, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return failed(err, "look at", "the file LOCK");
    *holds = st.st_size > 0;
    return RC_OK;
}

enum rc dir_mark_store(int fd, struct err *err)
{
    static const char line[] = "This directory holds a store of avrod.\n";
    if (pwrite(fd, line, sizeof line - 1, 0) < 0 || fsync(fd) != 0)
        return failed(err, "write to", "the file LOCK");
    return RC_OK;
}

static enum rc make(const char *dir, struct err *err)
{
    char parent[PATH_MAX];
    bool made = mkdir(dir, 0700) == 0;
    if (!made && errno != EEXIST)
        return failed(err, "create", dir);
    if (join(parent, dir, "..", err) != RC_OK)
        return RC_ERR;
    /* Also of one that was there, as well as it goes: whoever made it may have been stopped before this. */
    enum rc rc = dir_sync(parent, err);
    return made ? rc : RC_OK;
}

/* A file that a restore has removed since it was opened is no lock any more: the next one would make another. */
static bool has_name(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/* The lock of an open file, which is closed if it is not to be had. */
static enum rc take(int *fd, const char *dir, const char *path, struct err *err)
{
    bool locked = flock(*fd, LOCK_EX | LOCK_NB) == 0;
    if (locked && has_name(*fd))
        return RC_OK;
    enum rc rc = locked || errno == EWOULDBLOCK
                     ? err_set(err, ERR_STORE_LOCKED, "Another process has the store in %s open.", dir)
                     : failed(err, "lock", path);
    close(*fd);
    *fd = -1;
    return rc;
}

enum rc dir_lock(const char *dir, int *out, struct err *err)
{
    char path[PATH_MAX];
    if (make(dir, err) != RC_OK || join(path, dir, "LOCK", err) != RC_OK)
        return RC_ERR;
    *out = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600); /* a line is written to it */
    return *out < 0 ? failed(err, "open", path) : take(out, dir, path, err);
}

enum rc dir_lock_there(const char *dir, int *out, struct err *err)
{
    char path[PATH_MAX];
    if (join(path, dir, "LOCK", err) != RC_OK)
        return RC_ERR;
    *out = open(path, O_RDONLY | O_CLOEXEC);
    if (*out < 0)
        return errno == ENOENT ? RC_OK : failed(err, "open", path);
    return take(out, dir, path, err);
}
