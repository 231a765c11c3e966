/* server/care/care.h - what avrod does with a store instead of serving it: --restore, --compact, --fsck (docs/operating.md). Results go
 * to standard output, what went wrong and progress (on a terminal) to standard error. */
#ifndef SERVER_CARE_CARE_H
#define SERVER_CARE_CARE_H

#include "server/options.h"
#include "storage/care.h"

bool care_is_asked_for(const struct options *);
/* Do it; the exit code. */
int care_run(const struct options *);

/* The actions. RC_ERR: it was not done, and nothing has changed. */
MUST_USE enum rc care_restore(const char *file, const char *dir, bool accept_dirty, struct err *);
MUST_USE enum rc care_compact(const char *dir, bool accept_dirty, struct err *);

/* Exit codes of --fsck. */
enum { FSCK_CLEAN, FSCK_FAULTS, FSCK_FAILED };
int care_fsck(const char *path, bool json, bool mark_clean);

/* ---- what they share ---- */

/* Open a file or a store whose pages are whole; faults are told on standard error. */
MUST_USE enum rc care_open(struct store_file **, const char *path, struct err *);
/* The rule of a server's start (--accept-dirty). */
MUST_USE enum rc care_check_whole(const struct store_summary *, bool accept_dirty, struct err *);

/* How far it is, on standard error, if that is a terminal; a few times a second. Zero-initialised but for `doing`. */
struct care_progress {
    const char *doing;
    int64_t next_ms;
    bool shown;
};
void care_progress_show(struct care_progress *, uint64_t bytes, uint64_t total); /* total 0: not known */
void care_progress_end(struct care_progress *);

#endif
