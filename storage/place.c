/* storage/place.c - a data file that takes a store's place: written beside it, flushed, renamed. Where nothing is yet, LOCK bears its
 * line from the start: so a restore that was cut off is a store whose file is missing, and not an empty directory in which a
 * server would begin anew. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/dir.h"
#include "storage/file.h"

static const char fresh_suffix[] = ".new";

static enum rc failed(struct err *err, const char *doing, const char *path)
{
    enum err_code code = errno == ENOSPC || errno == EDQUOT ? ERR_NO_SPACE : ERR_IO;
    return err_set(err, code, "Cannot %s %s: %s.", doing, path, strerror(errno));
}

static enum rc set_paths(struct store_place *p, const char *dir, struct err *err)
{
    const char *name = engine_find("lmdb")->file->name;
    int a = snprintf(p->dir, sizeof p->dir, "%s", dir);
    int b = snprintf(p->file, sizeof p->file, "%s/%s", dir, name);
    int c = snprintf(p->fresh, sizeof p->fresh, "%s/%s%s", dir, name, fresh_suffix);
    if (a < 0 || b < 0 || c < 0 || a >= (int)sizeof p->dir || b >= (int)sizeof p->file ||
        c >= (int)sizeof p->fresh)
        return err_set(err, ERR_IO, "The path of the data directory is too long.");
    return RC_OK;
}

/* What an attempt that was cut off may have left. */
static bool is_leftover(const struct store_place *p, const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, "LOCK") ||
           !strcmp(name, strrchr(p->fresh, '/') + 1);
}

static enum rc check_empty(const struct store_place *p, struct err *err)
{
    DIR *d = opendir(p->dir);
    if (!d)
        return failed(err, "look into", p->dir);
    const char *other = NULL;
    for (struct dirent *e; !other && (e = readdir(d));)
        if (!is_leftover(p, e->d_name))
            other = e->d_name;
    enum rc rc =
        other
            ? err_set(
                  err, ERR_PLACE_TAKEN,
                  "%s is not empty: a store is restored into a directory of its own, which is not there yet.",
                  p->dir)
            : RC_OK;
    closedir(d);
    return rc;
}

enum rc store_place_new(struct store_place *p, const char *dir, struct err *err)
{
    struct stat st;
    *p = (struct store_place){.lock_fd = -1};
    if (set_paths(p, dir, err) != RC_OK)
        return RC_ERR;
    p->made = stat(dir, &st) != 0;
    if (!p->made && check_empty(p, err) != RC_OK)
        return RC_ERR;
    if (dir_lock(dir, &p->lock_fd, err) != RC_OK)
        return RC_ERR;
    /* From here on all that is in it is ours, but for a line that says that a store is missing. */
    p->is_new = p->marked = true;
    if (dir_holds_store(p->lock_fd, &p->marked, err) == RC_OK && check_empty(p, err) == RC_OK &&
        dir_mark_store(p->lock_fd, err) == RC_OK && dir_sync(dir, err) == RC_OK)
        return RC_OK;
    store_place_release(p);
    return RC_ERR;
}

enum rc store_place_of(struct store_place *p, const struct store_file *f, struct err *err)
{
    *p = (struct store_place){.lock_fd = -1};
    if (!*f->dir || f->lock_fd < 0)
        return err_set(err, ERR_STORE_FORMAT, "%s is no directory of a store.", *f->dir ? f->dir : f->path);
    struct stat st;
    if (set_paths(p, f->dir, err) != RC_OK)
        return RC_ERR;
    if (lstat(p->file, &st) != 0)
        return failed(err, "look at", p->file);
    if (S_ISLNK(st.st_mode)) /* it would be replaced, and what it leads to would stay */
        return err_set(err, ERR_NOT_SUPPORTED, "%s is a symbolic link, which would be replaced.", p->file);
    return RC_OK;
}

/* Whoever could open the old file can open the new one: root compacts what a server runs with fewer rights on. */
static bool keep_owner(const struct store_place *p, int fd)
{
    struct stat old, fresh;
    if (stat(p->file, &old) != 0)
        return errno == ENOENT;
    if (fstat(fd, &fresh) != 0 || fchmod(fd, old.st_mode & 0777) != 0)
        return false;
    return (old.st_uid == fresh.st_uid && old.st_gid == fresh.st_gid) ||
           fchown(fd, old.st_uid, old.st_gid) == 0;
}

enum rc store_place_open(struct store_place *p, int *fd, struct err *err)
{
    *fd = open(p->fresh, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*fd >= 0 && keep_owner(p, *fd))
        return RC_OK;
    enum rc rc = failed(err, *fd >= 0 ? "give its owner to" : "create", p->fresh);
    if (*fd >= 0)
        close(*fd);
    return rc;
}

enum rc store_place_commit(struct store_place *p, int fd, struct err *err)
{
    enum rc rc = fsync(fd) == 0 ? RC_OK : failed(err, "write", p->fresh);
    if (close(fd) != 0 && rc == RC_OK)
        rc = failed(err, "write", p->fresh);
    if (rc == RC_OK && rename(p->fresh, p->file) != 0)
        rc = failed(err, "rename", p->fresh);
    if (rc != RC_OK)
        return rc;
    p->is_new = false; /* it stays */
    return dir_sync(p->dir, err);
}

void store_place_release(struct store_place *p)
{
    char path[sizeof p->dir + 8];
    if (*p->fresh)
        unlink(p->fresh); /* nothing, after a commit */
    if (p->is_new && !p->marked) {
        snprintf(path, sizeof path, "%s/LOCK", p->dir);
        unlink(path);
        if (p->made)
            rmdir(p->dir);
    }
    if (p->lock_fd >= 0)
        close(p->lock_fd);
    p->lock_fd = -1;
}
