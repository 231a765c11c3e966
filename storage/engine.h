/* storage/engine.h - what an embedded engine must do: dumb, ordered bytes; no conditions, revisions, times.
 * A key is one byte of enum engine_db, then the key of that database as in docs/format.md, at most 512 bytes
 * in all; order is memcmp, the shorter first. To add an engine: storage/engines/<name>.c and a row in
 * engines.def; the engine, model and crash tests then run on it. */
#ifndef STORAGE_ENGINE_H
#define STORAGE_ENGINE_H

#include "storage/storage.h"

/* The databases of docs/format.md, section "Databases"; the first byte of an engine's key. */
enum engine_db {
    DB_META = 1,
    DB_TYPES,
    DB_SUBJECTS,
    DB_SCHEMAS,
    DB_SCHEMA_HASH,
    DB_RECORDS,
    DB_CHUNKS,
    DB_COUNTS,
    DB_EXPIRY,
    DB_IDEM,
    DB_TRASH,
    DB_USED,
    ENGINE_DBS
};

struct engine;      /* the engine's own */
struct snap;        /* a read transaction of one thread */
struct engine_copy; /* a data file that is being written, row by row */

enum engine_caps {
    CAP_TOTAL_ORDER = 1, /* revisions are one order for the whole store */
    CAP_CALL = 2,        /* several keys, all or nothing */
    CAP_SCAN = 4,
    CAP_DURABLE = 8, /* survives a restart */
};

/* The value is the parts, one after the other, copied in apply. */
struct mutation {
    struct slice key, part[4];
    bool del;
};

struct engine_ops {
    const char *name;
    unsigned caps;

    enum rc (*open)(struct engine **, const struct store_opts *, struct err *);
    void (*close)(struct engine *);

    /* One thread each. A snapshot sees all that was applied before renew, and goes on seeing just that.
     * Slices from get, seek and next die at renew, reset and free. RC_NOTFOUND: absent, or past the end. */
    enum rc (*snap_new)(struct engine *, struct snap **, struct err *);
    void (*snap_free)(struct snap *);
    enum rc (*snap_renew)(struct snap *, struct err *);
    void (*snap_reset)(struct snap *);
    enum rc (*get)(struct snap *, struct slice key, struct slice *out, struct err *);
    /* The first key >= from, within from's database (first byte); next goes on from there, within it too.
     * Keys come without the database's byte. */
    enum rc (*seek)(struct snap *, struct slice from, struct slice *key, struct slice *val, struct err *);
    enum rc (*next)(struct snap *, struct slice *key, struct slice *val, struct err *);

    /* Writer thread only, all below. reserve: NO_SPACE here rather than in apply, if the next group may need
     * so many bytes more; 0 asks for nothing. engine_reserve_bytes stay free for groups that only delete or
     * shrink. */
    enum rc (*reserve)(struct engine *, uint64_t grow_bytes, struct err *);
    /* Sorted, keys unique. All or nothing, durable on return as opened. RC_ERR: nothing changed (NO_SPACE,
     * NO_MEMORY), but for STORE_BROKEN: unknown, no more writes. */
    enum rc (*apply)(struct engine *, const struct mutation *, size_t n, struct err *);
    /* All that was applied is durable on return, in every mode. RC_ERR: STORE_BROKEN. */
    enum rc (*sync)(struct engine *, struct err *);
    void (*space)(struct engine *, struct store_space *); /* as of the last apply; exact */
    void (*upkeep)(struct engine *);                      /* each second */

    /* Data files, of an engine that is CAP_DURABLE; NULL: it has none. */
    const struct engine_file_ops *file;
};

/* What the structure of a data file comes to, as check finds it. */
struct engine_pages {
    uint64_t bytes;              /* length of the file */
    uint64_t pages, used, spare; /* that it should have; in use, free */
    uint64_t lost;               /* neither: room that only a copy gives back */
    uint64_t faults;
};

/* A data file by itself, while nobody changes it. */
struct engine_file_ops {
    const char *name; /* in its directory */
    /* Is it whole, as far as that can be told without reading rows? Each fault in words, by `fault`. Nothing of what stands in the
     * file is trusted. RC_ERR: it cannot be read at all (IO, NO_MEMORY, STORE_FORMAT: no such file). */
    enum rc (*check)(const char *path, void (*fault)(void *, const char *words), void *arg,
                     struct engine_pages *, struct err *);
    /* To read only: snapshots and space, then close. Nothing is written, nobody is locked out. Only a file that `check` has found
     * no fault in: else reading may end the process. */
    enum rc (*open)(struct engine **, const char *path, struct err *);

    /* Write a new one through `fd`, which is empty and can be read and written: rows in the order of their keys, then the end,
     * which leaves them with the kernel, not yet on disk. One thread at a time.
     *   bytes  what the rows take in the file that they come from */
    enum rc (*copy_new)(struct engine_copy **, int fd, uint64_t bytes, struct err *);
    enum rc (*copy_row)(struct engine_copy *, struct slice key, struct slice value, struct err *);
    enum rc (*copy_end)(struct engine_copy *, struct err *);
    void (*copy_free)(struct engine_copy *);
};

/* What is kept free in a store of at most `max` bytes, so that deletes find room when it is full. */
static inline uint64_t engine_reserve_bytes(uint64_t max)
{
    const uint64_t least = 4 << 20, most = 256 << 20, share = max / 64;
    return share < least ? least : share > most ? most : share;
}

/* Estimates count in pages of this size: those that a value takes beside its key, none if it stays in the
 * leaf. */
enum { ENGINE_PAGE = 4096, ENGINE_LEAF_MAX = 2030, ENGINE_PAGES_OF_A_KEY = 3 };
static inline uint64_t engine_value_pages(uint64_t bytes)
{
    return bytes <= ENGINE_LEAF_MAX ? 0 : (16 + bytes + ENGINE_PAGE - 1) / ENGINE_PAGE;
}

/* Of so many chunks under adjacent keys: a page each, and their keys, of which more than 64 fit a leaf. */
static inline uint64_t engine_chunk_pages(uint64_t chunks)
{
    return chunks + chunks / 64 + ENGINE_PAGES_OF_A_KEY;
}

#define ENGINE(name) extern const struct engine_ops engine_##name;
#include "storage/engines.def"
#undef ENGINE

/* By name, from engines.def; NULL if unknown. */
const struct engine_ops *engine_find(const char *name);
extern const char engine_names[]; /* all of them, a space before each */

#endif
