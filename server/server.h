/* server/server.h - what all workers of one process share. Filled in by main.c before the first worker
 * starts. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "server/options.h"
#include "storage/storage.h"

struct catalog;
struct edge;

struct server {
    const struct options *options; /* as given on the command line; immutable */
    struct store *store;
    struct catalog *catalog;
    struct edge *edge;
    _Atomic bool draining; /* set once, by SIGTERM */
};

#endif
