/* storage/copy.h - the inside of a copy: whichever snapshot it is of. */
#ifndef STORAGE_COPY_H
#define STORAGE_COPY_H

#include "storage/care.h"
#include "storage/engine.h"

/* A copy of what `snap` shows, which is live and stays so until store_copy_free. `worker` (or NULL) gives its snapshot up
 * then. */
MUST_USE enum rc copy_new(struct store_copy **, const struct engine_ops *, struct snap *snap,
                          uint64_t used_bytes, int fd, struct store_worker *worker, struct err *);

#endif
