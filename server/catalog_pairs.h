/* server/catalog_pairs.h - the resolvers of a type: what reads records of one of its versions as another, made when
 * it is first needed (server/reading.h). They are added and never taken away. A change replaces the type by another,
 * which takes them over; they die with the last that has them. */
#ifndef SERVER_CATALOG_PAIRS_H
#define SERVER_CATALOG_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/schema.h"

struct pairs;

struct pairs *pairs_new(uint32_t nversions, uint32_t latest); /* its index; NULL: memory is out */
void pairs_free(struct pairs *);                              /* NULL is fine; under the catalog's lock */

/* Of two versions, by their index. NULL: it has not been made. Any thread. */
const struct resolver *pairs_find(const struct pairs *, uint32_t writer, uint32_t reader);
/* Give it away. True: it is found from now on (or another one, and ours is freed). False: memory is out, or there are
 * LIMIT_PAIRS_MAX others already that read as a version which is not the latest: it stays the caller's. Any thread. */
MUST_USE bool pairs_offer(struct pairs *, uint32_t writer, uint32_t reader, struct resolver *);
/* What the type had before its last change is found from now on in `to`, too; index[i] is there what was version i, and
 * the schemas that these lead to live as long as both. But not what read as the latest where another is that now: of
 * a long lineage that would fill the room of those that are asked for. Under the catalog's lock. */
void pairs_inherit(struct pairs *to, const struct pairs *from, const uint32_t *index);

#endif
