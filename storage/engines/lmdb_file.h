/* storage/engines/lmdb_file.h - what the files that know LMDB share: lmdb.c (the engine), lmdb_copy.c (writes a data file),
 * lmdb_pages.c (checks one). */
#ifndef STORAGE_ENGINES_LMDB_FILE_H
#define STORAGE_ENGINES_LMDB_FILE_H

#include <lmdb.h>

#include "storage/engine.h"

enum { LMDB_DBS_MAX = 16 };
extern const char *const lmdb_names[ENGINE_DBS]; /* of its databases */
extern const struct engine_file_ops lmdb_file;

/* An error of LMDB's, or an errno, as one of ours. */
MUST_USE enum rc lmdb_failed(struct err *, const char *doing, int rc);
/* engine_file_ops. */
MUST_USE enum rc lmdb_open_file(struct engine **, const char *path, struct err *);
MUST_USE enum rc lmdb_check_pages(const char *path, void (*fault)(void *, const char *words), void *arg,
                                  struct engine_pages *, struct err *);

#endif
