/* server/handlers/schemas/verdict.h - what is found of a schema that is to be a type's next version, as members of a JSON
 * object: the answer of a dry run, and what a 409 says besides. */
#ifndef SERVER_HANDLERS_VERDICT_H
#define SERVER_HANDLERS_VERDICT_H

#include "server/register.h"

/* Append the members, without the braces around them. False: memory is out, and a part of them is there. */
MUST_USE bool verdict_print(const struct registration *, struct buf *out);

#endif
