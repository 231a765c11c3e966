/* storage/engines/lmdb.c - LMDB as an engine: twelve named databases, one map that never moves, one write
 * transaction a group. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "storage/engine.h"
#include "storage/engines/disk.h"
#include "storage/engines/lmdb_file.h"

enum {
    KEY_MIN = 493,             /* the longest key, an expiry's */
    READERS_SPARE = 16,        /* the writer, tools that look on */
    READER_CHECK_UPKEEPS = 10, /* upkeep comes each second */
    READER_CHECK_BYTES = 4 << 20,
    DBI_NONE = 0,
    DBS_FIRST_FORMAT = DB_TRASH + 1, /* databases from this on are not in a store of format 1 */
    LMDB_FREE_DBI = 0,               /* LMDB's own two: free pages, names of databases */
    LMDB_MAIN_DBI = 1,
    META_PAGES = 2,
    ADDRESS_SPARE = 64 << 20, /* beside the map: stacks, the heap */
};
static const uint64_t map_default = (uint64_t)1 << 40, map_min = 8 << 20;
static const uint64_t map_most = (uint64_t)1 << 62; /* more than any machine can address */

const char *const lmdb_names[ENGINE_DBS] = {
    [DB_META] = "meta",
    [DB_TYPES] = "types",
    [DB_SUBJECTS] = "subjects",
    [DB_SCHEMAS] = "schemas",
    [DB_SCHEMA_HASH] = "schema_hash",
    [DB_RECORDS] = "records",
    [DB_CHUNKS] = "chunks",
    [DB_COUNTS] = "counts",
    [DB_EXPIRY] = "expiry",
    [DB_IDEM] = "idem",
    [DB_TRASH] = "trash",
    [DB_USED] = "used",
};

struct engine {
    MDB_env *env;
    MDB_dbi
        dbi[ENGINE_DBS]; /* DBI_NONE: an older version made the store, and this database is not there yet */
    struct disk disk;
    uint64_t page, map;
    uint64_t pages[ENGINE_DBS]; /* in use, by database; [0]: LMDB's own two */
    unsigned upkeeps;
    uint64_t check_end; /* when the data reaches it, look for dead readers */
    bool broken;
    bool complete; /* all databases are there */
    bool is_file;  /* by itself, to be read only */
};

struct snap {
    struct engine *engine;
    MDB_txn *txn;
    bool live;
    uint8_t db;                     /* that seek and next are in */
    MDB_cursor *cursor[ENGINE_DBS]; /* opened when first used, kept */
    bool cursor_live[ENGINE_DBS];   /* belongs to the live transaction */
};

/* ---- errors ---- */

static enum rc broken(struct engine *e, const char *doing, int rc, struct err *err)
{
    if (!e->broken)
        log_error("the store is broken, no more writes until a restart: %s: %s", doing, mdb_strerror(rc));
    e->broken = true;
    return err_set(
        err, ERR_STORE_BROKEN,
        "A flush has failed: whether this write was stored is not known; no more writes until a restart.");
}

enum rc lmdb_failed(struct err *err, const char *doing, int rc)
{
    if (rc == MDB_MAP_FULL || disk_errno_is_full(rc))
        return err_set(err, ERR_NO_SPACE, "The store or its disk is full.");
    if (rc == ENOMEM || rc == MDB_TXN_FULL)
        return err_oom(err);
    if (rc == MDB_INVALID || rc == MDB_VERSION_MISMATCH)
        return err_set(err, ERR_STORE_FORMAT,
                       "The data directory holds no store that this version can open: %s.", mdb_strerror(rc));
    if (rc == MDB_PANIC)
        return err_set(err, ERR_STORE_BROKEN,
                       "A flush has failed: the store answers nothing until a restart.");
    return err_set(err, ERR_IO, "The store cannot %s: %s.", doing, mdb_strerror(rc));
}

/* ---- opening ---- */

