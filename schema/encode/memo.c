/* schema/encode/memo.c - a table of what was tried: does the value at this place of the text fit this instruction?
 * It makes nested unions linear: every question is answered once. */
#include "schema/encode/encode.h"

struct memo_entry {
    uint64_t key;
    uint32_t what, generation; /* of another body: free */
};

enum { NEAR_MAX = 1 << 15 }; /* entries in a processor's cache */

static uint64_t key_of(uint32_t begin, uint32_t op, uint8_t level)
{
    return (uint64_t)begin << 32 | (uint64_t)level << 28 | (op & 0x0fffffff);
}

static uint32_t slot_of(const struct codec *c, uint64_t key)
{
    uint64_t h = (key ^ c->memo.seed) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(h >> 32) & c->memo.mask;
}

/* The entry of the key, or the free one where it belongs. */
static struct memo_entry *find(const struct codec *c, uint64_t key)
{
    uint32_t i = slot_of(c, key);
    while (c->memo.at[i].generation == c->memo.generation && c->memo.at[i].key != key)
        i = (i + 1) & c->memo.mask;
    return &c->memo.at[i];
}

static void pay(struct encode *e)
{
    encode_pay(e, e->codec->memo.n < NEAR_MAX ? COST_MEMO : COST_MEMO_FAR);
}

uint32_t memo_get(struct encode *e, uint32_t begin, uint32_t op, uint8_t level)
{
    const struct codec *c = e->codec;
    pay(e);
    if (c->memo.n == 0)
        return MEMO_UNKNOWN;
    const struct memo_entry *entry = find(c, key_of(begin, op, level));
    return entry->generation == c->memo.generation ? entry->what : MEMO_UNKNOWN;
}

static bool grow(struct codec *c)
{
    struct memo_entry *old = c->memo.at;
    uint32_t noccupied = old ? c->memo.mask + 1 : 0;
    uint32_t entries = old ? noccupied * 2 : 64;
    struct memo_entry *at = entries ? calloc(entries, sizeof *at) : NULL;
    if (!at)
        return false;
    uint32_t generation = c->memo.generation;
    c->memo.at = at;
    c->memo.mask = entries - 1;
    c->memo.generation = 1;
    for (uint32_t i = 0; i < noccupied; i++)
        if (old[i].generation == generation) {
            struct memo_entry *entry = find(c, old[i].key);
            *entry = (struct memo_entry){old[i].key, old[i].what, 1};
        }
    free(old);
    return true;
}

static bool has_room(const struct codec *c)
{
    return c->memo.at && c->memo.n < (c->memo.mask + 1) / 4 * 3;
}

bool memo_put(struct encode *e, uint32_t begin, uint32_t op, uint8_t level, uint32_t what)
{
    struct codec *c = e->codec;
    pay(e);
    if (c->memo.n == LIMIT_MEMO_MAX)
        return encode_refuse(e, ENCODE_TOO_MUCH_WORK);
    if (!has_room(c) && !grow(c))
        return encode_refuse(e, ENCODE_NO_MEMORY);
    struct memo_entry *entry = find(c, key_of(begin, op, level));
    if (entry->generation != c->memo.generation)
        c->memo.n++;
    *entry = (struct memo_entry){key_of(begin, op, level), what, c->memo.generation};
    return true;
}

static void next_generation(struct codec *c)
{
    c->memo.n = 0;
    if (++c->memo.generation == 0) { /* 2^32 values later the old entries would look like new ones */
        memset(c->memo.at, 0, ((size_t)c->memo.mask + 1) * sizeof *c->memo.at);
        c->memo.generation = 1;
    }
}

void memo_enter(struct encode *e, uint32_t begin, uint32_t end)
{
    if (begin >= e->memo_begin && end <= e->memo_end)
        return;
    e->memo_begin = begin;
    e->memo_end = end;
    if (e->codec->memo.n)
        next_generation(e->codec);
}

void memo_forget(struct codec *c)
{
    if (!c->memo.at)
        return;
    if (c->memo.n)
        next_generation(c);
    if (((size_t)c->memo.mask + 1) * sizeof *c->memo.at > SCRATCH_KEEP_BYTES) {
        free(c->memo.at);
        c->memo.at = NULL;
        c->memo.mask = 0;
    }
}
