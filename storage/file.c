/* storage/file.c - a store that no server has open, read and not touched. */
#include "storage/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "storage/copy.h"
#include "storage/counts.h"
#include "storage/dir.h"
#include "storage/identity.h"
#include "storage/keys.h"
#include "storage/meta.h"

/* ---- opening ---- */

enum rc store_file_lock(const char *path, int *fd, struct err *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char dir[PATH_MAX] = ".";
    *fd = -1;
    if (strcmp(name, engine_find("lmdb")->file->name) != 0)
        return RC_OK;
    if (slash && snprintf(dir, sizeof dir, "%.*s", (int)(name - path), path) >= (int)sizeof dir)
        return err_set(err, ERR_IO, "The path is too long.");
    return dir_lock_there(dir, fd, err);
}

static enum rc find(struct store_file *f, const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return err_set(err, ERR_IO, "Cannot look at %s: %s.", path, strerror(errno));
    bool is_dir = S_ISDIR(st.st_mode);
    int n = is_dir ? snprintf(f->path, sizeof f->path, "%s/%s", path, f->ops->file->name)
                   : snprintf(f->path, sizeof f->path, "%s", path);
    if (n < 0 || n >= (int)sizeof f->path)
        return err_set(err, ERR_IO, "The path is too long.");
    if (!is_dir)
        return store_file_lock(path, &f->lock_fd, err);
    snprintf(f->dir, sizeof f->dir, "%s", path);
    return dir_lock_there(path, &f->lock_fd, err);
}

static enum rc open_rows(struct store_file *f, struct err *err)
{
    if (f->ops->file->open(&f->engine, f->path, err) != RC_OK ||
        f->ops->snap_new(f->engine, &f->snap, err) != RC_OK || f->ops->snap_renew(f->snap, err) != RC_OK)
        return RC_ERR;
    struct slice row;
    struct key k;
    uint32_t version;
    key_meta(&k, SLICE("format"));
    enum rc rc = f->ops->get(f->snap, key_slice(&k), &row, err);
    return identity_check_format(rc == RC_OK ? row : (struct slice){0}, &version, err);
}

enum rc store_file_open(struct store_file **out, const char *path, struct store_pages *pages,
                        void (*fault)(void *, const char *words), void *arg, struct err *err)
{
    struct store_file *f = calloc(1, sizeof *f);
    struct engine_pages p = {0};
    *out = NULL;
    if (!f)
        return err_oom(err);
    f->ops = engine_find("lmdb");
    f->lock_fd = -1;
    enum rc rc = find(f, path, err);
    if (rc == RC_OK)
        rc = f->ops->file->check(f->path, fault, arg, &p, err);
    *pages = (struct store_pages){p.bytes, p.pages, p.used, p.spare, p.lost, p.faults};
    if (rc == RC_OK && !p.faults)
        rc = open_rows(f, err);
    if (rc == RC_OK && !p.faults)
        *out = f;
    else
        store_file_close(f);
    return rc;
}

void store_file_close(struct store_file *f)
{
    if (!f)
        return;
    if (f->snap)
        f->ops->snap_free(f->snap);
    if (f->engine)
        f->ops->close(f->engine);
    if (f->lock_fd >= 0)
        close(f->lock_fd);
    free(f);
}

/* ---- what it is ---- */

static enum rc read_meta(struct store_file *f, struct slice name, struct slice *row, struct err *err)
{
    struct key k;
    key_meta(&k, name);
    enum rc rc = f->ops->get(f->snap, key_slice(&k), row, err);
    if (rc != RC_NOTFOUND)
        return rc;
    return err_set(err, ERR_STORE_FORMAT, "The store is damaged: a row of `meta` is missing.");
}

static enum rc read_identity(struct store_file *f, struct store_summary *s, struct err *err)
{
    struct slice format, store, state, open;
    struct meta_state m;
    struct meta_open o;
    if (read_meta(f, SLICE("format"), &format, err) != RC_OK ||
        read_meta(f, SLICE("store"), &store, err) != RC_OK ||
        read_meta(f, SLICE("state"), &state, err) != RC_OK ||
        read_meta(f, SLICE("open"), &open, err) != RC_OK)
        return RC_ERR;
    if (!meta_format_decode(format, &s->format) || store.len < sizeof s->store ||
        !meta_state_decode(state, &m) || !meta_open_decode(open, &o))
        return err_set(err, ERR_STORE_FORMAT, "The store is damaged: a row of `meta` is.");
    memcpy(s->store, store.ptr, sizeof s->store);
    s->revision = m.revision;
    s->clean = o.clean;
    s->whole = identity_is_whole(&o);
    return RC_OK;
}

static enum rc count_types(struct store_file *f, struct store_summary *s, struct err *err)
{
    static const uint8_t types[] = {DB_TYPES};
    struct slice key, value;
    enum rc rc = f->ops->seek(f->snap, slice_of(types, sizeof types), &key, &value, err);
    for (; rc == RC_OK; rc = f->ops->next(f->snap, &key, &value, err))
        s->types++;
    return rc == RC_ERR ? rc : RC_OK;
}

/* Those of dropped types are no one's. */
static enum rc count_records(struct store_file *f, struct store_summary *s, struct err *err)
{
    static const uint8_t counts[] = {DB_COUNTS};
    struct slice key, value, dead;
    struct store_count c;
    struct key k;
    enum rc rc = f->ops->seek(f->snap, slice_of(counts, sizeof counts), &key, &value, err);
    for (; rc == RC_OK; rc = f->ops->next(f->snap, &key, &value, err)) {
        if (key.len != 4 || !counts_decode(value, &c))
            return err_set(err, ERR_STORE_FORMAT, "The store is damaged: a row of `counts` is.");
        key_trash(&k, TRASH_TYPE, get_be32(key.ptr));
        if ((rc = f->ops->get(f->snap, key_slice(&k), &dead, err)) == RC_ERR)
            return rc;
        if (rc == RC_NOTFOUND) {
            s->records += c.records;
            s->bytes += c.bytes;
        }
    }
    return rc == RC_ERR ? rc : RC_OK;
}

enum rc store_file_summary(struct store_file *f, struct store_summary *out, struct err *err)
{
    struct store_space space;
    f->ops->space(f->engine, &space);
    *out = (struct store_summary){.file_bytes = space.file};
    if (read_identity(f, out, err) != RC_OK || count_types(f, out, err) != RC_OK)
        return RC_ERR;
    return count_records(f, out, err);
}

enum rc store_file_copy_new(struct store_copy **out, struct store_file *f, int fd, struct err *err)
{
    struct store_space space;
    f->ops->space(f->engine, &space);
    return copy_new(out, f->ops, f->snap, space.used, fd, NULL, err);
}
