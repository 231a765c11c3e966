/* storage/dir.h - a store's directory: made if absent, and held by one process at a time. */
#ifndef STORAGE_DIR_H
#define STORAGE_DIR_H

#include "base/err.h"

/* Make the directory if it is absent and take DIR/LOCK, by flock: other kinds of lock die when any descriptor
 * of the file is closed. STORE_LOCKED: another process, or this one, holds it. *fd is the caller's, the lock
 * ends with it. */
MUST_USE enum rc dir_lock(const char *dir, int *fd, struct err *err);
/* The same where nothing may be changed: of a store that is there. *fd is -1 if it has no file LOCK. */
MUST_USE enum rc dir_lock_there(const char *dir, int *fd, struct err *err);
/* DIR/LOCK bears a line once a whole store is on disk: from then on a data file that is missing or empty is a
 * loss, before that a creation that was cut off. Both take dir_lock's descriptor. */
MUST_USE enum rc dir_holds_store(int fd, bool *holds, struct err *err);
MUST_USE enum rc dir_mark_store(int fd, struct err *err);
/* What was created in the directory stays after a power cut. */
MUST_USE enum rc dir_sync(const char *dir, struct err *err);

#endif
