/* storage/overlay.c - a hash table of staged values with a journal of what they were before. */
#include "storage/overlay.h"

#include <assert.h>
#include <stdlib.h>

#include "storage/keys.h"

enum { SLOTS_MIN = 1024, ENTRIES_MIN = 256, UNDOS_MIN = 256, BLOBS_MIN = 16 };

void overlay_release(struct overlay *o)
{
    arena_release(&o->arena);
    free(o->slots);
    free(o->entries);
    free(o->undos);
    free(o->blobs);
    *o = (struct overlay){0};
}

static size_t slot_of(const struct overlay *o, const struct staged *s)
{
    size_t i = s->hash & (o->nslots - 1);
    while (o->slots[i] && o->slots[i] != s)
        i = (i + 1) & (o->nslots - 1);
    return i;
}

void overlay_reset(struct overlay *o)
{
    if (o->nentries > o->nslots / 16) {
        if (o->nslots)
            memset(o->slots, 0, o->nslots * sizeof *o->slots);
    } else {
        /* Newest first: an entry's probe then still finds everything that it once passed. */
        for (size_t i = o->nentries; i-- > 0;)
            o->slots[slot_of(o, o->entries[i])] = NULL;
    }
    o->nentries = 0;
    o->nundos = o->nblobs = o->chunks = 0;
    o->pages = 0;
    arena_reset(&o->arena);
}

struct staged *overlay_find(const struct overlay *o, struct slice key, uint64_t hash)
{
    if (!o->nslots)
        return NULL;
    for (size_t i = hash & (o->nslots - 1); o->slots[i]; i = (i + 1) & (o->nslots - 1))
        if (o->slots[i]->hash == hash && slice_eq(o->slots[i]->key, key))
            return o->slots[i];
    return NULL;
}

/* Room for one more item in an array that doubles. */
static bool grow(void **array, size_t *cap, size_t used, size_t min, size_t item)
{
    if (used < *cap)
        return true;
    size_t cap_new = *cap ? *cap * 2 : min;
    void *p = realloc(*array, cap_new * item);
    if (!p)
        return false;
    *array = p;
    *cap = cap_new;
    return true;
}

static bool grow_slots(struct overlay *o)
{
    if (o->nentries * 2 < o->nslots)
        return true;
    size_t n = o->nslots ? o->nslots * 2 : SLOTS_MIN;
    struct staged **slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    free(o->slots);
    o->slots = slots;
    o->nslots = n;
    for (size_t i = 0; i < o->nentries; i++)
        o->slots[slot_of(o, o->entries[i])] = o->entries[i];
    return true;
}

struct staged *overlay_add(struct overlay *o, struct slice key, uint64_t hash)
{
    if (!grow_slots(o) ||
        !grow((void **)&o->entries, &o->entries_cap, o->nentries, ENTRIES_MIN, sizeof *o->entries))
        return NULL;
    struct staged *s = arena_alloc(&o->arena, sizeof *s);
    struct slice copy;
    if (!s || !arena_copy(&o->arena, key, &copy))
        return NULL;
    *s = (struct staged){.key = copy, .hash = hash};
    o->entries[o->nentries++] = s;
    o->slots[slot_of(o, s)] = s;
    return s;
}

bool overlay_set(struct overlay *o, struct staged *s, const struct slice parts[4])
{
    if (!grow((void **)&o->undos, &o->undos_cap, o->nundos, UNDOS_MIN, sizeof *o->undos))
        return false;
    struct staged_undo *undo = &o->undos[o->nundos++];
    *undo = (struct staged_undo){.entry = s, .blob = s->blob, .present = s->present, .dirty = s->dirty};
    memcpy(undo->part, s->part, sizeof undo->part);
    if (!s->dirty)
        o->pages += ENGINE_PAGES_OF_A_KEY;
    s->dirty = true;
    s->blob = NULL;
    s->present = parts != NULL;
    if (parts) {
        memcpy(s->part, parts, sizeof s->part);
        o->pages += engine_value_pages(parts_bytes(parts));
    } else {
        memset(s->part, 0, sizeof s->part);
    }
    return true;
}

bool overlay_set_chunked(struct overlay *o, struct staged *s, const struct slice parts[4],
                         const struct chunks *c)
{
    struct staged_blob *b = arena_alloc(&o->arena, sizeof *b);
    uint8_t *keys = arena_alloc(&o->arena, (size_t)c->n * KEY_CHUNK_BYTES);
    assert(o->nblobs == 0 || o->blobs[o->nblobs - 1]->chunks.blob < c->blob);
    if (!b || !keys || !grow((void **)&o->blobs, &o->blobs_cap, o->nblobs, BLOBS_MIN, sizeof(void *)) ||
        !overlay_set(o, s, parts))
        return false;
    *b = (struct staged_blob){.entry = s, .chunks = *c, .keys = keys};
    s->blob = b;
    o->blobs[o->nblobs++] = b;
    o->chunks += c->n;
    o->pages += engine_chunk_pages(c->n);
    return true;
}