static uint64_t file_bytes(const char *dir)
{
    char path[PATH_MAX];
    struct stat st;
    int n = snprintf(path, sizeof path, "%s/data.mdb", dir);
    return n > 0 && n < (int)sizeof path && stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static unsigned env_flags(const struct store_opts *opts)
{
    unsigned flags = MDB_NOTLS;
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (opts->durability == DURABLE_ASYNC)
        flags |= MDB_NOMETASYNC;
    if (opts->durability == DURABLE_NONE)
        flags |= MDB_NOSYNC;
    if (file_bytes(opts->dir) > memory / 2)
        flags |= MDB_NORDAHEAD; /* pages read in vain would push out pages in use */
    return flags;
}

static int try_open(struct engine *e, const struct store_opts *opts, uint64_t map)
{
    int rc = mdb_env_create(&e->env);
    if (rc)
        return rc;
    if ((rc = mdb_env_set_mapsize(e->env, map)) == 0 &&
        (rc = mdb_env_set_maxdbs(e->env, LMDB_DBS_MAX)) == 0 &&
        (rc = mdb_env_set_maxreaders(e->env, opts->workers + opts->readers + READERS_SPARE)) == 0)
        rc = mdb_env_open(e->env, opts->dir, env_flags(opts), 0600);
    if (rc) {
        mdb_env_close(e->env);
        e->env = NULL;
    }
    return rc;
}

/* Asked before LMDB is, whose ENOMEM may also be an allocation that failed. */
static bool has_address_space(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p != MAP_FAILED && munmap(p, bytes) == 0;
}

/* All of the map is address space from the start; where there is not so much (RLIMIT_AS), half of it, and so
 * on. */
static enum rc open_env(struct engine *e, const struct store_opts *opts, struct err *err)
{
    uint64_t file = file_bytes(opts->dir), wanted = opts->bytes_max ? opts->bytes_max : map_default;
    uint64_t least = file + engine_reserve_bytes(file), page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (wanted < map_min)
        return err_set(err, ERR_CONFIG, "A store has at least %llu bytes of room.",
                       (unsigned long long)map_min);
    least = least < map_min ? map_min : least;
    uint64_t map = ((wanted < map_most ? wanted : map_most) + page - 1) / page * page;
    while (map / 2 >= least && !has_address_space(map + ADDRESS_SPARE))
        map = map / 2 / page * page;
    int rc = try_open(e, opts, map);
    if (rc)
        return lmdb_failed(err, "open its data file", rc);
    if (map < wanted)
        log_warn("address space is short: the store may grow to %llu bytes, not to %llu",
                 (unsigned long long)map, (unsigned long long)wanted);
    return RC_OK;
}

/* A page that the file lacks would be a bus error when it is read. */
static enum rc check_file(struct engine *e, struct err *err)
{
    MDB_envinfo info;
    MDB_stat stat;
    struct stat st;
    int rc;
    if ((rc = mdb_env_info(e->env, &info)) || (rc = mdb_env_stat(e->env, &stat)) ||
        (rc = mdb_env_get_fd(e->env, &e->disk.fd)))
        return lmdb_failed(err, "look at its data file", rc);
    if (fstat(e->disk.fd, &st) != 0)
        return lmdb_failed(err, "look at its data file", errno);
    e->page = stat.ms_psize;
    e->map = e->disk.max = info.me_mapsize;
    if ((uint64_t)st.st_blocks * 512 >= (uint64_t)st.st_size) /* no holes */
        e->disk.allocated = (uint64_t)st.st_size;
    uint64_t least = ((uint64_t)info.me_last_pgno + 1) * e->page;
    if ((uint64_t)st.st_size < least)
        return err_set(err, ERR_STORE_FORMAT,
                       "The data file is cut short: it has %llu bytes of at least %llu.",
                       (unsigned long long)st.st_size, (unsigned long long)least);
    if (mdb_env_get_maxkeysize(e->env) < KEY_MIN)
        return err_set(err, ERR_STORE_FORMAT, "This build of LMDB has keys of %d bytes; %d are needed.",
                       mdb_env_get_maxkeysize(e->env), KEY_MIN);
    return RC_OK;
}

/* The order that LMDB has by itself, so others may open the file as they like: but a put compares some forty keys, and
 * half of what LMDB's own function takes for that is calls. */
static int compare_keys(const MDB_val *a, const MDB_val *b)
{
    return slice_cmp(slice_of(a->mv_data, a->mv_size), slice_of(b->mv_data, b->mv_size));
}

static int open_db(struct engine *e, MDB_txn *txn, unsigned db, unsigned flags)
{
    int rc = mdb_dbi_open(txn, lmdb_names[db], flags, &e->dbi[db]);
    return rc ? rc : mdb_set_compare(txn, e->dbi[db], compare_keys);
}

static int open_dbs(struct engine *e, MDB_txn *txn, unsigned flags)
{
    int rc = 0;
    for (unsigned db = DB_META; db < ENGINE_DBS && !rc; db++) {
        rc = open_db(e, txn, db, flags);
        if (rc == MDB_NOTFOUND && db >= DBS_FIRST_FORMAT) {
            e->dbi[db] = DBI_NONE;
            rc = 0;
        }
    }
    return rc;
}

/* With the first that is applied: so a store of an older format gets them with the row that says it has another now. */
static int make_missing_dbs(struct engine *e, MDB_txn *txn)
{
    int rc = 0;
    for (unsigned db = DBS_FIRST_FORMAT; db < ENGINE_DBS && !rc; db++)
        if (e->dbi[db] == DBI_NONE)
            rc = open_db(e, txn, db, MDB_CREATE);
    return rc;
}

static void forget_missing_dbs(struct engine *e)
{
    for (unsigned db = DBS_FIRST_FORMAT; db < ENGINE_DBS && !e->complete; db++)
        e->dbi[db] = DBI_NONE;
}

static bool has_all_dbs(const struct engine *e)
{
    for (unsigned db = DB_META; db < ENGINE_DBS; db++)
        if (e->dbi[db] == DBI_NONE)
            return false;
    return true;
}

static COLD enum rc lacks_database(struct err *err)
{
    return err_set(err, ERR_STORE_FORMAT,
                   "The data file belongs to another program or version: it lacks a database.");
}

/* All databases are made in one transaction, so a store has all of them or none. */
static enum rc open_databases(struct engine *e, struct err *err)
{
    MDB_txn *txn;
    MDB_stat main;
    int rc = mdb_txn_begin(e->env, NULL, MDB_RDONLY, &txn);
    if (rc)
        return lmdb_failed(err, "begin to read", rc);
    rc = mdb_stat(txn, LMDB_MAIN_DBI, &main);
    bool fresh = rc == 0 && main.ms_entries == 0;
    if (fresh) {
        mdb_txn_abort(txn);
        rc = mdb_txn_begin(e->env, NULL, 0, &txn);
        if (rc)
            return lmdb_failed(err, "begin to write", rc);
    }
    if (!rc)
        rc = open_dbs(e, txn, fresh ? MDB_CREATE : 0);
    if (!rc)
        rc = mdb_txn_commit(txn);
    else
        mdb_txn_abort(txn);
    if (rc == MDB_NOTFOUND || rc == MDB_INCOMPATIBLE)
        return lacks_database(err);
    e->complete = has_all_dbs(e);
    return rc ? lmdb_failed(err, "open its databases", rc) : RC_OK;
}

/* ---- space ---- */

static int pages_of(MDB_txn *txn, MDB_dbi dbi, uint64_t *pages)
{
    MDB_stat s;
    int rc = mdb_stat(txn, dbi, &s);
    if (!rc)
        *pages = (uint64_t)s.ms_branch_pages + s.ms_leaf_pages + s.ms_overflow_pages;
    return rc;
}

/* Count anew what the databases in `touched` (a bit each) take, as the transaction sees it. */
static int count_pages(struct engine *e, MDB_txn *txn, unsigned touched, uint64_t pages[ENGINE_DBS])
{
    uint64_t spare = 0, names = 0;
    int rc = pages_of(txn, LMDB_FREE_DBI, &spare);
    if (!rc)
        rc = pages_of(txn, LMDB_MAIN_DBI, &names);
    pages[0] = spare + names;
    for (unsigned db = DB_META; db < ENGINE_DBS && !rc; db++)
        if (touched & 1U << db && e->dbi[db] != DBI_NONE)
            rc = pages_of(txn, e->dbi[db], &pages[db]);
    return rc;
}

static uint64_t used_bytes(const struct engine *e)
{
    uint64_t pages = META_PAGES;
    for (unsigned db = 0; db < ENGINE_DBS; db++)
        pages += e->pages[db];
    return pages * e->page;
}

static enum rc count_first(struct engine *e, struct err *err)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(e->env, NULL, MDB_RDONLY, &txn);
    if (rc)
        return lmdb_failed(err, "begin to read", rc);
    rc = count_pages(e, txn, ~0U, e->pages);
    mdb_txn_abort(txn);
    return rc ? lmdb_failed(err, "count its pages", rc) : RC_OK;
}

