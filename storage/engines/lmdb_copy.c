/* storage/engines/lmdb_copy.c - a new data file from rows in order: each page is filled, and none is written twice but those on the
 * way to the last. LMDB's own compacting copy cannot be cut into steps, tells nothing while it runs, and gives up where a
 * page has been lost; besides, the rows are looked at here. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "storage/engines/disk.h"
#include "storage/engines/lmdb_file.h"

enum {
    PATH_BYTES = 32,
    COMMIT_BYTES = 8 << 20, /* of rows in one transaction: what it holds in memory */
    ROW_BYTES = 32,         /* what a row takes beside its key and value, at most */
    MAP_SPARE = 64 << 20,
};

struct engine_copy {
    MDB_env *env;
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_dbi dbi[ENGINE_DBS];
    uint8_t db; /* that the cursor is in; 0: none */
    uint64_t uncommitted;
    uint64_t spare; /* that is left to others on the disk */
    int fd;
};

/* What is left on the disk for everybody else; more than anybody asks for where it does not say. */
static uint64_t free_bytes(const struct engine_copy *c)
{
    struct statvfs v;
    return fstatvfs(c->fd, &v) == 0 ? (uint64_t)v.f_bavail * v.f_frsize : UINT64_MAX;
}

static enum rc no_space(struct err *err)
{
    return err_set(err, ERR_NO_SPACE, "There is not enough room on the disk for a copy of the store.");
}

/* A write that is cut short is EIO to LMDB, and says nothing of why: would the disk take more? */
static bool lacks_room(const struct engine_copy *c)
{
    struct stat st;
    if (free_bytes(c) < c->spare)
        return true;
    return fstat(c->fd, &st) == 0 && fallocate(c->fd, 0, st.st_size, COMMIT_BYTES) != 0 &&
           disk_errno_is_full(errno);
}

static enum rc failed(struct engine_copy *c, int rc, struct err *err)
{
    if (disk_errno_is_full(rc) || rc == MDB_MAP_FULL || (rc == EIO && lacks_room(c)))
        return no_space(err);
    if (rc == MDB_KEYEXIST)
        return err_set(err, ERR_STORE_FORMAT, "The store is damaged: its rows are not in order.");
    return lmdb_failed(err, "be copied", rc);
}

static int begin(struct engine_copy *c)
{
    c->db = 0;
    c->cursor = NULL;
    c->uncommitted = 0;
    return mdb_txn_begin(c->env, NULL, 0, &c->txn);
}

static int commit(struct engine_copy *c)
{
    if (c->cursor) /* before its transaction ends */
        mdb_cursor_close(c->cursor);
    c->cursor = NULL;
    int rc = mdb_txn_commit(c->txn);
    c->txn = NULL;
    return rc;
}

static int open_env(struct engine_copy *c, uint64_t bytes)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/self/fd/%d", c->fd); /* the file may have no name */
    int rc = mdb_env_create(&c->env);
    if (rc || (rc = mdb_env_set_mapsize(c->env, 2 * bytes + MAP_SPARE)) ||
        (rc = mdb_env_set_maxdbs(c->env, LMDB_DBS_MAX)) ||
        (rc = mdb_env_open(c->env, path, MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC | MDB_NOTLS, 0600)) ||
        (rc = begin(c)))
        return rc;
    for (unsigned db = DB_META; db < ENGINE_DBS && !rc; db++)
        rc = mdb_dbi_open(c->txn, lmdb_names[db], MDB_CREATE, &c->dbi[db]);
    return rc;
}

static void copy_free(struct engine_copy *c)
{
    if (!c)
        return;
    if (c->cursor)
        mdb_cursor_close(c->cursor);
    if (c->txn)
        mdb_txn_abort(c->txn);
    if (c->env)
        mdb_env_close(c->env);
    free(c);
}

static enum rc copy_new(struct engine_copy **out, int fd, uint64_t bytes, struct err *err)
{
    struct engine_copy *c = calloc(1, sizeof *c);
    if (!c)
        return err_oom(err);
    c->fd = fd;
    c->spare = engine_reserve_bytes(bytes);
    enum rc rc = free_bytes(c) >= bytes + c->spare ? RC_OK : no_space(err);
    int error = rc == RC_OK ? open_env(c, bytes) : 0;
    if (error)
        rc = failed(c, error, err);
    if (rc != RC_OK) {
        copy_free(c);
        return rc;
    }
    *out = c;
    return RC_OK;
}

static int put(struct engine_copy *c, struct slice key, struct slice value)
{
    int rc;
    if (key.ptr[0] != c->db) {
        if (c->cursor)
            mdb_cursor_close(c->cursor);
        c->cursor = NULL;
        c->db = key.ptr[0];
        if ((rc = mdb_cursor_open(c->txn, c->dbi[c->db], &c->cursor)))
            return rc;
    }
    MDB_val k = {key.len - 1, (void *)(uintptr_t)(key.ptr + 1)},
            v = {value.len, (void *)(uintptr_t)value.ptr};
    return mdb_cursor_put(c->cursor, &k, &v, MDB_APPEND);
}

static enum rc copy_row(struct engine_copy *c, struct slice key, struct slice value, struct err *err)
{
    int rc = 0;
    if (c->uncommitted >= COMMIT_BYTES) {
        if (free_bytes(c) < c->spare)
            return no_space(err);
        rc = commit(c);
        if (!rc)
            rc = begin(c);
    }
    if (!rc)
        rc = put(c, key, value);
    c->uncommitted += key.len + value.len + ROW_BYTES;
    return rc ? failed(c, rc, err) : RC_OK;
}

/* Pages at the end that were used and given back again may never have been written: the file has its length all the same. */
static int fill_up(struct engine_copy *c)
{
    MDB_envinfo info;
    MDB_stat stat;
    struct stat st;
    int rc = mdb_env_info(c->env, &info);
    if (!rc)
        rc = mdb_env_stat(c->env, &stat);
    if (rc)
        return rc;
    if (fstat(c->fd, &st) != 0)
        return errno;
    uint64_t least = ((uint64_t)info.me_last_pgno + 1) * stat.ms_psize;
    return (uint64_t)st.st_size >= least || ftruncate(c->fd, (off_t)least) == 0 ? 0 : errno;
}

static enum rc copy_end(struct engine_copy *c, struct err *err)
{
    int rc = commit(c);
    if (!rc)
        rc = fill_up(c);
    return rc ? failed(c, rc, err) : RC_OK;
}

const struct engine_file_ops lmdb_file = {
    .name = "data.mdb",
    .check = lmdb_check_pages,
    .open = lmdb_open_file,
    .copy_new = copy_new,
    .copy_row = copy_row,
    .copy_end = copy_end,
    .copy_free = copy_free,
};
