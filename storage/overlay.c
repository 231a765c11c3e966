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

/* Into the next free slot. */
static void link_entry(struct overlay *o, struct staged *s)
{
    size_t i = s->hash & (o->nslots - 1);
    while (o->slots[i])
        i = (i + 1) & (o->nslots - 1);
    o->slots[i] = s;
    s->slot = i;
}

void overlay_reset(struct overlay *o)
{
    for (size_t i = 0; i < o->nentries; i++)
        o->slots[o->entries[i]->slot] = NULL;
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
        link_entry(o, o->entries[i]);
    return true;
}

struct staged *overlay_add(struct overlay *o, struct slice key, uint64_t hash, const struct slice *base)
{
    if (!grow_slots(o) ||
        !grow((void **)&o->entries, &o->entries_cap, o->nentries, ENTRIES_MIN, sizeof *o->entries))
        return NULL;
    struct staged *s = arena_alloc(&o->arena, sizeof *s + key.len);
    if (!s)
        return NULL;
    memcpy(s->key_bytes, key.ptr, key.len);
    s->key = slice_of(s->key_bytes, key.len);
    s->hash = hash;
    s->value = base ? &s->base : NULL;
    s->dirty = false;
    s->base_present = base != NULL;
    s->base = (struct staged_value){.part = {base ? *base : (struct slice){0}}};
    o->entries[o->nentries++] = s;
    link_entry(o, s);
    return s;
}

static bool set(struct overlay *o, struct staged *s, const struct slice parts[4],
                const struct staged_blob *blob)
{
    struct staged_value *v = NULL;
    if (!grow((void **)&o->undos, &o->undos_cap, o->nundos, UNDOS_MIN, sizeof *o->undos) ||
        (parts && !(v = arena_alloc(&o->arena, sizeof *v))))
        return false;
    o->undos[o->nundos++] = (struct staged_undo){s, s->value, s->dirty};
    if (!s->dirty)
        o->pages += ENGINE_PAGES_OF_A_KEY;
    if (parts) {
        for (unsigned i = 0; i < ARRAY_LEN(v->part); i++)
            v->part[i] = parts[i];
        v->blob = blob;
        o->pages += engine_value_pages(parts_bytes(parts));
    }
    s->dirty = true;
    s->value = v;
    return true;
}

bool overlay_set(struct overlay *o, struct staged *s, const struct slice parts[4])
{
    return set(o, s, parts, NULL);
}

bool overlay_set_chunked(struct overlay *o, struct staged *s, const struct slice parts[4],
                         const struct chunks *c)
{
    struct staged_blob *b = arena_alloc(&o->arena, sizeof *b);
    uint8_t *keys = arena_alloc(&o->arena, (size_t)c->n * KEY_CHUNK_BYTES);
    assert(o->nblobs == 0 || o->blobs[o->nblobs - 1]->chunks.blob < c->blob);
    if (!b || !keys || !grow((void **)&o->blobs, &o->blobs_cap, o->nblobs, BLOBS_MIN, sizeof(void *)) ||
        !set(o, s, parts, b))
        return false;
    *b = (struct staged_blob){.entry = s, .chunks = *c, .keys = keys};
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
        undo->entry->value = undo->value;
        undo->entry->dirty = undo->dirty;
    }
    o->nblobs = mark.blobs;
    o->chunks = mark.chunks;
    o->pages = mark.pages;
}

/* The rows that a delete writes too must not count, or a full store could not be emptied; nor one of `used`, which comes
 * with a record or in place of another. */
static bool is_bookkeeping(uint8_t db)
{
    return db == DB_META || db == DB_COUNTS || db == DB_TRASH || db == DB_USED;
}

static uint64_t grown_bytes(const struct staged *s)
{
    if (!s->value || is_bookkeeping(s->key.ptr[0]))
        return 0;
    uint64_t bytes = parts_bytes(s->value->part);
    if (s->base_present && bytes <= s->base.part[0].len)
        return 0;
    return (ENGINE_PAGES_OF_A_KEY + engine_value_pages(bytes)) * ENGINE_PAGE;
}

static int compare_entries(const void *a, const void *b)
{
    return slice_cmp((*(struct staged *const *)a)->key, (*(struct staged *const *)b)->key);
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
    return b->entry->value && b->entry->value->blob == b;
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

static void set_mutation(struct mutation *m, const struct staged *s)
{
    m->key = s->key;
    m->del = !s->value;
    for (unsigned i = 0; i < ARRAY_LEN(m->part); i++)
        m->part[i] = s->value ? s->value->part[i] : (struct slice){0};
}

size_t overlay_mutations(struct overlay *o, struct mutation *out, uint64_t *grow_bytes)
{
    size_t n = 0;
    *grow_bytes = 0;
    if (o->nentries > 1) /* pointers rather than mutations, which are twelve times as long */
        qsort(o->entries, o->nentries, sizeof(void *), compare_entries);
    for (size_t i = 0; i < o->nentries; i++) {
        const struct staged *s = o->entries[i];
        if (!s->dirty || (!s->value && !s->base_present))
            continue;
        set_mutation(&out[n++], s);
        *grow_bytes += grown_bytes(s);
    }
    return insert_chunks(o, out, n, grow_bytes);
}
