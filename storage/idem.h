/* storage/idem.h - idempotency keys: what became of a write is remembered under its key, and a repeat within its time gets that in
 * place of being done again. One thread, the writer's. */
#ifndef STORAGE_IDEM_H
#define STORAGE_IDEM_H

#include "storage/sweep.h"

/* Look the key of a write up, as the group sees it. RC_NOTFOUND: it is new, or its time is over. RC_OK: the write has been done, and has
 * the first outcome now. RC_ERR: IDEMPOTENCY_MISMATCH, IO, NO_MEMORY. */
MUST_USE enum rc idem_find(struct decider *, struct store_write *);
/* Would idem_find, now, find anything? */
bool idem_is_known(struct decider *, const struct store_write *);
/* A write that succeeded is remembered; of a RANGE_DELETE the last alone. NO_MEMORY, IO. */
MUST_USE enum rc idem_remember(struct decider *, struct store_write *);

/* A row of `expiry` of kind 2 whose time is over: it goes, and what is remembered under the key, if it names that time. */
MUST_USE enum rc idem_sweep(struct sweep *, uint64_t time_ms, struct slice key);

/* When a row of `idem` ends. False: it is damaged. Pure. */
bool idem_row_expires(struct slice row, int64_t *expires_ms) MUST_USE;

#endif
