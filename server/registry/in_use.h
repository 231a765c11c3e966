/* server/registry/in_use.h - may a type be dropped, as far as the registry is concerned? Not while schemas of other subjects
 * refer to a version of it: what they use would be gone, and another schema might come under its name and number. */
#ifndef SERVER_REGISTRY_IN_USE_H
#define SERVER_REGISTRY_IN_USE_H

#include "server/handler.h"

/* On a helper. IN_USE names who refers to it. Else *links says as of when that was so. */
MUST_USE enum rc in_use_look(struct request *, struct store_worker *, struct slice type_name, uint64_t *links,
                             struct err *);
/* Inside the transaction that drops it. RC_AGAIN: references have come since; look again. */
MUST_USE enum rc in_use_confirm(struct store_txn *, uint64_t links, struct err *);

#endif
