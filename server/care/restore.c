/* server/care/restore.c - a store from a backup: copied, read again from the disk and checked, put in its place. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/care/care.h"

enum { PIECE_BYTES = 1 << 20 };

static enum rc failed(struct err *err, const char *doing, const char *what)
{
    enum err_code code = errno == ENOSPC || errno == EDQUOT ? ERR_NO_SPACE : ERR_IO;
    return err_set(err, code, "Cannot %s %s: %s.", doing, what, strerror(errno));
}

static enum rc write_all(int fd, const uint8_t *p, size_t n, struct err *err)
{
    while (n) {
        ssize_t wrote = write(fd, p, n);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return failed(err, "write", "the store's file");
        p += wrote;
        n -= (size_t)wrote;
    }
    return RC_OK;
}

static enum rc copy(int from, const char *name, uint64_t total, int to, struct err *err)
{
    struct care_progress progress = {.doing = "copying"};
    uint8_t *piece = malloc(PIECE_BYTES);
    uint64_t bytes = 0;
    enum rc rc = piece ? RC_OK : err_oom(err);
    ssize_t n = 0;
    while (rc == RC_OK && (n = read(from, piece, PIECE_BYTES)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        rc = n < 0 ? failed(err, "read", name) : write_all(to, piece, (size_t)n, err);
        bytes += n > 0 ? (uint64_t)n : 0;
        care_progress_show(&progress, bytes, total);
    }
    care_progress_end(&progress);
    free(piece);
    return rc;
}

static enum rc open_backup(const char *file, int *fd, uint64_t *bytes, struct err *err)
{
    struct stat st;
    *bytes = 0;
    *fd = strcmp(file, "-") ? open(file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (*fd < 0)
        return failed(err, "open", file);
    if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode))
        *bytes = (uint64_t)st.st_size;
    return RC_OK;
}

static enum rc check(const struct store_place *place, bool accept_dirty, struct store_summary *out,
                     struct err *err)
{
    struct store_file *file;
    if (care_open(&file, place->fresh, err) != RC_OK)
        return RC_ERR;
    enum rc rc = store_file_summary(file, out, err);
    store_file_close(file);
    return rc == RC_OK ? care_check_whole(out, accept_dirty, err) : rc;
}

static enum rc restore(int from, const char *name, uint64_t bytes, struct store_place *place,
                       bool accept_dirty, struct store_summary *out, struct err *err)
{
    int fd;
    if (store_place_open(place, &fd, err) != RC_OK)
        return RC_ERR;
    if (copy(from, name, bytes, fd, err) != RC_OK || check(place, accept_dirty, out, err) != RC_OK) {
        close(fd);
        return RC_ERR;
    }
    return store_place_commit(place, fd, err);
}

enum rc care_restore(const char *file, const char *dir, bool accept_dirty, struct err *err)
{
    struct store_place *place = malloc(sizeof *place);
    struct store_summary s;
    uint64_t bytes;
    int from = -1, lock;
    if (!place)
        return err_oom(err);
    enum rc rc =
        store_file_lock(file, &lock, err); /* what a server writes to is not whole when it has been read */
    if (rc == RC_OK)
        rc = open_backup(file, &from, &bytes, err);
    if (rc == RC_OK)
        rc = store_place_new(place, dir, err);
    if (rc == RC_OK) {
        rc = restore(from, file, bytes, place, accept_dirty, &s, err);
        store_place_release(place);
    }
    if (rc == RC_OK)
        printf("restored %s: %llu types, %llu records, revision %llu, %llu bytes\n", dir,
               (unsigned long long)s.types, (unsigned long long)s.records, (unsigned long long)s.revision,
               (unsigned long long)s.file_bytes);
    if (from > STDIN_FILENO)
        close(from);
    if (lock >= 0)
        close(lock);
    free(place);
    return rc;
}