static void lmdb_space(struct engine *e, struct store_space *out)
{
    struct stat st;
    *out = (struct store_space){.used = used_bytes(e), .max = e->map};
    if (e->disk.allocated)
        out->file = e->disk.allocated;
    else if (fstat(e->disk.fd, &st) == 0)
        out->file = (uint64_t)st.st_size;
}

/* A foreign process that died while it read leaves a slot behind, and pins all pages since. */
static void clear_dead_readers(struct engine *e)
{
    int stale = 0;
    mdb_reader_check(e->env, &stale);
    if (stale)
        log_info("cleared %d slots of readers that have died", stale);
}

static enum rc reserve_disk(struct engine *e, uint64_t grow_bytes, struct err *err)
{
    MDB_envinfo info;
    int rc = mdb_env_info(e->env, &info);
    if (rc)
        return lmdb_failed(err, "look at its data file", rc);
    uint64_t end = ((uint64_t)info.me_last_pgno + 1) * e->page, used = used_bytes(e);
    uint64_t spare = end > used ? end - used : 0; /* free pages inside the file */
    if (end >= e->check_end) { /* it grows: perhaps for want of pages that a dead reader pins */
        clear_dead_readers(e);
        e->check_end = end + READER_CHECK_BYTES;
    }
    return disk_reserve(&e->disk, end, spare, grow_bytes, err);
}

