/* server/registry/fault.h - errors as the registry's API tells them: {"error_code", "message"}. Pure. */
#ifndef SERVER_REGISTRY_FAULT_H
#define SERVER_REGISTRY_FAULT_H

#include "base/buf.h"
#include "base/err.h"

/* The HTTP status, which may be another than in problem+json. */
unsigned fault_status(const struct err *);
/* Append the object; the problems of the error are told in the message. False: memory is out. */
MUST_USE bool fault_print(struct buf *out, const struct err *);

/* What is answered when memory is out. */
#define FAULT_NO_MEMORY "{\"error_code\":503,\"message\":\"Out of memory; try again.\"}"

#endif
