/* server/counts.c - see counts.h. */
#include "server/counts.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "server/handler.h"
#include "server/router.h"
#include "server/server.h"

_Static_assert((int)COUNTS_METHODS == METHODS + 1, "each method has its counters");

static const uint8_t status_index[] = {
#define STATUS(code, reason) [(code)-200] = STATUS_INDEX_##code,
#include "server/http/status.def"
#undef STATUS
};

/* So that no two workers write to one line of the cache. */
enum { LINE_BYTES = 128 };

struct counts *counts_new(struct server *server)
{
    size_t cells = ((size_t)router_routes() + 1) * COUNTS_METHODS;
    size_t bytes = sizeof(struct counts) + cells * sizeof(struct route_counts);
    /* Most of it is never touched, so it had better come from calloc, and take no memory. */
    uint8_t *memory = calloc(1, LINE_BYTES - 1 + bytes + LINE_BYTES - 1);
    if (!memory)
        return NULL;
    struct counts *c = (void *)(memory + -(uintptr_t)memory % LINE_BYTES);
    c->memory = memory;
    c->last = c->waiting;
    c->next = server->counts;
    server->counts = c;
    return c;
}

void counts_free(struct server *server)
{
    while (server->counts) {
        struct counts *c = server->counts;
        server->counts = c->next;
        free(c->memory);
    }
}

static void settle(struct counts *c, const struct counts_waiting *w, int64_t now)
{
    struct route_counts *r = &c->route[w->what >> 16];
    counter_add(&r->status[status_index[(w->what & 0xffff) - 200]], w->n);
    histogram_add(&r->duration_ns, (uint64_t)(now - w->begun_ns), w->n, HISTOGRAM_NS);
}

void counts_settle_waiting(struct counts *c)
{
    int64_t now = clock_mono_ns();
    for (; c->last != c->waiting; c->last--)
        settle(c, c->last, now);
}
