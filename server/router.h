/* server/router.h - from a request's path and method to its row of routes.def. What the edge calls
 * (router_begin, router_handle, router_end) is declared in server/handler.h. */
#ifndef SERVER_ROUTER_H
#define SERVER_ROUTER_H

#include "server/access/rights.h"
#include "server/handler.h"

enum {
    ROUTE_TYPE = 1,
    ROUTE_WRITE = 2,
    ROUTE_ASTORE = 4,
    ROUTE_REGISTRY = 8,
    ROUTE_EITHER = 16,
    ROUTE_CHANGES = 32,
    ROUTE_MAKES = 64
};

struct route {
    const char *pattern;
    bool (*begin)(struct request *); /* false: it has answered; NULL: nothing to check */
    void (*handle)(struct request *);
    uint64_t body_bytes_max; /* at most --body-max all the same */
    uint32_t methods;        /* bits 1 << METHOD_x */
    uint64_t params;         /* bits 1 << PARAM_x, at most PARAMS_MAX */
    uint8_t flags;           /* ROUTE_x */
    uint8_t role;            /* enum role */
    uint16_t row;            /* of routes.def, from 1 */
};

/* Compile routes.def. Once, before the first request; not to be called by two threads at once. */
void router_init(void);

/* How many rows routes.def has, and the pattern of one, from 1. */
unsigned router_routes(void);
const char *router_pattern(unsigned row);

/* Does the path, as far as it can be read, belong to the registry's API? For a request that is refused before router_begin, so
 * that req->is_registry can be set. */
bool router_is_registry(struct request *);

/* Does it change anything, or is it a read, whatever its method? */
static inline bool route_changes(const struct route *r)
{
    return r->flags & (ROUTE_CHANGES | ROUTE_WRITE);
}

/* May this request be in flight together with other such ones of its connection? After router_begin. Not while
 * it is away: they reach the store in the order in which they came. */
static inline bool router_is_write(const struct request *req)
{
    return req->route && (req->route->flags & ROUTE_WRITE) && !req->is_away;
}

/* May `name` be a type's: [A-Za-z][A-Za-z0-9_.-]{0,63}, and not reserved? Otherwise why not, as a sentence
 * (static); NULL: it may. */
const char *router_type_name_fault(struct slice name);

#endif
