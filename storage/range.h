/* storage/range.h - deleting the records of a range, so many with one write. One thread, the writer's. */
#ifndef STORAGE_RANGE_H
#define STORAGE_RANGE_H

#include "storage/decide.h"

/* Decide a RANGE_DELETE: at most LIMIT_RANGE_KEYS_MAX records are looked at, and those that are visible go. Sets count,
 * resume. It must be the first of its group: it reads the snapshot. May be decided again. */
MUST_USE enum rc range_decide(struct decider *, struct store_write *);

#endif