static enum rc lmdb_reserve(struct engine *e, uint64_t grow_bytes, struct err *err)
{
    uint64_t used = used_bytes(e);
    if (grow_bytes && used + grow_bytes + engine_reserve_bytes(e->map) > e->map)
        return err_set(err, ERR_NO_SPACE, "The store is full: %llu of %llu bytes are used.",
                       (unsigned long long)used, (unsigned long long)e->map);
    if (reserve_disk(e, grow_bytes, err) != RC_OK && grow_bytes)
        return RC_ERR;
    return RC_OK; /* who only deletes lives on what is in hand */
}

/* ---- life ---- */

static void lmdb_close(struct engine *e)
{
    if (e->env)
        mdb_env_close(e->env);
    free(e);
}

static enum rc lmdb_open(struct engine **out, const struct store_opts *opts, struct err *err)
{
    struct engine *e = calloc(1, sizeof *e);
    if (!e)
        return err_oom(err);
    int stale = 0;
    if (open_env(e, opts, err) != RC_OK || check_file(e, err) != RC_OK || open_databases(e, err) != RC_OK ||
        count_first(e, err) != RC_OK) {
        lmdb_close(e);
        return RC_ERR;
    }
    mdb_reader_check(e->env, &stale);
    *out = e;
    return RC_OK;
}

/* The map is the file, which nobody changes. */
enum rc lmdb_open_file(struct engine **out, const char *path, struct err *err)
{
    struct engine *e = calloc(1, sizeof *e);
    struct stat st;
    if (!e)
        return err_oom(err);
    if (stat(path, &st) != 0) {
        free(e);
        return err_set(err, ERR_IO, "Cannot look at %s: %s.", path, strerror(errno));
    }
    e->is_file = true;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), map = ((uint64_t)st.st_size + page - 1) / page * page;
    int rc = mdb_env_create(&e->env);
    if (!rc && (rc = mdb_env_set_mapsize(e->env, map)) == 0 &&
        (rc = mdb_env_set_maxdbs(e->env, LMDB_DBS_MAX)) == 0)
        rc = mdb_env_open(e->env, path, MDB_RDONLY | MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOTLS, 0600);
    if (rc) {
        lmdb_close(e);
        return lmdb_failed(err, "open its data file", rc);
    }
    if (check_file(e, err) != RC_OK || open_databases(e, err) != RC_OK || count_first(e, err) != RC_OK) {
        lmdb_close(e);
        return RC_ERR;
    }
    *out = e;
    return RC_OK;
}

static enum rc lmdb_sync(struct engine *e, struct err *err)
{
    int rc = mdb_env_sync(e->env, 1);
    return rc ? broken(e, "sync", rc, err) : RC_OK;
}

static void lmdb_upkeep(struct engine *e)
{
    if (++e->upkeeps % READER_CHECK_UPKEEPS == 0)
        clear_dead_readers(e);
}

/* ---- snapshots ---- */

static enum rc lmdb_snap_new(struct engine *e, struct snap **out, struct err *err)
{
    struct snap *s = calloc(1, sizeof *s);
    if (!s)
        return err_oom(err);
    s->engine = e;
    int rc = mdb_txn_begin(e->env, NULL, MDB_RDONLY, &s->txn);
    if (rc) {
        free(s);
        return lmdb_failed(err, "begin to read", rc);
    }
    mdb_txn_reset(s->txn); /* keeps its slot */
    *out = s;
    return RC_OK;
}