struct overlay_mark overlay_mark(const struct overlay *o)
{
    return (struct overlay_mark){o->nundos, o->nblobs, o->chunks, o->pages};
}

void overlay_rollback(struct overlay *o, struct overlay_mark mark)
{
    assert(mark.undos <= o->nundos);
    while (o->nundos > mark.undos) {
        const struct staged_undo *undo = &o->undos[--o->nundos];
        undo->entry->blob = undo->blob;
        undo->entry->present = undo->present;
        undo->entry->dirty = undo->dirty;
        memcpy(undo->entry->part, undo->part, sizeof undo->part);
    }
    o->nblobs = mark.blobs;
    o->chunks = mark.chunks;
    o->pages = mark.pages;
}

/* The rows that a delete writes too must not count, or a full store could not be emptied. */
static bool is_bookkeeping(uint8_t db)
{
    return db == DB_META || db == DB_COUNTS || db == DB_TRASH;
}

static uint64_t grown_bytes(const struct staged *s)
{
    uint64_t bytes = parts_bytes(s->part);
    if (!s->present || is_bookkeeping(s->key.ptr[0]) || (s->base_present && bytes <= s->base_bytes))
        return 0;
    return (ENGINE_PAGES_OF_A_KEY + engine_value_pages(bytes)) * ENGINE_PAGE;
}

static int compare_mutations(const void *a, const void *b)
{
    return slice_cmp(((const struct mutation *)a)->key, ((const struct mutation *)b)->key);
}

/* The next chunk of what is left of a body: slices of its parts. */
static void take_chunk(struct slice rest[3], struct slice out[4])
{
    size_t room = LIMIT_CHUNK_BYTES, n = 0;
    for (unsigned i = 0; i < 3; i++) {
        size_t len = rest[i].len < room ? rest[i].len : room;
        if (len == 0)
            continue;
        out[n++] = slice_of(rest[i].ptr, len);
        rest[i] = slice_of(rest[i].ptr + len, rest[i].len - len);
        room -= len;
    }
}

static void skip_bytes(struct slice rest[3], uint64_t bytes)
{
    for (unsigned i = 0; i < 3; i++) {
        size_t len = rest[i].len < bytes ? rest[i].len : (size_t)bytes;
        rest[i] = slice_of(len ? rest[i].ptr + len : rest[i].ptr, rest[i].len - len);
        bytes -= len;
    }
}

static void put_chunks(const struct staged_blob *b, struct mutation *out)
{
    const struct chunks *c = &b->chunks;
    struct slice rest[3];
    memcpy(rest, c->part, sizeof rest);
    skip_bytes(rest, (uint64_t)c->first * LIMIT_CHUNK_BYTES);
    for (uint32_t i = 0; i < c->n; i++) {
        uint8_t *key = b->keys + (size_t)i * KEY_CHUNK_BYTES;
        key_chunk(key, c->blob, c->first + i);
        out[i] = (struct mutation){.key = slice_of(key, KEY_CHUNK_BYTES)};
        take_chunk(rest, out[i].part);
    }
}

static bool is_wanted(const struct staged_blob *b)
{
    return b->entry->blob == b;
}

/* Merge the chunks into `n` sorted mutations: sorted by themselves, so nothing is sorted again, and from the
 * last on, so that each moves once. Those of a body stand together: no others have its number. */
static size_t insert_chunks(const struct overlay *o, struct mutation *m, size_t n, uint64_t *grow_bytes)
{
    size_t from = n, to = n;
    for (size_t i = 0; i < o->nblobs; i++)
        to += is_wanted(o->blobs[i]) ? o->blobs[i]->chunks.n : 0;
    size_t total = to;
    for (size_t i = o->nblobs; i-- > 0;) {
        const struct staged_blob *b = o->blobs[i];
        uint8_t first[KEY_CHUNK_BYTES];
        if (!is_wanted(b))
            continue;
        key_chunk(first, b->chunks.blob, b->chunks.first);
        while (from > 0 && slice_cmp(m[from - 1].key, slice_of(first, sizeof first)) > 0)
            m[--to] = m[--from];
        to -= b->chunks.n;
        put_chunks(b, m + to);
        *grow_bytes += engine_chunk_pages(b->chunks.n) * ENGINE_PAGE;
    }
    return total;
}

size_t overlay_mutations(const struct overlay *o, struct mutation *out, uint64_t *grow_bytes)
{
    size_t n = 0;
    *grow_bytes = 0;
    for (size_t i = 0; i < o->nentries; i++) {
        const struct staged *s = o->entries[i];
        if (!s->dirty || (!s->present && !s->base_present))
            continue;
        struct mutation *m = &out[n++];
        m->key = s->key;
        m->del = !s->present;
        memcpy(m->part, s->part, sizeof m->part);
        *grow_bytes += grown_bytes(s);
    }
    if (n > 1)
        qsort(out, n, sizeof *out, compare_mutations);
    return insert_chunks(o, out, n, grow_bytes);
}
