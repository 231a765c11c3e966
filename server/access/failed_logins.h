/* server/access/failed_logins.h - addresses from which logins have failed: their next try has to wait, each time twice as long. Who calls
 * keeps threads apart. Times are clock_mono_ms. An address is a number (address_group), so that one client's many IPv6 addresses are one. */
#ifndef SERVER_ACCESS_FAILED_LOGINS_H
#define SERVER_ACCESS_FAILED_LOGINS_H

#include <stdint.h>

#include "base/err.h"

struct failed_logins;

MUST_USE enum rc failed_logins_new(struct failed_logins **, struct err *);
/* NULL is allowed. */
void failed_logins_free(struct failed_logins *);

/* How many ms are left until this address may try; 0: it may now. */
uint64_t failed_logins_wait_ms(struct failed_logins *, uint64_t address, int64_t now_ms);
/* It tries: one that has failed before must not try again before it is known what becomes of this one, or many tries at once would
 * cost no more than one. */
void failed_logins_try(struct failed_logins *, uint64_t address, int64_t now_ms);
/* The try was wrong; it was right. An address that succeeds has not become better by that: whoever has a password of their own could
 * try others' in between. */
void failed_logins_wrong(struct failed_logins *, uint64_t address, int64_t now_ms);
void failed_logins_right(struct failed_logins *, uint64_t address);

#endif
