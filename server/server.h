/* server/server.h - what all workers of one process share. Filled in by main.c before the first worker
 * starts. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/buf.h"
#include "server/failures.h"
#include "server/options.h"
#include "storage/storage.h"

struct access_control;
struct access_log;
struct catalog;
struct codec;
struct counts;
struct edge;

struct server {
    const struct options *options; /* as given; immutable */
    struct store *store;
    struct catalog *catalog;
    struct edge *edge;
    struct counts *counts; /* of all workers, a list; the edge's */
    struct failures failures;
    struct access_log *access_log; /* NULL: off */
    struct access_control *access; /* server/access/; NULL: everybody may do everything */
    _Atomic bool draining;         /* set once, by SIGTERM */
    struct {                       /* GET /_backup, one at a time */
        _Atomic bool is_running;
        struct store_worker *reader; /* theirs, made by the first */
    } backup;
    struct {                 /* what edits take, on the store's writer, which alone looks here */
        struct codec *codec; /* made when it is first needed */
        struct buf resolved, out;
    } writer;
};

#endif
