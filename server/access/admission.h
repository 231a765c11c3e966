/* server/access/admission.h - is a request within the quotas of the file of --access? Before a byte of its body is read. */
#ifndef SERVER_ACCESS_ADMISSION_H
#define SERVER_ACCESS_ADMISSION_H

#include "server/handler.h"

/* By its address, before it is known who sends it; by who that is, once it is. TOO_MANY_REQUESTS, with Retry-After in the response;
 * NO_MEMORY. Requests that have begun with access control only (req->access). */
MUST_USE enum rc admission_of_address(struct request *, uint64_t address, struct err *);
MUST_USE enum rc admission_of_caller(struct request *, struct err *);
/* It is over, and has moved so many bytes: of its body and its answer. */
void admission_charge(const struct request *, uint64_t address, uint64_t bytes);

#endif
