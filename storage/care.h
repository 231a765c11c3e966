/* storage/care.h - a second front of this folder, for whoever takes care of stores: copies of a running one, and stores as files
 * that no server has open.
 *
 *   store_copy_new -> store_copy_step ... -> a file that is a store, as it was at one revision
 *   store_file_open -> store_file_summary, store_file_copy_new, store_check -> store_file_close
 *   store_restore_begin -> a file is put there -> store_restore_end */
#ifndef STORAGE_CARE_H
#define STORAGE_CARE_H

#include "storage/storage.h"

/* ---- copies ---- */

/* A snapshot on its way into a file, a step at a time. What it holds of the store is not reused meanwhile, so a store that is
 * written to grows. */
struct store_copy;

struct store_copy_state {
    uint64_t rows, bytes; /* so far: keys and values */
    uint64_t bytes_total; /* what the store has in use, more or less what the file will take */
    uint64_t revision;    /* of the snapshot */
};

/* Does the store's engine keep files that can be copied? */
bool store_has_files(const struct store *);
/* Begin a copy of the store as it is now. The worker reads nothing else until store_copy_free; one thread at a time, not always
 * the same.
 *   fd  an empty file, to read and write, with or without a name; the caller's
 * NOT_SUPPORTED: the engine keeps no files. NO_SPACE (also where the disk would have less left than the store itself may need),
 * IO, NO_MEMORY. */
MUST_USE enum rc store_copy_new(struct store_copy **, struct store_worker *, int fd, struct err *);
/* Copy about so many bytes more. RC_PENDING: there is more; RC_OK: the file is a store, marked as closed, with the kernel and not
 * yet on disk. RC_ERR as above, STORE_FORMAT: the store is damaged; the file is of no use. */
MUST_USE enum rc store_copy_step(struct store_copy *, uint64_t bytes, struct err *);
void store_copy_state(const struct store_copy *, struct store_copy_state *);
void store_copy_free(struct store_copy *); /* NULL is fine */

/* ---- files ---- */

/* A store that no server has open, or a copy of one, to be read. Not a byte of it is changed. One thread. */
struct store_file;

/* Its pages (see store_file_open). */
struct store_pages {
    uint64_t bytes, pages, used, spare, lost; /* lost: neither used nor spare, which does no harm */
    uint64_t faults;
};

/* path: a store's directory, which is locked until the end, or a file (store_file_lock). Its pages are all read first: each fault is told, in
 * words. *out is NULL if there is one, and RC_OK returned: its rows cannot be read. STORE_LOCKED: a server has it open.
 * STORE_FORMAT: it is no store, or of a newer format. IO, NO_MEMORY. */
MUST_USE enum rc store_file_open(struct store_file **, const char *path, struct store_pages *,
                                 void (*fault)(void *, const char *words), void *arg, struct err *);
void store_file_close(struct store_file *); /* NULL is fine */
/* The lock of the store whose data file that is, by its name; *fd is the caller's, -1: it is no store's. STORE_LOCKED, IO. */
MUST_USE enum rc store_file_lock(const char *path, int *fd, struct err *);

struct store_summary {
    uint32_t format;
    uint8_t store[16];
    uint64_t revision, types, records, bytes; /* bytes: of bodies. Of types that live */
    uint64_t file_bytes;
    bool clean; /* it was closed, or has been copied */
    bool
        whole; /* it is as its last writer has left it; else pages may have got lost with the machine (STORE_DIRTY) */
};
/* From its own rows. STORE_FORMAT: one is missing or damaged. */
MUST_USE enum rc store_file_summary(struct store_file *, struct store_summary *, struct err *);

/* As store_copy_new, of a file. */
MUST_USE enum rc store_file_copy_new(struct store_copy **, struct store_file *, int fd, struct err *);

/* ---- checking it ---- */

enum store_fault_kind {
#define FAULT(name, slug, what) FAULT_##name,
#include "storage/faults.def"
#undef FAULT
    FAULT_KINDS
};
const char *store_fault_slug(enum store_fault_kind);

struct store_fault {
    enum store_fault_kind kind;
    uint32_t type;     /* number of the type, 0: of none */
    struct slice id;   /* of the record, or the key of another row; empty: of none */
    const char *words; /* one sentence */
};

/* Everything in a store is looked at: that each row is what docs/format.md says, and that all that says one thing twice says the same.
 * What stands in rows that are the caller's own, and in bodies, the caller looks at. Memory does not grow with the store, but for a
 * bit for each long body. Embedded in the caller's. */
struct store_check {
    /* The caller's, to be set. Slices are borrowed for the call. RC_ERR ends the check. */
    void (*fault)(struct store_check *, const struct store_fault *);
    /* A row of a space that is no record's: first all schemas, then schemas by their hashes, types, subjects. */
    enum rc (*row)(struct store_check *, enum space, struct slice key, struct slice value, struct err *);
    /* The smallest number, from this one on, that a type has; 0: there is none. From here on. */
    uint32_t (*next_type)(struct store_check *, uint32_t from);
    /* Its limit, in bytes; 0: none. */
    uint64_t (*type_limit)(struct store_check *, uint32_t type);
    /* A record of a type that is there, whose body is whole. */
    enum rc (*record)(struct store_check *, const struct store_key *, const struct record *, struct err *);
    void (*progress)(struct store_check *, uint64_t bytes, uint64_t total); /* of the file, more or less */
    uint64_t blob_window; /* how many long bodies are looked at together; 0: LIMIT_CHECK_BLOBS */

    struct checker *own; /* store_check's own */

    /* Set by store_check. */
    uint64_t revision;                            /* the newest that was given */
    uint64_t rows, blobs, faults, records, bytes; /* the last two: of types that live */
};
MUST_USE enum rc store_check(struct store_file *, struct store_check *, struct err *);
/* Inside of the functions above: another row of the caller's. RC_NOTFOUND. */
MUST_USE enum rc store_check_get(struct store_check *, enum space, struct slice key, struct slice *value,
                                 struct err *);
/* Tell a fault of the caller's own: it is counted. */
void store_check_fault(struct store_check *, enum store_fault_kind, uint32_t type, struct slice id,
                       const char *format, ...) PRINTF_LIKE(5, 6);

/* ---- putting a file in a store's place ---- */

/* A directory whose data file is about to come, or to be replaced. Locked until the end. */
struct store_place {
    int lock_fd;
    bool is_new; /* there was no store ... */
    bool marked; /* ... but there had been one, or part of one: LOCK said so ... */
    bool made;   /* ... or not even the directory */
    char dir[4096], fresh[4096],
        file[4096]; /* the last two: where the new file is written, and where it goes */
};

/* A place for a store that is not there yet: `dir` is made, or is empty but for what an earlier attempt has left. Until the end no
 * server takes it for a store. PLACE_TAKEN: something is in it. STORE_LOCKED, IO, NO_SPACE. */
MUST_USE enum rc store_place_new(struct store_place *, const char *dir, struct err *);
/* The place of a store that is there, and that `file` has locked. NOT_SUPPORTED: its data file is a symbolic link. */
MUST_USE enum rc store_place_of(struct store_place *, const struct store_file *, struct err *);
/* An empty file at place->fresh, to read and write. */
MUST_USE enum rc store_place_open(struct store_place *, int *fd, struct err *);
/* What was written there is put on disk, and takes the data file's place at once: whatever happens, there is the one or the other.
 * Closes fd. */
MUST_USE enum rc store_place_commit(struct store_place *, int fd, struct err *);
/* The end. Without a commit all is as before. */
void store_place_release(struct store_place *);

#endif
