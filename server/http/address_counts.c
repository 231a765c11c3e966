/* server/http/address_counts.c - see address_counts.h. A hash table with open addressing: it has twice as many places as there are
 * connections at a time, and an address without any has none, so that it is never full. One lock: it is taken for some nanoseconds,
 * twice in the life of a connection. */
#include "server/http/address_counts.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"

struct place {
    uint64_t address;
    uint32_t n; /* 0: free */
};

struct address_counts {
    pthread_mutex_t lock;
    uint32_t mask; /* places - 1, which are a power of 2 */
    struct place place[];
};

struct address_counts *address_counts_new(unsigned connections_max)
{
    size_t places = 16;
    while (places < 2 * (size_t)connections_max)
        places *= 2;
    struct address_counts *c = calloc(1, sizeof *c + places * sizeof *c->place);
    if (!c)
        return NULL;
    c->mask = (uint32_t)(places - 1);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void address_counts_free(struct address_counts *c)
{
    if (!c)
        return;
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static uint32_t home_of(const struct address_counts *c, uint64_t address)
{
    return (uint32_t)hash_bytes(slice_of(&address, sizeof address)) & c->mask;
}

/* Where it is, or the free place where it would be. */
static uint32_t find(const struct address_counts *c, uint64_t address)
{
    uint32_t i = home_of(c, address);
    while (c->place[i].n && c->place[i].address != address)
        i = (i + 1) & c->mask;
    return i;
}

bool address_counts_enter(struct address_counts *c, uint64_t address, uint32_t most)
{
    pthread_mutex_lock(&c->lock);
    struct place *p = &c->place[find(c, address)];
    bool ok = !most || p->n < most;
    if (ok) {
        p->address = address;
        p->n++;
    }
    pthread_mutex_unlock(&c->lock);
    return ok;
}

/* Those behind a place that has become free move up, so that each is found from its home on without a gap (Knuth, volume 3, 6.4, R). */
static void close_gap(struct address_counts *c, uint32_t gap)
{
    for (uint32_t i = (gap + 1) & c->mask; c->place[i].n; i = (i + 1) & c->mask) {
        uint32_t from_home = (i - home_of(c, c->place[i].address)) & c->mask, from_gap = (i - gap) & c->mask;
        if (from_home < from_gap)
            continue; /* its home is behind the gap */
        c->place[gap] = c->place[i];
        gap = i;
    }
    c->place[gap] = (struct place){0};
}

void address_counts_leave(struct address_counts *c, uint64_t address)
{
    pthread_mutex_lock(&c->lock);
    uint32_t i = find(c, address);
    assert(c->place[i].n);
    if (--c->place[i].n == 0)
        close_gap(c, i);
    pthread_mutex_unlock(&c->lock);
}