static void lmdb_snap_free(struct snap *s)
{
    for (unsigned db = 0; db < ENGINE_DBS; db++)
        if (s->cursor[db])
            mdb_cursor_close(s->cursor[db]);
    mdb_txn_abort(s->txn);
    free(s);
}

static void lmdb_snap_reset(struct snap *s)
{
    if (s->live)
        mdb_txn_reset(s->txn);
    s->live = false;
    s->db = 0;
    memset(s->cursor_live, 0, sizeof s->cursor_live);
}

static enum rc lmdb_snap_renew(struct snap *s, struct err *err)
{
    lmdb_snap_reset(s);
    int rc = mdb_txn_renew(s->txn);
    if (rc)
        return lmdb_failed(err, "begin to read", rc);
    s->live = true;
    return RC_OK;
}

static MDB_val val_of(struct slice s)
{
    return (MDB_val){s.len, (void *)(uintptr_t)s.ptr};
}

/* An engine's key without the byte that names its database. */
static MDB_val inner_key(struct slice key)
{
    return val_of(slice_of(key.ptr + 1, key.len - 1));
}

static enum rc lmdb_get(struct snap *s, struct slice key, struct slice *out, struct err *err)
{
    assert(s->live && key.len > 1 && key.ptr[0] >= DB_META && key.ptr[0] < ENGINE_DBS);
    MDB_val k = inner_key(key), v;
    int rc = mdb_get(s->txn, s->engine->dbi[key.ptr[0]], &k, &v);
    if (likely(rc == 0)) {
        *out = slice_of(v.mv_data, v.mv_size);
        return RC_OK;
    }
    return rc == MDB_NOTFOUND ? RC_NOTFOUND : lmdb_failed(err, "read", rc);
}

/* Of a store that an older version made: in its file alone that is an empty database; a store whose format has it must not
 * lack it. */
static COLD enum rc missing(const struct snap *s, struct err *err)
{
    return s->engine->is_file ? RC_NOTFOUND : lacks_database(err);
}

static enum rc cursor_of(struct snap *s, uint8_t db, struct err *err)
{
    if (s->cursor_live[db])
        return RC_OK;
    int rc = s->cursor[db] ? mdb_cursor_renew(s->txn, s->cursor[db])
                           : mdb_cursor_open(s->txn, s->engine->dbi[db], &s->cursor[db]);
    if (rc)
        return lmdb_failed(err, "begin to scan", rc);
    s->cursor_live[db] = true;
    return RC_OK;
}

/* The result of moving a cursor. */
static enum rc moved(int rc, const MDB_val *k, const MDB_val *v, struct slice *key, struct slice *val,
                     struct err *err)
{
    if (rc)
        return rc == MDB_NOTFOUND ? RC_NOTFOUND : lmdb_failed(err, "scan", rc);
    *key = slice_of(k->mv_data, k->mv_size);
    *val = slice_of(v->mv_data, v->mv_size);
    return RC_OK;
}

static enum rc lmdb_seek(struct snap *s, struct slice from, struct slice *key, struct slice *val,
                         struct err *err)
{
    assert(s->live && from.len >= 1 && from.ptr[0] >= DB_META && from.ptr[0] < ENGINE_DBS);
    s->db = from.ptr[0];
    if (unlikely(s->engine->dbi[s->db] == DBI_NONE))
        return missing(s, err);
    if (cursor_of(s, s->db, err) != RC_OK)
        return RC_ERR;
    MDB_val k = inner_key(from), v;
    int rc = mdb_cursor_get(s->cursor[s->db], &k, &v, k.mv_size ? MDB_SET_RANGE : MDB_FIRST);
    return moved(rc, &k, &v, key, val, err);
}

static enum rc lmdb_next(struct snap *s, struct slice *key, struct slice *val, struct err *err)
{
    assert(s->live && s->cursor_live[s->db]);
    MDB_val k, v;
    int rc = mdb_cursor_get(s->cursor[s->db], &k, &v, MDB_NEXT);
    return moved(rc, &k, &v, key, val, err);
}

/* ---- applying ---- */

static int put_parts(MDB_cursor *c, MDB_val *key, const struct slice part[4])
{
    MDB_val v = {part[0].len + part[1].len + part[2].len + part[3].len, NULL};
    int rc = mdb_cursor_put(c, key, &v, MDB_RESERVE);
    if (rc)
        return rc;
    uint8_t *at = v.mv_data;
    for (unsigned i = 0; i < 4; i++) {
        if (part[i].len)
            memcpy(at, part[i].ptr, part[i].len);
        at += part[i].len;
    }
    return 0;
}

