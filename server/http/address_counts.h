/* server/http/address_counts.h - how many connections of each address are open. Any thread. */
#ifndef SERVER_HTTP_ADDRESS_COUNTS_H
#define SERVER_HTTP_ADDRESS_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct address_counts;

/* For no more than so many connections at a time, all addresses together. NULL: memory is out. */
MUST_USE struct address_counts *address_counts_new(unsigned connections_max);
void address_counts_free(struct address_counts *); /* NULL is allowed */

/* One more of this address (address_group), if it has fewer than `most`; 0: however many. False: it is not counted. */
MUST_USE bool address_counts_enter(struct address_counts *, uint64_t address, uint32_t most);
/* One that has been counted is gone. */
void address_counts_leave(struct address_counts *, uint64_t address);

#endif
