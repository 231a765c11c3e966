/* storage/overlay.h - what a group has read and done so far, by key: one entry a key, whatever happens to it,
 * so one mutation a key reaches the engine. Every change can be taken back. One thread. */
#ifndef STORAGE_OVERLAY_H
#define STORAGE_OVERLAY_H

#include "storage/engine.h"

/* One key. Memory: the overlay's arena, until overlay_reset. */
struct staged {
    struct slice key;
    uint64_t hash;
    struct slice part[4]; /* the value now, if present; borrowed */
    bool present;
    bool dirty;        /* not what the engine holds */
    bool base_present; /* what the engine holds: */
    uint64_t base_bytes;
};

/* The value that an entry had. */
struct staged_undo {
    struct staged *entry;
    struct slice part[4];
    bool present, dirty;
};

struct overlay_mark {
    size_t undos;
    uint64_t pages;
};

/* Zero-initialised is empty. */
struct overlay {
    struct arena arena;    /* of keys and entries, and for values that die with the group */
    struct staged **slots; /* open addressing, linear probing; nslots a power of two, at most half full */
    size_t nslots;
    struct staged **entries; /* in order of arrival */
    size_t nentries, entries_cap;
    struct staged_undo *undos;
    size_t nundos, undos_cap;
    uint64_t pages; /* at most so many the engine will write for what is dirty */
};

void overlay_release(struct overlay *);
void overlay_reset(struct overlay *); /* empty; the tables stay for the next group */

/* The entry of a key; NULL: none yet. */
struct staged *overlay_find(const struct overlay *, struct slice key, uint64_t hash);
/* A clean, absent entry for a key that has none (the key is copied). NULL: memory is out. */
struct staged *overlay_add(struct overlay *, struct slice key, uint64_t hash);
/* Give a key a value (parts NULL: delete it). False: memory is out, nothing changed. */
bool overlay_set(struct overlay *, struct staged *, const struct slice parts[4]) MUST_USE;

struct overlay_mark overlay_mark(const struct overlay *);
void overlay_rollback(struct overlay *, struct overlay_mark); /* take back all changes since */

/* How many mutations the overlay amounts to, at most. */
static inline size_t overlay_mutations_max(const struct overlay *o)
{
    return o->nentries;
}
/* Write them to `out`, sorted. Sets *grow_bytes to what they may add to the engine's data: 0 if they only
 * delete, shrink and keep the books. Returns how many. */
size_t overlay_mutations(const struct overlay *, struct mutation *out, uint64_t *grow_bytes);

static inline uint64_t parts_bytes(const struct slice part[4])
{
    return (uint64_t)part[0].len + part[1].len + part[2].len + part[3].len;
}

#endif