static int delete_key(MDB_cursor *c, MDB_val *key, bool *changed)
{
    int rc = mdb_cursor_get(c, key, NULL, MDB_SET);
    if (rc == MDB_NOTFOUND)
        return 0;
    *changed = true;
    return rc ? rc : mdb_cursor_del(c, 0);
}

/* Mutations are sorted: one cursor, open while its database lasts.
 * Sets a bit for each database that changed. */
static int apply_all(struct engine *e, MDB_txn *txn, const struct mutation *m, size_t n, unsigned *touched)
{
    MDB_cursor *cursor = NULL;
    uint8_t db = 0;
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        assert(i == 0 || slice_cmp(m[i - 1].key, m[i].key) < 0);
        if (m[i].key.ptr[0] != db) {
            if (cursor)
                mdb_cursor_close(cursor);
            cursor = NULL;
            db = m[i].key.ptr[0];
            assert(db >= DB_META && db < ENGINE_DBS);
            if ((rc = mdb_cursor_open(txn, e->dbi[db], &cursor)))
                break;
        }
        MDB_val key = inner_key(m[i].key);
        bool changed = !m[i].del;
        rc = m[i].del ? delete_key(cursor, &key, &changed) : put_parts(cursor, &key, m[i].part);
        *touched |= changed ? 1U << db : 0;
    }
    if (cursor) /* before its transaction ends */
        mdb_cursor_close(cursor);
    return rc;
}

/* LMDB gives up for good when it could not write a meta page, whatever the reason. */
static bool has_panicked(struct engine *e)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(e->env, NULL, 0, &txn);
    if (!rc)
        mdb_txn_abort(txn);
    return rc == MDB_PANIC;
}

/* Full is what leaves the store as it was; all else that a commit can meet is a flush whose outcome nobody
 * knows. */
static enum rc commit_failed(struct engine *e, int rc, struct err *err)
{
    bool full = rc == MDB_MAP_FULL || disk_errno_is_full(rc) || (rc == EIO && disk_is_short(&e->disk));
    if ((full || rc == ENOMEM) && !has_panicked(e))
        return lmdb_failed(err, "commit", full ? ENOSPC : rc);
    return broken(e, "commit", rc, err);
}

static enum rc lmdb_apply(struct engine *e, const struct mutation *m, size_t n, struct err *err)
{
    MDB_txn *txn;
    unsigned touched = 0;
    uint64_t pages[ENGINE_DBS];
    memcpy(pages, e->pages, sizeof pages);
    int rc = mdb_txn_begin(e->env, NULL, 0, &txn);
    if (rc)
        return rc == ENOMEM ? err_oom(err) : broken(e, "begin to write", rc, err);
    if (unlikely(!e->complete))
        rc = make_missing_dbs(e, txn);
    if (!rc)
        rc = apply_all(e, txn, m, n, &touched);
    if (!rc && touched)
        rc = count_pages(e, txn, touched, pages);
    if (rc || !touched) {
        mdb_txn_abort(txn);
        forget_missing_dbs(e);
        if (!rc)
            return RC_OK;
        return rc == MDB_MAP_FULL || rc == ENOMEM || rc == MDB_TXN_FULL ? lmdb_failed(err, "write", rc)
                                                                        : broken(e, "write", rc, err);
    }
    rc = mdb_txn_commit(txn);
    if (rc) {
        forget_missing_dbs(e);
        return commit_failed(e, rc, err);
    }
    e->complete = true;
    memcpy(e->pages, pages, sizeof pages);
    return RC_OK;
}

const struct engine_ops engine_lmdb = {
    .name = "lmdb",
    .caps = CAP_TOTAL_ORDER | CAP_CALL | CAP_SCAN | CAP_DURABLE,
    .open = lmdb_open,
    .close = lmdb_close,
    .snap_new = lmdb_snap_new,
    .snap_free = lmdb_snap_free,
    .snap_renew = lmdb_snap_renew,
    .snap_reset = lmdb_snap_reset,
    .get = lmdb_get,
    .seek = lmdb_seek,
    .next = lmdb_next,
    .reserve = lmdb_reserve,
    .apply = lmdb_apply,
    .sync = lmdb_sync,
    .space = lmdb_space,
    .upkeep = lmdb_upkeep,
    .file = &lmdb_file,
};
