/* storage/overlay.h - what a group has read and done so far, by key: one entry a key, whatever happens to it,
 * so one mutation a key reaches the engine. Every change can be taken back. One thread. */
#ifndef STORAGE_OVERLAY_H
#define STORAGE_OVERLAY_H

#include "base/limits.h"
#include "storage/engine.h"

/* Chunks of a body: rows of the database `chunks` under a number that no other body ever had. */
struct chunks {
    uint64_t blob;
    struct slice part[3]; /* the whole body; borrowed like a value */
    uint32_t first, n;    /* which of its chunks */
};

/* Those that came with the value of an entry. Memory: the overlay's arena. */
struct staged_blob {
    const struct staged *entry; /* they are wanted as long as the entry's value came with these */
    struct chunks chunks;
    uint8_t *keys; /* room for those of its rows, filled in by overlay_mutations */
};

/* What a key holds. Never changed: a later one takes its place, and may be taken back. */
struct staged_value {
    struct slice part[4];           /* borrowed */
    const struct staged_blob *blob; /* that came with it; NULL: none */
};

/* One key. Memory: the overlay's arena, until overlay_reset. */
struct staged {
    struct slice key;
    uint64_t hash;
    size_t slot;                      /* of the overlay's table */
    const struct staged_value *value; /* now; NULL: the key is absent */
    bool dirty;                       /* not what the engine holds */
    bool base_present;                /* the engine holds: */
    struct staged_value base;
    uint8_t key_bytes[];
};

/* What an entry was before a change. */
struct staged_undo {
    struct staged *entry;
    const struct staged_value *value;
    bool dirty;
};

struct overlay_mark {
    size_t undos, blobs, chunks;
    uint64_t pages;
};

/* Zero-initialised is empty. */
struct overlay {
    struct arena arena;    /* of keys and entries, and for values that die with the group */
    struct staged **slots; /* open addressing, linear probing; nslots a power of two, at most half full */
    size_t nslots;
    struct staged **entries; /* in order of arrival, until overlay_mutations sorts them */
    size_t nentries, entries_cap;
    struct staged_undo *undos;
    size_t nundos, undos_cap;
    struct staged_blob **blobs; /* in order of their numbers; those that were replaced too */
    size_t nblobs, blobs_cap;
    size_t chunks;  /* rows of all of them */
    uint64_t pages; /* at most so many the engine will write for what is dirty */
};

void overlay_release(struct overlay *);
void overlay_reset(struct overlay *); /* empty; the tables stay for the next group */

/* The entry of a key; NULL: none yet. */
struct staged *overlay_find(const struct overlay *, struct slice key, uint64_t hash);
/* A clean entry for a key that has none (the key is copied). base: what the engine holds, borrowed until the next reset;
 * NULL: nothing. NULL: memory is out. */
struct staged *overlay_add(struct overlay *, struct slice key, uint64_t hash, const struct slice *base);
/* Give a key a value (parts NULL: delete it). False: memory is out, nothing changed. */
bool overlay_set(struct overlay *, struct staged *, const struct slice parts[4]) MUST_USE;
/* A value that comes with chunks of a body, whose number is above all before. */
bool overlay_set_chunked(struct overlay *, struct staged *, const struct slice parts[4],
                         const struct chunks *) MUST_USE;

struct overlay_mark overlay_mark(const struct overlay *);
void overlay_rollback(struct overlay *, struct overlay_mark); /* take back all changes since */

/* How many mutations the overlay amounts to, at most. */
static inline size_t overlay_mutations_max(const struct overlay *o)
{
    return o->nentries + o->chunks;
}
/* Write them to `out`, sorted; a chunk is slices of the parts of its body. Sets *grow_bytes to what they may
 * add to the engine's data: 0 if they only delete, shrink and keep the books. Returns how many. */
size_t overlay_mutations(struct overlay *, struct mutation *out, uint64_t *grow_bytes);

static inline uint64_t parts_bytes(const struct slice part[4])
{
    return (uint64_t)part[0].len + part[1].len + part[2].len + part[3].len;
}

/* How many chunks a body is. */
static inline uint32_t chunks_of(uint64_t bytes)
{
    return (uint32_t)((bytes + LIMIT_CHUNK_BYTES - 1) / LIMIT_CHUNK_BYTES);
}

#endif
