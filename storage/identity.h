/* storage/identity.h - is this directory's content a store that this version may open, and in which state was
 * it left. Before the writer runs, or after it has ended. */
#ifndef STORAGE_IDENTITY_H
#define STORAGE_IDENTITY_H

#include "storage/meta.h"
#include "storage/store.h"

/* Check what is there, or make the first rows (never where a store must be: `holds_store`), and mark the
 * store open, durably, before anybody changes it. Reads the decider's snapshot, fills in its state.
 * STORE_FORMAT, STORE_DIRTY, and what the engine fails with. */
MUST_USE enum rc identity_open(struct store *, bool holds_store, bool accept_dirty, struct err *err);
/* The numbers of dropped types, from the trash: those whose rows are still there, and ranges of those long
 * gone.
 */
MUST_USE enum rc identity_load_dead(struct store *, struct err *err);
/* Of a row `format` (empty: there is none): which one it is. STORE_FORMAT if this version does not know it. */
MUST_USE enum rc identity_check_format(struct slice row, uint32_t *version, struct err *err);
/* Are all pages where its last writer has left them, though it may not have closed the store? */
bool identity_is_whole(const struct meta_open *);
/* Types that have a limit, from their counts. */
MUST_USE enum rc identity_load_limits(struct store *, struct err *err);
/* Sync, and mark the store closed. */
void identity_mark_clean(struct store *);

#endif
