/* storage/file.h - the inside of a store that no server has open. */
#ifndef STORAGE_FILE_H
#define STORAGE_FILE_H

#include <limits.h>

#include "storage/care.h"
#include "storage/engine.h"

struct store_file {
    const struct engine_ops *ops;
    struct engine *engine;
    struct snap *snap;                  /* live */
    int lock_fd;                        /* -1: it is no directory, or one that never was a store's */
    char dir[PATH_MAX], path[PATH_MAX]; /* of the data file; dir empty: it stands by itself */
};

#endif
